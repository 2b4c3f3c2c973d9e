// Taking another message first: an execution that is the recorded one but for what one race gets.
#pragma once

#include "races.h"

#include <cstdint>
#include <string>
#include <vector>

namespace stopline::replay {

/// A receive or probe of any source that is to get another message than it did. What does not depend on what it got is
/// to be as recorded, and forced by the order log; from there on the ranks run live: a frontier race is exactly that the
/// other message can come while all of that is the same (Netzer & Miller 1992, definition 3.1).
struct Choice {
    Race race;
    RankId sender{-1};            ///< of the message that it is to get
    std::uint64_t source = 0;     ///< the same, as a rank in the communicator
    std::int32_t tag = 0;         ///< of that message
    EventIndex sendBegin{0};      ///< of its send; behind `upTo` where only MPI's own waiting keeps it back until then
    std::vector<EventIndex> upTo; ///< by rank: the last event that is to be as recorded
};

/// The choice of one of the alternatives of a race. `why` gets the reason where it cannot be made; the choice is then of
/// no use (`upTo` is empty).
[[nodiscard]] Choice choiceOf(const Timeline& timeline, const Race& race, const Alternative& alternative, std::string& why);

} // namespace stopline::replay
