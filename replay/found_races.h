// The races that the ranks of a job have found themselves while it ran (tracelib/preload/online.h), as they
// noted them.
#pragma once

#include "../tracelib/types.h"
#include "../tracelib/values.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stopline::replay {

/// What one rank has found.
struct FoundRaces {
    /// The begin of a call that posted a receive of any source, or probed, and which of the requests that it
    /// started.
    using Place = std::pair<EventIndex, std::uint32_t>;

    bool looked = false;   ///< it was asked to look for races, and came to an end of that
    bool complete = false; ///< it has found all, up to its last event
    trace::RaceLimit limit = trace::RaceLimit::None; ///< why it gave up
    std::uint64_t traced = 0; ///< messages that it received and that Netzer and Miller's algorithm traces
    std::vector<Place> raced; ///< sorted
    /// Sorted: did not race, but only as an older receive was open that would have taken what else they could have got. In a
    /// re-execution that one has its own source to receive from, and takes it no more.
    std::vector<Place> guarded;

    /// It is to be told its source: it raced or was guarded.
    [[nodiscard]] bool has(EventIndex event, std::uint32_t position) const;
};

/// Reads the log of values of a rank (tracelib/values.h), whatever else is in it.
[[nodiscard]] FoundRaces foundRacesOf(std::span<const std::byte> values);
/// True when what they have found is all there is: none of the ranks has met a limit.
[[nodiscard]] bool areComplete(std::span<const FoundRaces> ranks);
/// "a call failed"
[[nodiscard]] std::string_view limitText(trace::RaceLimit limit);

} // namespace stopline::replay
