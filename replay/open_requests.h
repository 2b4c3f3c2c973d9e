// Requests that are still out at the end of a recording.
#pragma once

#include "timeline.h"

#include <vector>

namespace stopline::replay {

/// A request that a rank has made, or started again, and not had back: neither completed nor freed at the end
/// of the recording.
struct OpenRequest {
    CallRef madeBy;
    bool persistent =
        false; ///< started and not complete; whether one that is not on has been freed is not recorded
};
/// Of one rank, in the order of the calls that made them. Cost: one pass over its events.
[[nodiscard]] std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank);

} // namespace stopline::replay
