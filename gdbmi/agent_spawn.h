// Starting the rank and its gdb as children of the agent.
#pragma once

#include "agent_program.h"

#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace stopline::agent {

/// The agent's end of what the rank writes.
struct OutputPipe {
    int fd = -1;    ///< non-blocking
    int stream = 1; ///< 1 standard output, 2 standard error
};

struct RankStart {
    std::vector<std::string> arguments; ///< the program first
    std::string mapPath;                ///< for STOPLINE_MAP
    std::string preload;                ///< library, put before what LD_PRELOAD already names
    bool randomize = false;             ///< false: fixed address layout
    bool ownOutput = false;             ///< true: what it writes goes where the agent's own output goes
    sigset_t signalMask{};              ///< as the launcher gave it
    std::string spawned;                ///< for STOPLINE_SPAWNED; empty: none
};

struct StartedRank {
    pid_t pid = -1;
    std::vector<OutputPipe> outputs;
    std::optional<FaultText> notice; ///< started, but not quite as asked for
};

/// Forks and executes the rank. It keeps the launcher's stdin, descriptors, environment and process group;
/// its stdout and stderr are terminals where the agent's own are, or the agent's own. It is killed when the agent dies. Blocks
/// until exec is done.
[[nodiscard]] std::optional<FaultText> startRank(const RankStart& start, StartedRank& rank);

struct GdbProcess {
    pid_t pid = -1;
    int mi = -1;     ///< socket, non-blocking, both directions
    int errors = -1; ///< what gdb writes to stderr, non-blocking
};

/// Starts gdb with MI on a socket, in a session of its own, without preloaded libraries; killed when the
/// agent dies.
[[nodiscard]] std::optional<FaultText> startGdb(const std::string& program, const sigset_t& signalMask,
                                                GdbProcess& gdb);

/// Kills `victim` as soon as this process ends, however it ends. For a rank that is no child of the agent,
/// which the kernel's parent-death signal does not reach. The guard leaves when the victim has ended.
void guardAgainstOwnDeath(pid_t victim);

} // namespace stopline::agent
