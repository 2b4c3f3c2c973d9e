#include "call_style.h"

namespace stopline::viewer {

using trace::CallClass;

CallStyle styleOf(CallClass c) {
    switch (c) {
    case CallClass::Send:
    case CallClass::Sendrecv:
    case CallClass::Isend:
    case CallClass::Isendrecv:
    case CallClass::Pready:
    case CallClass::SendInit:
    case CallClass::Start:
    case CallClass::Rma:
    case CallClass::RmaRequest:
        return CallStyle::Send;
    case CallClass::Recv:
    case CallClass::Irecv:
    case CallClass::RecvInit:
    case CallClass::Probe:
    case CallClass::Iprobe:
    case CallClass::Mprobe:
    case CallClass::Improbe:
    case CallClass::Mrecv:
    case CallClass::Imrecv:
        return CallStyle::Receive;
    case CallClass::Wait:
    case CallClass::Test:
    case CallClass::WinSync:
    case CallClass::WinTest:
        return CallStyle::Wait;
    case CallClass::Collective:
    case CallClass::Icollective:
    case CallClass::Neighbor:
    case CallClass::Ineighbor:
    case CallClass::CollectiveInit:
    case CallClass::NeighborInit:
    case CallClass::WinCollective:
    case CallClass::FileCollective:
    case CallClass::FileIcollective:
    case CallClass::FileBegin:
    case CallClass::FileEnd:
        return CallStyle::Collective;
    case CallClass::CommCreate:
    case CallClass::CommIdup:
    case CallClass::CommFree:
    case CallClass::CommSpawn:
    case CallClass::CommJoin:
    case CallClass::WinCreate:
    case CallClass::WinFree:
    case CallClass::FileOpen:
    case CallClass::FileClose:
        return CallStyle::Management;
    case CallClass::Abort:
        return CallStyle::Error;
    case CallClass::Init:
    case CallClass::Finalize:
    case CallClass::RequestFree:
    case CallClass::Cancel:
    case CallClass::FileCall:
    case CallClass::FileRequest:
    case CallClass::Grequest:
    case CallClass::GrequestComplete:
    case CallClass::SessionEnd:
    case CallClass::Service:
        break;
    }
    return CallStyle::Other;
}

Severity severityOf(const trace::EventDetails& begin) {
    const CallClass c = trace::functionClass(begin.function);
    if (c == CallClass::Abort) {
        return Severity::Error;
    }
    if (begin.recvPeer == kAnySource) {
        return Severity::Wildcard;
    }
    switch (styleOf(c)) {
    case CallStyle::Wait:
        return Severity::Wait;
    case CallStyle::Collective:
    case CallStyle::Management:
        return Severity::Collective;
    default:
        return Severity::PointToPoint;
    }
}

bool isPost(CallClass c) {
    return c == CallClass::Isend || c == CallClass::Irecv || c == CallClass::Imrecv ||
           c == CallClass::Start || c == CallClass::Icollective;
}

bool receives(CallClass c) {
    return c == CallClass::Recv || c == CallClass::Irecv || c == CallClass::Mrecv || c == CallClass::Imrecv ||
           c == CallClass::Sendrecv;
}

bool sends(CallClass c) {
    return c == CallClass::Send || c == CallClass::Isend || c == CallClass::Sendrecv;
}

} // namespace stopline::viewer
