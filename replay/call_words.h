// Calls in words: session, summaries and exports say the same.
#pragma once

#include "../tracelib/event.h"

#include <QString>

namespace stopline::replay {

/// "MPI_Send to 3 tag 5 4 KiB": an event's details as one line.
[[nodiscard]] QString detailsText(const trace::EventDetails& details);
[[nodiscard]] QString functionText(trace::FunctionId function);

} // namespace stopline::replay
