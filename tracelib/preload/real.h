// The functions of the MPI library itself.
#pragma once

#include "dialect.h"

#include "../function_forms.h"

namespace stopline::preload {

/// Functions that the wrappers call for their own purposes; all local.
#define STOPLINE_HELPERS(X)                                                                                  \
    X(Type_size)                                                                                             \
    X(Type_dup)                                                                                              \
    X(Type_get_extent)                                                                                       \
    X(Type_get_true_extent)                                                                                  \
    X(Pack)                                                                                                  \
    X(Pack_size)                                                                                             \
    X(Type_free)                                                                                             \
    X(Comm_rank)                                                                                             \
    X(Comm_size)                                                                                             \
    X(Comm_remote_size)                                                                                      \
    X(Comm_test_inter)                                                                                       \
    X(Comm_group)                                                                                            \
    X(Comm_remote_group)                                                                                     \
    X(Comm_get_parent)                                                                                       \
    X(Info_get)                                                                                              \
    X(Comm_get_attr)                                                                                         \
    X(Group_size)                                                                                            \
    X(Group_translate_ranks)                                                                                 \
    X(Win_get_group)                                                                                         \
    X(Group_free)                                                                                            \
    X(Comm_set_errhandler)                                                                                   \
    X(Comm_call_errhandler)                                                                                  \
    X(Errhandler_free)                                                                                       \
    X(Comm_get_errhandler)                                                                                   \
    X(Win_get_errhandler)                                                                                    \
    X(Error_class)                                                                                           \
    X(Query_thread)                                                                                          \
    X(Topo_test)                                                                                             \
    X(Cartdim_get)                                                                                           \
    X(Graph_neighbors_count)                                                                                 \
    X(Dist_graph_neighbors_count)

/// One pointer a function, all found at once: null before, and where the MPI library lacks the function.
struct RealTable {
#define STOPLINE_FUNCTION(name, class_, ...) decltype(&PMPI_##name) name;
#include "../functions.def"
#if STOPLINE_HAS_MPI4
#include "../functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
#define STOPLINE_HELPER(name) decltype(&PMPI_##name) name;
    STOPLINE_HELPERS(STOPLINE_HELPER)
#undef STOPLINE_HELPER
};

extern RealTable real;
extern Predefined predefined;

/// True when the process has had MPI from its start (this library is loaded before it).
bool mpiIsLinked();
/// Fills `real` and `predefined` where that has not been done; false when there is no MPI or not this
/// dialect's. Calls the dynamic linker the first time only. Keeps errno.
bool findReal();
/// Address of the next definition of a symbol after ours; null if there is none.
void* nextDefinition(const char* name);

} // namespace stopline::preload
