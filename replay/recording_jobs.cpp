// Rows: of the members of communicators, and of the jobs in a file.
#include "recording.h"
#include "recording_reader.h"

#include <algorithm>

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

JobTable RecordingFile::jobs() const {
    JobTable table;
    while (table.rankCount() < rankCount()) {
        const std::int32_t first = table.rankCount();
        const std::int32_t left = rankCount() - first;
        // Of a rank that has not come the file says nothing: any other of its job tells where that begins.
        const auto some = std::find_if(ranks.begin() + first, ranks.end(), [&](const RecordedRank& one) {
            return one.present && &one - ranks.data() - one.rank == first && table.find(one.job) == nullptr;
        });
        if (some == ranks.end() || (first == 0) != (some->job == kFirstJob)) {
            JobKey key = kFirstJob; // not as the file should be
            while (table.find(key) != nullptr) {
                ++key;
            }
            table.add(key, left, {});
        } else {
            table.add(some->job, some->jobSize > 0 ? std::min(some->jobSize, left) : left, spawnerOf(some->spawner));
        }
    }
    return table;
}

} // namespace stopline::replay
