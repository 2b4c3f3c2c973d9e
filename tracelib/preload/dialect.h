// The MPI that this library is made for, and what can be said of handles and arguments whichever it is.
#pragma once

#ifdef STOPLINE_DIALECT_MPICH
#include "dialect_mpich.h"
#else
#include "dialect_openmpi.h"
#endif

#include <type_traits>

namespace stopline::preload {

/// A handle of any kind as a number that no handle of another kind has; 0 for what is no handle.
using HandleKey = std::uintptr_t;
template <typename Handle>
HandleKey keyOf(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<HandleKey>(handle);
    } else {
        return static_cast<std::make_unsigned_t<Handle>>(handle);
    }
}
/// The inverse of keyOf().
template <typename Handle>
Handle handleOf(HandleKey key) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<Handle>(key);
    } else {
        return static_cast<Handle>(static_cast<std::make_unsigned_t<Handle>>(key));
    }
}

inline bool isInPlace(const void* buffer) {
    return buffer == MPI_IN_PLACE;
}

/// Peer of a call's argument as the trace stores it.
inline std::int32_t traceSource(int source) {
    return source == MPI_ANY_SOURCE ? kAnySource : source == MPI_PROC_NULL ? kProcNull : source;
}
inline std::int32_t traceDestination(int dest) {
    return dest == MPI_PROC_NULL ? kProcNull : dest;
}
inline std::int32_t traceRoot(int root) {
    return root == MPI_ROOT ? kRootInter : root == MPI_PROC_NULL ? kProcNull : root;
}
inline std::int32_t traceTag(int tag) {
    return tag == MPI_ANY_TAG ? kAnyTag : tag;
}

} // namespace stopline::preload
