// Programs in Fortran and Python, started in the ways in which people start them.
#include "run_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <utility>

using namespace stopline::trace::testing;

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Functions of the begin events, "mpi_put".
std::vector<std::string> begunFunctions(const RankDump& rank) {
    std::vector<std::string> result;
    for (const std::string& line : rank.events) {
        if (const std::size_t at = line.find(" B "); at != std::string::npos) {
            result.push_back("mpi_" + lower(line.substr(at + 3, line.find(' ', at + 3) - at - 3)));
        }
    }
    return result;
}

std::vector<std::string> linesOf(const std::string& path) {
    std::vector<std::string> lines{""}; // counted from 1
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(lower(line));
    }
    return lines;
}

std::string python() {
    return STOPLINE_PYTHON_WITH_MPI;
}
const std::string kScript = STOPLINE_TRACE_PROGRAMS "/messages.py";

} // namespace

TEST(Languages, FortranBeyondMessagesInThreeStyles) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "stopline-fortran-test";
    const std::vector<std::string> source = linesOf(STOPLINE_TRACE_PROGRAMS "/fortran_more.F90");
    std::string output;
    // Calls of which gfortran 12 says the user's line. Where there is an interface and nothing to convert, its line table
    // names the begin of the program, or of the branch, instead: neither gdb nor we can know better.
    const std::pair<std::string, int> styles[] = {{"MPIF", 47}, {"USE", 35}, {"F08", 33}};
    for (const auto& [style, withLine] : styles) {
        const std::string program = "trace_fortran_more_" + style;
        const JobRun plain = runPlain(2, program + " " + file.string());
        const JobRun traced = run(2, "", program + " " + file.string());
        EXPECT_EQ(plain.code, 0) << plain.output;
        EXPECT_EQ(traced.output, plain.output);
        EXPECT_TRUE(output.empty() || output == plain.output) << plain.output;
        output = plain.output;
        expectEvents(traced, "fortran_more", {0, 1});
        const std::vector<std::string> functions = begunFunctions(traced.ranks[0]);
        const std::vector<int> lines = beginLines(traced.ranks[0], program);
        ASSERT_EQ(functions.size(), lines.size());
        int right = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const auto line = static_cast<std::size_t>(lines[i]);
            ASSERT_LT(line, source.size());
            // A statement over two lines may be at either.
            const std::string statement = source[line - (line > 0 ? 1 : 0)] + source[line];
            right += statement.find(functions[i]) != std::string::npos ? 1 : 0;
        }
        EXPECT_EQ(right, withLine) << style;
    }
    std::filesystem::remove(file);
}

TEST(Languages, PythonThatLoadsMpiLate) {
    if (python().empty()) {
        GTEST_SKIP() << "mpi4py is not there";
    }
    const JobRun plain = runPlain(2, python() + " " + kScript);
    const JobRun traced = run(2, "", python() + " " + kScript);
    EXPECT_EQ(plain.code, 0) << plain.output;
    EXPECT_EQ(traced.output, plain.output);
    expectEvents(traced, "python", {0, 1});
    EXPECT_TRUE(traced.ranks[0].has("linked 0"));
}

TEST(Languages, PythonWaitsForItsDebuggerWhereItIsFirstKnown) {
    if (python().empty()) {
        GTEST_SKIP() << "mpi4py is not there";
    }
    const JobRun r = run(2, "--gate constructor", python() + " " + kScript);
    expectEvents(r, "python", {0, 1});
    EXPECT_NE(r.output.find("gate 0 events 1\n"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("gate 1 events 1\n"), std::string::npos) << r.output;
}

TEST(Languages, ProgramsThatAreStartedByOthers) {
    if (python().empty()) {
        GTEST_SKIP() << "mpi4py is not there";
    }
    for (const std::string starter :
         {"/usr/bin/env SOME=thing ", "/bin/sh -c '/bin/ls / > /dev/null; /bin/true | \"$0\" \"$@\"' ",
          "/usr/bin/env /bin/sh -c 'exec \"$0\" \"$@\"' "}) {
        expectEvents(run(2, "", starter + python() + " " + kScript), "python", {0, 1});
    }
    if (std::filesystem::exists("/usr/bin/numactl")) {
        expectEvents(run(2, "", "/usr/bin/numactl --localalloc " STOPLINE_PROGRAMS "/trace_p2p"), "p2p", {0, 1});
    }
}

TEST(Languages, TurnsOfTwoThreadsAreInTheirOrder) {
    const JobRun r = run(1, "", "trace_turns");
    ASSERT_EQ(r.code, 0) << r.output;
    std::vector<std::string> expected = {"1 B Init_thread", "2 E Init_thread"};
    // Threads are numbered as they come to MPI: the one whose turn is first is 1, the one that has called MPI_Init is 0.
    for (int turn = 0; turn < 400; ++turn) {
        const std::string thread = " thread=" + std::to_string(1 + turn % 2);
        expected.push_back(std::to_string(3 + 2 * turn) + " B Send" + thread + " c0 to=null/" + std::to_string(turn) +
                           " out=4");
        expected.push_back(std::to_string(4 + 2 * turn) + " E Send" + thread);
    }
    expected.push_back("803 B Finalize");
    expected.push_back("804 E Finalize");
    EXPECT_EQ(r.ranks[0].events, expected);
    EXPECT_TRUE(std::is_sorted(r.ranks[0].times.begin(), r.ranks[0].times.end()));
}

TEST(Languages, ProcessesWithoutMpiAreLeftAlone) {
    // The library is there, and no mapping is.
    const JobRun maps = run(1, "", "/bin/cat /proc/self/maps");
    EXPECT_EQ(maps.code, 0);
    EXPECT_NE(maps.output.find("libstopline-mpi-openmpi.so"), std::string::npos) << maps.output;
    EXPECT_EQ(maps.output.find("memfd"), std::string::npos) << maps.output;
    EXPECT_TRUE(maps.ranks[0].has("state 0")) << maps.ranks[0].facts;
    EXPECT_TRUE(maps.ranks[0].has("count 0")) << maps.ranks[0].facts;
    // Nor any change of the environment, nor an open file.
    const JobRun variables = runShell("env -i SOME=thing STOPLINE_MAP=/proc/1/fd/9 LD_PRELOAD=" STOPLINE_PRELOAD " /usr/bin/env");
    EXPECT_EQ(variables.output, "SOME=thing\nSTOPLINE_MAP=/proc/1/fd/9\nLD_PRELOAD=" STOPLINE_PRELOAD "\n");
    const std::string files = "/bin/sh -c 'ls /proc/self/fd | wc -l'";
    EXPECT_EQ(runShell("LD_PRELOAD=" STOPLINE_PRELOAD " STOPLINE_MAP=/dev/zero " + files).output, runShell(files).output);
}
