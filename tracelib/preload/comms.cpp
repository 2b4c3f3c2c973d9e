#include "comms.h"

#include "online.h"
#include "rank.h"

#include "../recorder.h"

#include <algorithm>
#include <utility>

namespace stopline::preload {

using trace::CommKind;
using trace::CommView;

namespace {

std::uint64_t hashOf(std::uint64_t seed, const void* data, std::size_t bytes) {
    return trace::hashBytes(static_cast<const std::byte*>(data), bytes, seed);
}

/// The same for every process that knows who the members are, of whatever job it is.
std::uint64_t hashOfGroup(const std::int32_t* ranks, const JobKey* jobs, std::size_t count) {
    if (std::all_of(jobs, jobs + count, [](JobKey job) { return job == kFirstJob; })) {
        return hashOf(1, ranks, count * sizeof *ranks);
    }
    std::uint64_t hash = count;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t process[2] = {jobs[i], static_cast<std::uint64_t>(ranks[i])};
        hash = hashOf(hash, process, sizeof process);
    }
    return hash;
}

/// Groups are compared as members see them: whoever belongs to the other side gets the same result.
std::uint64_t hashOfGroups(const std::int32_t* ranks, const JobKey* jobs, std::uint32_t localCount, std::uint32_t remoteCount) {
    std::uint64_t a = hashOfGroup(ranks, jobs, localCount);
    std::uint64_t b = remoteCount == 0 ? 0 : hashOfGroup(ranks + localCount, jobs + localCount, remoteCount);
    if (b > a) {
        std::swap(a, b);
    }
    const std::uint64_t both[2] = {a, b};
    return hashOf(2, both, sizeof both);
}

/// Constructors that not all members of the parent call: they are counted by who takes part.
bool isCountedBySet(CommKind kind) {
    return kind == CommKind::CreateGroup || kind == CommKind::InterCreate || kind == CommKind::Other;
}

} // namespace

bool CommTable::readMembers(MPI_Comm comm, bool remote, std::uint32_t& count, std::size_t offset) {
    MPI_Group group = predefined.groupNull;
    int size = 0;
    if ((remote ? real.Comm_remote_group(comm, &group) : real.Comm_group(comm, &group)) != MPI_SUCCESS) {
        return false;
    }
    bool good = real.Group_size(group, &size) == MPI_SUCCESS &&
                m_members.reserve(offset + 3 * static_cast<std::size_t>(size)) &&
                m_jobs.reserve(offset + static_cast<std::size_t>(size));
    if (good) {
        // Own ranks behind the place of the result: one array less.
        std::int32_t* result = m_members.data() + offset;
        std::int32_t* own = result + size;
        for (int i = 0; i < size; ++i) {
            own[i] = i;
        }
        good = real.Group_translate_ranks(group, size, own, m_worldGroup, result) == MPI_SUCCESS;
        count = static_cast<std::uint32_t>(size);
        bool others = false;
        for (int i = 0; i < size; ++i) {
            m_jobs[offset + static_cast<std::size_t>(i)] = m_ownJob;
            others = others || result[i] < 0;
            result[i] = std::max(result[i], -1);
        }
        good = good && (!others || findInOtherJobs(group, static_cast<std::size_t>(size), offset));
    }
    real.Group_free(&group);
    return good;
}

bool CommTable::addPredefined(trace::Recorder& recorder) {
    const Asking asking;
    if (real.Comm_group(predefined.world, &m_worldGroup) != MPI_SUCCESS) {
        return false;
    }
    return add(recorder, CommKind::World, nullptr, predefined.world) == kCommWorld &&
           add(recorder, CommKind::Self, nullptr, predefined.self) == kCommSelf && addParents(recorder);
}

CommEntry* CommTable::lookUp(HandleKey handle) {
    CommEntry* entries = m_entries.data();
    if (m_lastUsed < m_count && entries[m_lastUsed].handle == handle) {
        return &entries[m_lastUsed];
    }
    for (std::size_t i = 0; i < m_count; ++i) {
        if (entries[i].handle == handle) {
            m_lastUsed = i;
            return &entries[i];
        }
    }
    return nullptr;
}

CommEntry* CommTable::insert(const CommEntry& entry) {
    ++m_generation;
    // A handle that comes again without having been freed is a new communicator: its old meaning is over.
    if (CommEntry* old = lookUp(entry.handle); old != nullptr) {
        *old = entry;
        return old;
    }
    for (std::size_t i = 2; i < m_count; ++i) {
        if (m_entries[i].handle == 0) {
            m_entries[i] = entry;
            return &m_entries[i];
        }
    }
    if (!m_entries.reserve(m_count + 1)) {
        return nullptr;
    }
    m_entries[m_count] = entry;
    return &m_entries[m_count++];
}

CommEntry* CommTable::find(trace::Recorder& recorder, MPI_Comm comm) {
    if (!isSome(comm)) {
        return nullptr;
    }
    if (CommEntry* known = lookUp(keyOf(comm)); known != nullptr) {
        return known;
    }
    return add(recorder, CommKind::Other, nullptr, comm) == kNoComm ? nullptr : lookUp(keyOf(comm));
}

std::uint32_t CommTable::ordinalOfSet(std::uint64_t set) {
    for (std::size_t i = 0; i < m_setCount; ++i) {
        if (m_sets[i].set == set) {
            return ++m_sets[i].count;
        }
    }
    if (m_sets.reserve(m_setCount + 1)) {
        m_sets[m_setCount++] = {set, 1};
    }
    return 1;
}

CommIndex CommTable::describe(trace::Recorder& recorder, CommKind kind, CommEntry* parent, CommEntry& entry, JobKey spawned) {
    CommView view;
    view.kind = kind;
    view.memberCount = static_cast<std::uint32_t>(entry.size);
    view.remoteCount = static_cast<std::uint32_t>(entry.remoteSize);
    view.members = m_members.data();
    view.remote = m_members.data() + entry.size;
    view.parent = parent == nullptr ? kNoComm : parent->index;
    const std::uint64_t groups = hashOfGroups(view.members, m_jobs.data(), view.memberCount, view.remoteCount);
    view.jobCount = findRuns(view.memberCount + view.remoteCount);
    view.jobs = m_runs.data();
    // The two sides of MPI_Intercomm_create have different parents.
    const std::uint64_t parentId = parent == nullptr || kind == CommKind::InterCreate ? 0 : parent->id;
    if (isCountedBySet(kind)) {
        const std::uint64_t set[3] = {parentId, static_cast<std::uint64_t>(kind), groups};
        view.ordinal = ordinalOfSet(hashOf(3, set, sizeof set));
    } else if (parent != nullptr) {
        view.ordinal = ++parent->constructors;
    }
    const std::uint64_t parts[4] = {parentId, static_cast<std::uint64_t>(kind), view.ordinal, groups};
    view.id = spawned != kFirstJob ? spawned : hashOf(4, parts, sizeof parts);
    entry.id = view.id;
    entry.index = recorder.addComm(view);
    if (online.on && entry.index != kNoComm) [[unlikely]] {
        online.addComm(view);
    }
    return entry.index;
}

CommIndex CommTable::add(trace::Recorder& recorder, CommKind kind, CommEntry* parent, MPI_Comm comm, JobKey spawned) {
    if (!isSome(comm)) {
        countOnly(kind, parent);
        return kNoComm;
    }
    const Asking asking;
    CommEntry entry{};
    entry.handle = keyOf(comm);
    int inter = 0;
    std::uint32_t members = 0;
    std::uint32_t remote = 0;
    if (spawned != kFirstJob && parent != nullptr && !rememberSpawned(comm, spawned)) {
        return kNoComm;
    }
    if (real.Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        real.Comm_rank(comm, &entry.rank) != MPI_SUCCESS || !readMembers(comm, false, members, 0) ||
        (inter != 0 && !readMembers(comm, true, remote, members))) {
        return kNoComm;
    }
    entry.size = static_cast<std::int32_t>(members);
    entry.remoteSize = static_cast<std::int32_t>(remote);
    if (kind == CommKind::Other && remote != 0 && m_members[members] < 0) {
        kind = CommKind::Process; // the parents of a spawned job
    }
    if (describe(recorder, kind, parent, entry, spawned) == kNoComm || insert(entry) == nullptr) {
        return kNoComm;
    }
    return entry.index;
}

/// The members of a communicator that is known already, as readMembers() leaves them.
bool CommTable::readMembersOf(const CommEntry& entry) {
    const Asking asking;
    const auto comm = handleOf<MPI_Comm>(entry.handle);
    std::uint32_t members = 0;
    std::uint32_t remote = 0;
    return readMembers(comm, false, members, 0) &&
           (entry.remoteSize == 0 || readMembers(comm, true, remote, members));
}

CommIndex CommTable::addLater(trace::Recorder& recorder, CommEntry* parent, MPI_Comm* handle,
                              std::uint32_t serial) {
    if (parent == nullptr || !readMembersOf(*parent)) {
        return kNoComm;
    }
    CommEntry entry = *parent;
    entry.handle = 0;
    entry.constructors = 0;
    if (describe(recorder, CommKind::Dup, parent, entry, kFirstJob) == kNoComm ||
        !m_pending.reserve(m_pendingCount + 1)) {
        return kNoComm;
    }
    m_pending[m_pendingCount++] = {handle, entry, serial};
    return entry.index;
}

CommIndex CommTable::addOn(trace::Recorder& recorder, CommKind kind, CommEntry* parent, HandleKey handle) {
    if (parent == nullptr || !readMembersOf(*parent)) {
        return kNoComm;
    }
    CommEntry entry = *parent;
    entry.handle = handle;
    entry.constructors = 0;
    return describe(recorder, kind, parent, entry, kFirstJob) == kNoComm || insert(entry) == nullptr ? kNoComm
                                                                                          : entry.index;
}

void CommTable::settle(std::uint32_t serial) {
    for (std::size_t i = 0; i < m_pendingCount; ++i) {
        if (m_pending[i].serial == serial) {
            CommEntry entry = m_pending[i].entry;
            const MPI_Comm made = *m_pending[i].handle;
            entry.handle = keyOf(made);
            m_pending[i] = m_pending[--m_pendingCount];
            if (isSome(made)) {
                insert(entry);
            }
            return;
        }
    }
}

void CommTable::countOnly(CommKind kind, CommEntry* parent) {
    if (parent != nullptr && !isCountedBySet(kind)) {
        ++parent->constructors;
    }
}

void CommTable::remove(HandleKey handle) {
    CommEntry* entry = lookUp(handle);
    if (entry != nullptr && entry->index != kCommWorld && entry->index != kCommSelf) {
        *entry = {};
        ++m_generation;
    }
}

} // namespace stopline::preload
