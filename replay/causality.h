// What happened before what. Every edge leads from the start of a call (it is performed) to the end of a
// call.
//
//  - start of a send -> end of the call that sees its receive complete, and of probes that saw the message;
//  - start of a receive -> end of the call that sees its send complete, if that send waits for the receiver;
//  - start of a Win_post -> end of the Win_start that it is for, of a Win_complete -> end of the Win_wait or successful
//    Win_test that it is for (see one_sided.h);
//  - start of the root's spawn -> the first event of each rank that it starts, which there is none of before; start of
//    their MPI_Init -> end of the spawn, of all parents. These are few: the walks look at them when all else is settled;
//  - start of a member's collective -> end of another's, by one of two relations:
//      Synchronising: every member waits for every other (for frontiers: all ranks on one side of each
//      collective); Needed: what the kind of collective requires to return (for the closure: where ranks can
//      really stand).
// Edges are read off messages and collectives; clocks are recomputed by walking over the part of the
// recording that a question is about, whole blocks at a time where their digests are known. Each call and
// each collective is visited at most once a walk.
//
// Needed, for members i and j (start of j -> end of i):
//   Bcast, Scatter(v)                 root -> others
//   Gather(v), Reduce                 all -> root
//   Scan, Exscan                      j -> i for j <= i
//   Comm_free                         none
//   everything else, also Init, Finalize, constructors, Comm_disconnect, unknown or mismatched functions: all
//   -> all between groups                    only from the other group (constructors: from both) a rooted
//   collective in which some member moves more than the eager limit: all -> all
// Counts of zero are not told apart from unknown ones, so they leave no edge out.
#pragma once

#include "timeline_data.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace stopline::replay {

enum class Relation : std::uint8_t { Synchronising, Needed }; // the digest counts on the order

/// Position of a rank: 2 * event, plus 1 inside the call that begins with that event. Ordered as Place.
using Position = std::uint64_t;
[[nodiscard]] constexpr Position positionOf(const Place& place) {
    return place.event.value() * 2 + (place.inside ? 1 : 0);
}
[[nodiscard]] constexpr Place placeAt(Position position) {
    return {EventIndex{position / 2}, position % 2 == 1};
}
using Positions = std::vector<Position>;

/// The latest position of a rank in the recording: after its last event, or inside the call it has not left.
[[nodiscard]] Position lastPosition(const RankData& rank);
[[nodiscard]] inline Position startOf(const RankData& rank, std::uint32_t call) {
    return rank.events.beginOf(call) * 2 + 1;
}
/// Only for calls that have ended.
[[nodiscard]] inline Position endOf(const RankData& rank, std::uint32_t call) {
    return rank.events.endOf(call) * 2;
}

/// Which of a collective's starts an end waits for; as ranges of positions in Collective::members.
enum class Pattern : std::uint8_t {
    None,
    All,
    RootToAll,
    AllToRoot,
    Prefix,
    OtherGroup,
    RootToOther,
    OtherToRoot
};
[[nodiscard]] Pattern patternOf(const TimelineData& data, std::uint32_t collective, Relation relation);

/// The least positions, at or above those asked for, at which every recorded end has what it waits for.
/// Inside counts.
class Raise {
  public:
    Raise(const TimelineData& data, Relation relation);
    /// Demands at least this position. A fixed rank is never raised above where need() first put it.
    void need(std::int32_t rank, Position position);
    void fix(std::int32_t rank) { m_fixed = rank; }
    /// Propagates all demands.
    void run();
    [[nodiscard]] const Positions& positions() const { return m_positions; }

  private:
    void propagate();
    [[nodiscard]] bool needSpawns();
    void visitEvents(std::int32_t rank, std::uint64_t& visited, const Position& goal);
    void visitEnd(std::int32_t rank, std::uint32_t call);
    void visitCollective(std::uint32_t part);
    void needStart(std::int32_t rank, std::uint32_t call);

    const TimelineData& m_data;
    Relation m_relation;
    std::int32_t m_fixed = -1;
    Positions m_positions;
    std::vector<std::uint64_t> m_visited; ///< by rank: last event whose demands are made
    std::deque<std::int32_t> m_queue;     ///< ranks that may have whole blocks to visit
    std::deque<std::int32_t> m_single;    ///< ranks that have single events to visit
    std::vector<std::uint32_t> m_reached; ///< by collective: how far its members are demanded
    std::uint64_t m_blockEvents;
};

/// The greatest positions, at or below the given ones, at which every end has what it waits for.
class Lower {
  public:
    enum class Stop : std::uint8_t {
        Inside, ///< a rank that cannot end a call stays inside it
        Before, ///< it stops before the call
    };
    Lower(const TimelineData& data, Relation relation, Stop stop, Positions from);
    /// No rank goes below its floor: where Stop::Before would, it stays inside.
    void setFloor(const Positions* floor) { m_floor = floor; }
    void fix(std::int32_t rank) { m_fixed = rank; }
    void run();
    [[nodiscard]] const Positions& positions() const { return m_positions; }
    [[nodiscard]] bool changed() const { return m_changed; }

  private:
    void propagate();
    [[nodiscard]] bool leaveSpawned();
    void lower(std::int32_t rank, Position position);
    void visitEvents(std::int32_t rank, std::uint64_t& visited, const Position& position);
    void visitStart(std::int32_t rank, std::uint32_t call);
    void visitCollective(std::uint32_t part);
    void forbidEnd(std::int32_t rank, std::uint32_t call);

    const TimelineData& m_data;
    Relation m_relation;
    Stop m_stop;
    std::int32_t m_fixed = -1;
    bool m_changed = false;
    Positions m_positions;
    const Positions* m_floor = nullptr;
    std::vector<std::uint64_t> m_visited; ///< by rank: first event whose start has been withdrawn
    std::deque<std::int32_t> m_queue;     ///< ranks that may have whole blocks to visit
    std::deque<std::int32_t> m_single;    ///< ranks that have single events to visit
    std::vector<std::uint32_t> m_reached;
    std::uint64_t m_blockEvents;
};

/// The starts that the end of a call waits for (Relation::Needed), one by one. For explanations, not for
/// walks.
[[nodiscard]] std::vector<CallRef> neededBy(const TimelineData& data, CallRef call);

/// Members of a collective whose starts the end of the member at `position` waits for (Relation::Needed).
[[nodiscard]] std::vector<std::uint32_t> membersNeeded(const TimelineData& data, std::uint32_t collective,
                                                       std::uint32_t position);

/// The send that belongs to a receive, or null.
[[nodiscard]] const SendHalf* sendOf(const TimelineData& data, const RecvHalf& recv);
/// The receive that belongs to a send, or null.
[[nodiscard]] const RecvHalf* recvOf(const TimelineData& data, const SendHalf& send);

} // namespace stopline::replay
