// The byte formats of the recording, reading side: every input is taken as hostile.
#pragma once

#include "event.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::trace {

/// Takes numbers from a range of bytes. After the first failure ok() is false and all results are 0.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}
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

/// Reads details as written by encodeDetails(); false when they are not valid.
[[nodiscard]] bool readDetails(ByteReader& in, EventDetails& details);
/// Reads a communicator as written by encodeComm(); false when it is not valid.
[[nodiscard]] bool readComm(ByteReader& in, CommInfo& comm);

/// Most members that one group of a communicator may have for the reader.
inline constexpr std::uint32_t kMaxMembers = 1U << 22;

} // namespace stopline::trace
