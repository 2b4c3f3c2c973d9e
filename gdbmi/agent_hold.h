// How long the debugger held a rank. The agent sees every MI line that resumes or stops it, so it can take
// the time without a detour through the window.
#pragma once

#include "agent_mapping.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stopline::agent {

/// What a command line for gdb does to the rank.
enum class MiCommandKind { Other, Resume, Attach, Detach, Exit };
/// What a line from gdb says about it.
enum class MiOutputKind { Other, Stopped, Error };

template <typename Kind>
struct MiLine {
    Kind kind = Kind::Other;
    std::string_view token; ///< digits at its begin, may be empty
};
[[nodiscard]] MiLine<MiCommandKind> classifyCommand(std::string_view line);
[[nodiscard]] MiLine<MiOutputKind> classifyOutput(std::string_view line);

/// Cuts bytes into lines. Lines longer than the limit are passed on in their first part only: what matters to
/// the agent stands at a line's begin.
class LineSplitter {
  public:
    using Handler = std::function<void(std::string_view line)>;
    void append(std::string_view bytes, const Handler& handler);

  private:
    static constexpr std::size_t kKeep = 256;
    std::string m_line;
};

/// Adds up the time in which the rank waits at its gate or is stopped by gdb, and records each such span.
/// Spans that the library accounts for itself (mapping.inHold) are left out.
class HoldClock {
  public:
    explicit HoldClock(Mapping& mapping) : m_mapping(mapping) {}

    void stopped(std::int64_t now);
    /// To be called before the command goes to gdb. `token` of the command, to recognise its failure.
    void resumed(std::int64_t now, std::string_view token);
    /// gdb refused the command with this token: if it was the one that resumed, the hold goes on.
    void refused(std::int64_t now, std::string_view token);
    void ended(std::int64_t now); ///< the rank has died

    [[nodiscard]] bool stoppedByGdb() const { return m_gdb; }

  private:
    void begin(std::int64_t now);
    void finishIfFree(std::int64_t now);

    Mapping& m_mapping;
    bool m_gdb = false;
    bool m_wasGdb = false; ///< before the last resume
    bool m_counting = false;
    std::int64_t m_begin = 0;
    std::string m_resumeToken;
};

/// CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] std::int64_t monotonicNs();

} // namespace stopline::agent
