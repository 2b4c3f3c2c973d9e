// Places, points, cuts: where ranks are and where they are to be. See DESIGN section 1 and 6 for the words.
#pragma once

#include "../tracelib/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace stopline::replay {

/// A call of one rank, numbered from 0 in the order of its begin events.
using CallIndex = Strong<struct CallIndexTag, std::uint32_t>;
struct CallRef {
    RankId rank;
    CallIndex call;
    friend auto operator<=>(const CallRef&, const CallRef&) = default;
};

/// Where a rank is: it has recorded `event` and nothing later.
/// If `event` is a begin: *before* that call, or *inside* it when `inside` (entered, not returned).
/// If `event` is an end: *after* that call. Event 0: before MPI_Init, or not started.
struct Place {
    EventIndex event{0};
    bool inside = false;
    friend bool operator==(const Place&, const Place&) = default;
    /// Order of execution: before k < inside k < after k < before k+1.
    friend std::strong_ordering operator<=>(const Place& a, const Place& b) {
        if (auto c = a.event <=> b.event; c != 0) {
            return c;
        }
        return a.inside <=> b.inside;
    }
};

/// A place for every rank, by rank.
using Cut = std::vector<Place>;

/// What the user picked: a call, plus before or after it ("concurrency point" of p2d2).
struct Point {
    CallRef call;
    bool after = false;
    friend bool operator==(const Point&, const Point&) = default;
};

/// Why a rank of a line cannot stop in user code: it stays inside a call.
struct Obstacle {
    RankId rank;
    CallRef call;       ///< the call it stays inside
    CallRef waitsFor;   ///< the call of another rank that would have to happen; call.rank of itself if unknown
    std::string reason; ///< one sentence for the user, naming ranks, functions and event numbers
};

/// A line through the diagram: one place a rank, closed (DESIGN section 6).
struct Line {
    Cut cut;
    std::vector<Obstacle> obstacles; ///< one for each rank whose place is inside a call
};

} // namespace stopline::replay
