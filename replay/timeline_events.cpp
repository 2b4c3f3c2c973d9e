#include "timeline_events.h"

#include <algorithm>

namespace stopline::replay {

RankEvents::Added RankEvents::add(const trace::EventDetails& details, DetailsId id, TimeNs time,
                                  std::uint64_t pollFailures) {
    Added added;
    const bool begin = details.kind == trace::EventKind::Begin;
    if (m_regular) {
        const bool open = m_details.size() % 2 == 1;
        if (begin == open || (open && details.thread != m_openThread)) {
            becomeIrregular(m_openThread);
        }
    }
    if (m_regular) {
        m_openThread = details.thread;
        added = {static_cast<std::uint32_t>(m_details.size() / 2), begin};
    } else {
        added = addIrregular(details);
    }
    m_details.push_back(id.value());
    m_times.push_back(m_times.empty() ? time : std::max(time, m_times.back()));
    if (pollFailures != 0 && added.call != kNone && !begin) {
        const auto at = std::upper_bound(m_pollFailures.begin(), m_pollFailures.end(),
                                         std::pair{added.call, std::uint64_t{0}});
        m_pollFailures.insert(at, {added.call, pollFailures});
    }
    return added;
}

RankEvents::Added RankEvents::addIrregular(const trace::EventDetails& details) {
    const std::uint64_t event = m_details.size() + 1;
    const auto open = std::find_if(m_open.begin(), m_open.end(),
                                   [&](const auto& entry) { return entry.first == details.thread; });
    if (details.kind == trace::EventKind::Begin) {
        const auto call = static_cast<std::uint32_t>(m_calls.size());
        m_calls.emplace_back(event, 0);
        m_eventCall.push_back(call);
        if (open != m_open.end()) {
            open->second = call; // the end of the call before was lost
        } else {
            m_open.emplace_back(details.thread, call);
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

void RankEvents::becomeIrregular(std::uint16_t openThread) {
    const std::uint32_t calls = callCount();
    m_calls.reserve(calls + 1);
    m_eventCall.reserve(m_details.size() + 1);
    for (std::uint32_t call = 0; call < calls; ++call) {
        m_calls.emplace_back(beginOf(call), endOf(call));
    }
    for (std::uint64_t event = 1; event <= m_details.size(); ++event) {
        m_eventCall.push_back(callOf(event));
    }
    if (m_details.size() % 2 == 1) {
        m_open.emplace_back(openThread, calls - 1);
    }
    m_regular = false;
}

std::uint64_t RankEvents::pollFailuresOf(std::uint32_t call) const {
    const auto at =
        std::lower_bound(m_pollFailures.begin(), m_pollFailures.end(), std::pair{call, std::uint64_t{0}});
    return at != m_pollFailures.end() && at->first == call ? at->second : 0;
}

} // namespace stopline::replay
