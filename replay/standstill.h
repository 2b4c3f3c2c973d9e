// A rank of a re-execution that waits for what, in the recording, it got: whether that can still come, and if not, why.
#pragma once

#include "timeline.h"

#include <optional>
#include <string>
#include <vector>

namespace stopline::replay {

/// What a rank does at a moment of a re-execution. Its place is that of this execution; it may lie behind what is
/// recorded of it.
struct Doing {
    enum class What {
        Runs,   ///< the program's own code, or a call that is not recorded
        InCall, ///< inside the call that begins at its place
        Held,   ///< by the debugger, or not started yet: it goes on when the user says so
        Ended,  ///< its process has
        Departed, ///< from the recording, at its place
    };
    What what = What::Held;
    Place place;
};

struct Standstill {
    RankId rank;      ///< that waits
    EventIndex event; ///< begin of the call in which it does
    RankId last;      ///< whom it waits for in the end
    /// What it waits for cannot come as it did: `last` has departed or ended, or waits in turn for one of those that wait for
    /// it. Otherwise `last` only has not called MPI for a while, and may still do so.
    bool certain = false;
    /// For whom each of them waits, from `rank` to `last`, without a full stop: "rank 1 waits in 12 MPI_Recv for the
    /// message with tag 5 on MPI_COMM_WORLD that rank 2 sent at 41 MPI_Send in the recording; rank 2 has ended".
    std::string text;
};

/// Why `rank` stays inside its call, which has ended in the recording; nothing where it need not, or where it waits for a
/// rank that is held. `doing` holds an entry for each rank.
[[nodiscard]] std::optional<Standstill> standstillOf(const Timeline& timeline, const std::vector<Doing>& doing, RankId rank);

} // namespace stopline::replay
