// What a trace has to hold so that a re-execution is the same.
#include "races_impl.h"

#include "causality.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace stopline::replay {

namespace {

/// The sends of one thread of one sender to one gate, in their order, without repeats.
using Streams = std::map<std::pair<std::int32_t, std::uint16_t>, std::vector<std::uint32_t>>;

Streams streamsOf(const RaceWindows& windows, const Gate& gate) {
    Streams streams;
    for (const std::uint32_t one : gate.classes) {
        for (const Lane& lane : windows.classes()[one].lanes) {
            std::vector<std::uint32_t>& sends = streams[{lane.source, lane.thread}];
            sends.insert(sends.end(), lane.sends.begin(), lane.sends.end());
        }
    }
    for (auto& [who, sends] : streams) {
        std::sort(sends.begin(), sends.end());
        sends.erase(std::unique(sends.begin(), sends.end()), sends.end());
    }
    return streams;
}

/// Netzer and Miller's check of one stream, with the messages that are not marked keeping back those behind
/// them.
void traceStream(const TimelineData& data, const DataOrder& order, const RaceWindows& windows,
                 const Gate& gate, const std::vector<std::uint32_t>& stream, std::vector<std::uint32_t>& traced) {
    std::vector<std::uint32_t> left(gate.classes.size(),
                                    0); // by class: greatest key that an unmarked one has gone to
    for (const std::uint32_t send : stream) {
        const std::uint32_t key = RaceWindows::keyOf(data, send);
        const std::int32_t tag = data.channels[data.sends[send].channel].tag;
        const auto fits = [&](std::size_t i) {
            const std::int32_t asked = windows.classes()[gate.classes[i]].tag;
            return asked == kAnyTag || asked == tag;
        };
        bool marked = false;
        for (std::size_t i = 0; i < gate.classes.size() && !marked; ++i) {
            marked = fits(i) && left[i] != kNone &&
                     windows.reaches(data, order, windows.classes()[gate.classes[i]], send, left[i], key);
        }
        if (marked) {
            traced.push_back(send);
            continue;
        }
        for (std::size_t i = 0; i < gate.classes.size(); ++i) {
            if (fits(i)) {
                left[i] = std::max(left[i], key);
            }
        }
    }
}

} // namespace

std::vector<std::uint32_t> RaceAnalysis::Impl::tracedSends(const std::atomic<bool>* cancelled) const {
    std::vector<std::uint32_t> traced;
    for (const Gate& gate : windows.gates()) {
        for (const auto& [who, stream] : streamsOf(windows, gate)) {
            if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
                return traced;
            }
            traceStream(*data, order, windows, gate, stream, traced);
        }
    }
    return traced;
}

MinimalTrace RaceAnalysis::Impl::minimalTrace() const {
    MinimalTrace trace;
    for (std::uint32_t send = 0; send < data->sends.size(); ++send) {
        trace.messages += order.passed(send) ? 1 : 0;
    }
    for (const std::uint32_t send : tracedSends()) {
        trace.traced.push_back(data->ref(data->sends[send].rank, data->sends[send].call));
    }
    std::sort(trace.traced.begin(), trace.traced.end());
    std::unordered_set<std::uint32_t> paired;
    for (std::uint32_t one = 0; one < windows.classes().size(); ++one) {
        const WindowClass& of = windows.classes()[one];
        for (std::uint32_t place = 0; place < of.windows.size(); ++place) {
            if (of.counts[place] == 0) {
                continue;
            }
            const Race race = raceOf({one, place});
            if (race.kind == RaceKind::Receive || race.kind == RaceKind::Probe) {
                trace.critical.push_back(race.call);
            }
            if (race.kind != RaceKind::Receive) {
                continue;
            }
            const RecvHalf& recv = data->recvs[of.windows[place].what.id];
            const std::uint32_t got = recv.message == kNone ? kNone : data->halves[recv.message].send;
            if (got == kNone || paired.contains(got)) {
                continue;
            }
            bool found = false;
            windows.eachAlternative(*data, order, {one, place}, [&](std::uint32_t other) {
                if (!found && !paired.contains(other)) {
                    found = true;
                    paired.insert(other);
                    paired.insert(got);
                    ++trace.lowerBound;
                }
            });
        }
    }
    std::sort(trace.critical.begin(), trace.critical.end());
    return trace;
}

} // namespace stopline::replay
