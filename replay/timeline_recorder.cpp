#include "timeline_recorder.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace stopline::replay {

namespace {

bool isMatchedProbe(const RecvHalf& half) {
    return half.start != half.post;
}

/// False when all that the end of such a call can tell is which requests it completed.
bool endMatters(trace::CallClass callClass) {
    switch (callClass) {
    case trace::CallClass::Isend:
    case trace::CallClass::Irecv:
    case trace::CallClass::Isendrecv:
    case trace::CallClass::SendInit:
    case trace::CallClass::RecvInit:
    case trace::CallClass::CollectiveInit:
    case trace::CallClass::NeighborInit:
    case trace::CallClass::Start:
    case trace::CallClass::Wait:
        return false;
    default:
        return true;
    }
}

} // namespace

using trace::CallClass;
using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;

DetailsId Recorder::addDetails(std::int32_t rank, EventDetails details) {
    RankData& data = m_data.rank(rank);
    DetailsCache cache;
    cache.callClass = trace::functionClass(details.function);
    cache.begin = details.kind == EventKind::Begin;
    cache.completes = !details.completions.empty();
    cache.failed = details.error != trace::ErrorClass::Success;
    cache.thread = details.thread;
    data.cache.push_back(cache);
    data.details.push_back(std::move(details));
    return DetailsId{static_cast<std::uint32_t>(data.details.size() - 1)};
}

CommIndex Recorder::addComm(std::int32_t rank, trace::CommInfo info) {
    RankData& data = m_data.rank(rank);
    data.views.push_back(m_collectives.view(rank, info));
    data.comms.push_back(std::move(info));
    return CommIndex{static_cast<std::uint32_t>(data.comms.size() - 1)};
}

void Recorder::addEvent(std::int32_t rank, DetailsId details, TimeNs time, std::uint64_t pollFailures) {
    RankData& data = m_data.rank(rank);
    if (details.value() >= data.details.size()) {
        // Event numbers must stay right: record it as an end that belongs to no call.
        EventDetails unknown;
        unknown.kind = EventKind::End;
        unknown.thread = 0xffff;
        details = addDetails(rank, std::move(unknown));
    }
    const DetailsCache& cache = data.cache[details.value()];
    const bool mayEndEarly = data.early != nullptr && !data.early->calls.empty();
    if (mayEndEarly && data.events.empty() && !cache.begin && endEarly(rank, details.value())) {
        data.events.startBehind(data.events.missing() + 1); // the history starts with the begin of a call
        data.floor = std::max(data.floor, data.events.firstEvent() * 2);
        return;
    }
    const RankEvents::Added added = data.events.add(cache.begin, cache.thread, details, time, pollFailures);
    if (added.call == kNone) {
        if (mayEndEarly) {
            (void)endEarly(rank, details.value());
        }
        return;
    }
    if (added.begin) {
        data.links.push_back(kNone);
        begin(rank, added.call, details.value());
        return;
    }
    DetailsCache& begun = data.cache[data.events.detailsOf(data.events.beginOf(added.call))];
    ++begun.ended;
    if (cache.completes || cache.failed || endMatters(begun.callClass)) {
        end(rank, added.call, begun.callClass, details.value());
    }
}

void Recorder::addEvents(std::int32_t rank, std::span<const NewEvent> events) {
    for (const NewEvent& event : events) {
        addEvent(rank, event.details, event.execution, event.pollFailures);
    }
}

Request* Recorder::request(std::int32_t rank, trace::RequestRef ref) {
    auto& requests = m_data.rank(rank).requests;
    return ref.back < requests.size() ? &requests[requests.size() - 1 - ref.back] : nullptr;
}

void Recorder::begin(std::int32_t rank, std::uint32_t call, std::uint32_t details) {
    RankData& data = m_data.rank(rank);
    Request created;
    created.details = details & 0x0fffffffU;
    switch (data.cache[details].callClass) {
    case CallClass::Send:
        m_matcher.send(rank, call, details);
        break;
    case CallClass::Recv:
        m_matcher.post(rank, call, details);
        break;
    case CallClass::Sendrecv:
        m_matcher.send(rank, call, details);
        m_matcher.post(rank, call, details);
        break;
    case CallClass::Isend:
        created.kind = RequestKind::Send;
        created.target = m_matcher.send(rank, call, details);
        data.requests.push_back(created);
        break;
    case CallClass::Irecv:
        created.kind = RequestKind::Recv;
        created.target = m_matcher.post(rank, call, details);
        data.requests.push_back(created);
        break;
    case CallClass::Isendrecv:
        created.kind = RequestKind::Both;
        created.target = call;
        m_matcher.send(rank, call, details);
        m_matcher.post(rank, call, details);
        data.requests.push_back(created);
        break;
    case CallClass::CollectiveInit:
    case CallClass::NeighborInit:
        created.kind = RequestKind::CollInit;
        data.requests.push_back(created);
        break;
    case CallClass::SendInit:
        created.kind = RequestKind::SendInit;
        data.requests.push_back(created);
        break;
    case CallClass::RecvInit:
        created.kind = RequestKind::RecvInit;
        data.requests.push_back(created);
        break;
    case CallClass::Imrecv: {
        const auto index = static_cast<std::uint32_t>(data.requests.size());
        created.kind = RequestKind::Recv;
        created.target = m_matcher.startMatched(rank, call, data.details[details].comm,
                                                data.details[details].message, index);
        data.requests.push_back(created);
        break;
    }
    case CallClass::Mrecv:
        m_matcher.startMatched(rank, call, data.details[details].comm, data.details[details].message, kNone);
        break;
    case CallClass::Start:
        start(rank, call, data.details[details]);
        break;
    case CallClass::Icollective:
    case CallClass::Ineighbor:
    case CallClass::FileIcollective:
    case CallClass::CommIdup:
        created.kind = RequestKind::Coll;
        created.target = m_collectives.start(rank, call, data.details[details]);
        data.requests.push_back(created);
        break;
    case CallClass::CommCreate:
        if (isGroupConstructor(data.details[details].function)) {
            m_collectives.startGroup(rank, call);
        } else {
            m_collectives.start(rank, call, data.details[details]);
        }
        break;
    case CallClass::Collective:
    case CallClass::Neighbor:
    case CallClass::CommFree:
    case CallClass::CommSpawn:
    case CallClass::WinCreate:
    case CallClass::WinFree:
    case CallClass::WinCollective:
    case CallClass::FileOpen:
    case CallClass::FileClose:
    case CallClass::FileCollective:
        m_collectives.start(rank, call, data.details[details]);
        break;
    case CallClass::FileBegin:
        data.splitParts.emplace_back(data.details[details].comm,
                                     m_collectives.start(rank, call, data.details[details]));
        break;
    case CallClass::Rma:
        m_oneSided.move(rank, call, data.details[details]);
        break;
    case CallClass::RmaRequest:
        created.kind = RequestKind::Transfer;
        created.target = m_oneSided.move(rank, call, data.details[details]);
        data.requests.push_back(created);
        break;
    case CallClass::WinSync:
        m_oneSided.begin(rank, call, data.details[details]);
        break;
    case CallClass::FileRequest:
    case CallClass::Grequest:
        data.requests.push_back(created); // counted, matched with nothing
        break;
    case CallClass::Finalize:
        data.finalizeCall = call;
        m_collectives.startWorld(rank, call, FunctionId::Finalize);
        break;
    case CallClass::Init:
        m_collectives.startWorld(rank, call, data.details[details].function);
        break;
    case CallClass::Abort:
    case CallClass::Wait:
    case CallClass::Test:
    case CallClass::Probe:
    case CallClass::Iprobe:
    case CallClass::Mprobe:
    case CallClass::Improbe:
    case CallClass::RequestFree:
    case CallClass::Cancel:
    case CallClass::CommJoin:
    case CallClass::WinTest:
    case CallClass::FileEnd:
    case CallClass::FileCall:
    case CallClass::GrequestComplete:
    case CallClass::Pready:
    case CallClass::SessionEnd:
    case CallClass::Service:
        break;
    }
}

void Recorder::complete(std::int32_t rank, std::uint32_t call, const EventDetails& details) {
    for (const trace::Completion& completion : details.completions) {
        Request* r = request(rank, completion.request);
        if (r == nullptr) {
            if (EarlyRequest* made = earlyRequest(rank, completion.request); made != nullptr && made->request.target != kNone) {
                r = &made->request; // started since
            } else {
                completeEarly(rank, completion.request, completion.status);
            }
        }
        if (r == nullptr || r->target == kNone || call == kNone) {
            continue;
        }
        switch (r->kind) {
        case RequestKind::Send:
        case RequestKind::SendInit:
            m_matcher.sendDone(r->target, call, completion.status.cancelled);
            break;
        case RequestKind::Recv:
            if (isMatchedProbe(m_data.recvs[r->target])) {
                r->target = m_matcher.settleMatched(rank, r->target, completion.status);
            }
            if (r->target != kNone) {
                m_matcher.recvDone(r->target, call, completion.status);
            }
            break;
        case RequestKind::RecvInit:
            m_matcher.recvDone(r->target, call, completion.status);
            break;
        case RequestKind::Both:
            finishBoth(rank, r->target, call, completion.status);
            break;
        case RequestKind::Coll:
        case RequestKind::CollInit:
            m_collectives.finish(rank, r->target, call);
            break;
        case RequestKind::Transfer:
            m_oneSided.moved(r->target, call);
            break;
        case RequestKind::None:
            break;
        }
    }
}

void Recorder::finishBoth(std::int32_t rank, std::uint32_t made, std::uint32_t call, const trace::Status& status) {
    std::uint32_t send = kNone;
    std::uint32_t recv = kNone;
    m_data.eachLink(rank, made, [&](Role role, std::uint32_t id) {
        if (role == Role::Send) {
            send = id;
        } else if (role == Role::Post || (role == Role::Start && m_data.recvs[id].start == made)) {
            recv = id;
        }
    });
    if (send != kNone) {
        m_matcher.sendDone(send, call, false);
    }
    if (recv != kNone && isMatchedProbe(m_data.recvs[recv])) {
        recv = m_matcher.settleMatched(rank, recv, status);
    }
    if (recv != kNone) {
        m_matcher.recvDone(recv, call, status);
    }
}

void Recorder::end(std::int32_t rank, std::uint32_t call, CallClass callClass, std::uint32_t detailsId) {
    const DetailsCache& cache = m_data.rank(rank).cache[detailsId];
    const EventDetails& details = m_data.rank(rank).details[detailsId];
    if (cache.completes) {
        complete(rank, call, details);
    }
    // A merged poll is what its end says; anything else is what its begin says.
    if (trace::isPoll(callClass) && trace::isPoll(cache.callClass)) {
        callClass = cache.callClass;
    }
    if (trace::isRefusal(details.error) && !isGroupConstructor(m_data.beginDetails(rank, call).function)) {
        refuse(rank, call);
        return;
    }
    switch (callClass) {
    case CallClass::Send:
    case CallClass::Recv:
    case CallClass::Sendrecv:
    case CallClass::Mrecv:
        finishBoth(rank, call, call, details.status);
        break;
    case CallClass::Probe:
    case CallClass::Iprobe:
    case CallClass::Mprobe:
    case CallClass::Improbe:
        if (details.flag && details.error == trace::ErrorClass::Success) {
            m_data.rank(rank).messagesTaken +=
                (callClass == CallClass::Mprobe || callClass == CallClass::Improbe) && details.status.source >= 0 ? 1 : 0;
            m_matcher.probed(rank, call, m_data.beginDetails(rank, call), details,
                             callClass == CallClass::Mprobe || callClass == CallClass::Improbe);
        }
        break;
    case CallClass::Collective:
    case CallClass::Neighbor:
    case CallClass::CommCreate:
    case CallClass::CommFree:
    case CallClass::CommSpawn:
    case CallClass::WinCreate:
    case CallClass::WinFree:
    case CallClass::WinCollective:
    case CallClass::FileOpen:
    case CallClass::FileClose:
    case CallClass::FileCollective:
    case CallClass::Init:
    case CallClass::Finalize:
        finishCollective(rank, call, callClass, details);
        break;
    case CallClass::FileEnd: {
        auto& parts = m_data.rank(rank).splitParts;
        const CommIndex file = m_data.beginDetails(rank, call).comm;
        const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& split) { return split.first == file; });
        if (part != parts.end()) {
            if (part->second != kNone) {
                m_collectives.finish(rank, part->second, call);
            }
            parts.erase(part);
        }
        break;
    }
    case CallClass::WinSync:
    case CallClass::WinTest:
        if (details.error == trace::ErrorClass::Success && details.flag) {
            m_oneSided.end(rank, call, m_data.beginDetails(rank, call));
        }
        m_oneSided.ended(rank, call);
        break;
    default:
        break;
    }
}

void Recorder::finishCollective(std::int32_t rank, std::uint32_t call, CallClass callClass,
                                const EventDetails& details) {
    const EventDetails& begin = m_data.beginDetails(rank, call);
    if (callClass == CallClass::CommCreate && isGroupConstructor(begin.function)) {
        m_collectives.created(rank, call, begin.function, details.newComm);
        return;
    }
    std::uint32_t part = kNone;
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) { part = role == Role::Coll ? id : part; });
    if (part == kNone) {
        return;
    }
    m_collectives.finish(rank, part, call);
    if (callClass == CallClass::WinCollective && details.error == trace::ErrorClass::Success) {
        m_oneSided.fenced(rank, call, begin, m_data.parts[part].collective);
    }
}

} // namespace stopline::replay
