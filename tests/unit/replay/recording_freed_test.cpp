// Receives whose request was freed while it was active: an execution sees them complete at calls of its own.
#include "../../bench/timeline/halo.h"

#include "../../../replay/recording.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace stopline::replay {
namespace {

/// A Wait and a Barrier, while a receive whose request was freed is under way.
std::vector<trace::EventDetails> freedReceive() {
    std::vector<trace::EventDetails> events(4);
    events[0].function = events[1].function = trace::FunctionId::Wait;
    events[2].function = events[3].function = trace::FunctionId::Barrier;
    events[0].requests.push_back({1});
    events[1].kind = events[3].kind = trace::EventKind::End;
    return events;
}

TEST(Recording, WhereAFreedReceiveIsSeenToBeCompleteIsNoDifference) {
    std::vector<trace::EventDetails> first = freedReceive();
    std::vector<trace::EventDetails> second = first;
    first[3].completions.push_back({{0}, 0, {}}); // seen at the end of the barrier, the other time not
    Recording recording(1);
    const RankId rank{0};
    QString error;
    (void)recording.feed(rank, bench::recording(first, 0, 1, 1), error);
    for (const auto& again : {second, first}) {
        recording.beginExecution();
        EXPECT_FALSE(recording.feed(rank, bench::recording(again, 0, 1, 1), error).has_value());
    }
    // What a Wait says is what it was asked for.
    second[1].completions.push_back({{1}, 0, {}});
    recording.beginExecution();
    const auto difference = recording.feed(rank, bench::recording(second, 0, 1, 1), error);
    ASSERT_TRUE(difference.has_value());
    EXPECT_EQ(difference->event, EventIndex{2});
}

/// Irecv, Barrier, Irecv, Barrier, Barrier: the first receive's request was freed, and whether its completion
/// is seen is chance. `seen`: the number of the event that tells of it, 0 for none; `events`: how many there
/// are.
std::vector<trace::EventDetails> twoReceives(std::size_t events, std::size_t seen) {
    std::vector<trace::EventDetails> all;
    for (const auto function :
         {trace::FunctionId::Irecv, trace::FunctionId::Barrier, trace::FunctionId::Irecv,
          trace::FunctionId::Barrier, trace::FunctionId::Barrier}) {
        trace::EventDetails begin;
        begin.function = function;
        begin.comm = kCommWorld;
        begin.recvPeer = function == trace::FunctionId::Irecv ? 1 : kNoPeer;
        begin.recvTag = 3;
        all.push_back(begin);
        begin.kind = trace::EventKind::End;
        all.push_back(begin);
    }
    if (seen != 0) {
        const std::uint32_t later = seen > 5 ? 1 : 0; // requests created since
        all.at(seen - 1).completions.push_back({{later}, 0, {}});
    }
    all.resize(events);
    return all;
}

TEST(Recording, CompletionOfAFreedReceiveThatOnlyALaterExecutionSeesIsKept) {
    const RankId rank{0};
    const auto doneIn = [&](std::size_t recorded, std::size_t executed) {
        Recording recording(2);
        QString error;
        EXPECT_FALSE(recording.feed(rank, bench::recording(twoReceives(8, recorded), 0, 2, 1), error));
        recording.beginExecution();
        EXPECT_FALSE(recording.feed(rank, bench::recording(twoReceives(10, executed), 0, 2, 1), error));
        EXPECT_EQ(error, QString());
        const Timeline& timeline = recording.timeline();
        EXPECT_EQ(timeline.lastEvent(rank), EventIndex{10});
        EXPECT_EQ(timeline.messages().size(), 2U);
        EXPECT_FALSE(timeline.messages()[1].done.has_value());
        const std::size_t told =
            timeline.details(rank, timeline.eventDetails(rank, EventIndex{10})).completions.size();
        const MaybeCall done = timeline.messages()[0].done;
        return std::pair(done.has_value() ? int(done->call.value()) : -1, told);
    };
    using Told = std::pair<int, std::size_t>;
    EXPECT_EQ(doneIn(0, 0), Told(-1, 0U));
    EXPECT_EQ(doneIn(0, 4), Told(4, 1U)); // on recorded ground: told by the first event behind it
    EXPECT_EQ(doneIn(0, 8), Told(4, 1U));
    EXPECT_EQ(doneIn(0, 10), Told(4, 1U));
    EXPECT_EQ(doneIn(4, 4), Told(1, 0U));
    EXPECT_EQ(doneIn(4, 8), Told(1, 0U)); // known already
    EXPECT_EQ(doneIn(8, 4), Told(3, 0U));
    EXPECT_EQ(doneIn(4, 10), Told(1, 0U));
}

TEST(Recording, WhatAFreedReceiveGotByChanceIsLeftOutOfABeginningThatLeavesItOpen) {
    const RankId rank{0};
    for (const bool open : {true, false}) {
        Recording recording(2);
        QString error;
        EXPECT_FALSE(recording.feed(rank, bench::recording(twoReceives(10, 6), 0, 2, 1), error));
        const CallRef post{rank, CallIndex{open ? 0U : 2U}}; // the second receive leaves the first one as it was
        const std::unique_ptr<Recording> part = recording.upTo({EventIndex{8}, EventIndex{0}}, {}, post);
        const Timeline& timeline = part->timeline();
        EXPECT_EQ(timeline.lastEvent(rank), EventIndex{8});
        EXPECT_EQ(timeline.messages()[0].done.has_value(), !open);
        part->beginExecution();
        EXPECT_FALSE(part->feed(rank, bench::recording(twoReceives(10, 4), 0, 2, 1), error));
        EXPECT_EQ(error, QString());
        ASSERT_TRUE(timeline.messages()[0].done.has_value());
        EXPECT_EQ(timeline.messages()[0].done->call, CallIndex{open ? 4U : 2U}); // of the new one: behind the beginning
        EXPECT_TRUE(recording.timeline().messages()[0].done.has_value());
    }
}

} // namespace
} // namespace stopline::replay
