// A rank of a job that is recorded. Inside of RecordingJob.
#pragma once

#include "recording_job.h"

#include <QPointer>

#include <cstdint>
#include <set>
#include <string>

namespace stopline::replay {

struct RecordingJob::Rank {
    std::int32_t number = 0;
    QPointer<agent::AgentLink> link;
    trace::RankImage image; ///< once the link is not needed any more
    std::string modules;
    std::string faults;
    std::set<std::uint64_t> sites; ///< addresses of calls of which only blocks have told that are written and let go of
    bool fetching = false;
    bool ending = false;    ///< its end has been seen
    int waitStatus = 0;     ///< once it is complete; -1: not known
    bool withAgent = false; ///< nothing was told of its end: its agent was killed, and it has ended as well
    bool complete = false;  ///< written up to its end, or as far as it is known
    bool unwritten = false; ///< something of it did not fit into the file
};

} // namespace stopline::replay
