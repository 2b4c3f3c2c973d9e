// What classes of calls mean for a HistoryStart. Inside of it.
#pragma once

#include "history_tracker.h"

namespace stopline::trace {

[[nodiscard]] inline bool isGroupConstructor(FunctionId function) {
    return function == FunctionId::Comm_create_group || function == FunctionId::Intercomm_create ||
           function == FunctionId::Comm_create_from_group || function == FunctionId::Intercomm_create_from_groups;
}

[[nodiscard]] inline bool isCollective(CallClass c) {
    switch (c) {
    case CallClass::Collective:
    case CallClass::Icollective:
    case CallClass::Neighbor:
    case CallClass::Ineighbor:
    case CallClass::CommCreate:
    case CallClass::CommIdup:
    case CallClass::CommFree:
    case CallClass::CommSpawn:
    case CallClass::WinCreate:
    case CallClass::WinFree:
    case CallClass::WinCollective:
    case CallClass::FileOpen:
    case CallClass::FileClose:
    case CallClass::FileCollective:
    case CallClass::FileIcollective:
    case CallClass::FileBegin:
        return true;
    default:
        return false;
    }
}

[[nodiscard]] inline bool sends(CallClass c) {
    return c == CallClass::Send || c == CallClass::Sendrecv || c == CallClass::Isend || c == CallClass::Isendrecv;
}

[[nodiscard]] inline bool receives(CallClass c) {
    return c == CallClass::Recv || c == CallClass::Sendrecv || c == CallClass::Irecv || c == CallClass::Isendrecv;
}

[[nodiscard]] inline bool isPersistent(CallClass c) {
    return c == CallClass::SendInit || c == CallClass::RecvInit || c == CallClass::CollectiveInit ||
           c == CallClass::NeighborInit;
}

[[nodiscard]] inline bool takesMessage(CallClass c) {
    return c == CallClass::Mprobe || c == CallClass::Improbe;
}

/// Counts of epochs of groups: which of them belong together is told by their order.
[[nodiscard]] inline bool isGroupEpoch(FunctionId function) {
    return function == FunctionId::Win_post || function == FunctionId::Win_start ||
           function == FunctionId::Win_complete || function == FunctionId::Win_wait ||
           function == FunctionId::Win_test;
}

[[nodiscard]] inline StartCall callOf(const DetailsView& d) {
    return {d.thread,   static_cast<std::uint32_t>(d.function), d.comm.value(), d.sendPeer, d.sendTag, d.recvPeer,
            d.recvTag, 0};
}

} // namespace stopline::trace
