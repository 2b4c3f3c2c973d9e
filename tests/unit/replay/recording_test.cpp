// What the ranks' mappings hold comes into the timeline whole, in one go or in pieces.
#include "../../bench/timeline/halo.h"

#include "../../../replay/history_share.h"
#include "../../../replay/recording.h"
#include "../../../replay/replay_logs.h"
#include "../../../tracelib/history_advance.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <set>

namespace stopline::replay {
namespace {

constexpr std::int32_t kRanks = 4;
constexpr std::uint64_t kIterations = 3000; // 36,000 events a rank: several pieces

/// Takes all in; returns how many pieces it took.
int takeAll(Recording& recording, RankId rank, const trace::RankImage& image) {
    EXPECT_EQ(recording.read(rank, image), QString());
    for (int pieces = 1;; ++pieces) {
        const Recording::Taken taken = recording.take(rank, std::chrono::microseconds(0));
        EXPECT_FALSE(taken.difference.has_value());
        if (taken.all) {
            return pieces;
        }
    }
}

TEST(Recording, PiecesMakeTheSameTimeline) {
    Recording whole(kRanks);
    Recording pieces(kRanks);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const trace::RankImage image = bench::recording(rank, kRanks, kIterations);
        QString error;
        EXPECT_FALSE(whole.feed(RankId{rank}, image, error).has_value());
        EXPECT_EQ(error, QString());
        EXPECT_EQ(takeAll(pieces, RankId{rank}, image), 9); // 4096 events each
        EXPECT_EQ(takeAll(pieces, RankId{rank}, image), 1); // nothing new
        EXPECT_EQ(pieces.executed(RankId{rank}), EventIndex{12 * kIterations});
    }
    const Timeline& a = whole.timeline();
    const Timeline& b = pieces.timeline();
    EXPECT_EQ(a.messages().size(), std::size_t{2 * kIterations * kRanks});
    EXPECT_EQ(b.messages().size(), a.messages().size());
    EXPECT_TRUE(b.openMessages().empty());
    EXPECT_EQ(b.collectives().size(), std::size_t{kIterations});
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        ASSERT_EQ(b.lastEvent(RankId{rank}), EventIndex{12 * kIterations});
        for (std::uint32_t call = 0; call < b.callCount(RankId{rank}); call += 997) {
            const CallRef ref{RankId{rank}, CallIndex{call}};
            EXPECT_EQ(a.call(ref).endTime, b.call(ref).endTime);
            EXPECT_EQ(a.details(RankId{rank}, a.call(ref).beginDetails),
                      b.details(RankId{rank}, b.call(ref).beginDetails));
        }
    }
}

TEST(Recording, LogsAreMadeAsideAndHoldForAsManyEvents) {
    Recording recording(kRanks);
    QString error;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        (void)recording.feed(RankId{rank}, bench::recording(rank, kRanks, 10), error);
    }
    EXPECT_EQ(recording.replayLogs(ReplayBy::Source), nullptr);
    LogsProgress progress;
    const auto made = recording.makeReplayLogs(ReplayBy::Source, progress);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->marks, nullptr);
    EXPECT_EQ(made->ranks.size(), std::size_t{kRanks});
    EXPECT_EQ(progress.rank, kRanks - 1);
    recording.keepReplayLogs(made);
    EXPECT_EQ(recording.replayLogs(ReplayBy::Source), made);
    EXPECT_EQ(recording.replayLogs(ReplayBy::Tag), nullptr);
    (void)recording.feed(RankId{0}, bench::recording(0, kRanks, 11), error);
    EXPECT_EQ(recording.replayLogs(ReplayBy::Source), nullptr); // there is more of rank 0 now
    progress.cancelled = true;
    EXPECT_EQ(recording.makeReplayLogs(ReplayBy::Source, progress), nullptr);
}

TEST(Recording, ExecutionAgainIsComparedInPiecesAndGoesOnBehindTheRecording) {
    Recording recording(kRanks);
    const RankId rank{1};
    QString error;
    (void)recording.feed(rank, bench::recording(1, kRanks, kIterations), error);
    recording.beginExecution();
    EXPECT_EQ(takeAll(recording, rank, bench::recording(1, kRanks, kIterations / 2)), 5);
    EXPECT_TRUE(recording.replaying(rank));
    EXPECT_EQ(recording.timeline().lastEvent(rank), EventIndex{12 * kIterations});
    takeAll(recording, rank, bench::recording(1, kRanks, kIterations + 10));
    EXPECT_FALSE(recording.replaying(rank));
    EXPECT_EQ(recording.timeline().lastEvent(rank), EventIndex{12 * (kIterations + 10)});
}

TEST(Recording, ExecutionBeforeWhichNothingWasRecordedIsTheFirst) {
    constexpr std::int64_t kLater = 1'000'000'000;
    Recording plain(2);
    Recording announced(2);
    announced.beginExecution();
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        trace::RankImage image = bench::recording(rank, 2, 20);
        const std::int64_t origin = 5 * kLater + rank * kLater;
        std::memcpy(image.header.data() + offsetof(trace::MappingHeader, originNs), &origin, sizeof origin);
        QString error;
        (void)plain.feed(RankId{rank}, image, error);
        (void)announced.feed(RankId{rank}, image, error);
        EXPECT_EQ(error, QString());
    }
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        const TimeNs time = plain.timeline().axisTime(RankId{rank}, EventIndex{1});
        EXPECT_EQ(announced.timeline().axisTime(RankId{rank}, EventIndex{1}), time);
        EXPECT_GE(time, rank * kLater); // each rank's clock starts when the rank did
    }
}

TEST(Recording, FirstDifferenceIsToldOnceAndNothingIsTakenBehindIt) {
    Recording recording(kRanks);
    const RankId rank{1};
    QString error;
    (void)recording.feed(rank, bench::recording(1, kRanks, 20), error);
    recording.beginExecution();
    // Another rank's program: its first receive is from another neighbour.
    EXPECT_EQ(recording.read(rank, bench::recording(2, kRanks, 20)), QString());
    Recording::Taken taken = recording.take(rank, std::chrono::microseconds(0));
    EXPECT_TRUE(taken.all);
    ASSERT_TRUE(taken.difference.has_value());
    EXPECT_EQ(taken.difference->event, EventIndex{1});
    EXPECT_EQ(taken.difference->recorded.recvPeer, 0);
    EXPECT_EQ(taken.difference->executed.recvPeer, 1);
    taken = recording.take(rank, std::chrono::microseconds(0));
    EXPECT_TRUE(taken.all);
    EXPECT_FALSE(taken.difference.has_value());
    EXPECT_EQ(recording.timeline().lastEvent(rank), EventIndex{240});
}

/// Barriers of two ranks; from `other` on, counted from 0, they are reductions instead.
std::vector<trace::EventDetails> barriers(std::size_t calls, std::size_t other) {
    std::vector<trace::EventDetails> all;
    for (std::size_t call = 0; call < calls; ++call) {
        trace::EventDetails event;
        event.function = call < other ? trace::FunctionId::Barrier : trace::FunctionId::Allreduce;
        event.comm = kCommWorld;
        all.push_back(event);
        event.kind = trace::EventKind::End;
        all.push_back(event);
    }
    return all;
}

TEST(Recording, ABranchKeepsWhatWasEqualAndGoesOnWithWhatIsNew) {
    Recording recording(2);
    QString error;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        (void)recording.feed(RankId{rank}, bench::recording(barriers(20, 20), rank, 2, 1), error);
    }
    const Timeline& first = recording.timeline();
    const TimeNs begin = first.call({RankId{0}, CallIndex{11}}).beginTime;
    recording.beginExecution();
    EXPECT_FALSE(recording.feed(RankId{1}, bench::recording(barriers(9, 9), 1, 2, 1), error));
    const auto difference = recording.feed(RankId{0}, bench::recording(barriers(15, 12), 0, 2, 1), error);
    ASSERT_TRUE(difference.has_value());
    EXPECT_EQ(difference->event, EventIndex{25});
    const std::unique_ptr<Recording> before = recording.branch();
    const Timeline& branch = recording.timeline();
    EXPECT_EQ(before->timeline().lastEvent(RankId{0}), EventIndex{40}); // what was recorded is kept
    EXPECT_EQ(before->timeline().lastEvent(RankId{1}), EventIndex{40});
    EXPECT_EQ(before->recordedBefore(RankId{0}), EventIndex{40});
    EXPECT_EQ(branch.lastEvent(RankId{0}), EventIndex{30});
    EXPECT_EQ(branch.lastEvent(RankId{1}), EventIndex{18}); // what it has not done again is gone
    EXPECT_EQ(branch.call({RankId{0}, CallIndex{11}}).beginTime, begin);
    const auto function = [&](std::int32_t rank, std::uint64_t event) {
        return branch.details(RankId{rank}, branch.eventDetails(RankId{rank}, EventIndex{event})).function;
    };
    EXPECT_EQ(function(0, 24), trace::FunctionId::Barrier);
    EXPECT_EQ(function(0, 25), trace::FunctionId::Allreduce);
    EXPECT_EQ(branch.collectives().size(), 15U);
    TimeNs last = 0;
    for (std::uint64_t event = 1; event <= 30; ++event) {
        const TimeNs time = branch.axisTime(RankId{0}, EventIndex{event});
        EXPECT_GE(time, last) << event;
        last = time;
    }
    // Both go on, and are the recording of the next execution.
    EXPECT_FALSE(recording.feed(RankId{1}, bench::recording(barriers(15, 12), 1, 2, 1), error));
    EXPECT_FALSE(recording.feed(RankId{0}, bench::recording(barriers(16, 12), 0, 2, 1), error));
    EXPECT_EQ(branch.lastEvent(RankId{1}), EventIndex{30});
    EXPECT_EQ(branch.lastEvent(RankId{0}), EventIndex{32});
    recording.beginExecution();
    EXPECT_FALSE(recording.feed(RankId{0}, bench::recording(barriers(16, 12), 0, 2, 1), error));
    EXPECT_FALSE(recording.replaying(RankId{0}));
    EXPECT_EQ(error, QString());
}

TEST(Recording, ABeginningIsSharedAndExecutionsGoOnBehindIt) {
    Recording recording(2);
    QString error;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        (void)recording.feed(RankId{rank}, bench::recording(barriers(20, 20), rank, 2, 1), error);
    }
    const TimeNs begin = recording.timeline().call({RankId{0}, CallIndex{11}}).beginTime;
    const std::unique_ptr<Recording> part = recording.upTo({EventIndex{24}, EventIndex{9}}, {});
    EXPECT_FALSE(part->hasPlans());
    EXPECT_EQ(recording.timeline().lastEvent(RankId{0}), EventIndex{40}); // has all it had
    EXPECT_EQ(part->timeline().lastEvent(RankId{0}), EventIndex{24});
    EXPECT_EQ(part->timeline().lastEvent(RankId{1}), EventIndex{9});
    EXPECT_EQ(part->timeline().call({RankId{0}, CallIndex{11}}).beginTime, begin);
    part->beginExecution();
    // Another execution that is the same up to there, and then not.
    EXPECT_FALSE(part->feed(RankId{0}, bench::recording(barriers(20, 12), 0, 2, 1), error));
    EXPECT_FALSE(part->feed(RankId{1}, bench::recording(barriers(20, 12), 1, 2, 1), error));
    EXPECT_EQ(error, QString());
    EXPECT_EQ(part->recordedBefore(RankId{0}), EventIndex{24});
    EXPECT_EQ(part->comparedEqual(RankId{1}), EventIndex{9});
    EXPECT_EQ(part->timeline().lastEvent(RankId{0}), EventIndex{40});
    const Timeline& whole = part->timeline();
    EXPECT_EQ(whole.details(RankId{0}, whole.eventDetails(RankId{0}, EventIndex{25})).function, trace::FunctionId::Allreduce);
    TimeNs last = 0;
    for (std::uint64_t event = 1; event <= 40; ++event) {
        const TimeNs time = whole.axisTime(RankId{1}, EventIndex{event});
        EXPECT_GE(time, last) << event;
        last = time;
    }
}

/// Halves of messages by event, of those that are matched.
std::set<std::array<std::uint64_t, 4>> pairsOf(const Timeline& timeline) {
    std::set<std::array<std::uint64_t, 4>> pairs;
    for (const Message& m : timeline.messages()) {
        if (m.state == MessageState::Matched) {
            pairs.insert({std::uint64_t(m.send->rank.value()), timeline.call(*m.send).begin.value(),
                          std::uint64_t(m.post->rank.value()), timeline.call(*m.post).begin.value()});
        }
    }
    return pairs;
}

/// What `part` has is what `whole` has of it.
void expectPart(const Timeline& part, const Timeline& whole) {
    std::set<std::array<std::uint64_t, 4>> kept;
    for (const auto& pair : pairsOf(whole)) {
        if (pair[1] >= part.firstEvent(RankId{int(pair[0])}).value() && pair[3] >= part.firstEvent(RankId{int(pair[2])}).value()) {
            kept.insert(pair);
        }
    }
    EXPECT_EQ(pairsOf(part), kept);
    EXPECT_FALSE(kept.empty());
    EXPECT_TRUE(part.openMessages().empty());
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const RankId id{rank};
        ASSERT_EQ(part.lastEvent(id), whole.lastEvent(id));
        for (std::uint64_t event = part.firstEvent(id).value(); event <= part.lastEvent(id).value(); event += 97) {
            EXPECT_EQ(part.details(id, part.eventDetails(id, EventIndex{event})),
                      whole.details(id, whole.eventDetails(id, EventIndex{event})));
            // Each is moved by as much as the recorded times may be off, so that nothing comes before it was sent.
            EXPECT_NEAR(double(part.axisTime(id, EventIndex{event}) - part.axisTime(id, part.lastEvent(id))),
                        double(whole.axisTime(id, EventIndex{event}) - whole.axisTime(id, whole.lastEvent(id))),
                        2.0 * double(TransportRules().timeTolerance));
        }
    }
}

TEST(Recording, KeepsTheLatestEventsWhenThereAreTooMany) {
    Recording whole(kRanks);
    Recording bounded(kRanks);
    bounded.setMostEvents(40'000);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const trace::RankImage image = bench::recording(rank, kRanks, kIterations);
        QString error;
        EXPECT_FALSE(whole.feed(RankId{rank}, image, error).has_value());
        EXPECT_FALSE(bounded.feed(RankId{rank}, image, error).has_value());
        EXPECT_EQ(error, QString());
        while (bounded.startDue()) {
            bounded.startAnew();
        }
    }
    std::uint64_t all = 0;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const Timeline& timeline = bounded.timeline();
        const std::uint64_t kept = timeline.lastEvent(RankId{rank}).value() - timeline.firstEvent(RankId{rank}).value() + 1;
        EXPECT_GE(kept, 7'490U);
        all += kept;
    }
    EXPECT_LE(all, 40'000U);
    EXPECT_GE(all, 30'000U);
    expectPart(bounded.timeline(), whole.timeline());
}

TEST(Recording, RanksWithFewEventsLeaveTheirShareToOthers) {
    constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(historyShare({100, 5, 1, 100}, 50), 22U);
    EXPECT_EQ(historyShare({100, 100, 100, 100}, 50), 12U);
    EXPECT_EQ(historyShare({10, 11}, 20), 10U);
    EXPECT_EQ(historyShare({10, 10}, 20), kAll);
    EXPECT_EQ(historyShare({kAll, 3}, 20), 17U);
    EXPECT_EQ(historyShare({1000}, 0), kAll);
    EXPECT_EQ(historyShare({}, 20), kAll);
}

TEST(Recording, BlocksThatAreLeftOutAreCounted) {
    constexpr std::uint64_t kMany = 20'000; // several blocks
    Recording whole(kRanks);
    Recording bounded(kRanks);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        trace::RankImage image = bench::recording(rank, kRanks, kMany);
        QString error;
        EXPECT_FALSE(whole.feed(RankId{rank}, image, error).has_value());
        // Each starts somewhere else.
        trace::HistoryAdvance::leaveOut(image, 60'000 + 20'000 * std::uint64_t(rank));
        EXPECT_FALSE(bounded.feed(RankId{rank}, image, error).has_value());
        EXPECT_EQ(error, QString());
        EXPECT_GT(bounded.timeline().firstEvent(RankId{rank}).value(), 1U);
        EXPECT_EQ(bounded.startDue(), false);
    }
    expectPart(bounded.timeline(), whole.timeline());
}

} // namespace
} // namespace stopline::replay
