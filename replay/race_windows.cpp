#include "race_windows.h"

#include "causality.h"

#include <algorithm>

namespace stopline::replay {

std::uint32_t RaceWindows::keyOf(const TimelineData& data, std::uint32_t send) {
    const SendHalf& half = data.sends[send];
    if (half.message == kNone || half.cancelled) {
        return kNone;
    }
    const std::uint32_t recv = data.halves[half.message].recv;
    return recv == kNone ? kNone : recv * 2 + 2;
}

std::uint32_t RaceWindows::findGate(std::uint32_t comm, std::int32_t receiver) const {
    const auto at = m_gateIndex.find((std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(receiver));
    return at == m_gateIndex.end() ? kNone : at->second;
}

std::uint32_t RaceWindows::gateOf(const TimelineData& data, std::uint32_t comm, std::int32_t receiver) {
    if (const std::uint32_t found = findGate(comm, receiver); found != kNone) {
        return found;
    }
    const auto gate = static_cast<std::uint32_t>(m_gates.size());
    m_gateIndex.emplace((std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(receiver), gate);
    m_gates.push_back({comm, receiver, kNone, {}, {}});
    for (std::uint32_t id = 0; id < m_routes.size(); ++id) {
        if (m_routes[id].known && data.channels[id].comm == comm &&
            data.channels[id].destination == receiver) {
            join(data, id, gate);
        }
    }
    return gate;
}

void RaceWindows::join(const TimelineData& data, std::uint32_t channel, std::uint32_t gate) {
    const std::uint64_t key = tagged(gate, data.channels[channel].tag);
    m_routes[channel].gate = gate;
    m_channels[key].push_back(channel);
    if (const auto at = m_classIndex.find(key); at != m_classIndex.end()) {
        m_routes[channel].own = at->second;
    }
}

std::uint32_t RaceWindows::classOf(const TimelineData& data, const DataOrder& order, std::uint32_t gate,
                                   std::int32_t tag) {
    if (const auto at = m_classIndex.find(tagged(gate, tag)); at != m_classIndex.end()) {
        return at->second;
    }
    const auto made = static_cast<std::uint32_t>(m_classes.size());
    m_classIndex.emplace(tagged(gate, tag), made);
    m_gates[gate].classes.push_back(made);
    m_classes.emplace_back();
    m_classes.back().gate = gate;
    m_classes.back().tag = tag;
    m_fresh.emplace_back();
    m_stale.push_back(kNothingStale);
    fillLanes(data, order, made);
    return made;
}

/// The sends that the order has passed before there was such a window.
void RaceWindows::fillLanes(const TimelineData& data, const DataOrder& order, std::uint32_t classIndex) {
    WindowClass& made = m_classes[classIndex];
    std::vector<std::uint32_t> sends;
    const auto take = [&](std::uint32_t id) {
        const Channel& channel = data.channels[id];
        std::copy_if(channel.sends.begin(), channel.sends.end(), std::back_inserter(sends),
                     [&](std::uint32_t send) { return order.passed(send); });
    };
    if (made.tag == kAnyTag) {
        m_gates[made.gate].anyTag = classIndex;
        for (std::uint32_t id = 0; id < m_routes.size(); ++id) {
            if (m_routes[id].gate == made.gate) {
                take(id);
            }
        }
    } else if (const auto at = m_channels.find(tagged(made.gate, made.tag)); at != m_channels.end()) {
        for (const std::uint32_t id : at->second) {
            m_routes[id].own = classIndex;
            take(id);
        }
    }
    std::sort(sends.begin(), sends.end());
    for (const std::uint32_t send : sends) {
        addSend(data, made, send);
    }
}

void RaceWindows::addSend(const TimelineData& data, WindowClass& to, std::uint32_t send) {
    const SendHalf& half = data.sends[send];
    const std::uint16_t thread = data.beginDetails(half.rank, half.call).thread;
    auto lane = std::find_if(to.lanes.begin(), to.lanes.end(), [&](const Lane& one) {
        return one.source == half.rank && one.thread == thread;
    });
    if (lane == to.lanes.end()) {
        to.lanes.push_back({half.rank, thread, 0, 0, {}, {}});
        lane = to.lanes.end() - 1;
    }
    lane->sends.push_back(send);
}

void RaceWindows::takeSends(const TimelineData& data, const DataOrder& order) {
    m_routes.resize(data.channels.size());
    for (const std::uint32_t send : order.newSends()) {
        const std::uint32_t id = data.sends[send].channel;
        Route& route = m_routes[id];
        if (!route.known) {
            route.known = true;
            const Channel& channel = data.channels[id];
            if (const std::uint32_t gate = findGate(channel.comm, channel.destination); gate != kNone) {
                join(data, id, gate);
            }
        }
        if (route.own != kNone) {
            addSend(data, m_classes[route.own], send);
        }
        if (route.gate != kNone && m_gates[route.gate].anyTag != kNone) {
            addSend(data, m_classes[m_gates[route.gate].anyTag], send);
        }
    }
}

void RaceWindows::update(const TimelineData& data, const DataOrder& order) {
    takeSends(data, order);
    for (const Told& told : order.newTold()) {
        m_told[told.recv].emplace_back(told.rank, told.call);
    }
    for (const Decision& decision : order.newDecisions()) {
        if (decision.kind != Decision::Kind::Shadow && decision.kind != Decision::Kind::Decided) {
            takeDecision(data, order, decision);
        }
    }
    for (std::uint32_t one = 0; one < m_classes.size(); ++one) {
        putIn(one);
    }
    std::unordered_map<std::uint32_t, std::size_t> ended; // by class: the first of the windows that have an end now
    for (const Decision& decision : order.newDecisions()) {
        if (decision.kind == Decision::Kind::Decided) {
            takeEnd(data, decision, ended);
        }
    }
    for (const auto& [one, from] : ended) {
        m_stale[one] = std::min(m_stale[one], from);
        noteLatest(m_classes[one], from);
    }
    // A shadow falls on windows that were decided before it, so all of them stand in their classes by now, but for those that
    // were decided before they were seen complete.
    for (const Decision& decision : order.newDecisions()) {
        if (decision.kind == Decision::Kind::Shadow) {
            takeShadow(data, order, decision);
        }
    }
    for (std::uint32_t one = 0; one < m_classes.size(); ++one) {
        count(data, order, one);
    }
    m_rearranged = data.rearranged;
    m_revised = data.revised;
}

void RaceWindows::takeDecision(const TimelineData& data, const DataOrder& order, const Decision& decision) {
    Window window;
    window.what = decision;
    std::uint32_t gate = kNone;
    std::int32_t tag = kAnyTag;
    const auto looked = [&](std::int32_t rank, std::uint32_t call, std::uint32_t before) {
        const RankData& own = data.rank(rank);
        const trace::EventDetails& begin = data.beginDetails(rank, call);
        const trace::EventDetails& end = own.details[own.events.detailsOf(own.events.endOf(call))];
        tag = (end.recvPeer != kNoPeer ? end : begin).recvTag;
        window.key = before * 2 + 1;
        window.posted = tickOfStart(own.events.beginOf(call));
        window.decided = tickOfEnd(own.events.endOf(call));
    };
    if (decision.kind == Decision::Kind::Receive) {
        const RecvHalf& recv = data.recvs[decision.id];
        const RankData& own = data.rank(recv.rank);
        const std::uint32_t comm = recv.channel != kNone
                                       ? data.channels[recv.channel].comm
                                       : data.commEntry(recv.rank, own.details[recv.details].comm);
        tag = own.details[recv.details].recvTag;
        if (recv.start != recv.post) {
            looked(recv.rank, recv.post, 0); // for the tag
        }
        window.key = decision.id * 2 + 2;
        window.posted = tickOfStart(own.events.beginOf(recv.post));
        window.decided = decision.early != 0 ? decision.early : decidedAt(data, recv);
        window.nothing = recv.cancelled;
        gate = gateOf(data, comm, recv.rank);
    } else if (decision.kind == Decision::Kind::Probe) {
        const ProbeHalf& probe = data.probes[decision.id];
        looked(probe.rank, probe.call, probe.before);
        const Channel& channel = data.channels[probe.channel];
        tag = tag == kAnyTag
                  ? tag
                  : channel.tag; // of polls that are one, another tag may have been asked for at first
        window.own = probe.position < channel.sends.size() ? channel.sends[probe.position] : kNone;
        gate = gateOf(data, channel.comm, probe.rank);
    } else {
        const FailedProbe& probe = order.failedProbes()[decision.id];
        window.nothing = true;
        looked(probe.rank, probe.call, probe.before);
        const std::uint32_t comm = data.commEntry(probe.rank, data.beginDetails(probe.rank, probe.call).comm);
        if (comm == kNone) {
            return;
        }
        gate = gateOf(data, comm, probe.rank);
    }
    const std::uint32_t one = classOf(data, order, gate, tag);
    m_classes[one].probes = m_classes[one].probes || window.own != kNone;
    m_fresh[one].push_back(window);
}

/// A window had no end and has one now.
void RaceWindows::takeEnd(const TimelineData& data, const Decision& decision,
                          std::unordered_map<std::uint32_t, std::size_t>& ended) {
    const RecvHalf& recv = data.recvs[decision.id];
    const trace::EventDetails& asked = data.rank(recv.rank).details[recv.details];
    const std::uint32_t gate = findGate(data.commEntry(recv.rank, asked.comm), recv.rank);
    const auto one = m_classIndex.find(tagged(gate, asked.recvTag));
    if (gate == kNone || one == m_classIndex.end()) {
        return;
    }
    WindowClass& of = m_classes[one->second];
    const std::size_t from = placeAfter(of.windows, 0, decision.id * 2 + 2, true);
    if (from == of.windows.size() || of.windows[from].key != decision.id * 2 + 2) {
        return;
    }
    of.windows[from].decided = decision.early;
    std::size_t& first = ended.emplace(one->second, from).first->second;
    first = std::min(first, from);
}

void RaceWindows::noteLatest(WindowClass& of, std::size_t from) {
    for (std::size_t at = from; at < of.windows.size(); ++at) {
        const Tick decided = of.windows[at].decided;
        of.latest[at] = at == 0 ? decided : std::max(of.latest[at - 1], decided);
    }
}

void RaceWindows::takeShadow(const TimelineData& data, const DataOrder& order, const Decision& decision) {
    const RecvHalf& recv = data.recvs[decision.id];
    const trace::EventDetails& asked = data.rank(recv.rank).details[recv.details];
    const std::uint32_t comm =
        recv.channel != kNone ? data.channels[recv.channel].comm : data.commEntry(recv.rank, asked.comm);
    const std::uint32_t gate = findGate(comm, recv.rank);
    if (gate == kNone) {
        return;
    }
    Shadow shadow;
    shadow.key = decision.id * 2 + 2;
    if (recv.cancelled) {
        shadow.until = (decision.early != 0 ? decision.early : decidedAt(data, recv)) - 1;
    } else {
        shadow.send = data.halves[recv.message].send;
        shadow.until = order.known(shadow.send);
    }
    shadow.source =
        asked.recvPeer == kAnySource ? kAnySource : data.worldRank(recv.rank, asked.comm, asked.recvPeer);
    shadow.tag = asked.recvTag;
    bool falls = order.decidedMeanwhile(data, decision.id, shadow.until) || toldMeanwhile(data, decision.id, shadow);
    for (const std::uint32_t one : m_gates[gate].classes) {
        const WindowClass& of = m_classes[one];
        if (shadow.tag != kAnyTag && of.tag != kAnyTag && shadow.tag != of.tag) {
            continue;
        }
        // What is younger than all that the shadow lasts for cannot lie in it.
        for (std::size_t at = placeAfter(of.windows, 0, shadow.key, false);
             at < of.windows.size() && (of.unordered || of.windows[at].posted <= shadow.until); ++at) {
            if (liesIn(data, of.windows[at], shadow)) {
                m_stale[one] = std::min(m_stale[one], at);
                falls = true;
                break;
            }
        }
    }
    if (falls) {
        m_gates[gate].shadows.push_back(shadow);
    }
}

/// Puts the new windows of a class where they belong.
void RaceWindows::putIn(std::uint32_t classIndex) {
    WindowClass& of = m_classes[classIndex];
    std::vector<Window>& fresh = m_fresh[classIndex];
    if (fresh.empty()) {
        return;
    }
    const auto earlier = [](const Window& a, const Window& b) { return a.key < b.key; };
    std::stable_sort(fresh.begin(), fresh.end(), earlier);
    const std::size_t before = of.windows.size();
    std::size_t from = before;
    if (before != 0 && fresh.front().key < of.windows.back().key) {
        from = placeAfter(of.windows, 0, fresh.front().key, true);
    }
    of.windows.insert(of.windows.end(), fresh.begin(), fresh.end());
    if (from < before) {
        std::inplace_merge(of.windows.begin() + static_cast<std::ptrdiff_t>(from),
                           of.windows.begin() + static_cast<std::ptrdiff_t>(before), of.windows.end(),
                           earlier);
    }
    fresh.clear();
    m_stale[classIndex] = std::min(m_stale[classIndex], from);
    of.latest.resize(of.windows.size());
    noteLatest(of, from);
    for (std::size_t at = std::max<std::size_t>(from, 1); at < of.windows.size(); ++at) {
        of.unordered = of.unordered || of.windows[at].posted < of.windows[at - 1].posted;
    }
}

std::size_t RaceWindows::bytes() const {
    std::size_t bytes = m_routes.size() * sizeof(Route);
    for (const auto& [recv, told] : m_told) {
        bytes += sizeof(*m_told.begin()) + told.size() * sizeof(told.front());
    }
    for (const WindowClass& of : m_classes) {
        bytes += of.windows.size() * (sizeof(Window) + sizeof(Tick) + sizeof(std::uint32_t));
        for (const Lane& lane : of.lanes) {
            bytes += sizeof(Lane) + (lane.sends.size() + lane.upTo.size()) * sizeof(std::uint32_t);
        }
    }
    return bytes;
}

} // namespace stopline::replay
