// Ends of programs without a debugger: everything is as without the library.
#include "run_support.h"

#include <gtest/gtest.h>

using namespace stopline::trace::testing;

namespace {

struct End {
    const char* how;
    const char* lastEvent;
};

} // namespace

TEST(Ends, ExitCodesAreThoseOfThePlainProgram) {
    for (const End& end : {End{"exit", "2 E Init"}, End{"_exit", "2 E Init"}, End{"quick_exit", "2 E Init"},
                           End{"return", "2 E Init"}, End{"abort", "3 B Abort c0"},
                           End{"error", "3 B Send c0 to=4711/0 out=4"}}) {
        const std::string program = std::string("trace_ends ") + end.how;
        const JobRun traced = run(1, "", program);
        const JobRun plain = runPlain(1, program);
        EXPECT_EQ(traced.code, plain.code) << end.how << traced.output;
        ASSERT_FALSE(traced.ranks[0].events.empty()) << end.how;
        EXPECT_EQ(traced.ranks[0].events.back(), end.lastEvent) << end.how;
        EXPECT_TRUE(traced.ranks[0].stops.empty()) << end.how; // nobody is there to look
    }
}

TEST(Ends, ErrorsThatAreReturnedAreRecorded) {
    const JobRun r = run(1, "", "trace_ends returned");
    EXPECT_EQ(r.code, 0) << r.output;
    const std::vector<std::string> expected = {
        "1 B Init",         "2 E Init",     "3 B Send c0 to=4711/0 out=4",
        "4 E Send error=RANK/6", "5 B Finalize", "6 E Finalize"};
    EXPECT_EQ(r.ranks[0].events, expected);
}

TEST(Ends, WithoutMpiNothingIsRecorded) {
    const JobRun r = run(1, "", "trace_ends nompi");
    EXPECT_EQ(r.code, 5);
    EXPECT_TRUE(r.ranks[0].has("count 0"));
    EXPECT_TRUE(r.ranks[0].has("linked 1"));
}

TEST(Ends, ForkedChildrenRecordNothing) {
    const JobRun r = run(1, "", "trace_ends fork");
    EXPECT_EQ(r.code, 0) << r.output;
    EXPECT_TRUE(r.ranks[0].has("count 4")) << r.ranks[0].facts;
    EXPECT_EQ(r.ranks[0].events.size(), 4U);
}

TEST(Ends, ErrnoIsKept) {
    const JobRun r = run(1, "", "trace_ends errno");
    EXPECT_EQ(r.code, 0) << r.output;
    EXPECT_EQ(r.ranks[0].events.size(), 200004U);
}

TEST(Claiming, AScriptThatStartsTheProgramIsNotTheRank) {
    const JobRun r = run(2, "/bin/sh -c '/bin/true; exec \"$0\"'", "trace_p2p");
    EXPECT_EQ(r.code, 0) << r.output;
    EXPECT_EQ(r.ranks[0].events.size(), 22U);
    EXPECT_EQ(r.ranks[1].events.size(), 20U);
}

TEST(Claiming, AHelperThatIsLinkedWithMpiButNeverStartsItGivesThePlaceBack) {
    const JobRun r = run(1, "/bin/sh -c '" STOPLINE_PROGRAMS "/trace_ends nompi; \"$0\"'", "trace_ends none");
    EXPECT_EQ(r.code, 0) << r.output;
    const std::vector<std::string> expected = {"1 B Init", "2 E Init", "3 B Finalize", "4 E Finalize"};
    EXPECT_EQ(r.ranks[0].events, expected) << r.output;
}
