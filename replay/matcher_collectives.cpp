#include "matcher_collectives.h"

#include "../tracelib/function_forms.h"

#include <algorithm>

namespace stopline::replay {

using trace::EventDetails;
using trace::FunctionId;

bool isGroupConstructor(FunctionId function) {
    return function == FunctionId::Comm_create_group || function == FunctionId::Intercomm_create ||
           function == FunctionId::Comm_create_from_group || function == FunctionId::Intercomm_create_from_groups;
}

namespace {

/// The forms for large counts go together with the others.
bool canMatch(FunctionId one, FunctionId other) {
    return trace::plainFunction(one) == trace::plainFunction(other) &&
           trace::functionClass(one) == trace::functionClass(other);
}

} // namespace

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
    if (m_data.hasEarly(rank) && m_data.rank(rank).early->incomplete) {
        missAll(view);
    }
    return view;
}

std::uint32_t* CollectiveTable::newCalls(std::size_t members) {
    constexpr std::size_t kChunk = std::size_t{1} << 16;
    if (m_data.calls.empty() || m_data.calls.back().capacity() - m_data.calls.back().size() < members) {
        m_data.calls.emplace_back().reserve(std::max(kChunk, members));
    }
    std::vector<std::uint32_t>& chunk = m_data.calls.back(); // never grows beyond what is reserved
    chunk.resize(chunk.size() + members, MemberCalls::kUnknown);
    return chunk.data() + chunk.size() - members;
}

std::uint32_t CollectiveTable::newCollective(const CommEntry& entry) {
    CollRules rules;
    rules.localCount = entry.localCount;
    rules.inter = entry.inter;
    rules.arrived = newCalls(entry.members.size() * 2);
    rules.finished = rules.arrived + entry.members.size();
    m_data.collRules.push_back(rules);
    Collective collective;
    collective.function = FunctionId::Count;
    collective.commId = entry.id;
    collective.members = entry.members;
    collective.arrived = {collective.members, rules.arrived};
    collective.finished = {collective.members, rules.finished};
    m_data.collectives.push_back(collective);
    return static_cast<std::uint32_t>(m_data.collectives.size() - 1);
}

std::uint32_t CollectiveTable::instance(std::uint32_t commEntry, std::uint32_t ordinal) {
    constexpr std::uint32_t kNear = 1024; // a rank that is further ahead than that started later
    CommEntry& entry = m_data.commEntries[commEntry];
    const auto make = [&](std::uint32_t which) {
        const std::uint32_t made = newCollective(entry);
        CollRules& rules = m_data.collRules.back();
        rules.commEntry = commEntry;
        rules.ordinal = which;
        if (entry.isMissing(which)) {
            setEarly(made);
        }
        return made;
    };
    if (entry.collectives.empty()) {
        entry.first = ordinal;
    }
    const auto end = entry.first + static_cast<std::uint32_t>(entry.collectives.size());
    if (ordinal < entry.first || ordinal > end + kNear) {
        const auto [at, fresh] = entry.apart.try_emplace(ordinal, kNone);
        if (fresh) {
            at->second = make(ordinal);
        }
        return at->second;
    }
    for (std::uint32_t next = end; next <= ordinal; ++next) {
        const auto known = entry.apart.empty() ? entry.apart.end() : entry.apart.find(next);
        if (known == entry.apart.end()) {
            entry.collectives.push_back(make(next));
        } else {
            entry.collectives.push_back(known->second);
            entry.apart.erase(known);
        }
    }
    return entry.collectives[ordinal - entry.first];
}

std::uint32_t CollectiveTable::arrive(std::int32_t rank, std::uint32_t call, std::uint32_t collective,
                                      std::int32_t position, FunctionId function) {
    Collective& c = m_data.collectives[collective];
    CollRules& rules = m_data.collRules[collective];
    const auto at = static_cast<std::uint32_t>(position);
    if (rules.arrived[at] != kNone) {
        return kNone; // two views of one communicator on one rank: contradictory
    }
    // What it is called after must not depend on the order in which the ranks' events come in.
    if (rules.first == kNone) {
        c.function = function;
    } else if (c.function != function) {
        c.mismatch = c.mismatch || !canMatch(c.function, function);
        if (rules.first > at) {
            c.function = function;
        }
    }
    rules.first = std::min(rules.first, at);
    rules.arrived[at] = call;
    ++rules.arrivals;
    touch(collective, at);
    if (c.early) {
        m_data.noteMissing(rank, call);
    }
    const auto part = static_cast<std::uint32_t>(m_data.parts.size());
    m_data.parts.push_back({collective, static_cast<std::uint32_t>(position)});
    m_data.link(rank, call, Role::Coll, part);
    return part;
}

void CollectiveTable::touch(std::uint32_t collective, std::uint32_t position) {
    const CollRules& rules = m_data.collRules[collective];
    const std::span<const RankId> members = m_data.collectives[collective].members;
    if (collective >= m_data.digestedCollectives) { // the others have been touched as they came
        m_data.touch(members[position].value(), rules.arrived[position]);
        return;
    }
    for (std::size_t member = 0; member < members.size(); ++member) {
        if (rules.arrived[member] != kNone) {
            m_data.touch(members[member].value(), rules.arrived[member]);
        }
    }
}

void CollectiveTable::depart(std::uint32_t collective, std::uint32_t position) {
    CollRules& rules = m_data.collRules[collective];
    touch(collective, position);
    rules.arrived[position] = kNone;
    --rules.arrivals;
    if (rules.first == position) {
        const auto members = static_cast<std::uint32_t>(m_data.collectives[collective].members.size());
        for (++rules.first; rules.first < members && rules.arrived[rules.first] == kNone; ++rules.first) {
        }
        rules.first = rules.first < members ? rules.first : kNone;
    }
}

void CollectiveTable::nameAnew(std::uint32_t collective) {
    Collective& c = m_data.collectives[collective];
    CollRules& rules = m_data.collRules[collective];
    c.mismatch = false;
    c.root = std::nullopt;
    rules.rootPosition = -1;
    for (std::uint32_t member = rules.first; member < c.members.size(); ++member) {
        const std::uint32_t call = rules.arrived[member];
        if (call == kNone) {
            continue;
        }
        const std::int32_t rank = c.members[member].value();
        const EventDetails& begin = m_data.beginDetails(rank, call);
        if (member == rules.first) {
            c.function = begin.function;
        }
        c.mismatch = c.mismatch || c.function != begin.function;
        noteRoot(rank, collective, begin);
    }
}

void CollectiveTable::withdraw(std::int32_t rank, std::uint32_t part, std::uint32_t call) {
    const CollPart where = m_data.parts[part];
    const CollRules& rules = m_data.collRules[where.collective];
    if (rules.arrived[where.position] != call || rules.commEntry == kNone) {
        return;
    }
    for (CommView& view : m_data.rank(rank).views) {
        // Only the latest can be taken back: what came after it has its place by it.
        if (view.entry == rules.commEntry && view.collectiveCount != 0 && view.collectiveCount - 1 == rules.ordinal) {
            --view.collectiveCount;
            depart(where.collective, where.position);
            nameAnew(where.collective);
            return;
        }
    }
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
    if (view.position < 0 || (data.early != nullptr && data.early->incomplete)) {
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
    return arrive(rank, call, instance(data.world + (finalize ? 1 : 0), ordinal), data.worldRank, function);
}

void CollectiveTable::finish(std::int32_t rank, std::uint32_t part, std::uint32_t call) {
    const CollPart where = m_data.parts[part];
    CollRules& rules = m_data.collRules[where.collective];
    if (rules.finished[where.position] != kNone) {
        return;
    }
    rules.finished[where.position] = call;
    ++rules.finishes;
    touch(where.collective, where.position);
    if (rules.arrived[where.position] != call) {
        rules.apart = true;
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
        depart(wrong.collective, wrong.position);
        data.awaited.push_back(wrong.collective);
        part = kNone;
        if (collective != kNone) { // the link of the call stays and now leads to the right one
            CollRules& rules = m_data.collRules[collective];
            const auto position = static_cast<std::uint32_t>(view->position);
            if (rules.arrived[position] == kNone) {
                rules.arrived[position] = call;
                ++rules.arrivals;
                rules.first = std::min(rules.first, position);
                touch(collective, position);
                m_data.collectives[collective].function = function;
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
        for (const RankId member : m_data.collectives[collective].members) {
            if (m_data.hasEarly(member.value())) {
                const RankData& other = m_data.rank(member.value());
                const auto made = std::min<std::size_t>(other.early->comms, other.views.size());
                const bool before = std::any_of(other.views.begin(), other.views.begin() + static_cast<std::ptrdiff_t>(made),
                                                [view](const CommView& one) { return one.entry == view->entry; });
                if (before) {
                    setEarly(collective);
                    continue;
                }
            }
            if (member.value() >= 0 && member.value() < m_data.rankCount() && member.value() != rank) {
                m_data.rank(member.value()).awaited.push_back(collective);
                joinAwaited(member.value());
            }
        }
    }
}

} // namespace stopline::replay
