#include "block_ring.h"

#include <cerrno>

namespace stopline::trace {

void BlockRing::open(std::byte* base, HistoryMemory* memory, GrowFunction grow, void* growContext) {
    m_base = base;
    m_header = reinterpret_cast<MappingHeader*>(base);
    m_grow = grow;
    m_growContext = growContext;
    m_bytes = blockBytesFor(m_header->blockBytes);
    m_length = m_header->blockLength.load(std::memory_order_relaxed);
    m_tail = m_header->blockTail.load(std::memory_order_relaxed);
    m_fileBytes = m_header->fileBytes.load(std::memory_order_relaxed);
    m_startSequence = m_header->startSequence.load(std::memory_order_relaxed);
    m_tracker.open(base + kDictionaryOffset, memory);
}

bool BlockRing::ensureFile(std::uint64_t bytes) {
    if (bytes <= m_fileBytes) {
        return true;
    }
    std::uint64_t want = m_fileBytes;
    while (want < bytes) {
        want += kGrowBytes;
    }
    const std::uint64_t most = mappedBytes(m_bytes);
    want = want < most ? want : most;
    m_error = m_grow(m_growContext, want);
    if (m_error != 0) {
        return false;
    }
    m_fileBytes = want;
    m_header->fileBytes.store(want, std::memory_order_release);
    return true;
}

/// Says that what is below m_tail is gone, before anything is written there.
void BlockRing::publishTail() {
    HistoryStart& start = m_tracker.start();
    start.position = m_tail;
    const std::uint32_t next = m_startSequence + 1 == 0 ? 2 : m_startSequence + 1;
    packStart(start, m_base + kStartOffset + (next & 1) * kStartBytes);
    m_header->startSequence.store(next, std::memory_order_release);
    m_startSequence = next;
    m_header->blockTail.store(m_tail, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool BlockRing::dropOldest(std::byte* work) {
    const std::byte* oldest = m_base + place(m_tail);
    const std::uint64_t contiguous = m_bytes - m_tail % m_bytes;
    const std::uint64_t left = m_length - m_tail < contiguous ? m_length - m_tail : contiguous;
    std::uint64_t bytes = gapAt(oldest, left);
    if (bytes == 0) {
        const std::uint64_t dictionary = m_header->dictionaryLength.load(std::memory_order_relaxed);
        bytes = m_tracker.drop(oldest, left, dictionary < kDictionaryBytes ? dictionary : kDictionaryBytes, work);
    }
    if (bytes == 0 || bytes > left) {
        m_error = EUCLEAN; // it is not what was written there: the program has overwritten it
        return false;
    }
    m_tail += bytes;
    return true;
}

std::byte* BlockRing::makeRoom(std::uint64_t bytes, std::byte* work) {
    bytes = (bytes + 7) & ~std::uint64_t{7};
    if (bytes > m_bytes) {
        m_error = EFBIG;
        return nullptr;
    }
    const std::uint64_t left = m_bytes - m_length % m_bytes;
    const std::uint64_t gap = bytes > left ? left : 0;
    const std::uint64_t tail = m_tail;
    while (m_tail != m_length && m_length + gap + bytes - m_tail > m_bytes) {
        if (!dropOldest(work)) {
            return nullptr;
        }
    }
    if (m_tail != tail) {
        publishTail();
    }
    if (gap != 0) {
        if (!ensureFile(place(m_length) + sizeof(BlockGap))) {
            return nullptr;
        }
        const BlockGap header{kGapMagic, static_cast<std::uint32_t>(gap / 8)};
        std::memcpy(m_base + place(m_length), &header, sizeof header);
        m_length += gap;
        m_header->blockLength.store(m_length, std::memory_order_release);
        if (m_length + bytes - m_tail > m_bytes) { // nothing but this gap is there
            m_tail = m_length;
            publishTail();
        }
    }
    return ensureFile(place(m_length) + bytes) ? m_base + place(m_length) : nullptr;
}

void BlockRing::written(std::uint64_t bytes) {
    m_length += (bytes + 7) & ~std::uint64_t{7};
    m_header->blockLength.store(m_length, std::memory_order_release);
}

} // namespace stopline::trace
