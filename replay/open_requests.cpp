#include "open_requests.h"

#include <map>

namespace stopline::replay {

std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank) {
    struct Request {
        OpenRequest shown;
        bool on = true;
    };
    std::map<std::uint64_t, Request> requests; // by serial
    std::uint64_t created = 0;
    const auto find = [&requests, &created](trace::RequestRef ref) {
        return ref.back == trace::RequestRef::kNull || ref.back == trace::RequestRef::kUnknown ||
                       ref.back > created
                   ? requests.end()
                   : requests.find(created - ref.back);
    };
    for (std::uint64_t number = timeline.firstEvent(rank).value(); number <= timeline.lastEvent(rank).value(); ++number) {
        const EventIndex event{number};
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, event));
        const trace::CallClass what = trace::functionClass(details.function);
        if (details.kind == trace::EventKind::Begin) {
            if (trace::createsRequest(what)) {
                const bool persistent =
                    what == trace::CallClass::SendInit || what == trace::CallClass::RecvInit ||
                    what == trace::CallClass::CollectiveInit || what == trace::CallClass::NeighborInit;
                requests[++created] = {{*timeline.callAt(rank, event), persistent}, !persistent};
            }
            for (const trace::RequestRef ref : details.requests) {
                const auto one = find(ref);
                if (one == requests.end()) {
                    continue;
                }
                if (what == trace::CallClass::Start) {
                    one->second.on = true;
                } else if (what == trace::CallClass::RequestFree) {
                    requests.erase(one);
                }
            }
            continue;
        }
        if (details.function == trace::FunctionId::Request_get_status) {
            continue; // a Wait or Test is still to come
        }
        for (const trace::Completion& completion : details.completions) {
            const auto one = find(completion.request);
            if (one == requests.end()) {
                continue;
            }
            if (one->second.shown.persistent) {
                one->second.on = false;
            } else {
                requests.erase(one);
            }
        }
    }
    std::vector<OpenRequest> open;
    for (const auto& [serial, request] : requests) {
        if (request.on) {
            open.push_back(request.shown);
        }
    }
    return open;
}

} // namespace stopline::replay
