// What the ranks of a job share while they look for races: vector timestamps. The timestamp of a message does
// not travel in it, since then its size, what a probe says of it and how its buffer is used would not be the
// program's any more, nor beside it as a message of its own, which would have to be matched as it was; the
// sender puts it into a queue of the pair of ranks, in memory that all of them have mapped, and the receiver
// takes it from there as MPI has matched the message: the first of its sender, communicator and tag that no
// receive has got. So all ranks must be on one host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stopline::preload {

/// A moment of one rank, as the analysis of a recording has it (replay/data_order.h): 4 * event at the end of
/// a call, + 2 inside the call that begins with the event, + 3 when a blocking receive has matched.
using Tick = std::uint32_t;
constexpr Tick tickOfStart(std::uint64_t begin) {
    return static_cast<Tick>(begin * 4 + 2);
}
constexpr Tick tickOfEnd(std::uint64_t end) {
    return static_cast<Tick>(end * 4);
}

/// When a receive was decided that nothing in the program waits for.
constexpr Tick kNever = ~Tick{0};

/// A message on its way. `state` and `key` are the receiver's.
struct MessageSlot {
    enum class State : std::uint32_t { Waiting = 0, Matched = 1, Complete = 2 };
    std::uint64_t comm;
    std::int32_t tag;
    State state;
    std::uint32_t key; ///< of the receive that got it
    Tick clock[1];     ///< as many as there are ranks: the sender's timestamp
};

/// What a rank had done when it came to a collective.
struct ArrivalSlot {
    std::uint64_t comm;
    std::uint64_t number; ///< of the collective on that communicator, from 0
    std::uint32_t gives;  ///< 1: the others get data from it
    Tick clock[1];
};

/// Where everything is. The memory starts zeroed; pages that are never touched cost nothing.
class SharedClocks {
  public:
    static constexpr std::uint32_t kMostRanks = 64;
    static constexpr std::uint32_t kArrivals = 1024;

    struct Header {
        std::atomic<std::uint64_t> token; ///< tells that it is the same memory
        std::atomic<std::uint32_t> limit; ///< trace::RaceLimit of the first rank that met one
    };
    struct alignas(64) Counter {
        std::atomic<std::uint64_t> value;
    };
    /// Messages of a sender to a receiver: those from head to tail are in slots number % capacity.
    struct Queue {
        Counter tail; ///< the sender's
        Counter head; ///< the receiver's
    };

    SharedClocks() = default;
    SharedClocks(std::byte* base, std::uint32_t ranks) : m_base(base), m_ranks(ranks) {
        constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
        m_capacity = 16384;
        while (m_capacity > 64 && m_capacity * messageBytes() * ranks * ranks > kMostBytes) {
            m_capacity /= 2;
        }
    }
    [[nodiscard]] std::uint64_t bytes() const {
        return kHeaderBytes + m_ranks * (rankBytes() + m_ranks * queueBytes());
    }
    [[nodiscard]] std::uint64_t capacity() const { return m_capacity; }

    [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(m_base); }
    /// A rank's timestamp: its own to change, everybody's to read.
    [[nodiscard]] std::atomic<Tick>* clock(std::uint32_t owner) const {
        return reinterpret_cast<std::atomic<Tick>*>(ofRank(owner));
    }
    [[nodiscard]] Counter& arrivalCount(std::uint32_t owner) const {
        return *reinterpret_cast<Counter*>(ofRank(owner) + kMostRanks * sizeof(Tick));
    }
    [[nodiscard]] ArrivalSlot& arrival(std::uint32_t owner, std::uint64_t number) const {
        return *reinterpret_cast<ArrivalSlot*>(ofRank(owner) + kMostRanks * sizeof(Tick) + sizeof(Counter) +
                                               number % kArrivals * arrivalBytes());
    }
    [[nodiscard]] Queue& queue(std::uint32_t sender, std::uint32_t receiver) const {
        return *reinterpret_cast<Queue*>(m_base + kHeaderBytes + m_ranks * rankBytes() +
                                         (std::uint64_t{sender} * m_ranks + receiver) * queueBytes());
    }
    [[nodiscard]] MessageSlot& message(Queue& queue, std::uint64_t number) const {
        return *reinterpret_cast<MessageSlot*>(reinterpret_cast<std::byte*>(&queue) + sizeof(Queue) +
                                               number % m_capacity * messageBytes());
    }

  private:
    static constexpr std::uint64_t kHeaderBytes = 64;
    [[nodiscard]] static constexpr std::uint64_t whole(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }
    [[nodiscard]] std::uint64_t messageBytes() const {
        return (offsetof(MessageSlot, clock) + m_ranks * sizeof(Tick) + 7) / 8 * 8;
    }
    [[nodiscard]] std::uint64_t arrivalBytes() const {
        return (offsetof(ArrivalSlot, clock) + m_ranks * sizeof(Tick) + 7) / 8 * 8;
    }
    [[nodiscard]] std::uint64_t rankBytes() const {
        return whole(kMostRanks * sizeof(Tick) + sizeof(Counter) + kArrivals * arrivalBytes());
    }
    [[nodiscard]] std::uint64_t queueBytes() const {
        return whole(sizeof(Queue) + m_capacity * messageBytes());
    }
    [[nodiscard]] std::byte* ofRank(std::uint32_t owner) const {
        return m_base + kHeaderBytes + owner * rankBytes();
    }

    std::byte* m_base = nullptr;
    std::uint64_t m_ranks = 0;
    std::uint64_t m_capacity = 0;
};

} // namespace stopline::preload
