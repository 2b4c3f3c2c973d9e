// The preloaded library under real mpirun: windows, files, topologies, dynamic processes, and what a program
// sees of it.
#include "run_support.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

using namespace stopline::trace::testing;

namespace {

/// Words of the lines that describe communicators.
std::string word(const std::string& line, std::size_t number) {
    std::istringstream words(line);
    std::string result;
    for (std::size_t i = 0; i <= number; ++i) {
        words >> result;
    }
    return result;
}

} // namespace

TEST(OtherCalls, Windows) {
    const JobRun r = run(2, "", "trace_windows", "OMPI_MCA_osc=sm,pt2pt");
    expectEvents(r, "windows", {0, 1});
    // Three windows, each an object of its own on the same two ranks, the same for both.
    ASSERT_EQ(r.ranks[0].comms.size(), 5U);
    std::set<std::string> ids;
    for (std::size_t i = 2; i < 5; ++i) {
        EXPECT_EQ(word(r.ranks[0].comms[i], 3), "kind=12");
        EXPECT_EQ(r.ranks[0].comms[i], r.ranks[1].comms[i]);
        ids.insert(word(r.ranks[0].comms[i], 2));
    }
    EXPECT_EQ(ids.size(), 3U);
}

TEST(OtherCalls, Files) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "stopline-files-test";
    const JobRun r = run(2, "", "trace_files " + file.string());
    std::filesystem::remove(file);
    expectEvents(r, "files", {1});
    ASSERT_EQ(r.ranks[0].comms.size(), 3U);
    EXPECT_EQ(word(r.ranks[0].comms[2], 3), "kind=13");
    EXPECT_EQ(r.ranks[0].comms[2], r.ranks[1].comms[2]);
}

TEST(OtherCalls, ErrorsThatAreReturnedHaveTheirCodesAlsoThoseOfSingleRequests) {
    const JobRun plain = runPlain(2, "trace_errors");
    const JobRun r = run(2, "", "trace_errors");
    EXPECT_EQ(plain.code, 0) << plain.output;
    EXPECT_EQ(r.output, plain.output);
    expectEvents(r, "errors", {0, 1});
}

TEST(OtherCalls, NeighborsAndGeneralisedRequests) {
    expectEvents(run(4, "", "trace_neighbors"), "neighbors", {0});
}

TEST(OtherCalls, FreedReceivesAreFollowedToTheirEnd) {
    JobRun r = run(2, "", "trace_freed");
    // At which later event a completion is seen is a matter of chance.
    std::multiset<std::string> seen;
    const std::regex done(" done=[0-9]+:([^ ]+)");
    for (std::string& line : r.ranks[0].events) {
        for (std::sregex_iterator it(line.begin(), line.end(), done), end; it != end; ++it) {
            seen.insert((*it)[1].str());
        }
        line = std::regex_replace(line, done, "");
    }
    expectEvents(r, "freed", {0});
    EXPECT_EQ(seen, (std::multiset<std::string>{"1:1/7/4", "2:1/8/4"}));
}

TEST(OtherCalls, RequestsThatAreGivenAnotherHandleAreFollowed) {
    const JobRun r = run(2, "", "trace_restarts");
#ifdef STOPLINE_OPENMPI
    EXPECT_EQ(r.output, "2 changed\n"); // else nothing is shown here
#endif
    expectEvents(r, "restarts", {0, 1});
}

TEST(OtherCalls, DynamicProcesses) {
    if (runPlain(2, "trace_processes " STOPLINE_PROGRAMS "/trace_processes").code != 0) {
        GTEST_SKIP() << "this MPI cannot start processes, with or without the library";
    }
    std::string folder = (std::filesystem::temp_directory_path() / "stopline-spawn-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const JobRun r = run(2, "",
                         "trace_processes " + mapRun() + " --dump " + folder +
                             "/child " + STOPLINE_PROGRAMS "/trace_processes");
    expectEvents(r, "processes", {0});
    // Two intercommunicators and what was merged with them: equal on both ranks, all different.
    ASSERT_EQ(r.ranks[0].comms.size(), 6U);
    ASSERT_EQ(r.ranks[1].comms.size(), 6U);
    std::set<std::string> ids;
    for (std::size_t i = 2; i < 6; ++i) {
        EXPECT_EQ(word(r.ranks[0].comms[i], 2), word(r.ranks[1].comms[i], 2));
        EXPECT_EQ(word(r.ranks[0].comms[i], 3), i % 2 == 0 ? "kind=11" : "kind=8");
        ids.insert(word(r.ranks[0].comms[i], 2));
    }
    EXPECT_EQ(ids.size(), 4U);
    // The children are traced too, and know that their parents are of another job.
    const RankDump child = readDump(folder + "/child.0");
    std::filesystem::remove_all(folder);
    EXPECT_TRUE(child.has("error ")) << child.facts;
    ASSERT_EQ(child.events.size(), 14U);
    EXPECT_EQ(child.events[2], "3 B Recv c2 from=0/5 in=4");
    ASSERT_EQ(child.comms.size(), 4U);
    EXPECT_EQ(word(child.comms[2], 3), "kind=11");
    EXPECT_EQ(word(child.comms[2], 6), "[0][-1,-1]");
}

TEST(OtherCalls, TheProgramSeesNothingOfTheLibrary) {
    const JobRun plain = runPlain(1, "trace_state");
    const JobRun traced = run(1, "", "trace_state");
    EXPECT_EQ(plain.code, 0);
    EXPECT_EQ(traced.code, 0);
    EXPECT_NE(plain.output.find("changed 0"), std::string::npos) << plain.output;
    EXPECT_EQ(traced.output, plain.output);
    ASSERT_EQ(traced.ranks[0].events.size(), 600'006U);
    EXPECT_EQ(traced.ranks[0].events[600'002], "600003 B Send c0 to=99/0 out=4");
    EXPECT_EQ(traced.ranks[0].events[600'003], "600004 E Send error=RANK/6");
}
