// Which messages are marked in a re-execution, and which receives of any source need no forcing then: the
// replay of R. Netzer and B. Miller (Supercomputing 1992, section 4.2), as the other one beside forcing all
// receives of any source to the source that they had. How marked messages travel, and why they need no
// numbers, tells preload/marked.h.
//
// Marked are the messages that MinimalTrace::traced names, as far as that can be done: the message is sent by
// a call of its own and received by one - not by persistent requests, MPI_Sendrecv_replace or MPI_Isendrecv
// -, without an error; on a communicator that all its members have made by a call, in one job; and its
// receive has been seen complete, since what is still under way at the end of the recording will be received
// by calls that no log knows. Probes that saw a marked message look for it where it travels.
//
// A receive (or probe) of any source whose own message is not marked is left as the program wrote it when no
// other message could be got by it, given that the receives posted before it are as recorded:
//  - no message that should be marked and cannot be is for the same receiver and communicator and has a tag
//  that fits it.
//    Then all messages that are not marked and fit it are such as no receive of any source but their own
//    could get: that is what `traced` is, with messages that are not marked keeping those behind them back,
//    and marked ones not;
//  - when it was decided follows from its own calls (the analysis also concludes it from what receives behind
//  it got, which
//    under MPI's order tells of those before; it does not where some of the messages go another way);
//  - and no other member will send more behind the recording's end that could come before the receive is
//  decided: each
//    has begun MPI_Finalize, or has the decision behind it at the last event that is known of it. Nothing decides a
//    receive whose request was freed while it was active: of that one all must have begun MPI_Finalize.
// Otherwise it gets its source, as in the other variant: from one source MPI's order gives it its own
// message.
//
// So the mixture is always a full order, nothing needs to be refused, and where it pays nothing there are no
// marks.
#pragma once

#include "order_controls.h"
#include "order_log.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace stopline::replay {

/// What marked messages ask of one call.
enum CallMarks : std::uint8_t {
    kCallSends = 1, ///< its message is marked
    kCallGets = 2,  ///< what it receives, posts a receive for, or sees by a probe is marked
    kCallOpen = 4,  ///< from any source, and left so
    kCallTwin = 8,  ///< the communicator that it makes carries marked messages
};

struct OrderMarks {
    std::uint64_t messages = 0; ///< sent in all (cancelled ones are not)
    std::uint64_t traced = 0;   ///< those that should be marked
    std::uint64_t marked = 0;
    std::uint64_t windows = 0; ///< receives and successful probes of any source that are decided
    std::uint64_t open = 0;    ///< those that are left to MPI
    std::vector<std::map<std::uint64_t, std::uint8_t>>
        ranks; ///< CallMarks by rank and begin of the call; empty: none at all

    /// What keeps the buffering of marked messages within bounds; empty where that is not asked for.
    std::vector<ControlMessage> controls;

    /// The receive or probe of any source that begins there is left to MPI.
    [[nodiscard]] bool leavesOpen(RankId rank, EventIndex begin) const;
    /// Turns what a rank is to do, receives by their sources, into what it is to do with these marks.
    void put(RankId rank, std::unordered_map<std::uint64_t, OrderEntry>& entries) const;
};

} // namespace stopline::replay
