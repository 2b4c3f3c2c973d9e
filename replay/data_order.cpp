#include "data_order.h"

#include "../tracelib/function_forms.h"
#include "causality.h"
#include "matcher.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;

bool isSynchronous(const TimelineData& data, const SendHalf& send) {
    if (!send.waitsForReceiver) {
        return false;
    }
    if (isSynchronousSend(data.beginDetails(send.rank, send.call).function)) {
        return true;
    }
    // A started one: of the sends that wait, those below the limit are synchronous; of the others it is not
    // known.
    return send.message != kNone && data.messages[send.message].bytes <= data.rules.eagerLimit;
}

bool mayGrow(const TimelineData& data, std::int32_t rank) {
    return rank >= 0 && rank < data.rankCount() && !data.rank(rank).brokenOff &&
           data.rank(rank).finalizeCall == kNone;
}

Tick decidedAt(const TimelineData& data, const RecvHalf& recv) {
    const RankEvents& events = data.rank(recv.rank).events;
    if (recv.start != recv.post) { // a matched probe took the message
        return tickOfEnd(events.endOf(recv.post));
    }
    if (recv.done == recv.post && events.isRegular()) {
        return tickOfStart(events.beginOf(recv.post)) + 1;
    }
    return isFreed(data, recv) ? kNever : tickOfEnd(events.endOf(recv.done));
}

bool isFreed(const TimelineData& data, const RecvHalf& recv) {
    if (recv.done == kNone || recv.done == recv.post || recv.start != recv.post) {
        return false;
    }
    // Polls that are one call may begin as a probe and end as a Test.
    const RankData& own = data.rank(recv.rank);
    const EventDetails& end = own.details[own.events.detailsOf(own.events.endOf(recv.done))];
    return !trace::completesRequests(trace::functionClass(end.function));
}

namespace {

constexpr std::uint64_t kStretch = 512; ///< events of a rank walked over before another has its turn

template <typename T>
void growTo(GrowingArray<T>& array, std::size_t size, T value) {
    while (array.size() < size) {
        array.push_back(value);
    }
}

} // namespace

bool DataOrder::update(const TimelineData& data, std::uint64_t mostEvents) {
    m_newSends.clear();
    m_newDecisions.clear();
    m_newTold.clear();
    m_width = data.ranks.size();
    m_ranks.resize(m_width);
    m_clocks.resize(m_width * m_width, 0);
    growTo(m_known, data.sends.size(), ~Tick{0});
    growTo(m_sendSlot, data.sends.size(), kNone);
    growTo(m_used, data.recvs.size(), kNone);
    growTo(m_recvSlot, data.recvs.size(), kNone);
    growTo(m_usedByProbe, data.probes.size(), kNone);
    m_rearranged = data.rearranged;
    m_revised = data.revised;
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        state(rank).blockedBy = -1;
        enqueue(rank);
    }
    return walk(data, mostEvents);
}

bool DataOrder::overtaken(const TimelineData& data) const {
    if (data.ranks.size() < m_width) {
        return true;
    }
    for (std::size_t rank = 0; rank < m_width; ++rank) {
        if (data.ranks[rank].events.lastEvent() < m_ranks[rank].passed) {
            return true;
        }
    }
    const auto found = [&](std::uint32_t send) { return recvOf(data, data.sends[send]) != nullptr; };
    if (std::any_of(m_unknownReceivers.begin(), m_unknownReceivers.end(), found)) {
        return true;
    }
    if (m_rearranged == data.rearranged && m_revised == data.revised) {
        return false;
    }
    for (std::uint32_t send = 0; send < m_known.size(); ++send) {
        if (m_known[send] < kOut && data.sends[send].cancelled) {
            return true;
        }
    }
    for (std::uint32_t recv = 0; recv < m_used.size(); ++recv) {
        const RecvHalf& half = data.recvs[recv];
        if (m_used[recv] != kNone &&
            (half.message == kNone || half.cancelled || data.halves[half.message].send != m_used[recv])) {
            return true;
        }
    }
    for (std::uint32_t probe = 0; probe < m_usedByProbe.size(); ++probe) {
        const ProbeHalf& half = data.probes[probe];
        const SmallList& sends = data.channels[half.channel].sends;
        if (m_usedByProbe[probe] != kNone &&
            (half.position >= sends.size() || sends[half.position] != m_usedByProbe[probe])) {
            return true;
        }
    }
    return false;
}

bool DataOrder::waits(const TimelineData& data, const SendHalf& send) const {
    return m_waits && isSynchronous(data, send);
}

std::size_t DataOrder::bytes() const {
    std::size_t tells = m_heard.size() * sizeof(std::size_t);
    for (const std::vector<Tell>& one : m_tells) {
        tells += one.size() * sizeof(Tell);
    }
    return tells + m_known.bytes() + m_sendSlot.bytes() + m_used.bytes() + m_recvSlot.bytes() +
           m_usedByProbe.bytes() + (m_clocks.size() + m_slots.size()) * sizeof(Tick) +
           m_failed.size() * sizeof(FailedProbe);
}

void DataOrder::enqueue(std::int32_t rank) {
    if (!state(rank).queued) {
        state(rank).queued = true;
        m_queue.push_back(rank);
    }
}

void DataOrder::block(std::int32_t rank, std::int32_t by, std::uint64_t event, bool opening) {
    RankState& own = state(rank);
    own.blockedBy = by;
    own.blockedAt = event;
    own.onOpening = opening;
    if (by >= 0) {
        state(by).waiting.emplace_back(event, rank);
    }
}

bool DataOrder::walk(const TimelineData& data, std::uint64_t mostEvents) {
    std::uint64_t walked = 0;
    do {
        while (!m_queue.empty() && walked < mostEvents) {
            const std::int32_t rank = m_queue.front();
            m_queue.pop_front();
            RankState& own = state(rank);
            own.queued = false;
            const std::uint64_t before = own.passed;
            run(data, rank);
            walked += own.passed - before;
            std::erase_if(own.waiting, [&](const std::pair<std::uint64_t, std::int32_t>& one) {
                if (one.first > own.passed) {
                    return false;
                }
                if (state(one.second).blockedBy == rank) {
                    state(one.second).blockedBy = -1;
                    enqueue(one.second);
                }
                return true;
            });
        }
    } while (m_queue.empty() && breakCycle());
    for (RankState& own : m_ranks) {
        own.waiting.clear();
    }
    return m_queue.empty();
}

/// Ranks that wait for each other in a circle: only contradictory traces make them, and a Win_start that has
/// returned before its Win_post. One of them goes on without what it waits for.
bool DataOrder::breakCycle() {
    for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(m_width); ++rank) {
        std::int32_t at = rank;
        std::int32_t chosen = rank;
        std::size_t steps = 0;
        do {
            chosen = state(at).onOpening ? at : chosen;
            at = state(at).blockedBy;
        } while (at >= 0 && at != rank && ++steps <= m_width);
        if (at == rank) {
            state(chosen).forced = true;
            state(chosen).blockedBy = -1;
            enqueue(chosen);
            return true;
        }
    }
    return false;
}

void DataOrder::run(const TimelineData& data, std::int32_t rank) {
    const RankEvents& events = data.rank(rank).events;
    const GrowingArray<std::uint32_t>& links = data.rank(rank).links;
    RankState& own = state(rank);
    const std::uint64_t last = events.lastEvent();
    const std::uint64_t pause = std::min(last, own.passed + kStretch);
    while (own.passed < pause) {
        const std::uint64_t event = own.passed + 1;
        const std::uint32_t call = events.callOf(event);
        if (call != kNone) {
            const bool linked = links[call] != kNone;
            if (events.isBegin(event)) {
                if (linked) {
                    start(data, rank, call, event);
                }
            } else if (linked) {
                if (!end(data, rank, call, event)) {
                    return;
                }
                if (own.freed) { // the end of any call may tell of a receive that was freed
                    noteFailedProbe(data, rank, call, event);
                }
            } else {
                noteFailedProbe(data, rank, call, event);
            }
        }
        own.passed = event;
    }
    if (own.passed < last) {
        enqueue(rank);
    }
}

std::uint32_t DataOrder::copyOf(std::int32_t rank) {
    std::uint32_t id = 0;
    if (m_freeSlots.empty()) {
        id = static_cast<std::uint32_t>(m_slots.size() / m_width);
        m_slots.resize(m_slots.size() + m_width);
    } else {
        id = m_freeSlots.back();
        m_freeSlots.pop_back();
    }
    std::copy_n(clock(rank), m_width, slot(id));
    return id;
}

void DataOrder::join(Tick* into, const Tick* from) const {
    for (std::size_t i = 0; i < m_width; ++i) {
        into[i] = std::max(into[i], from[i]);
    }
}

void DataOrder::release(std::uint32_t& id) {
    if (id != kNone) {
        m_freeSlots.push_back(id);
        id = kNone;
    }
}

void DataOrder::start(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint64_t event) {
    clock(rank)[rank] = tickOfStart(event);
    RankState& own = state(rank);
    m_starting.clear();
    const auto begunReceive = [&](std::uint32_t id) {
        const RecvHalf& recv = data.recvs[id];
        const SendHalf* send = sendOf(data, recv);
        if (!recv.cancelled && (send == nullptr || (send->rank != rank && waits(data, *send)))) {
            m_recvSlot[id] = copyOf(rank);
        }
    };
    data.eachLink(rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send:
            m_starting.push_back(id);
            break;
        case Role::Post:
            if (data.recvs[id].post == call && data.recvs[id].start == call) {
                own.nextRecv = std::max(own.nextRecv, id + 1);
                if (fromAnySource(data, data.recvs[id])) {
                    own.anySource = true;
                    own.open.push_back(id);
                }
                begunReceive(id);
            }
            break;
        case Role::Start:
            if (data.recvs[id].start == call) {
                begunReceive(id);
            }
            break;
        case Role::Coll:
            arrive(data, rank, call, id);
            break;
        case Role::SyncFrom:
            if (m_waits && data.syncEdges[id].from == call && !m_edgeSlot.contains(id)) {
                m_edgeSlot[id] = copyOf(rank);
            }
            break;
        default:
            break;
        }
    });
    if (own.open.size() > 1) { // several may be started at once, and come last first
        std::sort(own.open.begin(), own.open.end());
    }
    std::sort(m_starting.begin(), m_starting.end());
    if (!m_starting.empty()) {
        noteTold(data, rank, call);
    }
    for (const std::uint32_t id : m_starting) {
        const SendHalf& send = data.sends[id];
        if (send.cancelled) {
            m_known[id] = kOut;
            continue;
        }
        const std::int32_t to = data.channels[send.channel].destination;
        m_known[id] = clock(rank)[to];
        m_newSends.push_back(id);
        if (isSeen(data, send)) {
            const std::uint32_t recv = data.halves[send.message].recv;
            m_used[recv] = id;
            if (!waits(data, send)) {
                release(m_recvSlot[recv]);
            }
            noteShadow(data, recv, 0);
        } else if (to != rank) {
            m_sendSlot[id] = copyOf(rank);
        }
    }
}

void DataOrder::noteTold(const TimelineData& data, std::int32_t rank, std::uint32_t call) {
    for (const std::int32_t sender : m_tellers) {
        const Tick known = clock(rank)[sender];
        const std::vector<Tell>& tells = m_tells[static_cast<std::size_t>(sender)];
        std::size_t& heard = m_heard[static_cast<std::size_t>(rank) * m_width + static_cast<std::size_t>(sender)];
        for (; heard < tells.size() && tells[heard].end <= known; ++heard) {
            const RecvHalf& recv = data.recvs[tells[heard].recv];
            if (recv.done == kNone || clock(rank)[recv.rank] < decidedAt(data, recv)) { // else it knows by that
                m_newTold.push_back({tells[heard].recv, rank, call});
            }
        }
    }
}

} // namespace stopline::replay
