#include "one_sided.h"

#include "causality.h"

#include <algorithm>

namespace stopline::replay {

using trace::EventDetails;
using trace::FunctionId;

namespace {

bool contains(const std::vector<std::int32_t>& list, std::int32_t rank) {
    return std::find(list.begin(), list.end(), rank) != list.end();
}

void removeOne(std::vector<std::int32_t>& list, std::int32_t rank) {
    if (const auto at = std::find(list.begin(), list.end(), rank); at != list.end()) {
        list.erase(at);
    }
}

constexpr std::int32_t kAll = -1;
constexpr std::int32_t kNobody = -2; ///< MPI_PROC_NULL, or a rank that is not in the window

/// World rank of what a call on a window is about.
std::int32_t targetOf(const TimelineData& data, std::int32_t rank, const EventDetails& begin) {
    if (begin.sendPeer == kNoPeer) {
        return kAll;
    }
    const std::int32_t world = data.worldRank(rank, begin.comm, begin.sendPeer);
    return world < 0 ? kNobody : world;
}

} // namespace

std::vector<std::int32_t> OneSided::group(std::int32_t rank, const EventDetails& begin) const {
    std::vector<std::int32_t> ranks;
    for (const std::int32_t peer : begin.peers) {
        if (const std::int32_t world = m_data.worldRank(rank, begin.comm, peer); world >= 0) {
            ranks.push_back(world);
        }
    }
    return ranks;
}

std::uint32_t OneSided::move(std::int32_t rank, std::uint32_t call, const EventDetails& begin) {
    TransferHalf half;
    half.rank = rank;
    half.call = call;
    half.target = m_data.worldRank(rank, begin.comm, begin.sendPeer);
    half.window = m_data.commEntry(rank, begin.comm);
    if (half.target < 0 || half.window == kNone) {
        return kNone;
    }
    State& own = state(rank, begin.comm);
    const auto named = std::find(own.access.begin(), own.access.end(), half.target);
    if (named != own.access.end()) {
        half.epoch = Epoch::Group;
        half.opened = own.edges[static_cast<std::size_t>(named - own.access.begin())];
    } else if (contains(own.locked, half.target) || contains(own.locked, kAll)) {
        half.epoch = Epoch::Lock;
    } else {
        half.opened = own.fence;
    }
    const auto id = static_cast<std::uint32_t>(m_data.transfers.size());
    m_data.transfers.push_back(half);
    own.open.push_back(id);
    m_data.link(rank, call, Role::Rma, id);
    return id;
}

void OneSided::moved(std::uint32_t transfer, std::uint32_t call) {
    TransferHalf& half = m_data.transfers[transfer];
    if (half.local == kNone) {
        half.local = call;
    }
}

std::uint32_t OneSided::meet(std::vector<std::uint32_t>& edges, std::uint32_t& count, const SyncEdge& ends) {
    if (count == edges.size()) {
        edges.push_back(static_cast<std::uint32_t>(m_data.syncEdges.size()));
        SyncEdge fresh = ends;
        fresh.from = kNone;
        fresh.to = kNone;
        m_data.syncEdges.push_back(fresh);
    }
    const std::uint32_t id = edges[count++];
    SyncEdge& edge = m_data.syncEdges[id];
    if (ends.from != kNone) {
        edge.from = ends.from;
        m_data.link(edge.fromRank, edge.from, Role::SyncFrom, id);
    } else {
        edge.to = ends.to;
        m_data.link(edge.toRank, edge.to, Role::SyncTo, id);
    }
    for (const auto& [rank, call] : {std::pair(edge.fromRank, edge.from), std::pair(edge.toRank, edge.to)}) {
        if (call != kNone) {
            m_data.touch(rank, call);
        }
    }
    return id;
}

bool OneSided::epochsMissing(std::int32_t rank, CommIndex window) const {
    const std::uint32_t entry = m_data.commEntry(rank, window);
    return entry != kNone && m_data.commEntries[entry].epochsMissing;
}

void OneSided::complete(std::int32_t rank, std::uint32_t call, CommIndex window) {
    const std::uint32_t entry = m_data.commEntry(rank, window);
    for (const std::int32_t target : state(rank, window).access) {
        Pair& both = pair(entry, rank, target);
        meet(both.closes, both.completes, {rank, target, call, kNone, true});
    }
}

void OneSided::waitFor(std::int32_t rank, std::uint32_t call, CommIndex window) {
    const std::uint32_t entry = m_data.commEntry(rank, window);
    for (const std::int32_t origin : state(rank, window).exposure) {
        Pair& both = pair(entry, origin, rank);
        meet(both.closes, both.waits, {origin, rank, kNone, call, true});
    }
}

void OneSided::unlockBegins(std::int32_t rank, std::uint32_t call, std::uint32_t window, std::int32_t target) {
    auto& locks = m_data.rank(rank).locks;
    const auto held = std::find_if(locks.rbegin(), locks.rend(), [&](const LockSpan& span) {
        return span.unlock == kNone && span.window == window && span.target == target;
    });
    if (held != locks.rend()) {
        held->unlock = call;
    }
}

void OneSided::begin(std::int32_t rank, std::uint32_t call, const EventDetails& begin) {
    const std::uint32_t window = m_data.commEntry(rank, begin.comm);
    if (window == kNone) {
        return;
    }
    if (m_data.commEntries[window].epochsMissing &&
        (begin.function == FunctionId::Win_post || begin.function == FunctionId::Win_start ||
         begin.function == FunctionId::Win_complete || begin.function == FunctionId::Win_wait)) {
        return; // which of them belong together is not known
    }
    switch (begin.function) {
    case FunctionId::Win_post:
        for (const std::int32_t origin : group(rank, begin)) {
            Pair& both = pair(window, origin, rank);
            meet(both.opens, both.posts, {rank, origin, call, kNone, false});
        }
        break;
    case FunctionId::Win_start: {
        State& own = state(rank, begin.comm);
        if (!own.access.empty()) {
            break; // MPI is going to refuse it
        }
        own.edges.clear();
        for (const std::int32_t target : group(rank, begin)) {
            Pair& both = pair(window, rank, target);
            own.edges.push_back(meet(both.opens, both.starts, {target, rank, kNone, call, false}));
        }
        break;
    }
    case FunctionId::Win_complete:
        complete(rank, call, begin.comm);
        break;
    case FunctionId::Win_wait:
        waitFor(rank, call, begin.comm);
        break;
    case FunctionId::Win_lock:
    case FunctionId::Win_lock_all:
        m_data.rank(rank).locks.push_back(
            {window, targetOf(m_data, rank, begin), call, kNone,
             begin.function == FunctionId::Win_lock && begin.mode == trace::kLockExclusive});
        break;
    case FunctionId::Win_unlock:
    case FunctionId::Win_unlock_all:
        unlockBegins(rank, call, window, targetOf(m_data, rank, begin));
        break;
    default:
        break;
    }
}

void OneSided::flush(State& own, std::int32_t target, std::uint32_t call, bool remote) {
    std::erase_if(own.open, [&](std::uint32_t id) {
        TransferHalf& half = m_data.transfers[id];
        if (half.epoch != Epoch::Lock || (target != kAll && half.target != target)) {
            return false;
        }
        half.local = half.local == kNone ? call : half.local;
        half.remote = remote ? call : kNone;
        return remote;
    });
}

void OneSided::end(std::int32_t rank, std::uint32_t call, const EventDetails& begin) {
    State& own = state(rank, begin.comm);
    const std::int32_t target = targetOf(m_data, rank, begin);
    switch (begin.function) {
    case FunctionId::Win_post:
        own.exposure = group(rank, begin);
        break;
    case FunctionId::Win_start:
        if (!epochsMissing(rank, begin.comm)) {
            own.access = group(rank, begin);
        }
        break;
    case FunctionId::Win_complete: {
        std::erase_if(own.open, [&](std::uint32_t id) {
            TransferHalf& half = m_data.transfers[id];
            if (half.epoch != Epoch::Group) {
                return false;
            }
            half.local = half.local == kNone ? call : half.local;
            const Pair& both = pair(half.window, rank, half.target);
            half.closed = both.completes != 0 ? both.closes[both.completes - 1] : kNone;
            return true;
        });
        own.access.clear();
        break;
    }
    case FunctionId::Win_test:
        if (!epochsMissing(rank, begin.comm)) {
            waitFor(rank, call, begin.comm);
        }
        own.exposure.clear();
        break;
    case FunctionId::Win_wait:
        own.exposure.clear();
        break;
    case FunctionId::Win_lock:
    case FunctionId::Win_lock_all:
        own.locked.push_back(target);
        break;
    case FunctionId::Win_unlock:
    case FunctionId::Win_unlock_all:
        removeOne(own.locked, target);
        flush(own, target, call, true);
        break;
    case FunctionId::Win_flush:
    case FunctionId::Win_flush_all:
        flush(own, target, call, true);
        break;
    case FunctionId::Win_flush_local:
    case FunctionId::Win_flush_local_all:
        flush(own, target, call, false);
        break;
    default:
        break;
    }
}

void OneSided::ended(std::int32_t rank, std::uint32_t call) {
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        if (role == Role::SyncTo && m_data.syncEdges[id].from != kNone) {
            m_data.touch(m_data.syncEdges[id].fromRank, m_data.syncEdges[id].from);
        }
    });
}

void OneSided::fenced(std::int32_t rank, std::uint32_t call, const EventDetails& begin, std::uint32_t collective) {
    State& own = state(rank, begin.comm);
    std::erase_if(own.open, [&](std::uint32_t id) {
        TransferHalf& half = m_data.transfers[id];
        if (half.epoch != Epoch::Fence) {
            return false;
        }
        half.local = half.local == kNone ? call : half.local;
        half.remote = call;
        half.closed = collective;
        return true;
    });
    own.fence = collective;
}

void OneSided::withdraw(std::int32_t rank, std::uint32_t call) {
    std::vector<std::pair<Role, std::uint32_t>> links;
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) { links.emplace_back(role, id); });
    for (const auto& [role, id] : links) {
        if (role == Role::Rma) {
            m_data.transfers[id].call = kNone;
            for (auto& [key, state] : m_states) {
                if (key.first == rank) {
                    std::erase(state.open, id);
                }
            }
        } else if (role == Role::SyncFrom || role == Role::SyncTo) {
            for (auto& [key, both] : m_pairs) { // refusals are rare
                SyncEdge& edge = m_data.syncEdges[id];
                auto& list = edge.closes ? both.closes : both.opens;
                std::uint32_t& count = edge.closes ? (role == Role::SyncFrom ? both.completes : both.waits)
                                                   : (role == Role::SyncFrom ? both.posts : both.starts);
                if (count != 0 && list[count - 1] == id) {
                    m_data.touchAll();
                    --count;
                    (role == Role::SyncFrom ? edge.from : edge.to) = kNone;
                }
            }
        }
    }
    auto& locks = m_data.rank(rank).locks;
    std::erase_if(locks, [call](const LockSpan& span) { return span.lock == call; });
    for (LockSpan& span : locks) {
        span.unlock = span.unlock == call ? kNone : span.unlock;
    }
}

Transfer transferOfHalf(const TimelineData& data, std::uint32_t transfer) {
    const TransferHalf& half = data.transfers[transfer];
    Transfer result;
    if (half.call == kNone) {
        return result;
    }
    const EventDetails& begin = data.beginDetails(half.rank, half.call);
    result.call = data.ref(half.rank, half.call);
    result.target = RankId{half.target};
    result.windowId = data.commEntries[half.window].id;
    result.bytesOut = begin.sendBytes;
    result.bytesIn = begin.recvBytes;
    result.epoch = half.epoch;
    const auto known = [&data](std::int32_t rank, std::uint32_t call) {
        return call == kNone ? MaybeCall() : MaybeCall(data.ref(rank, call));
    };
    result.local = known(half.rank, half.local);
    result.remote = known(half.rank, half.remote);
    const auto member = [&](std::uint32_t collective) {
        const Collective& c = data.collectives[collective];
        const auto at = std::find(c.members.begin(), c.members.end(), result.target);
        return at == c.members.end() ? MaybeCall() : c.arrived[static_cast<std::size_t>(at - c.members.begin())];
    };
    if (half.opened != kNone) {
        result.exposed = half.epoch == Epoch::Fence ? member(half.opened)
                                                    : known(half.target, data.syncEdges[half.opened].from);
    }
    if (half.closed != kNone) {
        result.seen = half.epoch == Epoch::Fence ? member(half.closed)
                                                 : known(half.target, data.syncEdges[half.closed].to);
    }
    return result;
}

std::vector<CallRef> locksOf(const TimelineData& data, CallRef call) {
    const std::int32_t rank = call.rank.value();
    const EventDetails& begin = data.beginDetails(rank, call.call.value());
    const std::int32_t target = targetOf(data, rank, begin);
    std::vector<CallRef> locks;
    for (const LockSpan& span : data.rank(rank).locks) {
        const bool open = span.unlock == kNone || span.unlock == call.call.value();
        const bool same = span.window == data.commEntry(rank, begin.comm) &&
                          (target == kAll || span.target == kAll || span.target == target);
        if (open && same) {
            locks.push_back(data.ref(rank, span.lock));
        }
    }
    return locks;
}

std::optional<CallRef> holderOf(const TimelineData& data, CallRef call, const std::vector<std::uint64_t>& positions) {
    const std::int32_t own = call.rank.value();
    const EventDetails& begin = data.beginDetails(own, call.call.value());
    const std::uint32_t window = data.commEntry(own, begin.comm);
    const std::int32_t target = targetOf(data, own, begin);
    const bool exclusive = begin.function == FunctionId::Win_lock && begin.mode == trace::kLockExclusive;
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        const RankData& other = data.rank(rank);
        const Position at = positions[static_cast<std::size_t>(rank)];
        for (auto span = other.locks.rbegin(); rank != own && span != other.locks.rend(); ++span) {
            const bool same = span->window == window && span->target != kNobody && target != kNobody &&
                              (target == kAll || span->target == kAll || span->target == target);
            const bool keeps = same && (exclusive || span->exclusive);
            // One that is still being asked for may come second as well.
            const bool has = other.events.endOf(span->lock) != 0 && at >= endOf(other, span->lock) &&
                             (span->unlock == kNone || at < startOf(other, span->unlock));
            if (keeps && has) {
                return data.ref(rank, span->lock);
            }
        }
    }
    return std::nullopt;
}

} // namespace stopline::replay
