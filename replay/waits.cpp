#include "waits.h"

#include "one_sided.h"

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

bool needsLock(FunctionId function) {
    switch (function) {
    case FunctionId::Win_lock:
    case FunctionId::Win_lock_all:
    case FunctionId::Win_unlock:
    case FunctionId::Win_unlock_all:
    case FunctionId::Win_flush:
    case FunctionId::Win_flush_all:
    case FunctionId::Win_flush_local:
    case FunctionId::Win_flush_local_all:
        return true;
    default:
        return false;
    }
}

/// Finds what the call that a rank has not left waits for. Whatever is not known for certain counts as there.
class Waits {
  public:
    Waits(const TimelineData& data, std::int32_t rank, std::uint32_t call)
        : m_data(data), m_rank(rank), m_call(call) {}

    std::vector<WaitClause> find() {
        const EventDetails& begin = m_data.beginDetails(m_rank, m_call);
        const CallClass callClass = trace::functionClass(begin.function);
        if (needsLock(begin.function)) {
            lock(begin.function);
        } else if (callClass == CallClass::Probe || callClass == CallClass::Mprobe) {
            message(begin);
        } else if (callClass == CallClass::Wait) {
            requests(begin);
        } else if (begin.function == FunctionId::Win_complete) {
            posts(begin);
        } else if (waitsByLinks(callClass)) {
            linked(m_call);
        } // tests and probes that return at once: between them the program may do anything
        return std::move(m_found);
    }

  private:
    void linked(std::uint32_t call) {
        m_data.eachLink(m_rank, call, [this](Role role, std::uint32_t id) {
            if (role == Role::Send) {
                receiver(m_data.sends[id]);
            } else if (role == Role::Post) {
                sender(m_data.recvs[id]);
            } else if (role == Role::Coll) {
                members(id);
            } else if (role == Role::SyncTo) {
                other(m_data.syncEdges[id]);
            }
        });
    }

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
        WaitDoubts doubts;
        doubts.bufferedBytes = synchronous || bytes >= kSurelyWaits ? 0 : bytes;
        add({{m_data.channels[send.channel].destination}, doubts});
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
        if (isOnItsWay(m_data, m_rank, asked, [](const Message&) { return true; })) {
            return;
        }
        if (asked.recvPeer != kAnySource) {
            add({{from}, {}});
            return;
        }
        const trace::CommInfo& info = m_data.rank(m_rank).comms[asked.comm.value()];
        WaitClause all{{}, {}};
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
        const CallClass callClass = trace::functionClass(trace::plainFunction(c.function));
        if (callClass == CallClass::Neighbor || callClass == CallClass::Ineighbor) {
            neighbours(c);
            return;
        }
        WaitDoubts doubts;
        doubts.emptyPiece = trace::hasListOfPieces(c.function);
        doubts.fence = c.function == FunctionId::Win_fence &&
                       (m_data.beginDetails(m_rank, m_call).mode & trace::kNoPrecede) != 0;
        for (const std::uint32_t member : membersNeeded(m_data, where.collective, where.position)) {
            if (!c.arrived[member].has_value() && !m_data.isMissing(where.collective, member)) {
                add({{c.members[member].value()}, doubts});
            }
        }
    }

    /// Who of the others is a neighbour is not recorded: one of those who have not called is.
    void neighbours(const Collective& c) {
        WaitClause some{{}, {}};
        some.doubts.neighbours = true;
        some.doubts.emptyPiece = trace::hasListOfPieces(c.function);
        for (std::size_t member = 0; member < c.members.size(); ++member) {
            if (!c.arrived[member].has_value()) {
                some.ranks.push_back(c.members[member].value());
            }
        }
        add(std::move(some));
    }

    /// MPI_Win_start mostly returns at once; then MPI_Win_complete waits for the posts that it names.
    void posts(const EventDetails& begin) {
        for (std::uint32_t at = m_call; at-- > 0;) {
            const EventDetails& earlier = m_data.beginDetails(m_rank, at);
            if (earlier.comm != begin.comm) {
                continue;
            }
            if (earlier.function == FunctionId::Win_complete) {
                return; // of an epoch before
            }
            if (earlier.function == FunctionId::Win_start) {
                linked(at);
                return;
            }
        }
    }

    /// The call of another rank on the same window: the post for a start or its complete, the complete for a wait.
    void other(const SyncEdge& edge) {
        const bool known = m_data.rank(edge.fromRank).events.has(1); // else it may have called before its history starts
        if (edge.from == kNone && known) {
            WaitDoubts doubts;
            doubts.opensEarly = !edge.closes && m_data.beginDetails(m_rank, m_call).function != FunctionId::Win_complete;
            add({{edge.fromRank}, doubts});
        }
    }

    /// MPI_Win_lock mostly returns at once; then the first call that needs the lock waits for it.
    void lock(FunctionId function) {
        std::vector<Position> now;
        for (std::int32_t rank = 0; rank < m_data.rankCount(); ++rank) {
            now.push_back(lastPosition(m_data.rank(rank)));
        }
        WaitDoubts doubts;
        doubts.opensEarly = function == FunctionId::Win_lock || function == FunctionId::Win_lock_all;
        doubts.hasLock = !doubts.opensEarly;
        for (const CallRef own : locksOf(m_data, m_data.ref(m_rank, m_call))) {
            if (const auto holder = holderOf(m_data, own, now)) {
                add({{holder->rank.value()}, doubts});
            }
        }
    }

    void requests(const EventDetails& begin) {
        const auto& known = m_data.rank(m_rank).requests;
        const bool any = begin.function == FunctionId::Waitany || begin.function == FunctionId::Waitsome;
        WaitClause choice{{}, {}};
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
            for (const WaitClause& clause : m_found) {
                choice.ranks.insert(choice.ranks.end(), clause.ranks.begin(), clause.ranks.end());
                choice.doubts.add(clause.doubts);
            }
            m_found.clear();
        }
        if (any && !choice.ranks.empty()) {
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
            linked(request.target);
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
    void add(WaitClause clause) {
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
    std::vector<WaitClause> m_found;
};

} // namespace

std::vector<WaitClause> waitsOf(const TimelineData& data, std::int32_t rank, std::uint32_t call) {
    return Waits(data, rank, call).find();
}

bool isOnItsWay(const TimelineData& data, std::int32_t rank, const EventDetails& asked,
                const std::function<bool(const Message&)>& wanted) {
    const std::uint32_t comm = data.commEntry(rank, asked.comm);
    if (comm == kNone) {
        return false;
    }
    const std::int32_t from = data.worldRank(rank, asked.comm, asked.recvPeer);
    return std::any_of(data.openMessages.begin(), data.openMessages.end(), [&](std::uint32_t open) {
        const Message& m = data.messages[open];
        return m.state == MessageState::Unreceived && m.receiver.value() == rank &&
               m.commId == data.commEntries[comm].id && (asked.recvPeer == kAnySource || m.sender.value() == from) &&
               (asked.recvTag == kAnyTag || asked.recvTag == m.tag) && wanted(m);
    });
}

bool waitsByLinks(CallClass callClass) {
    switch (callClass) {
    case CallClass::Send:
    case CallClass::Recv:
    case CallClass::Sendrecv:
    case CallClass::Mrecv:
    case CallClass::Collective:
    case CallClass::CommCreate:
    case CallClass::CommFree:
    case CallClass::CommSpawn:
    case CallClass::Neighbor:
    case CallClass::WinCreate:
    case CallClass::WinFree:
    case CallClass::WinCollective:
    case CallClass::WinSync:
    case CallClass::FileOpen:
    case CallClass::FileClose:
    case CallClass::FileCollective:
    case CallClass::Init:
    case CallClass::Finalize:
        return true;
    default:
        return false;
    }
}

} // namespace stopline::replay
