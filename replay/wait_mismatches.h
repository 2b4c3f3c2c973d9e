// Collectives of one communicator that do not fit together.
#pragma once

#include "timeline.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stopline::replay {

/// Members of one communicator wait in collectives that do not fit together: other functions, or other roots, in the same place.
struct WaitMismatch {
    struct Part {
        CallRef call; ///< of the first of the ranks
        std::optional<RankId> root; ///< world rank, where roots differ
        std::vector<RankId> ranks;
    };
    std::vector<Part> parts; ///< by first rank; at least two
};

/// Of the collectives that some rank is inside of now.
[[nodiscard]] std::vector<WaitMismatch> waitMismatches(const Timeline& timeline);

/// "rank 0 calls MPI_Bcast (x.c:12) where ranks 1-3 call MPI_Barrier (x.c:14), on the same communicator: these do not fit
/// together". `where` as for circleText().
[[nodiscard]] std::string mismatchText(const Timeline& timeline, const WaitMismatch& mismatch,
                                       const std::function<std::string(CallRef)>& where);

} // namespace stopline::replay
