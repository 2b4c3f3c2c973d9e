// Walks over the recording that follow the edges of calls: forwards to what is needed, backwards from what is
// forbidden.
#include "causality_digest.h"
#include "causality_edges.h"

#include <algorithm>

namespace stopline::replay {

namespace {

constexpr std::uint64_t kStretch = 128; ///< events of a rank visited before another has its turn

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

/// Visits the known calls of those members of a collective that the walk has not covered yet. `whom` says which members
/// concern the one at `part`, `calls` which of their calls.
template <typename Whom, typename Calls, typename Visit>
void eachNotCovered(const TimelineData& data, Relation relation, std::uint32_t part, std::vector<std::uint32_t>& reached,
                    bool fromFront, Whom whom, Calls calls, Visit visit) {
    const CollPart where = data.parts[part];
    const Collective& c = data.collectives[where.collective];
    const Pattern pattern = patternOf(data, where.collective, relation);
    Range range = whom(pattern, data.collRules[where.collective], c.members.size(), where.position);
    if (covers(reached[where.collective], pattern, range, fromFront)) {
        return;
    }
    const MemberCalls& known = calls(c);
    for (std::uint32_t member = range.from; member < range.to; ++member) {
        if (const auto& call = known[member]; call.has_value()) {
            visit(*call);
        }
    }
}

/// Brings the digest up to date; events in one of its blocks.
std::uint64_t blocksOf(const TimelineData& data) {
    data.digest.update(data);
    return std::max<std::uint64_t>(data.digest.blockEvents(), 1);
}

} // namespace

Raise::Raise(const TimelineData& data, Relation relation)
    : m_data(data), m_relation(relation), m_positions(data.ranks.size(), 0),
      m_reached(data.collectives.size(), 0), m_blockEvents(blocksOf(data)) {
    m_visited.reserve(data.ranks.size());
    for (const RankData& rank : data.ranks) {
        m_visited.push_back(rank.events.missing());
    }
}

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
    do {
        propagate();
    } while (needSpawns());
}

/// What ranks that were spawned need and are needed for; true when that has raised anybody.
bool Raise::needSpawns() {
    for (const JobRanks& job : m_data.jobs) {
        const std::uint32_t spawn = m_data.spawnOf(job);
        if (spawn == kNone) {
            continue;
        }
        bool returned = false;
        m_data.eachSpawn(job, [&](std::int32_t parent, std::uint32_t call) {
            const RankData& data = m_data.rank(parent);
            returned = returned || (data.events.endOf(call) != 0 &&
                                    m_positions[static_cast<std::size_t>(parent)] >= endOf(data, call));
        });
        for (std::int32_t rank = job.first; rank < job.first + job.size; ++rank) {
            if (m_positions[static_cast<std::size_t>(rank)] != 0) {
                needStart(job.spawner.value(), spawn);
            }
            if (returned && m_data.rank(rank).events.callCount() != 0) {
                needStart(rank, 0);
            }
        }
    }
    return !m_queue.empty();
}

void Raise::propagate() {
    // Whole blocks of all ranks come first: what they demand often makes whole blocks of what would have been
    // single events. A block that has been visited in part may be taken as a whole again, as demands only add
    // up.
    while (!m_queue.empty() || !m_single.empty()) {
        const bool whole = !m_queue.empty();
        auto& queue = whole ? m_queue : m_single;
        const std::int32_t rank = queue.front();
        queue.pop_front();
        std::uint64_t& visited = m_visited[static_cast<std::size_t>(rank)];
        // Demands on other ranks may come back here and raise this one further: the goal is read anew each
        // time.
        const Position& goal = m_positions[static_cast<std::size_t>(rank)];
        const std::uint64_t missing = m_data.rank(rank).events.missing();
        if (whole) {
            for (std::uint64_t block = (visited - missing) / m_blockEvents;
                 block < m_data.digest.blocks(rank) && missing + (block + 1) * m_blockEvents <= goal / 2; ++block) {
                visited = missing + (block + 1) * m_blockEvents;
                m_data.digest.each(rank, block, Digest::Direction::Needs, m_relation,
                                   [this](const Digest::Entry& entry) {
                                       needStart(static_cast<std::int32_t>(entry.rank), entry.call);
                                   });
            }
        } else {
            visitEvents(rank, visited, goal);
        }
        if (visited < goal / 2) {
            (whole ? m_single : m_queue).push_back(rank);
        }
    }
}

/// A stretch at a time, so that all ranks pass the same part of the store together, while it is in the cache.
void Raise::visitEvents(std::int32_t rank, std::uint64_t& visited, const Position& goal) {
    const RankData& data = m_data.rank(rank);
    const std::uint64_t pause = visited + kStretch;
    while (visited < goal / 2 && visited < pause) {
        ++visited;
        const std::uint32_t call = data.events.callOf(visited);
        if (call != kNone && data.links[call] != kNone && data.events.endOf(call) == visited) {
            visitEnd(rank, call);
        }
    }
}

void Raise::visitEnd(std::int32_t rank, std::uint32_t call) {
    eachNeed(
        m_data, rank, call, [this](std::int32_t other, std::uint32_t start) { needStart(other, start); },
        [this](std::uint32_t part) { visitCollective(part); });
}

void Raise::visitCollective(std::uint32_t part) {
    eachNotCovered(
        m_data, m_relation, part, m_reached, true, waitsFor, [](const Collective& c) -> const MemberCalls& { return c.arrived; },
        [this](const CallRef& start) { needStart(start.rank.value(), start.call.value()); });
}

Lower::Lower(const TimelineData& data, Relation relation, Stop stop, Positions from)
    : m_data(data), m_relation(relation), m_stop(stop), m_positions(std::move(from)),
      m_reached(data.collectives.size(), 0), m_blockEvents(blocksOf(data)) {
    m_visited.reserve(data.ranks.size());
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        m_visited.push_back(data.rank(rank).events.lastEvent() + 1);
        m_queue.push_back(rank);
    }
}

void Lower::run() {
    do {
        propagate();
    } while (leaveSpawned());
}

/// Whom ranks that were spawned take with them, and who takes them; true when that has lowered anybody.
bool Lower::leaveSpawned() {
    for (const JobRanks& job : m_data.jobs) {
        const std::uint32_t spawn = m_data.spawnOf(job);
        if (spawn == kNone) {
            continue;
        }
        const auto spawner = static_cast<std::size_t>(job.spawner.value());
        const bool withdrawn = m_positions[spawner] < startOf(m_data.rank(job.spawner.value()), spawn);
        bool absent = false;
        for (std::int32_t rank = job.first; rank < job.first + job.size; ++rank) {
            if (withdrawn) {
                lower(rank, 0);
            }
            const RankData& data = m_data.rank(rank);
            absent = absent || (data.events.callCount() != 0 &&
                                m_positions[static_cast<std::size_t>(rank)] < startOf(data, 0));
        }
        if (absent) {
            m_data.eachSpawn(job, [this](std::int32_t parent, std::uint32_t call) { forbidEnd(parent, call); });
        }
    }
    return !m_queue.empty();
}

void Lower::propagate() {
    // Withdraws the starts of the events from the position on, whole blocks first; the start of event e is at
    // 2e + 1.
    while (!m_queue.empty() || !m_single.empty()) {
        const bool whole = !m_queue.empty();
        auto& queue = whole ? m_queue : m_single;
        const std::int32_t rank = queue.front();
        queue.pop_front();
        std::uint64_t& visited = m_visited[static_cast<std::size_t>(rank)];
        const Position& position = m_positions[static_cast<std::size_t>(rank)];
        const std::uint64_t missing = m_data.rank(rank).events.missing();
        if (whole) {
            while (visited > missing + 1) {
                const std::uint64_t block = (visited - missing - 2) / m_blockEvents; // the one of the event before
                const std::uint64_t first = missing + block * m_blockEvents + 1;
                if (block >= m_data.digest.blocks(rank) || first * 2 + 1 <= position) {
                    break;
                }
                visited = first;
                m_data.digest.each(rank, block, Digest::Direction::Forbids, m_relation,
                                   [this](const Digest::Entry& entry) {
                                       forbidEnd(static_cast<std::int32_t>(entry.rank), entry.call);
                                   });
            }
        } else {
            visitEvents(rank, visited, position);
        }
        if (visited > missing + 1 && (visited - 1) * 2 + 1 > position) {
            (whole ? m_single : m_queue).push_back(rank);
        }
    }
}

void Lower::visitEvents(std::int32_t rank, std::uint64_t& visited, const Position& position) {
    const RankData& data = m_data.rank(rank);
    const std::uint64_t pause = visited > kStretch ? visited - kStretch : 0;
    const std::uint64_t missing = data.events.missing();
    while (visited > missing + 1 && (visited - 1) * 2 + 1 > position && visited > pause) {
        --visited;
        const std::uint32_t call = data.events.callOf(visited);
        if (call != kNone && data.links[call] != kNone && data.events.beginOf(call) == visited) {
            visitStart(rank, call);
        }
        if ((visited - missing - 1) % m_blockEvents == 0 && m_data.digest.blocks(rank) != 0) {
            break; // a whole block may follow
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
    lower(rank, m_stop == Stop::Inside ? inside : inside - 1);
}

void Lower::lower(std::int32_t rank, Position position) {
    const auto at = static_cast<std::size_t>(rank);
    if (m_floor != nullptr) {
        position = std::max(position, (*m_floor)[at]);
    }
    if (rank != m_fixed && position < m_positions[at]) {
        m_positions[at] = position;
        m_changed = true;
        m_queue.push_back(rank);
    }
}

void Lower::visitStart(std::int32_t rank, std::uint32_t call) {
    eachNeededBy(
        m_data, rank, call, [this](std::int32_t other, std::uint32_t end) { forbidEnd(other, end); },
        [this](std::uint32_t part) { visitCollective(part); });
}

void Lower::visitCollective(std::uint32_t part) {
    eachNotCovered(
        m_data, m_relation, part, m_reached, false, awaitedBy,
        [](const Collective& c) -> const MemberCalls& { return c.finished; },
        [this](const CallRef& end) { forbidEnd(end.rank.value(), end.call.value()); });
}

} // namespace stopline::replay
