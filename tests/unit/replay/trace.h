// Traces as plain data, and how to put them into a timeline in any interleaving.
#pragma once

#include "../../../replay/timeline.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace stopline::replay::test {

struct TraceEvent {
    trace::EventDetails details;
    TimeNs time = 0;
    std::uint64_t pollFailures = 0;
};

struct RankTrace {
    std::vector<trace::CommInfo> comms;
    std::vector<TraceEvent> events;
};

struct Trace {
    std::vector<RankTrace> ranks;
    TransportRules rules;
};

/// Adds all events; `next` picks which of the ranks that still have events goes on (by position in that
/// list). Details are interned as the library does. `look` is called after each event.
Timeline load(const Trace& trace, const std::function<std::size_t(std::size_t)>& next,
              const std::function<void(const Timeline&)>& look = {});
/// Rank by rank.
Timeline load(const Trace& trace);

/// World and self of a job.
trace::CommInfo worldComm(std::int32_t ranks);
trace::CommInfo selfComm(std::int32_t rank);

} // namespace stopline::replay::test
