// Where a call is in the source, for a sentence about it. No Qt.
#pragma once

#include "timeline.h"

#include <functional>
#include <string>

namespace stopline::replay {

/// " (x.c:12)"; " (event 7)" where `where` names no line.
[[nodiscard]] inline std::string callPlace(const Timeline& timeline, CallRef call,
                                           const std::function<std::string(CallRef)>& where) {
    const std::string place = where(call);
    return " (" + (place.empty() ? "event " + std::to_string(timeline.call(call).begin.value()) : place) + ")";
}

} // namespace stopline::replay
