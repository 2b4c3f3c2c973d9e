// Random small programs, their steps, and their traces.
#include "races_oracle.h"

namespace stopline::replay::test {

namespace {

int below(std::mt19937_64& random, int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
}

} // namespace

OracleProgram::OracleProgram(std::mt19937_64& random, const OracleOptions& options) : m_ranks(options.ranks) {
    std::vector<std::vector<OracleCall>> calls(static_cast<std::size_t>(m_ranks));
    const auto put = [&](int rank, OracleCall call, std::size_t from) {
        auto& own = calls[static_cast<std::size_t>(rank)];
        const std::size_t at =
            from + static_cast<std::size_t>(below(random, static_cast<int>(own.size() - from) + 1));
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
            const bool freed = options.freed && below(random, 2) == 0;
            put(to, {freed ? OracleCall::Kind::Free : OracleCall::Kind::Wait, 0, 0, request}, posted + 1);
        } else {
            const std::size_t at = put(to, {OracleCall::Kind::Recv, source, asked, 0}, 0);
            if (below(random, 5) == 0) {
                auto& own = calls[static_cast<std::size_t>(to)];
                own.insert(own.begin() + static_cast<std::ptrdiff_t>(at),
                           {below(random, 3) == 0 ? OracleCall::Kind::Iprobe : OracleCall::Kind::Probe, -1,
                            asked, 0});
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
        own.insert(own.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   {OracleCall::Kind::WaitCancelled, 0, 0, request});
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
        m_windows.push_back({rank, call, c.peer, c.tag, probe, fails, false});
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
        case OracleCall::Kind::Free:
            m_windows[static_cast<std::size_t>(receives[c.request])].freed = true;
            steps.push_back({Kind::Free, receives[c.request], call, 0, 0, false});
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

void OracleProgram::write(Job& job) const {
    for (int rank = 0; rank < m_ranks; ++rank) {
        RankScript& script = job[static_cast<std::size_t>(rank)];
        std::map<int, std::pair<Serial, int>> requests;
        const auto& calls = m_calls[static_cast<std::size_t>(rank)];
        /// The end that has been written last tells of the freed receives that are complete.
        const auto tellAt = [&](int call) {
            for (const auto& [request, receive] : requests) {
                const auto at = static_cast<std::size_t>(receive.second);
                if (!m_windows[at].freed || m_told[at] != call) {
                    continue;
                }
                const MessageInfo& m = m_messages[static_cast<std::size_t>(m_got[at])];
                script.tell(receive.first, {m.from, m.tag});
            }
        };
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
                script.send(c.peer, c.tag, 8, kWorld,
                            c.kind == OracleCall::Kind::Ssend ? FunctionId::Ssend : FunctionId::Send);
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
            case OracleCall::Kind::Free:
                script.requestFree(requests[c.request].first);
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
            tellAt(call);
        }
        script.finalize();
        tellAt(kNotTold);
    }
}

std::string OracleProgram::text() const {
    static const char* const kNames[] = {"Send", "Ssend",  "Recv",          "Irecv", "Wait",
                                         "Free", "Cancel", "WaitCancelled", "Probe", "Iprobe", "Barrier"};
    std::string all;
    for (std::size_t rank = 0; rank < m_calls.size(); ++rank) {
        all += "rank " + std::to_string(rank) + "\n";
        for (std::size_t call = 0; call < m_calls[rank].size(); ++call) {
            const OracleCall& c = m_calls[rank][call];
            all += "  " + std::to_string(call + 1) + " " + kNames[static_cast<int>(c.kind)] + " " +
                   std::to_string(c.peer) + "/" + std::to_string(c.tag) + " r" + std::to_string(c.request);
            for (std::size_t i = 0; i < m_windows.size(); ++i) {
                if (m_windows[i].rank == static_cast<int>(rank) &&
                    m_windows[i].call == static_cast<int>(call) && m_got[i] >= 0) {
                    const MessageInfo& m = m_messages[static_cast<std::size_t>(m_got[i])];
                    all += " got " + std::to_string(m.from) + ":" + std::to_string(m.call + 1);
                    all += m_windows[i].freed ? ", told at " + std::to_string(m_told[i] + 1) : "";
                }
            }
            all += "\n";
        }
    }
    return all;
}

} // namespace stopline::replay::test
