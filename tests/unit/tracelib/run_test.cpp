// The preloaded library under real mpirun, without a debugger: exact events of every kind of call.
#include "run_support.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace stopline::trace::testing;

namespace {

/// Call sites are inside the program, and times never go back.
void expectSane(const JobRun& run) {
    for (const RankDump& dump : run.ranks) {
        for (std::size_t i = 0; i < dump.sites.size(); ++i) {
            EXPECT_NE(dump.sites[i], 0U) << dump.events[i];
            EXPECT_TRUE(i == 0 || dump.times[i] >= dump.times[i - 1]) << dump.events[i];
        }
    }
}

std::string field(const std::string& line, std::size_t number) {
    std::istringstream words(line);
    std::string word;
    for (std::size_t i = 0; i <= number; ++i) {
        words >> word;
    }
    return word;
}

} // namespace

TEST(Calls, PointToPoint) {
    const JobRun r = run(2, "", "trace_p2p");
    expectEvents(r, "p2p", {0, 1});
    expectSane(r);
}

TEST(Calls, Requests) {
    const JobRun r = run(2, "", "trace_requests");
    expectEvents(r, "requests", {0, 1});
    expectSane(r);
}

TEST(Calls, PollsAreMergedWhateverTheirNumber) {
    const JobRun r = run(2, "", "trace_polls");
    expectEvents(r, "polls", {0, 1});
    expectSane(r);
}

TEST(Calls, Collectives) {
    const JobRun r = run(4, "", "trace_collectives");
    expectEvents(r, "collectives", {0, 2});
}

TEST(Calls, Communicators) {
    const JobRun r = run(4, "", "trace_comms");
    expectEvents(r, "comms", {1});
    // One id: the same kind and the same members everywhere, and known to all of them.
    struct Seen {
        std::string kind;
        std::string groups;
        std::set<int> by;
    };
    std::map<std::string, Seen> all;
    for (int rank = 0; rank < 4; ++rank) {
        std::set<std::string> own;
        for (const std::string& line : r.ranks[static_cast<std::size_t>(rank)].comms) {
            const std::string id = field(line, 2);
            EXPECT_TRUE(own.insert(id).second)
                << "two communicators of rank " << rank << " with one id: " << line;
            std::string groups = field(line, 6);
            // The two sides of an intercommunicator see its groups the other way round.
            const std::size_t border = groups.find("][");
            if (border != std::string::npos) {
                const std::string a = groups.substr(0, border + 1);
                const std::string b = groups.substr(border + 1);
                groups = a < b ? a + b : b + a;
            }
            Seen& seen = all[id];
            EXPECT_TRUE(seen.by.empty() || (seen.kind == field(line, 3) && seen.groups == groups)) << line;
            seen.kind = field(line, 3);
            seen.groups = groups;
            seen.by.insert(rank);
        }
    }
    for (const auto& [id, seen] : all) {
        std::set<int> members;
        const std::regex number("[0-9]+");
        for (std::sregex_iterator it(seen.groups.begin(), seen.groups.end(), number), end; it != end; ++it) {
            members.insert(std::stoi(it->str()));
        }
        EXPECT_EQ(members, seen.by) << id << " " << seen.groups;
    }
    EXPECT_EQ(all.size(), 25U);
}

TEST(Calls, ThreadsAreNumberedAndNothingIsLost) {
    const JobRun r = run(2, "", "trace_threads");
    ASSERT_EQ(r.code, 0) << r.output;
    for (const RankDump& dump : r.ranks) {
        ASSERT_TRUE(dump.has("error ")) << dump.facts;
        std::map<std::string, std::string> open; // by thread: function of the call that is on
        std::map<std::string, int> begins;
        std::set<std::string> completed;
        bool polling = false;
        for (const std::string& line : dump.events) {
            const std::size_t at = line.find("thread=");
            const std::string thread = at == std::string::npos ? "0" : line.substr(at + 7, 1);
            const std::string function = field(line, 2);
            if (field(line, 1) == "B") {
                ++begins[function];
            }
            // A failed poll is ended by whichever thread calls next, and there is one at a time.
            if (function == "Iprobe") {
                EXPECT_EQ(polling, field(line, 1) == "E") << line;
                polling = !polling;
                continue;
            }
            if (field(line, 1) == "B") {
                EXPECT_EQ(open[thread], "") << line;
                open[thread] = function;
            } else {
                EXPECT_EQ(open[thread], function) << line;
                open[thread] = "";
            }
            const std::regex done("done=[01]:([0-9?]+)");
            for (std::sregex_iterator it(line.begin(), line.end(), done), end; it != end; ++it) {
                EXPECT_TRUE(completed.insert((*it)[1].str()).second) << line;
            }
        }
        EXPECT_EQ(begins["Isend"], 2000);
        EXPECT_EQ(begins["Irecv"], 2000);
        EXPECT_EQ(begins["Waitall"], 2000);
        EXPECT_EQ(completed.size(), 4000U);
        EXPECT_EQ(completed.count("?"), 0U);
    }
}

TEST(Calls, FortranInThreeStyles) {
    const std::map<std::string, std::vector<int>> lines = {
        // Init and Finalize of `use mpi` have no line of their own in gfortran's line table.
        {"trace_fortran_mpif", {5, 9, 10, 17, 19, 21, 22, 24}},
        {"trace_fortran_use", {0, 9, 10, 15, 16, 17, 18, 0}},
        {"trace_fortran_f08", {7, 11, 12, 17, 18, 19, 20, 21}},
    };
    for (const auto& [program, expected] : lines) {
        const JobRun r = run(2, "", program);
        expectEvents(r, "fortran", {0});
        const std::vector<int> found = beginLines(r.ranks[0], program);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            // A statement over several lines may be at any of them.
            EXPECT_TRUE(expected[i] == 0 || (found[i] >= expected[i] && found[i] <= expected[i] + 1))
                << program << " call " << i << ": line " << found[i];
        }
    }
}

TEST(Holding, EveryRankAtItsThresholdAndOnAfterwards) {
    const JobRun r = run(2, "--gate initend --threshold 0:7 --threshold 1:8 --release-ms 2000", "trace_p2p");
    expectEvents(r, "p2p", {0, 1});
    for (const char* text : {"gate 0 events 2\n", "gate 1 events 2\n", "arrived 0 events 7 inside 0 hold 1\n",
                             "arrived 1 events 8 inside 0 hold 1\n"}) {
        EXPECT_NE(r.output.find(text), std::string::npos) << r.output;
    }
    for (const RankDump& dump : r.ranks) {
        ASSERT_EQ(dump.stops.size(), 2U); // the gate and the hold
        EXPECT_GE(std::stoll(field(dump.stops[1], 2)), 2'000'000'000);
    }
    // Held time is no execution time: the call after the hold follows at once.
    const RankDump& first = r.ranks[0];
    EXPECT_LT(first.times[7] - first.times[6], std::stoll(field(first.stops[1], 2)));
}

TEST(Holding, ProgressIsMadeForPeersWhileHeld) {
    // Rank 0 is held after its large Isend has begun; rank 1 can only get the message if rank 0 makes
    // progress.
    const JobRun r = run(2, "--threshold 0:4 --release-ms 500", "trace_progress");
    ASSERT_EQ(r.code, 0) << r.output;
    EXPECT_NE(r.output.find("received\n"), std::string::npos) << r.output;
}

TEST(Holding, ConstructorGateAndFirstAndLastEvent) {
    const JobRun r = run(2, "--gate constructor --threshold 0:1 --threshold 1:20", "trace_p2p");
    expectEvents(r, "p2p", {0, 1});
    EXPECT_NE(r.output.find("gate 0 events 0\n"), std::string::npos);
    EXPECT_NE(r.output.find("arrived 0 events 1 "), std::string::npos);
    EXPECT_NE(r.output.find("arrived 1 events 20 "), std::string::npos);
}

TEST(Holding, InitGate) {
    const JobRun r = run(2, "--gate init", "trace_p2p");
    expectEvents(r, "p2p", {0, 1});
    EXPECT_NE(r.output.find("gate 1 events 1\n"), std::string::npos);
}

TEST(Recording, GrowsAndStaysComplete) {
    const JobRun r = run(1, "", "trace_signatures 240000");
    ASSERT_EQ(r.code, 0) << r.output;
    EXPECT_TRUE(r.ranks[0].has("error ")) << r.ranks[0].facts;
    EXPECT_TRUE(r.ranks[0].has("off 0")) << r.ranks[0].facts;
    EXPECT_EQ(r.ranks[0].events.size(), 480004U);
    EXPECT_EQ(r.ranks[0].events.back(), "480004 E Finalize");
}

TEST(Recording, FullFileIsSaidOnceAndTheProgramGoesOn) {
    const JobRun r = run(1, "--no-growth --threshold 0:480001", "trace_signatures 240000");
    ASSERT_EQ(r.code, 0) << r.output;
    const RankDump& dump = r.ranks[0];
    EXPECT_FALSE(dump.has("off 0")) << dump.facts;
    EXPECT_TRUE(dump.has("count 480004")) << dump.facts;
    EXPECT_LT(dump.events.size(), 480004U);
    EXPECT_GT(dump.events.size(), 10000U);
    const std::size_t said = r.output.find("stopline: the recording stops here");
    EXPECT_NE(said, std::string::npos) << r.output;
    EXPECT_EQ(r.output.find("stopline:", said + 1), std::string::npos) << r.output;
    // Thresholds still work.
    EXPECT_NE(r.output.find("arrived 0 events 480001 "), std::string::npos) << r.output;
}
