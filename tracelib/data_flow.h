// Between which members of a collective data go, so that those that get some cannot be through before those that give it
// have begun (MPI 4.0, chapters 6 and 7: what follows from the data alone, not how a library does it). It stands once,
// for the analysis of a recording (replay/data_order.h) and for ranks that look for races while they run.
#pragma once

#include "functions.h"

#include <cstdint>

namespace stopline::trace {

enum class DataFlow : std::uint8_t {
    None,     ///< nothing follows: the counts of each pair are not recorded, or no data go
    All,      ///< every member waits for every other one, of both groups
    Exchange, ///< the same; between groups for those of the other one alone
    FromRoot, ///< the others wait for the root
    ToRoot,   ///< the root waits for the others
    Prefix,   ///< each waits for those before it
};

/// `plain`: as plainFunction() gives it. Windows and files, which are no communicators, are not told of.
[[nodiscard]] constexpr DataFlow dataFlow(FunctionId plain) {
    switch (plain) {
    case FunctionId::Comm_split:
    case FunctionId::Comm_split_type:
        return DataFlow::All;
    case FunctionId::Barrier:
    case FunctionId::Ibarrier:
    case FunctionId::Allreduce:
    case FunctionId::Iallreduce:
    case FunctionId::Allgather:
    case FunctionId::Iallgather:
    case FunctionId::Allgatherv:
    case FunctionId::Iallgatherv:
    case FunctionId::Alltoall:
    case FunctionId::Ialltoall:
    case FunctionId::Reduce_scatter:
    case FunctionId::Ireduce_scatter:
    case FunctionId::Reduce_scatter_block:
    case FunctionId::Ireduce_scatter_block:
        return DataFlow::Exchange;
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
        return DataFlow::FromRoot;
    case FunctionId::Gather:
    case FunctionId::Igather:
    case FunctionId::Gatherv:
    case FunctionId::Igatherv:
    case FunctionId::Reduce:
    case FunctionId::Ireduce:
        return DataFlow::ToRoot;
    case FunctionId::Scan:
    case FunctionId::Iscan:
    case FunctionId::Exscan:
    case FunctionId::Iexscan:
        return DataFlow::Prefix;
    default:
        return DataFlow::None;
    }
}

/// Every member gives something, whatever its counts of bytes are.
[[nodiscard]] constexpr bool givesWithoutBytes(FunctionId plain) {
    return plain == FunctionId::Barrier || plain == FunctionId::Ibarrier || plain == FunctionId::Comm_split ||
           plain == FunctionId::Comm_split_type;
}

/// A member whose own count of received bytes is 0 gets nothing; of other collectives the counts of all members are alike,
/// or do not tell.
[[nodiscard]] constexpr bool getsByOwnCount(FunctionId plain) {
    switch (plain) {
    case FunctionId::Scatter:
    case FunctionId::Iscatter:
    case FunctionId::Scatterv:
    case FunctionId::Iscatterv:
    case FunctionId::Reduce_scatter:
    case FunctionId::Ireduce_scatter:
        return true;
    default:
        return false;
    }
}

} // namespace stopline::trace
