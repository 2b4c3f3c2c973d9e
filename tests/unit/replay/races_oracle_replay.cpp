// Re-executions with marked messages, in all the ways in which they can run.
#include "races_oracle.h"

namespace stopline::replay::test {

/// What the marks make of messages and windows.
struct OracleProgram::Forcing {
    std::vector<int> lane;   ///< by message: 1 on the twin
    std::vector<int> window; ///< by window: the same
    std::vector<int> source; ///< by window: where it receives from, -1 any

    Forcing(const OracleProgram& program, const OrderMarks& marks) {
        const auto of = [&](int rank, int call) {
            const auto& own = marks.ranks.at(static_cast<std::size_t>(rank));
            const auto at = own.find(static_cast<std::uint64_t>(call) * 2 + 3); // MPI_Init comes first
            return at == own.end() ? 0 : int{at->second};
        };
        for (const MessageInfo& message : program.m_messages) {
            lane.push_back((of(message.from, message.call) & kCallSends) != 0 ? 1 : 0);
        }
        for (std::size_t i = 0; i < program.m_windows.size(); ++i) {
            const Window& w = program.m_windows[i];
            const int what = of(w.rank, w.call);
            const int got = program.m_got[i];
            window.push_back((what & kCallGets) != 0 ? 1 : 0);
            source.push_back(w.peer >= 0 || got < 0 || (what & kCallOpen) != 0
                                 ? w.peer
                                 : program.m_messages[static_cast<std::size_t>(got)].from);
        }
    }
};

OrderMarks OracleProgram::only(const Found& forced) const {
    OrderMarks marks;
    marks.ranks.resize(static_cast<std::size_t>(m_ranks));
    for (const Window& w : m_windows) {
        if (!forced.contains({w.rank, w.call + 1})) {
            marks.ranks[static_cast<std::size_t>(w.rank)][static_cast<std::uint64_t>(w.call) * 2 + 3] = kCallOpen;
        }
    }
    return marks;
}

std::string OracleProgram::replayed(const OrderMarks& marks) const {
    const Forcing forcing(*this, marks);
    const auto fitting = [&](int window, int message) {
        const auto w = static_cast<std::size_t>(window);
        const auto m = static_cast<std::size_t>(message);
        return fits(window, message) && forcing.window[w] == forcing.lane[m] &&
               (forcing.source[w] < 0 || forcing.source[w] == m_messages[m].from);
    };
    /// The window can have the message now: no older one of its sender, and no receive posted before, stands
    /// in between.
    const auto free = [&](const State& state, int window, int message) {
        if (!fitting(window, message) || !isSent(state, message) || hasMatched(state, message)) {
            return false;
        }
        const MessageInfo& own = m_messages[static_cast<std::size_t>(message)];
        for (int other = 0; other < message; ++other) {
            if (m_messages[static_cast<std::size_t>(other)].from == own.from && fitting(window, other) &&
                isSent(state, other) && !hasMatched(state, other)) {
                return false;
            }
        }
        const bool probe = m_windows[static_cast<std::size_t>(window)].probe;
        for (const int other : m_order[static_cast<std::size_t>(own.to)]) {
            const auto at = static_cast<std::size_t>(other);
            if ((probe || other < window) && other != window && state.posted[at] != 0 &&
                state.got[at] == -1 && fitting(other, message)) {
                return false;
            }
        }
        return true;
    };
    std::set<State> known;
    std::vector<State> open;
    const auto go = [&](State state) {
        if (known.insert(state).second) {
            open.push_back(std::move(state));
        }
    };
    const auto named = [&](int window, int message) {
        const Window& w = m_windows[static_cast<std::size_t>(window)];
        const MessageInfo& m = m_messages[static_cast<std::size_t>(message)];
        return std::to_string(w.rank) + ":" + std::to_string(w.call + 1) + " can get " +
               std::to_string(m.from) + ":" + std::to_string(m.call + 1);
    };
    go(begin());
    while (!open.empty()) {
        const State state = std::move(open.back());
        open.pop_back();
        bool moved = false;
        bool over = true;
        for (int rank = 0; rank < m_ranks; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            over = over && state.at[r] == static_cast<int>(m_steps[r].size());
            if (!canStep(state, rank)) {
                continue;
            }
            const OracleStep& next = m_steps[r][static_cast<std::size_t>(state.at[r])];
            const auto id = static_cast<std::size_t>(next.id);
            State after = state;
            if (next.kind == OracleStep::Kind::Post && m_got[id] < 0) {
                ++after.at[r]; // cancelled later: nothing can come of it, see Forced::withhold()
            } else if (next.kind == OracleStep::Kind::Probe && !next.fails) {
                bool sees = false;
                for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                    const bool visible = free(state, next.id, message);
                    if (visible && message != m_got[id]) {
                        return named(next.id, message);
                    }
                    sees = sees || visible;
                }
                if (!sees) {
                    continue;
                }
                ++after.at[r];
            } else {
                step(after, rank);
            }
            moved = true;
            go(std::move(after));
        }
        for (int receive = 0; receive < static_cast<int>(m_windows.size()); ++receive) {
            const auto i = static_cast<std::size_t>(receive);
            if (m_windows[i].probe || state.posted[i] == 0 || state.got[i] != -1) {
                continue;
            }
            for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                if (!free(state, receive, message)) {
                    continue;
                }
                if (message != m_got[i]) {
                    return named(receive, message);
                }
                State after = state;
                after.got[i] = message;
                moved = true;
                go(std::move(after));
            }
        }
        if (!moved && !over) {
            return "it hangs";
        }
    }
    return {};
}

} // namespace stopline::replay::test
