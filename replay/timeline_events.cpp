#include "timeline_events.h"

#include <algorithm>

namespace stopline::replay {

void RankEvents::notePollFailures(Added added, std::uint64_t pollFailures) {
    if (added.call == kNone || added.begin) {
        return;
    }
    const auto at = std::upper_bound(m_pollFailures.begin(), m_pollFailures.end(),
                                     std::pair{added.call, std::uint64_t{0}});
    m_pollFailures.insert(at, {added.call, pollFailures});
}

/// The event is in the list of details already.
RankEvents::Added RankEvents::addIrregular(bool begin, std::uint16_t thread) {
    const std::uint64_t event = lastEvent();
    const auto open =
        std::find_if(m_open.begin(), m_open.end(), [&](const auto& entry) { return entry.first == thread; });
    if (begin) {
        const auto call = static_cast<std::uint32_t>(m_calls.size());
        m_calls.emplace_back(event, 0);
        m_eventCall.push_back(call);
        if (open != m_open.end()) {
            open->second = call; // the end of the call before was lost
        } else {
            m_open.emplace_back(thread, call);
        }
        return {call, true};
    }
    if (open == m_open.end()) {
        m_eventCall.push_back(kNone);
        return {kNone, false};
    }
    const std::uint32_t call = open->second;
    m_open.erase(open);
    m_calls[call].second = event;
    m_eventCall.push_back(call);
    return {call, false};
}

void RankEvents::becomeIrregular() {
    const std::uint32_t calls = callCount();
    m_calls.reserve(calls + 1);
    m_eventCall.reserve(m_details.size() + 1);
    for (std::uint32_t call = 0; call < calls; ++call) {
        m_calls.emplace_back(beginOf(call), endOf(call));
    }
    for (std::uint64_t event = firstEvent(); event <= lastEvent(); ++event) {
        m_eventCall.push_back(callOf(event));
    }
    if (m_details.size() % 2 == 1) {
        m_open.emplace_back(m_openThread, calls - 1);
    }
    m_regular = false;
}

std::size_t RankEvents::bytes() const {
    return m_details.bytes() + m_times.bytes() + m_pollFailures.size() * sizeof(m_pollFailures[0]) +
           m_eventCall.size() * sizeof(m_eventCall[0]) + m_calls.size() * sizeof(m_calls[0]);
}

std::uint64_t RankEvents::pollFailuresOf(std::uint32_t call) const {
    const auto at =
        std::lower_bound(m_pollFailures.begin(), m_pollFailures.end(), std::pair{call, std::uint64_t{0}});
    return at != m_pollFailures.end() && at->first == call ? at->second : 0;
}

} // namespace stopline::replay
