#include "online.h"

#include "rank.h"
#include "real.h"
#include "values.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace stopline::preload {

using trace::CallClass;
using trace::EventKind;

constinit Online online{};

namespace {

/// Where the memory is: a file of rank 0 without a name, so that nothing of it can be left behind.
struct Place {
    std::uint64_t token;
    std::int32_t pid;
    std::int32_t file;
};

std::byte* mapFile(int file, std::uint64_t bytes) {
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

} // namespace

/// Makes the memory, or maps that of rank 0. Every rank takes part to its end, whatever it finds.
RaceLimit Online::share(std::int32_t number, std::int32_t ranks) {
    std::byte* base = nullptr;
    const std::uint64_t bytes = SharedClocks(nullptr, m_ranks).bytes();
    Place place{};
    if (number == 0) {
        place.file = memfd_create("stopline-clocks", MFD_CLOEXEC);
        if (place.file >= 0 && ftruncate(place.file, static_cast<off_t>(bytes)) == 0) {
            base = mapFile(place.file, bytes);
        }
        place.pid = base == nullptr ? 0 : static_cast<std::int32_t>(getpid());
        place.token = static_cast<std::uint64_t>(clockNow()) ^ static_cast<std::uint64_t>(getpid()) << 40U;
        if (base != nullptr) {
            SharedClocks(base, m_ranks).header().token.store(place.token, std::memory_order_release);
        }
    }
    if (real.Bcast(&place, static_cast<int>(sizeof place), predefined.byte, 0, predefined.world) !=
        MPI_SUCCESS) {
        return RaceLimit::Failed;
    }
    if (number != 0 && place.pid != 0) {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.pid, place.file);
        const int file = open(path, O_RDWR | O_CLOEXEC);
        if (file >= 0 && lseek(file, 0, SEEK_END) == static_cast<off_t>(bytes)) {
            base = mapFile(file, bytes);
        }
        if (base != nullptr &&
            SharedClocks(base, m_ranks).header().token.load(std::memory_order_acquire) != place.token) {
            munmap(base, bytes);
            base = nullptr;
        }
        if (file >= 0) {
            close(file);
        }
    }
    std::uint8_t mine = base == nullptr ? 1 : 0;
    std::uint8_t all[SharedClocks::kMostRanks] = {};
    const int code = real.Allgather(&mine, 1, predefined.byte, all, 1, predefined.byte, predefined.world);
    if (number == 0 && place.file >= 0) {
        close(place.file);
    }
    const bool good =
        code == MPI_SUCCESS && std::all_of(all, all + ranks, [](std::uint8_t one) { return one == 0; });
    if (!good) {
        if (base != nullptr) {
            munmap(base, bytes);
        }
        return place.pid == 0 ? RaceLimit::Memory : RaceLimit::Hosts;
    }
    m_shared = SharedClocks(base, m_ranks);
    return RaceLimit::None;
}

void Online::start(std::int32_t number, std::int32_t ranks) {
    if (ranks > static_cast<std::int32_t>(SharedClocks::kMostRanks)) {
        end(RaceLimit::Ranks);
        return;
    }
    m_rank = static_cast<std::uint32_t>(number);
    m_ranks = static_cast<std::uint32_t>(ranks);
    const int savedErrno = errno;
    const RaceLimit limit = share(number, ranks);
    errno = savedErrno;
    if (limit != RaceLimit::None) {
        end(limit);
        return;
    }
    m_clock = m_shared.clock(m_rank);
    on = true;
    rank.recorder.setFillAlways(true);
    noteFinding(trace::ValueKind::RacesEnd, trace::racesEndValue(RaceLimit::Unfinished, 0));
    if (!findingsAreNoted()) {
        giveUp(RaceLimit::Memory);
    }
}

void Online::end(RaceLimit limit) {
    on = false;
    rank.recorder.setFillAlways(false);
    noteFinding(trace::ValueKind::RacesEnd, trace::racesEndValue(limit, m_traced));
}

/// The first limit that any rank meets is the one of all.
void Online::tellAll(RaceLimit limit) {
    std::uint32_t none = 0;
    m_shared.header().limit.compare_exchange_strong(none, static_cast<std::uint32_t>(limit),
                                                    std::memory_order_relaxed);
}

void Online::giveUp(RaceLimit limit) {
    if (on) {
        tellAll(limit);
        if (thread.ordinal == 0) { // it alone notes
            end(limit);
        }
    }
}

void Online::finish() {
    if (!on) {
        return;
    }
    takeLast();
    for (std::uint32_t source = 0; source < m_ranks && on; ++source) {
        settle(static_cast<std::int32_t>(source), true);
    }
    if (on) {
        end(static_cast<RaceLimit>(m_shared.header().limit.load(std::memory_order_relaxed)));
    }
}

void Online::addComm(const CommView& comm) {
    const std::size_t members = m_memberCount + comm.memberCount + comm.remoteCount;
    if (!m_comms.reserve(m_commCount + 1) || !m_members.reserve(members)) {
        giveUp(RaceLimit::Memory);
        return;
    }
    Comm added{comm.id, static_cast<std::uint32_t>(m_memberCount), comm.memberCount, comm.remoteCount, 0, 0};
    std::copy_n(comm.members, comm.memberCount, m_members.data() + m_memberCount);
    std::copy_n(comm.remote, comm.remoteCount, m_members.data() + m_memberCount + comm.memberCount);
    for (std::uint32_t i = 0; i < comm.memberCount; ++i) {
        if (comm.members[i] == static_cast<std::int32_t>(m_rank)) {
            added.position = i;
        }
    }
    m_memberCount = members;
    m_comms[m_commCount++] = added;
    if (comm.kind == trace::CommKind::Process || comm.jobCount > 1) {
        giveUp(RaceLimit::Processes);
    } else if (comm.kind == trace::CommKind::Window) {
        giveUp(RaceLimit::OneSided);
    }
}

Online::Comm* Online::commOf(CommIndex index) {
    return index.value() < m_commCount ? &m_comms[index.value()] : nullptr;
}

std::int32_t Online::worldRank(const Comm& comm, std::int32_t peer) {
    const std::uint32_t count = comm.remote != 0 ? comm.remote : comm.size;
    const std::uint32_t first = comm.remote != 0 ? comm.first + comm.size : comm.first;
    if (peer < 0 || static_cast<std::uint32_t>(peer) >= count) {
        return -1;
    }
    const std::int32_t member = m_members[first + static_cast<std::uint32_t>(peer)];
    return member < static_cast<std::int32_t>(m_ranks) ? member : -1;
}

void Online::joinClock(const Tick* from) {
    for (std::uint32_t i = 0; i < m_ranks; ++i) {
        if (from[i] > m_clock[i].load(std::memory_order_relaxed)) {
            m_clock[i].store(from[i], std::memory_order_relaxed);
        }
    }
}

void Online::event(const DetailsView& d, std::uint64_t number) {
    if (d.thread != 0) {
        tellAll(RaceLimit::Threads); // the thread that may note it does so at its next event
    } else if (const std::uint32_t limit = m_shared.header().limit.load(std::memory_order_relaxed);
               limit != 0) {
        end(static_cast<RaceLimit>(limit));
    } else if (d.truncated || d.requestCount >= 1U << trace::kRacedPositionBits) {
        giveUp(RaceLimit::Memory);
    } else if (d.kind == EventKind::Begin) {
        begin(d, number);
    } else {
        ended(d, number);
    }
}

void Online::send(CommIndex index, std::int32_t peer, std::int32_t tag, Tick now) {
    const Comm* comm = commOf(index);
    const std::int32_t to = comm == nullptr ? -1 : worldRank(*comm, peer);
    if (to < 0) {
        return; // to nobody
    }
    own().store(now, std::memory_order_relaxed);
    SharedClocks::Queue& queue = m_shared.queue(m_rank, static_cast<std::uint32_t>(to));
    const std::uint64_t tail = queue.tail.value.load(std::memory_order_relaxed);
    if (tail - queue.head.value.load(std::memory_order_acquire) >= m_shared.capacity()) {
        giveUp(RaceLimit::Waiting);
        return;
    }
    MessageSlot& slot = m_shared.message(queue, tail);
    slot.comm = comm->id;
    slot.tag = tag;
    slot.state = MessageSlot::State::Waiting;
    slot.key = 0;
    for (std::uint32_t i = 0; i < m_ranks; ++i) {
        slot.clock[i] = m_clock[i].load(std::memory_order_relaxed);
    }
    queue.tail.value.store(tail + 1, std::memory_order_release);
}

void Online::begin(const DetailsView& d, std::uint64_t number) {
    const CallClass callClass = trace::functionClass(d.function);
    const Tick now = tickOfStart(number);
    m_poll.on = false;
    switch (callClass) {
    case CallClass::Send:
    case CallClass::Isend:
        send(d.comm, d.sendPeer, d.sendTag, now);
        break;
    case CallClass::Recv:
        post(d.comm, d.recvPeer, d.recvTag, 0, number, 0);
        break;
    case CallClass::Sendrecv:
        post(d.comm, d.recvPeer, d.recvTag, 0, number, 0);
        send(d.comm, d.sendPeer, d.sendTag, now);
        break;
    case CallClass::Irecv:
        post(d.comm, d.recvPeer, d.recvTag, rank.requests, number, 0);
        break;
    case CallClass::SendInit:
    case CallClass::RecvInit: {
        const bool sends = callClass == CallClass::SendInit;
        if (!m_persistent.reserve(m_persistentCount + 1)) {
            giveUp(RaceLimit::Memory);
            break;
        }
        m_persistent[m_persistentCount++] = {rank.requests, sends, d.comm, sends ? d.sendPeer : d.recvPeer,
                                             sends ? d.sendTag : d.recvTag};
        if (d.function != FunctionId::Send_init && d.function != FunctionId::Bsend_init &&
            d.function != FunctionId::Ssend_init && d.function != FunctionId::Rsend_init &&
            d.function != FunctionId::Recv_init) {
            giveUp(RaceLimit::Functions); // its messages may come in parts
        }
        break;
    }
    case CallClass::Start:
        started(d, number);
        break;
    case CallClass::Isendrecv:
    case CallClass::CollectiveInit:
    case CallClass::NeighborInit:
        giveUp(RaceLimit::Functions);
        break;
    case CallClass::Probe:
    case CallClass::Mprobe:
    case CallClass::Iprobe:
    case CallClass::Improbe:
    case CallClass::Test: // may end as a probe: consecutive polls are one call
        m_poll = {true,      callClass == CallClass::Iprobe || callClass == CallClass::Improbe,
                  d.comm,    d.recvPeer,
                  d.recvTag, number};
        break;
    case CallClass::Cancel:
        if (d.requestCount == 1 && d.requests[0].back < trace::RequestRef::kUnknown) {
            const std::size_t at = openOf(rank.requests - d.requests[0].back);
            if (at != m_openCount) {
                m_open[at].cancelling = true;
            }
        }
        break;
    case CallClass::RequestFree:
        for (std::size_t i = 0; i < m_persistentCount && d.requestCount == 1; ++i) {
            if (d.requests[0].back < trace::RequestRef::kUnknown &&
                m_persistent[i].serial == rank.requests - d.requests[0].back) {
                m_persistent[i] = m_persistent[--m_persistentCount];
            }
        }
        break;
    case CallClass::Collective:
    case CallClass::CommCreate:
        arrive(d, number, 0);
        break;
    case CallClass::Icollective:
        arrive(d, number, rank.requests);
        break;
    default:
        break;
    }
}

void Online::started(const DetailsView& d, std::uint64_t number) {
    for (std::uint32_t i = 0; i < d.requestCount && on; ++i) {
        if (d.requests[i].back >= trace::RequestRef::kUnknown) {
            continue;
        }
        const std::uint32_t serial = rank.requests - d.requests[i].back;
        for (std::size_t k = 0; k < m_persistentCount; ++k) {
            const Persistent& one = m_persistent[k];
            if (one.serial != serial) {
                continue;
            }
            if (one.sends) {
                send(one.comm, one.peer, one.tag, tickOfStart(number));
            } else {
                post(one.comm, one.peer, one.tag, serial, number, i);
            }
            break;
        }
    }
}

void Online::ended(const DetailsView& d, std::uint64_t number) {
    const CallClass callClass = trace::functionClass(d.function);
    if (d.error != trace::ErrorClass::Success && d.error != trace::ErrorClass::Truncate &&
        d.error != trace::ErrorClass::InStatus) {
        giveUp(RaceLimit::Failed);
        return;
    }
    if (d.completionCount != 0) {
        completions(d, number);
    }
    switch (callClass) {
    case CallClass::Recv:
    case CallClass::Sendrecv:
        if (const std::size_t at = openOf(0); at != m_openCount) {
            received(at, d.status, number, false);
        }
        break;
    case CallClass::Probe:
    case CallClass::Mprobe:
    case CallClass::Iprobe:
    case CallClass::Improbe:
        probed(d, number);
        break;
    case CallClass::Collective:
    case CallClass::CommCreate:
        leave(0);
        break;
    default:
        break;
    }
    if (m_lateCount != 0) {
        lookAtLate();
    }
    m_poll.on = false;
}

} // namespace stopline::preload
