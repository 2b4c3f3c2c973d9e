// Requests that are still out at the end of a recording.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <map>
#include <vector>

namespace stopline::replay {

/// Follows the requests of a rank through its events. Memory: those that are out, and persistent ones.
class RequestTracker {
  public:
    struct Open {
        EventIndex madeBy{0};       ///< begin of the call
        trace::EventDetails begin;  ///< of it
        bool persistent = false;
    };
    /// Takes in the next event of the rank.
    void add(EventIndex event, const trace::EventDetails& details);
    /// Those that are out now, in the order of the calls that made them.
    [[nodiscard]] std::vector<Open> open() const;

  private:
    struct Request {
        Open made;
        bool on = true;
    };
    [[nodiscard]] std::map<std::uint64_t, Request>::iterator find(trace::RequestRef ref);

    std::map<std::uint64_t, Request> m_requests; ///< by serial
    std::uint64_t m_created = 0;
};

/// A request that a rank has made, or started again, and not had back: neither completed nor freed at the end
/// of the recording.
struct OpenRequest {
    CallRef madeBy;
    bool persistent =
        false; ///< started and not complete; whether one that is not on has been freed is not recorded
};
/// Of one rank, in the order of the calls that made them. Cost: one pass over its events.
[[nodiscard]] std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank);

} // namespace stopline::replay
