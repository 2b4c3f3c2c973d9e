#include "sent.h"

#include "heap.h"
#include "values_impl.h"
#include "wrappers.h"

#include <bit>
#include <climits>
#include <cstring>

namespace stopline::preload {

using trace::FunctionId;

constinit Sent sent{};

namespace {

constexpr std::uint64_t kMultiplier = 0x9fb21c651e98df25ULL; // odd, half of its bits set

std::uint64_t step(std::uint64_t state, std::uint64_t word) {
    return std::rotl(state ^ word, 29) * kMultiplier;
}

std::uint64_t wordAt(const std::byte* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Four lanes side by side: each waits only for its own last product.
std::uint64_t hashOf(std::uint64_t seed, const std::byte* at, std::size_t bytes) {
    std::uint64_t hash = step(seed, bytes);
    if (bytes >= 32) {
        std::uint64_t lanes[4] = {hash, hash ^ 1, hash ^ 2, hash ^ 3};
        for (; bytes >= 32; at += 32, bytes -= 32) {
            for (unsigned lane = 0; lane < 4; ++lane) {
                lanes[lane] = step(lanes[lane], wordAt(at + std::size_t{8} * lane));
            }
        }
        for (const std::uint64_t lane : lanes) {
            hash = step(hash, lane ^ (lane >> 32));
        }
    }
    for (; bytes >= 8; at += 8, bytes -= 8) {
        hash = step(hash, wordAt(at));
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, at, bytes);
    hash = step(hash, rest);
    return hash ^ (hash >> 32);
}

} // namespace

void Sent::publish() {
    // Whoever copies the words while they change can tell: the upper bits of one are the lower bits of the other.
    rank.header->sentHash.store(m_hash, std::memory_order_relaxed);
    rank.header->sentCount.store((m_count & trace::kSentCount) | m_hash << trace::kSentCountBits, std::memory_order_release);
}

void Sent::add(const void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Comm comm) {
    heap.see(buffer);
    if (thread.ordinal != 0 || !hashes) {
        return; // in which order threads send is not the same each time
    }
    compareSent(m_hash, false);
    const Asking asking;
    int size = 0;
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    MPI_Aint trueLow = 0;
    MPI_Aint trueExtent = 0;
    // Arguments may be wrong: MPI itself is to say so, about the user's call.
    const bool some = count > 0 && buffer != MPI_IN_PLACE && keyOf(datatype) != 0 && datatype != predefined.datatypeNull &&
                      real.Type_size(datatype, &size) == MPI_SUCCESS && size > 0 &&
                      real.Type_get_extent(datatype, &low, &extent) == MPI_SUCCESS &&
                      real.Type_get_true_extent(datatype, &trueLow, &trueExtent) == MPI_SUCCESS;
    if (!some) {
        m_hash = step(m_hash, 0);
    } else if (extent == size && trueExtent == size) { // one piece of memory, whatever the order of its parts
        const auto* from = reinterpret_cast<const std::byte*>(reinterpret_cast<std::intptr_t>(buffer) + trueLow);
        m_hash = hashOf(m_hash, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
    } else {
        hashPacked(buffer, count, datatype, comm);
    }
    ++m_count;
    publish();
    compareSent(m_hash, true);
    if (m_count % kEvery == 0) {
        mark();
    }
}

/// In pieces: what a packed message takes is bounded by memory of ours, not by the message.
void Sent::hashPacked(const void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Comm comm) {
    constexpr std::int64_t kPiece = 64 << 10; // bytes, or one element
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    int size = 0;
    real.Type_get_extent(datatype, &low, &extent);
    real.Type_size(datatype, &size);
    const std::int64_t atOnce = size < kPiece ? kPiece / size : 1;
    for (std::int64_t done = 0; done < count; done += atOnce) {
        const int now = static_cast<int>(count - done < atOnce ? count - done : atOnce);
        int room = 0;
        int used = 0;
        if (real.Pack_size(now, datatype, comm, &room) != MPI_SUCCESS || room < 0 || !m_packed.reserve(static_cast<std::size_t>(room)) ||
            real.Pack(reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(buffer) + done * extent), now, datatype, m_packed.data(),
                      room, &used, comm) != MPI_SUCCESS) {
            m_hash = step(m_hash, 0);
            return;
        }
        m_hash = hashOf(m_hash, m_packed.data(), static_cast<std::size_t>(used));
    }
}

void Sent::contribute(FunctionId named, const Args& a) {
    const CommEntry* entry = rank.comms.find(rank.recorder, a.comm);
    if (entry == nullptr) {
        return;
    }
    const bool between = entry->remoteSize != 0;
    const bool isRoot = between ? a.root == MPI_ROOT : a.root == entry->rank;
    const std::int64_t peers = between ? entry->remoteSize : entry->size;
    switch (trace::plainFunction(named)) {
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
        if (isRoot) {
            add(a.buf, a.count, a.datatype, a.comm);
        } else {
            heap.see(a.buf);
        }
        break;
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
        if (isRoot) {
            add(a.sendbuf, a.sendcount * peers, a.sendtype, a.comm);
        }
        break;
    case FunctionId::Gather:
    case FunctionId::Igather:
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
        if (between && isRoot) {
            break;
        }
        [[fallthrough]];
    case FunctionId::Allgather:
    case FunctionId::Iallgather:
    case FunctionId::Allgatherv:
    case FunctionId::Iallgatherv:
        if (!isInPlace(a.sendbuf)) {
            add(a.sendbuf, a.sendcount, a.sendtype, a.comm);
        }
        break;
    case FunctionId::Alltoall:
    case FunctionId::Ialltoall:
        if (isInPlace(a.sendbuf)) {
            add(a.recvbuf, a.recvcount * peers, a.recvtype, a.comm);
        } else {
            add(a.sendbuf, a.sendcount * peers, a.sendtype, a.comm);
        }
        break;
    case FunctionId::Reduce:
    case FunctionId::Ireduce:
        if (between && isRoot) {
            break;
        }
        [[fallthrough]];
    case FunctionId::Allreduce:
    case FunctionId::Iallreduce:
    case FunctionId::Scan:
    case FunctionId::Iscan:
    case FunctionId::Exscan:
    case FunctionId::Iexscan:
        add(isInPlace(a.sendbuf) ? a.recvbuf : a.sendbuf, a.count, a.datatype, a.comm);
        break;
    default: // in pieces, or nothing
        break;
    }
}

Sent::Persistent* Sent::find(std::uint32_t serial) {
    for (std::size_t i = 0; i < m_persistents; ++i) {
        if (m_persistent[i].serial == serial) {
            return &m_persistent[i];
        }
    }
    return nullptr;
}

void Sent::remember(std::uint32_t serial, const Args& a) {
    if (!hashes) {
        return;
    }
    const Asking asking;
    MPI_Datatype copy = predefined.datatypeNull;
    if (m_persistent.reserve(m_persistents + 1) && real.Type_dup(a.datatype, &copy) == MPI_SUCCESS) {
        m_persistent[m_persistents++] = {serial, a.buf, a.count, copy, a.comm};
    }
}

void Sent::start(std::uint32_t serial) {
    if (const Persistent* one = find(serial)) {
        add(one->buffer, one->count, one->datatype, one->comm);
    }
}

void Sent::forget(std::uint32_t serial) {
    if (Persistent* one = find(serial)) {
        const Asking asking;
        real.Type_free(&one->datatype);
        *one = m_persistent[--m_persistents];
    }
}

void Sent::compare() const {
    if (thread.ordinal == 0) {
        compareSent(m_hash, true);
    }
}

void Sent::mark() {
    if (thread.ordinal == 0 && hashes) {
        noteSent(m_hash);
    }
}

} // namespace stopline::preload
