#include "causality.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::FunctionId;

Position lastPosition(const RankData& rank) {
    const std::uint64_t last = rank.events.lastEvent();
    return last * 2 + (last != 0 && rank.events.isBegin(last) ? 1 : 0);
}

const SendHalf* sendOf(const TimelineData& data, const RecvHalf& recv) {
    if (recv.message == kNone || recv.cancelled) {
        return nullptr;
    }
    const std::uint32_t send = data.halves[recv.message].send;
    return send == kNone ? nullptr : &data.sends[send];
}

const RecvHalf* recvOf(const TimelineData& data, const SendHalf& send) {
    if (send.message == kNone || send.cancelled) {
        return nullptr;
    }
    const std::uint32_t recv = data.halves[send.message].recv;
    return recv == kNone ? nullptr : &data.recvs[recv];
}

Pattern patternOf(const TimelineData& data, std::uint32_t collective, Relation relation) {
    const Collective& c = data.collectives[collective];
    const CollRules& rules = data.collRules[collective];
    if (relation == Relation::Synchronising || c.mismatch) {
        return Pattern::All;
    }
    switch (c.function) {
    case FunctionId::Comm_free:
        return Pattern::None;
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
        if (rules.large || rules.rootPosition < 0) {
            return Pattern::All;
        }
        return rules.inter ? Pattern::RootToOther : Pattern::RootToAll;
    case FunctionId::Gather:
    case FunctionId::Igather:
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
    case FunctionId::Reduce:
    case FunctionId::Ireduce:
        if (rules.large || rules.rootPosition < 0) {
            return Pattern::All;
        }
        return rules.inter ? Pattern::OtherToRoot : Pattern::AllToRoot;
    case FunctionId::Scan:
    case FunctionId::Iscan:
    case FunctionId::Exscan:
    case FunctionId::Iexscan:
        return Pattern::Prefix;
    default:
        break;
    }
    const CallClass callClass = trace::functionClass(c.function);
    if (callClass == CallClass::Neighbor || callClass == CallClass::Ineighbor ||
        callClass == CallClass::FileCollective || callClass == CallClass::FileIcollective) {
        return Pattern::None; // who gets data from whom is not recorded, or nobody does
    }
    const bool exchange = callClass == CallClass::Collective || callClass == CallClass::Icollective;
    return rules.inter && exchange ? Pattern::OtherGroup : Pattern::All;
}

namespace {

constexpr std::uint64_t kStretch = 128; ///< events of a rank visited before another has its turn

struct Range {
    std::uint32_t from = 0;
    std::uint32_t to = 0; ///< not included
};

/// The group of a member, or the other one.
Range groupOf(const CollRules& rules, std::size_t members, std::uint32_t position, bool other) {
    const auto local = static_cast<std::uint32_t>(rules.localCount);
    const bool first = (position < local) != other;
    return first ? Range{0, local} : Range{local, static_cast<std::uint32_t>(members)};
}

/// Members whose starts the end of the member at `position` waits for.
Range waitsFor(Pattern pattern, const CollRules& rules, std::size_t members, std::uint32_t position) {
    const auto root = static_cast<std::uint32_t>(rules.rootPosition);
    const auto all = static_cast<std::uint32_t>(members);
    switch (pattern) {
    case Pattern::None:
        return {};
    case Pattern::All:
        return {0, all};
    case Pattern::RootToAll:
        return position == root ? Range{} : Range{root, root + 1};
    case Pattern::AllToRoot:
        return position == root ? Range{0, all} : Range{};
    case Pattern::Prefix:
        return {0, position + 1};
    case Pattern::OtherGroup:
        return groupOf(rules, members, position, true);
    case Pattern::RootToOther: {
        const Range rootGroup = groupOf(rules, members, root, false);
        const bool same = position >= rootGroup.from && position < rootGroup.to;
        return same ? Range{} : Range{root, root + 1};
    }
    case Pattern::OtherToRoot:
        return position == root ? groupOf(rules, members, position, true) : Range{};
    }
    return {};
}

/// Members whose ends wait for the start of the member at `position`.
Range awaitedBy(Pattern pattern, const CollRules& rules, std::size_t members, std::uint32_t position) {
    const auto root = static_cast<std::uint32_t>(rules.rootPosition);
    const auto all = static_cast<std::uint32_t>(members);
    switch (pattern) {
    case Pattern::None:
        return {};
    case Pattern::All:
        return {0, all};
    case Pattern::RootToAll:
        return position == root ? Range{0, all} : Range{};
    case Pattern::AllToRoot:
        return {root, root + 1};
    case Pattern::Prefix:
        return {position, all};
    case Pattern::OtherGroup:
        return groupOf(rules, members, position, true);
    case Pattern::RootToOther:
        return position == root ? groupOf(rules, members, root, true) : Range{};
    case Pattern::OtherToRoot: {
        const Range rootGroup = groupOf(rules, members, root, false);
        const bool same = position >= rootGroup.from && position < rootGroup.to;
        return same ? Range{} : Range{root, root + 1};
    }
    }
    return {};
}

/// Skips what a walk has covered of a collective already. Patterns that end or begin with the same member for
/// all (Prefix: from the front when raising, to the back when lowering) need one number; the groups need one
/// bit each.
bool covers(std::uint32_t& reached, Pattern pattern, Range& range, bool fromFront) {
    switch (pattern) {
    case Pattern::All:
    case Pattern::Prefix:
        if (fromFront) {
            range.from = std::max(range.from, reached);
            reached = std::max(reached, range.to);
        } else {
            const std::uint32_t done = reached == 0 ? range.to : reached - 1; // stored plus one
            range.to = std::min(range.to, done);
            reached = std::min(done, range.from) + 1;
        }
        return range.from >= range.to;
    case Pattern::OtherGroup: {
        const std::uint32_t bit = range.from == 0 ? 1 : 2;
        const bool done = (reached & bit) != 0;
        reached |= bit;
        return done;
    }
    default:
        return range.from >= range.to;
    }
}

} // namespace

// --- Raise
// -----------------------------------------------------------------------------------------------------

Raise::Raise(const TimelineData& data, Relation relation)
    : m_data(data), m_relation(relation), m_positions(data.ranks.size(), 0), m_visited(data.ranks.size(), 0),
      m_reached(data.collectives.size(), 0) {}

void Raise::need(std::int32_t rank, Position position) {
    Position& now = m_positions[static_cast<std::size_t>(rank)];
    if (position > now) {
        now = position;
        m_queue.push_back(rank);
    }
}

void Raise::needStart(std::int32_t rank, std::uint32_t call) {
    if (rank != m_fixed) {
        need(rank, startOf(m_data.rank(rank), call));
    }
}

void Raise::run() {
    while (!m_queue.empty()) {
        const std::int32_t rank = m_queue.front();
        m_queue.pop_front();
        const RankData& data = m_data.rank(rank);
        std::uint64_t& visited = m_visited[static_cast<std::size_t>(rank)];
        // Demands on other ranks may come back here and raise this one further: read the goal anew each time.
        // A stretch at a time, so that all ranks pass the same part of the store together, while it is in the
        // cache.
        const std::uint64_t pause = visited + kStretch;
        while (visited < m_positions[static_cast<std::size_t>(rank)] / 2) {
            if (visited == pause) {
                m_queue.push_back(rank);
                break;
            }
            ++visited;
            const std::uint32_t call = data.events.callOf(visited);
            if (call != kNone && data.links[call] != kNone && data.events.endOf(call) == visited) {
                visitEnd(rank, call);
            }
        }
    }
}

void Raise::visitEnd(std::int32_t rank, std::uint32_t call) {
    const auto needSend = [&](const SendHalf* send) {
        if (send != nullptr) {
            needStart(send->rank, send->call);
        }
    };
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send:
        case Role::SendDone: {
            const SendHalf& send = m_data.sends[id];
            if (send.waitsForReceiver && send.done == call) {
                const RecvHalf* recv = recvOf(m_data, send);
                if (recv != nullptr && recv->start != kNone) {
                    needStart(recv->rank, recv->start);
                }
            }
            break;
        }
        case Role::Post:
        case Role::Start:
        case Role::Done: {
            const RecvHalf& recv = m_data.recvs[id];
            if (recv.done == call || (role == Role::Post && recv.start != recv.post)) {
                needSend(sendOf(m_data, recv));
            }
            break;
        }
        case Role::Probe: {
            const ProbeHalf& probe = m_data.probes[id];
            const Channel& channel = m_data.channels[probe.channel];
            if (probe.position < channel.sends.size()) {
                needSend(&m_data.sends[channel.sends[probe.position]]);
            }
            break;
        }
        case Role::Coll:
        case Role::CollDone:
            visitCollective(id, rank, call);
            break;
        }
    });
}

void Raise::visitCollective(std::uint32_t part, std::int32_t rank, std::uint32_t call) {
    const CollPart where = m_data.parts[part];
    const Collective& c = m_data.collectives[where.collective];
    if (c.finished[where.position] != m_data.ref(rank, call)) {
        return;
    }
    const Pattern pattern = patternOf(m_data, where.collective, m_relation);
    Range range = waitsFor(pattern, m_data.collRules[where.collective], c.members.size(), where.position);
    if (covers(m_reached[where.collective], pattern, range, true)) {
        return;
    }
    for (std::uint32_t member = range.from; member < range.to; ++member) {
        if (const auto& start = c.arrived[member]; start.has_value()) {
            needStart(start->rank.value(), start->call.value());
        }
    }
}

// --- Lower
// -----------------------------------------------------------------------------------------------------

Lower::Lower(const TimelineData& data, Relation relation, Stop stop, Positions from)
    : m_data(data), m_relation(relation), m_stop(stop), m_positions(std::move(from)),
      m_reached(data.collectives.size(), 0) {
    m_visited.reserve(data.ranks.size());
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        m_visited.push_back(data.rank(rank).events.lastEvent() + 1);
        m_queue.push_back(rank);
    }
}

void Lower::run() {
    while (!m_queue.empty()) {
        const std::int32_t rank = m_queue.front();
        m_queue.pop_front();
        const RankData& data = m_data.rank(rank);
        std::uint64_t& visited = m_visited[static_cast<std::size_t>(rank)];
        // Withdraw the starts of the events from the position on; the start of event e is at 2e + 1.
        const std::uint64_t pause = visited > kStretch ? visited - kStretch : 0;
        while (visited > 1 && (visited - 1) * 2 + 1 > m_positions[static_cast<std::size_t>(rank)]) {
            if (visited == pause) {
                m_queue.push_back(rank);
                break;
            }
            --visited;
            const std::uint32_t call = data.events.callOf(visited);
            if (call != kNone && data.links[call] != kNone && data.events.beginOf(call) == visited) {
                visitStart(rank, call);
            }
        }
    }
}

void Lower::forbidEnd(std::int32_t rank, std::uint32_t call) {
    const RankData& data = m_data.rank(rank);
    const auto at = static_cast<std::size_t>(rank);
    if (rank == m_fixed || call == kNone || data.events.endOf(call) == 0 ||
        m_positions[at] < endOf(data, call)) {
        return;
    }
    const Position inside = startOf(data, call);
    Position next = m_stop == Stop::Inside ? inside : inside - 1;
    if (m_floor != nullptr) {
        next = std::max(next, (*m_floor)[at]);
    }
    if (next < m_positions[at]) {
        m_positions[at] = next;
        m_changed = true;
        m_queue.push_back(rank);
    }
}

void Lower::visitStart(std::int32_t rank, std::uint32_t call) {
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send: {
            const SendHalf& send = m_data.sends[id];
            if (const RecvHalf* recv = recvOf(m_data, send)) {
                forbidEnd(recv->rank, recv->done);
                if (recv->start != recv->post) {
                    forbidEnd(recv->rank, recv->post);
                }
            }
            const Channel& channel = m_data.channels[send.channel];
            if (!channel.probes.empty() && !send.cancelled) {
                const auto position = static_cast<std::uint32_t>(
                    std::lower_bound(channel.sends.begin(), channel.sends.end(), id) - channel.sends.begin());
                auto probe = std::lower_bound(
                    channel.probes.begin(), channel.probes.end(), position,
                    [&](std::uint32_t p, std::uint32_t value) { return m_data.probes[p].position < value; });
                for (; probe != channel.probes.end() && m_data.probes[*probe].position == position; ++probe) {
                    forbidEnd(m_data.probes[*probe].rank, m_data.probes[*probe].call);
                }
            }
            break;
        }
        case Role::Post:
        case Role::Start: {
            const RecvHalf& recv = m_data.recvs[id];
            const SendHalf* send = recv.start == call ? sendOf(m_data, recv) : nullptr;
            if (send != nullptr && send->waitsForReceiver) {
                forbidEnd(send->rank, send->done);
            }
            break;
        }
        case Role::Coll:
            visitCollective(id);
            break;
        case Role::SendDone:
        case Role::Done:
        case Role::Probe:
        case Role::CollDone:
            break;
        }
    });
}

void Lower::visitCollective(std::uint32_t part) {
    const CollPart where = m_data.parts[part];
    const Collective& c = m_data.collectives[where.collective];
    const Pattern pattern = patternOf(m_data, where.collective, m_relation);
    Range range = awaitedBy(pattern, m_data.collRules[where.collective], c.members.size(), where.position);
    if (covers(m_reached[where.collective], pattern, range, false)) {
        return;
    }
    for (std::uint32_t member = range.from; member < range.to; ++member) {
        if (const auto& end = c.finished[member]; end.has_value()) {
            forbidEnd(end->rank.value(), end->call.value());
        }
    }
}

std::vector<std::uint32_t> membersNeeded(const TimelineData& data, std::uint32_t collective,
                                         std::uint32_t position) {
    const Range range = waitsFor(patternOf(data, collective, Relation::Needed), data.collRules[collective],
                                 data.collectives[collective].members.size(), position);
    std::vector<std::uint32_t> members;
    for (std::uint32_t member = range.from; member < range.to; ++member) {
        members.push_back(member);
    }
    return members;
}

std::vector<CallRef> neededBy(const TimelineData& data, CallRef call) {
    std::vector<CallRef> result;
    const std::int32_t rank = call.rank.value();
    data.eachLink(rank, call.call.value(), [&](Role role, std::uint32_t id) {
        if (role == Role::Send || role == Role::SendDone) {
            const RecvHalf* recv = recvOf(data, data.sends[id]);
            const bool waits = data.sends[id].waitsForReceiver && data.sends[id].done == call.call.value();
            if (recv != nullptr && waits && recv->start != kNone) {
                result.push_back(data.ref(recv->rank, recv->start));
            }
        } else if (role == Role::Probe) {
            const Channel& channel = data.channels[data.probes[id].channel];
            if (data.probes[id].position < channel.sends.size()) {
                const SendHalf& send = data.sends[channel.sends[data.probes[id].position]];
                result.push_back(data.ref(send.rank, send.call));
            }
        } else if (role == Role::Coll || role == Role::CollDone) {
            const CollPart where = data.parts[id];
            const Collective& c = data.collectives[where.collective];
            if (c.finished[where.position] != call) {
                return;
            }
            for (const std::uint32_t member : membersNeeded(data, where.collective, where.position)) {
                if (c.arrived[member].has_value()) {
                    result.push_back(*c.arrived[member]);
                }
            }
        } else {
            const RecvHalf& recv = data.recvs[id];
            const bool ends =
                recv.done == call.call.value() || (role == Role::Post && recv.start != recv.post);
            if (const SendHalf* send = sendOf(data, recv); ends && send != nullptr) {
                result.push_back(data.ref(send->rank, send->call));
            }
        }
    });
    return result;
}

} // namespace stopline::replay
