// The agent's side of a rank's shared mapping.
#pragma once

#include "../tracelib/mapping.h"
#include "../tracelib/ring_copy.h"
#include "agent_frames.h"
#include "agent_guard.h"
#include "agent_program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stopline::agent {

/// Owns the file and the agent's own view of it. The rank opens it through environmentPath().
class Mapping {
  public:
    Mapping() = default;
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /// Makes, reserves and fills the mapping. `directory` empty: memory; otherwise an unnamed file there.
    /// `blockBytes`: what the rank keeps of compressed events, as trace::blockBytesFor() takes it.
    [[nodiscard]] std::optional<FaultText> create(const std::string& directory, int rank, std::uint64_t blockBytes = 0);

    /// Puts beside it the logs that the rank is to follow from its start, if they are not empty, and room for the one of
    /// values that it makes.
    [[nodiscard]] std::optional<FaultText> addLogs(std::string_view order, std::string_view values, int rank);
    /// A part of what the rank has noted of values, from this byte on; empty when there is no more.
    [[nodiscard]] std::string noted(std::uint64_t from) const;

    /// Takes a mapping that an agent of this host has made, to be read only: `path` is its environmentPath(), `device`
    /// and `inode` are those of the file. False when it is not to be had.
    [[nodiscard]] bool attach(const std::string& path, std::uint64_t device, std::uint64_t inode);

    [[nodiscard]] bool exists() const { return m_base != nullptr; }
    [[nodiscard]] trace::MappingHeader& header() { return *reinterpret_cast<trace::MappingHeader*>(m_base); }
    /// To be asked for whatever the library says; header() is for what is told to it.
    [[nodiscard]] MappingGuard& guard() { return m_guard; }
    [[nodiscard]] const MappingGuard& guard() const { return m_guard; }
    /// Value of STOPLINE_MAP. Always of the same length, so that the rank's environment block, and with it
    /// the address of its stack, does not depend on process numbers.
    [[nodiscard]] std::string environmentPath() const;

    /// Body of a Trace frame: everything beyond the lengths that the window says it has. When the program has
    /// overwritten the mapping: what was copied before.
    [[nodiscard]] std::string copyForWindow(const Fields& pull);

    /// Appends a stop record; false when the region is full. The caller has added the time to heldNs.
    bool appendStop(std::uint64_t event, std::int64_t beginNs, std::int64_t endNs);

  private:
    [[nodiscard]] std::size_t fileBytes() const;
    [[nodiscard]] trace::CopiedBlocks newBlocks(std::uint64_t have, const trace::MappingHeader& recorded,
                                                std::size_t size) const;

    int m_fd = -1;
    int m_orderFd = -1;
    int m_givenFd = -1;
    int m_notedFd = -1;
    std::uint64_t m_ring = trace::kDefaultBlockBytes; ///< here, as the program may overwrite the header
    std::byte* m_base = nullptr;
    MappingGuard m_guard;
};

} // namespace stopline::agent
