// What is known of a rank before the start of its history, and what of it comes to its end behind the start.
#include "timeline_recorder.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

using trace::CallClass;
using trace::Counted;
using trace::EventDetails;
using trace::FunctionId;

namespace {

bool isPersistent(CallClass c) {
    return c == CallClass::SendInit || c == CallClass::RecvInit || c == CallClass::CollectiveInit ||
           c == CallClass::NeighborInit;
}

/// What a persistent request that was made before does each time, as the begin of the call that made it said.
EventDetails beginOf(const trace::StartRequest& made) {
    EventDetails d;
    d.function = static_cast<FunctionId>(made.function);
    d.comm = CommIndex{made.comm};
    switch (trace::functionClass(d.function)) {
    case CallClass::SendInit:
        d.sendPeer = made.peer;
        d.sendTag = made.tag;
        d.sendBytes = made.bytes;
        break;
    case CallClass::RecvInit:
        d.recvPeer = made.peer;
        d.recvTag = made.tag;
        d.recvBytes = made.bytes;
        break;
    default:
        d.root = made.peer;
        break;
    }
    return d;
}

} // namespace

void Recorder::missMessages(std::int32_t rank, std::uint32_t comm, std::int32_t peer, std::int32_t tag, bool sends,
                            std::int64_t count) {
    const std::uint32_t entry = m_data.commEntry(rank, CommIndex{comm});
    const std::int32_t other = m_data.worldRank(rank, CommIndex{comm}, peer);
    if (entry != kNone && other >= 0 && count != 0) {
        m_matcher.addMissing(entry, sends ? rank : other, sends ? other : rank, tag, sends, count);
    }
}

void Recorder::setStart(std::int32_t rank, const trace::HistoryStart& start) {
    RankData& data = m_data.rank(rank);
    data.early = std::make_unique<EarlyHistory>();
    EarlyHistory& early = *data.early;
    early.requests = start.requests;
    early.messages = start.messages;
    early.comms = start.comms;
    early.incomplete = start.incomplete != 0;
    early.calls.assign(start.calls, start.calls + start.callCount);
    data.events.startBehind(start.firstEvent - 1);
    data.floor = std::max(data.floor, data.events.firstEvent() * 2);
    for (std::uint32_t i = 0; i < start.requestCount; ++i) {
        const trace::StartRequest& made = start.open[i];
        EarlyRequest request{{}, made};
        const CallClass c = trace::functionClass(static_cast<FunctionId>(made.function));
        if (isPersistent(c)) {
            request.request.kind = c == CallClass::SendInit   ? RequestKind::SendInit
                                   : c == CallClass::RecvInit ? RequestKind::RecvInit
                                                              : RequestKind::CollInit;
            request.request.details = addDetails(rank, beginOf(made)).value() & 0x0fffffffU;
        }
        early.open.emplace(made.serial, request);
    }
    m_collectives.addMissingCreated(rank, early.comms);
    if (early.incomplete) {
        m_matcher.missUnknown(rank);
        m_collectives.missUnknown(rank);
    }
    for (std::uint32_t i = 0; i < start.countCount; ++i) {
        const trace::StartCount& c = start.counts[i];
        const auto count = static_cast<std::int64_t>(c.count);
        switch (c.what) {
        case Counted::Send:
        case Counted::Receive:
            if (!early.incomplete) {
                missMessages(rank, c.comm, c.peer, c.tag, c.what == Counted::Send, count);
            }
            break;
        case Counted::Seen:
            break; // below, when all receives are counted
        case Counted::Collective:
            if (!early.incomplete) {
                m_collectives.addMissing(rank, CommIndex{c.comm}, count);
            }
            break;
        case Counted::Init:
        case Counted::Finalize:
            m_collectives.addMissingWorld(rank, c.what == Counted::Finalize, static_cast<std::uint32_t>(c.count));
            break;
        case Counted::Epoch:
            if (const std::uint32_t entry = m_data.commEntry(rank, CommIndex{c.comm}); entry != kNone && count != 0) {
                m_data.commEntries[entry].epochsMissing = true;
            }
            break;
        }
    }
    for (std::uint32_t i = 0; i < start.countCount; ++i) {
        const trace::StartCount& c = start.counts[i];
        if (c.what != Counted::Seen) {
            continue;
        }
        const auto received = std::find_if(start.counts, start.counts + start.countCount, [&c](const trace::StartCount& o) {
            return o.what == Counted::Receive && o.comm == c.comm && o.peer == c.peer && o.tag == c.tag;
        });
        if (received != start.counts + start.countCount && (c.count > received->count || !early.open.empty())) {
            noteSeen(rank, c.comm, c.peer, c.tag);
        }
    }
}

/// A probe before the start of the history may have seen the next message.
void Recorder::noteSeen(std::int32_t rank, std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    const std::uint32_t entry = m_data.commEntry(rank, CommIndex{comm});
    const std::int32_t from = m_data.worldRank(rank, CommIndex{comm}, peer);
    if (entry != kNone && from >= 0) {
        // A wildcard that is still open may turn out to stand before the probe.
        m_matcher.addSeen(entry, from, rank, tag, 1 + static_cast<std::uint32_t>(m_data.rank(rank).early->open.size()));
    }
}

EarlyRequest* Recorder::earlyRequest(std::int32_t rank, trace::RequestRef ref) {
    RankData& data = m_data.rank(rank);
    if (data.early == nullptr || ref.back >= trace::RequestRef::kUnknown) {
        return nullptr;
    }
    const std::uint64_t made = data.early->requests + data.requests.size();
    const auto at = ref.back < made ? data.early->open.find(made - ref.back) : data.early->open.end();
    return at == data.early->open.end() ? nullptr : &at->second;
}

void Recorder::completeEarly(std::int32_t rank, trace::RequestRef ref, const trace::Status& status) {
    EarlyRequest* request = earlyRequest(rank, ref);
    if (request == nullptr || request->made.active == 0) {
        return;
    }
    const trace::StartRequest made = request->made;
    const CallClass c = trace::functionClass(static_cast<FunctionId>(made.function));
    if (isPersistent(c)) {
        request->made.active = 0;
    } else {
        m_data.rank(rank).early->open.erase(made.serial);
    }
    if (m_data.rank(rank).early->incomplete) {
        return;
    }
    if (c == CallClass::SendInit) {
        if (status.cancelled) {
            missMessages(rank, made.comm, made.peer, made.tag, true, -1);
        }
    } else if (c == CallClass::Irecv || c == CallClass::Isendrecv || c == CallClass::RecvInit) {
        if (!trace::isWildcard(made.peer, made.tag)) {
            if (status.cancelled) {
                missMessages(rank, made.comm, made.peer, made.tag, false, -1);
            }
        } else if (!status.cancelled) {
            missMessages(rank, made.comm, made.peer == kAnySource ? status.source : made.peer,
                         made.tag == kAnyTag ? status.tag : made.tag, false, 1);
        }
    }
}

void Recorder::startEarly(std::int32_t rank, std::uint32_t call, trace::RequestRef ref) {
    EarlyRequest* early = earlyRequest(rank, ref);
    if (early == nullptr) {
        return;
    }
    Request& request = early->request;
    if (request.kind == RequestKind::SendInit) {
        request.target = m_matcher.send(rank, call, request.details);
    } else if (request.kind == RequestKind::RecvInit) {
        request.target = m_matcher.post(rank, call, request.details);
    } else if (request.kind == RequestKind::CollInit) {
        request.target = m_collectives.start(rank, call, m_data.rank(rank).details[request.details]);
    }
}

void Recorder::start(std::int32_t rank, std::uint32_t call, const EventDetails& details) {
    for (const trace::RequestRef ref : details.requests) {
        Request* r = request(rank, ref);
        if (r == nullptr) {
            startEarly(rank, call, ref);
            continue;
        }
        if (r->kind == RequestKind::SendInit) {
            r->target = m_matcher.send(rank, call, r->details);
        } else if (r->kind == RequestKind::RecvInit) {
            r->target = m_matcher.post(rank, call, r->details);
        } else if (r->kind == RequestKind::CollInit) {
            r->target = m_collectives.start(rank, call, m_data.rank(rank).details[r->details]);
        }
    }
}

bool Recorder::endEarly(std::int32_t rank, std::uint32_t detailsId) {
    RankData& data = m_data.rank(rank);
    EarlyHistory& early = *data.early;
    const EventDetails& d = data.details[detailsId];
    const auto open = std::find_if(early.calls.begin(), early.calls.end(),
                                   [&d](const trace::StartCall& call) { return call.thread == d.thread; });
    if (open == early.calls.end()) {
        return false;
    }
    const trace::StartCall call = *open;
    early.calls.erase(open);
    complete(rank, kNone, d);
    if (d.newComm != kNoComm) {
        early.comms = std::max(early.comms, d.newComm.value() + 1);
    }
    const auto function = static_cast<FunctionId>(call.function);
    CallClass c = trace::functionClass(function);
    if (trace::isPoll(c) && trace::isPoll(trace::functionClass(d.function))) {
        c = trace::functionClass(d.function);
    }
    const bool wildcard = trace::isWildcard(call.recvPeer, call.recvTag);
    if (trace::isRefusal(d.error) && !isGroupConstructor(function)) {
        missMessages(rank, call.comm, call.sendPeer, call.sendTag, true, call.sendPeer >= 0 ? -1 : 0);
        missMessages(rank, call.comm, call.recvPeer, call.recvTag, false, call.recvPeer >= 0 && !wildcard ? -1 : 0);
        if (call.sendPeer < 0 && call.recvPeer < 0 && !trace::completesRequests(c)) {
            m_collectives.addMissing(rank, CommIndex{call.comm}, -1);
        }
    } else if ((c == CallClass::Recv || c == CallClass::Sendrecv) && wildcard) {
        missMessages(rank, call.comm, call.recvPeer == kAnySource ? d.status.source : call.recvPeer,
                     call.recvTag == kAnyTag ? d.status.tag : call.recvTag, false, 1);
    } else if ((c == CallClass::Mprobe || c == CallClass::Improbe || c == CallClass::Probe || c == CallClass::Iprobe) &&
               d.flag && d.error == trace::ErrorClass::Success) {
        const std::int32_t from = d.status.source != kNoPeer ? d.status.source : call.recvPeer;
        const std::int32_t tag = d.status.tag != kNoTag ? d.status.tag : call.recvTag;
        const std::uint32_t comm = d.comm != kNoComm ? d.comm.value() : call.comm;
        if (c == CallClass::Probe || c == CallClass::Iprobe) {
            noteSeen(rank, comm, from, tag);
        } else {
            early.messages += from >= 0 ? 1 : 0;
            missMessages(rank, comm, from, tag, false, 1);
        }
    }
    return true;
}

} // namespace stopline::replay
