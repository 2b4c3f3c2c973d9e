// From execution time to the drawing axis.
//
// Wall clock of an event = origin of its rank + its execution time + all its rank's stops before it. The axis
// cuts out the spans in which every rank was held; a rank whose MPI_Finalize has ended counts as held from
// then on, as it records nothing more. 0 is the earliest event. Times of stops and origins are on one clock.
#pragma once

#include "timeline_data.h"

#include <vector>

namespace stopline::replay {

class TimeAxis {
  public:
    explicit TimeAxis(const TimelineData& data) : m_data(&data), m_ranks(data.ranks.size()) {}

    void addStop(std::int32_t rank, const trace::StopRecord& stop);
    void setOrigin(std::int32_t rank, TimeNs origin);
    /// New events may move the start of the axis and end a rank.
    void eventsChanged() { m_stale = true; }
    /// Event 0 counts as the first event.
    [[nodiscard]] TimeNs at(std::int32_t rank, std::uint64_t event) const;
    [[nodiscard]] std::vector<Timeline::HeldSpan> held(std::int32_t rank) const;

  private:
    struct Span {
        TimeNs begin = 0;
        TimeNs end = 0;
        TimeNs before = 0; ///< total length of the spans before this one
    };
    struct RankAxis {
        TimeNs origin = 0;
        std::vector<trace::StopRecord> stops; ///< by event
        std::vector<TimeNs> total;            ///< length of the stops up to and including each
    };
    [[nodiscard]] TimeNs wall(std::int32_t rank, std::uint64_t event) const;
    [[nodiscard]] TimeNs cut(TimeNs wall) const; ///< wall clock without the spans in which all were held
    void refresh() const;

    const TimelineData* m_data;
    std::vector<RankAxis> m_ranks;
    // Computed when asked for.
    mutable bool m_stale = true;
    mutable std::vector<Span> m_allHeld;
    mutable TimeNs m_zero = 0;
};

} // namespace stopline::replay
