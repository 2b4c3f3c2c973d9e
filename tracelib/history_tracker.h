// Brings a HistoryStart forward: the library block by block as the ring drops them, and whoever reads a recording for
// blocks that it leaves out. No allocation, no exceptions: usable from the preloaded library.
#pragma once

#include "byte_reader.h"
#include "codec.h"
#include "history_start.h"
#include "packer.h"
#include "signatures.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::trace {

/// In zeroed memory of the caller; pages that are never touched cost nothing.
struct HistoryMemory {
    static constexpr std::uint32_t kCells = 2 * HistoryStart::kMaxCounts;
    /// What one event of a signature adds.
    struct Meaning {
        std::uint32_t count; ///< index in HistoryStart::counts plus one, 0: none
        std::uint8_t flags;
    };
    HistoryStart start;
    std::uint32_t cells[kCells]; ///< of counts: index plus one
    Meaning meanings[SignatureMemory::kMaxSignatures];
    std::uint32_t offsets[SignatureMemory::kMaxSignatures + 1]; ///< of entries in the dictionary
    std::uint32_t known;                                        ///< entries of which the offset is known
    std::uint32_t openSignature; ///< signature plus one of the begun call of thread 0, if it is the only one
    Predictor predictor;
};

/// Brings a HistoryStart forward.
class HistoryTracker {
  public:
    /// Bytes of work space that drop() needs.
    static constexpr std::size_t kWorkBytes = 2 * kStagingBytes + 64 * 1024;

    /// `dictionary` is where the entries are; it may grow later. `memory` is zeroed, or holds a start to go on from.
    void open(const std::byte* dictionary, HistoryMemory* memory);

    /// Takes in the events of a block, which is the next one: header and compressed bytes, `left` bytes in all from
    /// `block` on. `dictionaryBytes`: how much of the dictionary there is. `work` has kWorkBytes, aligned to 16. Returns
    /// the bytes that the block takes with its padding, 0 when it is damaged.
    [[nodiscard]] std::uint64_t drop(const std::byte* block, std::uint64_t left, std::uint64_t dictionaryBytes,
                                     std::byte* work);

    /// Takes in the next event, given as serialised details. False when they are damaged.
    [[nodiscard]] bool add(std::span<const std::byte> details);

    [[nodiscard]] HistoryStart& start() { return m_memory->start; }

  private:
    struct Operands;
    [[nodiscard]] bool take(std::uint32_t id, ByteReader& ids, std::uint64_t dictionaryBytes);
    [[nodiscard]] bool learn(std::uint32_t signature, std::uint64_t dictionaryBytes);
    [[nodiscard]] bool entryAt(std::uint32_t signature, std::uint64_t dictionaryBytes, std::span<const std::byte>& bytes);
    void event(const DetailsView& details, std::span<const std::byte> bytes);
    void begin(const DetailsView& details, std::span<const std::byte> bytes);
    void end(const StartCall& call, const DetailsView& details, std::span<const std::byte> bytes);
    void settleOpen();
    void completed(const Completion& completion);
    void started(RequestRef ref);
    void freed(RequestRef ref);
    void count(Counted what, std::uint32_t comm, std::int32_t peer, std::int32_t tag, std::int64_t by = 1);
    [[nodiscard]] std::uint32_t countOf(Counted what, std::uint32_t comm, std::int32_t peer, std::int32_t tag);
    void addRequest(const StartRequest& request);
    [[nodiscard]] StartRequest* requestOf(RequestRef ref);
    void forget(StartRequest* request);

    const std::byte* m_dictionary = nullptr;
    HistoryMemory* m_memory = nullptr;
};

} // namespace stopline::trace
