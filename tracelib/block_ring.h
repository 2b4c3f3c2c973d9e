// The ring of compressed blocks in a mapping, writing side. No allocation, no exceptions.
#pragma once

#include "history_tracker.h"
#include "mapping.h"

#include <cstddef>
#include <cstdint>

namespace stopline::trace {

/// Makes the file behind the mapping at least `bytes` long, its space reserved. Returns 0 or an errno.
using GrowFunction = int (*)(void* context, std::uint64_t bytes);

class BlockRing {
  public:
    /// `base` and `memory` as of Recorder::open().
    void open(std::byte* base, HistoryMemory* memory, GrowFunction grow, void* growContext);

    /// Where a block of at most `bytes` bytes may be written: dropped are as many of the oldest blocks as it takes. Null
    /// when there is no room, see error(). `work` as of HistoryTracker::drop().
    [[nodiscard]] std::byte* makeRoom(std::uint64_t bytes, std::byte* work);
    /// A block of so many bytes has been written there; its padding to 8 is counted in.
    void written(std::uint64_t bytes);
    [[nodiscard]] int error() const { return m_error; } ///< errno

  private:
    [[nodiscard]] std::uint64_t place(std::uint64_t position) const { return kBlockOffset + position % m_bytes; }
    [[nodiscard]] bool ensureFile(std::uint64_t bytes);
    [[nodiscard]] bool dropOldest(std::byte* work);
    void publishTail();

    MappingHeader* m_header = nullptr;
    std::byte* m_base = nullptr;
    HistoryTracker m_tracker;
    GrowFunction m_grow = nullptr;
    void* m_growContext = nullptr;
    // What decides where is written is kept here: the program may overwrite the header.
    std::uint64_t m_bytes = 0;
    std::uint64_t m_length = 0;
    std::uint64_t m_tail = 0;
    std::uint64_t m_fileBytes = 0;
    std::uint32_t m_startSequence = 0;
    int m_error = 0;
};

} // namespace stopline::trace
