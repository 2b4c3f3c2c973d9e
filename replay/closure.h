// Lines that ranks can really stand on: closing a cut downwards or upwards, and the two frontiers.
//
// A cut is closed when every call that has ended at it has what it needs to return (causality.h,
// Relation::Needed): closed cuts are a lattice, so that "the largest at or below" and "the smallest at or
// above" exist.
//  - Downwards a rank that cannot end a call stops before it.
//  - Upwards a rank whose start of a call is needed goes on to the end of that call, if the call can end;
//  else it
//    stays inside. A rank that was inside a call stays there until the call can end, then goes to its end.
//  - A fixed rank does not move. The ends that would need it to go on are then out of reach for everybody:
//  who has
//    to be in such a call stays inside. Upwards, a rank that the cut asks to be beyond such an end goes down
//    to inside.
//
// Inside a send counts as: the message may be on its way. Its receive may be complete, as an eager message
// leaves before the call returns, and a synchronous one is complete on the other side before it returns.
//
// Past frontier of a place p (p2d2 paper, section 3.4): of each other rank the last event that happened
// before p in the synchronising relation, a needed start rounded up to the end of its call, closed upwards,
// and nowhere later than the future frontier. Future frontier: each other rank before the first call whose
// end depends, in the synchronising relation, on the first start after p on p's rank; where nothing does,
// before the call it has entered and not left, else before MPI_Finalize (unless p needs it there), else after
// its last event; closed downwards, but not below what p's own place needs: there the rank stays inside.
#pragma once

#include "causality.h"

namespace stopline::replay {

/// Positions of a cut, made to fit the recording: missing ranks are not started, places beyond it are its
/// end, "inside" after an end is after it.
[[nodiscard]] Positions positionsOf(const TimelineData& data, const Cut& cut);
[[nodiscard]] Cut cutOf(const Positions& positions);
[[nodiscard]] Positions recordedEnd(const TimelineData& data);

[[nodiscard]] bool isClosed(const TimelineData& data, const Positions& cut);
[[nodiscard]] Positions closeDown(const TimelineData& data, Positions cut);
/// `fixed` is -1 for none.
[[nodiscard]] Positions closeUp(const TimelineData& data, const Positions& cut, std::int32_t fixed);
/// The place of `rank` alone is given.
[[nodiscard]] Positions pastFrontier(const TimelineData& data, std::int32_t rank, Position place);
[[nodiscard]] Positions futureFrontier(const TimelineData& data, std::int32_t rank, Position place);

} // namespace stopline::replay
