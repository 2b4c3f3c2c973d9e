// Frames of the agent protocol as bytes. Shared by the agent and the window; no Qt.
#pragma once

#include "agent_protocol.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stopline::agent {

/// Whose frame it is; the same in every frame of a connection.
struct FrameAddress {
    std::uint32_t job = 0;
    std::uint32_t rank = 0;
    std::uint32_t incarnation = 1;
};

/// Header and body in one string. `body` must not be longer than kMaxFrameBytes.
[[nodiscard]] std::string encodeFrame(Channel channel, const FrameAddress& address, std::string_view body);
/// The header alone, for a body that is appended piece by piece.
[[nodiscard]] std::string encodeFrameHeader(Channel channel, const FrameAddress& address,
                                            std::uint32_t length);

struct Frame {
    FrameHeader header{};
    std::string body;
    [[nodiscard]] Channel channel() const { return static_cast<Channel>(header.channel); }
};

/// Cuts a byte stream into frames. After an error nothing more comes out of it.
class FrameReader {
  public:
    /// `limit`: the largest body accepted; raise it once the other side is trusted.
    explicit FrameReader(std::uint32_t limit = kMaxFrameBytes) : m_limit(limit) {}
    void setLimit(std::uint32_t limit) { m_limit = limit; }

    void append(std::string_view bytes);
    /// The next complete frame; false when there is none yet or the stream is broken (see error()).
    bool next(Frame& frame);
    /// Empty, or why the stream cannot be read any further.
    [[nodiscard]] const std::string& error() const { return m_error; }
    /// Version that the other side sent in its first frame; 0 before. For the message about a version
    /// mismatch.
    [[nodiscard]] std::uint8_t otherVersion() const { return m_otherVersion; }

  private:
    std::string m_buffer;
    std::size_t m_used = 0;
    std::uint32_t m_limit;
    std::uint8_t m_otherVersion = 0;
    std::string m_error;
};

/// A number of a field: `fallback` when the field is missing or no number that fits.
[[nodiscard]] std::int64_t numberField(const Fields& fields, std::string_view name, std::int64_t fallback);
[[nodiscard]] std::uint64_t unsignedField(const Fields& fields, std::string_view name,
                                          std::uint64_t fallback);
/// A text field, empty when missing.
[[nodiscard]] std::string textField(const Fields& fields, std::string_view name);

/// True when both are equal; the time taken depends on the lengths alone.
[[nodiscard]] bool equalConstantTime(std::string_view left, std::string_view right);

} // namespace stopline::agent
