// The events of one rank in a compact form: 24 bytes a call while begins and ends alternate.
#pragma once

#include "timeline.h"
#include "timeline_array.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace stopline::replay {

inline constexpr std::uint32_t kNone = 0xffffffffU;

/// Events numbered from 1, or, when the first ones are missing, from firstEvent() on. A rank whose calls do not overlap needs no table from events to calls (call c is
/// events 2c+1 and 2c+2); overlapping calls of several threads, and contradictory traces, build the tables
/// when first met. An end closes the open call of its own thread; an end without one belongs to no call.
class RankEvents {
  public:
    struct Added {
        std::uint32_t call = kNone; ///< kNone: an end without a begin
        bool begin = false;
    };
    Added add(bool begin, std::uint16_t thread, DetailsId id, TimeNs time, std::uint64_t pollFailures) {
        const std::uint64_t known = m_details.size();
        const bool open = known % 2 == 1;
        if (m_regular && (begin == open || (open && thread != m_openThread))) {
            becomeIrregular();
        }
        m_details.push_back(id.value());
        m_lastTime = std::max(m_lastTime, time);
        m_times.push_back(m_lastTime);
        Added added{static_cast<std::uint32_t>(known / 2), begin};
        if (m_regular) {
            m_openThread = thread;
        } else {
            added = addIrregular(begin, thread);
        }
        if (pollFailures != 0) {
            notePollFailures(added, pollFailures);
        }
        return added;
    }

    /// Begins and ends alternate: calls do not overlap.
    [[nodiscard]] bool isRegular() const { return m_regular; }
    /// The first `missing` events are not known. To be called while there are none.
    void startBehind(std::uint64_t missing) { m_missing = missing; }
    [[nodiscard]] std::uint64_t missing() const { return m_missing; }
    [[nodiscard]] std::uint64_t firstEvent() const { return m_missing + 1; }
    [[nodiscard]] bool empty() const { return m_details.empty(); }
    [[nodiscard]] std::uint64_t lastEvent() const { return m_missing + m_details.size(); }
    [[nodiscard]] bool has(std::uint64_t event) const { return event > m_missing && event <= lastEvent(); }
    [[nodiscard]] std::uint32_t callCount() const {
        return m_regular ? static_cast<std::uint32_t>((m_details.size() + 1) / 2)
                         : static_cast<std::uint32_t>(m_calls.size());
    }
    /// Event numbers of a call; the end is 0 while it is unfinished.
    [[nodiscard]] std::uint64_t beginOf(std::uint32_t call) const {
        return m_regular ? m_missing + std::uint64_t{call} * 2 + 1 : m_calls[call].first;
    }
    [[nodiscard]] std::uint64_t endOf(std::uint32_t call) const {
        if (m_regular) {
            const std::uint64_t end = m_missing + std::uint64_t{call} * 2 + 2;
            return end <= lastEvent() ? end : 0;
        }
        return m_calls[call].second;
    }
    /// The call of an event up to lastEvent(), or kNone.
    [[nodiscard]] std::uint32_t callOf(std::uint64_t event) const {
        if (event <= m_missing) [[unlikely]] {
            return kNone;
        }
        const std::uint64_t index = event - m_missing - 1;
        return m_regular ? static_cast<std::uint32_t>(index / 2) : m_eventCall[index];
    }
    [[nodiscard]] bool isBegin(std::uint64_t event) const {
        if (event <= m_missing) [[unlikely]] {
            return false;
        }
        if (m_regular) {
            return (event - m_missing) % 2 == 1;
        }
        const std::uint32_t call = m_eventCall[event - m_missing - 1];
        return call != kNone && m_calls[call].first == event;
    }
    /// Both only for events that has() knows.
    [[nodiscard]] std::uint32_t detailsOf(std::uint64_t event) const { return m_details[event - m_missing - 1]; }
    [[nodiscard]] TimeNs timeOf(std::uint64_t event) const { return m_times[event - m_missing - 1]; }
    [[nodiscard]] std::uint64_t pollFailuresOf(std::uint32_t call) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    Added addIrregular(bool begin, std::uint16_t thread);
    void becomeIrregular();
    void notePollFailures(Added added, std::uint64_t pollFailures);

    bool m_regular = true;
    std::uint64_t m_missing = 0;
    std::uint16_t m_openThread = 0;
    TimeNs m_lastTime = std::numeric_limits<TimeNs>::min();
    GrowingArray<std::uint32_t> m_details;
    GrowingArray<TimeNs> m_times;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> m_pollFailures; ///< by call, only where not 0
    // Irregular ranks only.
    std::vector<std::uint32_t> m_eventCall;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> m_calls; ///< begin and end event
    std::vector<std::pair<std::uint16_t, std::uint32_t>> m_open;  ///< thread and call
};

} // namespace stopline::replay
