// What the agent can say about the program before it starts it, and about the environment the launcher gave.
#pragma once

#include "agent_mpi.h"

#include <optional>
#include <string>
#include <vector>

namespace stopline::agent {

/// Where the launcher says this process stands; -1 or 0 when it does not say.
struct LauncherPlace {
    int rank = -1;
    int size = 0;
    int local = -1;
};
/// From the variables of Open MPI, PMIx, PMI (MPICH) and Slurm, in this order.
[[nodiscard]] LauncherPlace launcherPlace();

/// Path of an executable as execvp would find it; empty when there is none. A name with a slash is taken as
/// it is.
[[nodiscard]] std::string findExecutable(const std::string& name);

struct ProgramInfo {
    std::string path; ///< as execvp finds it
    bool elf = false; ///< false: a script, run by an interpreter
    LinkedMpi mpi;
};

/// Checks that the program can be started on this host: it exists, is executable and, if binary, built for
/// this machine. On success `info` is filled and nothing returned.
[[nodiscard]] std::optional<FaultText> checkProgram(const std::string& name, ProgramInfo& info);

} // namespace stopline::agent
