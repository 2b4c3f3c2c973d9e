// Times and random bytes that the program asks for: noted, and given back in a re-execution.
#pragma once

#include "../mapping.h"
#include "../values.h"

#include <ctime>

namespace stopline::preload {

/// Finds the functions that are taken the place of. Calls before it go to the kernel.
void findClocks();
/// The system's clock, whatever the program is given.
int realClock(clockid_t clock, timespec* time);
/// Begins to note, and to give back, as the agent wants; `openFile(number)` opens a file of the agent.
void openValues(trace::MappingHeader& header, int (*openFile)(std::int32_t number, int flags));
/// Notes what the library has found out itself: ValueKind::Raced, Guarded, RacesEnd, Base, Heap and Buffer.
void noteFinding(trace::ValueKind kind, std::int64_t value);
/// Whether it can be noted.
bool findingsAreNoted();
/// MPI_Wtime: `now` is MPI's own.
double valueOfWtime(double (*now)());

} // namespace stopline::preload
