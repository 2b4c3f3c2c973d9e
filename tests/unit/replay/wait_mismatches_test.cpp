// Collectives that do not fit together.
#include "wait_texts.h"

#include "../../../replay/wait_mismatches.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

Texts mismatches(const Job& job) {
    const Timeline timeline = job.timeline();
    Texts texts;
    for (const WaitMismatch& mismatch : waitMismatches(timeline)) {
        texts.push_back(mismatchText(timeline, mismatch, [](CallRef call) {
            return "x.c:" + std::to_string(10 * (call.rank.value() + 1));
        }));
    }
    return texts;
}

TEST(WaitMismatches, AreNamed) {
    Job job(4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        job[rank].collective(FunctionId::Barrier);
    }
    job[0].collective(FunctionId::Bcast, 0);
    job[0].unfinished();
    EXPECT_EQ(mismatches(job), Texts()); // the others may come
    for (std::size_t rank = 1; rank < 4; ++rank) {
        blockedBarrier(job, rank);
    }
    EXPECT_EQ(mismatches(job), Texts({"rank 0 calls MPI_Bcast of root 0 (x.c:10) where ranks 1-3 call MPI_Barrier (x.c:20), "
                                      "on the same communicator: these do not fit together"}));
    Job roots(3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        roots[rank].collective(FunctionId::Bcast, rank == 1 ? 2 : 0);
        roots[rank].unfinished();
    }
    EXPECT_EQ(mismatches(roots), Texts({"ranks 0 and 2 call MPI_Bcast of root 0 (x.c:10) where rank 1 calls MPI_Bcast of root 2 "
                                        "(x.c:20), on the same communicator: these do not fit together"}));
    Job ended(2); // MPI has let them through: nobody waits
    ended[0].collective(FunctionId::Bcast, 0);
    ended[1].collective(FunctionId::Barrier);
    EXPECT_EQ(mismatches(ended), Texts());
}

} // namespace
} // namespace stopline::replay
