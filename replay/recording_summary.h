// What a recording holds, in numbers and as text.
#pragma once

#include "loaded_recording.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <map>
#include <vector>

namespace stopline::replay {

/// A request that a rank has made and not had back: neither completed nor freed at the end of the recording.
struct OpenRequest {
    CallRef madeBy;
    bool persistent = false;
    bool active = false; ///< persistent: started and not complete
};
/// Of one rank, in the order of the calls that made them. Cost: one pass over its events.
[[nodiscard]] std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank);

/// The lines of `stopline info`, made for comparing: the same recording gives the same text, ranks that do the same share
/// a line, and what differs from run to run (times, sizes) stands on lines of its own.
[[nodiscard]] QStringList summaryLines(const LoadedRecording& loaded);

} // namespace stopline::replay
