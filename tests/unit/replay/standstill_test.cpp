// A re-execution that waits for what cannot come: which message, and why.
#include "script.h"

#include "../../../replay/standstill.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;
using What = Doing::What;

/// Rank 0 receives (events 3, 4) from rank 1 (5, 6 after a receive of its own) and rank 2 (3, 4).
struct Fixture : ::testing::Test {
    Fixture() : job(3) {
        job[0].recv(kAnySource, 5, {1, 5}); // 3, 4
        job[0].recv(kAnySource, 6, {2, 6}); // 5, 6
        job[0].send(1, 8);                  // 7, 8
        job[1].recv(2, 7);                  // 3, 4
        job[1].send(0, 5);                  // 5, 6
        job[1].recv(0, 8);                  // 7, 8
        job[2].send(1, 7);                  // 3, 4
        job[2].send(0, 6);                  // 5, 6
    }
    Job job;
};

Doing doing(What what, std::uint64_t event) {
    return {what, {EventIndex(event), false}};
}

TEST_F(Fixture, TheSenderHasEnded) {
    const Timeline timeline = job.timeline();
    const auto found = standstillOf(timeline, {doing(What::InCall, 3), doing(What::Ended, 4), doing(What::Runs, 6)}, RankId{0});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->certain);
    EXPECT_EQ(found->last, RankId{1});
    EXPECT_EQ(found->event, EventIndex(3));
    EXPECT_EQ(found->text, "rank 0 waits in 3 MPI_Recv for the message with tag 5 on MPI_COMM_WORLD that rank 1 sent at 5 "
                           "MPI_Send in the recording; rank 1 has ended");
}

TEST_F(Fixture, TheSenderHasDeparted) {
    const Timeline timeline = job.timeline();
    const auto found =
        standstillOf(timeline, {doing(What::InCall, 3), doing(What::Departed, 5), doing(What::Runs, 6)}, RankId{0});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->certain);
    EXPECT_EQ(found->text, "rank 0 waits in 3 MPI_Recv for the message with tag 5 on MPI_COMM_WORLD that rank 1 sent at 5 "
                           "MPI_Send in the recording; rank 1 departed at its event 5");
}

TEST_F(Fixture, TheSenderWaitsForOneThatHasNotCalledForLong) {
    const Timeline timeline = job.timeline();
    const auto found =
        standstillOf(timeline, {doing(What::InCall, 3), doing(What::InCall, 3), doing(What::Runs, 2)}, RankId{0});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->certain);
    EXPECT_EQ(found->last, RankId{2});
    EXPECT_EQ(found->text, "rank 0 waits in 3 MPI_Recv for the message with tag 5 on MPI_COMM_WORLD that rank 1 sent at 5 "
                           "MPI_Send in the recording, rank 1 waits in 3 MPI_Recv for the message with tag 7 on "
                           "MPI_COMM_WORLD that rank 2 sent at 3 MPI_Send in the recording; rank 2 has made no call since "
                           "its event 2");
}

TEST_F(Fixture, NobodyIsBlamedWhoIsHeldOrOnTheWay) {
    const Timeline timeline = job.timeline();
    // Held by the user; sent already; not in a call.
    EXPECT_FALSE(standstillOf(timeline, {doing(What::InCall, 3), doing(What::Held, 4), doing(What::Runs, 6)}, RankId{0}));
    EXPECT_FALSE(standstillOf(timeline, {doing(What::InCall, 3), doing(What::Ended, 6), doing(What::Runs, 6)}, RankId{0}));
    // Sending has begun: the message may be on its way.
    EXPECT_FALSE(standstillOf(timeline, {doing(What::InCall, 3), doing(What::InCall, 5), doing(What::Runs, 6)}, RankId{0}));
    // Behind the end of what is recorded of the sender nothing of it is missing.
    EXPECT_FALSE(standstillOf(timeline, {doing(What::InCall, 3), doing(What::Runs, 9), doing(What::Runs, 6)}, RankId{0}));
}

TEST(Standstill, Round) {
    // A log that has been edited can make ranks wait for each other that did not.
    Job job(2);
    job[0].recv(kAnySource, 1, {1, 1}); // 3, 4
    job[0].send(1, 2);                  // 5, 6
    job[1].send(0, 1);                  // 3, 4
    job[1].recv(kAnySource, 2, {0, 2}); // 5, 6
    Timeline timeline = job.timeline();
    EXPECT_FALSE(standstillOf(timeline, {doing(What::InCall, 3), doing(What::InCall, 5)}, RankId{0}));
    Job other(2);
    other[0].recv(kAnySource, 1, {1, 1}); // 3, 4
    other[0].send(1, 2);                  // 5, 6
    other[1].recv(kAnySource, 2, {0, 2}); // 3, 4
    other[1].send(0, 1);                  // 5, 6
    timeline = other.timeline();
    const auto found = standstillOf(timeline, {doing(What::InCall, 3), doing(What::InCall, 3)}, RankId{1});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->certain);
    EXPECT_EQ(found->text, "rank 1 waits in 3 MPI_Recv for the message with tag 2 on MPI_COMM_WORLD that rank 0 sent at 5 "
                           "MPI_Send in the recording, rank 0 waits in 3 MPI_Recv for the message with tag 1 on "
                           "MPI_COMM_WORLD that rank 1 sent at 5 MPI_Send in the recording; rank 1 waits itself");
}

TEST(Standstill, Collective) {
    Job job(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        job[rank].collective(FunctionId::Barrier); // 3, 4
    }
    const Timeline timeline = job.timeline();
    const auto found = standstillOf(timeline, {doing(What::InCall, 3), doing(What::Ended, 2)}, RankId{0});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->text, "rank 0 waits in 3 MPI_Barrier for rank 1 to enter 3 MPI_Barrier; rank 1 has ended");
}

TEST(Standstill, WhatTheRecordingDoesNotHoldAnyMore) {
    Job job(2);
    job[0].recv(kAnySource, 4, {1, 4}); // 3, 4; rank 1's recording ends before it sends
    Timeline timeline = job.timeline();
    const std::vector<Doing> ranks = {doing(What::InCall, 3), doing(What::Ended, 2)};
    EXPECT_FALSE(standstillOf(timeline, ranks, RankId{0}));
    timeline.setBrokenOff(RankId{1}, true);
    const auto found = standstillOf(timeline, ranks, RankId{0});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->text, "rank 0 waits in 3 MPI_Recv for the message with tag 4 on MPI_COMM_WORLD that rank 1 sent behind "
                           "the end of its recording; rank 1 has ended");
}

} // namespace
} // namespace stopline::replay
