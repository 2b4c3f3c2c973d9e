// From execution time to the drawing axis.
//
// Wall clock of an event = origin of its rank + its execution time + all its rank's stops before it. The axis
// cuts out the spans in which every rank was held; a rank whose MPI_Finalize has ended counts as held from
// then on, as it records nothing more. 0 is the earliest event. Times of stops and origins are on one clock.
//
// Recorded times are rounded, so that a message may seem to arrive before it was sent. The axis then moves
// the end of the receive to the begin of the send, and what follows on that rank not to before it. By how
// much: if every recorded time is within t of the true one, then the latest recorded time of all that
// happened before an event, itself included, is within t of its true time as well; that is what the axis
// shows, so that nothing moves by more than 2 t, however long the chain of messages. A message that by what
// is recorded goes backwards by more than that is left as it is: then the clocks themselves disagree. Not so where the
// receiver's times are of a later execution that has been joined to the recording: ranks are joined at different moments,
// so that their times lie apart by as much as they have gone faster or slower than in the recording. There the receive
// follows its send whatever that takes, up to 4 s.
#pragma once

#include "timeline_data.h"

#include <limits>
#include <vector>

namespace stopline::replay {

class TimeAxis {
  public:
    explicit TimeAxis(const TimelineData& data);

    void addStop(std::int32_t rank, const trace::StopRecord& stop);
    void setOrigin(std::int32_t rank, TimeNs origin);
    void setJoined(std::int32_t rank, EventIndex event);
    /// New events may move the start of the axis and end a rank.
    void eventsChanged() { m_stale = true; }
    void ranksChanged() {
        m_ranks.resize(m_data->ranks.size());
        m_stale = true;
    }
    /// Event 0 counts as the first event.
    [[nodiscard]] TimeNs at(std::int32_t rank, std::uint64_t event) const;
    [[nodiscard]] std::vector<Timeline::HeldSpan> held(std::int32_t rank) const;
    /// Length of the spans in which every rank was held.
    [[nodiscard]] TimeNs cutOut() const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Span {
        TimeNs begin = 0;
        TimeNs end = 0;
        TimeNs before = 0; ///< total length of the spans before this one
    };
    struct RankAxis {
        TimeNs origin = 0;
        std::uint64_t joined = std::numeric_limits<std::uint64_t>::max(); ///< events behind this one are of a later execution
        std::vector<trace::StopRecord> stops; ///< by event
        std::vector<TimeNs> total;            ///< length of the stops up to and including each
        // Computed when asked for.
        std::vector<std::uint32_t> lifts; ///< by event from the first one on, as far as any is not 0: how far it is moved
        std::uint64_t settled = 0;        ///< events up to this one follow each other in time
    };
    [[nodiscard]] TimeNs wall(std::int32_t rank, std::uint64_t event) const;
    /// The same, moved.
    [[nodiscard]] TimeNs shown(std::int32_t rank, std::uint64_t event) const {
        const auto& lifts = m_ranks[static_cast<std::size_t>(rank)].lifts;
        const std::uint64_t index = event - m_data->rank(rank).events.firstEvent(); // huge for events before
        return wall(rank, event) + (index < lifts.size() ? TimeNs{lifts[index]} : 0);
    }
    /// Moves events, and the receives of what they send, as the messages known by now ask for.
    void settle() const;
    /// Moves this event and those after it so that none is before `from`.
    void lift(std::int32_t rank, std::uint64_t event, TimeNs from) const;
    /// Moves the receive of a send; false when it is not known to be complete.
    bool follow(std::uint32_t send) const;
    void forget() const;
    [[nodiscard]] TimeNs cut(TimeNs wall) const; ///< wall clock without the spans in which all were held
    void refresh() const;

    const TimelineData* m_data;
    TimeNs m_slack;
    mutable std::vector<RankAxis> m_ranks;
    // Computed when asked for.
    mutable bool m_stale = true;
    mutable std::vector<Span> m_allHeld;
    mutable TimeNs m_zero = 0;
    mutable std::uint32_t m_sends = 0;           ///< sends looked at
    mutable std::vector<std::uint32_t> m_flying; ///< of these, those whose receive was not complete
    mutable std::vector<std::uint32_t> m_todo;   ///< sends whose begin has moved
    mutable std::uint64_t m_rearranged = 0;
    mutable bool m_forget = false; ///< times that were looked at have changed
};

} // namespace stopline::replay
