// What the program took from outside of MPI: times and random bytes, in the order in which it asked. The library writes
// one such log as it goes and, in a re-execution, gives back what is in another one, as long as the program asks for the
// same at the same place. Between them stands what it sent, as hashes, where that is to be compared, which receives raced,
// where that is to be found while the program runs, and now and then where its memory is (preload/heap.h).
//
// An item: byte, the kind in its low four bits and kValueHigh, and kValueMoved; with that a varint, how many events have been recorded since
// the item before; a signed varint, the value less the last one of its kind; of ValueKind::Random so many bytes, if the
// value is positive. Of kinds that are not given the value stands as it is, in eight bytes, the lowest first: logs of
// executions that differ in them alone are of one length.
#pragma once

#include "byte_reader.h"

#include <cstddef>
#include <cstdint>

namespace stopline::trace {

enum class ValueKind : std::uint8_t {
    Wtime = 0,  ///< MPI_Wtime: the bits of the double as an integer
    Clock = 1,  ///< clock_gettime of clock 0, ns; the clocks up to 7 follow
    Time = 9,   ///< time, s
    Day = 10,   ///< gettimeofday, us
    Random = 11, ///< getrandom and what is like it, /dev/urandom: what it returned, then the bytes
    Processor = 12, ///< clock
    /// Nothing that the program took: a receive or probe of any source raced (see racedValue()).
    Raced = 13,
    /// The same, at the start and at the end: how the search for races ended (see racesEndValue()). The last one counts.
    RacesEnd = 14,
    None = 15,
    Sent = 16, ///< no value that is given: hash of all that the rank has sent so far
    Pid = 17,  ///< getpid
    /// As Raced: it did not, but only as an older receive was open that would have taken what else it could have got.
    Guarded = 18,
    // No values that are given: where memory is (preload/heap.h). At one event they stand in this order.
    Base = 19,   ///< where the library has been loaded: elsewhere in each execution, if the system chooses addresses
    Heap = 20,   ///< hash of what malloc tells of the state of its heap, wherever that is
    Buffer = 21, ///< where a buffer of the call lies that is neither on the stack nor static
};
/// Kinds whose value is written as it is.
[[nodiscard]] constexpr bool isWrittenWhole(ValueKind kind) {
    return kind == ValueKind::Base || kind == ValueKind::Heap || kind == ValueKind::Buffer;
}
inline constexpr std::uint8_t kValueMoved = 0x10;
inline constexpr std::uint8_t kValueHigh = 0x20; ///< the kind is 16 more than its four bits say
inline constexpr std::size_t kValueKinds = 32;
inline constexpr std::int64_t kMaxRandomBytes = 1 << 16; ///< longer requests are passed by, and end the log

/// Virtual size that the library maps for the log that it writes; behind that it writes none.
inline constexpr std::size_t kValueBytes = std::size_t{64} << 20;
inline constexpr std::size_t kInitialValueBytes = std::size_t{64} << 10;
inline constexpr std::size_t kValueGrowBytes = std::size_t{1} << 20;

/// Of Raced: the begin of the call that posted the receive or probed, and which of the requests it started.
inline constexpr unsigned kRacedPositionBits = 12;
[[nodiscard]] constexpr std::int64_t racedValue(std::uint64_t event, std::uint32_t position) {
    return static_cast<std::int64_t>(event << kRacedPositionBits | position);
}

/// Why a rank could not find the races while it ran. What any rank of a job could not makes the findings of all worth
/// nothing.
enum class RaceLimit : std::uint8_t {
    None = 0,
    Hosts,       ///< ranks on several hosts, or in different containers
    Ranks,       ///< too many ranks
    Threads,     ///< several threads call MPI
    OneSided,    ///< one-sided communication
    Processes,   ///< messages to another job
    Failed,      ///< a call failed
    Cancelled,   ///< a send was cancelled
    Functions,   ///< partitioned messages, persistent collectives, Isendrecv
    Waiting,     ///< more messages wait to be received than there is room for
    Collectives, ///< ranks are too far apart in collectives
    Untold,      ///< which message a receive got could not be told
    Memory,      ///< no memory, or too many requests in one call
    Unfinished,  ///< it has not come to the end of MPI_Finalize: noted at the start, and no more where it has
};
/// Of RacesEnd: the limit that was met, and how many messages the rank has received that Netzer and Miller's algorithm
/// traces.
[[nodiscard]] constexpr std::int64_t racesEndValue(RaceLimit limit, std::uint64_t traced) {
    return static_cast<std::int64_t>(traced << 4U | static_cast<std::uint64_t>(limit));
}

/// Reads a log from memory that stays. Damaged logs end early. Allocates nothing.
class ValueReader {
  public:
    ValueReader() = default;
    ValueReader(const std::byte* bytes, std::size_t size) : m_in({bytes, size}) { next(); }

    [[nodiscard]] ValueKind kind() const { return m_kind; } ///< None: there is no item any more
    [[nodiscard]] std::uint64_t event() const { return m_event; } ///< last one recorded before it
    [[nodiscard]] std::int64_t value() const { return m_value; }
    [[nodiscard]] const std::byte* bytes() const { return m_bytes; } ///< of Random

    void next() {
        m_kind = ValueKind::None;
        if (!m_in.ok() || m_in.atEnd()) {
            return;
        }
        const std::uint8_t head = m_in.byte();
        const std::uint64_t moved = (head & kValueMoved) != 0 ? m_in.varint() : 0;
        const unsigned kind = (head & 0xfU) + ((head & kValueHigh) != 0 ? 16U : 0U);
        const std::uint64_t from = isWrittenWhole(static_cast<ValueKind>(kind)) ? 0 : static_cast<std::uint64_t>(m_last[kind]);
        const auto value = static_cast<std::int64_t>(from + step(static_cast<ValueKind>(kind)));
        if (static_cast<ValueKind>(kind) == ValueKind::Random && value > 0) {
            if (value > kMaxRandomBytes) {
                m_in.fail();
            }
            m_bytes = m_in.rest().data();
            m_in.skip(static_cast<std::size_t>(value));
        }
        if (!m_in.ok()) {
            return;
        }
        m_event += moved;
        m_last[kind] = value;
        m_value = value;
        m_kind = static_cast<ValueKind>(kind);
    }

  private:
    std::uint64_t step(ValueKind kind) {
        if (!isWrittenWhole(kind)) {
            return static_cast<std::uint64_t>(m_in.signedVarint());
        }
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 8) {
            value |= std::uint64_t{m_in.byte()} << shift;
        }
        return value;
    }

    ByteReader m_in{std::span<const std::byte>()};
    const std::byte* m_bytes = nullptr;
    ValueKind m_kind = ValueKind::None;
    std::uint64_t m_event = 0;
    std::int64_t m_value = 0;
    std::int64_t m_last[kValueKinds] = {};
};

/// Appends items to a buffer.
class ValueWriter {
  public:
    /// Most bytes of an item without those of Random.
    static constexpr std::size_t kItemBytes = 21;

    /// Writes an item behind `out`, which has room for it; returns its bytes.
    std::size_t put(std::byte* out, ValueKind kind, std::uint64_t event, std::int64_t value, const std::byte* random) {
        ByteWriter writer(out, kItemBytes);
        const bool moved = event != m_event;
        const auto number = static_cast<std::uint8_t>(kind);
        writer.byte(static_cast<std::uint8_t>((number & 0xfU) | (number > 15 ? kValueHigh : 0) | (moved ? kValueMoved : 0)));
        if (moved) {
            writer.varint(event - m_event);
            m_event = event;
        }
        if (isWrittenWhole(kind)) {
            for (unsigned shift = 0; shift < 64; shift += 8) {
                writer.byte(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> shift));
            }
            return writer.used();
        }
        std::int64_t& last = m_last[static_cast<std::uint8_t>(kind)];
        writer.signedVarint(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(last)));
        last = value;
        std::size_t used = writer.used();
        if (kind == ValueKind::Random && value > 0) {
            std::memcpy(out + used, random, static_cast<std::size_t>(value));
            used += static_cast<std::size_t>(value);
        }
        return used;
    }

  private:
    std::uint64_t m_event = 0;
    std::int64_t m_last[kValueKinds] = {};
};

} // namespace stopline::trace
