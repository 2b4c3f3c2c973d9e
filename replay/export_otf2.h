// A recording as an OTF2 archive, for Vampir, Scalasca, Score-P's tools and otf2-print.
#pragma once

#include "loaded_recording.h"

#include <QString>

namespace stopline::replay {

/// False in a build without libopen-trace-format2: exportOtf2() then says what to do about it.
[[nodiscard]] bool hasOtf2();

/// Makes the directory `directory`, which must not exist, with the archive "traces" in it. Regions are MPI
/// functions, location groups are ranks, locations their threads; messages, requests and blocking collectives
/// are records of their own, call sites attributes of Enter. Times are nanoseconds since the earliest begin;
/// calls without end are left at the end of the recording. Calls on windows and files, non-blocking
/// collectives and calls on communicators with other jobs are regions only. Empty, or what went wrong.
[[nodiscard]] QString exportOtf2(const LoadedRecording& loaded, const QString& directory);

} // namespace stopline::replay
