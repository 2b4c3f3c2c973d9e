// How races, and executions that differ by them, are written, in the window and in batch output alike.
#pragma once

#include "../replay/session.h"

#include <QString>

namespace stopline::app {

/// "MPI_Recv"
[[nodiscard]] QString callName(const replay::Timeline& timeline, replay::CallRef call);
/// "[1] 5 MPI_Recv got rank 0's message of event 3, could have got 2 others"
[[nodiscard]] QString raceLine(const replay::Timeline& timeline, const replay::Race& race);
/// "got rank 0's message of event 3", "saw no message", "was cancelled"
[[nodiscard]] QString outcomeText(const replay::Timeline& timeline, const replay::Race& race);
/// "as it was first run"; "from 1: rank 1's MPI_Recv at event 5 takes rank 2's message"
[[nodiscard]] QString executionTitle(const replay::Session::Execution& execution);
/// "as it was first run, 120 events"; "from 1: rank 1's MPI_Recv at event 5 takes rank 2's message, 98 events"
[[nodiscard]] QString executionText(const replay::Session::Execution& execution);
/// "the same through event 12, then MPI_Send to 3 … there, MPI_Recv … here": there is the kept one, here the one on show.
[[nodiscard]] QString differenceText(const replay::Session::ExecutionDifference& difference);

} // namespace stopline::app
