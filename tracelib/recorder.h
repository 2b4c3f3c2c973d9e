// Writes events into a mapping. No allocation, no exceptions: shared by the preloaded libraries and the
// tests.
#pragma once

#include "block_ring.h"
#include "mapping.h"
#include "packer.h"
#include "signatures.h"

#include <cstddef>
#include <cstdint>

namespace stopline::trace {

/// Everything the recorder needs besides the mapping, of fixed size. The caller owns it (static memory) and
/// zeroes it; pages that are never touched cost nothing.
struct RecorderMemory {
    static constexpr std::size_t kArenaBytes = 272 * 1024; ///< what zlib asks for at level 6

    SignatureMemory signatures;
    Packer packer;
    /// Complement of the last time code of each signature in this block, so that zeroed memory says "none yet".
    /// The last one is for inline details.
    std::uint8_t lastCode[SignatureMemory::kMaxSignatures + 1];
    alignas(16) std::byte arena[kArenaBytes];
    HistoryMemory history; ///< touched only when the oldest blocks have to go
};
static_assert(RecorderMemory::kArenaBytes >= HistoryTracker::kWorkBytes);

/// One writer a mapping. Not thread-safe: the caller holds a lock where several threads call MPI.
class Recorder {
  public:
    /// `base` is a mapping whose header the agent has filled and whose file has `fileBytes` bytes. `memory`
    /// outlives the recorder. Times stay within max(tolerance, 2^(kExactShift-1)) ns of what append() was
    /// given.
    void open(std::byte* base, RecorderMemory* memory, GrowFunction grow, void* growContext,
              TimeNs tolerance);

    /// Records the next event. `execution` is its execution time in ns since originNs. Publishes it last in
    /// eventCount and returns its number; when the recording is off, only counts.
    std::uint64_t append(const DetailsView& details, TimeNs execution, std::uint64_t pollFailures = 0);

    /// The same for an event that is no end of a poll, with a key from which its details follow: `fill` is called
    /// for them only where the key is not the one that its call site had the last time.
    template <typename Fill>
    std::uint64_t append(const QuickKey& key, TimeNs execution, Fill fill) {
        return append(key, execution, fill, [](const DetailsView&, std::uint64_t) {});
    }
    /// And with `told(details, number)` once it is recorded, wherever `fill` has been called.
    template <typename Fill, typename Told>
    std::uint64_t append(const QuickKey& key, TimeNs execution, Fill fill, Told told) {
        const std::uint32_t id = m_signatures.numberOf(key);
        if (id != 0) [[likely]] {
            return appendKnown(id, execution);
        }
        DetailsView details;
        fill(details);
        const std::uint64_t number = appendKeyed(key, details, execution);
        told(details, number);
        return number;
    }
    /// Whether `fill` is called for every event from here on, as somebody has to see the details of each.
    void setFillAlways(bool always);

    /// Describes a communicator; kNoComm when the region is full.
    CommIndex addComm(const CommView& comm);

    /// Turns what is staged into a block. Where the region of the blocks is full, the oldest ones go.
    void flush();

    /// Stops recording for ever; events are still counted. `error` is an errno.
    void switchOff(int error);

    [[nodiscard]] std::uint64_t lastEvent() const { return m_lastEvent; }
    [[nodiscard]] bool isOff() const { return m_off; }
    [[nodiscard]] MappingHeader& header() const { return *m_header; }
    /// Execution time as a reader will reconstruct it.
    [[nodiscard]] TimeNs reconstructedTime() const { return m_time; }

  private:
    std::uint64_t appendKnown(std::uint32_t id, TimeNs execution);
    std::uint64_t appendKeyed(const QuickKey& key, const DetailsView& details, TimeNs execution);
    std::uint64_t appendDetails(const QuickKey* key, const DetailsView& details, TimeNs execution,
                                std::uint64_t pollFailures);
    /// Makes room for an event whose own details take `size` bytes; false when the recording is off.
    bool makeRoom(std::size_t size);
    void put(std::uint32_t id, std::size_t size, TimeNs execution);
    void putFailures(std::uint64_t failures);
    std::uint64_t publish();
    /// Codes a step of time into `out`; returns its bytes there, 0 where it is the last code of the signature
    /// again (out[0] holds it).
    [[nodiscard]] std::uint32_t codeTime(std::uint8_t& lastCode, TimeNs delta, std::byte* out);
    void startBuffer(std::uint32_t sequence);

    MappingHeader* m_header = nullptr;
    std::byte* m_base = nullptr;
    RecorderMemory* m_memory = nullptr;
    Signatures m_signatures;
    BlockRing m_ring;
    TimeNs m_tolerance = 0;
    TimeNs m_exactFrom = 0; // error of a code above which the exact form is written
    TimeNs m_time = 0;
    TimeNs m_lastExecution = 0;
    std::uint64_t m_lastEvent = 0;
    std::uint64_t m_firstStaged = 0;
    std::byte* m_staging = nullptr;
    std::uint32_t m_ids = 0;
    std::uint32_t m_times = 0;
    std::uint32_t m_comms = 0;
    // What decides where is written is kept here: the program may overwrite the header.
    std::uint32_t m_sequence = 0;
    std::uint64_t m_commLength = 0;
    TimeNs m_stagedTime = 0;
    bool m_off = false;
    bool m_fillAlways = false;
};

} // namespace stopline::trace
