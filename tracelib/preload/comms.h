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
    CommIndex add(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, MPI_Comm comm);
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
    bool readMembersOf(const CommEntry& entry);
    CommIndex describe(trace::Recorder& recorder, trace::CommKind kind, CommEntry* parent, CommEntry& entry);
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
    MPI_Group m_worldGroup{};
};

} // namespace stopline::preload
