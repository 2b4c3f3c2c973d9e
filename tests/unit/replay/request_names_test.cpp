// Requests that have one handle: which of them a call names is chance, and no difference between executions.
#include "../../bench/timeline/halo.h"

#include "../../../replay/recording.h"
#include "../../../replay/request_names.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace stopline::replay {
namespace {

using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;
using trace::RequestRef;

const RankId kRank{0};

/// Events of a rank; requests are named by their serials, from 1.
class Program {
  public:
    Program& post(FunctionId function, std::int32_t peer, std::int32_t tag) {
        EventDetails begin;
        begin.function = function;
        begin.comm = kCommWorld;
        const bool receives = trace::functionClass(function) == trace::CallClass::Irecv ||
                              trace::functionClass(function) == trace::CallClass::RecvInit;
        (receives ? begin.recvPeer : begin.sendPeer) = peer;
        (receives ? begin.recvTag : begin.sendTag) = tag;
        ++m_made;
        return add(begin, {});
    }
    /// `shared`: of the begin, and of the end.
    Program& wait(std::initializer_list<std::uint32_t> serials, bool shared,
                  FunctionId function = FunctionId::Waitall) {
        EventDetails begin;
        EventDetails end;
        begin.function = function;
        begin.shared = end.shared = shared;
        for (const std::uint32_t serial : serials) {
            end.completions.push_back(
                {{m_made - serial}, static_cast<std::uint32_t>(begin.requests.size()), {}});
            begin.requests.push_back({m_made - serial});
        }
        return add(begin, end);
    }
    Program& free(std::uint32_t serial, bool shared) {
        EventDetails begin;
        begin.function = FunctionId::Request_free;
        begin.shared = shared;
        begin.requests.push_back({m_made - serial});
        return add(begin, {});
    }
    Program& status(trace::Status status) {
        m_events.back().completions.back().status = status;
        return *this;
    }
    /// Polls whose first one, that failed, was about another request than the one that is complete.
    Program& test(std::uint32_t asked, std::uint32_t complete, bool shared) {
        wait({complete}, shared, FunctionId::Testany);
        m_events.at(m_events.size() - 2).requests.front() = {m_made - asked};
        return *this;
    }
    [[nodiscard]] const std::vector<EventDetails>& events() const { return m_events; }

  private:
    Program& add(const EventDetails& begin, EventDetails end) {
        m_events.push_back(begin);
        end.kind = EventKind::End;
        end.function = begin.function;
        m_events.push_back(end);
        return *this;
    }
    std::vector<EventDetails> m_events;
    std::uint32_t m_made = 0;
};

/// So many sends, each with its number as tag.
Program sends(int count) {
    Program program;
    for (int i = 1; i <= count; ++i) {
        program.post(FunctionId::Isend, 1, i);
    }
    return program;
}

/// The event at which the second departs from the first; 0: it does not.
std::uint64_t departure(const Program& first, const Program& second) {
    Recording recording(2);
    QString error;
    EXPECT_FALSE(recording.feed(kRank, bench::recording(first.events(), 0, 2, 1), error));
    recording.beginExecution();
    const auto difference = recording.feed(kRank, bench::recording(second.events(), 0, 2, 1), error);
    EXPECT_EQ(error, QString());
    return difference ? difference->event.value() : 0;
}

/// In both orders.
std::pair<std::uint64_t, std::uint64_t> departures(const Program& one, const Program& other) {
    return {departure(one, other), departure(other, one)};
}
using Both = std::pair<std::uint64_t, std::uint64_t>;

TEST(RequestNames, OneOfSeveralThatShareAHandleIsAnyOfThem) {
    // Handles of their own against one: by copies, the last one first.
    const Program own = sends(3).wait({3}, false).wait({2}, false).wait({1}, false);
    EXPECT_EQ(departures(own, sends(3).wait({1}, true).wait({2}, true).wait({3}, false)), Both(0, 0));
    EXPECT_EQ(departures(own, sends(3).wait({1}, true).wait({3}, true).wait({2}, false)), Both(0, 0));
    EXPECT_EQ(departures(own, sends(3).wait({2}, true).wait({1}, true).wait({3}, false)), Both(0, 0));
    EXPECT_EQ(departures(sends(3).wait({3, 2, 1}, false), sends(3).wait({1, 2, 3}, true)), Both(0, 0));
    // Two of them share one, in each execution two others.
    EXPECT_EQ(departures(sends(3).wait({1}, true).wait({2}, false).wait({3}, false),
                         sends(3).wait({2}, true).wait({1}, false).wait({3}, false)),
              Both(0, 0));
}

TEST(RequestNames, OtherRequestsAreADifference) {
    const Program own = sends(3).wait({3}, false).wait({2}, false).wait({1}, false);
    EXPECT_EQ(departures(own, sends(3).wait({3}, false).wait({1}, false).wait({2}, false)), Both(9, 9));
    // The names have been exchanged, and then another one is waited for.
    EXPECT_EQ(departures(own, sends(3).wait({1}, true).wait({3}, false).wait({2}, false)), Both(9, 9));
    // What is not the same beside the names.
    EXPECT_EQ(departures(sends(2).wait({2}, false), sends(2).wait({1}, true, FunctionId::Waitany)),
              Both(5, 5));
    EXPECT_EQ(departures(sends(2).wait({2}, false), sends(2).wait({1, 2}, true)), Both(5, 5));
}

TEST(RequestNames, ReceivesAndPersistentRequestsHaveHandlesOfTheirOwn) {
    const auto program = [](FunctionId function, std::int32_t peer, std::uint32_t waited, bool shared) {
        return sends(1).post(function, peer, 7).wait({waited}, shared);
    };
    EXPECT_EQ(departures(program(FunctionId::Irecv, 1, 1, false), program(FunctionId::Irecv, 1, 2, true)),
              Both(5, 5));
    EXPECT_EQ(
        departures(program(FunctionId::Send_init, 1, 1, false), program(FunctionId::Send_init, 1, 2, true)),
        Both(5, 5));
    EXPECT_EQ(departures(program(FunctionId::Irecv, kProcNull, 1, false),
                         program(FunctionId::Irecv, kProcNull, 2, true)),
              Both(0, 0));
    EXPECT_EQ(departures(program(FunctionId::Ibarrier, kNoPeer, 1, false),
                         program(FunctionId::Ibarrier, kNoPeer, 2, true)),
              Both(0, 0));
}

TEST(RequestNames, AReceiveFromNobodyHasNoMoreOfAStatusThanASend) {
    const auto program = [](std::uint32_t waited, bool shared, trace::Status status) {
        return sends(1).post(FunctionId::Irecv, kProcNull, 7).wait({waited}, shared).status(status);
    };
    const trace::Status nobody{kProcNull, kAnyTag, 0, false};
    EXPECT_EQ(departures(program(2, false, nobody), program(1, true, {})), Both(0, 0));
    EXPECT_EQ(departures(program(2, false, nobody), program(1, true, {1, 7, 8, false})), Both(6, 6));
    EXPECT_EQ(departures(program(2, false, nobody), program(2, false, {})), Both(6, 6));
}

TEST(RequestNames, FreedOnesAndPolls) {
    EXPECT_EQ(
        departures(sends(3).free(2, false).wait({3, 1}, false), sends(3).free(1, true).wait({2, 3}, true)),
        Both(0, 0));
    EXPECT_EQ(
        departures(sends(3).free(2, false).wait({3, 1}, false), sends(3).free(1, true).wait({3, 2}, false)),
        Both(0, 0));
    EXPECT_EQ(
        departures(sends(3).free(2, false).wait({3, 1}, false), sends(3).free(1, true).wait({2, 3}, false)),
        Both(9, 9));
    // The end of a poll names others than its begin.
    EXPECT_EQ(
        departures(sends(3).test(2, 3, false).wait({1}, false), sends(3).test(2, 1, true).wait({3}, false)),
        Both(0, 0));
    EXPECT_EQ(departures(sends(3).test(2, 3, false), sends(3).test(2, 1, false)), Both(8, 8));
}

TEST(RequestNames, WhatIsMadeMeanwhileKeepsItsName) {
    const auto meanwhile = [](Program program) {
        return program.post(FunctionId::Irecv, 1, 8).post(FunctionId::Isend, 1, 9);
    };
    EXPECT_EQ(departures(meanwhile(sends(2).wait({2}, false)).wait({4}, false).wait({1, 3}, false),
                         meanwhile(sends(2).wait({1}, true)).wait({4}, false).wait({2, 3}, false)),
              Both(0, 0));
    EXPECT_EQ(departures(meanwhile(sends(2).wait({2}, false)).wait({4}, false).wait({1, 3}, false),
                         meanwhile(sends(2).wait({1}, true)).wait({3}, false).wait({2, 4}, false)),
              Both(11, 11));
}

TEST(RequestNames, WhatFollowsTheRecordingNamesRequestsAsItDoes) {
    Recording recording(2);
    QString error;
    (void)recording.feed(kRank, bench::recording(sends(3).wait({3}, false).events(), 0, 2, 1), error);
    recording.beginExecution();
    const Program longer = sends(3).wait({1}, true).wait({3}, false).wait({2}, false);
    EXPECT_FALSE(recording.feed(kRank, bench::recording(longer.events(), 0, 2, 1), error));
    const Timeline& timeline = recording.timeline();
    ASSERT_EQ(timeline.lastEvent(kRank), EventIndex{12});
    const auto waited = [&](std::uint64_t event) {
        return timeline.details(kRank, timeline.eventDetails(kRank, EventIndex{event})).requests.front().back;
    };
    EXPECT_EQ(waited(7), 0U);
    EXPECT_EQ(waited(9), 2U); // the first one, as the third is complete in the recording
    EXPECT_EQ(waited(11), 1U);
    recording.beginExecution();
    EXPECT_FALSE(recording.feed(kRank, bench::recording(longer.events(), 0, 2, 1), error));
}

TEST(RequestNames, MadeBy) {
    Recording recording(2);
    QString error;
    (void)recording.feed(
        kRank,
        bench::recording(sends(2).wait({1}, false).post(FunctionId::Irecv, 1, 5).wait({2}, false).events(), 0,
                         2, 1),
        error);
    const Timeline& timeline = recording.timeline();
    const auto by = [&](std::uint64_t event, std::uint32_t back) {
        return madeBy(timeline, kRank, EventIndex{event}, RequestRef{back}).value_or(EventIndex{0}).value();
    };
    EXPECT_EQ(by(9, 0), 7U);
    EXPECT_EQ(by(9, 1), 3U);
    EXPECT_EQ(by(9, 2), 1U);
    EXPECT_EQ(by(9, 3), 0U);
    EXPECT_EQ(by(5, 0), 3U);
    EXPECT_EQ(by(99, 0), 7U);
    EXPECT_EQ(by(9, RequestRef::kNull), 0U);
    EXPECT_EQ(by(9, RequestRef::kUnknown), 0U);
}

} // namespace
} // namespace stopline::replay
