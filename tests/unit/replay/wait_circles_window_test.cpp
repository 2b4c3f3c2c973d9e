// Ranks that wait for each other in one-sided communication.
#include "wait_texts.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

TEST(WaitCircles, AFence) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_fence);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_fence (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for "
                     "rank 0: a deadlock"}));
}

TEST(WaitCircles, AFenceThatNothingPrecedesMayLetARankThrough) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_fence, kNoPeer, trace::kNoPrecede);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_fence (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: "
                     "a deadlock, unless MPI lets a rank go on through a fence with MPI_MODE_NOPRECEDE"}));
}

TEST(WaitCircles, AWindowWhoseOriginWaits) {
    WindowJob job(2);
    job.group(0, FunctionId::Win_post, {1});
    job.sync(0, FunctionId::Win_wait);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_wait (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: "
                     "a deadlock"}));
}

TEST(WaitCircles, AWindowThatIsNotOpened) {
    WindowJob job(2);
    job.group(0, FunctionId::Win_start, {1});
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_start (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: "
                     "a deadlock, unless MPI opens a window to a rank before its turn"}));
}

TEST(WaitCircles, TwoThatCompleteBeforeTheyPost) {
    WindowJob job(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        job.group(rank, FunctionId::Win_start, {std::int32_t(1 - rank)});
        job.sync(rank, FunctionId::Win_complete);
        job[rank].unfinished();
    }
    EXPECT_EQ(circles(job), Texts({"rank 0 waits in MPI_Win_complete (x.c:10) for rank 1, which waits in "
                                   "MPI_Win_complete (x.c:20) for rank 0: a deadlock"}));
    WindowJob posted(2);
    posted.group(1, FunctionId::Win_post, {0});
    for (std::size_t rank = 0; rank < 2; ++rank) {
        posted.group(rank, FunctionId::Win_start, {std::int32_t(1 - rank)});
        posted.sync(rank, FunctionId::Win_complete);
        posted[rank].unfinished();
    }
    EXPECT_EQ(circles(posted), Texts());
}

TEST(WaitCircles, AnOriginThatHasCompletedHelps) {
    WindowJob job(2);
    job.group(0, FunctionId::Win_post, {1});
    job.group(1, FunctionId::Win_start, {0});
    job.sync(1, FunctionId::Win_complete);
    job.sync(0, FunctionId::Win_wait);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts());
}

TEST(WaitCircles, ALockThatIsNotGivenBack) {
    WindowJob job(2);
    job.sync(1, FunctionId::Win_lock, 1, trace::kLockExclusive);
    job.sync(0, FunctionId::Win_lock, 1, trace::kLockExclusive);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_lock (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: "
                     "a deadlock, unless MPI opens a window to a rank before its turn"}));
}

TEST(WaitCircles, AnUnlockOfWhatAnotherHas) {
    WindowJob job(2);
    job.sync(1, FunctionId::Win_lock, 1, trace::kLockExclusive);
    job.sync(0, FunctionId::Win_lock, 1, trace::kLockExclusive);
    job.sync(0, FunctionId::Win_unlock, 1);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job),
              Texts({"rank 0 waits in MPI_Win_unlock (x.c:10) for rank 1, which waits in MPI_Recv (x.c:20) for rank 0: "
                     "a deadlock, unless the rank that waits has the lock itself"}));
}

TEST(WaitCircles, AFlushOfAnotherTarget) {
    WindowJob job(2);
    job.sync(1, FunctionId::Win_lock, 1, trace::kLockExclusive);
    job.sync(0, FunctionId::Win_lock, 0, trace::kLockExclusive);
    job.sync(0, FunctionId::Win_flush, 0);
    job[0].unfinished();
    blockedRecv(job, 1, 0);
    EXPECT_EQ(circles(job), Texts());
}

} // namespace
} // namespace stopline::replay
