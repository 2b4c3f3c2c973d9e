// Why a rank cannot leave the call it is in, in words.
#pragma once

#include "causality.h"

#include <optional>
#include <string>

namespace stopline::replay {

/// What keeps `call` from returning while the ranks stand at `positions`; nothing when it can return, or when
/// the recording does not tell. A call that has ended in the recording waits for what it then got; one that
/// has not, for what its arguments ask: for all requests of a Wait or Waitall, for one of those of a Waitany
/// or Waitsome. A poll counts as the wait that the user's loop around it makes of it.
[[nodiscard]] std::optional<Obstacle> whyBlocked(const TimelineData& data, CallRef call,
                                                 const Positions& positions);

/// The obstacles of a line: one for each rank inside a call.
[[nodiscard]] std::vector<Obstacle> obstaclesOf(const TimelineData& data, const Positions& positions);

/// "12 MPI_Send".
[[nodiscard]] std::string describeEvent(const TimelineData& data, std::int32_t rank, std::uint64_t event);

} // namespace stopline::replay
