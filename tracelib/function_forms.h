// Forms of one MPI function: for large counts, persistent.
#pragma once

#include "functions.h"

namespace stopline::trace {

/// The function that does the same in its plain form: MPI_Bcast for MPI_Bcast_c, MPI_Bcast_init and
/// MPI_Bcast_init_c. Ranks may mix the forms for large counts in one collective.
[[nodiscard]] constexpr FunctionId plainFunction(FunctionId function) {
    FunctionId plain = function;
    switch (function) {
#define STOPLINE_FUNCTION(name, class_, ...)
#define STOPLINE_PERSISTENT(name, class_)                                                                    \
    case FunctionId::name##_init:                                                                            \
        return FunctionId::name;
#define STOPLINE_LARGE(name, class_)                                                                         \
    case FunctionId::name##_c:                                                                               \
        plain = FunctionId::name;                                                                            \
        break;
#include "functions_mpi4.def"
#undef STOPLINE_FUNCTION
    default:
        return function;
    }
    return plainFunction(plain); // MPI_Bcast_init_c is MPI_Bcast_init in large
}

/// Collectives in which a rank may have nothing to do with another one: what each sends or gets is a list of counts.
[[nodiscard]] constexpr bool hasListOfPieces(FunctionId function) {
    switch (plainFunction(function)) {
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
    case FunctionId::Allgatherv:
    case FunctionId::Iallgatherv:
    case FunctionId::Alltoallv:
    case FunctionId::Ialltoallv:
    case FunctionId::Alltoallw:
    case FunctionId::Ialltoallw:
    case FunctionId::Reduce_scatter:
    case FunctionId::Ireduce_scatter:
    case FunctionId::Neighbor_allgatherv:
    case FunctionId::Ineighbor_allgatherv:
    case FunctionId::Neighbor_alltoallv:
    case FunctionId::Ineighbor_alltoallv:
    case FunctionId::Neighbor_alltoallw:
    case FunctionId::Ineighbor_alltoallw:
        return true;
    default:
        return false;
    }
}

} // namespace stopline::trace
