#include "history_advance.h"

#include "history_tracker.h"

#include <cstdlib>
#include <new>

namespace stopline::trace {

namespace {

/// Zeroed pages, of which few are touched.
struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

} // namespace

struct HistoryAdvance::Impl {
    Impl() : memory(static_cast<HistoryMemory*>(std::calloc(1, sizeof(HistoryMemory)))) {
        if (memory == nullptr) {
            throw std::bad_alloc();
        }
    }
    std::unique_ptr<HistoryMemory, Free> memory;
    HistoryTracker tracker;
};

HistoryAdvance::HistoryAdvance(const HistoryStart* from) : m_impl(std::make_unique<Impl>()) {
    if (from != nullptr) {
        std::memcpy(&m_impl->memory->start, from, sizeof *from);
    }
    m_impl->tracker.open(nullptr, m_impl->memory.get());
}

HistoryAdvance::~HistoryAdvance() = default;
HistoryAdvance::HistoryAdvance(HistoryAdvance&&) noexcept = default;

void HistoryAdvance::add(const EventDetails& details) {
    (void)m_impl->tracker.add(encodeDetails(details)); // what we have written ourselves is sound
}

const HistoryStart& HistoryAdvance::start() const {
    return m_impl->tracker.start();
}

void HistoryAdvance::leaveOut(RankImage& image, std::uint64_t keep) {
    Impl impl;
    if (image.blocksFrom != 0 && !unpackStart(image.start, impl.memory->start)) {
        return;
    }
    impl.memory->start.position = image.blocksFrom;
    impl.tracker.open(image.dictionary.data(), impl.memory.get());
    std::uint64_t events = 0;
    const auto blockAt = [&image](std::size_t at, BlockHeader& header) -> std::uint64_t {
        if (image.blocks.size() - at < sizeof header) {
            return 0;
        }
        std::memcpy(&header, image.blocks.data() + at, sizeof header);
        return sizeof header + ((std::uint64_t{header.compressedBytes} + 7) & ~std::uint64_t{7});
    };
    const auto walk = [&](const auto& visit) {
        for (std::size_t at = 0; at < image.blocks.size();) {
            std::uint64_t bytes = gapAt(image.blocks.data() + at, image.blocks.size() - at);
            BlockHeader header{};
            if (bytes == 0 && ((bytes = blockAt(at, header)) == 0 || header.magic != kBlockMagic ||
                               bytes > image.blocks.size() - at)) {
                return;
            }
            if (header.magic == kBlockMagic && !visit(at, header)) {
                return;
            }
            at += bytes;
        }
    };
    walk([&](std::size_t, const BlockHeader& header) {
        events += header.eventCount;
        return true;
    });
    struct Work {
        alignas(16) std::byte bytes[HistoryTracker::kWorkBytes];
    };
    const auto work = std::make_unique<Work>();
    std::size_t gone = 0;
    walk([&](std::size_t at, const BlockHeader& header) {
        if (events < keep + header.eventCount) {
            return false;
        }
        const std::uint64_t used = impl.tracker.drop(image.blocks.data() + at, image.blocks.size() - at,
                                                     image.dictionary.size(), work->bytes);
        if (used == 0) {
            return false;
        }
        events -= header.eventCount;
        gone = at + used;
        return true;
    });
    if (gone == 0) {
        return;
    }
    image.blocks.erase(image.blocks.begin(), image.blocks.begin() + static_cast<std::ptrdiff_t>(gone));
    image.blocksFrom += gone;
    impl.memory->start.position = image.blocksFrom;
    image.start.resize(packedStartBytes(impl.memory->start));
    packStart(impl.memory->start, image.start.data());
}

} // namespace stopline::trace
