// Ranks that wait for each other, so that none of them can go on.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stopline::replay {

/// A circle of ranks, each inside a call that cannot return before the next one has done something; the last
/// one waits for the first. A rank may wait for itself.
struct WaitCircle {
    struct Wait {
        CallRef call;
        RankId waitsFor;
        /// Any of several ranks could help it, and none of them can: it receives from any source, or waits
        /// for one of several requests.
        bool anyOf = false;
        /// Bytes of a send that MPI may yet take along without a receive (standard mode, and not large for
        /// every transport); 0: of none.
        std::uint64_t maybeBuffered = 0;
        bool maybeEmpty = false; ///< a collective with a list of pieces, where MPI may let those go on who have none
    };
    std::vector<Wait> waits;
};

/// "rank 0 waits in MPI_Send (x.c:12) for rank 1, which waits in MPI_Recv (x.c:14) for rank 0: a deadlock".
/// `where` names the line of a call; empty: it is not known.
[[nodiscard]] std::string circleText(const Timeline& timeline, const WaitCircle& circle,
                                     const std::function<std::string(CallRef)>& where);

} // namespace stopline::replay
