// The agent's side of a rank's shared mapping.
#pragma once

#include "../tracelib/mapping.h"
#include "agent_frames.h"
#include "agent_program.h"

#include <optional>
#include <string>

namespace stopline::agent {

/// Owns the file and the agent's own view of it. The rank opens it through environmentPath().
class Mapping {
  public:
    Mapping() = default;
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /// Makes, reserves and fills the mapping. `directory` empty: memory; otherwise an unnamed file there.
    [[nodiscard]] std::optional<FaultText> create(const std::string& directory, int rank);

    [[nodiscard]] bool exists() const { return m_base != nullptr; }
    [[nodiscard]] trace::MappingHeader& header() { return *reinterpret_cast<trace::MappingHeader*>(m_base); }
    [[nodiscard]] const trace::MappingHeader& header() const {
        return *reinterpret_cast<const trace::MappingHeader*>(m_base);
    }
    /// Value of STOPLINE_MAP. Always of the same length, so that the rank's environment block, and with it
    /// the address of its stack, does not depend on process numbers.
    [[nodiscard]] std::string environmentPath() const;

    /// Body of a Trace frame: everything beyond the lengths that the window says it has.
    [[nodiscard]] std::string copyForWindow(const Fields& pull);

    /// Appends a stop record; false when the region is full. The caller has added the time to heldNs.
    bool appendStop(std::uint64_t event, std::int64_t beginNs, std::int64_t endNs);

  private:
    [[nodiscard]] std::size_t fileBytes() const;

    int m_fd = -1;
    std::byte* m_base = nullptr;
};

} // namespace stopline::agent
