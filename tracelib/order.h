// The order log of one rank: what MPI decided in an execution that is to be the same in the next one. It is made from
// the recording (replay/order_log.h), handed to the rank of a re-execution, and read there call by call (Netzer & Miller
// 1992 and Meehan 1994 replay by it; matches and deliveries are kept apart as in DESIGN section 1).
//
// Entries stand in the order of event numbers, one for each call whose outcome is not decided by the program alone:
//   varint  number of the begin of the call (Awaited: of an end), less that of the entry before
//   byte    OrderKind
//   then, by kind, varints as said there.
#pragma once

#include "byte_reader.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::trace {

enum class OrderKind : std::uint8_t {
    None = 0, ///< no entry; never written
    /// Of a receive from any source, posted or blocking, or a probe: the source, a rank in the communicator.
    Source = 1,
    /// Of a receive or send that was cancelled: no message may come of it.
    Withheld = 2,
    /// Of a Cancel that came too late: nothing is to be cancelled.
    Kept = 3,
    /// Of a Start or Startall: n, then n pairs of a position in the list and the source, plus one, that the receive got;
    /// 0: it was cancelled.
    Starts = 4,
    /// Of a Waitany or Waitsome: n, then the n positions that were complete, in their order. Of a Waitall that failed as some
    /// of its requests did: those that were complete; the others went on.
    Completed = 5,
    /// Of a poll: how often it failed, then PollOutcome, and what that says.
    Poll = 6,
    /// Of a call that sends, receives or probes for a marked message: MarkedWay bits of those that are marked, then the
    /// source, plus one, that it receives from; 0: from where the call says.
    Marked = 7,
    /// Of MPI_Init or a constructor: the communicator that it makes gets a twin, on which marked messages travel.
    Twin = 8,
    /// Of no call, and the first of a log: n, then n bytes for a ControlReader.
    Controls = 9,
    /// Behind this event, an end: a request is waited for. Its number among those that the rank has made, from 1.
    Awaited = 10,
};

/// Which messages of a call are marked.
enum MarkedWay : std::uint8_t {
    kSendsMarked = 1,
    kGetsMarked = 2, ///< what it receives, or sees by a probe
};

/// How a poll ended.
enum class PollOutcome : std::uint8_t {
    Broken = 0,    ///< another call began
    Real = 1,      ///< it was the answer in the end, and MPI's own cannot be another: nothing was to be waited for, or it failed
    Source = 2,    ///< of a probe: the source
    Completed = 3, ///< of Testany or Testsome, and of a Testall that failed: n, then n positions
    All = 4,       ///< Test, Testall, Request_get_status: all is complete; of a probe: MPI finds a message
    Open = 5,      ///< it had not ended when the recording did
    Marked = 6,    ///< of a probe: the source of a marked message
};

/// Reads a log from memory that stays. Damaged logs end early; nothing beyond `size` is touched. Allocates nothing.
class OrderReader {
  public:
    OrderReader() = default;
    OrderReader(const std::byte* bytes, std::size_t size) : m_in({bytes, size}) { next(); }

    /// The event that the entry is of; the largest number when there is none any more.
    [[nodiscard]] std::uint64_t event() const { return m_event; }
    [[nodiscard]] OrderKind kind() const { return m_kind; }
    /// The next number of the entry, 0 behind its end.
    std::uint64_t number() { return m_in.varint(); }
    /// The bytes of an entry of kind Controls, none of whose numbers has been read; fewer where the log is damaged.
    [[nodiscard]] std::span<const std::byte> controls() {
        const std::uint64_t size = number();
        const auto rest = m_in.rest();
        return m_in.ok() ? rest.first(size < rest.size() ? std::size_t(size) : rest.size()) : std::span<const std::byte>();
    }
    /// Goes on to the next entry from the start of this one: none of its numbers has been read.
    void skip() {
        switch (m_kind) {
        case OrderKind::Source:
        case OrderKind::Awaited:
            number();
            break;
        case OrderKind::Starts:
            numbers(2);
            break;
        case OrderKind::Controls:
            m_in.skip(std::size_t(number()));
            break;
        case OrderKind::Marked:
            number();
            number();
            break;
        case OrderKind::Completed:
            numbers(1);
            break;
        case OrderKind::Poll:
            number();
            switch (static_cast<PollOutcome>(number())) {
            case PollOutcome::Source:
            case PollOutcome::Marked:
                number();
                break;
            case PollOutcome::Completed:
                numbers(1);
                break;
            default:
                break;
            }
            break;
        default:
            break;
        }
        next();
    }

  private:
    void numbers(std::uint64_t each) {
        for (std::uint64_t left = number(); left > 0 && m_in.ok(); --left) {
            for (std::uint64_t i = 0; i < each; ++i) {
                number();
            }
        }
    }
    void next() {
        if (!m_in.ok() || m_in.atEnd()) {
            m_event = kNoEvent;
            m_kind = OrderKind::None;
            return;
        }
        const std::uint64_t step = number();
        m_event = step > kNoEvent - m_event ? kNoEvent : m_event + step;
        m_kind = static_cast<OrderKind>(m_in.byte());
        if (!m_in.ok()) {
            m_event = kNoEvent;
            m_kind = OrderKind::None;
        }
    }

    static constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

    ByteReader m_in{std::span<const std::byte>()};
    std::uint64_t m_event = 0; ///< of a reader without a log: events start at 1
    OrderKind m_kind = OrderKind::None;
};

/// Reads the control messages of a rank (Netzer & Miller 1992, section 4.2), in the order of its events:
///   varint  number of the event, less that of the entry before: the end of a call, behind which one is sent, or the begin
///           of a call, before which one is received
///   varint  2 * the other rank in MPI_COMM_WORLD, + 1 where it is received
/// Damaged logs end early; nothing beyond them is touched. Allocates nothing.
class ControlReader {
  public:
    ControlReader() = default;
    explicit ControlReader(std::span<const std::byte> bytes) : m_in(bytes) { next(); }

    /// The largest number when there is none any more.
    [[nodiscard]] std::uint64_t event() const { return m_event; }
    [[nodiscard]] bool isReceived() const { return (m_what & 1U) != 0; }
    [[nodiscard]] std::uint64_t peer() const { return m_what >> 1U; }
    void next() {
        const bool some = !m_in.atEnd();
        m_event += m_in.varint();
        m_what = m_in.varint();
        if (!some || !m_in.ok()) {
            m_event = kNoEvent;
            m_what = 0;
        }
    }

  private:
    static constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};
    ByteReader m_in{std::span<const std::byte>()};
    std::uint64_t m_event = 0;
    std::uint64_t m_what = 0;
};

} // namespace stopline::trace
