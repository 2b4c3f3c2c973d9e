// Takes events from the streams of a recording: from staging as they are, from blocks as packer.h says. Every
// input is taken as hostile.
#pragma once

#include "decode.h"
#include "packer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stopline::trace {

/// What the streams say of one event.
struct StreamEvent {
    std::uint32_t id = 0;    ///< 0: with details of its own
    std::uint8_t code = 0;   ///< time code
    std::uint64_t exact = 0; ///< with kExactTime: units of 2^kExactShift ns
};

/// A time code with what belongs to it.
void readCode(ByteReader& in, StreamEvent& event);

/// The streams of a block, one behind the other, from its stored bytes into `raw`, which has kMaxPackedBytes. Empty, or
/// what is wrong with them.
[[nodiscard]] std::string unpackBlock(const BlockHeader& header, std::span<const std::byte> stored, std::span<std::byte> raw);

/// The streams of staging.
class StagedEvents {
  public:
    StagedEvents(std::span<const std::byte> ids, std::span<const std::byte> times)
        : m_ids(ids), m_times(times) {}
    [[nodiscard]] bool atEnd() const { return m_ids.atEnd() || m_times.atEnd(); }
    /// First half of an event: which details. Then ids() is where details of its own, and failures, follow.
    [[nodiscard]] std::uint32_t nextId();
    /// Second half: its time.
    void nextTime(StreamEvent& event) { readCode(m_times, event); }
    [[nodiscard]] ByteReader& ids() { return m_ids; }
    [[nodiscard]] bool ok() const { return m_ids.ok() && m_times.ok(); }

  private:
    ByteReader m_ids;
    ByteReader m_times;
};

/// The streams of a block; the same face.
class PackedEvents {
  public:
    PackedEvents(std::span<const std::byte> tokens, std::span<const std::byte> ids,
                 std::span<const std::byte> times);
    [[nodiscard]] bool atEnd() const {
        return m_hits == 0 && !m_missed && m_tokens.atEnd() && m_ids.atEnd() && m_times.atEnd();
    }
    [[nodiscard]] std::uint32_t nextId();
    void nextTime(StreamEvent& event);
    [[nodiscard]] ByteReader& ids() { return m_ids; }
    [[nodiscard]] bool ok() const { return m_ok && m_tokens.ok() && m_ids.ok() && m_times.ok(); }

  private:
    void nextToken();

    ByteReader m_tokens;
    ByteReader m_ids;
    ByteReader m_times;
    std::unique_ptr<Predictor> m_predictor;
    IdCodes m_codes;
    std::vector<std::uint8_t> m_lastCode; // by id
    std::uint64_t m_hits = 0;
    std::uint32_t m_misses = 0; // of the event behind the hits
    bool m_missed = false;      // there is such an event
    bool m_timeMissed = false;  // of the event in hand
    bool m_ok = true;
};

} // namespace stopline::trace
