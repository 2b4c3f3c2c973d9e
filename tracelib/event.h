// What one event says, decoded: the common currency of the reader, the timeline and the tests.
#pragma once

#include "errors.h"
#include "functions.h"
#include "types.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace stopline::trace {

enum class EventKind : std::uint8_t { Begin, End };

/// A request named relative to the event that mentions it, so that a repeating program gives repeating details:
/// serial = (requests this rank has created up to and including this event's call) - back.
/// Serials start at 1 and grow by one with each call for which createsRequest() holds.
struct RequestRef {
    static constexpr std::uint32_t kNull = std::numeric_limits<std::uint32_t>::max(); ///< null or inactive
    static constexpr std::uint32_t kUnknown = kNull - 1; ///< not created by a traced call
    std::uint32_t back = kNull;
    friend bool operator==(const RequestRef&, const RequestRef&) = default;
};

/// Part of MPI_Status that matters. Ranks are those of the communicator (of the remote group between groups).
struct Status {
    std::int32_t source = kNoPeer;
    std::int32_t tag = kNoTag;
    std::uint64_t bytes = 0;
    bool cancelled = false;
    friend bool operator==(const Status&, const Status&) = default;
};

/// One request that a Wait or Test completed (or that Request_get_status saw complete: a Wait or Test will list it
/// again). For sends only `cancelled` of the status means anything.
struct Completion {
    RequestRef request;
    std::uint32_t index = 0; ///< position in the user's array of requests
    Status status;
    ErrorClass error = ErrorClass::Success; ///< with which this request ended
    std::int32_t errorCode = 0;             ///< as MPI gave it
    friend bool operator==(const Completion&, const Completion&) = default;
};

/// Everything about an event except its time and number. Interned per rank.
/// Begin events fill the arguments, end events the results; a field that does not apply keeps its default.
struct EventDetails {
    EventKind kind = EventKind::Begin;
    FunctionId function = FunctionId::Init; ///< at the end of a merged poll: the function that ended it
    std::uint16_t thread = 0;               ///< ordinal of the calling thread; 0 is the one that called MPI_Init
    CodeAddress site{0};

    // Arguments (begin).
    CommIndex comm = kNoComm;
    std::int32_t sendPeer = kNoPeer; ///< destination, rank in comm or kProcNull
    std::int32_t sendTag = kNoTag;
    std::uint64_t sendBytes = 0;      ///< collectives: what this rank contributes
    std::int32_t recvPeer = kNoPeer; ///< source as posted: rank, kAnySource, kProcNull
    std::int32_t recvTag = kNoTag;   ///< tag as posted: or kAnyTag
    std::uint64_t recvBytes = 0;      ///< capacity posted; collectives: what this rank is to receive
    std::int32_t root = kNoPeer;     ///< rooted collectives: rank in comm, kRootInter, kProcNull
    std::int32_t mode = 0;           ///< how: type of a lock, WindowMode bits, or mode of a file as MPI numbers it
    std::vector<std::int32_t> peers; ///< Win_post, Win_start: the group, as ranks in the window
    std::vector<RequestRef> requests; ///< operands of Wait, Test, Start, Request_free, Cancel, in the user's order

    // Results (end).
    ErrorClass error = ErrorClass::Success;
    std::int32_t errorCode = 0;          ///< what the call returned, as its MPI numbers it; 0 is success
    bool flag = true;                    ///< polls: succeeded. false: ended because another call began
    Status status;                       ///< blocking receives and probes (Sendrecv: its receive)
    std::vector<Completion> completions; ///< Wait and Test, in the order that MPI returned them
    CommIndex newComm = kNoComm;         ///< constructors: the new communicator, window or file; kNoComm if not a member

    /// Mrecv, Imrecv (begin): the matched message they receive, counted in successful Mprobe and Improbe calls:
    /// serial = (those of this rank up to this event) - back. kNull for MPI_MESSAGE_NO_PROC. `comm`, `recvPeer` and
    /// `recvTag` are then those of the message.
    RequestRef message;
    /// Of the requests that this event names, one has the same handle as other active ones: all that is known is that it is
    /// one of these. MPI gives one handle to all sends that are complete at once, so it is chance which requests those are.
    bool shared = false;
    bool truncated = false; ///< more requests, completions or peers than one record can hold: the last ones are missing

    friend bool operator==(const EventDetails&, const EventDetails&) = default;
};

/// Assertions of Win_fence, Win_post, Win_start, Win_lock and Win_lock_all, the same for every MPI implementation.
enum WindowMode : std::int32_t { kNoCheck = 1, kNoPrecede = 2, kNoPut = 4, kNoStore = 8, kNoSucceed = 16 };
/// `mode` of Win_lock.
enum WindowLock : std::int32_t { kLockExclusive = 1, kLockShared = 2 };

/// Windows and files stand among the communicators, as what calls are about and collectives are ordered by.
/// Process: with another job, that was spawned, joined or connected to.
enum class CommKind : std::uint8_t { World, Self, Dup, Split, SplitType, Create, CreateGroup, InterCreate, InterMerge, Topology, Other, Process, Window, File };

/// So many members, one after the other, are of this job.
struct JobRun {
    JobKey job = kFirstJob;
    std::uint32_t count = 0;
    friend bool operator==(const JobRun&, const JobRun&) = default;
};

/// A communicator as one rank sees it.
struct CommInfo {
    std::uint64_t id = 0; ///< equal on all members and different for different communicators (DESIGN section 5)
    CommKind kind = CommKind::World;
    CommIndex parent = kNoComm;
    std::uint32_t ordinal = 0;         ///< among the constructors of that parent, as counted by this rank
    std::vector<std::int32_t> members; ///< world ranks of the local group, in its order; -1: of a job that is not known
    std::vector<std::int32_t> remote;  ///< world ranks of the remote group; empty unless an intercommunicator
    std::vector<JobRun> jobs; ///< of the members, then of the remote ones; empty: all are of the rank's own job
    friend bool operator==(const CommInfo&, const CommInfo&) = default;
};

/// A span in which a rank did not execute because the debugger held it.
struct StopRecord {
    EventIndex event; ///< last event before the stop
    TimeNs begin = 0; ///< CLOCK_MONOTONIC
    TimeNs end = 0;
};

} // namespace stopline::trace
