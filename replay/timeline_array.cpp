#include "timeline_array.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace stopline::replay {

namespace {

/// From here on pieces have pages of their own, and ask for large ones.
constexpr std::size_t kPaged = std::size_t{1} << 20;

void* fresh(std::size_t bytes) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return block;
}

} // namespace

void* resizeBlock(void* old, std::size_t oldBytes, std::size_t wanted) {
    if (wanted < kPaged) {
        void* block = std::realloc(old, wanted);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        return block;
    }
    void* block = nullptr;
    if (oldBytes >= kPaged) {
        block = mremap(old, oldBytes, wanted, MREMAP_MAYMOVE);
        if (block == MAP_FAILED) {
            throw std::bad_alloc();
        }
    } else {
        block = fresh(wanted);
        if (oldBytes != 0) {
            std::memcpy(block, old, oldBytes);
            std::free(old);
        }
    }
    madvise(block, wanted, MADV_HUGEPAGE); // a wish: fewer page faults
    return block;
}

void freeBlock(void* block, std::size_t bytes) noexcept {
    if (bytes >= kPaged) {
        munmap(block, bytes);
    } else {
        std::free(block);
    }
}

void SmallList::grow() {
    const std::uint32_t capacity = m_capacity * 4;
    const bool first = m_capacity == kInline;
    auto* numbers = static_cast<std::uint32_t*>(
        resizeBlock(first ? nullptr : m_storage.many, first ? 0 : m_capacity * sizeof(std::uint32_t),
                    capacity * sizeof(std::uint32_t)));
    if (first) {
        std::memcpy(numbers, m_storage.few, sizeof m_storage.few);
    }
    m_storage.many = numbers;
    m_capacity = capacity;
}

} // namespace stopline::replay
