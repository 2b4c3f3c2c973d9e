#include "jobs.h"

#include <algorithm>
#include <charconv>
#include <mutex>

namespace stopline::replay {

namespace {

struct Names {
    std::mutex mutex;
    JobTable jobs;
};

Names& names() {
    static Names all;
    return all;
}

/// Takes a number up to `end` (0: the end of the text) off the front.
template <typename Number>
bool take(std::string_view& text, Number& number, char end, int base = 10) {
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    const auto used = static_cast<std::size_t>(at - text.data());
    if (error != std::errc() || (end == '\0' ? used != text.size() : used == text.size() || *at != end)) {
        return false;
    }
    text.remove_prefix(end == '\0' ? used : used + 1);
    return true;
}

} // namespace

Spawner spawnerOf(std::string_view text) {
    Spawner spawner;
    std::uint64_t event = 0;
    if (!take(text, spawner.job, ':', 16) || !take(text, spawner.rank, ':') || !take(text, event, '\0')) {
        return {};
    }
    spawner.event = EventIndex(event);
    return spawner;
}

const JobRanks& JobTable::add(JobKey key, std::int32_t size, const Spawner& spawner) {
    const auto known = std::find_if(m_jobs.begin(), m_jobs.end(), [key](const JobRanks& job) { return job.key == key; });
    if (known != m_jobs.end()) {
        return *known;
    }
    JobRanks job;
    job.key = key;
    job.first = rankCount();
    job.size = std::max(size, 0);
    job.spawner = spawner.rank < 0 ? RankId(-1) : row(spawner.job, spawner.rank);
    job.spawnEvent = job.spawner.value() < 0 ? EventIndex(0) : spawner.event;
    m_jobs.push_back(job);
    return m_jobs.back();
}

const JobRanks* JobTable::find(JobKey key) const {
    const auto at = std::find_if(m_jobs.begin(), m_jobs.end(), [key](const JobRanks& job) { return job.key == key; });
    return at == m_jobs.end() ? nullptr : &*at;
}

RankId JobTable::row(JobKey key, std::int32_t rank) const {
    const JobRanks* job = find(key);
    return job == nullptr || rank < 0 || rank >= job->size ? RankId(-1) : RankId(job->first + rank);
}

std::size_t JobTable::jobOf(RankId rank) const {
    std::size_t job = 0;
    while (job + 1 < m_jobs.size() && rank.value() >= m_jobs[job + 1].first) {
        ++job;
    }
    return job;
}

std::string JobTable::name(RankId rank) const {
    const std::size_t job = jobOf(rank);
    return job == 0 ? std::to_string(rank.value())
                    : std::to_string(job) + ':' + std::to_string(rank.value() - m_jobs[job].first);
}

void nameRanks(const JobTable& jobs) {
    const std::lock_guard lock(names().mutex);
    names().jobs = jobs;
}

std::string rankName(RankId rank) {
    const std::lock_guard lock(names().mutex);
    return names().jobs.name(rank);
}

std::vector<std::string> rankRanges(std::vector<RankId> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const std::lock_guard lock(names().mutex);
    const JobTable& jobs = names().jobs;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1].value() == ranks[last].value() + 1 &&
               jobs.jobOf(ranks[last + 1]) == jobs.jobOf(ranks[i])) {
            ++last;
        }
        if (last - i < 2) {
            parts.push_back(jobs.name(ranks[i]));
            ++i;
            continue;
        }
        const std::string end = jobs.name(ranks[last]); // "1:3": its job has been named by the first
        parts.push_back(jobs.name(ranks[i]) + '-' + end.substr(end.find(':') + 1));
        i = last + 1;
    }
    return parts;
}

std::string rankNames(const std::vector<RankId>& ranks) {
    const std::vector<std::string> parts = rankRanges(ranks);
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return text;
}

std::optional<RankId> rankOfName(std::string_view name) {
    std::int32_t rank = -1;
    if (std::string_view plain = name; take(plain, rank, '\0')) {
        const std::lock_guard lock(names().mutex);
        const auto& all = names().jobs.all();
        return rank < 0 || (all.size() > 1 && rank >= all[0].size) ? std::nullopt : std::optional(RankId(rank));
    }
    std::size_t job = 0;
    if (!take(name, job, ':') || !take(name, rank, '\0') || rank < 0) {
        return std::nullopt;
    }
    const std::lock_guard lock(names().mutex);
    const auto& all = names().jobs.all();
    return job >= all.size() || rank >= all[job].size ? std::nullopt : std::optional(RankId(all[job].first + rank));
}

} // namespace stopline::replay
