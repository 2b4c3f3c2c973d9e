#include "otf2_definitions.h"

#include <QString>

#include <algorithm>
#include <set>

namespace stopline::replay {

namespace {

constexpr OTF2_CommRef kSelfComm = 0;
constexpr std::uint64_t kNanoseconds = 1'000'000'000;

bool isComm(trace::CommKind kind) {
    return kind != trace::CommKind::Window && kind != trace::CommKind::File &&
           kind != trace::CommKind::Process;
}

bool areRanks(const std::vector<std::int32_t>& members, std::int32_t count) {
    return std::all_of(members.begin(), members.end(),
                       [count](std::int32_t rank) { return rank >= 0 && rank < count; });
}

OTF2_RegionRole roleOf(trace::FunctionId function) {
    switch (trace::functionClass(function)) {
    case trace::CallClass::Send:
    case trace::CallClass::Recv:
    case trace::CallClass::Sendrecv:
    case trace::CallClass::Isend:
    case trace::CallClass::Irecv:
    case trace::CallClass::Mrecv:
    case trace::CallClass::Imrecv:
        return OTF2_REGION_ROLE_POINT2POINT;
    case trace::CallClass::Collective:
        return function == trace::FunctionId::Barrier ? OTF2_REGION_ROLE_BARRIER
                                                      : OTF2_REGION_ROLE_COLL_OTHER;
    case trace::CallClass::Rma:
    case trace::CallClass::RmaRequest:
        return OTF2_REGION_ROLE_RMA;
    case trace::CallClass::FileCall:
    case trace::CallClass::FileCollective:
    case trace::CallClass::FileIcollective:
    case trace::CallClass::FileRequest:
        return OTF2_REGION_ROLE_FILE_IO;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
}

} // namespace

std::optional<OTF2_CollectiveOp> otf2Operation(const trace::EventDetails& begin) {
    using trace::FunctionId;
    static const std::map<FunctionId, OTF2_CollectiveOp> kOperations{
        {FunctionId::Barrier, OTF2_COLLECTIVE_OP_BARRIER},
        {FunctionId::Bcast, OTF2_COLLECTIVE_OP_BCAST},
        {FunctionId::Gather, OTF2_COLLECTIVE_OP_GATHER},
        {FunctionId::Gatherv, OTF2_COLLECTIVE_OP_GATHERV},
        {FunctionId::Scatter, OTF2_COLLECTIVE_OP_SCATTER},
        {FunctionId::Scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
        {FunctionId::Allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
        {FunctionId::Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
        {FunctionId::Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
        {FunctionId::Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
        {FunctionId::Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
        {FunctionId::Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
        {FunctionId::Reduce, OTF2_COLLECTIVE_OP_REDUCE},
        {FunctionId::Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {FunctionId::Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {FunctionId::Scan, OTF2_COLLECTIVE_OP_SCAN},
        {FunctionId::Exscan, OTF2_COLLECTIVE_OP_EXSCAN}};
    if (const auto found = kOperations.find(begin.function); found != kOperations.end()) {
        return found->second;
    }
    switch (trace::functionClass(begin.function)) {
    case trace::CallClass::CommCreate:
        return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    case trace::CallClass::CommFree:
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    default:
        return std::nullopt;
    }
}

Otf2Definitions::Otf2Definitions(const LoadedRecording& loaded)
    : m_loaded(loaded), m_timeline(loaded.recording->timeline()) {
    (void)string(""); // number 0
    for (int i = 0; i < m_timeline.rankCount(); ++i) {
        (void)location(RankId{i}, 0);
        addComms(RankId{i});
    }
}

OTF2_StringRef Otf2Definitions::string(const std::string& text) {
    const auto [entry, fresh] = m_strings.emplace(text, static_cast<OTF2_StringRef>(m_strings.size()));
    if (fresh) {
        m_newStrings.push_back(text);
    }
    return entry->second;
}

OTF2_RegionRef Otf2Definitions::region(trace::FunctionId function) {
    return m_regions.emplace(function, static_cast<OTF2_RegionRef>(m_regions.size())).first->second;
}

OTF2_LocationRef Otf2Definitions::location(RankId rank, int thread) {
    const auto [entry, fresh] =
        m_locationOf.emplace(std::pair(int(rank.value()), thread), m_locations.size());
    if (fresh) {
        m_locations.push_back({m_locations.size(), rank, thread, 0});
    }
    return m_locations[entry->second].number;
}

void Otf2Definitions::countEvents(RankId rank, int thread, std::uint64_t events) {
    (void)location(rank, thread);
    m_locations[m_locationOf.at({int(rank.value()), thread})].events = events;
}

void Otf2Definitions::addComms(RankId rank) {
    for (std::uint32_t i = 0;; ++i) {
        const trace::CommInfo& info = m_timeline.comm(rank, CommIndex{i});
        if (info.members.empty() && info.remote.empty() && info.id == 0) {
            return;
        }
        if (info.kind == trace::CommKind::Self || !isComm(info.kind) || m_comms.contains(info.id) ||
            !areRanks(info.members, m_timeline.rankCount()) ||
            !areRanks(info.remote, m_timeline.rankCount())) {
            continue;
        }
        Comm comm;
        comm.number = static_cast<OTF2_CommRef>(m_comms.size() + 1);
        comm.info = &info;
        comm.name = info.kind == trace::CommKind::World ? "MPI_COMM_WORLD" : "";
        if (info.parent != kNoComm && info.kind != trace::CommKind::World) {
            comm.parent = m_timeline.comm(rank, info.parent).id;
        }
        m_comms.emplace(info.id, comm);
        m_commOrder.push_back(info.id);
    }
}

OTF2_CommRef Otf2Definitions::comm(RankId rank, CommIndex index) const {
    if (index == kNoComm) {
        return OTF2_UNDEFINED_COMM;
    }
    const trace::CommInfo& info = m_timeline.comm(rank, index);
    if (info.kind == trace::CommKind::Self) {
        return kSelfComm;
    }
    const auto found = m_comms.find(info.id);
    return found == m_comms.end() ? OTF2_UNDEFINED_COMM : found->second.number;
}

/// Strings must stand before what names them.
void Otf2Definitions::flushStrings(OTF2_GlobalDefWriter* to) {
    for (const std::string& text : m_newStrings) {
        OTF2_GlobalDefWriter_WriteString(to, m_strings.at(text), text.c_str());
    }
    m_newStrings.clear();
}

void Otf2Definitions::writeSystem(OTF2_GlobalDefWriter* to) {
    const OTF2_StringRef machine = string("machine");
    const OTF2_StringRef node = string("node");
    const OTF2_StringRef cluster = string("MPI job");
    flushStrings(to);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, cluster, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::map<std::string, OTF2_SystemTreeNodeRef> nodes;
    for (std::size_t i = 0; i < m_loaded.file.ranks.size(); ++i) {
        const std::string& host = m_loaded.file.ranks[i].host;
        const auto [entry, fresh] =
            nodes.emplace(host, static_cast<OTF2_SystemTreeNodeRef>(nodes.size() + 1));
        if (fresh) {
            const OTF2_StringRef name = string(host.empty() ? "(unknown host)" : host);
            flushStrings(to);
            OTF2_GlobalDefWriter_WriteSystemTreeNode(to, entry->second, name, node, 0);
        }
        const OTF2_StringRef name = string("MPI rank " + std::to_string(i));
        flushStrings(to);
        OTF2_GlobalDefWriter_WriteLocationGroup(to, static_cast<OTF2_LocationGroupRef>(i), name,
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, entry->second,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
    }
    for (const Otf2Location& location : m_locations) {
        const OTF2_StringRef name =
            string(location.thread == 0 ? "main thread" : "thread " + std::to_string(location.thread));
        flushStrings(to);
        OTF2_GlobalDefWriter_WriteLocation(to, location.number, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                                           location.events,
                                           static_cast<OTF2_LocationGroupRef>(location.rank.value()));
    }
}

OTF2_GroupRef Otf2Definitions::writeGroup(OTF2_GlobalDefWriter* to,
                                          const std::vector<std::int32_t>& members) {
    // 0 is that of the locations, 1 that of MPI_COMM_SELF.
    const auto [entry, fresh] = m_groups.emplace(members, static_cast<OTF2_GroupRef>(m_groups.size() + 2));
    if (fresh) {
        const std::vector<std::uint64_t> ranks(members.begin(), members.end());
        OTF2_GlobalDefWriter_WriteGroup(to, entry->second, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                        OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(ranks.size()),
                                        ranks.data());
    }
    return entry->second;
}

void Otf2Definitions::writeComms(OTF2_GlobalDefWriter* to) {
    std::vector<std::uint64_t> locations;
    for (std::uint64_t i = 0; i < m_loaded.file.ranks.size(); ++i) {
        locations.push_back(i);
    }
    OTF2_GlobalDefWriter_WriteGroup(to, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(locations.size()),
                                    locations.data());
    OTF2_GlobalDefWriter_WriteGroup(to, 1, 0, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, 0, nullptr);
    const OTF2_StringRef self = string("MPI_COMM_SELF");
    flushStrings(to);
    OTF2_GlobalDefWriter_WriteComm(to, kSelfComm, self, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    for (const std::uint64_t id : m_commOrder) {
        const Comm& comm = m_comms.at(id);
        const OTF2_StringRef name = string(comm.name);
        flushStrings(to);
        const auto known = m_comms.find(comm.parent);
        const OTF2_CommRef parent = known != m_comms.end() && known->second.number < comm.number
                                        ? known->second.number
                                        : OTF2_UNDEFINED_COMM;
        const OTF2_GroupRef group = writeGroup(to, comm.info->members);
        if (comm.info->remote.empty()) {
            OTF2_GlobalDefWriter_WriteComm(to, comm.number, name, group, parent, OTF2_COMM_FLAG_NONE);
        } else {
            OTF2_GlobalDefWriter_WriteInterComm(to, comm.number, name, group,
                                                writeGroup(to, comm.info->remote), OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE);
        }
    }
}

void Otf2Definitions::write(OTF2_GlobalDefWriter* to, TimeNs end) {
    OTF2_GlobalDefWriter_WriteClockProperties(to, kNanoseconds, 0, static_cast<std::uint64_t>(end) + 1,
                                              static_cast<std::uint64_t>(m_loaded.file.started));
    const OTF2_StringRef mpi = string("MPI");
    const OTF2_StringRef file = string("call site: file");
    const OTF2_StringRef line = string("call site: line");
    flushStrings(to);
    OTF2_GlobalDefWriter_WriteParadigm(to, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteAttribute(to, kFileAttribute, file, 0, OTF2_TYPE_STRING);
    OTF2_GlobalDefWriter_WriteAttribute(to, kLineAttribute, line, 0, OTF2_TYPE_UINT32);
    writeSystem(to);
    std::vector<std::pair<OTF2_RegionRef, trace::FunctionId>>
        regions; // readers want them in the order of their numbers
    for (const auto& [function, number] : m_regions) {
        regions.emplace_back(number, function);
    }
    std::sort(regions.begin(), regions.end());
    for (const auto& [number, function] : regions) {
        const OTF2_StringRef name = string(std::string(trace::functionName(function)));
        flushStrings(to);
        OTF2_GlobalDefWriter_WriteRegion(to, number, name, name, 0, roleOf(function), OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, mpi, 0, 0);
    }
    writeComms(to);
}

} // namespace stopline::replay
