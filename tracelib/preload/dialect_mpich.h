// What differs between MPI implementations, here for MPICH and those that keep its ABI: handles, sentinels
// and the insides of a status.
#pragma once

#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#ifndef MPICH_VERSION
#error "this dialect is for MPICH's mpi.h"
#endif

#include "../types.h"

#include <cstdint>
#include <cstring>

/// Whether functions_mpi4.def is there.
#define STOPLINE_HAS_MPI4 1

namespace stopline::preload {

inline constexpr const char* kDialect = "mpich";
/// No MPICH has been seen that could start processes under the debugger.
inline constexpr bool kSpawnsAgents = false;

/// Handles of predefined objects: numbers, the same for ever.
struct Predefined {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Comm commNull = MPI_COMM_NULL;
    MPI_Request requestNull = MPI_REQUEST_NULL;
    MPI_Datatype datatypeNull = MPI_DATATYPE_NULL;
    MPI_Datatype byte = MPI_BYTE;
    MPI_Group groupNull = MPI_GROUP_NULL;
    MPI_Message messageNull = MPI_MESSAGE_NULL;
    MPI_Message messageNoProc = MPI_MESSAGE_NO_PROC;
    MPI_Info infoNull = MPI_INFO_NULL;
    MPI_Errhandler errorsReturn = MPI_ERRORS_RETURN;
};

/// False when this is Open MPI.
template <typename Lookup>
bool findPredefined(Predefined&, Lookup lookup) {
    return lookup("ompi_mpi_comm_world") == nullptr;
}

/// Names under which the MPI library may be loaded already, for programs that load MPI late and locally.
inline constexpr const char* kMpiLibraries[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so"};

/// True for the file name of a library that may hold MPI, whatever its version.
inline bool isMpiLibrary(const char* name) {
    return std::strncmp(name, "libmpich.so", 11) == 0 || std::strncmp(name, "libmpi.so", 9) == 0;
}
/// True for the file name of one that is certainly of another MPI: MPI 5's common ABI has handles of its own.
inline bool isForeignLibrary(const char* name) {
    return std::strncmp(name, "libmpi_abi", 10) == 0;
}

inline bool isIgnored(const MPI_Status* status) {
    return status == MPI_STATUS_IGNORE; // the same as MPI_STATUSES_IGNORE
}
inline std::uint64_t statusBytes(const MPI_Status& status) {
    return static_cast<std::uint32_t>(status.count_lo) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1U) << 32U;
}
inline bool statusCancelled(const MPI_Status& status) {
    return (status.count_hi_and_cancelled & 1) != 0;
}

/// The part of an error code that is the same each time: MPICH numbers the errors of a run in the others.
inline int lastingCode(int code) {
    return code & 0x7f;
}

/// Bytes of an element where the handle itself tells them, else -1: MPI has to be asked. The top two bits of
/// a handle say that it is built in, the next four that it is a datatype, the second byte then its size.
inline int knownSize(MPI_Datatype type) {
    const auto bits = static_cast<std::uint32_t>(type);
    return (bits & 0xfc000000U) == 0x4c000000U ? static_cast<int>((bits >> 8U) & 0xffU) : -1;
}

} // namespace stopline::preload
