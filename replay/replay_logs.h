// What another execution of a recording follows, rank by rank. For long recordings it takes seconds to make,
// so it is made aside, and kept for as long as the recording is the same.
#pragma once

#include "order_log.h"
#include "order_marks.h"
#include "replay_by.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace stopline::replay {

/// What a recording's logs have been made of.
struct LogsOf {
    ReplayBy how = ReplayBy::Source;
    std::vector<EventIndex> last;            ///< event that is recorded, by rank
    std::vector<std::uint64_t> openFailures; ///< of the poll that it has not ended, by rank
    friend bool operator==(const LogsOf&, const LogsOf&) = default;
};

struct ReplayLogs {
    LogsOf of;
    std::shared_ptr<const OrderMarks> marks; ///< null: by source
    std::vector<OrderLog> ranks; ///< without control messages, as those depend on where ranks are to stop
};

/// Of logs that are being made; for any thread.
struct LogsProgress {
    std::atomic<bool> cancelled{false};
    std::atomic<int> rank{-1}; ///< whose log is being made; -1: before that
};

} // namespace stopline::replay
