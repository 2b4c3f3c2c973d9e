#include "closure.h"

#include <algorithm>

namespace stopline::replay {

Positions recordedEnd(const TimelineData& data) {
    Positions end;
    end.reserve(data.ranks.size());
    for (const RankData& rank : data.ranks) {
        end.push_back(lastPosition(rank));
    }
    return end;
}

Positions positionsOf(const TimelineData& data, const Cut& cut) {
    Positions positions = recordedEnd(data);
    for (std::size_t rank = 0; rank < positions.size(); ++rank) {
        Place place = rank < cut.size() ? cut[rank] : Place{};
        const RankEvents& events = data.ranks[rank].events;
        if (place.event.value() > events.lastEvent()) {
            continue;
        }
        if (place.event.value() == 0 || !events.isBegin(place.event.value())) {
            place.inside = false;
        }
        positions[rank] = positionOf(place);
    }
    return positions;
}

Cut cutOf(const Positions& positions) {
    Cut cut;
    cut.reserve(positions.size());
    for (const Position position : positions) {
        cut.push_back(placeAt(position));
    }
    return cut;
}

bool isClosed(const TimelineData& data, const Positions& cut) {
    Lower lower(data, Relation::Needed, Lower::Stop::Before, cut);
    lower.run();
    return !lower.changed();
}

Positions closeDown(const TimelineData& data, Positions cut) {
    Lower lower(data, Relation::Needed, Lower::Stop::Before, std::move(cut));
    lower.run();
    return lower.positions();
}

namespace {

/// True when the call can end while the ranks stand at `positions`.
bool canEnd(const TimelineData& data, std::int32_t rank, std::uint32_t call, const Positions& positions) {
    const std::vector<CallRef> needs = neededBy(data, data.ref(rank, call));
    return std::all_of(needs.begin(), needs.end(), [&](const CallRef& need) {
        return positions[static_cast<std::size_t>(need.rank.value())] >=
               startOf(data.rank(need.rank.value()), need.call.value());
    });
}

/// The smallest closed cut at or above `want`, nowhere above `bound`, which is closed. Ranks that stand
/// inside a call in `standing` may stay there.
Positions raiseTo(const TimelineData& data, const Positions& want, const Positions& bound,
                  const Positions& standing, std::int32_t fixed) {
    Raise raise(data, Relation::Needed);
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        raise.need(rank, want[static_cast<std::size_t>(rank)]);
    }
    raise.fix(fixed);
    raise.run();
    for (bool again = true; again;) {
        again = false;
        for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            const Position position = raise.positions()[at];
            if (rank == fixed || position % 2 == 0) {
                continue;
            }
            const std::uint32_t call = data.rank(rank).events.callOf(position / 2);
            if (call == kNone || data.rank(rank).events.endOf(call) == 0 ||
                endOf(data.rank(rank), call) > bound[at] ||
                (position == standing[at] && !canEnd(data, rank, call, raise.positions()))) {
                continue;
            }
            raise.need(rank, endOf(data.rank(rank), call));
            raise.run();
            again = true;
        }
    }
    return raise.positions();
}

Positions neededAt(const TimelineData& data, Relation relation, std::int32_t rank, Position place) {
    Raise raise(data, relation);
    raise.need(rank, place);
    raise.fix(rank);
    raise.run();
    return raise.positions();
}

/// How far the others can go while `rank` stands at `place`.
Positions reach(const TimelineData& data, Relation relation, std::int32_t rank, Position place) {
    Positions from = recordedEnd(data);
    from[static_cast<std::size_t>(rank)] = place;
    Lower lower(data, relation, Lower::Stop::Inside, std::move(from));
    lower.fix(rank);
    lower.run();
    return lower.positions();
}

} // namespace

Positions closeUp(const TimelineData& data, const Positions& cut, std::int32_t fixed) {
    const Positions bound = fixed >= 0
                                ? reach(data, Relation::Needed, fixed, cut[static_cast<std::size_t>(fixed)])
                                : recordedEnd(data);
    Positions want = cut;
    for (std::size_t rank = 0; rank < want.size(); ++rank) {
        want[rank] = std::min(want[rank], bound[rank]);
    }
    return raiseTo(data, want, bound, cut, fixed);
}

Positions futureFrontier(const TimelineData& data, std::int32_t rank, Position place) {
    const Positions last = recordedEnd(data);
    const Positions floor = neededAt(data, Relation::Needed, rank, place);
    Positions cut = reach(data, Relation::Synchronising, rank, place);
    for (std::int32_t other = 0; other < data.rankCount(); ++other) {
        const auto at = static_cast<std::size_t>(other);
        if (other == rank) {
            continue;
        }
        const RankData& ranked = data.rank(other);
        if (cut[at] % 2 == 1) {
            --cut[at]; // before the first dependent call, or before the one entered and not left
        } else if (cut[at] == last[at] && ranked.finalizeCall != kNone) {
            const Position before = startOf(ranked, ranked.finalizeCall) - 1;
            if (floor[at] <= before) {
                cut[at] = std::min(cut[at], before);
            }
        }
        cut[at] = std::max(cut[at], floor[at]);
    }
    Lower lower(data, Relation::Needed, Lower::Stop::Before, std::move(cut));
    lower.setFloor(&floor);
    lower.fix(rank);
    lower.run();
    return lower.positions();
}

Positions pastFrontier(const TimelineData& data, std::int32_t rank, Position place) {
    const Positions future = futureFrontier(data, rank, place);
    Positions want = neededAt(data, Relation::Synchronising, rank, place);
    for (std::int32_t other = 0; other < data.rankCount(); ++other) {
        const auto at = static_cast<std::size_t>(other);
        if (other != rank && want[at] % 2 == 1) {
            const std::uint32_t call = data.rank(other).events.callOf(want[at] / 2);
            if (call != kNone && data.rank(other).events.endOf(call) != 0) {
                want[at] = endOf(data.rank(other), call);
            }
        }
        want[at] = std::min(want[at], future[at]);
    }
    const Positions nowhere(data.ranks.size(), 0);
    return raiseTo(data, want, future, nowhere, rank);
}

} // namespace stopline::replay
