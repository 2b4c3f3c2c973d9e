// The communicators of a rank: handle -> index in the recording, and their derived ids (DESIGN section 5).
#pragma once

#include "pool.h"
#include "real.h"

#include "../event.h"

namespace stopline::trace {
class Recorder;
}

namespace stopline::preload {

/// What the wrappers need of a communicator.
struct CommEntry {
    HandleKey handle; ///< of a communicator, window or file; 0 when free
    std::uint64_t id;
    CommIndex index;
    std::int32_t rank;          ///< own rank in the local group
    std::int32_t size;          ///< of the local group
    std::int32_t remoteSize;    ///< 0 unless between groups
    std::uint32_t constructors; ///< made from it so far
};

/// False for MPI_COMM_NULL and what is no handle at all.
inline bool isSome(MPI_Comm comm) {
    return keyOf(comm) != 0 && comm != predefined.commNull;
}

/// Not thread-safe. Lives in static zeroed memory.
class CommTable {
  public:
    /// MPI_COMM_WORLD and MPI_COMM_SELF, after MPI_Init. False when MPI does not answer.
    bool addPredefined(trace::Recorder& recorder);
    /// The entry of a communicator. One that was not made by a traced call is described as Other. Null for
    /// MPI_COMM_NULL, and where memory or the region of the recording is used up.
    CommEntry* find(trace::Recorder& recorder, MPI_Comm comm);
    /// Describes a new communicator and remembers it. kNoComm for MPI_COMM_NULL.
    CommIndex add(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, MPI_Comm comm) {
        return add(recorder, kind, parent, comm, kFirstJob);
    }
    /// The job that the next spawn over `parent` makes: the same for all that take part in it.
    [[nodiscard]] static JobKey nextJob(const CommEntry& parent);
    /// The same as add() for what a spawn over `parent` has made.
    CommIndex addSpawned(trace::Recorder& recorder, CommEntry& parent, MPI_Comm comm) {
        return add(recorder, trace::CommKind::Process, &parent, comm, nextJob(parent));
    }
    /// What the agent says of a rank that was spawned (see trace::kSpawnedVariable; null: it was not); before
    /// addPredefined(). Must live on.
    void setSpawned(const char* text);
    /// Writes what the agents of the processes are to say that are spawned over `parent` by the call that has begun with
    /// `event`, as such a text. Its bytes with the zero at its end, also where they are more than `capacity`; 0 when the
    /// members are not known.
    std::size_t writeSpawned(const CommEntry& parent, std::uint64_t event, char* text, std::size_t capacity);
    /// The same for one whose members are those of its parent and which may not be asked yet (MPI_Comm_idup).
    /// Its handle is read through `handle` by settle(), when the request with this serial is complete.
    CommIndex addLater(trace::Recorder& recorder, CommEntry* parent, MPI_Comm* handle, std::uint32_t serial);
    void settle(std::uint32_t serial);
    /// A window or file made from all members of `parent`.
    CommIndex addOn(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, HandleKey handle);
    /// The index of a communicator, window or file that is known; kNoComm otherwise.
    [[nodiscard]] CommIndex indexOf(HandleKey handle) {
        const CommEntry* entry = handle == 0 ? nullptr : lookUp(handle);
        return entry == nullptr ? kNoComm : entry->index;
    }
    /// A constructor of `parent` gave this rank nothing: the ordinals of the others must stay equal.
    void countOnly(trace::CommKind kind, CommEntry* parent);
    void remove(HandleKey handle);
    /// Changes whenever a handle comes to stand for something else.
    [[nodiscard]] std::uint32_t generation() const { return m_generation; }

  private:
    struct Group;
    struct Pending {
        MPI_Comm* handle;
        CommEntry entry;
        std::uint32_t serial;
    };
    [[nodiscard]] CommEntry* lookUp(HandleKey handle);
    CommEntry* insert(const CommEntry& entry);
    CommIndex add(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, MPI_Comm comm, JobKey spawned);
    bool readMembersOf(const CommEntry& entry);
    CommIndex describe(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, CommEntry& entry, JobKey spawned);
    bool addParents(trace::Recorder& recorder);
    bool findInOtherJobs(MPI_Group group, std::size_t size, std::size_t offset);
    bool rememberGroup(MPI_Group group, std::size_t first);
    bool rememberSpawned(MPI_Comm comm, JobKey job);
    std::uint32_t findRuns(std::size_t count);
    [[nodiscard]] std::uint32_t ordinalOfSet(std::uint64_t set);
    bool readMembers(MPI_Comm comm, bool remote, std::uint32_t& count, std::size_t offset);

    Pool<CommEntry, 64> m_entries;
    std::size_t m_count = 0;
    std::uint32_t m_generation = 0;
    std::size_t m_lastUsed = 0;
    Pool<Pending, 8> m_pending;
    std::size_t m_pendingCount = 0;
    struct SetCount {
        std::uint64_t set;
        std::uint32_t count;
    };
    Pool<SetCount, 64> m_sets;
    std::size_t m_setCount = 0;
    Pool<std::int32_t, 1024> m_members; ///< local, then remote group of the communicator in hand
    Pool<JobKey, 1024> m_jobs;          ///< of these
    Pool<trace::JobRun, 16> m_runs;
    MPI_Group m_worldGroup{};
    JobKey m_ownJob = kFirstJob;
    const char* m_spawned = nullptr; ///< what the agent says of us, behind the key
    /// Processes of other jobs, by the groups in which we have met them: MPI only tells which of them is which of another
    /// group.
    struct OtherProcess {
        JobKey job;
        std::int32_t rank;
    };
    struct OtherGroup {
        MPI_Group group;
        std::size_t first; ///< of its processes in m_others
        std::size_t count;
    };
    Pool<OtherGroup, 8> m_otherGroups;
    std::size_t m_otherGroupCount = 0;
    Pool<OtherProcess, 64> m_others;
    std::size_t m_otherCount = 0;
};

} // namespace stopline::preload
