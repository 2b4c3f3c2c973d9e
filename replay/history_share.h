// How many events each rank keeps when all ranks together are to keep no more than so many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stopline::replay {

/// The most that a rank may keep, for ranks that have these numbers of events: what ranks with fewer leave is the others'.
/// `most` 0: all. The largest number when there is enough for all.
[[nodiscard]] inline std::uint64_t historyShare(std::vector<std::uint64_t> events, std::uint64_t most) {
    std::sort(events.begin(), events.end());
    std::uint64_t left = most;
    for (std::size_t i = 0; most != 0 && i < events.size(); ++i) {
        const std::uint64_t share = left / (events.size() - i);
        if (events[i] > share) {
            return share;
        }
        left -= events[i];
    }
    return std::numeric_limits<std::uint64_t>::max();
}

} // namespace stopline::replay
