// The time axis: spans in which ranks were held, and times that are rounded.
#include "program.h"
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

TEST(Axis, HeldRankDoesNotSendMessagesBackwards) {
    constexpr TimeNs kSecond = 1'000'000'000;
    Job job(2);
    job[0].sleep(kSecond);
    job[1].sleep(2 * kSecond);
    job[1].send(0);
    job[0].recv(1);
    Timeline timeline = job.timeline();
    timeline.setOrigin(RankId{0}, 100);
    timeline.setOrigin(RankId{1}, 100);
    EXPECT_GT(timeline.axisTime(RankId{1}, EventIndex{3}), timeline.axisTime(RankId{0}, EventIndex{4}));
    // Rank 0 was held for 5 s after its event 2: what it did after that happened that much later.
    timeline.addStop(RankId{0}, {EventIndex{2}, 1000, 1000 + 5 * kSecond});
    EXPECT_LT(timeline.axisTime(RankId{1}, EventIndex{3}), timeline.axisTime(RankId{0}, EventIndex{4}));
    EXPECT_EQ(timeline.axisTime(RankId{0}, EventIndex{3}), 6 * kSecond + 200);
    ASSERT_EQ(timeline.heldSpans(RankId{0}).size(), 1U);
    EXPECT_EQ(timeline.heldSpans(RankId{0})[0].end - timeline.heldSpans(RankId{0})[0].begin, 5 * kSecond);
    EXPECT_TRUE(timeline.heldSpans(RankId{1}).empty());
    // A span in which both were held is cut out.
    timeline.addStop(RankId{1}, {EventIndex{2}, 1000 + kSecond, 1000 + 3 * kSecond});
    EXPECT_EQ(timeline.axisTime(RankId{0}, EventIndex{3}), 4 * kSecond + 200);
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{3}), 2 * kSecond + 200);
    EXPECT_TRUE(timeline.heldSpans(RankId{1}).empty());
    EXPECT_EQ(timeline.heldSpans(RankId{0})[0].end - timeline.heldSpans(RankId{0})[0].begin, 3 * kSecond);
}

/// Times of the events of two or more ranks, as recorded, of a program in which each call's end follows its
/// begin.
struct Clock {
    explicit Clock(const Job& job) : timeline(job.timeline()) {}
    TimeNs at(std::int32_t rank, std::uint64_t event) const {
        return timeline.axisTime(RankId{rank}, EventIndex{event});
    }
    Timeline timeline;
};

/// Moves the recorded times of a rank from an event on.
void shift(Job& job, std::size_t rank, std::uint64_t event, TimeNs by) {
    auto& events = job.trace.ranks[rank].events;
    for (std::size_t i = event - 1; i < events.size(); ++i) {
        events[i].time += by;
    }
}

TEST(Axis, ReceiveThatOnlyRoundingPutsBeforeItsSendIsMovedToIt) {
    Job job(2);
    job[0].send(1); // events 3 and 4, at 300 and 400
    job[1].recv(0); // the same
    job[1].send(0);
    shift(job, 0, 3, 15'000);
    const Clock clock(job);
    EXPECT_EQ(clock.at(0, 3), 15'200); // 0 is the first event, at 100
    EXPECT_EQ(clock.at(1, 3), 200);    // waited for it
    EXPECT_EQ(clock.at(1, 4), 15'200);
    EXPECT_EQ(clock.at(1, 5), 15'200); // what follows on the rank is not before it
    EXPECT_EQ(clock.at(1, 6), 15'200);
    // The recorded times are as they were.
    EXPECT_EQ(clock.timeline.call(at(1, 1)).endTime, 400);
    EXPECT_EQ(clock.timeline.call(at(1, 2)).beginTime, 500);
}

TEST(Axis, LimitIsTwiceTheTolerance) {
    for (const TimeNs beyond : {0, 1}) {
        Job job(2);
        job[0].send(1);
        job[1].recv(0);
        shift(job, 0, 3, 100 + 20'000 + beyond); // the receive ends at 400, the send begins at 300
        const Clock clock(job);
        EXPECT_EQ(clock.at(0, 3), 20'300 + beyond);
        EXPECT_EQ(clock.at(1, 4), beyond == 0 ? 20'300 : 300) << beyond;
    }
    Job job(2);
    job[0].send(1);
    job[1].recv(0);
    shift(job, 0, 3, 1'000'000);
    job.trace.rules.timeTolerance = 1'000'000;
    const Clock clock(job);
    EXPECT_EQ(clock.at(1, 4), 1'000'200);
}

/// Rank 0 was joined with times that are later by 5 ms than those of the others, and its message is passed on.
TEST(Axis, WhatIsJoinedFollowsItsSendHoweverLate) {
    Job job(3);
    job[0].send(1); // events 3 and 4, at 300 and 400
    job[1].recv(0); // the same
    job[1].send(2); // 5 and 6
    job[2].recv(1);
    shift(job, 0, 3, 5'000'000);
    Timeline timeline = job.timeline();
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        timeline.setOrigin(RankId{rank}, 1000);
    }
    const auto at = [&timeline](std::int32_t rank, std::uint64_t event) { return timeline.axisTime(RankId{rank}, EventIndex{event}); };
    EXPECT_EQ(at(1, 4), 300); // as recorded: clocks that disagree
    timeline.setJoined(RankId{0}, EventIndex{2});
    timeline.setJoined(RankId{2}, EventIndex{2});
    EXPECT_EQ(at(1, 4), 300); // the receiver's times are what counts
    timeline.setJoined(RankId{1}, EventIndex{3});
    EXPECT_EQ(at(0, 3), 5'000'200);
    EXPECT_EQ(at(1, 3), 200); // as it was
    EXPECT_EQ(at(1, 4), 5'000'200);
    EXPECT_EQ(at(1, 5), 5'000'200);
    EXPECT_EQ(at(2, 3), 200);
    EXPECT_EQ(at(2, 4), 5'000'200); // never before its send
}

TEST(Axis, ChainsOfMessagesDoNotAddUp) {
    // 0 -> 1 -> 2 -> 3, each receive recorded as ending 100 ns after the send began; rank 0's clock is late.
    Job job(4);
    job[0].send(1);
    job[1].recv(0);
    job[1].send(2);
    job[2].recv(1);
    job[2].send(3);
    job[3].recv(2);
    shift(job, 0, 3, 10'000);
    const Clock clock(job);
    EXPECT_EQ(clock.at(0, 3), 10'200);
    for (std::int32_t rank = 1; rank < 4; ++rank) {
        EXPECT_EQ(clock.at(rank, 4), 10'200) << rank;
    }
    EXPECT_EQ(clock.at(3, 3), 200);
}

TEST(Axis, MovesWhatIsLookedAtBeforeItsSenderIsKnown) {
    Timeline timeline(2);
    Job job(2);
    job[0].send(1);
    job[1].recv(0);
    job[1].send(0);
    job[0].recv(1);
    shift(job, 0, 3, 5'000);
    for (const std::int32_t rank : {1, 0}) {
        const RankTrace& trace = job.trace.ranks[static_cast<std::size_t>(rank)];
        for (const CommInfo& info : trace.comms) {
            timeline.addComm(RankId{rank}, info);
        }
        for (const TraceEvent& event : trace.events) {
            timeline.addEvent(RankId{rank}, timeline.addDetails(RankId{rank}, event.details), event.time);
            (void)timeline.axisTime(RankId{1}, EventIndex{4});
        }
        if (rank == 1) {
            EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{4}), 300);
        }
    }
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{4}), 5'200);
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{5}), 5'200);
    EXPECT_EQ(timeline.axisTime(RankId{0}, EventIndex{6}), 5'500);
    // A later event of the rank is not before those that were moved.
    EventDetails begin;
    begin.function = FunctionId::Barrier;
    begin.comm = kWorld;
    timeline.addEvent(RankId{1}, timeline.addDetails(RankId{1}, begin), 700);
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{7}), 5'200);
    // Told later that its sender began earlier: all goes back.
    timeline.setOrigin(RankId{0}, -5'000);
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{4}) - timeline.axisTime(RankId{1}, EventIndex{3}), 100);
}

/// Random programs whose recorded times are off by up to the tolerance: no message goes backwards, no rank
/// does, no event moves by more than twice the tolerance, and those that need not move do not.
TEST(Axis, RandomRoundingNeverGoesBackwards) {
    constexpr TimeNs kTolerance = 10'000;
    int moved = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        const std::size_t ranks = 2 + below(random, 4);
        Job job(static_cast<std::int32_t>(ranks));
        // True times: one action of one rank after the other, close together; then rounded.
        TimeNs now = 10'000;
        std::vector<std::vector<TimeNs>> times(ranks);
        std::vector<TimeNs> shown(ranks, 0);
        const auto stamp = [&](std::size_t rank) {
            now += static_cast<TimeNs>(below(random, 3000));
            const TimeNs off = static_cast<TimeNs>(below(random, 2 * kTolerance + 1)) - kTolerance;
            shown[rank] = std::max({shown[rank], TimeNs{0}, now + off});
            times[rank].push_back(shown[rank]);
        };
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            stamp(rank);
            stamp(rank);
        }
        for (int i = 0; i < 40; ++i) {
            const std::size_t from = below(random, ranks);
            const std::size_t to = (from + 1 + below(random, ranks - 1)) % ranks;
            job[from].send(static_cast<std::int32_t>(to));
            job[to].recv(static_cast<std::int32_t>(from));
            const bool early = chance(random, 50); // the receive begins before the send
            if (early) {
                stamp(to);
            }
            stamp(from);
            stamp(from);
            if (!early) {
                stamp(to);
            }
            stamp(to);
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (std::size_t i = 0; i < times[rank].size(); ++i) {
                job.trace.ranks[rank].events[i].time = times[rank][i];
            }
        }
        const Timeline timeline = load(
            job.trace, [&](std::size_t count) { return below(random, count); },
            [&](const Timeline& t) {
                if (chance(random, 10)) {
                    (void)t.axisTime(RankId{0}, EventIndex{1});
                }
            });
        TimeNs zero = times[0][0];
        for (const auto& own : times) {
            zero = std::min(zero, own[0]);
        }
        for (const Message& m : timeline.messages()) {
            ASSERT_EQ(m.state, MessageState::Matched);
            const TimeNs sent = timeline.axisTime(m.send->rank, timeline.call(*m.send).begin);
            const TimeNs got = timeline.axisTime(m.done->rank, timeline.call(*m.done).end);
            EXPECT_LE(sent, got) << "seed " << seed;
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            TimeNs before = 0;
            for (std::size_t i = 0; i < times[rank].size(); ++i) {
                const TimeNs at =
                    timeline.axisTime(RankId{static_cast<std::int32_t>(rank)}, EventIndex{i + 1});
                EXPECT_LE(before, at) << "seed " << seed;
                EXPECT_LE(times[rank][i] - zero, at) << "seed " << seed;
                EXPECT_LE(at, times[rank][i] - zero + 2 * kTolerance) << "seed " << seed;
                moved += at != times[rank][i] - zero ? 1 : 0;
                before = at;
            }
        }
    }
    EXPECT_GT(moved, 1000);
}

} // namespace
} // namespace stopline::replay::test
