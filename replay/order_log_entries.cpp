#include "order_log_entries.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

using trace::OrderKind;
using trace::PollOutcome;

void keepRacing(EntriesByCall& entries, StartedSources& started, const FoundRaces& racing) {
    for (auto at = entries.begin(); at != entries.end();) {
        OrderEntry& entry = at->second;
        if (racing.has(EventIndex(at->first), 0)) {
            ++at;
            continue;
        }
        if (entry.kind == OrderKind::Poll && entry.numbers[1] == std::uint64_t(PollOutcome::Source)) {
            entry.numbers = {entry.numbers[0], std::uint64_t(PollOutcome::All)};
        }
        at = entry.kind == OrderKind::Source ? entries.erase(at) : std::next(at);
    }
    for (auto& [event, positions] : started) {
        std::erase_if(positions, [&racing, event = event](const std::pair<const std::size_t, std::uint64_t>& one) {
            return one.second != 0 && !racing.has(EventIndex(event), std::uint32_t(one.first));
        });
    }
    std::erase_if(started, [](const auto& one) { return one.second.empty(); });
}

void put(std::vector<std::byte>& bytes, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        bytes.push_back(std::byte((number & 0x7f) | 0x80));
    }
    bytes.push_back(std::byte(number));
}

std::vector<std::byte> bytesOf(const EntriesByCall& entries) {
    std::vector<std::pair<std::uint64_t, const OrderEntry*>> sorted;
    sorted.reserve(entries.size());
    for (const auto& [event, entry] : entries) {
        sorted.emplace_back(event, &entry);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::byte> bytes;
    std::uint64_t before = 0;
    for (const auto& [event, entry] : sorted) {
        put(bytes, event - before);
        before = event;
        bytes.push_back(std::byte(entry->kind));
        for (const std::uint64_t number : entry->numbers) {
            put(bytes, number);
        }
    }
    return bytes;
}

} // namespace stopline::replay
