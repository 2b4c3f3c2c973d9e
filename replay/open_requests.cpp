#include "open_requests.h"

namespace stopline::replay {

std::map<std::uint64_t, RequestTracker::Request>::iterator RequestTracker::find(trace::RequestRef ref) {
    return ref.back == trace::RequestRef::kNull || ref.back == trace::RequestRef::kUnknown ||
                   ref.back > m_created
               ? m_requests.end()
               : m_requests.find(m_created - ref.back);
}

void RequestTracker::add(EventIndex event, const trace::EventDetails& details) {
    const trace::CallClass what = trace::functionClass(details.function);
    if (details.kind == trace::EventKind::Begin) {
        if (trace::createsRequest(what)) {
            const bool persistent =
                what == trace::CallClass::SendInit || what == trace::CallClass::RecvInit ||
                what == trace::CallClass::CollectiveInit || what == trace::CallClass::NeighborInit;
            m_requests[++m_created] = {{event, details, persistent}, !persistent};
        }
        for (const trace::RequestRef ref : details.requests) {
            const auto one = find(ref);
            if (one == m_requests.end()) {
                continue;
            }
            if (what == trace::CallClass::Start) {
                one->second.on = true;
            } else if (what == trace::CallClass::RequestFree) {
                m_requests.erase(one);
            }
        }
        return;
    }
    if (details.function == trace::FunctionId::Request_get_status) {
        return; // a Wait or Test is still to come
    }
    for (const trace::Completion& completion : details.completions) {
        const auto one = find(completion.request);
        if (one == m_requests.end()) {
            continue;
        }
        if (one->second.made.persistent) {
            one->second.on = false;
        } else {
            m_requests.erase(one);
        }
    }
}

std::vector<RequestTracker::Open> RequestTracker::open() const {
    std::vector<Open> open;
    for (const auto& [serial, request] : m_requests) {
        if (request.on) {
            open.push_back(request.made);
        }
    }
    return open;
}

std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank) {
    RequestTracker tracker;
    for (EventIndex event = timeline.firstEvent(rank); event <= timeline.lastEvent(rank);
         event = EventIndex(event.value() + 1)) {
        tracker.add(event, timeline.details(rank, timeline.eventDetails(rank, event)));
    }
    std::vector<OpenRequest> open;
    for (const RequestTracker::Open& one : tracker.open()) {
        open.push_back({*timeline.callAt(rank, one.madeBy), one.persistent});
    }
    return open;
}

} // namespace stopline::replay
