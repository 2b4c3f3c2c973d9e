// Frontiers and closure on small programs, with the exact places.
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

/// Call c of a rank that has no overlapping calls: begin 2c + 1, end 2c + 2.
constexpr std::uint64_t b(std::uint64_t call) {
    return 2 * call + 1;
}
constexpr std::uint64_t e(std::uint64_t call) {
    return 2 * call + 2;
}

/// Rank 0: Init, Send to 1, Send to 1. Rank 1: Init, Recv, Recv. The first message is the one of the paper's
/// cases.
struct PaperCases : ::testing::Test {
    PaperCases() : job(2) {
        for (int i = 0; i < 3; ++i) {
            job[0].send(1);
            job[1].recv(0);
        }
        timeline.emplace(job.timeline());
    }
    Job job;
    std::optional<Timeline> timeline;
};

TEST_F(PaperCases, BeforeSendTheFutureIncludesItsReceive) {
    EXPECT_EQ(text(timeline->futureFrontier(before(0, 2))), text(cut({b(2), b(2)})));
}

TEST_F(PaperCases, AfterSendTheFutureIsBeyondItsReceive) {
    EXPECT_EQ(text(timeline->futureFrontier(after(0, 2))), text(cut({e(2), b(3)})));
}

TEST_F(PaperCases, PastOfASendIsTheSameBeforeAndAfter) {
    EXPECT_EQ(text(timeline->pastFrontier(before(0, 2))), text(cut({b(2), e(0)})));
    EXPECT_EQ(text(timeline->pastFrontier(after(0, 2))), text(cut({e(2), e(0)})));
}

TEST_F(PaperCases, AfterReceiveThePastIncludesItsSend) {
    EXPECT_EQ(text(timeline->pastFrontier(after(1, 2))), text(cut({e(2), e(2)})));
}

TEST_F(PaperCases, BeforeReceiveThePastIsBeforeItsSend) {
    EXPECT_EQ(text(timeline->pastFrontier(before(1, 2))), text(cut({e(1), b(2)})));
}

TEST_F(PaperCases, FutureOfAReceiveIsTheSameBeforeAndAfter) {
    EXPECT_EQ(text(timeline->futureFrontier(before(1, 2))), text(cut({e(3), b(2)})));
    EXPECT_EQ(text(timeline->futureFrontier(after(1, 2))), text(cut({e(3), e(2)})));
}

/// The paper's section 4: the master sends too few rows, one message a row; everybody hangs.
void hangingJob(Job& job, int rows, bool roundByRound) {
    for (int i = 0; i < rows * 3; ++i) {
        const int worker = roundByRound ? i % 3 + 1 : i / rows + 1;
        job[0].send(worker);
    }
    job[0].recv(kAnySource, 1);
    job[0].unfinished();
    for (std::size_t worker = 1; worker <= 3; ++worker) {
        for (int i = 0; i <= rows; ++i) {
            job[worker].recv(0);
        }
        job[worker].unfinished();
    }
}

TEST(PaperFigures, RoundByRound) {
    Job job(4);
    hangingJob(job, 4, true);
    const Timeline timeline = job.timeline();
    // Sends are calls 1..12 of rank 0; the ones to rank 1 are 1, 4, 7, 10; receives of each worker are
    // calls 1..5.
    const Line line = timeline.futureFrontier(after(0, 7));
    EXPECT_EQ(text(line), text(cut({e(7), b(4), b(3), b(3)})));
    EXPECT_TRUE(line.obstacles.empty());
    EXPECT_TRUE(timeline.isClosed(line.cut));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 7))), text(cut({e(7), e(0), e(0), e(0)})));
}

TEST(PaperFigures, BlockByBlock) {
    Job job(4);
    hangingJob(job, 4, false);
    const Timeline timeline = job.timeline();
    const Line line = timeline.futureFrontier(after(0, 3));
    EXPECT_EQ(text(line), text(cut({e(3), b(4), b(1), b(1)})));
    EXPECT_TRUE(line.obstacles.empty());
    EXPECT_EQ(timeline.describe(RankId{0}, line.cut[0]), "after 8 MPI_Send");
    EXPECT_EQ(timeline.describe(RankId{1}, line.cut[1]), "before 9 MPI_Recv");
    EXPECT_EQ(timeline.describe(RankId{0}, Place{}), "before MPI_Init");
    EXPECT_EQ(timeline.describe(RankId{0}, Place{EventIndex{999}, false}), "at event 999"); // not recorded (yet)
}

TEST(Frontier, UnaffectedRanksStopBeforeTheCallTheyHaveNotLeftOrBeforeFinalize) {
    Job job(4);
    job[0].send(1);
    job[0].recv(0);
    job[0].unfinished();
    job[1].recv(0);
    job[2].call(FunctionId::Request_free);
    job[3].send(2, 5);
    job[3].recv(1);
    job[3].unfinished();
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(timeline.futureFrontier(after(1, 1))), text(cut({b(2), e(1), e(1), b(2)})));
    Job ended(2);
    ended[0].send(1);
    ended[1].recv(0);
    ended[1].finalize();
    EXPECT_EQ(text(ended.timeline().futureFrontier(after(0, 1))), text(cut({e(1), b(2)})));
    ended[0].finalize();
    EXPECT_EQ(text(ended.timeline().futureFrontier(after(0, 1))), text(cut({e(1), b(2)})));
    EXPECT_EQ(text(ended.timeline().futureFrontier(after(0, 2))), text(cut({e(2), e(2)})));
    EXPECT_EQ(text(ended.timeline().pastFrontier(after(0, 2))), text(cut({e(2), e(2)})));
}

TEST(Frontier, BeforeInitNobodyHasStarted) {
    Job job(3);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(timeline.pastFrontier(before(1, 0))), text(cut({0, 1, 0})));
    EXPECT_EQ(text(timeline.futureFrontier(before(1, 0))), text(cut({1, 1, 1})));
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 0))), text(cut({2, 2, 2})));
}

TEST(Frontier, BarrierIsAllOnOneSide) {
    Job job(3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        job[rank].collective(FunctionId::Barrier);
        job[rank].collective(FunctionId::Barrier);
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 1))), text(cut({e(1), e(1), e(1)})));
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 1))), text(cut({b(1), b(1), b(1)})));
    EXPECT_EQ(text(timeline.futureFrontier(after(0, 1))), text(cut({e(1), b(2), b(2)})));
}

TEST(Frontier, RootedCollectivesAreOnOneSideForFrontiersAndLooseForTheClosure) {
    Job job(3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        job[rank].collective(FunctionId::Bcast, 1);
        job[rank].collective(FunctionId::Reduce, 1);
        job[rank].collective(FunctionId::Scan);
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 1))), text(cut({e(1), e(1), e(1)})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 2))), text(cut({e(2), e(2), e(2)})));
    // The root leaves a small Bcast alone; the others need the root.
    EXPECT_TRUE(timeline.isClosed(cut({b(1), e(1), b(1)})));
    EXPECT_FALSE(timeline.isClosed(cut({e(1), b(1), b(1)})));
    EXPECT_EQ(text(timeline.closeDown(cut({e(1), b(1), e(1)}))), text(cut({b(1), b(1), b(1)})));
    // Reduce the other way round.
    EXPECT_TRUE(timeline.isClosed(cut({e(2), b(2), b(2)})));
    EXPECT_FALSE(timeline.isClosed(cut({e(2), e(2), b(2)})));
    EXPECT_EQ(text(timeline.closeUp(cut({e(1), e(2), e(1)}), RankId{1})), text(cut({e(2), e(2), e(2)})));
    // Scan: from the front.
    EXPECT_TRUE(timeline.isClosed(cut({e(3), b(3), b(3)})));
    EXPECT_TRUE(timeline.isClosed(cut({e(3), e(3), b(3)})));
    EXPECT_FALSE(timeline.isClosed(cut({b(3), e(3), b(3)})));
}

TEST(Frontier, LargeRootedCollectivesNeedEverybody) {
    Job job(2);
    job[0].collective(FunctionId::Bcast, 0, kWorld, 100000);
    job[1].collective(FunctionId::Bcast, 0, kWorld, 100000);
    EXPECT_FALSE(job.timeline().isClosed(cut({e(1), b(1)})));
}

TEST(Frontier, UnfinishedCollective) {
    Job job(3);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        job[rank].collective(FunctionId::Barrier);
        job[rank].unfinished();
    }
    job[2].recv(1, 9);
    job[2].unfinished();
    const Timeline timeline = job.timeline();
    ASSERT_EQ(timeline.collectives().size(), 2U); // Init and the barrier
    const Collective& barrier = timeline.collectives()[1];
    EXPECT_EQ(barrier.function, FunctionId::Barrier);
    EXPECT_EQ(barrier.arrived[1], at(1, 1));
    EXPECT_FALSE(barrier.arrived[2].has_value());
    EXPECT_FALSE(barrier.finished[0].has_value());
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 1))), text(cut({b(1), b(1), b(1)})));
    Cut now = cut({b(1), b(1), b(1)});
    now[0].inside = now[1].inside = now[2].inside = true;
    const auto blocked = timeline.blockedBy(now, RankId{0});
    ASSERT_TRUE(blocked.has_value());
    EXPECT_EQ(blocked->reason,
              "Rank 0 waits in 3 MPI_Barrier for rank 2 to call MPI_Barrier; rank 2 stands inside 3 "
              "MPI_Recv.");
    const auto other = timeline.blockedBy(now, RankId{2});
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->reason,
              "Rank 2 waits in 3 MPI_Recv for a message from rank 1; rank 1 stands inside 3 MPI_Barrier.");
}

TEST(Frontier, SendAboveTheEagerLimitNeedsItsReceive) {
    Job job(2);
    job[0].send(1, 0, 100000);
    job[0].send(1, 0, 8, kWorld, FunctionId::Ssend);
    job[0].send(1, 0, 100000, kWorld, FunctionId::Bsend);
    job[1].irecv(0);
    const Serial second = job[1].irecv(0);
    job[1].wait(second);
    const Timeline timeline = job.timeline();
    EXPECT_FALSE(timeline.isClosed(cut({e(1), b(1)})));
    EXPECT_TRUE(timeline.isClosed(cut({e(1), e(1)})));
    EXPECT_FALSE(timeline.isClosed(cut({e(2), b(2)})));
    EXPECT_EQ(text(timeline.closeDown(cut({e(2), b(2)}))), text(cut({b(2), b(2)})));
    EXPECT_TRUE(timeline.isClosed(cut({e(3), e(2)})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 2))), text(cut({e(2), e(2)})));
}

/// Two ranks exchange with Sendrecv: after one of them the other is inside, its own receive being still to
/// come.
TEST(Frontier, WhatCannotCloseIsInside) {
    Job job(3);
    job[0].sendrecv(1, kProcNull);
    job[0].send(2);
    job[1].recv(0, 0);
    job[1].send(2, 1);
    job[2].sendrecv(kProcNull, 0);
    job[2].recv(1, 1);
    Job knot(2);
    knot[1].sendrecv(0, 0); // its send is needed by rank 0's first call, its receive by rank 0's second
    knot[0].recv(1);
    knot[0].send(1);
    const Timeline timeline = knot.timeline();
    const Line line = timeline.pastFrontier(after(0, 1));
    EXPECT_EQ(text(line), "4 i3");
    ASSERT_EQ(line.obstacles.size(), 1U);
    EXPECT_EQ(line.obstacles[0].rank, RankId{1});
    EXPECT_EQ(line.obstacles[0].call, at(1, 1));
    EXPECT_EQ(line.obstacles[0].waitsFor, at(0, 2));
    EXPECT_EQ(line.obstacles[0].reason,
              "Rank 1 waits in 3 MPI_Sendrecv for the message that rank 0 sends at 5 "
              "MPI_Send; rank 0 stands after 4 MPI_Recv.");
    EXPECT_EQ(text(timeline.futureFrontier(after(0, 1))), "4 i3");
    EXPECT_TRUE(timeline.isClosed(line.cut));
    EXPECT_TRUE(job.timeline().isClosed(cut({e(1), e(2), b(1)})));
}

TEST(Rollback, MovesOneCallAndOnlyWhoDependsOnIt) {
    Job job(3);
    job[0].send(1);
    job[0].send(2);
    job[1].recv(0);
    job[1].send(2, 1);
    job[2].recv(0);
    job[2].recv(1, 1);
    const Timeline timeline = job.timeline();
    const Cut now = cut({e(2), e(2), e(2)});
    auto line = timeline.rollback(now, RankId{0});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(text(*line), text(cut({b(2), e(2), b(1)})));
    line = timeline.rollback(line->cut, RankId{0});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(text(*line), text(cut({b(1), b(1), b(1)})));
    line = timeline.rollback(now, RankId{2});
    EXPECT_EQ(text(*line), text(cut({e(2), e(2), b(2)})));
    Cut inside = now;
    inside[0] = {EventIndex{b(2)}, true};
    inside[2] = {EventIndex{b(2)}, true};
    inside[2].event = EventIndex{b(1)};
    line = timeline.rollback(inside, RankId{0});
    EXPECT_EQ(text(*line), "5 6 i3");
    EXPECT_FALSE(timeline.rollback(cut({1, 1, 1}), RankId{0}).has_value());
    EXPECT_FALSE(timeline.rollback(cut({0, 1, 1}), RankId{0}).has_value());
    EXPECT_EQ(text(*timeline.rollback(cut({2, 2, 2}), RankId{0})), text(cut({1, 1, 1})));
}

TEST(Rollback, AcrossABarrierAllGoBeforeIt) {
    Job job(4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        job[rank].collective(FunctionId::Barrier);
        job[rank].send(static_cast<std::int32_t>((rank + 1) % 4));
        job[rank].recv(static_cast<std::int32_t>((rank + 3) % 4));
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(*timeline.rollback(cut({e(1), e(3), e(2), e(1)}), RankId{0})),
              text(cut({b(1), b(1), b(1), b(1)})));
    EXPECT_EQ(text(*timeline.rollback(cut({e(2), e(3), e(2), e(2)}), RankId{0})),
              text(cut({b(2), b(3), e(2), e(2)})));
}

TEST(Forward, MovesOneCallAndWhatItNeeds) {
    Job job(3);
    job[0].send(1);
    job[0].send(2);
    job[1].recv(0);
    job[1].collective(FunctionId::Barrier);
    job[0].collective(FunctionId::Barrier);
    job[2].recv(0);
    job[2].collective(FunctionId::Barrier);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(*timeline.forward(cut({e(0), e(0), e(0)}), RankId{0})), text(cut({e(1), e(0), e(0)})));
    EXPECT_EQ(text(*timeline.forward(cut({b(1), b(1), b(1)}), RankId{1})), text(cut({e(1), e(1), b(1)})));
    EXPECT_EQ(text(*timeline.forward(cut({e(0), e(1), e(0)}), RankId{1})), text(cut({e(3), e(2), e(2)})));
    EXPECT_FALSE(timeline.forward(cut({e(3), e(2), e(2)}), RankId{1}).has_value());
    // A rank blocked in its receive returns when the message has been sent, and stays when it has not.
    Cut now = cut({e(0), b(1), b(1)});
    now[1].inside = now[2].inside = true;
    EXPECT_EQ(text(*timeline.forward(now, RankId{0})), "4 4 i3");
}

TEST(Frontier, ProbesNeedTheMessageToBeSent) {
    Job job(2);
    job[0].send(1);
    job[0].send(1);
    job[1].recv(0);
    job[1].probe(FunctionId::Iprobe, 0, 0, {0, 0}, true, 7);
    job[1].recv(0);
    const Timeline timeline = job.timeline();
    EXPECT_TRUE(timeline.isClosed(cut({e(1), e(1)})));
    EXPECT_FALSE(timeline.isClosed(cut({e(1), e(2)})));
    EXPECT_TRUE(timeline.isClosed(cut({e(2), e(2)})));
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 2))), text(cut({b(2), b(2)})));
    EXPECT_EQ(timeline.call(at(1, 2)).pollFailures, 7U);
}

} // namespace
} // namespace stopline::replay::test
