// Control messages of a re-execution, which bound what MPI must buffer of its marked messages: the second half
// of the replay that Netzer and Miller (1992, section 4.2) describe. A message that raced is sent only when
// what its receiver had received before it was sent is received again. From a rank that has received it a
// control message, without content, goes to the rank that is to send the other one.
//
// Nothing but memory depends on them. So a sender that waits for one goes on when it does not come for a while,
// as where the user has stopped the one that would send it, and does not wait for that rank again before it has
// caught up.
#pragma once

#include "pool.h"
#include "real.h"

#include "../order.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::preload {

/// One instance, in static memory, without constructor. Not thread-safe, as the replay is not (forced.h).
class ControlMessages {
  public:
    /// Follows the log in `bytes`, which stay.
    void follow(std::span<const std::byte> bytes);
    /// After MPI_Init, collective over MPI_COMM_WORLD, of which `world` is a copy.
    void begin(MPI_Comm world);
    /// Before MPI_Finalize.
    void end();
    /// This event has such messages, or the program has passed one. As cheap as it can be: every event asks.
    [[nodiscard]] bool concerns(std::uint64_t event) const { return event >= m_next; }
    /// Sends those that are to go, and receives those that are to come, at an event that concerns() has named.
    void exchange(std::uint64_t event);

  private:
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};
    struct Peer {
        std::uint32_t wanted;  ///< control messages from it that should have been received by now
        std::uint32_t got;     ///< and those that have been
        bool late;             ///< one did not come in time: nothing of it is waited for until all have
    };
    void send(int peer);
    void await(int peer);
    /// Takes what has come from a rank.
    void take(int peer);

    std::uint64_t m_next = kNever;
    trace::ControlReader m_log;
    MPI_Comm m_comm{};
    bool m_wanted = false; ///< some rank has control messages
    int m_size = 0;        ///< of m_comm; 0: there is none
    Pool<Peer, 16> m_peers;
};
extern ControlMessages controlMessages;

} // namespace stopline::preload
