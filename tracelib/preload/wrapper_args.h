// What a wrapper is given: the arguments of a call by their role. Part of wrappers.h.
#pragma once

#include "frame.h"

namespace stopline::preload {

/// An array of counts, of either size.
class Counts {
  public:
    Counts() = default; // as the members of Args: not set
    Counts(const int* counts) : m_counts(counts), m_large(nullptr) {}
    Counts(const MPI_Count* counts) : m_counts(nullptr), m_large(counts) {}
    [[nodiscard]] bool isNull() const { return m_counts == nullptr && m_large == nullptr; }
    std::int64_t operator[](std::int32_t i) const {
        return m_large != nullptr ? static_cast<std::int64_t>(m_large[i]) : m_counts[i];
    }

  private:
    const int* m_counts;
    const MPI_Count* m_large;
};

/// Arguments of a call by their role (functions.def); what a function lacks but others of its class have is
/// zero. Members that no function of a class has are not set at all: setting them would cost more than a poll
/// may.
struct Args {
    const void* buf;
    const void* sendbuf;
    const void* recvbuf;
    MPI_Count count;
    int partitions;
    MPI_Datatype datatype;
    int dest;
    int source;
    int* sourcePlace; ///< where MPI will be given the source from
    int tag;
    MPI_Count sendcount;
    Counts sendcounts;
    MPI_Datatype sendtype;
    const MPI_Datatype* sendtypes;
    int sendtag;
    MPI_Count recvcount;
    Counts recvcounts;
    MPI_Datatype recvtype;
    const MPI_Datatype* recvtypes;
    int recvtag;
    int root;
    MPI_Comm comm;
    MPI_Comm* commPlace;   ///< where MPI will be given the communicator of a message from
    MPI_Comm* commPointer; ///< Comm_free, Comm_disconnect
    MPI_Comm* newcomm;
    MPI_Request* request;
    MPI_Request* requests;
    MPI_Status* status;
    MPI_Status* statuses;
    MPI_Message* message;
    int* flag;
    int* index;
    int* outcount;
    int* indices;
    int errorcode;
    MPI_Win win;
    MPI_Win* winPointer; ///< made or freed
    MPI_File fh;
    MPI_File* fhPointer; ///< made or freed
    int target_rank;
    MPI_Count origin_count;
    MPI_Datatype origin_datatype;
    MPI_Count result_count;
    MPI_Datatype result_datatype;
    int lock_type;
    MPI_Group group;
    int assertion;
    int amode;
    const char* const* commands; ///< Comm_spawn, Comm_spawn_multiple, as the next two
    char** const* argvs;
    const MPI_Info* infos;
};

inline CommIndex commIndex(MPI_Comm comm) {
    const CommEntry* entry = rank.comms.find(rank.recorder, comm);
    return entry == nullptr ? kNoComm : entry->index;
}

/// The status to hand to MPI: the user's, or one of ours where the user wants none.
class StatusPlace {
  public:
    explicit StatusPlace(MPI_Status* user) : m_place(isIgnored(user) ? &m_own : user) {}
    [[nodiscard]] MPI_Status* place() { return m_place; }

  private:
    MPI_Status m_own;
    MPI_Status* m_place;
};

} // namespace stopline::preload
