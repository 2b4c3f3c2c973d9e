// What the next execution of a rank has to follow.
#include "order_text.h"
#include "script.h"

#include "../../../replay/order_log.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;
using trace::OrderKind;
using trace::OrderReader;

class OrderLogs : public ::testing::Test {
  protected:
    OrderLogs() {
        trace.ranks.resize(3);
        for (std::int32_t i = 0; i < 3; ++i) {
            trace.ranks[std::size_t(i)].comms = {worldComm(3), selfComm(i)};
        }
        rank.init(); // events 1 and 2
    }
    [[nodiscard]] std::string log(std::uint64_t openFailures = 0) const { return text(orderLogOf(load(trace), RankId{0}, openFailures)); }

    Trace trace;
    RankScript rank{trace, 0};
};

TEST_F(OrderLogs, NothingForWhatTheProgramDecides) {
    rank.send(1);                                        // 3
    rank.recv(1, kAnyTag, {1, 7});                       // 5: of one source the oldest comes first
    const Serial a = rank.isend(1);                      // 7
    const Serial b = rank.irecv(2);                      // 9
    rank.wait(FunctionId::Waitall, {a, b}, {{a}, {b}});  // 11
    rank.wait(FunctionId::Waitany, {a}, {});             // 13: null
    rank.wait(FunctionId::Test, {a}, {});                // 15: null, at once
    rank.probe(FunctionId::Probe, 1, 3, {1, 3});         // 17
    rank.collective(FunctionId::Barrier);
    EXPECT_EQ(log(), "");
}

TEST_F(OrderLogs, SourcesOfReceivesAndProbesStandAtTheirPosting) {
    rank.recv(kAnySource, 5, {2, 5});                         // 3
    const Serial a = rank.irecv(kAnySource, kAnyTag);         // 5
    const Serial b = rank.irecv(kAnySource, kAnyTag);         // 7
    const Serial never = rank.irecv(kAnySource, 9);           // 9
    rank.wait(b, {1, 3});                                     // 11
    rank.wait(a, {2, 4});                                     // 13
    rank.probe(FunctionId::Mprobe, kAnySource, 0, {1, 0});    // 15
    EXPECT_EQ(log(), "3 kind 1 2\n5 kind 1 2\n7 kind 1 1\n15 kind 1 1\n");
    EXPECT_NE(never, 0U);
}

TEST_F(OrderLogs, DeliveriesInTheirOrder) {
    const Serial a = rank.irecv(1);                                                 // 3
    const Serial b = rank.irecv(2);                                                 // 5
    const Serial c = rank.isend(1);                                                 // 7
    EventDetails begin;
    begin.function = FunctionId::Waitsome;
    begin.requests = {rank.ref(a), rank.ref(b), rank.ref(c)};
    EventDetails end;
    end.completions.resize(2);
    end.completions[0] = {rank.ref(c), 2, {}, {}, 0};
    end.completions[1] = {rank.ref(a), 0, {1, 0, 8, false}, {}, 0};
    rank.both(begin, end);                                                          // 9
    end.completions = {{rank.ref(b), 1, {2, 0, 8, false}, {}, 0}};
    begin.function = FunctionId::Testany;
    rank.both(begin, end, 4);                                                       // 11
    EXPECT_EQ(log(), "9 kind 5 2 2 0\n11 kind 6 4 3 1 1\n");
}

TEST_F(OrderLogs, PollsWithTheirFailures) {
    const Serial a = rank.irecv(1);                                                            // 3
    rank.probe(FunctionId::Iprobe, kAnySource, 0, {}, false, 3);                               // 5: another call began
    rank.wait(FunctionId::Test, {a}, {{a}}, true, 2);                                          // 7
    rank.probe(FunctionId::Improbe, kAnySource, kAnyTag, {2, 1});                              // 9
    rank.wait(FunctionId::Testsome, {a}, {}, true, 6);                                         // 11: null behind failures of others
    rank.probe(FunctionId::Iprobe, 1, 0, {}, false);                                           // 13
    rank.unfinished();
    EXPECT_EQ(log(11), "5 kind 6 3 0\n7 kind 6 2 4\n9 kind 6 0 2 2\n11 kind 6 6 1\n13 kind 6 11 5\n");
}

TEST_F(OrderLogs, CancelledOrTooLate) {
    const Serial gone = rank.irecv(kAnySource, 1); // 3
    const Serial got = rank.irecv(kAnySource, 2);  // 5
    const Serial sent = rank.isend(1);             // 7
    rank.cancel(gone);                             // 9
    rank.cancel(got);                              // 11
    rank.cancel(sent);                             // 13
    rank.waitCancelled(gone);                      // 15
    rank.wait(got, {1, 2});                        // 17
    rank.waitCancelled(sent);                      // 19
    EXPECT_EQ(log(), "3 kind 2\n5 kind 1 1\n7 kind 2\n11 kind 3\n");
}

TEST_F(OrderLogs, PersistentReceivesByTheirStarts) {
    const Serial a = rank.recvInit(kAnySource, 1);                                              // 3
    const Serial b = rank.recvInit(1, 2);                                                       // 5
    const Serial c = rank.recvInit(kAnySource, 3);                                              // 7
    rank.start({a, b, c});                                                                      // 9
    rank.wait(FunctionId::Waitall, {a, b, c}, {{a, {2, 1}}, {b, {1, 2}}, {c, {1, 3}}});         // 11
    rank.start({c, a});                                                                         // 13
    rank.cancel(a);                                                                             // 15
    rank.wait(FunctionId::Waitall, {a, c}, {{a, {}, true}, {c, {2, 3}}});                       // 17
    rank.start({b});                                                                            // 19: nothing to decide
    EXPECT_EQ(log(), "9 kind 4 2 0 3 2 2\n13 kind 4 2 0 3 1 0\n");
}

TEST_F(OrderLogs, OfRacingReceivesAlone) {
    rank.recv(kAnySource, 5, {2, 5});                                           // 3: raced
    rank.recv(kAnySource, 5, {1, 5});                                           // 5
    rank.probe(FunctionId::Iprobe, kAnySource, 0, {2, 0}, true, 2);             // 7: it fails as often, then MPI finds the message
    rank.probe(FunctionId::Iprobe, kAnySource, 0, {1, 0}, true, 1);             // 9: raced
    const Serial a = rank.recvInit(kAnySource, 1);                              // 11
    const Serial b = rank.recvInit(kAnySource, 2);                              // 13
    rank.start({a, b});                                                         // 15: the second one raced
    rank.wait(FunctionId::Waitall, {a, b}, {{a, {2, 1}}, {b, {1, 2}}});         // 17
    rank.start({a});                                                            // 19
    rank.wait(a, {1, 1});                                                       // 21
    const Serial gone = rank.irecv(kAnySource, 1);                              // 23
    rank.cancel(gone);                                                          // 25
    rank.waitCancelled(gone);                                                   // 27
    FoundRaces racing;
    racing.raced = {{EventIndex(3), 0}, {EventIndex(9), 0}, {EventIndex(15), 1}};
    EXPECT_EQ(text(orderLogOf(load(trace), RankId{0}, 0, {}, nullptr, &racing)),
              "3 kind 1 2\n7 kind 6 2 4\n9 kind 6 1 2 1\n15 kind 4 1 1 2\n23 kind 2\n");
    EXPECT_EQ(log(), "3 kind 1 2\n5 kind 1 1\n7 kind 6 2 2 2\n9 kind 6 1 2 1\n15 kind 4 2 0 3 1 2\n19 kind 4 1 0 2\n23 kind 2\n");
}

TEST_F(OrderLogs, FreedReceivesWhereverTheirEndIsTold) {
    const Serial a = rank.irecv(kAnySource, 1); // 3
    rank.requestFree(a);                        // 5
    EventDetails begin;
    begin.function = FunctionId::Barrier;
    begin.comm = kWorld;
    EventDetails end;
    end.completions = {{rank.ref(a), 0, {2, 1, 8, false}, {}, 0}};
    rank.both(begin, end);
    EXPECT_EQ(log(), "3 kind 1 2\n");
}

TEST_F(OrderLogs, ListsThatFailInPart) {
    const Serial a = rank.irecv(kAnySource, 1); // 3
    const Serial b = rank.irecv(kAnySource, 1); // 5
    const Serial c = rank.irecv(kAnySource, 1); // 7
    EventDetails begin;
    begin.function = FunctionId::Waitall;
    begin.requests = {rank.ref(a), rank.ref(b), rank.ref(c)};
    EventDetails end;
    end.function = FunctionId::Waitall;
    end.error = trace::ErrorClass::InStatus;
    end.completions = {{rank.ref(a), 0, {1, 1, 8, false}, {}, 0},
                       {rank.ref(c), 2, {2, 1, 99, false}, trace::ErrorClass::Truncate, 15}};
    rank.both(begin, end);                     // 9: the second one goes on
    begin.function = FunctionId::Testall;
    begin.requests = {RequestRef{}, rank.ref(b), RequestRef{}};
    end.function = FunctionId::Testall;
    end.completions = {{rank.ref(b), 1, {2, 1, 99, false}, trace::ErrorClass::Truncate, 15}};
    rank.both(begin, end, 2);                  // 11
    const OrderLog log = orderLogOf(load(trace), RankId{0});
    EXPECT_EQ(text(log), "3 kind 1 1\n5 kind 1 2\n7 kind 1 2\n9 kind 5 2 0 2\n11 kind 6 2 3 1 1\n");
    EXPECT_FALSE(log.unforced.has_value());
}

TEST_F(OrderLogs, WhatCannotBeForcedIsNamed) {
    rank.isendrecv(1, kAnySource); // 3
    const OrderLog log = orderLogOf(load(trace), RankId{0});
    ASSERT_TRUE(log.unforced.has_value());
    EXPECT_EQ(log.unforced->why, Unforced::Why::Unknown);
    EXPECT_EQ(log.unforced->event, EventIndex{3});
}

TEST_F(OrderLogs, ASecondThreadEndsIt) {
    rank.recv(kAnySource, 5, {2, 5}); // 3
    EventDetails begin;
    begin.function = FunctionId::Barrier;
    begin.thread = 1;
    EventDetails end;
    end.thread = 1;
    rank.both(begin, end);            // 5
    rank.recv(kAnySource, 5, {1, 5}); // 7
    const OrderLog log = orderLogOf(load(trace), RankId{0});
    EXPECT_EQ(text(log), "3 kind 1 2\n");
    ASSERT_TRUE(log.unforced.has_value());
    EXPECT_EQ(log.unforced->why, Unforced::Why::Threads);
    EXPECT_EQ(log.unforced->event, EventIndex{5});
}

TEST(OrderReaderTest, DamagedLogsEnd) {
    // A list that claims to be longer than all memory, a number without end, an unknown kind.
    const std::vector<std::vector<int>> logs = {
        {1, 5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, {1, 1, 255, 255}, {1, 99, 0, 0}, {255}, {}};
    for (const std::vector<int>& log : logs) {
        std::vector<std::byte> bytes;
        for (const int value : log) {
            bytes.push_back(std::byte(value));
        }
        OrderReader reader(bytes.data(), bytes.size());
        for (int i = 0; i < 20; ++i) {
            reader.skip();
        }
        EXPECT_EQ(reader.kind(), OrderKind::None);
        EXPECT_EQ(reader.event(), ~std::uint64_t{0});
    }
}

} // namespace
} // namespace stopline::replay
