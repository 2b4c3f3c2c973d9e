// How the events of a block are written: what a repeating program does again takes next to nothing, neither
// time nor bytes. Writing side and what both sides share; reading side in unpacker.h.
//
// Which details come next is predicted from the last few. An event as predicted, its time code equal to the
// last one of the same details in this block, is a hit. A block holds three streams, deflated one behind the
// other:
//   tokens: varint of hits * 4 + what the event behind them missed (kMissedId, kMissedTime), 0 at a block's
//   end ids:    varint for the id of each event that missed it (see IdCodes; 0: serialised details follow);
//   after
//           every end of a poll, hit or not, varint number of failures
//   times:  time code, or kExactTime and a varint, of each event that missed it
#pragma once

#include "codec.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stopline::trace {

inline constexpr std::uint32_t kMissedId = 1;
inline constexpr std::uint32_t kMissedTime = 2;

/// Guesses the next id from the last eight or so: fewer would not tell the turns of most loops apart. Starts
/// anew with each block, so that a block can be read alone.
class Predictor {
  public:
    /// 0 when there is no guess. Ids above kMaxId are never guessed.
    [[nodiscard]] std::uint32_t guess() const { return m_next[m_context]; }
    void learn(std::uint32_t id) {
        m_next[m_context] = static_cast<std::uint16_t>(id <= kMaxId ? id : 0);
        // Each id is shifted out after eight others.
        m_history = (m_history << 4) + id * 0x9e3779b1U;
        m_context = m_history * 0x85ebca6bU >> (32 - kBits);
    }
    void reset() { std::memset(static_cast<void*>(this), 0, sizeof *this); }

  private:
    /// So many that the few hundred contexts of a long loop seldom meet.
    static constexpr unsigned kBits = 14;
    static constexpr std::uint32_t kMaxId = 0xffff;
    std::uint16_t m_next[1U << kBits];
    std::uint32_t m_context;
    std::uint32_t m_history;
};

/// How the ids that were not guessed are written, so that those of a loop, or of new details, are alike: ids
/// are given in the order in which details are met first. 0 stays 0.
class IdCodes {
  public:
    [[nodiscard]] std::uint32_t codeOf(std::uint32_t id) {
        const std::uint32_t code = id == 0               ? 0
                                   : id == m_highest + 1 ? kNew
                                   : id == m_last + 1    ? kNext
                                                         : id + kOthers;
        note(id);
        return code;
    }
    /// The id that was written as `code`.
    [[nodiscard]] std::uint32_t idOf(std::uint32_t code) {
        const std::uint32_t id = code == 0       ? 0
                                 : code == kNew  ? m_highest + 1
                                 : code == kNext ? m_last + 1
                                                 : code - kOthers;
        note(id);
        return id;
    }
    void reset() { m_highest = m_last = 0; }

  private:
    static constexpr std::uint32_t kNew = 1;  ///< behind the highest of the block
    static constexpr std::uint32_t kNext = 2; ///< behind the last that was written
    static constexpr std::uint32_t kOthers = 2;
    void note(std::uint32_t id) {
        if (id != 0) {
            m_last = id;
            m_highest = id > m_highest ? id : m_highest;
        }
    }
    std::uint32_t m_highest = 0;
    std::uint32_t m_last = 0;
};

/// The streams of the block in hand. In zeroed memory; no stream needs a check: a block holds no more than
/// its events take in staging (a code of an id may be a byte longer than the id; its time there is one at
/// least).
class Packer {
  public:
    void reset() {
        m_predictor.reset();
        m_codes.reset();
        m_hits = m_tokenBytes = m_idBytes = m_timeBytes = 0;
    }
    /// Adds an event. `details` are the `size` bytes for id 0; `time` its `timeSize` bytes, none for a hit.
    void add(std::uint32_t id, const std::byte* details, std::size_t size, const std::byte* time,
             std::uint32_t timeSize) {
        const bool guessed = id != 0 && m_predictor.guess() == id;
        m_predictor.learn(id);
        if (guessed && timeSize == 0) [[likely]] {
            ++m_hits;
            return;
        }
        put(m_tokens, m_tokenBytes,
            std::uint64_t{m_hits} * 4 + (guessed ? 0U : kMissedId) + (timeSize == 0 ? 0U : kMissedTime));
        m_hits = 0;
        if (!guessed) {
            put(m_ids, m_idBytes, m_codes.codeOf(id));
            if (id == 0) {
                std::memcpy(m_ids + m_idBytes, details, size);
                m_idBytes += static_cast<std::uint32_t>(size);
            }
        }
        for (std::uint32_t i = 0; i < timeSize; ++i) {
            m_times[m_timeBytes++] = time[i];
        }
    }
    void addFailures(std::uint64_t failures) { put(m_ids, m_idBytes, failures); }
    /// To be called once before the streams are read.
    void finish() {
        if (m_hits != 0) {
            put(m_tokens, m_tokenBytes, std::uint64_t{m_hits} * 4);
            m_hits = 0;
        }
    }
    [[nodiscard]] const std::byte* tokens() const { return m_tokens; }
    [[nodiscard]] const std::byte* ids() const { return m_ids; }
    [[nodiscard]] const std::byte* times() const { return m_times; }
    [[nodiscard]] std::uint32_t tokenBytes() const { return m_tokenBytes; }
    [[nodiscard]] std::uint32_t idBytes() const { return m_idBytes; }
    [[nodiscard]] std::uint32_t timeBytes() const { return m_timeBytes; }

  private:
    static void put(std::byte* stream, std::uint32_t& used, std::uint64_t value) {
        ByteWriter out(stream + used, 10);
        out.varint(value);
        used += static_cast<std::uint32_t>(out.used());
    }

    Predictor m_predictor;
    IdCodes m_codes;
    std::uint32_t m_hits;
    std::uint32_t m_tokenBytes;
    std::uint32_t m_idBytes;
    std::uint32_t m_timeBytes;
    std::byte m_tokens[kStagingBytes]; // a token of one byte an event, longer ones stand for many events
    std::byte m_ids[kStagingBytes];
    std::byte m_times[kStagingBytes];
};

/// Most bytes of the three streams together that a reader accepts.
inline constexpr std::size_t kMaxPackedBytes = 3 * kStagingBytes;

} // namespace stopline::trace
