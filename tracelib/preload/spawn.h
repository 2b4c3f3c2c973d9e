// Processes that are spawned start under agents of their own, as this rank did.
#pragma once

#include "real.h"

#include <cstddef>

namespace stopline::preload {

struct Args;

/// The commands of a spawn and the arguments of each, as MPI takes them.
struct SpawnWords {
    char** commands;
    char*** argvs;
};

/// Puts the agent before each command of a spawn, at its root: `stopline-agent --spawned WHO COMMAND ARGUMENTS`. Where
/// that would not do what the program has asked for, all is left as it is: then MPI says what is wrong, or the processes
/// run without the debugger. Made when the call has begun,
/// lives until it is over.
class SpawnPlan {
  public:
    SpawnPlan(const Args& args, int count);
    ~SpawnPlan();
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    [[nodiscard]] const SpawnWords& words() const { return m_words; }

  private:
    void replace(const Args& args, int count, char* agent, char* who);

    SpawnWords m_words;
    void* m_pages = nullptr;
    std::size_t m_bytes = 0;
};

} // namespace stopline::preload
