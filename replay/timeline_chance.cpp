// Calls whose outcome is chance where no message races.
#include "timeline_impl.h"

#include <algorithm>
#include <map>

namespace stopline::replay {

namespace {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

bool mayEndOtherwise(const EventDetails& begin) {
    const auto active =
        std::count_if(begin.requests.begin(), begin.requests.end(),
                      [](trace::RequestRef ref) { return ref.back != trace::RequestRef::kNull; });
    switch (trace::functionClass(begin.function)) {
    case CallClass::Wait: // for one request, or for all of them, there is no choice
        return active > 1 &&
               (begin.function == FunctionId::Waitany || begin.function == FunctionId::Waitsome);
    case CallClass::Test:
    case CallClass::Cancel:
        return active > 0;
    case CallClass::Iprobe:
    case CallClass::Improbe:
        return begin.recvPeer != kProcNull;
    case CallClass::WinTest:
        return true;
    default:
        return false;
    }
}

} // namespace

Timeline::ChanceCalls Timeline::chanceCalls(std::optional<RankId> rank) const {
    ChanceCalls all;
    std::map<FunctionId, std::uint64_t> counts;
    const TimelineData& data = m_impl->data;
    for (std::int32_t one = 0; one < data.rankCount(); ++one) {
        const RankData& of = data.rank(one);
        for (std::size_t id = 0; id < of.cache.size(); ++id) {
            all.severalThreads = all.severalThreads || (of.cache[id].ended != 0 && of.cache[id].thread != 0);
            if ((!rank || rank->value() == one) && of.cache[id].ended != 0 &&
                mayEndOtherwise(of.details[id])) {
                counts[of.details[id].function] += of.cache[id].ended;
            }
        }
    }
    for (const auto& [function, calls] : counts) {
        all.uses.push_back({function, calls});
    }
    return all;
}

} // namespace stopline::replay
