// Recordings made in memory, for the tests of recorder and reader.
#pragma once

#include "../../../tracelib/reader.h"
#include "../../../tracelib/recorder.h"
#include "../../../tracelib/ring_copy.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

namespace stopline::trace::testing {

/// A mapping in memory whose file can be limited, with a recorder on it.
class Mapping {
  public:
    /// `blockBytes`: size of the ring of blocks, 0 for the default.
    explicit Mapping(TimeNs tolerance = kDefaultToleranceNs, std::size_t limit = std::size_t{64} << 20,
                     std::uint64_t blockBytes = 0)
        : m_bytes(static_cast<std::byte*>(std::calloc(limit + kGrowBytes, 1))), m_limit(limit),
          m_memory(static_cast<RecorderMemory*>(std::calloc(1, sizeof(RecorderMemory)))) {
        auto& h = *new (m_bytes) MappingHeader();
        h.magic = kMappingMagic;
        h.formatVersion = kFormatVersion;
        h.headerBytes = sizeof(MappingHeader);
        h.fileBytes = kInitialFileBytes;
        h.blockBytes = blockBytes;
        recorder.open(m_bytes, m_memory, grow, this, tolerance);
    }
    ~Mapping() {
        std::free(m_bytes);
        std::free(m_memory);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] MappingHeader& header() { return *reinterpret_cast<MappingHeader*>(m_bytes); }
    [[nodiscard]] std::byte* bytes() { return m_bytes; }

    /// Whatever is there now.
    [[nodiscard]] RankImage image() {
        RankImage image;
        pull(image);
        return image;
    }

    /// Brings an image up to date as the agent and the window do.
    void pull(RankImage& image, std::uint64_t most = UINT64_MAX) {
        const MappingHeader& h = header();
        const auto copy = [this](std::vector<std::byte>& to, std::size_t offset, std::size_t size) {
            to.assign(m_bytes + offset, m_bytes + offset + size);
        };
        copy(image.header, 0, sizeof(MappingHeader));
        copy(image.staging, kStagingOffset + (h.stagingSequence & 1) * kStagingBytes, kStagingBytes);
        copy(image.dictionary, kDictionaryOffset, h.dictionaryLength);
        copy(image.comms, kCommOffset, h.commLength);
        copy(image.stops, kStopOffset, h.stopCount * sizeof(MappedStop));
        const std::uint64_t have = image.blocksFrom + image.blocks.size();
        const CopiedBlocks copied = copyBlocks(m_bytes, blockBytesFor(h.blockBytes), m_limit + kGrowBytes, have, h.blockLength, most);
        if (copied.from != have) {
            image.blocks.clear();
            image.blocksFrom = copied.from;
            const auto* start = reinterpret_cast<const std::byte*>(copied.start.data());
            image.start.assign(start, start + copied.start.size());
        }
        const auto* blocks = reinterpret_cast<const std::byte*>(copied.blocks.data());
        image.blocks.insert(image.blocks.end(), blocks, blocks + copied.blocks.size());
    }

    Recorder recorder;

  private:
    static int grow(void* self, std::uint64_t bytes) {
        return bytes > static_cast<Mapping*>(self)->m_limit ? ENOSPC : 0;
    }

    std::byte* m_bytes;
    std::size_t m_limit;
    RecorderMemory* m_memory;
};

/// Begin or end of a send that differs by its tag.
inline DetailsView sendDetails(std::int32_t tag, EventKind kind = EventKind::Begin) {
    DetailsView d;
    d.kind = kind;
    d.function = FunctionId::Send;
    if (kind == EventKind::Begin) {
        d.comm = kCommWorld;
        d.sendPeer = 1;
        d.sendTag = tag;
        d.sendBytes = 8;
        d.site = CodeAddress{0x401234};
    }
    return d;
}

} // namespace stopline::trace::testing
