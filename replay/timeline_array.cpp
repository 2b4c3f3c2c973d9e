#include "timeline_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace stopline::replay {

namespace {

/// From here on pieces have pages of their own, and from there on large ones: a tenth of the page faults.
constexpr std::size_t kPaged = std::size_t{1} << 20;
constexpr std::size_t kLarge = std::size_t{4} << 20;
constexpr std::size_t kLargePage = std::size_t{2} << 20;

void* checked(void* block) {
    if (block == MAP_FAILED) {
        throw std::bad_alloc();
    }
    return block;
}

/// Address space for `bytes`, at the start of a large page where they are many. Nothing is behind it yet.
void* reserve(std::size_t bytes) {
    const std::size_t spare = bytes >= kLarge ? kLargePage : 0;
    auto* space = static_cast<std::byte*>(checked(mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE,
                                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
    if (spare == 0) {
        return space;
    }
    const std::size_t before =
        (kLargePage - reinterpret_cast<std::uintptr_t>(space) % kLargePage) % kLargePage;
    if (before != 0) {
        munmap(space, before);
    }
    if (before != spare) {
        munmap(space + before + bytes, spare - before);
    }
    return space + before;
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
    wanted = (wanted + 4095) / 4096 * 4096;
    void* block = reserve(wanted);
    if (oldBytes >= kPaged) {
        const std::size_t from = (oldBytes + 4095) / 4096 * 4096;
        if (mremap(old, from, wanted, MREMAP_MAYMOVE | MREMAP_FIXED, block) == MAP_FAILED) {
            munmap(block, wanted);
            throw std::bad_alloc();
        }
    } else if (oldBytes != 0) {
        std::memcpy(block, old, oldBytes);
        std::free(old);
    }
    if (wanted >= kLarge) {
        madvise(block, wanted, MADV_HUGEPAGE); // a wish
    }
    return block;
}

void freeBlock(void* block, std::size_t bytes) noexcept {
    if (bytes >= kPaged) {
        munmap(block, (bytes + 4095) / 4096 * 4096);
    } else {
        std::free(block);
    }
}

void SmallList::grow() {
    const std::uint32_t capacity = m_capacity * 4;
    const bool first = m_capacity == kInline;
    auto* numbers = static_cast<std::uint32_t*>(resizeBlock(first ? nullptr : m_storage.many,
                                                            first ? 0 : m_capacity * sizeof(std::uint32_t),
                                                            capacity * sizeof(std::uint32_t)));
    if (first) {
        std::memcpy(numbers, m_storage.few, sizeof m_storage.few);
    }
    m_storage.many = numbers;
    m_capacity = capacity;
}

} // namespace stopline::replay
