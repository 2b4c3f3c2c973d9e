#include "trace.h"

#include <algorithm>

namespace stopline::replay::test {

Timeline load(const Trace& trace, const std::function<std::size_t(std::size_t)>& next,
              const std::function<void(const Timeline&)>& look) {
    const auto count = static_cast<std::int32_t>(trace.ranks.size());
    Timeline timeline(count, trace.rules);
    std::vector<std::vector<std::pair<trace::EventDetails, DetailsId>>> interned(trace.ranks.size());
    std::vector<std::size_t> position(trace.ranks.size(), 0);
    std::vector<std::size_t> live;
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        for (const trace::CommInfo& info : trace.ranks[rank].comms) {
            timeline.addComm(RankId{static_cast<std::int32_t>(rank)}, info);
        }
        if (!trace.ranks[rank].events.empty()) {
            live.push_back(rank);
        }
    }
    while (!live.empty()) {
        const std::size_t pick = next(live.size());
        const std::size_t rank = live[pick];
        const RankId id{static_cast<std::int32_t>(rank)};
        const TraceEvent& event = trace.ranks[rank].events[position[rank]++];
        auto& table = interned[rank];
        auto known =
            std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.first == event.details; });
        if (known == table.end()) {
            table.emplace_back(event.details, timeline.addDetails(id, event.details));
            known = table.end() - 1;
        }
        timeline.addEvent(id, known->second, event.time, event.pollFailures);
        if (look) {
            look(timeline);
        }
        if (position[rank] == trace.ranks[rank].events.size()) {
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(pick));
        }
    }
    return timeline;
}

Timeline load(const Trace& trace) {
    return load(trace, [](std::size_t) { return std::size_t{0}; });
}

trace::CommInfo worldComm(std::int32_t ranks) {
    trace::CommInfo info;
    info.id = 1;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        info.members.push_back(rank);
    }
    return info;
}

trace::CommInfo selfComm(std::int32_t rank) {
    trace::CommInfo info;
    info.id = 1000 + static_cast<std::uint64_t>(rank);
    info.kind = trace::CommKind::Self;
    info.members = {rank};
    return info;
}

} // namespace stopline::replay::test
