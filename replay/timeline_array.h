// A contiguous array of plain values that grows without copying: what a timeline of many million events is
// made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace stopline::replay {

/// Memory of at least `wanted` bytes with the contents of `old` (null at first), which is given up. Large
/// pieces are moved by their pages, not by their bytes, and take memory only where they have been written.
/// Throws std::bad_alloc and leaves `old` as it is.
[[nodiscard]] void* resizeBlock(void* old, std::size_t oldBytes, std::size_t wanted);
void freeBlock(void* block, std::size_t bytes) noexcept;

template <typename T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    GrowingArray() = default;
    ~GrowingArray() { freeBlock(m_data, m_capacity * sizeof(T)); }
    GrowingArray(GrowingArray&& other) noexcept
        : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0)),
          m_capacity(std::exchange(other.m_capacity, 0)) {}
    GrowingArray& operator=(GrowingArray&& other) noexcept {
        std::swap(m_data, other.m_data);
        std::swap(m_size, other.m_size);
        std::swap(m_capacity, other.m_capacity);
        return *this;
    }

    void push_back(const T& value) {
        if (m_size == m_capacity) {
            const T kept = value; // it may be an element of this array
            grow();
            m_data[m_size++] = kept;
            return;
        }
        m_data[m_size++] = value;
    }
    void pop_back() { --m_size; }
    [[nodiscard]] T& operator[](std::size_t index) { return m_data[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const { return m_data[index]; }
    [[nodiscard]] T& back() { return m_data[m_size - 1]; }
    [[nodiscard]] const T& back() const { return m_data[m_size - 1]; }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }
    [[nodiscard]] T* begin() { return m_data; }
    [[nodiscard]] T* end() { return m_data + m_size; }
    [[nodiscard]] const T* begin() const { return m_data; }
    [[nodiscard]] const T* end() const { return m_data + m_size; }
    [[nodiscard]] std::span<const T> all() const { return {m_data, m_size}; }
    void insert(std::size_t at, const T& value) {
        push_back(value);
        const T kept = m_data[m_size - 1];
        std::memmove(m_data + at + 1, m_data + at, (m_size - 1 - at) * sizeof(T));
        m_data[at] = kept;
    }
    void erase(std::size_t at) {
        std::memmove(m_data + at, m_data + at + 1, (m_size - at - 1) * sizeof(T));
        --m_size;
    }
    /// Bytes in use; what has been reserved beyond them is not counted.
    [[nodiscard]] std::size_t bytes() const { return m_size * sizeof(T); }

  private:
    [[gnu::noinline]] void grow() {
        const std::size_t capacity = m_capacity == 0 ? (sizeof(T) < 64 ? 64 / sizeof(T) : 1) : m_capacity * 2;
        m_data = static_cast<T*>(resizeBlock(m_data, m_capacity * sizeof(T), capacity * sizeof(T)));
        m_capacity = capacity;
    }

    T* m_data = nullptr;
    std::size_t m_size = 0;
    std::size_t m_capacity = 0;
};

/// A list of numbers that is mostly short: two of them need no memory of their own.
class SmallList {
  public:
    SmallList() = default;
    ~SmallList() {
        if (m_capacity != kInline) {
            freeBlock(m_storage.many, m_capacity * sizeof(std::uint32_t));
        }
    }
    SmallList(SmallList&& other) noexcept { swap(other); }
    SmallList& operator=(SmallList&& other) noexcept {
        swap(other);
        return *this;
    }

    void push_back(std::uint32_t value) {
        if (m_size == m_capacity) {
            grow();
        }
        data()[m_size++] = value;
    }
    void insert(std::size_t at, std::uint32_t value) {
        push_back(value);
        std::memmove(data() + at + 1, data() + at, (m_size - 1 - at) * sizeof(std::uint32_t));
        data()[at] = value;
    }
    void erase(std::size_t at) {
        std::memmove(data() + at, data() + at + 1, (m_size - at - 1) * sizeof(std::uint32_t));
        --m_size;
    }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }
    [[nodiscard]] const std::uint32_t* begin() const {
        return m_capacity == kInline ? m_storage.few : m_storage.many;
    }
    [[nodiscard]] const std::uint32_t* end() const { return begin() + m_size; }
    [[nodiscard]] std::uint32_t operator[](std::size_t index) const { return begin()[index]; }
    [[nodiscard]] std::uint32_t back() const { return begin()[m_size - 1]; }
    /// Bytes of memory of its own.
    [[nodiscard]] std::size_t bytes() const {
        return m_capacity == kInline ? 0 : m_size * sizeof(std::uint32_t);
    }

  private:
    static constexpr std::uint32_t kInline = 2;

    union Storage {
        std::uint32_t few[kInline] = {};
        std::uint32_t* many;
    };
    [[nodiscard]] std::uint32_t* data() { return m_capacity == kInline ? m_storage.few : m_storage.many; }
    void swap(SmallList& other) noexcept {
        std::swap(m_size, other.m_size);
        std::swap(m_capacity, other.m_capacity);
        std::swap(m_storage, other.m_storage);
    }
    [[gnu::noinline]] void grow();

    std::uint32_t m_size = 0;
    std::uint32_t m_capacity = kInline;
    Storage m_storage;
};

} // namespace stopline::replay
