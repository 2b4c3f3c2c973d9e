// What is known of a rank while its events are compared with the recording or appended to it. Inside of the recording.
#pragma once

#include "../tracelib/history_start.h"
#include "recording.h"
#include "recording_compare.h"
#include "request_names.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <optional>
#include <vector>

namespace stopline::replay {

/// What details are told apart by.
[[nodiscard]] inline std::string keyOf(const trace::EventDetails& details) {
    const std::vector<std::byte> bytes = trace::encodeDetails(details);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Recording::RankFeed {
    RankId rank{0};
    trace::RankReader reader;
    std::size_t consumed = 0;      ///< events that the reader still has, already compared or appended
    EventIndex recordedBefore{0};  ///< last event that was recorded when this execution began
    TimeNs lastExecuted = 0;       ///< execution time of the last one of them in this execution
    std::uint32_t commsSeen = 0;
    std::uint32_t commsRecorded = 0; ///< communicators of this rank in the timeline
    std::size_t stopsSeen = 0;
    bool different = false;
    bool brokenOff = false; ///< of this execution
    std::uint32_t starts = 0; ///< RankReader::starts() that have been dealt with
    bool gap = false;         ///< what the reader has does not follow what the timeline has
    std::unique_ptr<trace::HistoryStart> start; ///< of the timeline's events, if the first ones are missing
    bool startTold = false;                     ///< to the timeline
    FreedCompletions freed;
    RequestNames names;
    // Call sites, where they have moved; in this execution.
    std::unordered_map<std::uint64_t, CodeAddress> recordedSite; ///< by the executed one
    std::unordered_map<std::uint64_t, CodeAddress> executedSite; ///< by the recorded one
    EventIndex openPoll{0}; ///< begin of the latest poll that had not ended when it was read; 0: none
    std::uint64_t openFailures = 0; ///< of it, so far
    std::vector<DetailsId> toTimeline;   ///< by DetailsId of the reader; value()==UINT32_MAX: not translated yet
    std::unordered_map<std::string, DetailsId> known; ///< timeline's ids by encoded details
    // Times of a later execution are moved so that they go on where the recording ended (see append()).
    bool firstExecution = true;
    bool shifted = false;
    TimeNs shift = 0;     ///< added to execution times
    TimeNs wallShift = 0; ///< added to CLOCK_MONOTONIC of stops
    EventIndex junction{0};
    std::optional<EventIndex> firstJunction; ///< of the recording: what lies behind it is of later executions
    TimeNs lastTime = 0;
    TimeNs recordedOrigin = 0;
    std::vector<trace::StopRecord> recordedStops;
    TimeNs recordedHeld = 0; ///< sum of these
};

} // namespace stopline::replay
