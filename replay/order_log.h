// The order log of a rank, made from the recording: what its next execution has to do where MPI alone would decide.
#pragma once

#include "found_races.h"
#include "race_choice.h"
#include "timeline.h"
#include "unforced.h"

#include "../tracelib/order.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace stopline::replay {

struct OrderMarks;

/// What a call is to do, as tracelib/order.h says it.
struct OrderEntry {
    trace::OrderKind kind = trace::OrderKind::None;
    std::vector<std::uint64_t> numbers = {};
    friend bool operator==(const OrderEntry&, const OrderEntry&) = default;
};
/// Of one rank, by the number of the begin of each call.
using OrderEntries = std::map<std::uint64_t, OrderEntry>;

struct OrderLog {
    std::vector<std::byte> bytes; ///< as tracelib/order.h says; empty when nothing is to be forced
    std::uint64_t entries = 0;
    std::optional<Unforced> unforced; ///< the first of them
};

/// Reads the recording of one rank as far as it goes. `openFailures`: how often the poll has failed that had not ended
/// when the recording did, if that is how it ended. Receives that had not completed do what is planned for them; where
/// nothing is, they are left to MPI, and so is what follows the recording's end. With `marks`, the log is the one of the
/// replay by marked messages (order_marks.h). With `racing`, the sources of all receives and probes that did not race are
/// left to MPI as well: they have no choice where those that did are forced. Not both. Control messages are not in it, see
/// withControls(). Once it is `cancelled`, what is returned is not whole.
[[nodiscard]] OrderLog orderLogOf(const Timeline& timeline, RankId rank, std::uint64_t openFailures = 0,
                                  const OrderEntries& planned = {}, const OrderMarks* marks = nullptr,
                                  const FoundRaces* racing = nullptr, const std::atomic<bool>* cancelled = nullptr);

/// What a rank has to follow so that an execution is the recorded one up to Choice::upTo, and the choice is made. A
/// receive posted up to there that completed later gets what it got if that had been sent up to there. Behind it a receive that
/// raced is waited for, see ChosenOrder::awaited(), before the rank goes its own way.
[[nodiscard]] OrderEntries plannedOrder(const Timeline& timeline, RankId rank, const Choice& choice);

} // namespace stopline::replay
