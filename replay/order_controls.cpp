#include "order_controls.h"

#include "causality.h"
#include "data_order.h"
#include "order_log_entries.h"

#include "../tracelib/order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stopline::replay {

std::vector<ControlMessage> controlMessages(const Timeline& timeline, const TimelineData& data, const DataOrder& order,
                                            const std::vector<bool>& marked, const std::atomic<bool>* cancelled) {
    const auto timeOf = [&](std::int32_t rank, std::uint64_t event) { return timeline.axisTime(RankId{rank}, EventIndex{event}); };
    std::vector<std::vector<std::uint64_t>> received(std::size_t(data.rankCount())); // ends, in their order
    std::vector<std::vector<std::uint32_t>> sent(std::size_t(data.rankCount()));
    for (std::uint32_t id = 0; id < marked.size(); ++id) {
        if (marked[id]) {
            sent[std::size_t(data.sends[id].rank)].push_back(id);
        }
    }
    for (const RecvHalf& recv : data.recvs) {
        // A done call always has its end: it is seen there.
        if (recv.done != kNone && !recv.cancelled && fromAnySource(data, recv)) {
            received[std::size_t(recv.rank)].push_back(data.rank(recv.rank).events.endOf(recv.done));
        }
    }
    for (auto& ends : received) {
        std::sort(ends.begin(), ends.end());
    }
    std::vector<ControlMessage> result;
    for (auto& ids : sent) {
        if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
            break;
        }
        std::sort(ids.begin(), ids.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return data.sends[a].call < data.sends[b].call; });
        std::map<std::int32_t, std::uint64_t> waited; // ends that have been waited for, by receiver
        for (const std::uint32_t id : ids) {
            const SendHalf& send = data.sends[id];
            const std::int32_t receiver = recvOf(data, send)->rank;
            if (receiver == send.rank) {
                continue;
            }
            const std::uint64_t begin = data.rank(send.rank).events.beginOf(send.call);
            const TimeNs time = timeOf(send.rank, begin);
            const auto& ends = received[std::size_t(receiver)];
            const auto behind = std::partition_point(ends.begin(), ends.end(),
                                                     [&](std::uint64_t end) { return timeOf(receiver, end) < time; });
            std::uint64_t& last = waited[receiver];
            if (behind == ends.begin() || *std::prev(behind) <= last) {
                continue;
            }
            last = *std::prev(behind);
            if (order.known(id) < tickOfEnd(last)) { // else it is so without a word
                result.push_back({receiver, last, send.rank, begin, data.jobOf(receiver)->first});
            }
        }
    }
    return result;
}

std::vector<std::byte> controlLog(const std::vector<ControlMessage>& messages, RankId rank) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries; // event, and what
    for (const ControlMessage& message : messages) {
        if (message.from == rank.value()) {
            entries.emplace_back(message.after, std::uint64_t(message.to - message.world) * 2);
        }
        if (message.to == rank.value()) {
            entries.emplace_back(message.before, std::uint64_t(message.from - message.world) * 2 + 1);
        }
    }
    std::sort(entries.begin(), entries.end());
    std::vector<std::byte> bytes;
    std::uint64_t before = 0;
    for (const auto& [event, what] : entries) {
        put(bytes, event - before);
        put(bytes, what);
        before = event;
    }
    return bytes;
}

std::vector<std::byte> withControls(const std::vector<std::byte>& log, const std::vector<ControlMessage>& messages, RankId rank) {
    if (messages.empty()) {
        return log;
    }
    const std::vector<std::byte> controls = controlLog(messages, rank);
    std::vector<std::byte> bytes;
    put(bytes, 0); // before all events
    bytes.push_back(std::byte(trace::OrderKind::Controls));
    put(bytes, controls.size());
    bytes.insert(bytes.end(), controls.begin(), controls.end());
    bytes.insert(bytes.end(), log.begin(), log.end());
    return bytes;
}

void leaveOutBeyond(std::vector<ControlMessage>& messages, const std::vector<std::uint64_t>& places) {
    std::erase_if(messages, [&](const ControlMessage& message) {
        return message.after > places[std::size_t(message.from)] && message.before <= places[std::size_t(message.to)];
    });
}

} // namespace stopline::replay
