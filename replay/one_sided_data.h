// What the timeline stores of one-sided communication. Part of timeline_data.h.
#pragma once

#include "timeline.h"
#include "timeline_events.h"

#include <cstdint>

namespace stopline::replay {

/// A transfer, see Transfer. The calls of the target are those of the collectives or edges that are named.
struct TransferHalf {
    std::int32_t rank = 0;
    std::uint32_t call = kNone; ///< kNone: MPI has refused it
    std::int32_t target = 0;
    std::uint32_t window = kNone; ///< entry among the communicators
    std::uint32_t opened = kNone; ///< collective of the fence, or edge from Win_post
    std::uint32_t closed = kNone; ///< collective of the fence, or edge to Win_wait
    std::uint32_t local = kNone;
    std::uint32_t remote = kNone;
    Epoch epoch = Epoch::Fence;
};

/// The end of a call of one rank waits for the start of a call of another; kNone while the call has not come.
struct SyncEdge {
    std::int32_t fromRank = 0;
    std::int32_t toRank = 0;
    std::uint32_t from = kNone;
    std::uint32_t to = kNone;
    bool closes = false; ///< Win_complete to Win_wait; else Win_post to Win_start
};

/// From a call that asks for a lock to the one that gives it up.
struct LockSpan {
    std::uint32_t window = 0; ///< entry among the communicators
    std::int32_t target = -1; ///< -1: of all
    std::uint32_t lock = 0;
    std::uint32_t unlock = kNone;
    bool exclusive = false;
};

} // namespace stopline::replay
