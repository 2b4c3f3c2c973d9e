// The happened-before relation of data alone, as far as questions about races need it: of each send, the
// latest of its receiver's events that happened before it. Edges lead from the start of a call to the end of
// another:
//
//  - start of a send -> end of the call that sees its receive complete, of probes that saw it, of a matched
//  probe;
//  - start of a receive -> end of the call that sees its send complete, if the send is synchronous (Ssend and
//  its kin; that
//    a large one waits as well is nothing that MPI promises). The sender then also knows that the receive has
//    matched (struct Told, and of a blocking one a moment of its own);
//  - Win_post -> Win_start, Win_complete -> Win_wait (one_sided.h);
//  - collectives, from members that give data to members that get some:
//      Barrier, Win_fence without assertions, Comm_split(_type), Allreduce, Allgather(v), Alltoall,
//      Reduce_scatter(_block)        all -> all; between groups: all -> all of the other group
//      Bcast, Scatter(v)             root -> others (between groups: of the other group)
//      Gather(v), Reduce             all -> root
//      Scan, Exscan                  j -> i for j <= i
//      everything else               none: Alltoallv, Alltoallw and neighbours, as the counts of each pair
//      are not recorded;
//                                    Init, Finalize, other constructors and files, as they carry no data
//    without those that give, or get, 0 bytes.
//
// None from what a receive got whose request was freed while it was active: at which call that is seen complete is
// chance, and nothing in the program waits for it.
//
// An edge that is left out can make a race too many, never hide one. The calls of a rank count as ordered as
// they were recorded, also where several threads made them.
//
// Each rank has one vector clock (Fidge 1988; Netzer & Miller 1992, section 5.1), which moves on with its
// events. It is copied at the start of calls that others wait for, and the copy is dropped when the last of
// them has passed: the memory is one number for each send plus a clock for each message in flight. Ranks are
// walked over in an order that follows the edges; a rank whose next end needs a start that has not been
// recorded yet is left there until the next update.
#pragma once

#include "timeline_data.h"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace stopline::replay {

/// A moment of one rank: 4 * event at its end events; 4 * event + 2 inside the call that begins with the
/// event, + 3 when it is known besides that this call, a blocking receive, has matched.
using Tick = std::uint32_t;
[[nodiscard]] constexpr Tick tickOfStart(std::uint64_t begin) {
    return static_cast<Tick>(begin * 4 + 2);
}
[[nodiscard]] constexpr Tick tickOfEnd(std::uint64_t end) {
    return static_cast<Tick>(end * 4);
}

/// A moment that never comes: when a receive was decided that nothing in the program waits for.
inline constexpr Tick kNever = ~Tick{0};

/// What a walk comes upon that can race.
struct Decision {
    enum class Kind : std::uint8_t {
        Receive,     ///< from any source, complete or cancelled; `id` is its half
        Probe,       ///< of any source, successful; `id` is its half
        FailedProbe, ///< of any source, given up; `id` counts DataOrder::failedProbes()
        Decided, ///< a receive that was told of as never decided was so by `early`
        Shadow, ///< any receive during which its rank did other things that others then knew; or a cancelled
                ///< one
    };
    Kind kind = Kind::Receive;
    std::uint32_t id = 0;
    /// Not 0: a receive was decided by then, before it was seen complete, as a younger one got (or a probe
    /// saw) a message that it would have got itself had it still been open.
    Tick early = 0;
};

/// A probe of any source that never succeeded (a merged poll that was given up).
struct FailedProbe {
    std::int32_t rank = 0;
    std::uint32_t call = 0;
    std::uint32_t before = 0; ///< as ProbeHalf::before
};

/// A rank knows that a synchronous send is over, and so that the receive from any source which got its message has matched,
/// although that one is seen complete only later.
struct Told {
    std::uint32_t recv = 0; ///< its half
    std::int32_t rank = 0;  ///< who knows it ...
    std::uint32_t call = 0; ///< ... from this call of its own on
};

class DataOrder {
  public:
    /// Without `waits`, orders that come of one call waiting for another, and not of data, are left out: those of synchronous
    /// sends and of Win_post, Win_start, Win_complete and Win_wait.
    explicit DataOrder(bool waits = true) : m_waits(waits) {}
    /// Walks over the events that have come since the last time. `data` must be the same timeline, only
    /// longer. About `mostEvents` of them; returns whether those were all.
    bool update(const TimelineData& data, std::uint64_t mostEvents = ~std::uint64_t{0});
    /// True when something that has been walked over has changed since: begin anew with another DataOrder.
    [[nodiscard]] bool overtaken(const TimelineData& data) const;

    /// Sends that the last update came upon, those of a rank in their order; without cancelled ones.
    [[nodiscard]] std::span<const std::uint32_t> newSends() const { return m_newSends; }
    [[nodiscard]] std::span<const Decision> newDecisions() const { return m_newDecisions; }
    /// What the senders of newSends() know by then, and have not been told of before.
    [[nodiscard]] std::span<const Told> newTold() const { return m_newTold; }
    [[nodiscard]] const std::vector<FailedProbe>& failedProbes() const { return m_failed; }
    /// The latest moment of the receiver that happened before this send. Only for sends that a walk has come
    /// upon.
    [[nodiscard]] Tick known(std::uint32_t send) const { return m_known[send]; }
    /// A walk has come upon this send, and it is not cancelled.
    [[nodiscard]] bool passed(std::uint32_t send) const {
        return send < m_known.size() && m_known[send] < kOut;
    }
    /// Last event of a rank that has been walked over.
    [[nodiscard]] std::uint64_t passedEvents(std::int32_t rank) const {
        return static_cast<std::size_t>(rank) < m_ranks.size()
                   ? m_ranks[static_cast<std::size_t>(rank)].passed
                   : 0;
    }
    /// The latest moment of `other` that happened before the last event of `rank` that has been walked over, and so before
    /// all that this rank does from there on.
    [[nodiscard]] Tick knownAtLast(std::int32_t rank, std::int32_t other) const {
        const std::size_t at = static_cast<std::size_t>(rank) * m_width + static_cast<std::size_t>(other);
        return at < m_clocks.size() ? m_clocks[at] : 0;
    }
    /// A younger receive of the same rank was decided by this moment, and its own decision is still to come.
    [[nodiscard]] bool decidedMeanwhile(const TimelineData& data, std::uint32_t recv, Tick until) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    static constexpr Tick kOut = 0xfffffffeU; ///< a cancelled send; above it: not walked over yet

    struct RankState {
        std::uint64_t passed = 0;
        std::uint64_t blockedAt = 0; ///< the event of `blockedBy` that it waits for
        std::int32_t blockedBy = -1; ///< a rank; -1: not by one
        bool queued = false;
        bool forced = false;        ///< the next end passes without what it cannot have
        bool onOpening = false;     ///< it waits for a Win_post
        bool anySource = false;     ///< it has posted a receive from, or a probe of, any source
        std::uint32_t nextRecv = 0; ///< its last receive, plus 1
        std::vector<std::uint32_t>
            open; ///< receives of any source that nothing tells yet to be decided, by number
        /// Receives of any source whose requests were freed, complete, that nothing tells yet to be decided: their numbers by
        /// what they asked for (communicator, tag).
        std::map<std::pair<std::uint32_t, std::int32_t>, std::set<std::uint32_t>> endless;
        bool freed = false; ///< a receive whose request was freed has been seen complete
        std::vector<std::pair<std::uint64_t, std::int32_t>> waiting; ///< for an event of this rank: who
    };
    struct Need {
        enum class Kind : std::uint8_t { Send, Seen, Recv, Edge } kind = Kind::Send;
        std::uint32_t id = 0;
        std::int32_t rank = 0;
        std::uint64_t event = 0;
    };
    /// A collective that is under way. Clocks of the members that give something, joined for each group.
    struct Instance {
        std::uint32_t joined[2] = {kNone, kNone};
        std::uint32_t arrived = 0;
        std::uint32_t ended = 0;
        bool loose = false;                ///< a fence with assertions
        std::vector<std::uint32_t> prefix; ///< Scan: by position, the clock of all up to it once `prefixed`
        std::uint32_t prefixed = 0;
    };

    /// A synchronous send that is over, and the receive that it tells of.
    struct Tell {
        Tick end = 0;
        std::uint32_t recv = 0;
    };

    bool walk(const TimelineData& data, std::uint64_t mostEvents);
    void run(const TimelineData& data, std::int32_t rank);
    void start(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event);
    bool end(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event);
    bool collectNeeds(const TimelineData& data, std::int32_t rank, std::uint32_t call);
    void meet(const TimelineData& data, std::int32_t rank, const Need& need);
    void decide(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event);
    /// The rank has met a message of this channel at this moment: receives with lower numbers that fit it
    /// were decided.
    void noteTaken(const TimelineData& data, std::int32_t rank, const Channel& channel, std::uint32_t before,
                   Tick by);
    /// The same for those receives that had been told of as never decided.
    void endEndless(RankState& own, const Channel& channel, std::uint32_t before, Tick by);
    /// What a receive whose request was freed gets is sent here, and the receive has been walked over already.
    [[nodiscard]] bool isSeen(const TimelineData& data, const SendHalf& send);
    /// The rank sends something by this call: what it knows of synchronous sends by now.
    void noteTold(const TimelineData& data, std::int32_t rank, std::uint32_t call);
    /// The end of a synchronous send tells that the receive from any source that got its message has matched.
    void noteMatched(std::int32_t rank, std::uint32_t recv, std::uint64_t event);
    void noteShadow(const TimelineData& data, std::uint32_t recv, Tick early);
    void noteFailedProbe(const TimelineData& data, std::int32_t rank, std::uint32_t call,
                         std::uint64_t event);
    bool breakCycle();
    void block(std::int32_t rank, std::int32_t by, std::uint64_t event, bool opening = false);
    void enqueue(std::int32_t rank);

    void arrive(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint32_t part);
    /// False when a member that the end waits for has not been walked over.
    bool canLeave(const TimelineData& data, std::int32_t rank, std::uint32_t part);
    void leave(const TimelineData& data, std::int32_t rank, std::uint32_t part);
    void joinPrefix(Instance& instance, std::uint32_t to);

    [[nodiscard]] Tick* clock(std::int32_t rank) {
        return m_clocks.data() + static_cast<std::size_t>(rank) * m_width;
    }
    [[nodiscard]] Tick* slot(std::uint32_t id) {
        return m_slots.data() + static_cast<std::size_t>(id) * m_width;
    }
    [[nodiscard]] bool waits(const TimelineData& data, const SendHalf& send) const;
    [[nodiscard]] std::uint32_t copyOf(std::int32_t rank);
    void join(Tick* into, const Tick* from) const;
    void release(std::uint32_t& id);
    RankState& state(std::int32_t rank) { return m_ranks[static_cast<std::size_t>(rank)]; }

    bool m_waits;
    std::size_t m_width = 0; ///< number of ranks
    std::vector<RankState> m_ranks;
    std::vector<Tick> m_clocks; ///< by rank
    std::vector<Tick> m_slots;
    std::vector<std::uint32_t> m_freeSlots;
    std::deque<std::int32_t> m_queue;
    std::vector<Need> m_needs;
    std::vector<std::uint32_t> m_leaving; ///< parts in collectives of the end at hand
    std::vector<std::uint32_t> m_starting;
    std::vector<std::uint32_t> m_matched; ///< receives from any source that the end at hand tells to have matched
    std::vector<std::vector<Tell>> m_tells; ///< by sender, in its order
    std::vector<std::int32_t> m_tellers;    ///< senders that have some
    std::vector<std::size_t> m_heard;       ///< by rank and sender: how many of these the rank has been told of
    GrowingArray<Tick> m_known;             ///< by send
    GrowingArray<std::uint32_t> m_sendSlot; ///< by send: copy of its clock while somebody will need it
    GrowingArray<std::uint32_t> m_used;     ///< by receive: the send whose clock its end got
    GrowingArray<std::uint32_t> m_recvSlot;
    GrowingArray<std::uint32_t> m_usedByProbe;
    std::unordered_map<std::uint32_t, std::uint32_t> m_edgeSlot;
    std::unordered_map<std::uint32_t, Instance> m_instances;
    std::unordered_map<std::uint32_t, Tick> m_early; ///< Decision::early of receives that are still open
    std::vector<std::uint32_t>
        m_unknownReceivers; ///< synchronous sends that ended before their receive was known
    std::vector<FailedProbe> m_failed;
    std::vector<std::uint32_t> m_newSends;
    std::vector<Decision> m_newDecisions;
    std::vector<Told> m_newTold;
    std::uint64_t m_rearranged = 0;
    std::uint64_t m_revised = 0;
};

/// When a receive was decided, as far as its own calls tell: it cannot get a message whose send knows of this
/// moment; kNever where they tell nothing. For one that is complete; see also Decision::early.
[[nodiscard]] Tick decidedAt(const TimelineData& data, const RecvHalf& recv);
/// Posted with any source.
[[nodiscard]] inline bool fromAnySource(const TimelineData& data, const RecvHalf& recv) {
    return data.rank(recv.rank).details[recv.details].recvPeer == kAnySource;
}
/// The receive has been seen complete at some call by chance, as its request was freed while it was active. Nothing in the
/// program waits for that, so it may be so later the next time: nothing follows from it. (One that takes what a matched
/// probe has found has its message by that.)
[[nodiscard]] bool isFreed(const TimelineData& data, const RecvHalf& recv);
/// The send is certain to wait for its receive.
[[nodiscard]] bool isSynchronous(const TimelineData& data, const SendHalf& send);
/// More of what this rank did may still be told.
[[nodiscard]] bool mayGrow(const TimelineData& data, std::int32_t rank);

} // namespace stopline::replay
