// The ring of compressed blocks in a mapping, reading side: copies what is new while the rank may be overwriting what is
// old. Every word may have been written by the program itself.
#pragma once

#include "history_start.h"
#include "mapping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace stopline::trace {

/// What was copied: bytes [from, from + blocks.size()) of all blocks that the rank has made.
struct CopiedBlocks {
    std::uint64_t from = 0;
    std::string blocks;
    std::string start; ///< packStart() of what is before them, where older ones are gone; else empty
};

namespace detail {

/// The HistoryStart that counts; none when nothing was dropped or it changes too fast to be copied.
inline std::optional<std::string> copyStart(const std::byte* base, std::uint64_t& position) {
    const auto& header = *reinterpret_cast<const MappingHeader*>(base);
    const std::uint32_t sequence = header.startSequence.load(std::memory_order_acquire);
    if (sequence == 0) {
        return std::nullopt;
    }
    const std::byte* slot = base + kStartOffset + (sequence & 1) * kStartBytes;
    std::string bytes(reinterpret_cast<const char*>(slot), kStartBytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (header.startSequence.load(std::memory_order_relaxed) != sequence) {
        return std::nullopt;
    }
    std::uint32_t counts[3];
    std::memcpy(counts, bytes.data() + offsetof(HistoryStart, callCount), sizeof counts);
    if (counts[0] > HistoryStart::kMaxCalls || counts[1] > HistoryStart::kMaxRequests ||
        counts[2] > HistoryStart::kMaxCounts) {
        return std::nullopt;
    }
    std::memcpy(&position, bytes.data() + offsetof(HistoryStart, position), sizeof position);
    bytes.resize(offsetof(HistoryStart, calls) + counts[0] * sizeof(StartCall) + counts[1] * sizeof(StartRequest) +
                 counts[2] * sizeof(StartCount));
    return bytes;
}

/// Bytes [from, from + bytes) of all blocks; at most a ring of them.
inline std::string copyRing(const std::byte* base, std::uint64_t ring, std::uint64_t from, std::uint64_t bytes) {
    const std::uint64_t at = from % ring;
    const std::uint64_t straight = std::min(bytes, ring - at);
    const auto* blocks = reinterpret_cast<const char*>(base) + kBlockOffset;
    std::string copied(blocks + at, straight);
    copied.append(blocks, bytes - straight);
    return copied;
}

} // namespace detail

/// Copies the blocks from position `have` on, up to `length` (MappingHeader::blockLength as it was) and about `most`
/// bytes; `ring` is the size of their region, `fileBytes` how much of the mapping there is. When the blocks at `have` are gone: from the oldest one on that
/// is still there. Nothing when the rank is too fast; a later call may do better.
inline CopiedBlocks copyBlocks(const std::byte* base, std::uint64_t ring, std::uint64_t fileBytes, std::uint64_t have,
                               std::uint64_t length, std::uint64_t most) {
    constexpr int kAttempts = 16;
    constexpr std::uint64_t kFirstPiece = 256 * 1024; ///< where the rank may be overwriting the next ones at any moment
    const auto& header = *reinterpret_cast<const MappingHeader*>(base);
    const std::uint64_t there = std::min(fileBytes > kBlockOffset ? fileBytes - kBlockOffset : 0, ring);
    if (there < ring) {
        length = std::min(length, there); // it has not come round yet
    }
    CopiedBlocks copied;
    copied.from = have;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::uint64_t tail = header.blockTail.load(std::memory_order_acquire);
        copied.from = have;
        copied.start.clear();
        copied.blocks.clear();
        std::uint64_t piece = most;
        if (have < tail) {
            std::optional<std::string> start = detail::copyStart(base, copied.from);
            if (!start || copied.from < have) {
                copied.from = have;
                continue;
            }
            copied.start = std::move(*start);
            piece = std::min(piece, kFirstPiece);
        }
        const std::uint64_t bytes =
            length > copied.from ? std::min({length - copied.from, piece, ring}) : 0;
        if (bytes != 0 && std::min(copied.from % ring + bytes, ring) > there) {
            break; // the program has overwritten the words that say where they are
        }
        copied.blocks = detail::copyRing(base, ring, copied.from, bytes);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (header.blockTail.load(std::memory_order_relaxed) <= copied.from) {
            return copied;
        }
    }
    return {have, {}, {}};
}

} // namespace stopline::trace
