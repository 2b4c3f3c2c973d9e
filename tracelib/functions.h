// The traced MPI functions, their numbers and their classes.
#pragma once

#include <cstdint>
#include <string_view>

namespace stopline::trace {

/// What a call does, as far as tracing, matching and replay are concerned. Hand-written code exists once a
/// class.
enum class CallClass : std::uint8_t {
    Init,
    Finalize,
    Abort,
    Send,      ///< blocking send of any mode
    Recv,      ///< blocking receive
    Sendrecv,  ///< both in one call
    Isend,     ///< creates a request
    Irecv,     ///< creates a request
    Isendrecv, ///< both in one request
    SendInit,  ///< creates an inactive persistent request
    RecvInit,  ///< creates an inactive persistent request
    Start,     ///< activates persistent requests
    Wait,      ///< Wait, Waitall, Waitany, Waitsome
    Test,      ///< poll: Test, Testall, Testany, Testsome, Request_get_status
    Probe,     ///< blocking probe
    Iprobe,    ///< poll
    Mprobe,    ///< blocking matched probe: takes the message out of the matching
    Improbe,   ///< poll, matched
    Mrecv,     ///< receives a message matched before
    Imrecv,    ///< same, creates a request
    RequestFree,
    Cancel,
    Collective,     ///< blocking collective
    Icollective,    ///< creates a request
    CommCreate,     ///< blocking constructor; collective over the parent (create_group: over the group)
    CommIdup,       ///< creates a request and a communicator
    CommFree,       ///< collective
    CommSpawn,      ///< makes an intercommunicator with another job: spawn, accept, connect; collective
    CommJoin,       ///< the same over a socket, by one process
    Neighbor,       ///< blocking collective over the neighbours in a topology
    Ineighbor,      ///< creates a request
    CollectiveInit, ///< creates an inactive persistent request; the collective begins with each Start of it
    NeighborInit,   ///< the same over neighbours
    WinCreate,      ///< collective over the communicator; `newComm` is the window
    WinFree,        ///< collective over the window, as all calls on windows have it in `comm`
    WinCollective,  ///< fence
    WinSync,        ///< lock, unlock, flush, post, start, complete, wait, sync, attach, detach
    WinTest,        ///< poll
    Rma,            ///< put, get, accumulate and what is like them
    RmaRequest,     ///< the same, creates a request
    FileOpen,       ///< collective over the communicator; `newComm` is the file
    FileClose,      ///< collective over the file, as all calls on files have it in `comm`
    FileCollective,
    FileIcollective, ///< creates a request
    FileBegin,   ///< first half of a split collective: starts this rank's part in it
    FileEnd,     ///< second half: the part is complete
    FileCall,    ///< by one process
    FileRequest, ///< the same, creates a request
    Grequest,    ///< creates a generalised request
    GrequestComplete,
    Pready,     ///< says that parts of a partitioned message may go
    SessionEnd, ///< MPI_Session_finalize
    Service,    ///< asks the runtime or the file system: ports, names, deleted files
};

/// Number of a traced function. Values are part of the trace format only within one version of it.
enum class FunctionId : std::uint16_t {
#define STOPLINE_FUNCTION(name, class_, ...) name,
#include "functions.def"
#ifndef Q_MOC_RUN // Qt's moc stumbles over two files in one enumeration
#include "functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
    Count
};

/// "MPI_Send" and so on; "MPI_?" for a number out of range.
[[nodiscard]] std::string_view functionName(FunctionId function);
/// The class of a function. Out of range gives CallClass::Collective, never undefined behaviour.
[[nodiscard]] CallClass functionClass(FunctionId function);

/// A poll returns at once and may say "not yet": consecutive failing polls are one call.
[[nodiscard]] constexpr bool isPoll(CallClass c) {
    return c == CallClass::Test || c == CallClass::Iprobe || c == CallClass::Improbe ||
           c == CallClass::WinTest;
}
/// The calls whose completions are what they were asked for.
[[nodiscard]] constexpr bool completesRequests(CallClass c) {
    return c == CallClass::Wait || c == CallClass::Test;
}

/// A call that adds one to the rank's count of request serials.
[[nodiscard]] constexpr bool createsRequest(CallClass c) {
    return c == CallClass::Isend || c == CallClass::Irecv || c == CallClass::Isendrecv ||
           c == CallClass::SendInit || c == CallClass::RecvInit || c == CallClass::CollectiveInit ||
           c == CallClass::NeighborInit || c == CallClass::Imrecv || c == CallClass::Icollective ||
           c == CallClass::CommIdup || c == CallClass::Ineighbor || c == CallClass::RmaRequest ||
           c == CallClass::FileIcollective || c == CallClass::FileRequest || c == CallClass::Grequest;
}

} // namespace stopline::trace
