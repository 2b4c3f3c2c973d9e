// Which rank of which job each row is. No Qt.
#pragma once

#include "../tracelib/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stopline::replay {

/// The ranks of a job have consecutive rows, in the order of their MPI_COMM_WORLD.
struct JobRanks {
    JobKey key = kFirstJob;
    std::int32_t first = 0;
    std::int32_t size = 0;
    /// Where it was spawned: the begin of the root's call. Nothing for the first job, and where that is not known.
    RankId spawner{-1};
    EventIndex spawnEvent{0};
    friend bool operator==(const JobRanks&, const JobRanks&) = default;
};

/// Where an agent says that its rank was spawned: "job:rank:event", the job's key in hexadecimal.
struct Spawner {
    JobKey job = kFirstJob;
    std::int32_t rank = -1;
    EventIndex event{0};
};
/// Rank -1 when the text is none of these.
[[nodiscard]] Spawner spawnerOf(std::string_view text);

/// The jobs of a run in the order in which they came; the number of a job is its place here. Only grows: a job that is
/// spawned again has the rows that it had before.
class JobTable {
  public:
    JobTable() = default;
    /// The first job alone.
    explicit JobTable(std::int32_t ranks) { add(kFirstJob, ranks, {}); }

    /// The job with this key, which is added behind the others if there is none. Sizes are what the first to come says.
    const JobRanks& add(JobKey key, std::int32_t size, const Spawner& spawner);
    [[nodiscard]] const JobRanks* find(JobKey key) const;
    [[nodiscard]] const std::vector<JobRanks>& all() const { return m_jobs; }
    [[nodiscard]] std::int32_t rankCount() const { return m_jobs.empty() ? 0 : m_jobs.back().first + m_jobs.back().size; }
    /// -1 when there is no such job or rank.
    [[nodiscard]] RankId row(JobKey key, std::int32_t rank) const;
    /// Number of the job of a row; 0 for what is no row.
    [[nodiscard]] std::size_t jobOf(RankId rank) const;
    [[nodiscard]] JobKey keyOf(RankId rank) const { return m_jobs.empty() ? kFirstJob : m_jobs[jobOf(rank)].key; }
    /// "3"; of a spawned job its number as well: "1:0".
    [[nodiscard]] std::string name(RankId rank) const;

  private:
    std::vector<JobRanks> m_jobs;
};

/// There is one run, or one recording, in a process, and what its ranks are called is asked for by whoever writes of one.
/// Safe from every thread.
void nameRanks(const JobTable& jobs);
/// Name of a rank by the table that was given last.
[[nodiscard]] std::string rankName(RankId rank);
[[nodiscard]] inline std::string rankName(std::int32_t rank) {
    return rankName(RankId{rank});
}
/// Of ranks 3, 0, 1, 2, 7, 8: "0-3", "7", "8". Two in a row are no shorter as a range; ranks of several jobs make none.
[[nodiscard]] std::vector<std::string> rankRanges(std::vector<RankId> ranks);
/// "rank 3", "ranks 1 and 2", "ranks 0-3 and 7".
[[nodiscard]] std::string rankNames(const std::vector<RankId>& ranks);
/// The inverse of rankName(); nothing for a name that is none, or of a job that is not known. Without spawned jobs every
/// number is one.
[[nodiscard]] std::optional<RankId> rankOfName(std::string_view name);

} // namespace stopline::replay
