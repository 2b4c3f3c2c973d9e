// What MPI 4.0 adds, on an MPI that has it; and what only an MPI whose handles are numbers can be asked.
#include "run_support.h"

#include <gtest/gtest.h>

using namespace stopline::trace::testing;

TEST(Calls, OfMpi4) {
    expectEvents(run(2, "", "trace_mpi4"), "mpi4", {0, 1});
}

TEST(Errors, WhatTheLibraryAsksForItselfIsHeardByNobody) {
    const JobRun plain = runPlain(1, "trace_questions");
    const JobRun traced = run(1, "", "trace_questions");
    EXPECT_EQ(plain.code, 0) << plain.output;
    EXPECT_NE(plain.output.find("heard 3\n"), std::string::npos) << plain.output;
    EXPECT_EQ(traced.code, 0);
    EXPECT_EQ(traced.output, plain.output);
    const std::vector<std::string> expected = {
        "1 B Init",         "2 E Init",    "3 B Send to=0/0 out=4", "4 E Send error=COMM/5", "5 B Send c0 to=0/0",
        "6 E Send error=TYPE/3", "7 B Barrier", "8 E Barrier error=COMM/5",   "9 B Finalize",     "10 E Finalize"};
    EXPECT_EQ(traced.ranks[0].events, expected);
}
