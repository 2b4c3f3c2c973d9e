#include "causality_digest.h"

#include "causality_edges.h"

#include <algorithm>

namespace stopline::replay {

class Digest::Best {
  public:
    explicit Best(std::size_t ranks) : m_best(ranks, kNone) {}

    void add(std::int32_t rank, std::uint32_t call, bool latest) {
        std::uint32_t& best = m_best[static_cast<std::size_t>(rank)];
        if (best == kNone) {
            m_used.push_back(static_cast<std::uint32_t>(rank));
            best = call;
        } else {
            best = latest ? std::max(best, call) : std::min(best, call);
        }
    }
    /// Ends the list.
    void flush(RankDigest& to) {
        for (const std::uint32_t rank : m_used) {
            to.entries.push_back({rank, m_best[rank]});
            m_best[rank] = kNone;
        }
        m_used.clear();
        to.ends.push_back(static_cast<std::uint32_t>(to.entries.size()));
    }

  private:
    std::vector<std::uint32_t> m_best; ///< by rank
    std::vector<std::uint32_t> m_used;
};

/// Of those that wait for all members, on one communicator, a later one says more than an earlier one when
/// all members have come to it; so one stands for many.
class Digest::Parts {
  public:
    Parts(const TimelineData& data, Direction direction)
        : m_data(data), m_needs(direction == Direction::Needs) {}

    void add(std::uint32_t part) {
        const CollPart& where = m_data.parts[part];
        const CollRules& rules = m_data.collRules[where.collective];
        const auto members = static_cast<std::uint32_t>(m_data.collectives[where.collective].members.size());
        const bool all = m_needs ? rules.arrivals == members : rules.finishes == members && !rules.apart;
        for (int r = 0; r < 2; ++r) {
            const auto relation = static_cast<Relation>(r);
            const Pattern pattern = patternOf(m_data, where.collective, relation);
            auto& list = m_parts[r];
            if (!all || pattern != Pattern::All || rules.commEntry == kNone) {
                list.push_back({kNone, part});
                continue;
            }
            const auto same = std::find_if(list.begin(), list.end(),
                                           [&](const Standing& s) { return s.commEntry == rules.commEntry; });
            if (same == list.end()) {
                list.push_back({rules.commEntry, part});
            } else if ((m_data.parts[same->part].collective < where.collective) == m_needs) {
                same->part = part;
            }
        }
    }
    void flush(Relation relation, Best& best) {
        auto& list = m_parts[static_cast<std::size_t>(relation)];
        for (const Standing& standing : list) {
            const CollPart& where = m_data.parts[standing.part];
            const CollRules& rules = m_data.collRules[where.collective];
            const std::span<const RankId> members = m_data.collectives[where.collective].members;
            const Pattern pattern = patternOf(m_data, where.collective, relation);
            const Range range = m_needs ? waitsFor(pattern, rules, members.size(), where.position)
                                        : awaitedBy(pattern, rules, members.size(), where.position);
            const std::uint32_t* calls = m_needs ? rules.arrived : rules.finished;
            for (std::uint32_t member = range.from; member < range.to; ++member) {
                if (calls[member] != kNone) {
                    best.add(members[member].value(), calls[member], m_needs);
                }
            }
        }
        list.clear();
    }

  private:
    struct Standing {
        std::uint32_t commEntry = kNone;
        std::uint32_t part = kNone;
    };
    const TimelineData& m_data;
    bool m_needs;
    std::vector<Standing> m_parts[2]; ///< by relation
};

void Digest::update(const TimelineData& data) {
    const auto ranks = data.ranks.size();
    data.digestedCollectives = static_cast<std::uint32_t>(data.collectives.size());
    const bool usable = data.rules.digestEvents != 0 &&
                        std::all_of(data.ranks.begin(), data.ranks.end(),
                                    [](const RankData& rank) { return rank.events.isRegular(); });
    if (!usable) {
        m_ranks.clear();
        return;
    }
    // So many that lists, which may name every rank, stay short beside the events.
    m_events =
        std::max<std::uint64_t>(data.rules.digestEvents, data.rules.digestEvents >= 64 ? ranks * 8 : 0);
    m_ranks.resize(ranks);
    Best best(ranks);
    Parts needs(data, Direction::Needs);
    Parts forbids(data, Direction::Forbids);
    Best forbidden(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        const auto rank = static_cast<std::int32_t>(r);
        const RankData& own = data.ranks[r];
        RankDigest& digest = m_ranks[r];
        const std::uint64_t missing = own.events.missing();
        const std::uint64_t blocks = (own.events.lastEvent() - missing) / m_events;
        const std::uint64_t good =
            std::min((std::max<std::uint64_t>(own.touched, missing + 1) - missing - 1) / m_events, blocks);
        if (digest.ends.size() > good * kLists) {
            digest.ends.resize(good * kLists);
            digest.entries.resize(digest.ends.empty() ? 0 : digest.ends.back());
        }
        own.touched = kUntouched;
        for (std::uint64_t block = digest.ends.size() / kLists; block < blocks; ++block) {
            for (std::uint64_t event = missing + block * m_events + 1; event <= missing + (block + 1) * m_events; ++event) {
                const std::uint32_t call = own.events.callOf(event);
                if (own.links[call] == kNone) {
                    continue;
                }
                if (own.events.isBegin(event)) {
                    eachNeededBy(
                        data, rank, call,
                        [&](std::int32_t other, std::uint32_t end) {
                            if (end != kNone && data.rank(other).events.endOf(end) != 0) {
                                forbidden.add(other, end, false);
                            }
                        },
                        [&](std::uint32_t part) { forbids.add(part); });
                } else {
                    eachNeed(
                        data, rank, call,
                        [&](std::int32_t other, std::uint32_t start) { best.add(other, start, true); },
                        [&](std::uint32_t part) { needs.add(part); });
                }
            }
            best.flush(digest);
            needs.flush(Relation::Synchronising, best);
            best.flush(digest);
            needs.flush(Relation::Needed, best);
            best.flush(digest);
            forbidden.flush(digest);
            forbids.flush(Relation::Synchronising, forbidden);
            forbidden.flush(digest);
            forbids.flush(Relation::Needed, forbidden);
            forbidden.flush(digest);
        }
    }
}

std::size_t Digest::bytes() const {
    std::size_t sum = 0;
    for (const RankDigest& rank : m_ranks) {
        sum += rank.entries.size() * sizeof(Entry) + rank.ends.size() * sizeof(std::uint32_t);
    }
    return sum;
}

} // namespace stopline::replay
