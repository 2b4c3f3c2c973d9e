// What all events of a recording come to, counted as they are read: nothing of it grows with their number.
#pragma once

#include "open_requests.h"
#include "recording_reader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stopline::replay {

/// Of one rank.
struct RankTally {
    /// Calls of a function.
    struct Use {
        std::uint64_t calls = 0;
        std::uint64_t sent = 0;     ///< bytes
        std::uint64_t received = 0; ///< bytes, also what these calls have seen to be received
    };
    std::map<trace::FunctionId, Use> uses;
    std::uint64_t calls = 0;
    std::uint64_t firstEvent = 1; ///< where its history starts
    std::uint64_t lastEvent = 0;
    std::uint64_t bytes = 0;      ///< what its recording takes: dictionary, communicators, events
    std::vector<RequestTracker::Open> open; ///< requests
    std::size_t largestImage = 0; ///< most bytes of blocks that were in memory at once
    std::size_t mostEvents = 0;   ///< most decoded events that were
};

/// Gives the blocks of a rank piece by piece, as a reader or a Recording takes them: `update` is called with an image that
/// holds the next of them, and returns how far it has read (trace::RankReader::blocksRead()); what lies before is let go
/// of. The last call has the staging area, and the end of the blocks even where there are none. Empty, or why the file
/// cannot be read any more.
[[nodiscard]] std::string eachPiece(const std::string& path, RecordedRank& rank,
                                    const std::function<std::uint64_t(const trace::RankImage&)>& update);

/// Of all ranks of a file that was read with BlocksIn::File. What is damaged is left out, without a word: see
/// loadRecording(). `wrong` gets why the file cannot be read any more; it stays as it is otherwise.
[[nodiscard]] std::vector<RankTally> tallyRecording(const std::string& path, RecordingFile& file, std::string& wrong);

/// The same of the events of a rank that a timeline has; its bytes are not known.
[[nodiscard]] RankTally tallyTimeline(const Timeline& timeline, RankId rank);

} // namespace stopline::replay
