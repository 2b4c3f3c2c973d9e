// Calls that may end otherwise in another run, in words.
#pragma once

#include "timeline.h"

#include <QString>

#include <optional>

namespace stopline::replay {

/// "also without a race, 3 calls of MPI_Waitany and 1 of MPI_Test may come out otherwise in another run, by
/// what is complete or has come by then; a replay repeats what they came to": of one rank, or of all. Empty
/// where there are no such calls.
[[nodiscard]] QString chanceText(const Timeline& timeline, std::optional<RankId> rank = std::nullopt);

} // namespace stopline::replay
