// What differs between MPI implementations, here for Open MPI: handles, sentinels and the insides of a
// status.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#ifndef OPEN_MPI
#error "this dialect is for Open MPI's mpi.h"
#endif

#include "../types.h"

#include <cstdint>
#include <cstring>

/// Whether functions_mpi4.def is there.
#define STOPLINE_HAS_MPI4 0

namespace stopline::preload {

inline constexpr const char* kDialect = "openmpi";
/// Processes that are spawned have the environment of the launcher, so that agents among them find the window.
inline constexpr bool kSpawnsAgents = true;

/// Handles of predefined objects. They are addresses in the MPI library: naming them would make every other
/// program that is started with this library fail to load, so they are looked up.
struct Predefined {
    MPI_Comm world;
    MPI_Comm self;
    MPI_Comm commNull;
    MPI_Request requestNull;
    MPI_Datatype datatypeNull;
    MPI_Datatype byte;
    MPI_Group groupNull;
    MPI_Message messageNull;
    MPI_Message messageNoProc;
    MPI_Info infoNull;
    MPI_Errhandler errorsReturn;
};

/// Fills the handles by `lookup(name)`; false when this is not Open MPI.
template <typename Lookup>
bool findPredefined(Predefined& p, Lookup lookup) {
    p.world = static_cast<MPI_Comm>(lookup("ompi_mpi_comm_world"));
    p.self = static_cast<MPI_Comm>(lookup("ompi_mpi_comm_self"));
    p.commNull = static_cast<MPI_Comm>(lookup("ompi_mpi_comm_null"));
    p.requestNull = static_cast<MPI_Request>(lookup("ompi_request_null"));
    p.datatypeNull = static_cast<MPI_Datatype>(lookup("ompi_mpi_datatype_null"));
    p.byte = static_cast<MPI_Datatype>(lookup("ompi_mpi_byte"));
    p.groupNull = static_cast<MPI_Group>(lookup("ompi_mpi_group_null"));
    p.messageNull = static_cast<MPI_Message>(lookup("ompi_message_null"));
    p.messageNoProc = static_cast<MPI_Message>(lookup("ompi_message_no_proc"));
    p.infoNull = static_cast<MPI_Info>(lookup("ompi_mpi_info_null"));
    p.errorsReturn = static_cast<MPI_Errhandler>(lookup("ompi_mpi_errors_return"));
    return p.world != nullptr && p.self != nullptr && p.requestNull != nullptr;
}

/// Names under which the MPI library may be loaded already, for programs that load MPI late and locally.
inline constexpr const char* kMpiLibraries[] = {"libmpi.so.40", "libmpi.so.80", "libmpi.so"};

/// True for the file name of a library that may hold MPI, whatever its version.
inline bool isMpiLibrary(const char* name) {
    return std::strncmp(name, "libmpi.so", 9) == 0;
}
/// True for the file name of one that is certainly of another MPI.
inline bool isForeignLibrary(const char* name) {
    return std::strncmp(name, "libmpich", 8) == 0;
}

/// Bytes of an element where the handle itself tells them, else -1: MPI has to be asked.
inline int knownSize(MPI_Datatype) {
    return -1;
}

inline bool isIgnored(const MPI_Status* status) {
    return status == nullptr; // MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
}
inline std::uint64_t statusBytes(const MPI_Status& status) {
    return status._ucount;
}
inline bool statusCancelled(const MPI_Status& status) {
    return status._cancelled != 0;
}

/// The part of an error code that is the same each time: all of it.
inline int lastingCode(int code) {
    return code;
}

} // namespace stopline::preload
