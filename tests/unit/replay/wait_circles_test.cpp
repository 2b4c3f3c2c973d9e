// Ranks that wait for each other.
#include "wait_texts.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

constexpr CommIndex kComm{0};

TEST(WaitCircles, TwoSends) {
    Job job(2);
    blockedSend(job, 0, 1);
    blockedSend(job, 1, 0);
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Send (x.c:10) for rank 1, which waits in MPI_Send "
                                   "(x.c:20) for rank 0: a deadlock"}));
}

TEST(WaitCircles, SmallSendsNeedNoReceive) {
    Job job(2);
    blockedSend(job, 0, 1, 8); // on its way back
    blockedSend(job, 1, 0, 8);
    EXPECT_EQ(circles(job), Texts());
}

TEST(WaitCircles, SendsThatSomeTransportsTakeAlong) {
    Job job(2);
    blockedSend(job, 0, 1, 10000);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts()); // the receive is there
    Job both(2);
    blockedSend(both, 0, 1, 10000);
    blockedSend(both, 1, 0, 20000);
    EXPECT_EQ(
        circles(both),
        Texts({"rank 0 waits in MPI_Send (x.c:10) for rank 1, which waits in MPI_Send (x.c:20) for rank 0: a "
               "deadlock, unless MPI takes the 20000 bytes of a send along without its receive"}));
}

TEST(WaitCircles, ThreeReceives) {
    Job job(4);
    blockedRecv(job, 1, 2);
    blockedRecv(job, 2, 3);
    blockedRecv(job, 3, 1);
    EXPECT_EQ(
        circles(job),
        Texts({"rank 1 waits in MPI_Recv (x.c:20) for rank 2, which waits in MPI_Recv (x.c:30) for rank 3, "
               "which waits in MPI_Recv (x.c:40) for rank 1: a deadlock"}));
    // One who waits for the circle is in none.
    blockedRecv(job, 0, 2);
    EXPECT_EQ(circles(job).size(), 1U);
}

TEST(WaitCircles, TwoAtOnce) {
    Job job(4);
    blockedRecv(job, 0, 3);
    blockedRecv(job, 3, 0);
    blockedSend(job, 1, 2);
    blockedSend(job, 2, 1);
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Recv (x.c:10) for rank 3, which waits in MPI_Recv "
                                   "(x.c:40) for rank 0: a deadlock",
                                   "rank 1 waits in MPI_Send (x.c:20) for rank 2, which waits in MPI_Send "
                                   "(x.c:30) for rank 1: a deadlock"}));
}

TEST(WaitCircles, ForItself) {
    Job job(2);
    blockedRecv(job, 0, 0);
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Recv (x.c:10) for itself: a deadlock"}));
}

TEST(WaitCircles, ACollectiveWithAMemberThatWaits) {
    Job job(3);
    blockedBarrier(job, 0);
    blockedBarrier(job, 1);
    blockedRecv(job, 2, 1);
    EXPECT_EQ(circles(job), Texts({"rank 1 waits in MPI_Barrier (x.c:20) for rank 2, which waits in MPI_Recv "
                                   "(x.c:30) for rank 1: a deadlock"}));
}

TEST(WaitCircles, AMemberThatComputesMayCome) {
    Job job(3);
    blockedBarrier(job, 0);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Barrier (x.c:10) for rank 1, which waits in MPI_Recv "
                                   "(x.c:20) for rank 0: a deadlock"}));
    Job other(3);
    blockedBarrier(other, 0);
    blockedBarrier(other, 1);
    EXPECT_EQ(circles(other), Texts());
}

TEST(WaitCircles, ARankThatComputesHelps) {
    Job job(3);
    blockedRecv(job, 0, 1);
    blockedRecv(job, 1, 2);
    EXPECT_EQ(circles(job), Texts()); // rank 2 is outside of MPI
    job[2].probe(FunctionId::Iprobe, 1, 0, {}, false, 1000);
    job[2].unfinished();
    EXPECT_EQ(circles(job), Texts()); // and may do anything between two polls
}

TEST(WaitCircles, WhatIsOnItsWayHelps) {
    Job job(2);
    job[0].send(1, 0);
    blockedRecv(job, 0, 1);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts());
}

TEST(WaitCircles, AnySourceOnlyIfNobodyCanSend) {
    Job job(3);
    blockedRecv(job, 0, kAnySource);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts()); // rank 2 can
    blockedRecv(job, 2, 1);
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Recv (x.c:10) for one of ranks 1 and 2, none of "
                                   "which can go on: rank 1, which "
                                   "waits in MPI_Recv (x.c:20) for rank 0: a deadlock"}));
    Job ended(3); // who has ended sends nothing
    blockedRecv(ended, 0, kAnySource);
    blockedRecv(ended, 1, 0);
    ended[2].finalize();
    EXPECT_EQ(circles(ended), Texts({"rank 0 waits in MPI_Recv (x.c:10) for one of ranks 1 and 2, none of "
                                     "which can go on: rank 1, which "
                                     "waits in MPI_Recv (x.c:20) for rank 0: a deadlock"}));
    Job sent(3);
    sent[2].send(0, 0);
    blockedRecv(sent, 0, kAnySource);
    blockedRecv(sent, 1, 0);
    blockedRecv(sent, 2, 1);
    EXPECT_EQ(circles(sent), Texts());
}

TEST(WaitCircles, RequestsThatAllOrOneOfHasToComplete) {
    Job all(3);
    const Serial fromOne = all[0].irecv(1);
    const Serial fromTwo = all[0].irecv(2);
    all[0].wait(FunctionId::Waitall, {fromOne, fromTwo}, {});
    all[0].unfinished();
    blockedRecv(all, 1, 0);
    EXPECT_EQ(circles(all), Texts({"rank 0 waits in MPI_Waitall (x.c:10) for rank 1, which waits in MPI_Recv "
                                   "(x.c:20) for rank 0: a deadlock"}));
    Job any(3);
    const Serial one = any[0].irecv(1);
    const Serial two = any[0].irecv(2);
    any[0].wait(FunctionId::Waitany, {one, two}, {});
    any[0].unfinished();
    blockedRecv(any, 1, 0);
    EXPECT_EQ(circles(any), Texts()); // rank 2 may send
    blockedRecv(any, 2, 0);
    EXPECT_EQ(circles(any), Texts({"rank 0 waits in MPI_Waitany (x.c:10) for one of ranks 1 and 2, none of "
                                   "which can go on: rank 1, which "
                                   "waits in MPI_Recv (x.c:20) for rank 0: a deadlock"}));
    Job complete(3);
    const Serial gone = complete[0].isend(1, 5);
    const Serial still = complete[0].irecv(1);
    complete[0].wait(FunctionId::Waitany, {gone, still}, {});
    complete[0].unfinished();
    blockedRecv(complete, 1, 0);
    EXPECT_EQ(circles(complete), Texts()); // the small send is complete
}

TEST(WaitCircles, AReceiveThatIsPostedHelpsTheSender) {
    Job job(2);
    job[1].irecv(0);
    blockedSend(job, 0, 1);
    blockedSend(job, 1, 0);
    EXPECT_EQ(circles(job), Texts()); // rank 0's send returns, and what it does then is open
}

TEST(WaitCircles, ThreadsThatHaveNotCalledYetMayHelp) {
    Job job(2, false);
    job[0].call(FunctionId::Init_thread);
    job[1].call(FunctionId::Init_thread);
    blockedRecv(job, 0, 1);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Recv (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for "
                     "rank 0: a deadlock, unless another thread comes to help"}));
}

TEST(WaitCircles, APersistentSendMayBeTakenAlong) {
    Job job(2);
    for (const std::size_t rank : {std::size_t{0}, std::size_t{1}}) {
        const Serial request = job[rank].sendInit(rank == 0 ? 1 : 0, 0, 20000);
        job[rank].start({request});
        job[rank].wait(FunctionId::Waitall, {request}, {});
        job[rank].unfinished();
    }
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Waitall (x.c:10) for rank 1, which waits in MPI_Waitall (x.c:20) for "
                     "rank 0: a deadlock, unless MPI takes the 20000 bytes of a send along without its receive"}));
}

TEST(WaitCircles, WhoHasNoPieceMayGoOn) {
    Job job(2);
    job[0].collective(FunctionId::Gatherv, 0);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Gatherv (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for "
                     "rank 0: a deadlock, unless MPI lets a rank go on that has no piece to send or get"}));
}

TEST(WaitCircles, ARankWithSeveralThreadsMayHelp) {
    Job job(2);
    blockedRecv(job, 0, 1);
    EventDetails other;
    other.function = FunctionId::Send;
    other.comm = kComm;
    other.sendPeer = 0;
    other.sendTag = 7;
    other.thread = 1;
    EventDetails end;
    end.thread = 1;
    job[1].both(other, end);
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts());
}

TEST(WaitCircles, NeighboursOfWhomOneIsMissing) {
    Job job(3);
    for (const std::size_t rank : {std::size_t{0}, std::size_t{2}}) {
        job[rank].collective(FunctionId::Neighbor_alltoall);
        job[rank].unfinished();
    }
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Neighbor_alltoall (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: a "
                     "deadlock, unless those that have not come are no neighbours of the rank that waits"}));
}

TEST(WaitCircles, ANeighbourThatComputesMayCome) {
    Job job(3);
    job[0].collective(FunctionId::Neighbor_alltoall);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts()); // rank 2 may be the neighbour, and come
}

} // namespace
} // namespace stopline::replay
