#include "open_requests.h"

#include <map>

namespace stopline::replay {

std::vector<OpenRequest> openRequests(const Timeline& timeline, RankId rank) {
    std::map<std::uint64_t, OpenRequest> open; // by serial
    std::uint64_t created = 0;
    const auto find = [&open, &created](trace::RequestRef ref) {
        return ref.back == trace::RequestRef::kNull || ref.back == trace::RequestRef::kUnknown ||
                       ref.back > created
                   ? open.end()
                   : open.find(created - ref.back);
    };
    for (std::uint64_t number = 1; number <= timeline.lastEvent(rank).value(); ++number) {
        const EventIndex event{number};
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, event));
        const trace::CallClass what = trace::functionClass(details.function);
        if (details.kind == trace::EventKind::Begin) {
            if (trace::createsRequest(what)) {
                const bool persistent =
                    what == trace::CallClass::SendInit || what == trace::CallClass::RecvInit;
                open[++created] = {*timeline.callAt(rank, event), persistent, false};
            }
            for (const trace::RequestRef ref : details.requests) {
                const auto one = find(ref);
                if (one == open.end()) {
                    continue;
                }
                if (what == trace::CallClass::Start) {
                    one->second.active = true;
                } else if (what == trace::CallClass::RequestFree) {
                    open.erase(one);
                }
            }
            continue;
        }
        if (details.function == trace::FunctionId::Request_get_status) {
            continue; // a Wait or Test is still to come
        }
        for (const trace::Completion& completion : details.completions) {
            const auto one = find(completion.request);
            if (one == open.end()) {
                continue;
            }
            if (one->second.persistent) {
                one->second.active = false;
            } else {
                open.erase(one);
            }
        }
    }
    std::vector<OpenRequest> all;
    for (const auto& [serial, request] : open) {
        all.push_back(request);
    }
    return all;
}

} // namespace stopline::replay
