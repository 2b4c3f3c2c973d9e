// Members of communicators as rows.
#include "recording.h"

namespace stopline::replay {

/// With rows in place of the ranks of jobs.
trace::CommInfo Recording::inRows(RankId rank, trace::CommInfo info) const {
    const JobKey own = m_jobs.keyOf(rank);
    if (info.jobs.empty()) {
        info.jobs.push_back({own, std::uint32_t(info.members.size() + info.remote.size())});
    }
    std::size_t run = 0;
    std::uint32_t used = 0; // of the run
    for (std::vector<std::int32_t>* group : {&info.members, &info.remote}) {
        for (std::int32_t& member : *group) {
            while (run + 1 < info.jobs.size() && used == info.jobs[run].count) {
                ++run;
                used = 0;
            }
            ++used;
            if (info.jobs[run].job != kFirstJob) { // rows of the first job are its ranks
                member = m_jobs.row(info.jobs[run].job, member).value();
            }
        }
    }
    info.jobs.clear();
    return info;
}

} // namespace stopline::replay
