// Calls that end with an error: what MPI refused never was, what was cut off did happen.
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

using trace::Completion;
using trace::ErrorClass;

EventDetails failed(ErrorClass error) {
    EventDetails end;
    end.error = error;
    end.errorCode = 4711;
    return end;
}

EventDetails way(FunctionId function, std::int32_t peer, bool sends, std::int32_t tag = 0) {
    EventDetails d;
    d.function = function;
    d.comm = kWorld;
    (sends ? d.sendPeer : d.recvPeer) = peer;
    (sends ? d.sendTag : d.recvTag) = tag;
    return d;
}

TEST(Refused, SendsAndReceivesLeaveNoTrace) {
    Job job(2);
    job[0].both(way(FunctionId::Send, 1, true), failed(ErrorClass::Count)); // call 1
    job[0].send(1);                                                        // call 2
    job[0].send(1);                                                        // call 3
    job[1].both(way(FunctionId::Recv, 0, false), failed(ErrorClass::Type)); // call 1
    job[1].recv(0);                                                        // call 2
    job[1].both(way(FunctionId::Recv, kAnySource, false), failed(ErrorClass::Buffer)); // call 3
    job[1].recv(0);                                                        // call 4
    for (const bool lastFirst : {false, true}) {
        const Timeline timeline =
            load(job.trace, [lastFirst](std::size_t ranks) { return lastFirst ? ranks - 1 : 0; });
        EXPECT_EQ(pairs(timeline), (Pairs{"0:2 1:2 1:2 M", "0:3 1:4 1:4 M"}));
        EXPECT_TRUE(timeline.messagesOf(at(0, 1)).empty());
        EXPECT_TRUE(timeline.messagesOf(at(1, 1)).empty());
        EXPECT_TRUE(timeline.messagesOf(at(1, 3)).empty());
        EXPECT_TRUE(timeline.openMessages().empty());
        EXPECT_EQ(text(timeline.pastFrontier(after(1, 2))), text(cut({6, 6})));
    }
}

TEST(Refused, RequestsThatWereNeverMadeCountButDoNothing) {
    Job job(2);
    const auto serials = [&](FunctionId function, bool sends, ErrorClass error) {
        job[0].isend(1, 9); // takes a serial of the script
        job.trace.ranks[0].events.resize(job.trace.ranks[0].events.size() - 2);
        job[0].both(way(function, 1, sends), failed(error));
    };
    serials(FunctionId::Isend, true, ErrorClass::Tag);    // call 1
    serials(FunctionId::Irecv, false, ErrorClass::Type);  // call 2
    const Serial good = job[0].isend(1);                  // call 3
    job[0].wait(good);                                    // call 4
    job[1].recv(0);                                       // call 1
    const Timeline timeline = job.timeline();
    EXPECT_EQ(good, 3U);
    EXPECT_EQ(pairs(timeline), (Pairs{"0:3 1:1 1:1 M"}));
}

TEST(Refused, SendrecvThatWasCutOffHasSentAndReceived) {
    Job job(2);
    EventDetails both = way(FunctionId::Sendrecv, 1, true);
    both.recvPeer = kAnySource;
    both.recvTag = kAnyTag;
    EventDetails cut = failed(ErrorClass::Truncate);
    cut.status = {1, 5, 100, false};
    job[0].both(both, cut); // call 1
    job[1].send(0, 5);      // call 1
    job[1].recv(0);         // call 2
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:2 1:2 M", "1:1 0:1 0:1 M"}));
}

TEST(Refused, WildcardsThatWereCutOffNameTheirMessage) {
    Job job(3);
    EventDetails end = failed(ErrorClass::Truncate);
    end.status = {2, 7, 100, false};
    job[0].both(way(FunctionId::Recv, kAnySource, false, kAnyTag), end); // call 1
    const Serial any = job[0].irecv(kAnySource, kAnyTag);                // call 2
    EventDetails wait;
    wait.function = FunctionId::Waitall;
    wait.requests = {job[0].ref(any)};
    EventDetails waited = failed(ErrorClass::InStatus);
    waited.completions = {Completion{job[0].ref(any), 0, {1, 8, 100, false}, ErrorClass::Truncate, 15}};
    job[0].both(wait, waited); // call 3
    job[1].send(0, 8);
    job[2].send(0, 7);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"1:1 0:2 0:3 M", "2:1 0:1 0:1 M"}));
}

TEST(Refused, CollectivesAreNotTakenPartIn) {
    Job job(2);
    EventDetails bad;
    bad.function = FunctionId::Bcast;
    bad.comm = kWorld;
    bad.root = 7;
    job[0].both(bad, failed(ErrorClass::Root)); // call 1
    job[0].collective(FunctionId::Barrier);     // call 2
    job[1].collective(FunctionId::Barrier);     // call 1
    for (const bool lastFirst : {false, true}) {
        const Timeline timeline =
            load(job.trace, [lastFirst](std::size_t ranks) { return lastFirst ? ranks - 1 : 0; });
        EXPECT_EQ(timeline.collectiveOf(at(0, 1)), std::nullopt);
        const auto barrier = timeline.collectiveOf(at(0, 2));
        ASSERT_TRUE(barrier.has_value());
        EXPECT_EQ(timeline.collectiveOf(at(1, 1)), barrier);
        const Collective& c = timeline.collectives()[barrier->value()];
        EXPECT_EQ(c.function, FunctionId::Barrier);
        EXPECT_FALSE(c.mismatch);
        EXPECT_FALSE(c.root.has_value());
        EXPECT_EQ(text(timeline.pastFrontier(after(1, 1))), text(cut({6, 4})));
    }
}

TEST(Refused, CollectivesThatFailedLaterWereTakenPartIn) {
    Job job(2);
    EventDetails bcast;
    bcast.function = FunctionId::Bcast;
    bcast.comm = kWorld;
    bcast.root = 0;
    job[0].both(bcast);                                 // call 1
    job[0].collective(FunctionId::Barrier);             // call 2
    job[1].both(bcast, failed(ErrorClass::Truncate));   // call 1
    job[1].collective(FunctionId::Barrier);             // call 2
    const Timeline timeline = job.timeline();
    EXPECT_EQ(timeline.collectiveOf(at(0, 1)), timeline.collectiveOf(at(1, 1)));
    EXPECT_EQ(timeline.collectiveOf(at(0, 2)), timeline.collectiveOf(at(1, 2)));
    EXPECT_NE(timeline.collectiveOf(at(0, 1)), timeline.collectiveOf(at(0, 2)));
}

} // namespace
} // namespace stopline::replay::test
