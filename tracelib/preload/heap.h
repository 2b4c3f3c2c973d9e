// Where the program's memory is, put into the log of values now and then: what MPI allocates for itself is
// not the same in each execution, so neither is what malloc gives the program behind MPI_Init. Whoever
// compares the log of a re-execution with the recorded one can tell whether a pointer may decide where the
// two part.
#pragma once

#include <atomic>
#include <cstdint>

namespace stopline::preload {

/// One instance, in static memory, without constructor. Of the thread that called MPI first, until another one
/// calls MPI: events are not the same each time then.
class Heap {
  public:
    /// From MPI_Init on; to be called where values are noted.
    void start() { m_next.store(kFirst, std::memory_order_relaxed); }
    /// It is to be looked at. As cheap as it can be: every event asks.
    [[nodiscard]] bool concerns(std::uint64_t event) const { return event >= m_next.load(std::memory_order_relaxed); }
    /// Notes the state of malloc's heap, where what is sent is hashed, at an event that concerns() has named, and has
    /// calls show their buffers (Sent::on) until one lies neither on the stack nor in a program or library. Changes
    /// nothing that malloc will do.
    void look(std::uint64_t event);
    /// A buffer of the call whose begin has just been recorded.
    void see(const void* buffer) {
        if (m_tries.load(std::memory_order_relaxed) != 0) {
            seeNow(buffer);
        }
    }

  private:
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};
    static constexpr std::uint64_t kFirst = 2; ///< the end of MPI_Init
    static constexpr std::uint64_t kShare = 8; ///< looked at again after so large a part of all events so far
    static constexpr unsigned kMostTries = 8;  ///< buffers that are looked at each time
    enum class Source : std::uint8_t { Unknown, Libc, Other };

    void seeNow(const void* buffer);
    void noteState();

    // Written by one thread, asked for by all.
    std::atomic<std::uint64_t> m_next{kNever};
    std::atomic<unsigned> m_tries{0};
    Source m_source = Source::Unknown; ///< whose malloc the program calls; Other: its state is not looked at
};
extern Heap heap;

} // namespace stopline::preload
