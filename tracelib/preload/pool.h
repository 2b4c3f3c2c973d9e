// An array that grows without malloc: it starts in static memory and moves to anonymous pages.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace stopline::preload {

/// Anonymous zeroed pages, or null. Keeps errno.
inline void* takePages(std::size_t bytes) {
    const int savedErrno = errno;
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = savedErrno;
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Trivially copyable elements, zeroed. No constructor runs: an object of this type in zeroed memory is
/// empty.
template <typename T, std::size_t kInitial>
class Pool {
  public:
    [[nodiscard]] T* data() { return m_pages == nullptr ? m_initial : m_pages; }
    [[nodiscard]] std::size_t capacity() const { return m_pages == nullptr ? kInitial : m_capacity; }
    /// Makes room for `count` elements and keeps the old ones; false when there is no memory.
    bool reserve(std::size_t count) {
        if (count <= capacity()) {
            return true;
        }
        std::size_t wanted = capacity();
        while (wanted < count) {
            wanted *= 2;
        }
        auto* pages = static_cast<T*>(takePages(wanted * sizeof(T)));
        if (pages == nullptr) {
            return false;
        }
        std::memcpy(static_cast<void*>(pages), data(), capacity() * sizeof(T));
        const int savedErrno = errno;
        if (m_pages != nullptr) {
            munmap(m_pages, m_capacity * sizeof(T));
        }
        errno = savedErrno;
        m_pages = pages;
        m_capacity = wanted;
        return true;
    }
    T& operator[](std::size_t i) { return data()[i]; }

  private:
    T* m_pages = nullptr;
    std::size_t m_capacity = 0;
    T m_initial[kInitial] = {};
};

} // namespace stopline::preload
