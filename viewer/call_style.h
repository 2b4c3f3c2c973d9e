// How calls are classed for the eye: colour class and severity. Pure, no Qt.
#pragma once

#include "../tracelib/event.h"

#include <cstdint>

namespace stopline::viewer {

/// The colour classes of the palette.
enum class CallStyle : std::uint8_t {
    Compute, ///< outside MPI
    Send,
    Receive,
    Wait,
    Collective,
    Management, ///< communicators, and what is not point-to-point or collective
    Error,
    Other,
    Count
};

/// What wins where several calls share a pixel: the greater value.
enum class Severity : std::uint8_t {
    Compute,
    PointToPoint,
    Collective,
    Wait,
    Wildcard,
    Stop,
    Unmatched,
    Error
};

[[nodiscard]] CallStyle styleOf(trace::CallClass c);
/// Severity of a call from what its begin says. Errors are known at its end, unmatched ones to the timeline
/// only.
[[nodiscard]] Severity severityOf(const trace::EventDetails& begin);
/// True when the call only starts something that a later Wait or Test completes.
[[nodiscard]] bool isPost(trace::CallClass c);
/// True when the call receives, now or by request.
[[nodiscard]] bool receives(trace::CallClass c);
/// True when the call sends, now or by request.
[[nodiscard]] bool sends(trace::CallClass c);

} // namespace stopline::viewer
