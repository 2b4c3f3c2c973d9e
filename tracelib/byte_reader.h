// Numbers from bytes that may be damaged or hostile. Usable from the preloaded library.
#pragma once

#include "codec.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace stopline::trace {

/// Takes numbers from a range of bytes. After the first failure ok() is false and all results are 0.
class ByteReader {
  public:
    constexpr explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}
    [[nodiscard]] std::uint8_t byte();
    /// A varint of at most 64 bits.
    [[nodiscard]] std::uint64_t varint();
    [[nodiscard]] std::int64_t signedVarint();
    /// A varint that must be at most `limit`.
    [[nodiscard]] std::uint64_t varintUpTo(std::uint64_t limit);
    /// A signed varint that must fit 32 bits.
    [[nodiscard]] std::int32_t signed32();
    void fail() { m_ok = false; }
    [[nodiscard]] bool ok() const { return m_ok; }
    [[nodiscard]] bool atEnd() const { return m_used == m_bytes.size(); }
    [[nodiscard]] std::size_t used() const { return m_used; }
    [[nodiscard]] std::span<const std::byte> rest() const { return m_bytes.subspan(m_used); }
    void skip(std::size_t bytes);

  private:
    std::span<const std::byte> m_bytes;
    std::size_t m_used = 0;
    bool m_ok = true;
};

inline std::uint8_t ByteReader::byte() {
    if (!m_ok || m_used == m_bytes.size()) {
        m_ok = false;
        return 0;
    }
    return static_cast<std::uint8_t>(m_bytes[m_used++]);
}

inline std::uint64_t ByteReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t part = byte();
        const std::uint64_t bits = part & 0x7fU;
        if (shift == 63 && bits > 1) {
            break;
        }
        value |= bits << shift;
        if ((part & 0x80U) == 0) {
            return m_ok ? value : 0;
        }
    }
    m_ok = false;
    return 0;
}

inline std::int64_t ByteReader::signedVarint() {
    return unzigzag(varint());
}

inline std::uint64_t ByteReader::varintUpTo(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) {
        m_ok = false;
        return 0;
    }
    return value;
}

inline std::int32_t ByteReader::signed32() {
    const std::int64_t value = signedVarint();
    if (value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max()) {
        m_ok = false;
        return 0;
    }
    return static_cast<std::int32_t>(value);
}

inline void ByteReader::skip(std::size_t bytes) {
    if (bytes > m_bytes.size() - m_used) {
        m_ok = false;
    } else {
        m_used += bytes;
    }
}

} // namespace stopline::trace
