#include "matcher_collectives.h"

#include <algorithm>

namespace stopline::replay {

using trace::EventDetails;
using trace::FunctionId;

bool isGroupConstructor(FunctionId function) {
    return function == FunctionId::Comm_create_group || function == FunctionId::Intercomm_create;
}

CommView CollectiveTable::view(std::int32_t rank, const trace::CommInfo& info) {
    CommView view;
    const auto [at, fresh] =
        m_data.commById.try_emplace(info.id, static_cast<std::uint32_t>(m_data.commEntries.size()));
    view.entry = at->second;
    if (fresh) {
        CommEntry entry;
        entry.id = info.id;
        entry.localCount = static_cast<std::int32_t>(info.members.size());
        entry.inter = !info.remote.empty();
        for (const auto* group : {&info.members, &info.remote}) {
            for (const std::int32_t member : *group) {
                entry.members.emplace_back(member);
            }
        }
        m_data.commEntries.push_back(std::move(entry));
    }
    const auto& members = m_data.commEntries[view.entry].members;
    const auto own = std::find(members.begin(), members.end(), RankId{rank});
    view.position = own == members.end() ? -1 : static_cast<std::int32_t>(own - members.begin());
    return view;
}

std::uint32_t CollectiveTable::newCollective(const CommEntry& entry) {
    Collective collective;
    collective.function = FunctionId::Count;
    collective.commId = entry.id;
    collective.members = entry.members;
    collective.arrived.resize(entry.members.size());
    collective.finished.resize(entry.members.size());
    m_data.collectives.push_back(std::move(collective));
    CollRules rules;
    rules.localCount = entry.localCount;
    rules.inter = entry.inter;
    m_data.collRules.push_back(rules);
    return static_cast<std::uint32_t>(m_data.collectives.size() - 1);
}

std::uint32_t CollectiveTable::instance(std::uint32_t commEntry, std::uint32_t ordinal) {
    CommEntry& entry = m_data.commEntries[commEntry];
    while (entry.collectives.size() <= ordinal) {
        entry.collectives.push_back(newCollective(entry));
    }
    return entry.collectives[ordinal];
}

std::uint32_t CollectiveTable::arrive(std::int32_t rank, std::uint32_t call, std::uint32_t collective,
                                      std::int32_t position, FunctionId function) {
    Collective& c = m_data.collectives[collective];
    const auto at = static_cast<std::size_t>(position);
    if (c.arrived[at].has_value()) {
        return kNone; // two views of one communicator on one rank: contradictory
    }
    // What it is called after must not depend on the order in which the ranks' events come in.
    const auto first =
        std::find_if(c.arrived.begin(), c.arrived.end(), [](const auto& a) { return a.has_value(); });
    if (first == c.arrived.end()) {
        c.function = function;
    } else if (c.function != function) {
        c.mismatch = true;
        if (first - c.arrived.begin() > position) {
            c.function = function;
        }
    }
    c.arrived[at] = m_data.ref(rank, call);
    const auto part = static_cast<std::uint32_t>(m_data.parts.size());
    m_data.parts.push_back({collective, static_cast<std::uint32_t>(position)});
    m_data.link(rank, call, Role::Coll, part);
    return part;
}

void CollectiveTable::noteRoot(std::int32_t rank, std::uint32_t collective, const EventDetails& begin) {
    std::int32_t world = -1;
    if (begin.root == kRootInter) {
        world = rank;
    } else if (begin.root >= 0) {
        world = m_data.worldRank(rank, begin.comm, begin.root);
    }
    if (world < 0) {
        return;
    }
    Collective& c = m_data.collectives[collective];
    if (!c.root.has_value()) {
        c.root = RankId{world};
        const auto at = std::find(c.members.begin(), c.members.end(), RankId{world});
        if (at != c.members.end()) {
            m_data.collRules[collective].rootPosition = static_cast<std::int32_t>(at - c.members.begin());
        }
    } else if (c.root->value() != world) {
        c.mismatch = true;
    }
}

std::uint32_t CollectiveTable::start(std::int32_t rank, std::uint32_t call, const EventDetails& begin) {
    RankData& data = m_data.rank(rank);
    if (begin.comm.value() >= data.views.size()) {
        return kNone;
    }
    CommView& view = data.views[begin.comm.value()];
    if (view.position < 0) {
        return kNone;
    }
    const std::uint32_t collective = instance(view.entry, view.collectiveCount++);
    const std::uint32_t part = arrive(rank, call, collective, view.position, begin.function);
    if (part != kNone) {
        noteRoot(rank, collective, begin);
        if (std::max(begin.sendBytes, begin.recvBytes) > m_data.rules.eagerLimit) {
            m_data.collRules[collective].large = true;
        }
    }
    return part;
}

std::uint32_t CollectiveTable::startWorld(std::int32_t rank, std::uint32_t call, FunctionId function) {
    RankData& data = m_data.rank(rank);
    const bool finalize = function == FunctionId::Finalize;
    const std::uint32_t ordinal = finalize ? data.finalizeCount++ : data.initCount++;
    return arrive(rank, call, instance(finalize ? 1 : 0, ordinal), rank, function);
}

void CollectiveTable::finish(std::int32_t rank, std::uint32_t part, std::uint32_t call) {
    const CollPart where = m_data.parts[part];
    auto& finished = m_data.collectives[where.collective].finished[where.position];
    if (finished.has_value()) {
        return;
    }
    finished = m_data.ref(rank, call);
    if (m_data.collectives[where.collective].arrived[where.position]->call != finished->call) {
        m_data.link(rank, call, Role::CollDone, part);
    }
}

void CollectiveTable::startGroup(std::int32_t rank, std::uint32_t call) {
    RankData& data = m_data.rank(rank);
    data.groupCall = call;
    data.groupPart = kNone;
    joinAwaited(rank);
}

void CollectiveTable::joinAwaited(std::int32_t rank) {
    RankData& data = m_data.rank(rank);
    if (data.groupCall == kNone || data.groupPart != kNone) {
        return;
    }
    const FunctionId function = m_data.beginDetails(rank, data.groupCall).function;
    for (auto at = data.awaited.begin(); at != data.awaited.end(); ++at) {
        const Collective& c = m_data.collectives[*at];
        if (c.function == function) {
            const auto own = std::find(c.members.begin(), c.members.end(), RankId{rank});
            data.groupPart = arrive(rank, data.groupCall, *at,
                                    static_cast<std::int32_t>(own - c.members.begin()), function);
            data.awaited.erase(at);
            return;
        }
    }
}

void CollectiveTable::created(std::int32_t rank, std::uint32_t call, FunctionId function, CommIndex newComm) {
    RankData& data = m_data.rank(rank);
    const std::uint32_t guessed = data.groupCall == call ? data.groupPart : kNone;
    data.groupCall = kNone;
    data.groupPart = kNone;
    const CommView* view = newComm.value() < data.views.size() ? &data.views[newComm.value()] : nullptr;
    std::uint32_t collective = kNone;
    bool fresh = false;
    if (view != nullptr && view->position >= 0) {
        const CommEntry& entry = m_data.commEntries[view->entry];
        const auto known = m_data.createdComms.find(entry.id);
        fresh = known == m_data.createdComms.end();
        collective = fresh ? newCollective(entry) : known->second;
        m_data.createdComms.emplace(entry.id, collective);
        // All members of both groups wait for each other, also when the new communicator joins two groups.
        m_data.collRules[collective].inter = false;
        std::erase(data.awaited, collective);
    }
    std::uint32_t part = guessed;
    if (guessed != kNone && m_data.parts[guessed].collective != collective) {
        const CollPart wrong = m_data.parts[guessed];
        m_data.collectives[wrong.collective].arrived[wrong.position].reset();
        data.awaited.push_back(wrong.collective);
        part = kNone;
        if (collective != kNone) { // the link of the call stays and now leads to the right one
            Collective& c = m_data.collectives[collective];
            const auto position = static_cast<std::uint32_t>(view->position);
            if (!c.arrived[position].has_value()) {
                c.arrived[position] = m_data.ref(rank, call);
                c.function = function;
                m_data.parts[guessed] = {collective, position};
                part = guessed;
            }
        }
    } else if (guessed == kNone && collective != kNone) {
        part = arrive(rank, call, collective, view->position, function);
    }
    if (part != kNone) {
        finish(rank, part, call);
    }
    if (fresh) {
        const std::vector<RankId> members = m_data.collectives[collective].members;
        for (const RankId member : members) {
            if (member.value() >= 0 && member.value() < m_data.rankCount() && member.value() != rank) {
                m_data.rank(member.value()).awaited.push_back(collective);
                joinAwaited(member.value());
            }
        }
    }
}

} // namespace stopline::replay
