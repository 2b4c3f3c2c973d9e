// Which processes of other jobs the members of communicators are.
#include "comms.h"

#include "rank.h"

#include "../recorder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stopline::preload {

using trace::CommKind;

/// Names those members of a group that are of other jobs, as far as these are known; the places behind the members hold
/// the ranks in that group.
bool CommTable::findInOtherJobs(MPI_Group group, std::size_t size, std::size_t offset) {
    std::int32_t* result = m_members.data() + offset;
    const std::int32_t* own = result + size;
    std::int32_t* found = result + 2 * size;
    for (std::size_t g = 0; g < m_otherGroupCount; ++g) {
        const OtherGroup& other = m_otherGroups[g];
        if (real.Group_translate_ranks(group, static_cast<int>(size), own, other.group, found) != MPI_SUCCESS) {
            return false;
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (result[i] < 0 && found[i] >= 0 && static_cast<std::size_t>(found[i]) < other.count) {
                const OtherProcess& process = m_others[other.first + static_cast<std::size_t>(found[i])];
                result[i] = process.rank;
                m_jobs[offset + i] = process.rank < 0 ? m_ownJob : process.job;
            }
        }
    }
    return true;
}

/// The processes of the group are those in m_others from `first` on. Keeps the group.
bool CommTable::rememberGroup(MPI_Group group, std::size_t first) {
    if (!m_otherGroups.reserve(m_otherGroupCount + 1)) {
        real.Group_free(&group);
        return false;
    }
    m_otherGroups[m_otherGroupCount++] = {group, first, m_otherCount - first};
    return true;
}

void CommTable::setSpawned(const char* text) {
    if (text == nullptr) {
        return;
    }
    char* end = nullptr;
    const JobKey job = std::strtoull(text, &end, 16);
    const char* parents = *end == ' ' ? std::strchr(end + 1, ' ') : nullptr;
    if (job != kFirstJob && parents != nullptr) {
        m_ownJob = job;
        m_spawned = parents + 1;
    }
}

std::size_t CommTable::writeSpawned(const CommEntry& parent, std::uint64_t event, char* text, std::size_t capacity) {
    if (!readMembersOf(parent)) {
        return 0;
    }
    const auto room = [&](std::size_t used) { return used < capacity ? capacity - used : 0; };
    const auto place = [&](std::size_t used) { return used < capacity ? text + used : nullptr; };
    int bytes = std::snprintf(text, capacity, "%llx %llx:%d:%llu ", static_cast<unsigned long long>(nextJob(parent)),
                              static_cast<unsigned long long>(m_ownJob), m_entries[kCommWorld.value()].rank,
                              static_cast<unsigned long long>(event));
    auto used = static_cast<std::size_t>(bytes);
    const auto count = static_cast<std::size_t>(parent.size);
    for (std::size_t i = 0; i < count;) {
        std::size_t next = i + 1;
        while (next < count && m_jobs[next] == m_jobs[i] && m_members[i] >= 0 &&
               m_members[next] == m_members[i] + static_cast<std::int32_t>(next - i)) {
            ++next;
        }
        bytes = std::snprintf(place(used), room(used), "%s%llx:%d-%d", i == 0 ? "" : ",", static_cast<unsigned long long>(m_jobs[i]),
                              m_members[i], m_members[next - 1]);
        used += static_cast<std::size_t>(bytes);
        i = next;
    }
    return used + 1;
}

/// The communicator with the parents of a rank that was spawned, who they are being said by the agent.
bool CommTable::addParents(trace::Recorder& recorder) {
    MPI_Comm parents = predefined.commNull;
    MPI_Group group = predefined.groupNull;
    if (m_spawned == nullptr || real.Comm_get_parent(&parents) != MPI_SUCCESS || !isSome(parents) ||
        real.Comm_remote_group(parents, &group) != MPI_SUCCESS) {
        return m_spawned == nullptr;
    }
    const std::size_t first = m_otherCount;
    const char* at = m_spawned;
    while (true) {
        char* end = nullptr;
        const JobKey job = std::strtoull(at, &end, 16);
        long from = *end == ':' ? std::strtol(end + 1, &end, 10) : -1;
        const long to = *end == '-' ? std::strtol(end + 1, &end, 10) : -1;
        do {
            if (!m_others.reserve(m_otherCount + 1)) {
                real.Group_free(&group);
                return false;
            }
            m_others[m_otherCount++] = {job, static_cast<std::int32_t>(from)};
        } while (++from <= to);
        if (*end != ',') {
            break;
        }
        at = end + 1;
    }
    return rememberGroup(group, first) && add(recorder, CommKind::Process, nullptr, parents, m_ownJob) != kNoComm;
}

/// The other side of what a spawn has made is the world of the new job.
bool CommTable::rememberSpawned(MPI_Comm comm, JobKey job) {
    MPI_Group group = predefined.groupNull;
    int size = 0;
    if (real.Comm_remote_group(comm, &group) != MPI_SUCCESS) {
        return false;
    }
    const std::size_t first = m_otherCount;
    if (real.Group_size(group, &size) != MPI_SUCCESS || !m_others.reserve(first + static_cast<std::size_t>(size))) {
        real.Group_free(&group);
        return false;
    }
    for (int i = 0; i < size; ++i) {
        m_others[m_otherCount++] = {job, i};
    }
    return rememberGroup(group, first);
}

JobKey CommTable::nextJob(const CommEntry& parent) {
    const std::uint64_t parts[2] = {parent.id, parent.constructors + std::uint64_t{1}};
    const JobKey job = trace::hashBytes(reinterpret_cast<const std::byte*>(parts), sizeof parts, 6);
    return job == kFirstJob ? 1 : job;
}

/// The jobs of so many members, as runs; 0 when all are of ours.
std::uint32_t CommTable::findRuns(std::size_t count) {
    const JobKey* jobs = m_jobs.data();
    if (std::all_of(jobs, jobs + count, [this](JobKey job) { return job == m_ownJob; })) {
        return 0;
    }
    std::uint32_t runs = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0 && jobs[i] == jobs[i - 1]) {
            ++m_runs[runs - 1].count;
        } else if (m_runs.reserve(runs + 1)) {
            m_runs[runs++] = {jobs[i], 1};
        } else {
            return 0;
        }
    }
    return runs;
}

} // namespace stopline::preload
