#include "races_oracle.h"

#include <algorithm>

namespace stopline::replay::test {

namespace {

int below(std::mt19937_64& random, int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
}

constexpr int kCancelled = -2;

} // namespace

OracleProgram::OracleProgram(std::mt19937_64& random, const OracleOptions& options) : m_ranks(options.ranks) {
    std::vector<std::vector<OracleCall>> calls(static_cast<std::size_t>(m_ranks));
    const auto put = [&](int rank, OracleCall call, std::size_t from) {
        auto& own = calls[static_cast<std::size_t>(rank)];
        const std::size_t at = from + static_cast<std::size_t>(below(random, static_cast<int>(own.size() - from) + 1));
        own.insert(own.begin() + static_cast<std::ptrdiff_t>(at), call);
        return at;
    };
    int requests = 0;
    for (int i = 0; i < options.messages; ++i) {
        const int from = below(random, m_ranks);
        const int to = (from + 1 + below(random, m_ranks - 1)) % m_ranks;
        const int tag = below(random, 2);
        const bool synchronous = options.synchronous && below(random, 3) == 0;
        put(from, {synchronous ? OracleCall::Kind::Ssend : OracleCall::Kind::Send, to, tag, 0}, 0);
        const int source = below(random, 3) != 0 ? -1 : from;
        const int asked = below(random, 3) == 0 ? -1 : tag;
        if (options.nonBlocking && below(random, 2) == 0) {
            const int request = requests++;
            const std::size_t posted = put(to, {OracleCall::Kind::Irecv, source, asked, request}, 0);
            put(to, {OracleCall::Kind::Wait, 0, 0, request}, posted + 1);
        } else {
            const std::size_t at = put(to, {OracleCall::Kind::Recv, source, asked, 0}, 0);
            if (below(random, 5) == 0) {
                auto& own = calls[static_cast<std::size_t>(to)];
                own.insert(own.begin() + static_cast<std::ptrdiff_t>(at),
                           {below(random, 3) == 0 ? OracleCall::Kind::Iprobe : OracleCall::Kind::Probe, -1, asked, 0});
            }
        }
    }
    if (below(random, 3) == 0) {
        for (int rank = 0; rank < m_ranks; ++rank) {
            put(rank, {OracleCall::Kind::Barrier, 0, 0, 0}, 0);
        }
    }
    // Last, so that nothing comes between: MPI may cancel at any moment from the one to the other.
    if (options.nonBlocking && below(random, 4) == 0) {
        const int rank = below(random, m_ranks);
        const int request = requests++;
        const std::size_t posted = put(rank, {OracleCall::Kind::Irecv, -1, below(random, 2), request}, 0);
        const std::size_t at = put(rank, {OracleCall::Kind::Cancel, 0, 0, request}, posted + 1);
        auto& own = calls[static_cast<std::size_t>(rank)];
        own.insert(own.begin() + static_cast<std::ptrdiff_t>(at) + 1, {OracleCall::Kind::WaitCancelled, 0, 0, request});
    }
    m_calls = calls;
    m_steps.resize(calls.size());
    m_order.resize(calls.size());
    for (int rank = 0; rank < m_ranks; ++rank) {
        addRank(rank, calls[static_cast<std::size_t>(rank)]);
    }
}

void OracleProgram::addRank(int rank, const std::vector<OracleCall>& calls) {
    auto& steps = m_steps[static_cast<std::size_t>(rank)];
    std::map<int, int> receives; // by request
    const auto window = [&](int call, const OracleCall& c, bool probe, bool fails) {
        m_windows.push_back({rank, call, c.peer, c.tag, probe, fails});
        return static_cast<int>(m_windows.size()) - 1;
    };
    using Kind = OracleStep::Kind;
    for (int call = 0; call < static_cast<int>(calls.size()); ++call) {
        const OracleCall& c = calls[static_cast<std::size_t>(call)];
        switch (c.kind) {
        case OracleCall::Kind::Send:
        case OracleCall::Kind::Ssend: {
            const int id = static_cast<int>(m_messages.size());
            m_messages.push_back({rank, c.peer, c.tag, call});
            steps.push_back({Kind::Send, id, call, c.peer, c.tag, false});
            if (c.kind == OracleCall::Kind::Ssend) {
                steps.push_back({Kind::Sent, id, call, c.peer, c.tag, false});
            }
            break;
        }
        case OracleCall::Kind::Recv:
        case OracleCall::Kind::Irecv: {
            const int id = window(call, c, false, false);
            m_order[static_cast<std::size_t>(rank)].push_back(id);
            steps.push_back({Kind::Post, id, call, c.peer, c.tag, false});
            if (c.kind == OracleCall::Kind::Recv) {
                steps.push_back({Kind::Wait, id, call, 0, 0, false});
            } else {
                receives[c.request] = id;
            }
            break;
        }
        case OracleCall::Kind::Wait:
            steps.push_back({Kind::Wait, receives[c.request], call, 0, 0, false});
            break;
        case OracleCall::Kind::Cancel:
            steps.push_back({Kind::Cancel, receives[c.request], call, 0, 0, false});
            break;
        case OracleCall::Kind::WaitCancelled:
            break;
        case OracleCall::Kind::Probe:
        case OracleCall::Kind::Iprobe: {
            const bool fails = c.kind == OracleCall::Kind::Iprobe;
            steps.push_back({Kind::Probe, window(call, c, true, fails), call, c.peer, c.tag, fails});
            break;
        }
        case OracleCall::Kind::Barrier:
            steps.push_back({Kind::Enter, 0, call, 0, 0, false});
            steps.push_back({Kind::Leave, 0, call, 0, 0, false});
            break;
        }
    }
}

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
        if (other != besides && m.from == own.from && fits(receive, other) && isSent(state, other) && !hasMatched(state, other)) {
            return false;
        }
    }
    return isSent(state, message) && !hasMatched(state, message) && fits(receive, message);
}

bool OracleProgram::isNext(const State& state, int receive, int message) const {
    for (const int other : m_order[static_cast<std::size_t>(m_messages[static_cast<std::size_t>(message)].to)]) {
        const auto at = static_cast<std::size_t>(other);
        if (other != receive && (receive < 0 || other < receive) && state.posted[at] != 0 && state.got[at] == -1 &&
            fits(other, message)) {
            return false;
        }
    }
    return true;
}

bool OracleProgram::takes(const State& state, int target, int message, int receive) const {
    const auto at = static_cast<std::size_t>(target);
    return !m_windows[at].probe && (receive < 0 || target < receive) && state.posted[at] != 0 && state.got[at] == -1 &&
           fits(target, message);
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
                entered = entered || m_steps[other][static_cast<std::size_t>(i)].kind == OracleStep::Kind::Enter;
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

bool OracleProgram::record(std::mt19937_64& random) {
    State state = begin();
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
        const Choice chosen = choices[static_cast<std::size_t>(below(random, static_cast<int>(choices.size())))];
        if (chosen.receive >= 0) {
            state.got[static_cast<std::size_t>(chosen.receive)] = chosen.message;
        }
        if (chosen.rank >= 0) {
            step(state, chosen.rank);
        }
    }
    m_got = state.got;
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
                if (next.kind == OracleStep::Kind::Cancel && state.got[static_cast<std::size_t>(next.id)] != -1) {
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
                    const bool sees = next.fails || (isFirst(state, next.id, saw, m_got[at]) && !takes(state, target, saw, -1));
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

void OracleProgram::write(Job& job) const {
    for (int rank = 0; rank < m_ranks; ++rank) {
        RankScript& script = job[static_cast<std::size_t>(rank)];
        std::map<int, std::pair<Serial, int>> requests;
        const auto& calls = m_calls[static_cast<std::size_t>(rank)];
        for (int call = 0; call < static_cast<int>(calls.size()); ++call) {
            const OracleCall& c = calls[static_cast<std::size_t>(call)];
            int window = -1;
            for (int i = 0; i < static_cast<int>(m_windows.size()); ++i) {
                const Window& w = m_windows[static_cast<std::size_t>(i)];
                window = w.rank == rank && w.call == call ? i : window;
            }
            const auto got = [&](int of) {
                const int message = of < 0 ? -1 : m_got[static_cast<std::size_t>(of)];
                return message < 0 ? Got{}
                                   : Got{m_messages[static_cast<std::size_t>(message)].from,
                                         m_messages[static_cast<std::size_t>(message)].tag};
            };
            const std::int32_t source = c.peer < 0 ? kAnySource : c.peer;
            const std::int32_t tag = c.tag < 0 ? kAnyTag : c.tag;
            switch (c.kind) {
            case OracleCall::Kind::Send:
            case OracleCall::Kind::Ssend:
                script.send(c.peer, c.tag, 8, kWorld, c.kind == OracleCall::Kind::Ssend ? FunctionId::Ssend : FunctionId::Send);
                break;
            case OracleCall::Kind::Recv:
                script.recv(source, tag, got(window));
                break;
            case OracleCall::Kind::Irecv:
                requests[c.request] = {script.irecv(source, tag), window};
                break;
            case OracleCall::Kind::Wait:
                script.wait(requests[c.request].first, got(requests[c.request].second));
                break;
            case OracleCall::Kind::Cancel:
                script.cancel(requests[c.request].first);
                break;
            case OracleCall::Kind::WaitCancelled:
                script.waitCancelled(requests[c.request].first);
                break;
            case OracleCall::Kind::Probe:
                script.probe(FunctionId::Probe, source, tag, got(window));
                break;
            case OracleCall::Kind::Iprobe:
                script.probe(FunctionId::Iprobe, source, tag, {}, false, 1);
                break;
            case OracleCall::Kind::Barrier:
                script.collective(FunctionId::Barrier);
                break;
            }
        }
    }
}

std::string OracleProgram::text() const {
    static const char* const kNames[] = {"Send",   "Ssend",         "Recv",  "Irecv",  "Wait",
                                         "Cancel", "WaitCancelled", "Probe", "Iprobe", "Barrier"};
    std::string all;
    for (std::size_t rank = 0; rank < m_calls.size(); ++rank) {
        all += "rank " + std::to_string(rank) + "\n";
        for (std::size_t call = 0; call < m_calls[rank].size(); ++call) {
            const OracleCall& c = m_calls[rank][call];
            all += "  " + std::to_string(call + 1) + " " + kNames[static_cast<int>(c.kind)] + " " + std::to_string(c.peer) + "/" +
                   std::to_string(c.tag) + " r" + std::to_string(c.request);
            for (std::size_t i = 0; i < m_windows.size(); ++i) {
                if (m_windows[i].rank == static_cast<int>(rank) && m_windows[i].call == static_cast<int>(call) && m_got[i] >= 0) {
                    const MessageInfo& m = m_messages[static_cast<std::size_t>(m_got[i])];
                    all += " got " + std::to_string(m.from) + ":" + std::to_string(m.call + 1);
                }
            }
            all += "\n";
        }
    }
    return all;
}

} // namespace stopline::replay::test
