// What the rank sends, as a running hash: put into the log of values now and then, and compared with the one in the log that
// a re-execution follows. Only the main thread's, in the order of its calls.
#pragma once

#include "dialect.h"
#include "pool.h"

#include "../functions.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stopline::preload {

struct Args;

/// One instance, in static memory, without constructor.
class Sent {
  public:
    static constexpr std::uint64_t kEvery = 4096; ///< messages between two marks in the log

    bool hashes = false; ///< what is sent is hashed; else only heap.h looks at buffers, for a while

    /// Asked for by every call that has a buffer, of any thread; all else only where it is on.
    [[nodiscard]] bool on() const { return m_on.load(std::memory_order_relaxed); }
    void setOn(bool on) { m_on.store(on, std::memory_order_relaxed); }

    /// A message that is about to be sent, its begin recorded.
    void add(const void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Comm comm);
    /// What the rank contributes to a collective, if that is one piece of memory.
    void contribute(trace::FunctionId function, const Args& a);
    /// A persistent send, by the serial of its request; its messages are sent by start().
    void remember(std::uint32_t serial, const Args& a);
    void start(std::uint32_t serial);
    void forget(std::uint32_t serial);
    /// Compares all that has been sent with the log that is followed, where that has a hash of it.
    void compare() const;
    /// Puts the hash into the log as it is now.
    void mark();

  private:
    struct Persistent {
        std::uint32_t serial;
        const void* buffer;
        std::int64_t count;
        MPI_Datatype datatype; ///< ours: the user may free his
        MPI_Comm comm;
    };
    Persistent* find(std::uint32_t serial);
    void hashPacked(const void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Comm comm);
    void publish();

    std::atomic<bool> m_on{false};
    std::uint64_t m_hash = 0;
    std::uint64_t m_count = 0;
    std::size_t m_persistents = 0;
    Pool<Persistent, 16> m_persistent;
    Pool<std::byte, 4096> m_packed;
};
extern Sent sent;

} // namespace stopline::preload
