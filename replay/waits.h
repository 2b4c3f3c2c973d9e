// What a call that has not returned waits for, rank by rank. Inside of the timeline.
#pragma once

#include "timeline_impl.h"
#include "wait_circles.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace stopline::replay {

/// One of these ranks has to do something.
struct WaitClause {
    std::vector<std::int32_t> ranks;
    WaitDoubts doubts;
};

/// What the call that a rank has not left waits for: all of these. Whatever is not known for certain counts as there; empty: it
/// can go on, or nothing is known.
[[nodiscard]] std::vector<WaitClause> waitsOf(const TimelineData& data, std::int32_t rank, std::uint32_t call);

/// A message to `rank` which has been sent and not received, fits what a receive or probe asks for, and that `wanted` takes.
[[nodiscard]] bool isOnItsWay(const TimelineData& data, std::int32_t rank, const trace::EventDetails& asked,
                              const std::function<bool(const Message&)>& wanted);

/// Calls of this class wait for what they are linked with (TimelineData::eachLink): messages, members of a collective, calls
/// on the same window.
[[nodiscard]] bool waitsByLinks(trace::CallClass callClass);

} // namespace stopline::replay
