#include "timeline_axis.h"

#include "../tracelib/mapping.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stopline::replay {

TimeAxis::TimeAxis(const TimelineData& data)
    : m_data(&data), m_slack(2 * std::clamp(data.rules.timeTolerance, TimeNs{1} << (trace::kExactShift - 1),
                                            TimeNs{std::numeric_limits<std::uint32_t>::max() / 2})),
      m_ranks(data.ranks.size()) {}

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
    m_forget = m_forget || axis.settled > stop.event.value();
}

void TimeAxis::setJoined(std::int32_t rank, EventIndex event) {
    RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
    axis.joined = event.value();
    m_stale = true;
    m_forget = m_forget || axis.settled > event.value();
}

void TimeAxis::setOrigin(std::int32_t rank, TimeNs origin) {
    RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
    axis.origin = origin;
    m_stale = true;
    m_forget = m_forget || axis.settled > 0;
}

TimeNs TimeAxis::wall(std::int32_t rank, std::uint64_t event) const {
    const RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
    const RankEvents& events = m_data->rank(rank).events;
    const std::uint64_t known =
        std::clamp<std::uint64_t>(event, events.firstEvent(), std::max(events.lastEvent(), events.firstEvent()));
    const TimeNs execution = events.empty() ? 0 : events.timeOf(known);
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
        // A rank that was spawned holds nobody up before it was.
        if (rank >= m_data->jobs.front().size) {
            spans.emplace_back(std::numeric_limits<TimeNs>::min(), data.events.lastEvent() == 0
                                                                       ? std::numeric_limits<TimeNs>::max()
                                                                       : m_ranks[static_cast<std::size_t>(rank)].origin);
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
        if (!data.events.empty()) {
            const TimeNs first = wall(rank, data.events.firstEvent());
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
    settle();
}

void TimeAxis::forget() const {
    for (RankAxis& axis : m_ranks) {
        axis.lifts.clear();
        axis.settled = 0;
    }
    m_sends = 0;
    m_flying.clear();
    m_forget = false;
    m_rearranged = m_data->rearranged;
}

void TimeAxis::settle() const {
    if (m_forget || m_rearranged != m_data->rearranged) {
        forget();
    }
    for (std::int32_t rank = 0; rank < m_data->rankCount(); ++rank) {
        RankAxis& axis = m_ranks[static_cast<std::size_t>(rank)];
        const std::uint64_t last = m_data->rank(rank).events.lastEvent();
        const std::uint64_t before = std::exchange(axis.settled, last);
        if (before != 0 && before < last) {
            lift(rank, before + 1, shown(rank, before));
        }
    }
    std::erase_if(m_flying, [this](std::uint32_t send) { return follow(send); });
    for (const auto count = static_cast<std::uint32_t>(m_data->sends.size()); m_sends < count; ++m_sends) {
        if (!follow(m_sends)) {
            m_flying.push_back(m_sends);
        }
    }
    while (!m_todo.empty()) {
        const std::uint32_t send = m_todo.back();
        m_todo.pop_back();
        follow(send);
    }
}

bool TimeAxis::follow(std::uint32_t id) const {
    const SendHalf& send = m_data->sends[id];
    const std::uint32_t half = send.message == kNone ? kNone : m_data->halves[send.message].recv;
    if (half == kNone || m_data->recvs[half].done == kNone) {
        return send.cancelled; // nothing will come of it
    }
    const RecvHalf& recv = m_data->recvs[half];
    const std::uint64_t begin = m_data->rank(send.rank).events.beginOf(send.call);
    const std::uint64_t end = m_data->rank(recv.rank).events.endOf(recv.done);
    const TimeNs from = shown(send.rank, begin);
    if (wall(send.rank, begin) - wall(recv.rank, end) <= m_slack || end > m_ranks[static_cast<std::size_t>(recv.rank)].joined) {
        lift(recv.rank, end, from);
    }
    return true;
}

void TimeAxis::lift(std::int32_t rank, std::uint64_t event, TimeNs from) const {
    std::vector<std::uint32_t>& lifts = m_ranks[static_cast<std::size_t>(rank)].lifts;
    const RankData& data = m_data->rank(rank);
    for (; event <= data.events.lastEvent() && shown(rank, event) < from; ++event) {
        const std::uint64_t index = event - data.events.firstEvent();
        if (lifts.size() <= index) {
            lifts.resize(index + 1, 0);
        }
        // Hosts whose clocks disagree may ask for more than that; then the rest is seen going backwards.
        const auto by = static_cast<std::uint32_t>(
            std::min<TimeNs>(from - wall(rank, event), std::numeric_limits<std::uint32_t>::max()));
        if (std::exchange(lifts[index], by) == by) {
            continue;
        }
        const std::uint32_t call = data.events.callOf(event);
        if (call != kNone && data.events.beginOf(call) == event) {
            m_data->eachLink(rank, call, [this](Role role, std::uint32_t id) {
                if (role == Role::Send && id < m_sends) {
                    m_todo.push_back(id);
                }
            });
        }
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
    const RankEvents& events = m_data->rank(rank).events;
    const std::uint64_t last = std::max(events.lastEvent(), events.firstEvent());
    return cut(shown(rank, std::clamp<std::uint64_t>(event, events.firstEvent(), last))) - cut(m_zero);
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

TimeNs TimeAxis::cutOut() const {
    refresh();
    return m_allHeld.empty() ? 0 : m_allHeld.back().before + m_allHeld.back().end - m_allHeld.back().begin;
}

std::size_t TimeAxis::bytes() const {
    std::size_t sum = m_flying.size() * sizeof(std::uint32_t);
    for (const RankAxis& axis : m_ranks) {
        sum += axis.lifts.size() * sizeof(std::uint32_t);
    }
    return sum;
}

} // namespace stopline::replay
