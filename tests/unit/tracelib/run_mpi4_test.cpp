// What MPI 4.0 adds, on an MPI that has it.
#include "run_support.h"

#include <gtest/gtest.h>

using namespace stopline::trace::testing;

TEST(Calls, OfMpi4) {
    expectEvents(run(2, "", "trace_mpi4"), "mpi4", {0, 1});
}
