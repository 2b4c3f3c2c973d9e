// Ranks that wait for each other, so that none of them can go on.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stopline::replay {

/// What would let a rank go on that seems to wait.
struct WaitDoubts {
    /// Bytes of a send that MPI may yet take along without a receive (standard mode, and not large for every transport); 0: of
    /// none.
    std::uint64_t bufferedBytes = 0;
    bool emptyPiece = false; ///< a collective with a list of pieces, where MPI may let those go on who have none
    bool neighbours = false; ///< a collective of neighbours, and who they are is not recorded
    bool fence = false;      ///< a fence that nothing precedes (MPI_MODE_NOPRECEDE)
    bool opensEarly = false; ///< MPI_Win_start or _lock: may return before the other rank has done its part
    bool hasLock = false;    ///< what is done under a lock: its rank may have it, and not the one that is taken for its holder

    void add(const WaitDoubts& other);
};

/// A circle of ranks, each inside a call that cannot return before the next one has done something; the last
/// one waits for the first. A rank may wait for itself.
struct WaitCircle {
    struct Wait {
        CallRef call;
        RankId waitsFor;
        /// In order. More than one: any of them could help it, and none of them can, as it receives from any source, or waits for
        /// one of several requests.
        std::vector<RankId> choices;
        WaitDoubts doubts;
    };
    std::vector<Wait> waits;
};

/// "rank 0 waits in MPI_Send (x.c:12) for rank 1, which waits in MPI_Recv (x.c:14) for rank 0: a deadlock".
/// `where` names the line of a call; empty: it is not known.
[[nodiscard]] std::string circleText(const Timeline& timeline, const WaitCircle& circle,
                                     const std::function<std::string(CallRef)>& where);

} // namespace stopline::replay
