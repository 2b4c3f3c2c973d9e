#include "wrappers.h"

namespace stopline::preload {

using trace::CommKind;

namespace {

std::uint64_t sumOf(Counts counts, std::int32_t n, MPI_Datatype type) {
    std::int64_t sum = 0;
    for (std::int32_t i = 0; !counts.isNull() && i < n; ++i) {
        sum += counts[i];
    }
    return bytesOf(sum, type);
}

std::uint64_t sumOf(Counts counts, std::int32_t n, const MPI_Datatype* types) {
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; !counts.isNull() && types != nullptr && i < n; ++i) {
        sum += bytesOf(counts[i], types[i]);
    }
    return sum;
}

/// Who this rank is in the collective.
struct Place {
    std::int32_t
        peers; ///< ranks at the other end of an all-to-all or rooted call: remote group where there is one
    std::int32_t size; ///< of the local group
    std::int32_t rank;
    bool isRoot;
    bool takesPart; ///< false: the other members of the root's group between groups
};

Place placeIn(const CommEntry& entry, int root) {
    Place p{entry.remoteSize != 0 ? entry.remoteSize : entry.size, entry.size, entry.rank, false, true};
    p.isRoot = entry.remoteSize != 0 ? root == MPI_ROOT : root == entry.rank;
    p.takesPart = !(entry.remoteSize != 0 && root == MPI_PROC_NULL);
    return p;
}

void fillRooted(DetailsView& d, FunctionId function, const Args& a, const Place& p) {
    const bool inPlaceSend = isInPlace(a.sendbuf);
    const bool inPlaceRecv = isInPlace(a.recvbuf);
    switch (function) {
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
        (p.isRoot ? d.sendBytes : d.recvBytes) = bytesOf(a.count, a.datatype);
        break;
    case FunctionId::Gather:
    case FunctionId::Igather:
        d.sendBytes = inPlaceSend ? bytesOf(a.recvcount, a.recvtype) : bytesOf(a.sendcount, a.sendtype);
        d.recvBytes = p.isRoot ? bytesOf(std::int64_t{a.recvcount} * p.peers, a.recvtype) : 0;
        break;
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
        d.recvBytes = p.isRoot ? sumOf(a.recvcounts, p.peers, a.recvtype) : 0;
        d.sendBytes =
            inPlaceSend ? bytesOf(a.recvcounts[p.rank], a.recvtype) : bytesOf(a.sendcount, a.sendtype);
        break;
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
        d.sendBytes = p.isRoot ? bytesOf(std::int64_t{a.sendcount} * p.peers, a.sendtype) : 0;
        d.recvBytes = inPlaceRecv ? bytesOf(a.sendcount, a.sendtype) : bytesOf(a.recvcount, a.recvtype);
        break;
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
        d.sendBytes = p.isRoot ? sumOf(a.sendcounts, p.peers, a.sendtype) : 0;
        d.recvBytes =
            inPlaceRecv ? bytesOf(a.sendcounts[p.rank], a.sendtype) : bytesOf(a.recvcount, a.recvtype);
        break;
    default: // Reduce, Ireduce
        d.sendBytes = bytesOf(a.count, a.datatype);
        d.recvBytes = p.isRoot ? d.sendBytes : 0;
        break;
    }
    // Between groups the root only sends or only receives.
    const bool between = d.root == kRootInter;
    const bool gathers = function != FunctionId::Bcast && function != FunctionId::Ibcast &&
                         function != FunctionId::Scatter && function != FunctionId::Iscatter &&
                         function != FunctionId::Scatterv && function != FunctionId::Iscatterv;
    if (between) {
        (gathers ? d.sendBytes : d.recvBytes) = 0;
    }
}

void fillSymmetric(DetailsView& d, FunctionId function, const Args& a, const Place& p) {
    const bool inPlace = isInPlace(a.sendbuf);
    switch (function) {
    case FunctionId::Barrier:
    case FunctionId::Ibarrier:
        break;
    case FunctionId::Allgather:
    case FunctionId::Iallgather:
        d.recvBytes = bytesOf(std::int64_t{a.recvcount} * p.peers, a.recvtype);
        d.sendBytes = inPlace ? bytesOf(a.recvcount, a.recvtype) : bytesOf(a.sendcount, a.sendtype);
        break;
    case FunctionId::Allgatherv:
    case FunctionId::Iallgatherv:
        d.recvBytes = sumOf(a.recvcounts, p.peers, a.recvtype);
        d.sendBytes = inPlace ? bytesOf(a.recvcounts[p.rank], a.recvtype) : bytesOf(a.sendcount, a.sendtype);
        break;
    case FunctionId::Alltoall:
    case FunctionId::Ialltoall:
        d.recvBytes = bytesOf(std::int64_t{a.recvcount} * p.peers, a.recvtype);
        d.sendBytes = inPlace ? d.recvBytes : bytesOf(std::int64_t{a.sendcount} * p.peers, a.sendtype);
        break;
    case FunctionId::Alltoallv:
    case FunctionId::Ialltoallv:
        d.recvBytes = sumOf(a.recvcounts, p.peers, a.recvtype);
        d.sendBytes = inPlace ? d.recvBytes : sumOf(a.sendcounts, p.peers, a.sendtype);
        break;
    case FunctionId::Alltoallw:
    case FunctionId::Ialltoallw:
        d.recvBytes = sumOf(a.recvcounts, p.peers, a.recvtypes);
        d.sendBytes = inPlace ? d.recvBytes : sumOf(a.sendcounts, p.peers, a.sendtypes);
        break;
    case FunctionId::Reduce_scatter:
    case FunctionId::Ireduce_scatter:
        d.sendBytes = sumOf(a.recvcounts, p.size, a.datatype);
        d.recvBytes = bytesOf(a.recvcounts.isNull() ? 0 : a.recvcounts[p.rank], a.datatype);
        break;
    case FunctionId::Reduce_scatter_block:
    case FunctionId::Ireduce_scatter_block:
        d.sendBytes = bytesOf(std::int64_t{a.recvcount} * p.size, a.datatype);
        d.recvBytes = bytesOf(a.recvcount, a.datatype);
        break;
    case FunctionId::Exscan:
    case FunctionId::Iexscan:
        d.sendBytes = bytesOf(a.count, a.datatype);
        d.recvBytes = p.rank == 0 ? 0 : d.sendBytes;
        break;
    default: // Allreduce, Scan and their non-blocking forms
        d.sendBytes = bytesOf(a.count, a.datatype);
        d.recvBytes = d.sendBytes;
        break;
    }
}

bool isRooted(FunctionId function) {
    switch (function) {
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
    case FunctionId::Gather:
    case FunctionId::Igather:
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
    case FunctionId::Reduce:
    case FunctionId::Ireduce:
        return true;
    default:
        return false;
    }
}

/// How many neighbours a topology gives this rank.
struct Neighbors {
    int sources = 0;
    int destinations = 0;
};

Neighbors neighborsIn(MPI_Comm comm) {
    const Asking asking;
    Neighbors n;
    int topology = MPI_UNDEFINED;
    if (!isSome(comm) || real.Topo_test(comm, &topology) != MPI_SUCCESS) {
        return n;
    }
    if (topology == MPI_CART && real.Cartdim_get(comm, &n.sources) == MPI_SUCCESS) {
        n.sources *= 2;
        n.destinations = n.sources;
    } else if (topology == MPI_GRAPH) {
        int own = 0;
        if (real.Comm_rank(comm, &own) == MPI_SUCCESS &&
            real.Graph_neighbors_count(comm, own, &n.sources) == MPI_SUCCESS) {
            n.destinations = n.sources;
        }
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        real.Dist_graph_neighbors_count(comm, &n.sources, &n.destinations, &weighted);
    }
    return n;
}

CommKind kindOf(FunctionId function) {
    switch (function) {
    case FunctionId::Comm_dup:
    case FunctionId::Comm_dup_with_info:
        return CommKind::Dup;
    case FunctionId::Comm_split:
        return CommKind::Split;
    case FunctionId::Comm_split_type:
        return CommKind::SplitType;
    case FunctionId::Comm_create:
        return CommKind::Create;
    case FunctionId::Comm_create_group:
    case FunctionId::Comm_create_from_group:
        return CommKind::CreateGroup;
    case FunctionId::Intercomm_create:
    case FunctionId::Intercomm_create_from_groups:
        return CommKind::InterCreate;
    case FunctionId::Intercomm_merge:
        return CommKind::InterMerge;
    case FunctionId::Comm_spawn:
    case FunctionId::Comm_spawn_multiple:
    case FunctionId::Comm_accept:
    case FunctionId::Comm_connect:
        return CommKind::Process;
    default:
        return CommKind::Topology;
    }
}

} // namespace

void fillCollective(DetailsView& d, FunctionId named, const Args& a) {
    const FunctionId function = trace::plainFunction(named);
    const CommEntry* entry = rank.comms.find(rank.recorder, a.comm);
    const bool rooted = isRooted(function);
    if (rooted) {
        d.root = traceRoot(a.root);
    }
    if (entry == nullptr) {
        return;
    }
    d.comm = entry->index;
    const Place p = placeIn(*entry, a.root);
    if (rooted && p.takesPart) {
        fillRooted(d, function, a, p);
    } else if (!rooted) {
        fillSymmetric(d, function, a, p);
    }
}

void fillNeighbor(DetailsView& d, FunctionId named, const Args& a) {
    const FunctionId function = trace::plainFunction(named);
    d.comm = commIndex(a.comm);
    const Neighbors n = neighborsIn(a.comm);
    switch (function) {
    case FunctionId::Neighbor_allgather:
    case FunctionId::Ineighbor_allgather:
        d.sendBytes = bytesOf(a.sendcount, a.sendtype);
        d.recvBytes = bytesOf(std::int64_t{a.recvcount} * n.sources, a.recvtype);
        break;
    case FunctionId::Neighbor_allgatherv:
    case FunctionId::Ineighbor_allgatherv:
        d.sendBytes = bytesOf(a.sendcount, a.sendtype);
        d.recvBytes = sumOf(a.recvcounts, n.sources, a.recvtype);
        break;
    case FunctionId::Neighbor_alltoall:
    case FunctionId::Ineighbor_alltoall:
        d.sendBytes = bytesOf(std::int64_t{a.sendcount} * n.destinations, a.sendtype);
        d.recvBytes = bytesOf(std::int64_t{a.recvcount} * n.sources, a.recvtype);
        break;
    case FunctionId::Neighbor_alltoallv:
    case FunctionId::Ineighbor_alltoallv:
        d.sendBytes = sumOf(a.sendcounts, n.destinations, a.sendtype);
        d.recvBytes = sumOf(a.recvcounts, n.sources, a.recvtype);
        break;
    default: // alltoallw
        d.sendBytes = sumOf(a.sendcounts, n.destinations, a.sendtypes);
        d.recvBytes = sumOf(a.recvcounts, n.sources, a.recvtypes);
        break;
    }
}

void fillNewComm(DetailsView& d, FunctionId function, const Args& a, int code) {
    if (code == MPI_SUCCESS) {
        CommEntry* parent = rank.comms.find(rank.recorder, a.comm);
        d.newComm = rank.comms.add(rank.recorder, kindOf(function), parent, *a.newcomm);
    }
}

void fillSpawned(DetailsView& d, const Args& a, int code) {
    CommEntry* parent = code == MPI_SUCCESS ? rank.comms.find(rank.recorder, a.comm) : nullptr;
    if (parent != nullptr) {
        d.newComm = rank.comms.addSpawned(rank.recorder, *parent, *a.newcomm);
    }
}

} // namespace stopline::preload
