// Reader of a rank's recording, incremental and safe against truncated or hostile bytes.
#pragma once

#include "event.h"
#include "mapping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stopline::trace {

struct DetailsView;
struct HistoryStart;

/// Plain copy of the parts of a mapping that a reader needs. The agent sends deltas; whoever keeps the image
/// appends.
struct RankImage {
    std::vector<std::byte> header;     ///< at least sizeof(MappingHeader) bytes, copied at one moment
    std::vector<std::byte> staging;    ///< the current staging buffer, kStagingBytes
    std::vector<std::byte> dictionary; ///< valid prefix
    std::vector<std::byte> comms;      ///< valid prefix
    std::vector<std::byte> stops;      ///< valid prefix, array of MappedStop
    /// Valid blocks, one behind the other, from byte `blocksFrom` of all that the rank has made on. When that is not 0,
    /// older ones were gone before they could be copied, and `start` says what they were: see packStart(). Or whoever read
    /// them needs them no more: see releaseBlocks().
    std::vector<std::byte> blocks;
    std::uint64_t blocksFrom = 0;
    std::vector<std::byte> start;
};

/// Lets go of the blocks before byte `upTo`, counted as blocksFrom is: for images that are given again and again to one
/// reader (up to its blocksRead()), which would otherwise take ever more memory. A reader that has not read them cannot
/// read the image any more.
inline void releaseBlocks(RankImage& image, std::uint64_t upTo) {
    constexpr std::size_t kKept = std::size_t{1} << 20; // of memory: what the next pieces need
    const std::size_t all = image.blocks.size();
    const std::size_t gone = upTo > image.blocksFrom ? std::min<std::uint64_t>(upTo - image.blocksFrom, all) : 0;
    if (gone == 0 || all - gone > gone) { // what is left is moved to the front: not for a few
        return;
    }
    image.blocks.erase(image.blocks.begin(), image.blocks.begin() + static_cast<std::ptrdiff_t>(gone));
    image.blocksFrom += gone;
    if (image.blocks.capacity() > kKept && image.blocks.capacity() / 4 > image.blocks.size()) {
        image.blocks.shrink_to_fit();
    }
}

struct DecodedEvent {
    DetailsId details;
    TimeNs execution; ///< reconstructed execution time since originNs, nanoseconds, monotone per rank
    std::uint64_t pollFailures = 0; ///< only at the end of a poll
};

/// Decodes the recording of one rank piece by piece. Not thread-safe; one instance a rank and incarnation.
class RankReader {
  public:
    RankReader();
    ~RankReader();
    RankReader(RankReader&&) noexcept;
    RankReader& operator=(RankReader&&) noexcept;

    /// Decodes all events in `image` that were not decoded before and appends them to events(); with `most` about that
    /// many (blocks are taken whole), the rest at further calls with the same or a newer image: see behind().
    /// Returns an empty string, or what is wrong, naming the block; what was decoded before the fault stays.
    std::string update(const RankImage& image, std::size_t most = static_cast<std::size_t>(-1));
    /// The last update() has left events of its image for the next.
    [[nodiscard]] bool behind() const;
    /// Where the blocks end that have been read, as RankImage::blocksFrom counts: those before are never looked at again.
    [[nodiscard]] std::uint64_t blocksRead() const;

    /// Events since the first one read that has not been discarded; number of events()[i] is firstEvent() + i.
    [[nodiscard]] const std::vector<DecodedEvent>& events() const;
    /// 0 while nothing has been read.
    [[nodiscard]] EventIndex firstEvent() const;
    /// Forgets the first `count` of events(): whoever takes them elsewhere need not have them twice.
    void discard(std::size_t count);
    [[nodiscard]] EventIndex lastEvent() const; ///< 0 when there are none
    /// What was before the events when the first ones are missing; null when none are. Valid until the next update().
    [[nodiscard]] const HistoryStart* start() const;
    /// How often the events have started anew behind missing ones: whoever has taken events of before has to let go of
    /// them and begins with start().
    [[nodiscard]] std::uint32_t starts() const;
    [[nodiscard]] const EventDetails& details(DetailsId id) const;
    [[nodiscard]] std::uint32_t detailsCount() const;
    [[nodiscard]] const std::vector<CommInfo>& comms() const; ///< by CommIndex
    [[nodiscard]] const std::vector<StopRecord>& stops() const;
    [[nodiscard]] TimeNs originNs() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Serialised details, as in the dictionary and in inline events. Used by the library's tests and by
/// generators.
[[nodiscard]] std::vector<std::byte> encodeDetails(const EventDetails& details);
/// The details as a wrapper would give them to a Recorder. Points into `details`, which must outlive it.
[[nodiscard]] DetailsView viewOf(const EventDetails& details);
/// False when the bytes are no complete, valid details. `used` gets the bytes consumed. Lists longer than
/// kMaxListed are refused.
[[nodiscard]] bool decodeDetails(std::span<const std::byte> bytes, EventDetails& details, std::size_t& used);

/// Log2 codes of time differences, in nanoseconds (p2d2 paper section 2.2; code 0 means no time at all). Four
/// steps an octave, rounded to the nearest. kExactTime is never a code of encodeDelta.
[[nodiscard]] std::uint8_t encodeDelta(TimeNs delta);
[[nodiscard]] TimeNs decodeDelta(std::uint8_t code);

} // namespace stopline::trace
