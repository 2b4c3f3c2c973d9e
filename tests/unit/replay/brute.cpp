// Cuts: everything by trying all edges until nothing changes.
#include "brute.h"

#include <algorithm>

namespace stopline::replay::test {

Cut Brute::lastPlaces() const {
    Cut cut;
    for (const auto& calls : m_calls) {
        if (calls.empty()) {
            cut.push_back({});
        } else if (calls.back().end) {
            cut.push_back({EventIndex{calls.back().number + 1}, false});
        } else {
            cut.push_back({EventIndex{calls.back().number}, true});
        }
    }
    return cut;
}

bool Brute::violated(const Edge& edge, const Cut& cut) const {
    return cut[static_cast<std::size_t>(edge.end.rank.value())] >= endOf(edge.end) &&
           cut[static_cast<std::size_t>(edge.start.rank.value())] < startOf(edge.start);
}

bool Brute::isClosed(const Cut& cut) const {
    return std::none_of(m_needed.begin(), m_needed.end(),
                        [&](const Edge& edge) { return violated(edge, cut); });
}

Cut Brute::closeDown(Cut cut) const {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Edge& edge : m_needed) {
            if (violated(edge, cut)) {
                cut[static_cast<std::size_t>(edge.end.rank.value())] = beforeOf(edge.end);
                changed = true;
            }
        }
    }
    return cut;
}

Cut Brute::raise(const Cut& want, const Cut& bound, const Cut& standing,
                 std::optional<std::size_t> fixed) const {
    Cut cut = want;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Edge& edge : m_needed) {
            const auto rank = static_cast<std::size_t>(edge.start.rank.value());
            if (violated(edge, cut) && rank != fixed) {
                cut[rank] = startOf(edge.start);
                changed = true;
            }
        }
        if (changed) {
            continue;
        }
        for (std::size_t rank = 0; rank < cut.size(); ++rank) {
            if (!cut[rank].inside || rank == fixed) {
                continue;
            }
            const CallRef call{RankId{static_cast<std::int32_t>(rank)},
                               CallIndex{static_cast<std::uint32_t>((cut[rank].event.value() - 1) / 2)}};
            if (!info(call).end || endOf(call) > bound[rank]) {
                continue;
            }
            Cut tried = cut;
            tried[rank] = endOf(call);
            if (cut[rank] == standing[rank] &&
                std::any_of(m_needed.begin(), m_needed.end(),
                            [&](const Edge& edge) { return edge.end == call && violated(edge, tried); })) {
                continue;
            }
            cut = tried;
            changed = true;
        }
    }
    return cut;
}

Cut Brute::closeUp(const Cut& cut, std::optional<std::size_t> fixed) const {
    Cut bound = lastPlaces();
    if (fixed) {
        bound[*fixed] = cut[*fixed];
        for (bool changed = true; changed;) {
            changed = false;
            for (const Edge& edge : m_needed) {
                const auto rank = static_cast<std::size_t>(edge.end.rank.value());
                if (violated(edge, bound) && rank != fixed) {
                    bound[rank] = startOf(edge.end);
                    changed = true;
                }
            }
        }
    }
    Cut want = cut;
    for (std::size_t rank = 0; rank < want.size(); ++rank) {
        want[rank] = std::min(want[rank], bound[rank]);
    }
    return raise(want, bound, cut, fixed);
}

Place Brute::placeOf(const Point& point) const {
    return point.after && info(point.call).end ? endOf(point.call) : beforeOf(point.call);
}

Brute::Marks Brute::happenedBefore(std::size_t rank, const Place& place) const {
    Marks marks(m_calls.size());
    for (std::size_t r = 0; r < m_calls.size(); ++r) {
        marks[r].resize(m_calls[r].size());
    }
    std::vector<std::pair<CallRef, bool>> todo; // call, and true for its end
    const auto visit = [&](CallRef call, bool end) {
        auto& mark = marks[static_cast<std::size_t>(call.rank.value())][call.call.value()];
        bool& flag = end ? mark.second : mark.first;
        if (!flag) {
            flag = true;
            todo.emplace_back(call, end);
        }
    };
    for (std::uint32_t c = 0; c < m_calls[rank].size(); ++c) {
        const CallRef call{RankId{static_cast<std::int32_t>(rank)}, CallIndex{c}};
        if (info(call).end && endOf(call) <= place) {
            visit(call, true);
        }
    }
    while (!todo.empty()) {
        const auto [call, end] = todo.back();
        todo.pop_back();
        if (end) {
            visit(call, false);
            for (const Edge& edge : m_synchronising) {
                // The rank itself stands where it stands, whatever a contradictory trace says.
                if (edge.end == call && static_cast<std::size_t>(edge.start.rank.value()) != rank) {
                    visit(edge.start, false);
                }
            }
        } else if (call.call.value() > 0) {
            visit({call.rank, CallIndex{call.call.value() - 1}}, true);
        }
    }
    return marks;
}

Brute::Marks Brute::dependsOn(std::size_t rank, const Place& place) const {
    Marks marks(m_calls.size());
    for (std::size_t r = 0; r < m_calls.size(); ++r) {
        marks[r].resize(m_calls[r].size());
    }
    std::vector<std::pair<CallRef, bool>> todo;
    const auto visit = [&](CallRef call, bool end) {
        auto& mark = marks[static_cast<std::size_t>(call.rank.value())][call.call.value()];
        bool& flag = end ? mark.second : mark.first;
        if (!flag) {
            flag = true;
            todo.emplace_back(call, end);
        }
    };
    for (std::uint32_t c = 0; c < m_calls[rank].size(); ++c) {
        const CallRef call{RankId{static_cast<std::int32_t>(rank)}, CallIndex{c}};
        if (startOf(call) > place) {
            visit(call, false);
            break;
        }
    }
    while (!todo.empty()) {
        const auto [call, end] = todo.back();
        todo.pop_back();
        if (!end) {
            if (info(call).end) {
                visit(call, true);
            }
            for (const Edge& edge : m_synchronising) {
                if (edge.start == call && static_cast<std::size_t>(edge.end.rank.value()) != rank) {
                    visit(edge.end, true);
                }
            }
        } else if (call.call.value() + 1 < m_calls[static_cast<std::size_t>(call.rank.value())].size()) {
            visit({call.rank, CallIndex{call.call.value() + 1}}, false);
        }
    }
    return marks;
}

Cut Brute::needs(std::size_t rank, const Place& place) const {
    Cut cut(m_calls.size());
    cut[rank] = place;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Edge& edge : m_needed) {
            if (violated(edge, cut) && static_cast<std::size_t>(edge.start.rank.value()) != rank) {
                cut[static_cast<std::size_t>(edge.start.rank.value())] = startOf(edge.start);
                changed = true;
            }
        }
    }
    return cut;
}

Cut Brute::future(const Point& point) const {
    const auto rank = static_cast<std::size_t>(point.call.rank.value());
    const Place place = placeOf(point);
    const Marks marks = dependsOn(rank, place);
    const Cut floor = needs(rank, place);
    Cut cut = lastPlaces();
    for (std::size_t other = 0; other < cut.size(); ++other) {
        if (other == rank) {
            cut[other] = place;
            continue;
        }
        cut[other].inside = false; // before the call it has entered and not left
        bool affected = false;
        for (std::uint32_t c = 0; c < m_calls[other].size() && !affected; ++c) {
            const CallRef call{RankId{static_cast<std::int32_t>(other)}, CallIndex{c}};
            if (marks[other][c].second) {
                cut[other] = beforeOf(call);
                affected = true;
            }
        }
        if (!affected && !m_calls[other].empty() && m_calls[other].back().end) {
            const CallRef last{RankId{static_cast<std::int32_t>(other)},
                               CallIndex{static_cast<std::uint32_t>(m_calls[other].size() - 1)}};
            if (info(last).begin.function == trace::FunctionId::Finalize && floor[other] <= beforeOf(last)) {
                cut[other] = beforeOf(last);
            }
        }
        cut[other] = std::max(cut[other], floor[other]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const Edge& edge : m_needed) {
            const auto other = static_cast<std::size_t>(edge.end.rank.value());
            const Place lower = std::max(beforeOf(edge.end), floor[other]);
            if (violated(edge, cut) && other != rank && lower < cut[other]) {
                cut[other] = lower;
                changed = true;
            }
        }
    }
    return cut;
}

Cut Brute::past(const Point& point) const {
    const auto rank = static_cast<std::size_t>(point.call.rank.value());
    const Place place = placeOf(point);
    const Cut bound = future(point);
    const Marks marks = happenedBefore(rank, place);
    Cut want(m_calls.size());
    for (std::size_t other = 0; other < want.size(); ++other) {
        for (std::uint32_t c = 0; c < m_calls[other].size(); ++c) {
            const CallRef call{RankId{static_cast<std::int32_t>(other)}, CallIndex{c}};
            if (marks[other][c].first) {
                want[other] = info(call).end ? endOf(call) : startOf(call);
            }
        }
        want[other] = other == rank ? place : std::min(want[other], bound[other]);
    }
    return raise(want, bound, Cut(want.size()), rank);
}

std::optional<Cut> Brute::rollback(Cut now, std::size_t rank) const {
    for (std::size_t c = m_calls[rank].size(); c > 0; --c) {
        const CallRef call{RankId{static_cast<std::int32_t>(rank)},
                           CallIndex{static_cast<std::uint32_t>(c - 1)}};
        if (beforeOf(call) < now[rank]) {
            now[rank] = beforeOf(call);
            return closeDown(now);
        }
    }
    return std::nullopt;
}

std::optional<Cut> Brute::forward(Cut now, std::size_t rank) const {
    for (std::uint32_t c = 0; c < m_calls[rank].size(); ++c) {
        const CallRef call{RankId{static_cast<std::int32_t>(rank)}, CallIndex{c}};
        if (!info(call).end || endOf(call) <= now[rank]) {
            continue;
        }
        now[rank] = endOf(call);
        const Cut before = past({call, true});
        for (std::size_t other = 0; other < now.size(); ++other) {
            now[other] = std::max(now[other], before[other]);
        }
        return closeUp(now, rank);
    }
    return std::nullopt;
}

} // namespace stopline::replay::test
