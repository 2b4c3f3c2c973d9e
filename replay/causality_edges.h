// The edges of a call, for whoever walks them. Inside of the timeline.
#pragma once

#include "causality.h"

#include <algorithm>

namespace stopline::replay {

/// Positions in Collective::members.
struct Range {
    std::uint32_t from = 0;
    std::uint32_t to = 0; ///< not included
};

/// Members whose starts the end of the member at `position` waits for.
[[nodiscard]] Range waitsFor(Pattern pattern, const CollRules& rules, std::size_t members,
                             std::uint32_t position);
/// Members whose ends wait for the start of the member at `position`.
[[nodiscard]] Range awaitedBy(Pattern pattern, const CollRules& rules, std::size_t members,
                              std::uint32_t position);

/// What the end of a call needs: `start(rank, call)` for each start, `part(id)` for each part in a collective
/// that is complete with it.
template <typename Start, typename Part>
void eachNeed(const TimelineData& data, std::int32_t rank, std::uint32_t call, Start&& start, Part&& part) {
    data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send:
        case Role::SendDone: {
            const SendHalf& send = data.sends[id];
            if (send.waitsForReceiver && send.done == call) {
                const RecvHalf* recv = recvOf(data, send);
                if (recv != nullptr && recv->start != kNone) {
                    start(recv->rank, recv->start);
                }
            }
            break;
        }
        case Role::Post:
        case Role::Start:
        case Role::Done: {
            const RecvHalf& recv = data.recvs[id];
            if (recv.done == call || (role == Role::Post && recv.start != recv.post)) {
                if (const SendHalf* send = sendOf(data, recv)) {
                    start(send->rank, send->call);
                }
            }
            break;
        }
        case Role::Probe: {
            const ProbeHalf& probe = data.probes[id];
            const Channel& channel = data.channels[probe.channel];
            if (const std::int64_t at = channel.sendAt(probe.position); channel.hasSend(at)) {
                const SendHalf& send = data.sends[channel.sends[static_cast<std::size_t>(at)]];
                start(send.rank, send.call);
            }
            break;
        }
        case Role::Coll:
        case Role::CollDone: {
            const CollPart& where = data.parts[id];
            if (data.collRules[where.collective].finished[where.position] == call) {
                part(id);
            }
            break;
        }
        case Role::SyncTo: {
            const SyncEdge& edge = data.syncEdges[id];
            if (edge.to == call && edge.from != kNone) {
                start(edge.fromRank, edge.from);
            }
            break;
        }
        case Role::Rma:
        case Role::SyncFrom:
            break;
        }
    });
}

/// What needs the start of a call: `end(rank, call)` for each end (kNone when it is not known), `part(id)`
/// for each collective that it starts.
template <typename End, typename Part>
void eachNeededBy(const TimelineData& data, std::int32_t rank, std::uint32_t call, End&& end, Part&& part) {
    data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send: {
            const SendHalf& send = data.sends[id];
            if (const RecvHalf* recv = recvOf(data, send)) {
                end(recv->rank, recv->done);
                if (recv->start != recv->post) {
                    end(recv->rank, recv->post);
                }
            }
            const Channel& channel = data.channels[send.channel];
            if (!channel.probes.empty() && !send.cancelled) {
                const std::int64_t position = channel.receiveAt(static_cast<std::size_t>(
                    std::lower_bound(channel.sends.begin(), channel.sends.end(), id) - channel.sends.begin()));
                auto probe = std::lower_bound(
                    channel.probes.begin(), channel.probes.end(), position,
                    [&](std::uint32_t p, std::int64_t value) { return data.probes[p].position < value; });
                for (; probe != channel.probes.end() && data.probes[*probe].position == position; ++probe) {
                    end(data.probes[*probe].rank, data.probes[*probe].call);
                }
            }
            break;
        }
        case Role::Post:
        case Role::Start: {
            const RecvHalf& recv = data.recvs[id];
            const SendHalf* send = recv.start == call ? sendOf(data, recv) : nullptr;
            if (send != nullptr && send->waitsForReceiver) {
                end(send->rank, send->done);
            }
            break;
        }
        case Role::Coll:
            part(id);
            break;
        case Role::SyncFrom: {
            const SyncEdge& edge = data.syncEdges[id];
            if (edge.from == call) {
                end(edge.toRank, edge.to);
            }
            break;
        }
        case Role::SendDone:
        case Role::Done:
        case Role::Probe:
        case Role::CollDone:
        case Role::Rma:
        case Role::SyncTo:
            break;
        }
    });
}

} // namespace stopline::replay
