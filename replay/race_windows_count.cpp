// How many messages each window could have got, and which.
#include "race_windows.h"

#include <algorithm>

namespace stopline::replay {

std::size_t placeAfter(const std::vector<Window>& windows, std::size_t from, std::uint32_t key, bool equal) {
    // Most often it is near: look in steps that double.
    const auto below = [&](std::size_t at) { return equal ? windows[at].key < key : windows[at].key <= key; };
    std::size_t step = 1;
    std::size_t low = from;
    std::size_t high = from;
    while (high < windows.size() && below(high)) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    high = std::min(high, windows.size());
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (below(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool RaceWindows::keptFrom(const TimelineData& data, const WindowClass& of, const Window& window,
                           std::uint32_t send) const {
    const std::vector<Shadow>& shadows = m_gates[of.gate].shadows;
    return std::any_of(shadows.begin(), shadows.end(), [&](const Shadow& shadow) {
               return window.key > shadow.key && liesIn(data, window, shadow) &&
                      (shadow.source == kAnySource || shadow.source == data.sends[send].rank) &&
                      (shadow.tag == kAnyTag || shadow.tag == data.channels[data.sends[send].channel].tag);
           });
}

bool RaceWindows::isTold(const TimelineData& data, const Window& window, std::uint32_t send) const {
    if (m_told.empty() || send == kNone || window.what.kind != Decision::Kind::Receive) {
        return false;
    }
    const auto told = m_told.find(window.what.id);
    return told != m_told.end() && knows(data, send, told->second);
}

bool RaceWindows::knows(const TimelineData& data, std::uint32_t send, const std::vector<Knowing>& known) {
    const SendHalf& half = data.sends[send];
    return std::any_of(known.begin(), known.end(), [&](const Knowing& one) { return one.first == half.rank && one.second <= half.call; });
}

bool RaceWindows::liesIn(const TimelineData& data, const Window& window, const Shadow& shadow) const {
    return window.decided <= shadow.until || isTold(data, window, shadow.send);
}

bool RaceWindows::toldMeanwhile(const TimelineData& data, std::uint32_t recv, const Shadow& shadow) const {
    const std::int32_t rank = data.recvs[recv].rank;
    for (auto told = m_told.upper_bound(recv); told != m_told.end() && shadow.send != kNone; ++told) {
        const RecvHalf& younger = data.recvs[told->first];
        if (younger.rank != rank) {
            continue;
        }
        if (tickOfStart(data.rank(rank).events.beginOf(younger.post)) > shadow.until) {
            break; // who is told of a receive knows that it is posted
        }
        if (knows(data, shadow.send, told->second)) {
            return true;
        }
    }
    return false;
}

/// Brings the counts of a class up to date with its new windows and sends.
void RaceWindows::count(const TimelineData& data, const DataOrder& order, std::uint32_t classIndex) {
    WindowClass& of = m_classes[classIndex];
    std::size_t from = std::min(of.counted, m_stale[classIndex]);
    m_stale[classIndex] = kNothingStale;
    if (m_rearranged != data.rearranged || m_revised != data.revised) {
        from = recheck(data, of, from);
    }
    // A send that was nobody's has turned out to be for a receive that comes before windows it was counted
    // for.
    for (const Lane& lane : of.lanes) {
        if (lane.next < lane.counted) {
            const std::uint32_t key = keyOf(data, lane.sends[lane.next]);
            if (key != kNone && from > 0 && of.windows[from - 1].key > key) {
                from = placeAfter(of.windows, 0, key, true);
            }
        }
    }
    forget(of, from);
    for (Lane& lane : of.lanes) {
        countLane(data, order, of, lane, from);
    }
    of.counted = of.windows.size();
}

/// Sends may have gone to other receives than they seemed to, where those were not complete.
std::size_t RaceWindows::recheck(const TimelineData& data, WindowClass& of, std::size_t from) {
    for (Lane& lane : of.lanes) {
        std::uint32_t after = 0;
        for (std::uint32_t i = 0; i < lane.next; ++i) {
            after = std::max(after, keyOf(data, lane.sends[i]));
            if (after != lane.upTo[i]) {
                from = std::min(from, placeAfter(of.windows, 0, std::min(after, lane.upTo[i]), true));
                lane.next = i;
            }
        }
        lane.upTo.resize(lane.next);
    }
    return from;
}

/// Everything about windows from here on is to be counted anew.
void RaceWindows::forget(WindowClass& of, std::size_t from) {
    for (std::vector<std::uint32_t>* const counts : {&of.counts, &of.kept}) {
        counts->resize(from);
        counts->resize(of.windows.size(), 0);
    }
    if (from == of.windows.size()) {
        return;
    }
    const std::uint32_t key = of.windows[from].key;
    for (Lane& lane : of.lanes) {
        while (lane.next > 0 && lane.upTo[lane.next - 1] > key) {
            --lane.next;
        }
        lane.upTo.resize(lane.next);
    }
}

/// Sends counted before are counted again for the windows from `from` on, new ones for all.
void RaceWindows::countLane(const TimelineData& data, const DataOrder& order, WindowClass& of, Lane& lane,
                            std::size_t from) {
    std::uint32_t after = lane.next == 0 ? 0 : lane.upTo[lane.next - 1];
    std::size_t low = 0;
    bool first = true;
    while (lane.next < lane.sends.size()) {
        const std::uint32_t send = lane.sends[lane.next];
        const std::uint32_t before = keyOf(data, send);
        const bool again = lane.next < lane.counted;
        if (first && lane.next != 0) {
            low = static_cast<std::size_t>(
                std::upper_bound(of.windows.begin(), of.windows.end(), after,
                                 [](std::uint32_t key, const Window& w) { return key < w.key; }) -
                of.windows.begin());
        }
        first = false;
        const std::size_t high =
            before == kNone ? of.windows.size() : placeAfter(of.windows, low, before, true);
        add(data, order, of, send, again ? std::max(low, from) : low, high);
        lane.counted = std::max(lane.counted, lane.next + 1);
        if (before == kNone) {
            return; // it keeps back all that come after it
        }
        if (before > after) {
            after = before;
            low = placeAfter(of.windows, high, before, false);
        }
        lane.upTo.push_back(after);
        ++lane.next;
    }
}

void RaceWindows::add(const TimelineData& data, const DataOrder& order, WindowClass& of, std::uint32_t send,
                      std::size_t from, std::size_t to) {
    if (from >= to) {
        return;
    }
    const Tick known = order.known(send);
    std::size_t sure = to; // from here on the windows were posted later than all that the send knows
    if (!of.unordered && of.windows[to - 1].posted > known) {
        sure = static_cast<std::size_t>(
            std::partition_point(of.windows.begin() + static_cast<std::ptrdiff_t>(from),
                                 of.windows.begin() + static_cast<std::ptrdiff_t>(to),
                                 [known](const Window& window) { return window.posted <= known; }) -
            of.windows.begin());
    }
    const bool simple = m_gates[of.gate].shadows.empty() && !of.probes;
    const auto count = [&](std::size_t at) {
        const Window& window = of.windows[at];
        if ((!simple && window.own == send) || isTold(data, window, send)) {
            return; // a probe has no alternative in what it saw
        }
        ++(simple || !keptFrom(data, of, window, send) ? of.counts : of.kept)[at];
    };
    for (std::size_t at = sure; at < to; ++at) {
        count(at);
    }
    for (std::size_t at = sure; at > from && of.latest[at - 1] > known; --at) {
        if (of.windows[at - 1].decided > known) {
            count(at - 1);
        }
    }
}

bool RaceWindows::reaches(const TimelineData& data, const DataOrder& order, const WindowClass& of,
                          std::uint32_t send, std::uint32_t after, std::uint32_t before) const {
    const std::size_t from = placeAfter(of.windows, 0, after, false);
    const std::size_t to = before == kNone ? of.windows.size() : placeAfter(of.windows, from, before, true);
    const Tick known = order.known(send);
    for (std::size_t at = to; at > from && of.latest[at - 1] > known; --at) {
        const Window& window = of.windows[at - 1];
        if (window.decided > known && !window.nothing && window.own != send && !isTold(data, window, send) &&
            !keptFrom(data, of, window, send)) {
            return true;
        }
    }
    return false;
}

void RaceWindows::eachAlternative(const TimelineData& data, const DataOrder& order, WindowRef ref,
                                  const std::function<void(std::uint32_t send)>& visit) const {
    const WindowClass& of = m_classes[ref.classIndex];
    const Window& window = of.windows[ref.place];
    for (const Lane& lane : of.lanes) {
        // The first send that the receives before this window have left; kept back by one that is nobody's.
        const auto left = static_cast<std::size_t>(
            std::upper_bound(lane.upTo.begin(), lane.upTo.end(), window.key) - lane.upTo.begin());
        const std::size_t own = left > 0 && lane.upTo[left - 1] == window.key ? left - 1 : left;
        if (own < left || left >= lane.counted) {
            continue; // this window got one of the lane itself, or nothing is left
        }
        const std::uint32_t send = lane.sends[left];
        if (order.known(send) < window.decided && window.own != send && !isTold(data, window, send) &&
            !keptFrom(data, of, window, send)) {
            visit(send);
        }
    }
}

} // namespace stopline::replay
