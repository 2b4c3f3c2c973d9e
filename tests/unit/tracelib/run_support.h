// Runs a program under mpirun with map_run and reads what was recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stopline::trace::testing {

/// What map_run wrote about one rank.
struct RankDump {
    std::vector<std::string> events;  ///< as text, without sites and times
    std::vector<std::uint64_t> sites; ///< by event
    std::vector<std::int64_t> times;  ///< by event, ns
    std::vector<std::string> comms;
    std::vector<std::string> stops;
    std::string facts; ///< the lines before: exit code, error, state ...
    [[nodiscard]] bool has(const std::string& fact) const;
};

/// Reads what map_run has written of a rank.
RankDump readDump(const std::string& path);

struct JobRun {
    int code = 0;
    std::string output;
    std::vector<RankDump> ranks;
};

/// The program that starts one rank with the preloaded library.
std::string mapRun();

/// mpirun -n ranks map_run options program; ends it after 120 s. A program without a path is one of ours.
JobRun run(int ranks, const std::string& options, const std::string& program,
           const std::string& environment = {});
/// The same without anything of ours.
JobRun runPlain(int ranks, const std::string& program);
/// A command of the shell as it is, without mpirun.
JobRun runShell(const std::string& command);
/// Whether the ranks recorded what the files in expected/ say, all of it and nothing else.
void expectEvents(const JobRun& run, const std::string& program, const std::vector<int>& ranks);
/// Source lines of the call sites of all begin events.
std::vector<int> beginLines(const RankDump& rank, const std::string& program);

} // namespace stopline::trace::testing
