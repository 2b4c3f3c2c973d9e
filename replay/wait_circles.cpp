#include "wait_circles.h"

#include "call_place.h"
#include "jobs.h"
#include "timeline_impl.h"
#include "waits.h"

#include <algorithm>

namespace stopline::replay {

namespace {

using trace::EventDetails;
using trace::FunctionId;

/// What a rank waits for.
struct Blocked {
    std::uint32_t call = kNone;
    std::vector<WaitClause> clauses; ///< all of them; empty: it can go on, or nothing is known
};

/// Several threads: another one may do what somebody waits for.
bool hasOneThread(const RankData& rank) {
    return std::none_of(rank.cache.begin(), rank.cache.end(),
                        [](const DetailsCache& one) { return one.thread != 0; });
}

class Circles {
  public:
    explicit Circles(const TimelineData& data) : m_data(data) {
        for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
            Blocked& blocked = m_blocked.emplace_back();
            const RankData& of = data.rank(rank);
            const Position last = lastPosition(of);
            if (last == 0 || !of.events.has(last / 2)) {
                m_free.push_back(true);
                continue;
            }
            const std::uint32_t call = of.events.callOf(last / 2);
            const bool ended = last % 2 == 0 && call != kNone &&
                               data.beginDetails(rank, call).function == FunctionId::Finalize;
            if (last % 2 == 1 && call != kNone && hasOneThread(of)) {
                blocked = {call, waitsOf(data, rank, call)};
            }
            m_free.push_back(!ended && blocked.clauses.empty());
        }
    }

    std::vector<WaitCircle> find() {
        freeOthers();
        std::vector<WaitCircle> circles;
        std::vector<int> seen(m_blocked.size(), 0); // by which walk
        int walk = 0;
        for (std::int32_t rank = 0; rank < m_data.rankCount(); ++rank) {
            ++walk;
            WaitCircle path;
            std::int32_t at = rank;
            while (at >= 0 && seen[static_cast<std::size_t>(at)] == 0 && isCaught(at)) {
                seen[static_cast<std::size_t>(at)] = walk;
                path.waits.push_back(waitOf(at));
                at = path.waits.back().waitsFor.value();
            }
            if (at < 0 || seen[static_cast<std::size_t>(at)] != walk) {
                continue; // leads to nobody, or to a circle that is known
            }
            const auto first =
                std::find_if(path.waits.begin(), path.waits.end(),
                             [at](const WaitCircle::Wait& wait) { return wait.call.rank.value() == at; });
            path.waits.erase(path.waits.begin(), first);
            std::rotate(
                path.waits.begin(),
                std::min_element(path.waits.begin(), path.waits.end(),
                                 [](const auto& a, const auto& b) { return a.call.rank < b.call.rank; }),
                path.waits.end());
            circles.push_back(std::move(path));
        }
        return circles;
    }

  private:
    [[nodiscard]] bool isFree(std::int32_t rank) const { return m_free[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool isCaught(std::int32_t rank) const {
        return !isFree(rank) && !m_blocked[static_cast<std::size_t>(rank)].clauses.empty();
    }

    /// Whoever can be helped by somebody who goes on goes on.
    void freeOthers() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t rank = 0; rank < m_blocked.size(); ++rank) {
                if (!m_free[rank] && !m_blocked[rank].clauses.empty() &&
                    std::all_of(m_blocked[rank].clauses.begin(), m_blocked[rank].clauses.end(),
                                [this](const WaitClause& clause) {
                                    return std::any_of(clause.ranks.begin(), clause.ranks.end(),
                                                       [this](auto one) { return isFree(one); });
                                })) {
                    m_free[rank] = true;
                    changed = true;
                }
            }
        }
    }

    /// For whom it waits of those that are caught; rank -1: all of them have ended.
    [[nodiscard]] WaitCircle::Wait waitOf(std::int32_t rank) const {
        const Blocked& blocked = m_blocked[static_cast<std::size_t>(rank)];
        WaitCircle::Wait wait{m_data.ref(rank, blocked.call), RankId{-1}, {}, {}};
        for (const WaitClause& clause : blocked.clauses) {
            if (std::any_of(clause.ranks.begin(), clause.ranks.end(),
                            [this](auto one) { return isFree(one); })) {
                continue;
            }
            const auto caught = std::find_if(clause.ranks.begin(), clause.ranks.end(),
                                             [this](auto one) { return isCaught(one); });
            if (caught != clause.ranks.end()) {
                wait.waitsFor = RankId{*caught};
                for (const std::int32_t one : clause.ranks) {
                    wait.choices.emplace_back(one);
                }
                std::sort(wait.choices.begin(), wait.choices.end());
                wait.choices.erase(std::unique(wait.choices.begin(), wait.choices.end()), wait.choices.end());
                wait.doubts = clause.doubts;
                break;
            }
        }
        return wait;
    }

    const TimelineData& m_data;
    std::vector<Blocked> m_blocked; ///< by rank
    std::vector<bool> m_free;       ///< by rank: goes on, as far as is known
};

} // namespace

void WaitDoubts::add(const WaitDoubts& other) {
    bufferedBytes = std::max(bufferedBytes, other.bufferedBytes);
    emptyPiece = emptyPiece || other.emptyPiece;
    neighbours = neighbours || other.neighbours;
    fence = fence || other.fence;
    opensEarly = opensEarly || other.opensEarly;
    hasLock = hasLock || other.hasLock;
}

std::vector<WaitCircle> Timeline::waitCircles() const {
    return Circles(m_impl->data).find();
}

std::string circleText(const Timeline& timeline, const WaitCircle& circle,
                       const std::function<std::string(CallRef)>& where) {
    std::string text;
    WaitDoubts doubts;
    bool threads = false;
    for (const WaitCircle::Wait& wait : circle.waits) {
        const EventDetails& begin = timeline.details(wait.call.rank, timeline.call(wait.call).beginDetails);
        const std::string name =
            wait.waitsFor == wait.call.rank ? "itself" : "rank " + rankName(wait.waitsFor);
        text += text.empty() ? "rank " + rankName(wait.call.rank) : ", which";
        text += " waits in " + std::string(trace::functionName(begin.function));
        text += callPlace(timeline, wait.call, where);
        text += wait.choices.size() > 1 ? " for one of " + rankNames(wait.choices) + ", none of which can go on: " + name : " for " + name;
        doubts.add(wait.doubts);
        // Threads that have not called MPI so far are not known; that some were asked for is.
        const auto first = timeline.details(wait.call.rank, timeline.call({wait.call.rank, CallIndex{0}}).beginDetails);
        threads = threads || first.function == FunctionId::Init_thread;
    }
    text += ": a deadlock";
    std::string unless = ", unless ";
    const auto add = [&](const std::string& what) {
        text += unless + what;
        unless = " or ";
    };
    if (doubts.bufferedBytes != 0) {
        add("MPI takes the " + std::to_string(doubts.bufferedBytes) + " bytes of a send along without its receive");
    }
    if (doubts.emptyPiece) {
        add("MPI lets a rank go on that has no piece to send or get");
    }
    if (doubts.neighbours) {
        add("those that have not come are no neighbours of the rank that waits");
    }
    if (doubts.fence) {
        add("MPI lets a rank go on through a fence with MPI_MODE_NOPRECEDE");
    }
    if (doubts.opensEarly) {
        add("MPI opens a window to a rank before its turn");
    }
    if (doubts.hasLock) {
        add("the rank that waits has the lock itself");
    }
    if (threads) {
        add("another thread comes to help");
    }
    return text;
}

} // namespace stopline::replay
