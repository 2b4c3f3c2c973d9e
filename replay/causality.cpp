#include "causality_edges.h"

#include "../tracelib/function_forms.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::FunctionId;

Position lastPosition(const RankData& rank) {
    const std::uint64_t last = rank.events.lastEvent();
    return last * 2 + (rank.events.has(last) && rank.events.isBegin(last) ? 1 : 0);
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
    const FunctionId function = trace::plainFunction(c.function);
    switch (function) {
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
    const CallClass callClass = trace::functionClass(function);
    if (callClass == CallClass::Neighbor || callClass == CallClass::Ineighbor ||
        callClass == CallClass::FileCollective || callClass == CallClass::FileIcollective) {
        return Pattern::None; // who gets data from whom is not recorded, or nobody does
    }
    const bool exchange = callClass == CallClass::Collective || callClass == CallClass::Icollective;
    return rules.inter && exchange ? Pattern::OtherGroup : Pattern::All;
}

namespace {

/// The group of a member, or the other one.
Range groupOf(const CollRules& rules, std::size_t members, std::uint32_t position, bool other) {
    const auto local = static_cast<std::uint32_t>(rules.localCount);
    const bool first = (position < local) != other;
    return first ? Range{0, local} : Range{local, static_cast<std::uint32_t>(members)};
}

} // namespace

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
            if (const std::int64_t at = channel.sendAt(data.probes[id].position); channel.hasSend(at)) {
                const SendHalf& send = data.sends[channel.sends[static_cast<std::size_t>(at)]];
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
        } else if (role == Role::SyncTo) {
            const SyncEdge& edge = data.syncEdges[id];
            if (edge.to == call.call.value() && edge.from != kNone) {
                result.push_back(data.ref(edge.fromRank, edge.from));
            }
        } else if (role == Role::Post || role == Role::Start || role == Role::Done) {
            const RecvHalf& recv = data.recvs[id];
            const bool ends =
                recv.done == call.call.value() || (role == Role::Post && recv.start != recv.post);
            if (const SendHalf* send = sendOf(data, recv); ends && send != nullptr) {
                result.push_back(data.ref(send->rank, send->call));
            }
        }
    });
    for (const JobRanks& job : data.jobs) {
        const std::uint32_t spawn = data.spawnOf(job);
        if (spawn == kNone) {
            continue;
        }
        if (rank >= job.first && rank < job.first + job.size && call.call.value() == 0) {
            result.push_back(data.ref(job.spawner.value(), spawn));
        }
        data.eachSpawn(job, [&](std::int32_t parent, std::uint32_t parentCall) {
            for (std::int32_t child = job.first; data.ref(parent, parentCall) == call && child < job.first + job.size; ++child) {
                if (data.rank(child).events.callCount() != 0) {
                    result.push_back(data.ref(child, 0));
                }
            }
        });
    }
    return result;
}

} // namespace stopline::replay
