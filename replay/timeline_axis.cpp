#include "timeline_axis.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stopline::replay {

void TimeAxis::addStop(std::int32_t rank, const trace::StopRecord& stop) {
    if (stop.end <= stop.begin) {
        return;
    }
    RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
    const auto at = std::upper_bound(axis.stops.begin(), axis.stops.end(), stop,
                                     [](const auto& a, const auto& b) { return a.event < b.event; });
    const auto index = static_cast<std::size_t>(at - axis.stops.begin());
    axis.stops.insert(at, stop);
    axis.total.resize(axis.stops.size());
    for (std::size_t i = index; i < axis.stops.size(); ++i) {
        axis.total[i] = (i == 0 ? 0 : axis.total[i - 1]) + axis.stops[i].end - axis.stops[i].begin;
    }
    m_stale = true;
}

void TimeAxis::setOrigin(std::int32_t rank, TimeNs origin) {
    m_ranks[static_cast<std::size_t>(rank)].origin = origin;
    m_stale = true;
}

TimeNs TimeAxis::wall(std::int32_t rank, std::uint64_t event) const {
    const RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
    const RankEvents& events = m_data->rank(rank).events;
    const std::uint64_t known =
        std::clamp<std::uint64_t>(event, 1, std::max<std::uint64_t>(events.lastEvent(), 1));
    const TimeNs execution = events.lastEvent() == 0 ? 0 : events.timeOf(known);
    const auto later = std::lower_bound(
        axis.stops.begin(), axis.stops.end(), known,
        [](const trace::StopRecord& stop, std::uint64_t e) { return stop.event.value() < e; });
    const auto count = static_cast<std::size_t>(later - axis.stops.begin());
    return axis.origin + execution + (count == 0 ? 0 : axis.total[count - 1]);
}

void TimeAxis::refresh() const {
    if (!m_stale) {
        return;
    }
    m_stale = false;
    m_allHeld.clear();
    m_zero = 0;
    bool any = false;
    std::vector<std::pair<TimeNs, int>> changes; // moment, +1: one more rank held
    for (std::int32_t rank = 0; rank < m_data->rankCount(); ++rank) {
        const RankData& data = m_data->rank(rank);
        std::vector<std::pair<TimeNs, TimeNs>> spans;
        for (const trace::StopRecord& stop : m_ranks[static_cast<std::size_t>(rank)].stops) {
            spans.emplace_back(stop.begin, stop.end);
        }
        if (data.finalizeCall != kNone && data.events.endOf(data.finalizeCall) != 0) {
            spans.emplace_back(wall(rank, data.events.endOf(data.finalizeCall)),
                               std::numeric_limits<TimeNs>::max());
        }
        // Stops of one rank that overlap must not count twice.
        std::sort(spans.begin(), spans.end());
        TimeNs covered = std::numeric_limits<TimeNs>::min();
        for (const auto& [begin, end] : spans) {
            const TimeNs from = std::max(begin, covered);
            if (from < end) {
                changes.emplace_back(from, 1);
                changes.emplace_back(end, -1);
                covered = end;
            }
        }
        if (data.events.lastEvent() != 0) {
            const TimeNs first = wall(rank, 1);
            m_zero = any ? std::min(m_zero, first) : first;
            any = true;
        }
    }
    std::sort(changes.begin(), changes.end());
    std::int32_t heldRanks = 0;
    TimeNs since = 0;
    TimeNs before = 0;
    for (const auto& [moment, change] : changes) {
        if (heldRanks == m_data->rankCount() && moment > since &&
            moment != std::numeric_limits<TimeNs>::max()) {
            m_allHeld.push_back({since, moment, before});
            before += moment - since;
        }
        heldRanks += change;
        since = moment;
    }
}

TimeNs TimeAxis::cut(TimeNs wall) const {
    const auto next = std::upper_bound(m_allHeld.begin(), m_allHeld.end(), wall,
                                       [](TimeNs moment, const Span& span) { return moment < span.begin; });
    if (next == m_allHeld.begin()) {
        return wall;
    }
    const Span& span = *(next - 1);
    return wall - span.before - (std::min(wall, span.end) - span.begin);
}

TimeNs TimeAxis::at(std::int32_t rank, std::uint64_t event) const {
    refresh();
    return cut(wall(rank, event)) - cut(m_zero);
}

std::vector<Timeline::HeldSpan> TimeAxis::held(std::int32_t rank) const {
    refresh();
    std::vector<Timeline::HeldSpan> spans;
    const TimeNs zero = cut(m_zero);
    for (const trace::StopRecord& stop : m_ranks[static_cast<std::size_t>(rank)].stops) {
        const TimeNs begin = cut(stop.begin) - zero;
        const TimeNs end = cut(stop.end) - zero;
        if (begin < end) {
            spans.push_back({begin, end, stop.event});
        }
    }
    return spans;
}

} // namespace stopline::replay
