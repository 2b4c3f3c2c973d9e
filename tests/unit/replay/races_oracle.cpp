#include "races_oracle.h"

#include <algorithm>

namespace stopline::replay::test {

namespace {

int below(std::mt19937_64& random, int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
}

constexpr int kCancelled = -2;

} // namespace

OracleProgram::State OracleProgram::begin() const {
    return {std::vector<int>(m_steps.size(), 0), std::vector<int>(m_windows.size(), -1),
            std::vector<char>(m_windows.size(), 0)};
}

bool OracleProgram::fits(int receive, int message) const {
    const Window& r = m_windows[static_cast<std::size_t>(receive)];
    const MessageInfo& m = m_messages[static_cast<std::size_t>(message)];
    return r.rank == m.to && (r.peer < 0 || r.peer == m.from) && (r.tag < 0 || r.tag == m.tag);
}

bool OracleProgram::isSent(const State& state, int message) const {
    const auto rank = static_cast<std::size_t>(m_messages[static_cast<std::size_t>(message)].from);
    for (int i = 0; i < state.at[rank]; ++i) {
        const OracleStep& step = m_steps[rank][static_cast<std::size_t>(i)];
        if (step.kind == OracleStep::Kind::Send && step.id == message) {
            return true;
        }
    }
    return false;
}

bool OracleProgram::hasMatched(const State& state, int message) const {
    for (std::size_t i = 0; i < m_windows.size(); ++i) {
        if (!m_windows[i].probe && state.got[i] == message) {
            return true;
        }
    }
    return false;
}

bool OracleProgram::isFirst(const State& state, int receive, int message, int besides) const {
    const MessageInfo& own = m_messages[static_cast<std::size_t>(message)];
    for (int other = 0; other < message; ++other) { // those of one rank are numbered in their order
        const MessageInfo& m = m_messages[static_cast<std::size_t>(other)];
        if (other != besides && m.from == own.from && fits(receive, other) && isSent(state, other) &&
            !hasMatched(state, other)) {
            return false;
        }
    }
    return isSent(state, message) && !hasMatched(state, message) && fits(receive, message);
}

bool OracleProgram::isNext(const State& state, int receive, int message) const {
    for (const int other :
         m_order[static_cast<std::size_t>(m_messages[static_cast<std::size_t>(message)].to)]) {
        const auto at = static_cast<std::size_t>(other);
        if (other != receive && (receive < 0 || other < receive) && state.posted[at] != 0 &&
            state.got[at] == -1 && fits(other, message)) {
            return false;
        }
    }
    return true;
}

bool OracleProgram::takes(const State& state, int target, int message, int receive) const {
    const auto at = static_cast<std::size_t>(target);
    return !m_windows[at].probe && (receive < 0 || target < receive) && state.posted[at] != 0 &&
           state.got[at] == -1 && fits(target, message);
}

bool OracleProgram::visible(const State& state, int probe, int message) const {
    return isFirst(state, probe, message) && isNext(state, -1, message);
}

bool OracleProgram::canStep(const State& state, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    if (state.at[r] >= static_cast<int>(m_steps[r].size())) {
        return false;
    }
    const OracleStep& step = m_steps[r][static_cast<std::size_t>(state.at[r])];
    switch (step.kind) {
    case OracleStep::Kind::Sent:
        return hasMatched(state, step.id);
    case OracleStep::Kind::Wait:
        return state.got[static_cast<std::size_t>(step.id)] >= 0;
    case OracleStep::Kind::Leave:
        for (std::size_t other = 0; other < m_steps.size(); ++other) {
            bool entered = false;
            for (int i = 0; i < state.at[other]; ++i) {
                entered =
                    entered || m_steps[other][static_cast<std::size_t>(i)].kind == OracleStep::Kind::Enter;
            }
            if (!entered) {
                return false;
            }
        }
        return true;
    default:
        return true; // probes and cancels are looked at by the callers
    }
}

void OracleProgram::step(State& state, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const OracleStep& step = m_steps[r][static_cast<std::size_t>(state.at[r]++)];
    if (step.kind == OracleStep::Kind::Post) {
        state.posted[static_cast<std::size_t>(step.id)] = 1;
    } else if (step.kind == OracleStep::Kind::Cancel) {
        state.got[static_cast<std::size_t>(step.id)] = kCancelled;
    }
}

void OracleProgram::tell(const State& state, int rank, std::mt19937_64& random) {
    const auto r = static_cast<std::size_t>(rank);
    const auto at = static_cast<std::size_t>(state.at[r]);
    const OracleStep& last = m_steps[r][at - 1];
    const OracleCall::Kind kind = m_calls[r][static_cast<std::size_t>(last.call)].kind;
    if ((at < m_steps[r].size() && m_steps[r][at].call == last.call) || kind == OracleCall::Kind::Wait) {
        return; // inside the call, or one that tells of its own requests alone
    }
    for (std::size_t i = 0; i < at; ++i) {
        const auto id = static_cast<std::size_t>(m_steps[r][i].id);
        if (m_steps[r][i].kind != OracleStep::Kind::Free || m_told[id] != kNotTold) {
            continue;
        }
        m_hasFreed = m_hasFreed || state.got[id] < 0;
        if (state.got[id] >= 0 && below(random, 2) == 0) {
            m_told[id] = last.call;
        }
    }
}

bool OracleProgram::record(std::mt19937_64& random) {
    State state = begin();
    m_told.assign(m_windows.size(), kNotTold);
    m_hasFreed = false;
    for (;;) {
        struct Choice {
            int rank, receive, message;
        };
        std::vector<Choice> choices;
        for (int rank = 0; rank < m_ranks; ++rank) {
            if (!canStep(state, rank)) {
                continue;
            }
            const auto r = static_cast<std::size_t>(rank);
            const OracleStep& step = m_steps[r][static_cast<std::size_t>(state.at[r])];
            const auto id = static_cast<std::size_t>(step.id);
            if (step.kind == OracleStep::Kind::Cancel && state.got[id] != -1) {
                return false; // it matched first: of no use here
            }
            if (step.kind == OracleStep::Kind::Probe && !step.fails) {
                for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                    if (visible(state, step.id, message)) {
                        choices.push_back({rank, step.id, message});
                    }
                }
                continue;
            }
            choices.push_back({rank, -1, -1});
        }
        for (int receive = 0; receive < static_cast<int>(m_windows.size()); ++receive) {
            const auto at = static_cast<std::size_t>(receive);
            if (m_windows[at].probe || state.posted[at] == 0 || state.got[at] != -1) {
                continue;
            }
            for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                if (isFirst(state, receive, message) && isNext(state, receive, message)) {
                    choices.push_back({-1, receive, message});
                }
            }
        }
        if (choices.empty()) {
            break;
        }
        const Choice chosen =
            choices[static_cast<std::size_t>(below(random, static_cast<int>(choices.size())))];
        if (chosen.receive >= 0) {
            state.got[static_cast<std::size_t>(chosen.receive)] = chosen.message;
        }
        if (chosen.rank >= 0) {
            step(state, chosen.rank);
            tell(state, chosen.rank, random);
        }
    }
    m_got = state.got;
    for (std::size_t i = 0; i < m_windows.size(); ++i) {
        if (m_windows[i].freed && m_got[i] == -1) {
            return false; // nothing was left for it
        }
    }
    for (std::size_t rank = 0; rank < m_steps.size(); ++rank) {
        if (state.at[rank] != static_cast<int>(m_steps[rank].size())) {
            return false;
        }
    }
    return true;
}

OracleProgram::Found OracleProgram::alternatives() const {
    Found found;
    for (int target = 0; target < static_cast<int>(m_windows.size()); ++target) {
        const auto at = static_cast<std::size_t>(target);
        const Window& window = m_windows[at];
        if (window.peer >= 0) {
            continue;
        }
        std::set<std::pair<int, int>>& also = found[{window.rank, window.call + 1}];
        const auto note = [&](int message) {
            if (message != m_got[at]) {
                const MessageInfo& m = m_messages[static_cast<std::size_t>(message)];
                also.insert({m.from, m.call + 1});
            }
        };
        std::set<State> known;
        std::vector<State> open{begin()};
        const auto go = [&](State state) {
            if (known.insert(state).second) {
                open.push_back(std::move(state));
            }
        };
        while (!open.empty()) {
            const State state = open.back();
            open.pop_back();
            for (int rank = 0; rank < m_ranks; ++rank) {
                if (!canStep(state, rank)) {
                    continue;
                }
                const auto r = static_cast<std::size_t>(rank);
                const OracleStep& next = m_steps[r][static_cast<std::size_t>(state.at[r])];
                if (next.kind == OracleStep::Kind::Cancel &&
                    state.got[static_cast<std::size_t>(next.id)] != -1) {
                    continue;
                }
                if (next.kind == OracleStep::Kind::Cancel && next.id == target) {
                    continue; // decided
                }
                if (next.kind == OracleStep::Kind::Probe) {
                    for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                        if (next.id == target && visible(state, target, message)) {
                            note(message);
                        }
                    }
                    const int saw = m_got[static_cast<std::size_t>(next.id)];
                    const bool sees = next.fails || (isFirst(state, next.id, saw, m_got[at]) &&
                                                     !takes(state, target, saw, -1));
                    if (next.id == target || !sees) {
                        continue;
                    }
                }
                State after = state;
                step(after, rank);
                go(std::move(after));
            }
            for (int receive = 0; receive < static_cast<int>(m_windows.size()); ++receive) {
                const auto i = static_cast<std::size_t>(receive);
                if (m_windows[i].probe || state.posted[i] == 0 || state.got[i] != -1) {
                    continue;
                }
                for (int message = 0; message < static_cast<int>(m_messages.size()); ++message) {
                    if (!isFirst(state, receive, message, receive == target ? -1 : m_got[at])) {
                        continue;
                    }
                    if (receive == target) {
                        if (isNext(state, receive, message)) {
                            note(message);
                        }
                    } else if (message == m_got[i] && !takes(state, target, message, receive)) {
                        State after = state;
                        after.got[i] = message;
                        go(std::move(after));
                    }
                }
            }
        }
        if (also.empty()) {
            found.erase({window.rank, window.call + 1});
        }
    }
    return found;
}

} // namespace stopline::replay::test
