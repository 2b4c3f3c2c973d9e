// What the end of a call waits for, gets to know, and decides.
#include "data_order.h"

#include "causality.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;

namespace {

/// A probe that asked for any source, by what its end says it asked for, else by its begin.
[[nodiscard]] bool probesAnySource(const TimelineData& data, std::int32_t rank, std::uint32_t call) {
    const RankData& own = data.rank(rank);
    const EventDetails& end = own.details[own.events.detailsOf(own.events.endOf(call))];
    return (end.recvPeer != kNoPeer ? end : data.beginDetails(rank, call)).recvPeer == kAnySource;
}

} // namespace

bool DataOrder::collectNeeds(const TimelineData& data, std::int32_t rank, std::uint32_t call) {
    bool missing = false;
    m_needs.clear();
    m_leaving.clear();
    m_matched.clear();
    const auto need = [&](Need::Kind kind, std::uint32_t id, std::int32_t of, std::uint32_t start) {
        if (of != rank) {
            m_needs.push_back({kind, id, of, data.rank(of).events.beginOf(start)});
        }
    };
    data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send:
        case Role::SendDone: {
            const SendHalf& send = data.sends[id];
            if (send.done == call && !send.cancelled && waits(data, send)) {
                const RecvHalf* recv = recvOf(data, send);
                if (recv == nullptr) {
                    m_unknownReceivers.push_back(id);
                } else if (recv->start != kNone) {
                    need(Need::Kind::Recv, data.halves[send.message].recv, recv->rank, recv->start);
                    if (fromAnySource(data, *recv)) {
                        m_matched.push_back(data.halves[send.message].recv);
                    }
                }
            }
            break;
        }
        case Role::Post:
        case Role::Start:
        case Role::Done: {
            const RecvHalf& recv = data.recvs[id];
            const bool probed = recv.start != recv.post;
            if (recv.cancelled || recv.channel == kNone ||
                (probed ? role != Role::Post : recv.done != call) || isFreed(data, recv)) {
                break;
            }
            if (const SendHalf* send = sendOf(data, recv)) {
                need(Need::Kind::Send, id, send->rank, send->call);
            } else {
                missing = missing || mayGrow(data, data.channels[recv.channel].source);
            }
            break;
        }
        case Role::Probe: {
            const ProbeHalf& probe = data.probes[id];
            const Channel& channel = data.channels[probe.channel];
            if (probe.position < channel.sends.size()) {
                const SendHalf& send = data.sends[channel.sends[probe.position]];
                need(Need::Kind::Seen, id, send.rank, send.call);
            } else {
                missing = missing || mayGrow(data, channel.source);
            }
            break;
        }
        case Role::SyncTo: {
            const SyncEdge& edge = data.syncEdges[id];
            if (!m_waits) {
                break;
            }
            if (edge.to == call && edge.from != kNone) {
                need(Need::Kind::Edge, id, edge.fromRank, edge.from);
            } else if (edge.to == call && edge.closes) {
                missing = missing || mayGrow(data, edge.fromRank);
            }
            break;
        }
        case Role::Coll:
        case Role::CollDone:
            if (data.collRules[data.parts[id].collective].finished[data.parts[id].position] == call) {
                m_leaving.push_back(id);
            }
            break;
        case Role::Rma:
        case Role::SyncFrom:
            break;
        }
    });
    return !missing;
}

bool DataOrder::end(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event) {
    RankState& own = state(rank);
    const std::size_t unknown = m_unknownReceivers.size();
    const bool complete = collectNeeds(data, rank, call);
    if (!own.forced) {
        const auto late = std::find_if(m_needs.begin(), m_needs.end(), [&](const Need& need) {
            return state(need.rank).passed < need.event;
        });
        if (late != m_needs.end()) {
            block(rank, late->rank, late->event,
                  late->kind == Need::Kind::Edge && !data.syncEdges[late->id].closes);
        }
        if (!complete || late != m_needs.end() ||
            !std::all_of(m_leaving.begin(), m_leaving.end(),
                         [&](std::uint32_t part) { return canLeave(data, rank, part); })) {
            m_unknownReceivers.resize(unknown);
            return false;
        }
    }
    own.forced = false;
    for (const Need& need : m_needs) {
        meet(data, rank, need);
    }
    for (const std::uint32_t part : m_leaving) {
        leave(data, rank, part);
    }
    for (const std::uint32_t recv : m_matched) {
        noteMatched(rank, recv, event);
    }
    decide(data, rank, call, event);
    return true;
}

void DataOrder::noteMatched(std::int32_t rank, std::uint32_t recv, std::uint64_t event) {
    m_tells.resize(m_width);
    m_heard.resize(m_width * m_width);
    std::vector<Tell>& tells = m_tells[static_cast<std::size_t>(rank)];
    if (tells.empty()) {
        m_tellers.push_back(rank);
    }
    tells.push_back({tickOfEnd(event), recv});
}

void DataOrder::meet(const TimelineData& data, std::int32_t rank, const Need& need) {
    const auto take = [&](std::uint32_t id) {
        if (id != kNone) {
            join(clock(rank), slot(id));
        }
    };
    switch (need.kind) {
    case Need::Kind::Send: {
        const std::uint32_t send = data.halves[data.recvs[need.id].message].send;
        take(m_sendSlot[send]);
        release(m_sendSlot[send]);
        break;
    }
    case Need::Kind::Seen: {
        const ProbeHalf& probe = data.probes[need.id];
        const std::uint32_t send = data.channels[probe.channel].sends[probe.position];
        take(m_sendSlot[send]);
        m_usedByProbe[need.id] = send;
        break;
    }
    case Need::Kind::Recv: {
        const RecvHalf& recv = data.recvs[need.id];
        take(m_recvSlot[need.id]);
        release(m_recvSlot[need.id]);
        const RankEvents& events = data.rank(recv.rank).events;
        if (recv.done == recv.post && events.isRegular()) {
            Tick& known = clock(rank)[recv.rank];
            known = std::max(known, tickOfStart(events.beginOf(recv.post)) + 1);
        }
        break;
    }
    case Need::Kind::Edge:
        if (const auto at = m_edgeSlot.find(need.id); at != m_edgeSlot.end()) {
            take(at->second);
            release(at->second);
            m_edgeSlot.erase(at);
        }
        break;
    }
}

void DataOrder::decide(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event) {
    RankState& own = state(rank);
    data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        if (role == Role::Probe) {
            const ProbeHalf& probe = data.probes[id];
            noteTaken(data, rank, data.channels[probe.channel], probe.before, tickOfEnd(event));
            endEndless(own, data.channels[probe.channel], probe.before, tickOfEnd(event));
            if (probesAnySource(data, rank, call)) {
                own.anySource = true;
                m_newDecisions.push_back({Decision::Kind::Probe, id, 0});
            }
            return;
        }
        if (role != Role::Post && role != Role::Start && role != Role::Done) {
            return;
        }
        const RecvHalf& recv = data.recvs[id];
        const bool probed = recv.start != recv.post;
        if (probed && role == Role::Post) {
            own.nextRecv = std::max(own.nextRecv, id + 1);
        }
        if (probed ? role != Role::Post : recv.done != call) {
            return;
        }
        const bool freed = isFreed(data, recv);
        own.freed = own.freed || freed;
        const SendHalf* send = sendOf(data, recv);
        if (send != nullptr) {
            const std::uint32_t got = data.halves[recv.message].send;
            if (!freed) {
                m_used[id] = got;
            } else if (passed(got)) { // else its start does the rest
                m_used[id] = got;
                release(m_sendSlot[got]);
            }
            if (!waits(data, *send)) {
                release(m_recvSlot[id]);
            }
        } else if (!freed || recv.cancelled || recv.channel == kNone) {
            release(m_recvSlot[id]);
        }
        std::erase(own.open, id);
        Tick early = 0;
        if (const auto at = m_early.find(id); at != m_early.end()) {
            early = at->second;
            m_early.erase(at);
        }
        if (recv.message == kNone || (recv.channel == kNone && !recv.cancelled)) {
            return; // refused, or nothing is known of what it got
        }
        if (!recv.cancelled && !freed && !(own.open.empty() && own.endless.empty())) {
            const Tick decided = decidedAt(data, recv);
            noteTaken(data, rank, data.channels[recv.channel], id, early != 0 ? early : decided);
            endEndless(own, data.channels[recv.channel], id, decided);
        }
        if (probed ? probesAnySource(data, rank, call) : fromAnySource(data, recv)) {
            own.anySource = true;
            m_newDecisions.push_back({Decision::Kind::Receive, id, early});
            if (freed && early == 0) {
                const EventDetails& asked = data.rank(rank).details[recv.details];
                own.endless[{data.commEntry(rank, asked.comm), asked.recvTag}].insert(id);
            }
        }
        noteShadow(data, id, early);
    });
}

/// A shadow falls on what was decided while the receive was open. Of one that was freed and cancelled it is not known
/// from when on it was not.
void DataOrder::noteShadow(const TimelineData& data, std::uint32_t id, Tick early) {
    const RecvHalf& recv = data.recvs[id];
    const Tick posted = tickOfStart(data.rank(recv.rank).events.beginOf(recv.post));
    const bool replied = m_used[id] != kNone && passed(m_used[id]) && m_known[m_used[id]] > posted;
    if (state(recv.rank).anySource && (recv.cancelled ? early != 0 || !isFreed(data, recv) : replied)) {
        m_newDecisions.push_back({Decision::Kind::Shadow, id, early});
    }
}

bool DataOrder::decidedMeanwhile(const TimelineData& data, std::uint32_t recv, Tick until) const {
    return std::any_of(m_early.begin(), m_early.end(), [&](const auto& one) {
        return one.first > recv && one.second <= until && data.recvs[one.first].rank == data.recvs[recv].rank;
    });
}

bool DataOrder::isSeen(const TimelineData& data, const SendHalf& send) {
    const std::int32_t to = data.channels[send.channel].destination;
    if (!state(to).freed) {
        return false;
    }
    const RecvHalf* recv = recvOf(data, send);
    return recv != nullptr && !recv->cancelled && isFreed(data, *recv) &&
           data.rank(to).events.endOf(recv->done) <= state(to).passed;
}

void DataOrder::endEndless(RankState& own, const Channel& channel, std::uint32_t before, Tick by) {
    if (own.endless.empty()) {
        return;
    }
    for (const std::int32_t tag : {channel.tag, kAnyTag}) {
        const auto at = own.endless.find({channel.comm, tag});
        if (at == own.endless.end()) {
            continue;
        }
        const auto last = at->second.lower_bound(before);
        for (auto id = at->second.begin(); id != last; ++id) {
            m_newDecisions.push_back({Decision::Kind::Decided, *id, by});
        }
        at->second.erase(at->second.begin(), last);
        if (at->second.empty()) {
            own.endless.erase(at);
        }
    }
}

void DataOrder::noteTaken(const TimelineData& data, std::int32_t rank, const Channel& channel,
                          std::uint32_t before, Tick by) {
    std::vector<std::uint32_t>& open = state(rank).open;
    const RankData& own = data.rank(rank);
    const auto last = std::lower_bound(open.begin(), open.end(), before);
    const auto rest = std::remove_if(open.begin(), last, [&](std::uint32_t id) {
        const EventDetails& asked = own.details[data.recvs[id].details];
        const bool fits = data.commEntry(rank, asked.comm) == channel.comm &&
                          (asked.recvTag == kAnyTag || asked.recvTag == channel.tag);
        if (fits) {
            m_early.emplace(id, by);
        }
        return fits;
    });
    open.erase(rest, last);
}

void DataOrder::noteFailedProbe(const TimelineData& data, std::int32_t rank, std::uint32_t call,
                                std::uint64_t event) {
    const RankData& own = data.rank(rank);
    const std::uint32_t begin = own.events.detailsOf(own.events.beginOf(call));
    const CallClass callClass = own.cache[begin].callClass;
    if (callClass != CallClass::Iprobe && callClass != CallClass::Improbe) {
        return;
    }
    const EventDetails& ended = own.details[own.events.detailsOf(event)];
    if (!ended.flag && ended.error == trace::ErrorClass::Success &&
        own.details[begin].recvPeer == kAnySource) {
        state(rank).anySource = true;
        m_newDecisions.push_back(
            {Decision::Kind::FailedProbe, static_cast<std::uint32_t>(m_failed.size()), 0});
        m_failed.push_back({rank, call, state(rank).nextRecv});
    }
}

} // namespace stopline::replay
