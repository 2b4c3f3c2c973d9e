#include "wait_circles.h"

#include "timeline_impl.h"

#include "../tracelib/function_forms.h"

#include <algorithm>

namespace stopline::replay {

namespace {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

/// Of standard sends up to here some transports take what others leave with the sender: Open MPI's tcp up to
/// 64 KiB.
constexpr std::uint64_t kSurelyWaits = 65536;

/// One of these ranks has to do something.
struct Clause {
    std::vector<std::int32_t> ranks;
    bool anyOf = false;
    std::uint64_t maybeBuffered = 0;
    bool maybeEmpty = false;
};

/// Collectives in which a rank may have nothing to do with another one.
bool hasListOfPieces(FunctionId function) {
    switch (trace::plainFunction(function)) {
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
    case FunctionId::Allgatherv:
    case FunctionId::Iallgatherv:
    case FunctionId::Alltoallv:
    case FunctionId::Ialltoallv:
    case FunctionId::Alltoallw:
    case FunctionId::Ialltoallw:
    case FunctionId::Reduce_scatter:
    case FunctionId::Ireduce_scatter:
        return true;
    default:
        return false;
    }
}

/// What a rank waits for.
struct Blocked {
    std::uint32_t call = kNone;
    std::vector<Clause> clauses; ///< all of them; empty: it can go on, or nothing is known
};

/// Finds what the call that a rank has not left waits for. Whatever is not known for certain counts as there.
class Waits {
  public:
    Waits(const TimelineData& data, std::int32_t rank, std::uint32_t call)
        : m_data(data), m_rank(rank), m_call(call) {}

    std::vector<Clause> find() {
        const EventDetails& begin = m_data.beginDetails(m_rank, m_call);
        switch (trace::functionClass(begin.function)) {
        case CallClass::Send:
        case CallClass::Recv:
        case CallClass::Sendrecv:
        case CallClass::Mrecv:
        case CallClass::Collective:
        case CallClass::CommCreate:
        case CallClass::CommFree:
        case CallClass::WinCreate:
        case CallClass::WinFree:
        case CallClass::FileOpen:
        case CallClass::FileClose:
        case CallClass::FileCollective:
        case CallClass::Finalize:
            m_data.eachLink(m_rank, m_call, [this](Role role, std::uint32_t id) {
                if (role == Role::Send) {
                    receiver(m_data.sends[id]);
                } else if (role == Role::Post) {
                    sender(m_data.recvs[id]);
                } else if (role == Role::Coll) {
                    members(id);
                }
            });
            break;
        case CallClass::Probe:
        case CallClass::Mprobe:
            message(begin);
            break;
        case CallClass::Wait:
            requests(begin);
            break;
        default: // tests and probes that return at once among them: between them the program may do anything
            break;
        }
        return std::move(m_found);
    }

  private:
    void receiver(const SendHalf& send) {
        const bool early =
            send.message != kNone && m_data.messages[send.message].state == MessageState::Early;
        const RecvHalf* recv = recvOf(m_data, send);
        if (!send.waitsForReceiver || send.cancelled || send.done != kNone || early ||
            (recv != nullptr && recv->start != kNone)) {
            return;
        }
        const EventDetails& begin = m_data.beginDetails(m_rank, send.call);
        const bool synchronous = begin.function == FunctionId::Ssend || begin.function == FunctionId::Issend;
        const std::uint64_t bytes = // of a persistent send the call that made its request knows
            send.message != kNone ? m_data.messages[send.message].bytes : begin.sendBytes;
        add({{m_data.channels[send.channel].destination}, false, synchronous || bytes >= kSurelyWaits ? 0 : bytes});
    }

    void sender(const RecvHalf& recv) {
        const bool early =
            recv.message != kNone && m_data.messages[recv.message].state == MessageState::Early;
        if (!recv.cancelled && recv.done == kNone && !early && sendOf(m_data, recv) == nullptr) {
            message(m_data.rank(m_rank).details[recv.details]);
        }
    }

    void message(const EventDetails& asked) {
        const std::uint32_t comm = m_data.commEntry(m_rank, asked.comm);
        if (comm == kNone || asked.recvPeer == kProcNull) {
            return;
        }
        const std::int32_t from = m_data.worldRank(m_rank, asked.comm, asked.recvPeer);
        for (const std::uint32_t open : m_data.openMessages) {
            const Message& m = m_data.messages[open];
            if (m.state == MessageState::Unreceived && m.receiver.value() == m_rank &&
                m.commId == m_data.commEntries[comm].id &&
                (asked.recvPeer == kAnySource || m.sender.value() == from) &&
                (asked.recvTag == kAnyTag || asked.recvTag == m.tag)) {
                return;
            }
        }
        if (asked.recvPeer != kAnySource) {
            add({{from}});
            return;
        }
        const trace::CommInfo& info = m_data.rank(m_rank).comms[asked.comm.value()];
        Clause all{{}, true};
        for (std::size_t i = 0; i < (info.remote.empty() ? info.members : info.remote).size(); ++i) {
            const std::int32_t member = m_data.worldRank(m_rank, asked.comm, static_cast<std::int32_t>(i));
            if (member != m_rank) { // what it had sent itself would be there
                all.ranks.push_back(member);
            }
        }
        add(std::move(all));
    }

    void members(std::uint32_t part) {
        const CollPart where = m_data.parts[part];
        const Collective& c = m_data.collectives[where.collective];
        for (const std::uint32_t member : membersNeeded(m_data, where.collective, where.position)) {
            if (!c.arrived[member].has_value() && !m_data.isMissing(where.collective, member)) {
                add({{c.members[member].value()}, false, 0, hasListOfPieces(c.function)});
            }
        }
    }

    void requests(const EventDetails& begin) {
        const auto& known = m_data.rank(m_rank).requests;
        const bool any = begin.function == FunctionId::Waitany || begin.function == FunctionId::Waitsome;
        Clause choice{{}, true};
        for (const trace::RequestRef ref : begin.requests) {
            if (ref.back == trace::RequestRef::kNull) {
                continue; // makes nobody wait
            }
            const std::size_t before = m_found.size();
            if (ref.back < known.size()) {
                request(known[known.size() - 1 - ref.back]);
            }
            if (!any) {
                continue;
            }
            if (m_found.size() == before) { // this one may be complete
                m_found.clear();
                return;
            }
            for (const Clause& clause : m_found) {
                choice.ranks.insert(choice.ranks.end(), clause.ranks.begin(), clause.ranks.end());
                choice.maybeBuffered = std::max(choice.maybeBuffered, clause.maybeBuffered);
                choice.maybeEmpty = choice.maybeEmpty || clause.maybeEmpty;
            }
            m_found.clear();
        }
        if (any && !choice.ranks.empty()) {
            choice.anyOf = std::adjacent_find(choice.ranks.begin(), choice.ranks.end(),
                                              std::not_equal_to<>()) != choice.ranks.end();
            add(std::move(choice));
        }
    }

    void request(const Request& request) {
        if (request.target == kNone) {
            return;
        }
        switch (request.kind) {
        case RequestKind::Send:
        case RequestKind::SendInit:
            receiver(m_data.sends[request.target]);
            break;
        case RequestKind::Recv:
        case RequestKind::RecvInit:
            sender(m_data.recvs[request.target]);
            break;
        case RequestKind::Both:
            m_data.eachLink(m_rank, request.target, [this](Role role, std::uint32_t id) {
                if (role == Role::Send) {
                    receiver(m_data.sends[id]);
                } else if (role == Role::Post) {
                    sender(m_data.recvs[id]);
                }
            });
            break;
        case RequestKind::Coll:
        case RequestKind::CollInit:
            members(request.target);
            break;
        case RequestKind::Transfer:
        case RequestKind::None:
            break;
        }
    }

    /// One whose rank is not known could be anybody's.
    void add(Clause clause) {
        const bool known = std::all_of(clause.ranks.begin(), clause.ranks.end(), [this](std::int32_t rank) {
            return rank >= 0 && rank < m_data.rankCount();
        });
        if (known && !clause.ranks.empty()) {
            m_found.push_back(std::move(clause));
        }
    }

    const TimelineData& m_data;
    std::int32_t m_rank;
    std::uint32_t m_call;
    std::vector<Clause> m_found;
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
                blocked = {call, Waits(data, rank, call).find()};
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
                                [this](const Clause& clause) {
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
        WaitCircle::Wait wait{m_data.ref(rank, blocked.call), RankId{-1}};
        for (const Clause& clause : blocked.clauses) {
            if (std::any_of(clause.ranks.begin(), clause.ranks.end(),
                            [this](auto one) { return isFree(one); })) {
                continue;
            }
            const auto caught = std::find_if(clause.ranks.begin(), clause.ranks.end(),
                                             [this](auto one) { return isCaught(one); });
            if (caught != clause.ranks.end()) {
                wait.waitsFor = RankId{*caught};
                wait.anyOf = clause.anyOf && clause.ranks.size() > 1;
                wait.maybeBuffered = clause.maybeBuffered;
                wait.maybeEmpty = clause.maybeEmpty;
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

std::vector<WaitCircle> Timeline::waitCircles() const {
    return Circles(m_impl->data).find();
}

std::string circleText(const Timeline& timeline, const WaitCircle& circle,
                       const std::function<std::string(CallRef)>& where) {
    std::string text;
    std::uint64_t buffered = 0;
    bool empty = false;
    bool threads = false;
    for (const WaitCircle::Wait& wait : circle.waits) {
        const std::string place = where(wait.call);
        const EventDetails& begin = timeline.details(wait.call.rank, timeline.call(wait.call).beginDetails);
        const std::string name =
            wait.waitsFor == wait.call.rank ? "itself" : "rank " + rankName(wait.waitsFor);
        text += text.empty() ? "rank " + rankName(wait.call.rank) : ", which";
        text += " waits in " + std::string(trace::functionName(begin.function));
        text += place.empty() ? " (event " + std::to_string(timeline.call(wait.call).begin.value()) + ")"
                              : " (" + place + ")";
        text += wait.anyOf ? " for one of several ranks, none of which can go on: " + name : " for " + name;
        buffered = std::max(buffered, wait.maybeBuffered);
        empty = empty || wait.maybeEmpty;
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
    if (buffered != 0) {
        add("MPI takes the " + std::to_string(buffered) + " bytes of a send along without its receive");
    }
    if (empty) {
        add("MPI lets a rank go on that has no piece to send or get");
    }
    if (threads) {
        add("another thread comes to help");
    }
    return text;
}

} // namespace stopline::replay
