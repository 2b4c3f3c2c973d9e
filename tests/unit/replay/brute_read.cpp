// From events to messages, collectives and edges.
#include "brute.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace stopline::replay::test {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

Brute::Brute(const Trace& trace) : m_trace(trace), m_calls(trace.ranks.size()), m_taken(trace.ranks.size()) {
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        std::uint64_t number = 0;
        for (const TraceEvent& event : trace.ranks[rank].events) {
            ++number;
            if (event.details.kind == trace::EventKind::Begin) {
                m_calls[rank].push_back({event.details, std::nullopt, number});
            } else {
                m_calls[rank].back().end = event.details;
            }
        }
    }
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        readRank(rank);
    }
    match();
    inferGroups();
    join();
}

std::int32_t Brute::world(std::size_t rank, CommIndex comm, std::int32_t peer) const {
    const trace::CommInfo& c = m_trace.ranks[rank].comms.at(comm.value());
    const auto& group = c.remote.empty() ? c.members : c.remote;
    return peer < 0 ? -1 : group.at(static_cast<std::size_t>(peer));
}

std::uint64_t Brute::commId(std::size_t rank, CommIndex comm) const {
    return m_trace.ranks[rank].comms.at(comm.value()).id;
}

int Brute::addSend(std::size_t rank, CallRef ref, const EventDetails& d) {
    if (d.sendPeer < 0) {
        return -1;
    }
    const auto is = [&](std::initializer_list<FunctionId> list) {
        return std::find(list.begin(), list.end(), d.function) != list.end();
    };
    SendInfo send;
    send.call = ref;
    send.comm = commId(rank, d.comm);
    send.to = world(rank, d.comm, d.sendPeer);
    send.tag = d.sendTag;
    send.waits = is({FunctionId::Ssend, FunctionId::Issend, FunctionId::Ssend_init}) ||
                 (d.sendBytes > m_trace.rules.eagerLimit &&
                  !is({FunctionId::Bsend, FunctionId::Ibsend, FunctionId::Bsend_init}));
    m_sends.push_back(send);
    return static_cast<int>(m_sends.size()) - 1;
}

int Brute::addRecv(std::size_t rank, CallRef ref, const EventDetails& d) {
    if (d.recvPeer == kProcNull || d.recvPeer == kNoPeer) {
        return -1;
    }
    RecvInfo recv;
    recv.post = ref;
    recv.start = ref;
    recv.comm = commId(rank, d.comm);
    recv.source = d.recvPeer == kAnySource ? -1 : world(rank, d.comm, d.recvPeer);
    recv.tag = d.recvTag;
    m_recvs.push_back(recv);
    return static_cast<int>(m_recvs.size()) - 1;
}

int Brute::addMember(std::size_t rank, CallRef ref, const CallInfo& call) {
    const FunctionId f = call.begin.function;
    const bool made = f == FunctionId::Comm_create_group || f == FunctionId::Intercomm_create;
    const bool world = f == FunctionId::Init || f == FunctionId::Init_thread || f == FunctionId::Finalize;
    const CommIndex index = made ? call.end->newComm : call.begin.comm;
    std::string name = "all";
    std::vector<std::int32_t> ranks;
    std::size_t local = 0;
    bool inter = false;
    if (world) {
        name = f == FunctionId::Finalize ? "finalize" : "init";
        for (std::size_t r = 0; r < m_calls.size(); ++r) {
            ranks.push_back(static_cast<std::int32_t>(r));
        }
    } else {
        const trace::CommInfo& c = m_trace.ranks[rank].comms.at(index.value());
        name = (made ? "made " : "comm ") + std::to_string(c.id);
        ranks = c.members;
        ranks.insert(ranks.end(), c.remote.begin(), c.remote.end());
        local = c.members.size();
        inter = !c.remote.empty();
    }
    const auto self = static_cast<std::int32_t>(rank);
    std::size_t ordinal = 0;
    for (const auto& [group, member] : m_members) {
        if (member == self && m_groups[group].name.starts_with(name + " #")) {
            ++ordinal;
        }
    }
    name += " #" + std::to_string(ordinal);
    auto at = std::find_if(m_groups.begin(), m_groups.end(), [&](const Group& g) { return g.name == name; });
    if (at == m_groups.end()) {
        Group group;
        group.name = name;
        group.function = f;
        group.ranks = ranks;
        group.local = local;
        group.inter = inter;
        m_groups.push_back(group);
        at = m_groups.end() - 1;
    }
    if (call.begin.root == kRootInter) {
        at->root = self;
    } else if (call.begin.root >= 0) {
        at->root = this->world(rank, call.begin.comm, call.begin.root);
    }
    at->large = at->large || std::max(call.begin.sendBytes, call.begin.recvBytes) > m_trace.rules.eagerLimit;
    at->members.push_back({ref, std::nullopt});
    m_members.emplace_back(static_cast<std::size_t>(at - m_groups.begin()), self);
    return static_cast<int>(m_members.size()) - 1;
}

void Brute::readRank(std::size_t rank) {
    std::vector<RequestInfo> requests;
    for (std::size_t c = 0; c < m_calls[rank].size(); ++c) {
        const CallRef ref{RankId{static_cast<std::int32_t>(rank)}, CallIndex{static_cast<std::uint32_t>(c)}};
        readCall(rank, ref, m_calls[rank][c], requests);
    }
}

void Brute::readCall(std::size_t rank, CallRef ref, const CallInfo& call,
                     std::vector<RequestInfo>& requests) {
    const EventDetails& d = call.begin;
    const bool ended = call.end.has_value();
    RequestInfo request;
    request.init = d;
    const CallClass callClass = trace::functionClass(d.function);
    switch (callClass) {
    case CallClass::Send:
    case CallClass::Recv:
    case CallClass::Sendrecv: {
        const int send = addSend(rank, ref, d);
        const int recv = addRecv(rank, ref, d);
        if (ended && send >= 0) {
            m_sends.back().done = ref;
        }
        if (ended && recv >= 0) {
            RecvInfo& r = m_recvs.back();
            r.done = ref;
            r.source = world(rank, d.comm, call.end->status.source);
            r.tag = call.end->status.tag;
        }
        break;
    }
    case CallClass::Isend:
        request.send = addSend(rank, ref, d);
        break;
    case CallClass::Irecv:
        request.recv = addRecv(rank, ref, d);
        break;
    case CallClass::Start:
        for (const trace::RequestRef& r : d.requests) {
            RequestInfo& started = requests[requests.size() - 1 - r.back];
            started.send = addSend(rank, ref, started.init);
            started.recv = addRecv(rank, ref, started.init);
        }
        break;
    case CallClass::Mrecv:
    case CallClass::Imrecv:
        for (const int taken : m_taken[rank]) {
            RecvInfo& r = m_recvs[static_cast<std::size_t>(taken)];
            if (!r.start && r.comm == commId(rank, d.comm)) {
                r.start = ref;
                request.recv = taken;
                break;
            }
        }
        break;
    case CallClass::Icollective:
    case CallClass::CommIdup:
        request.member = addMember(rank, ref, call);
        break;
    case CallClass::Collective:
    case CallClass::CommCreate:
    case CallClass::CommFree:
    case CallClass::Init:
    case CallClass::Finalize: {
        const bool made =
            d.function == FunctionId::Comm_create_group || d.function == FunctionId::Intercomm_create;
        if (ended || !made) {
            const int member = addMember(rank, ref, call);
            if (ended) {
                m_groups[m_members[static_cast<std::size_t>(member)].first].members.back().done = ref;
            }
        }
        break;
    }
    default:
        break;
    }
    if (trace::createsRequest(callClass)) {
        requests.push_back(request);
    }
    if (ended) {
        readEnd(rank, ref, call, requests);
    }
}

void Brute::readEnd(std::size_t rank, CallRef ref, const CallInfo& call, std::vector<RequestInfo>& requests) {
    const EventDetails& end = *call.end;
    readCompletions(rank, ref, call, requests);
    const CallClass callClass = trace::functionClass(call.begin.function);
    const bool looks = callClass == CallClass::Probe || callClass == CallClass::Iprobe;
    const bool takes = callClass == CallClass::Mprobe || callClass == CallClass::Improbe;
    if ((looks || takes) && end.flag) {
        RecvInfo recv;
        recv.post = ref;
        recv.comm = commId(rank, call.begin.comm);
        recv.source = world(rank, call.begin.comm, end.status.source);
        recv.tag = end.status.tag;
        recv.probe = looks;
        recv.matchedProbe = takes;
        if (takes) {
            m_taken[rank].push_back(static_cast<int>(m_recvs.size()));
        }
        m_recvs.push_back(recv);
    }
    if (callClass == CallClass::Mrecv) {
        trace::Completion completion;
        completion.status = end.status;
        for (const int taken : m_taken[rank]) {
            if (m_recvs[static_cast<std::size_t>(taken)].start == ref) {
                RequestInfo request;
                request.init = call.begin;
                request.recv = taken;
                requests.push_back(request); // as if it had a request of its own, for this moment
                CallInfo as = call;
                completion.request = {0};
                as.end->completions = {completion};
                readCompletions(rank, ref, as, requests);
                requests.pop_back();
                break;
            }
        }
    }
}

void Brute::readCompletions(std::size_t rank, CallRef ref, const CallInfo& call,
                            std::vector<RequestInfo>& requests) {
    for (const trace::Completion& completion : call.end->completions) {
        if (completion.request.back >= requests.size()) {
            continue;
        }
        RequestInfo& request = requests[requests.size() - 1 - completion.request.back];
        if (request.send >= 0) {
            auto& done = m_sends[static_cast<std::size_t>(request.send)].done;
            done = done ? done : ref;
        }
        if (request.member >= 0) {
            const auto [group, self] = m_members[static_cast<std::size_t>(request.member)];
            for (Member& member : m_groups[group].members) {
                if (member.start.rank.value() == self && !member.done) {
                    member.done = ref;
                }
            }
        }
        if (request.recv < 0 || m_recvs[static_cast<std::size_t>(request.recv)].done) {
            continue;
        }
        const trace::Status& status = completion.status;
        if (m_recvs[static_cast<std::size_t>(request.recv)].matchedProbe) {
            auto& taken = m_taken[rank];
            const auto right = [&](int index) {
                const RecvInfo& r = m_recvs[static_cast<std::size_t>(index)];
                return r.comm == commId(rank, request.init.comm) && r.tag == status.tag &&
                       r.source == world(rank, request.init.comm, status.source);
            };
            const int own = request.recv;
            if (!right(own)) {
                auto other = std::find_if(taken.begin(), taken.end(), [&](int index) {
                    return right(index) && !m_recvs[static_cast<std::size_t>(index)].start;
                });
                other = other != taken.end() ? other : std::find_if(taken.begin(), taken.end(), right);
                if (other != taken.end()) {
                    const int chosen = *other;
                    std::swap(m_recvs[static_cast<std::size_t>(own)].start,
                              m_recvs[static_cast<std::size_t>(chosen)].start);
                    for (RequestInfo& r : requests) {
                        if (r.recv == chosen) {
                            r.recv = own;
                        }
                    }
                    request.recv = chosen;
                }
            }
            taken.erase(std::find(taken.begin(), taken.end(), request.recv));
        }
        RecvInfo& recv = m_recvs[static_cast<std::size_t>(request.recv)];
        recv.done = ref;
        recv.cancelled = status.cancelled;
        if (!status.cancelled && !recv.matchedProbe) {
            recv.source = world(rank, request.init.comm, status.source);
            recv.tag = status.tag;
        }
    }
}

} // namespace stopline::replay::test
