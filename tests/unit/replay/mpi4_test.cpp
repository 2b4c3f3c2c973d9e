// What MPI 4.0 adds: both ways in one request, persistent collectives, forms for large counts.
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

TEST(Mpi4, BothWaysInOneRequest) {
    Job job(2);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        RankScript& script = job[static_cast<std::size_t>(rank)];
        script.wait(script.isendrecv(1 - rank, 1 - rank)); // calls 1 and 2
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:1 1:1 1:2 M", "1:1 0:1 0:2 M"}));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 2))), text(cut({6, 4})));
}

TEST(Mpi4, BothWaysWithOneSideMissing) {
    Job job(2);
    const Serial request = job[0].isendrecv(1, kProcNull);
    job[0].wait(request);
    job[1].recv(0);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:1 1:1 M"}));
}

TEST(Mpi4, WhatAHangingWaitForBothWaysWaitsFor) {
    Job job(2);
    const Serial request = job[0].isendrecv(1, 1, 7); // call 1
    job[0].wait(request);                             // call 2
    job[0].unfinished();
    job[1].recv(0, 7); // the send has arrived, nothing comes back
    const Timeline timeline = job.timeline();
    const auto awaited = timeline.awaited(at(0, 2));
    ASSERT_EQ(awaited.size(), 1U);
    EXPECT_FALSE(awaited[0].done);
    ASSERT_TRUE(awaited[0].message.has_value());
    EXPECT_EQ(timeline.messages()[awaited[0].message->value()].sender, RankId{1});
}

TEST(Mpi4, EveryStartOfAPersistentCollectiveIsOne) {
    Job job(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const Serial barrier = job[rank].icollective(FunctionId::Barrier_init); // call 1
        for (int round = 0; round < 2; ++round) {
            job[rank].start({barrier}); // calls 2 and 4
            job[rank].wait(barrier);    // calls 3 and 5
        }
    }
    const Timeline timeline = job.timeline();
    // Making it is no collective, beginning it is: the second one needs the other rank's second start.
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 1))), text(cut({4, 2})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 3))), text(cut({8, 6})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 5))), text(cut({12, 10})));
    EXPECT_EQ(timeline.collectives().back().function, FunctionId::Barrier_init);
}

TEST(Mpi4, FormsForLargeCountsGoTogetherAndPersistentOnesDoNot) {
    Job job(2);
    job[0].collective(FunctionId::Bcast, 0); // call 1
    job[1].collective(FunctionId::Bcast_c, 0);
    EXPECT_FALSE(job.timeline().collectives().back().mismatch);

    Job wrong(2);
    wrong[0].collective(FunctionId::Bcast, 0);
    wrong[1].start({wrong[1].icollective(FunctionId::Bcast_init, 0)});
    EXPECT_TRUE(wrong.timeline().collectives().back().mismatch);
}

TEST(Mpi4, CommunicatorsWithoutAParent) {
    Job job(2);
    CommInfo made = worldComm(2);
    made.id = 31;
    for (std::size_t rank = 0; rank < 2; ++rank) {
        job[rank].construct(FunctionId::Comm_create_from_group, made, kNoComm); // call 1
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(timeline.collectives().back().function, FunctionId::Comm_create_from_group);
    EXPECT_EQ(timeline.collectives().back().members.size(), 2U);
    EXPECT_TRUE(timeline.collectives().back().arrived[0].has_value());
    EXPECT_TRUE(timeline.collectives().back().arrived[1].has_value());
}

} // namespace
} // namespace stopline::replay::test
