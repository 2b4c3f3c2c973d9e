#include "timeline_data.h"

#include <algorithm>

namespace stopline::replay {

std::size_t TimelineData::bytes() const {
    std::size_t sum = links.bytes() + sends.bytes() + recvs.bytes() + probes.bytes() + messages.bytes() +
                      halves.bytes() + openMessages.bytes() + collectives.bytes() + collRules.bytes() +
                      parts.bytes() + transfers.bytes() + syncEdges.bytes() + digest.bytes() + prototypes.size() * sizeof(Message) +
                      channels.size() * sizeof(Channel);
    for (const RankData& rank : ranks) {
        sum += rank.events.bytes() + rank.requests.bytes() + rank.links.bytes() +
               rank.locks.size() * sizeof(LockSpan) +
               rank.cache.size() * (sizeof(DetailsCache) + sizeof(trace::EventDetails));
        for (const trace::EventDetails& d : rank.details) {
            sum += d.requests.size() * sizeof(trace::RequestRef) +
                   d.completions.size() * sizeof(trace::Completion) + d.peers.size() * sizeof(std::int32_t);
        }
    }
    for (const Channel& channel : channels) {
        sum += channel.sends.bytes() + channel.recvs.bytes() + channel.probes.bytes();
    }
    for (const auto& chunk : calls) {
        sum += chunk.size() * sizeof(std::uint32_t);
    }
    for (const CommEntry& entry : commEntries) {
        sum += entry.members.size() * sizeof(RankId) + entry.collectives.bytes();
    }
    return sum;
}

std::uint32_t TimelineData::openMessageOf(std::int32_t rankId, std::uint32_t call) const {
    std::uint32_t sent = kNone;
    std::uint32_t received = kNone;
    eachLink(rankId, call, [&](Role role, std::uint32_t id) {
        if (role == Role::Send && sends[id].done == kNone) {
            sent = sends[id].message;
        } else if (role == Role::Post && recvs[id].done == kNone) {
            received = recvs[id].message;
        }
    });
    return received != kNone ? received : sent;
}

void TimelineData::addJob(const JobRanks& job) {
    const auto world = static_cast<std::uint32_t>(commEntries.size());
    for (int i = 0; i < 2; ++i) { // MPI_Init and MPI_Finalize
        CommEntry& entry = commEntries.emplace_back();
        for (std::int32_t rank = 0; rank < job.size; ++rank) {
            entry.members.emplace_back(rankCount() + rank);
        }
        entry.localCount = job.size;
    }
    jobs.push_back(job);
    jobs.back().first = rankCount();
    for (std::int32_t rank = 0; rank < job.size; ++rank) {
        RankData& data = ranks.emplace_back();
        data.world = world;
        data.worldRank = rank;
    }
    touchAll();
}

} // namespace stopline::replay
