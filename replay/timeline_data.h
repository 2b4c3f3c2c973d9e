// What the timeline stores; filled by the recorder, the matcher and the collective table, read by causality.
#pragma once

#include "../tracelib/history_start.h"
#include "causality_digest.h"
#include "one_sided_data.h"
#include "timeline.h"
#include "timeline_array.h"
#include "timeline_events.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stopline::replay {

/// How a call takes part in a message or a collective. A call holds a list of these.
enum class Role : std::uint32_t {
    Send,     ///< starts a send
    SendDone, ///< its end sees a non-blocking send complete
    Post,     ///< posts a receive, or takes a message out of the matching (matched probe)
    Start,    ///< Mrecv, Imrecv: starts to receive a message that a matched probe took
    Done,     ///< its end sees a receive complete that an earlier call posted
    Probe,    ///< its end sees a message that stays in the matching
    Coll,     ///< starts its part of a collective
    CollDone, ///< its end sees the collective complete that an earlier call started
    Rma,      ///< moves data between its rank and a window of another
    SyncFrom, ///< its start is what the end of a call of another rank waits for
    SyncTo,   ///< its end waits for the start of a call of another rank
};
/// A role and the id that goes with it are one word in the list of a call.
inline constexpr std::uint32_t kRoles = 16;

/// Sending side of a message. Its message record never changes hands.
struct SendHalf {
    std::int32_t rank = 0;
    std::uint32_t call = kNone;
    std::uint32_t done = kNone; ///< call at whose end the buffer was free; kNone while unknown
    std::uint32_t channel = kNone;
    std::uint32_t message = kNone;
    bool waitsForReceiver = false; ///< synchronous mode, or above the eager limit
    bool cancelled = false;
};

/// Receiving side of a message. Those of a rank are numbered in the order of posting.
struct RecvHalf {
    std::int32_t rank = 0;
    std::uint32_t post = kNone; ///< call that decides the order of matching
    std::uint32_t start =
        kNone;                  ///< call that begins to receive: the post, or the Mrecv after a matched probe
    std::uint32_t done = kNone; ///< call at whose end it was seen complete
    std::uint32_t channel = kNone; ///< kNone while a wildcard is unresolved
    std::uint32_t message = kNone;
    std::uint32_t details = 0; ///< begin details of the posting call (of the *_init for persistent ones)
    bool cancelled = false;
};

/// A successful probe: it saw the message at `position` of its channel.
struct ProbeHalf {
    std::int32_t rank = 0;
    std::uint32_t call = kNone;
    std::uint32_t channel = kNone;
    std::uint32_t position = 0; ///< of the next receive, in Channel::recvs
    std::uint32_t before = 0; ///< receives of this rank with this number or a higher one were posted later
};

/// One (communicator, source, destination, tag). The k-th send belongs to the k-th receive in posting order; those that
/// are missing before the start of a rank's history count.
struct Channel {
    std::uint32_t comm = 0;
    std::int32_t source = 0;
    std::int32_t destination = 0;
    std::int32_t tag = 0;
    SmallList sends;  ///< ids, in order of sending (so ascending)
    SmallList recvs;  ///< ids, in order of posting (so ascending)
    SmallList probes; ///< ids, ascending, and so by position
    /// Receives missing less sends missing.
    std::int64_t shift = 0;
    bool unknown = false; ///< how many are missing is not known: nothing can be paired
    /// The messages of the first so many receives may have been seen by probes before the start of the history.
    std::uint32_t seen = 0;

    static constexpr std::int64_t kMissing = -1;
    /// The place in `sends` of what belongs to a place in `recvs`, and the other way round; negative for one that is
    /// missing, and beyond the end for one that has not come.
    [[nodiscard]] std::int64_t sendAt(std::size_t receive) const {
        return unknown ? kMissing : static_cast<std::int64_t>(receive) + shift;
    }
    [[nodiscard]] std::int64_t receiveAt(std::size_t send) const {
        return unknown ? kMissing : static_cast<std::int64_t>(send) - shift;
    }
    [[nodiscard]] bool hasSend(std::int64_t at) const { return at >= 0 && at < static_cast<std::int64_t>(sends.size()); }
    [[nodiscard]] bool hasReceive(std::int64_t at) const {
        return at >= 0 && at < static_cast<std::int64_t>(recvs.size());
    }
};

/// The halves of a public message, and its place in the list of open ones.
struct MessageHalves {
    std::uint32_t send = kNone;
    std::uint32_t recv = kNone;
    std::uint32_t open = kNone;
};

/// A rank's part in a collective.
struct CollPart {
    std::uint32_t collective = 0;
    std::uint32_t position = 0; ///< in Collective::members
};

/// What is known of a collective beyond its public face.
struct CollRules {
    std::uint32_t* arrived = nullptr; ///< what Collective::arrived and finished show
    std::uint32_t* finished = nullptr;
    std::int32_t localCount = 0;    ///< members of the first group
    std::int32_t rootPosition = -1; ///< in members
    std::uint32_t first = kNone;    ///< lowest position that has arrived
    std::uint32_t commEntry = kNone; ///< kNone for group constructors, which stand in no order
    std::uint32_t ordinal = 0;       ///< there
    std::uint32_t arrivals = 0;
    std::uint32_t finishes = 0;
    bool apart = false; ///< some member has finished it in a later call than it started it in
    bool inter = false; ///< members after localCount are the other group
    bool large = false; ///< some member moves more than the eager limit
};

struct CommEntry {
    std::uint64_t id = 0;
    std::vector<RankId> members; ///< canonical order: as the first rank that told of it saw it
    std::int32_t localCount = 0;
    bool inter = false;
    GrowingArray<std::uint32_t> collectives; ///< by ordinal, from `first` on
    std::uint32_t first = 0;
    /// Those that stand far from the others: before where most histories start.
    std::unordered_map<std::uint32_t, std::uint32_t> apart;
    std::vector<std::uint32_t> missing; ///< by member: how many of its parts are missing; empty: none of any
    bool epochsMissing = false;         ///< of some member of the window calls that open or close epochs are missing
    [[nodiscard]] bool isMissing(std::uint32_t ordinal) const {
        return std::any_of(missing.begin(), missing.end(), [ordinal](std::uint32_t count) { return ordinal < count; });
    }
};

/// A rank's own view of a communicator.
struct CommView {
    std::uint32_t entry = kNone;
    std::int32_t position = -1;        ///< of this rank in CommEntry::members
    std::uint32_t collectiveCount = 0; ///< collectives started so far by this rank
};

enum class RequestKind : std::uint8_t { None, Send, Recv, Both, SendInit, RecvInit, Coll, CollInit, Transfer };

struct Request {
    /// Half or part that is active; of Both the call that made it, whose links are the halves. kNone when inactive.
    std::uint32_t target = kNone;
    std::uint32_t details : 28 = 0; ///< begin details of the *_init
    RequestKind kind : 4 = RequestKind::None;
};

/// A message taken by a matched probe and not yet received.
struct MatchedMessage {
    std::uint32_t half = kNone;
    std::uint32_t commEntry = kNone;
    std::uint32_t starter = kNone; ///< Mrecv or Imrecv that took it
    std::uint32_t request = kNone; ///< index of the Imrecv's request
};

/// What an event with these details means, worked out once.
struct DetailsCache {
    trace::CallClass callClass = trace::CallClass::Init;
    bool begin = false;
    bool completes = false; ///< lists completed requests
    bool failed = false;    ///< with an error
    bool resolved = false;
    bool waitsForReceiver = false;
    bool wildcard = false; ///< the receive names a message only when it completes
    bool receives = false; ///< there is a receiving part at all
    std::uint32_t ended = 0; ///< calls that began with these details and have ended
    std::uint16_t thread = 0;
    std::uint32_t sendChannel = kNone; ///< kNone: no message (PROC_NULL, unknown communicator or rank)
    std::uint32_t recvChannel = kNone;
    std::uint32_t sendRecord = kNone; ///< in TimelineData::prototypes
    std::uint32_t recvRecord = kNone;
};

/// A request that was made before the start of the history.
struct EarlyRequest {
    Request request; ///< of persistent ones, as if it had been made since
    trace::StartRequest made;
};

/// What is known of a rank before the start of its history.
struct EarlyHistory {
    std::uint64_t requests = 0;
    std::uint64_t messages = 0; ///< taken by matched probes
    std::uint32_t comms = 0;
    bool incomplete = false;
    std::vector<trace::StartCall> calls; ///< begun and not ended
    std::unordered_map<std::uint64_t, EarlyRequest> open; ///< by serial
};

inline constexpr std::uint64_t kUntouched = 0xffffffffffffffffULL;

struct RankData {
    RankEvents events;
    std::uint32_t world = 0;     ///< entry of MPI_Init among the communicators; that of MPI_Finalize follows
    std::int32_t worldRank = 0;  ///< in its job
    std::unique_ptr<EarlyHistory> early; ///< null: the history starts with the first event
    /// Places before this one are missing, or others did before the start of their histories what needs the rank beyond
    /// them. As in causality.h.
    std::uint64_t floor = 0;
    std::uint64_t messagesTaken = 0; ///< by matched probes, since the start
    std::uint64_t unreadFrom = 0;    ///< see Timeline::setUnread()
    bool brokenOff = false; ///< the rank has done more than has been recorded
    /// No call that begins before this event has got or lost an edge since the digest was made.
    mutable std::uint64_t touched = kUntouched;
    std::deque<trace::EventDetails> details; // references stay valid
    std::vector<DetailsCache> cache;
    std::deque<trace::CommInfo> comms;
    std::vector<CommView> views;
    GrowingArray<Request> requests;    ///< by serial - 1
    GrowingArray<std::uint32_t> links; ///< by call: kNone, a packed link, or kManyLinks + number of the first
    std::vector<MatchedMessage> matched;
    std::vector<LockSpan> locks; ///< in the order of asking
    std::vector<std::pair<CommIndex, std::uint32_t>> splitParts; ///< of collectives begun on files and not ended
    std::uint32_t initCount = 0;
    std::uint32_t finalizeCount = 0;
    std::uint32_t finalizeCall = kNone;
    std::uint32_t groupCall = kNone; ///< group constructor that has begun and not ended
    std::uint32_t groupPart = kNone; ///< its part in the collective that it is taken to be
    std::vector<std::uint32_t>
        awaited; ///< group constructors that others have ended and this rank has not arrived at
};

/// A link of a call: id * kRoles + role. Most calls have one, which takes the place of the list.
inline constexpr std::uint32_t kManyLinks = 0x80000000U;
struct Link {
    std::uint32_t target = 0;
    std::uint32_t next = kNone;
};

/// The whole store. Indices of halves, channels and collectives never change; those of messages may.
struct TimelineData {
    TransportRules rules;
    std::vector<RankData> ranks;
    std::vector<JobRanks> jobs;
    /// That a rank belongs to; null where none is known.
    [[nodiscard]] const JobRanks* jobOf(std::int32_t rank) const {
        const auto of = [rank](const JobRanks& job) { return rank >= job.first && rank < job.first + job.size; };
        const auto job = std::find_if(jobs.begin(), jobs.end(), of);
        return job == jobs.end() ? nullptr : &*job;
    }
    GrowingArray<Link> links;
    GrowingArray<SendHalf> sends;
    GrowingArray<RecvHalf> recvs;
    GrowingArray<ProbeHalf> probes;
    std::vector<Channel> channels;
    GrowingArray<Message> messages;
    GrowingArray<MessageHalves> halves; ///< by message
    GrowingArray<std::uint32_t> openMessages;
    std::vector<Message> prototypes; ///< of messages, as their first half makes them
    GrowingArray<Collective> collectives;
    GrowingArray<CollRules> collRules; ///< by collective
    GrowingArray<CollPart> parts;
    GrowingArray<TransferHalf> transfers;
    GrowingArray<SyncEdge> syncEdges;
    std::deque<std::vector<std::uint32_t>> calls; ///< chunks, for CollRules::arrived and finished
    std::deque<CommEntry> commEntries; ///< among them two pseudo communicators of each job, see RankData::world
    std::unordered_map<std::uint64_t, std::uint32_t> commById;
    std::unordered_map<std::uint64_t, std::uint32_t>
        createdComms; ///< id to collective of the group constructors
    mutable Digest digest; ///< made up to date by the walks that use it
    mutable std::uint32_t digestedCollectives = 0;
    /// Counts messages that had found their receive and have lost it or got another.
    std::uint64_t rearranged = 0;
    /// Counts sends and receives that have left their channel, and probes that see another message than before.
    std::uint64_t revised = 0;

    void link(std::int32_t rank, std::uint32_t call, Role role, std::uint32_t id) {
        std::uint32_t& head = ranks[static_cast<std::size_t>(rank)].links[call];
        const std::uint32_t target = id * kRoles + static_cast<std::uint32_t>(role);
        if (head == kNone) {
            head = target;
            return;
        }
        if ((head & kManyLinks) == 0) {
            links.push_back({head, kNone});
            head = kManyLinks + static_cast<std::uint32_t>(links.size() - 1);
        }
        links.push_back({target, head - kManyLinks});
        head = kManyLinks + static_cast<std::uint32_t>(links.size() - 1);
    }
    /// Visits the (role, id) pairs of a call, last added first.
    template <typename Visit>
    void eachLink(std::int32_t rank, std::uint32_t call, Visit&& visit) const {
        const std::uint32_t head = ranks[static_cast<std::size_t>(rank)].links[call];
        if (head == kNone) {
            return;
        }
        if ((head & kManyLinks) == 0) {
            visit(static_cast<Role>(head % kRoles), head / kRoles);
            return;
        }
        for (std::uint32_t at = head - kManyLinks; at != kNone; at = links[at].next) {
            visit(static_cast<Role>(links[at].target % kRoles), links[at].target / kRoles);
        }
    }
    /// An edge of this call has come, gone or changed.
    void touch(std::int32_t rankId, std::uint32_t call) {
        RankData& data = rank(rankId);
        data.touched = std::min(data.touched, data.events.beginOf(call));
    }
    /// The call belongs to something of which another rank's part is missing.
    void noteMissing(std::int32_t rankId, std::uint32_t call) {
        RankData& data = rank(rankId);
        data.floor = std::max(data.floor, data.events.beginOf(call) * 2 + 1);
    }
    void touchAll() {
        for (RankData& data : ranks) {
            data.touched = 0;
        }
    }
    /// A member's part in a collective lies before the start of its history.
    [[nodiscard]] bool isMissing(std::uint32_t collective, std::uint32_t member) const {
        const CollRules& r = collRules[collective];
        if (r.commEntry == kNone) {
            return collectives[collective].early && hasEarly(collectives[collective].members[member].value());
        }
        const CommEntry& entry = commEntries[r.commEntry];
        return member < entry.missing.size() && r.ordinal < entry.missing[member];
    }
    [[nodiscard]] bool hasEarly(std::int32_t r) const {
        return r >= 0 && r < rankCount() && rank(r).early != nullptr;
    }
    /// Bytes of memory in use.
    [[nodiscard]] std::size_t bytes() const;
    /// Rows for its ranks, behind those there are.
    void addJob(const JobRanks& job);
    /// The call that has spawned the job; kNone while it is not known.
    [[nodiscard]] std::uint32_t spawnOf(const JobRanks& job) const {
        const bool known = job.spawner.value() >= 0 && job.spawner.value() < rankCount() &&
                           job.spawnEvent.value() != 0 &&
                           job.spawnEvent.value() <= rank(job.spawner.value()).events.lastEvent();
        return known ? rank(job.spawner.value()).events.callOf(job.spawnEvent.value()) : kNone;
    }
    /// The call that has spawned the job and the other calls of the same spawn, which are those of all parents: `visit(rank,
    /// call)` for each that is known.
    template <typename Visit>
    void eachSpawn(const JobRanks& job, Visit&& visit) const {
        const std::uint32_t root = spawnOf(job);
        std::uint32_t part = kNone;
        if (root != kNone) {
            eachLink(job.spawner.value(), root, [&](Role role, std::uint32_t id) { part = role == Role::Coll ? id : part; });
        }
        if (part == kNone) {
            return;
        }
        for (const MaybeCall call : collectives[parts[part].collective].arrived) {
            if (call) {
                visit(call->rank.value(), call->call.value());
            }
        }
    }
    [[nodiscard]] RankData& rank(std::int32_t r) { return ranks[static_cast<std::size_t>(r)]; }
    [[nodiscard]] const RankData& rank(std::int32_t r) const { return ranks[static_cast<std::size_t>(r)]; }
    [[nodiscard]] std::int32_t rankCount() const { return static_cast<std::int32_t>(ranks.size()); }
    /// World rank of a peer of a communicator, or -1 when out of range.
    [[nodiscard]] std::int32_t worldRank(std::int32_t rankId, CommIndex comm, std::int32_t peer) const {
        const RankData& data = rank(rankId);
        if (comm.value() >= data.comms.size() || peer < 0) {
            return -1;
        }
        const trace::CommInfo& info = data.comms[comm.value()];
        const auto& group = info.remote.empty() ? info.members : info.remote;
        if (static_cast<std::size_t>(peer) >= group.size()) {
            return -1;
        }
        const std::int32_t world = group[static_cast<std::size_t>(peer)];
        return world >= 0 && world < rankCount() ? world : -1;
    }
    [[nodiscard]] std::uint32_t commEntry(std::int32_t rankId, CommIndex comm) const {
        const RankData& data = rank(rankId);
        return comm.value() < data.views.size() ? data.views[comm.value()].entry : kNone;
    }
    [[nodiscard]] const trace::EventDetails& beginDetails(std::int32_t rankId, std::uint32_t call) const {
        const RankData& data = rank(rankId);
        return data.details[data.events.detailsOf(data.events.beginOf(call))];
    }
    /// Of the messages that a call sends and receives one whose half is not done, the received one first; kNone: none.
    [[nodiscard]] std::uint32_t openMessageOf(std::int32_t rankId, std::uint32_t call) const;
    [[nodiscard]] CallRef ref(std::int32_t rankId, std::uint32_t call) const {
        return {RankId{rankId}, CallIndex{call}};
    }
};

} // namespace stopline::replay
