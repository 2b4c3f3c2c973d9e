// Control messages that keep a re-execution by marked messages (order_marks.h) from having more of them buffered
// than the recorded execution had: R. Netzer and B. Miller (Supercomputing 1992, section 4.2).
//
// A message c that raced is not sent before what its receiver got earlier is received: from there a control
// message goes to the sender of c. The paper wants one for every two messages that raced. But where c had been sent
// while the other one had not been received yet, two such orders can close a circle, each waiting for the other:
// MPI lets messages of different senders overtake each other. So one is added only where the recorded execution had
// that order, too, in time: then they all point forward, and no circle can come of them. What was buffered there
// is buffered again, and no more.
#pragma once

#include "timeline_data.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stopline::replay {

class DataOrder;

struct ControlMessage {
    std::int32_t from = 0;
    std::uint64_t after = 0; ///< end of a call that saw a receive from any source complete
    std::int32_t to = 0;
    std::uint64_t before = 0; ///< begin of a call that sends one to `from`
    std::int32_t world = 0;   ///< first rank of the job that both are of
    friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

/// Times are those of the drawing axis, on which no message is received before it is sent. `data`: of the timeline.
/// For the sends that are marked (by send; all of them are received by calls that ended well, in one job). Those between
/// two ranks come in the order of their events on both. Orders that messages of the program give are left out.
/// Not all of them once it is `cancelled`.
[[nodiscard]] std::vector<ControlMessage> controlMessages(const Timeline& timeline, const TimelineData& data, const DataOrder& order,
                                                          const std::vector<bool>& marked, const std::atomic<bool>* cancelled = nullptr);

/// What a rank follows of them, as trace::ControlReader reads it.
[[nodiscard]] std::vector<std::byte> controlLog(const std::vector<ControlMessage>& messages, RankId rank);

/// The order log of a rank with that as its first entry (tracelib/order.h), for ranks that have none as well: all make a
/// communicator for them. Without any messages it is the log itself.
[[nodiscard]] std::vector<std::byte> withControls(const std::vector<std::byte>& log, const std::vector<ControlMessage>& messages,
                                                  RankId rank);

/// Leaves out those that would keep a rank from coming to its place, as the one that is to send them stops before that.
/// `places`: the last event of each rank.
void leaveOutBeyond(std::vector<ControlMessage>& messages, const std::vector<std::uint64_t>& places);

} // namespace stopline::replay
