// A recording as JSON of Chrome's trace event format, for Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include "loaded_recording.h"

#include <QIODevice>
#include <QString>

namespace stopline::replay {

/// Processes are ranks, threads are their threads, slices are calls with what they were given and where they
/// stand, flow arrows go from the call that sends a message to the one at whose end it was received. Times
/// are microseconds since the earliest begin. A call without end is a slice to the end of the recording,
/// marked "unfinished". Empty, or what went wrong with writing.
[[nodiscard]] QString exportChrome(const LoadedRecording& loaded, QIODevice& out);

} // namespace stopline::replay
