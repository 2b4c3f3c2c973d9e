// Runs random programs as an MPI library would, independently of the timeline's own rules: messages travel,
// are queued as unexpected, and meet posted receives. Records the trace, knows the truth, and can run again
// with thresholds and with every nondeterministic outcome forced to what it was.
#pragma once

#include "program.h"

#include "../../../replay/timeline.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace stopline::replay::test {

/// Which message (by its sending call and its number within that call) a receive got.
using SendKey = std::pair<CallRef, std::uint32_t>;

/// What a run decided.
struct Outcome {
    Trace trace;
    /// By posting call (and number within it, for Startall): the send whose message it got.
    std::map<SendKey, SendKey> received;
    std::map<SendKey, bool> cancelled;
    /// By call: serials a Wait or Test completed, in order; and whether a poll succeeded.
    std::map<CallRef, std::vector<std::uint32_t>> completed;
    std::map<CallRef, bool> succeeded;
    /// By probe: which message it saw.
    std::map<CallRef, SendKey> seen;
    /// The trace does not tell everything that happened: a receive took a message or was cancelled and no
    /// completion shows it, so that the pairing of others cannot be known.
    bool ambiguous = false;
    /// Where each rank was when the run ended.
    Cut final;
};

struct RunOptions {
    std::uint64_t seed = 0;
    std::uint64_t maxSteps = ~std::uint64_t{0};
    /// Ranks hold at these events; kNoThreshold runs on; 0 never starts.
    std::vector<EventIndex> thresholds;
    const Outcome* forced = nullptr;
    /// Called now and then with where the ranks are.
    std::function<void(const Cut&)> onState;
};

Outcome run(const Program& program, const RunOptions& options);

} // namespace stopline::replay::test
