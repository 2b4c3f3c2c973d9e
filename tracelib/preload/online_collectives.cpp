// Timestamps through collectives: from members that give data to members that get some, by the table of
// replay/data_order.h.
#include "online.h"

#include "rank.h"

#include "../data_flow.h"
#include "../function_forms.h"

namespace stopline::preload {

using trace::FunctionId;

void Online::arrive(const DetailsView& d, std::uint64_t number, std::uint32_t serial) {
    const FunctionId function = trace::plainFunction(d.function);
    const trace::DataFlow flow = trace::dataFlow(function);
    Comm* comm = commOf(d.comm);
    if (flow == trace::DataFlow::None || comm == nullptr) {
        return;
    }
    own().store(tickOfStart(number), std::memory_order_relaxed);
    const bool between = comm->remote != 0;
    const bool isRoot = between ? d.root == kRootInter : d.root == static_cast<std::int32_t>(comm->position);
    // Whom it waits for, as positions among the members.
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    const std::uint32_t others = between ? comm->size : 0;
    switch (flow) {
    case trace::DataFlow::All:
        to = comm->size + comm->remote;
        break;
    case trace::DataFlow::Exchange:
        from = others;
        to = comm->size + comm->remote;
        break;
    case trace::DataFlow::FromRoot:
        if (!isRoot && d.root >= 0) {
            from = others + static_cast<std::uint32_t>(d.root);
            to = from + 1;
        }
        break;
    case trace::DataFlow::ToRoot:
        if (isRoot) {
            from = others;
            to = comm->size + comm->remote;
        }
        break;
    case trace::DataFlow::Prefix:
        to = comm->position;
        break;
    case trace::DataFlow::None:
        break;
    }
    const std::uint64_t instance = comm->collectives++;
    SharedClocks::Counter& count = m_shared.arrivalCount(m_rank);
    const std::uint64_t place = count.value.load(std::memory_order_relaxed);
    ArrivalSlot& slot = m_shared.arrival(m_rank, place);
    slot.comm = comm->id;
    slot.number = instance;
    slot.gives = (trace::givesWithoutBytes(function) || d.sendBytes > 0) && (flow != trace::DataFlow::FromRoot || isRoot) ? 1 : 0;
    for (std::uint32_t i = 0; i < m_ranks; ++i) {
        slot.clock[i] = m_clock[i].load(std::memory_order_relaxed);
    }
    count.value.store(place + 1, std::memory_order_release);
    if (to <= from || (trace::getsByOwnCount(function) && d.recvBytes == 0)) {
        return;
    }
    if (to > comm->size + comm->remote || !m_awaited.reserve(m_awaitedCount + 1)) {
        giveUp(to > comm->size + comm->remote ? RaceLimit::Failed : RaceLimit::Memory);
        return;
    }
    m_awaited[m_awaitedCount++] = {serial, d.comm.value(), instance, from, to};
}

/// The collective of this request (0: the blocking one) is complete for this rank.
void Online::leave(std::uint32_t serial) {
    for (std::size_t i = 0; i < m_awaitedCount; ++i) {
        if (m_awaited[i].serial != serial) {
            continue;
        }
        const Awaited awaited = m_awaited[i];
        m_awaited[i] = m_awaited[--m_awaitedCount];
        const Comm comm = m_comms[awaited.comm];
        for (std::uint32_t position = awaited.from; position < awaited.to && on; ++position) {
            const std::int32_t member = m_members[comm.first + position];
            if (member >= 0 && member < static_cast<std::int32_t>(m_ranks) &&
                member != static_cast<std::int32_t>(m_rank) &&
                !joinArrival(static_cast<std::uint32_t>(member), comm.id, awaited.number)) {
                giveUp(RaceLimit::Collectives);
            }
        }
        return;
    }
}

/// Takes over what a member had done when it came to the collective. Who is not there yet gives nothing.
/// False: it may have been there, so long ago that its slot has been used again.
bool Online::joinArrival(std::uint32_t member, std::uint64_t comm, std::uint64_t number) {
    const std::uint64_t count = m_shared.arrivalCount(member).value.load(std::memory_order_acquire);
    const std::uint64_t oldest = count > SharedClocks::kArrivals ? count - SharedClocks::kArrivals : 0;
    for (std::uint64_t place = count; place > oldest; --place) {
        const ArrivalSlot& slot = m_shared.arrival(member, place - 1);
        if (slot.comm != comm || slot.number != number) {
            continue;
        }
        if (slot.gives != 0) {
            Tick clock[SharedClocks::kMostRanks];
            for (std::uint32_t i = 0; i < m_ranks; ++i) {
                clock[i] = slot.clock[i];
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            // The one after the last that is kept may be being written.
            if (m_shared.arrivalCount(member).value.load(std::memory_order_relaxed) + 1 >
                place - 1 + SharedClocks::kArrivals) {
                return false;
            }
            joinClock(clock);
        }
        return true;
    }
    return oldest == 0;
}

} // namespace stopline::preload
