#include "found_races.h"

#include <algorithm>

namespace stopline::replay {

bool FoundRaces::has(EventIndex event, std::uint32_t position) const {
    const Place place(event, position);
    return std::binary_search(raced.begin(), raced.end(), place) || std::binary_search(guarded.begin(), guarded.end(), place);
}

FoundRaces foundRacesOf(std::span<const std::byte> values) {
    constexpr std::uint64_t kPositions = (std::uint64_t{1} << trace::kRacedPositionBits) - 1;
    FoundRaces found;
    trace::ValueReader reader(values.data(), values.size());
    for (; reader.kind() != trace::ValueKind::None; reader.next()) {
        const auto value = static_cast<std::uint64_t>(reader.value());
        if (reader.kind() == trace::ValueKind::Raced || reader.kind() == trace::ValueKind::Guarded) {
            auto& places = reader.kind() == trace::ValueKind::Raced ? found.raced : found.guarded;
            places.emplace_back(EventIndex(value >> trace::kRacedPositionBits),
                                static_cast<std::uint32_t>(value & kPositions));
        } else if (reader.kind() == trace::ValueKind::RacesEnd) {
            found.looked = true;
            found.limit = static_cast<trace::RaceLimit>(value & 0xfU);
            found.complete = found.limit == trace::RaceLimit::None;
            found.traced = value >> 4U;
        }
    }
    std::sort(found.raced.begin(), found.raced.end());
    std::sort(found.guarded.begin(), found.guarded.end());
    return found;
}

bool areComplete(std::span<const FoundRaces> ranks) {
    return !ranks.empty() &&
           std::all_of(ranks.begin(), ranks.end(), [](const FoundRaces& one) { return one.complete; });
}

std::string_view limitText(trace::RaceLimit limit) {
    switch (limit) {
    case trace::RaceLimit::None:
        break;
    case trace::RaceLimit::Hosts:
        return "its ranks are on several hosts, or in different containers";
    case trace::RaceLimit::Ranks:
        return "it has more than 64 ranks";
    case trace::RaceLimit::Threads:
        return "several threads of a rank called MPI";
    case trace::RaceLimit::OneSided:
        return "it uses one-sided communication";
    case trace::RaceLimit::Processes:
        return "it exchanges messages with another job";
    case trace::RaceLimit::Failed:
        return "a call failed";
    case trace::RaceLimit::Cancelled:
        return "a send was cancelled";
    case trace::RaceLimit::Functions:
        return "it uses partitioned messages, persistent collectives or Isendrecv";
    case trace::RaceLimit::Waiting:
        return "too many messages of one rank waited to be received by another";
    case trace::RaceLimit::Collectives:
        return "ranks were too far apart in collectives";
    case trace::RaceLimit::Untold:
        return "which message a receive got could not be told";
    case trace::RaceLimit::Memory:
        return "there was no memory, or no room for what was found";
    case trace::RaceLimit::Unfinished:
        return "a rank did not come to its end";
    }
    return "the reason is not known";
}

} // namespace stopline::replay
