// The wrappers of all traced calls, written once for each class. The generated entry points fill Args by role
// and pass the real call as a function object; it takes the status (or statuses) to use where the function
// has one.
#pragma once

#include "frame.h"

namespace stopline::preload {

/// Arguments of a call by their role (functions.def); what a function lacks stays as it is here.
struct Args {
    const void* buf = nullptr;
    const void* sendbuf = nullptr;
    const void* recvbuf = nullptr;
    int count = 0;
    MPI_Datatype datatype = nullptr;
    int dest = 0;
    int source = 0;
    int tag = 0;
    int sendcount = 0;
    const int* sendcounts = nullptr;
    MPI_Datatype sendtype = nullptr;
    const MPI_Datatype* sendtypes = nullptr;
    int sendtag = 0;
    int recvcount = 0;
    const int* recvcounts = nullptr;
    MPI_Datatype recvtype = nullptr;
    const MPI_Datatype* recvtypes = nullptr;
    int recvtag = 0;
    int root = 0;
    MPI_Comm comm = nullptr;
    MPI_Comm* commPointer = nullptr; ///< Comm_free, Comm_disconnect
    MPI_Comm* newcomm = nullptr;
    MPI_Request* request = nullptr;
    MPI_Request* requests = nullptr;
    MPI_Status* status = nullptr;
    MPI_Status* statuses = nullptr;
    MPI_Message* message = nullptr;
    int* flag = nullptr;
    int* index = nullptr;
    int* outcount = nullptr;
    int* indices = nullptr;
    int errorcode = 0;
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

// --- Point to point ---

inline void fillSend(DetailsView& d, const Args& a) {
    d.comm = commIndex(a.comm);
    d.sendPeer = traceDestination(a.dest);
    d.sendTag = a.tag;
    d.sendBytes = bytesOf(a.count, a.datatype);
}

inline void fillReceive(DetailsView& d, const Args& a) {
    d.comm = commIndex(a.comm);
    d.recvPeer = traceSource(a.source);
    d.recvTag = traceTag(a.tag);
    d.recvBytes = bytesOf(a.count, a.datatype);
}

template <FunctionId F, typename Call>
int tracedSend(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) { fillSend(d, a); });
    const int code = call();
    frame.finished();
    frame.end(code);
    return code;
}

template <FunctionId F, typename Call>
int tracedRecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) { fillReceive(d, a); });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, [&](DetailsView& d) {
        if (code == MPI_SUCCESS) {
            d.status = traceStatus(*status.place());
        }
    });
    return code;
}

template <FunctionId F, typename Call>
int tracedSendrecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) {
        d.comm = commIndex(a.comm);
        d.sendPeer = traceDestination(a.dest);
        d.sendTag = a.sendtag;
        d.recvPeer = traceSource(a.source);
        d.recvTag = traceTag(a.recvtag);
        if constexpr (F == FunctionId::Sendrecv_replace) {
            d.sendBytes = bytesOf(a.count, a.datatype);
            d.recvBytes = d.sendBytes;
        } else {
            d.sendBytes = bytesOf(a.sendcount, a.sendtype);
            d.recvBytes = bytesOf(a.recvcount, a.recvtype);
        }
    });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, [&](DetailsView& d) {
        if (code == MPI_SUCCESS) {
            d.status = traceStatus(*status.place());
        }
    });
    return code;
}

// --- Calls that create requests ---

/// Begin, call and end of a call that creates one request. `fill` completes the begin details.
template <FunctionId F, typename Call, typename Fill, typename FillEnd>
int tracedCreate(const Args& a, CodeAddress site, RequestKind kind, bool persistent, Call call, Fill fill,
                 FillEnd fillEnd) {
    Frame frame(F, site);
    std::uint32_t serial = 0;
    frame.begin([&](DetailsView& d) {
        serial = ++rank.requests;
        fill(d);
    });
    const int code = call();
    frame.finished();
    frame.end(code, [&](DetailsView& d) {
        if (code == MPI_SUCCESS && a.request != nullptr && *a.request != predefined.requestNull) {
            rank.requestTable.add(*a.request, serial, kind, persistent);
        }
        fillEnd(d, code, serial);
    });
    return code;
}

template <FunctionId F, typename Call>
int tracedIsend(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::Send, false, call, [&](DetailsView& d) { fillSend(d, a); },
        [](DetailsView&, int, std::uint32_t) {});
}
template <FunctionId F, typename Call>
int tracedIrecv(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::Recv, false, call, [&](DetailsView& d) { fillReceive(d, a); },
        [](DetailsView&, int, std::uint32_t) {});
}
template <FunctionId F, typename Call>
int tracedSendInit(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::Send, true, call, [&](DetailsView& d) { fillSend(d, a); },
        [](DetailsView&, int, std::uint32_t) {});
}
template <FunctionId F, typename Call>
int tracedRecvInit(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::Recv, true, call, [&](DetailsView& d) { fillReceive(d, a); },
        [](DetailsView&, int, std::uint32_t) {});
}

// --- Probes and matched messages ---

inline void fillProbe(DetailsView& d, const Args& a) {
    d.comm = commIndex(a.comm);
    d.recvPeer = traceSource(a.source);
    d.recvTag = traceTag(a.tag);
}

/// Remembers what a matched probe took out, under the lock.
inline void noteMessage(const Args& a, const Status& status) {
    ++rank.messages;
    if (*a.message != predefined.messageNoProc) {
        rank.messageTable.add({*a.message, rank.messages, commIndex(a.comm), status.source, status.tag});
    }
}

template <FunctionId F, typename Call>
int tracedProbe(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) { fillProbe(d, a); });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, [&](DetailsView& d) {
        if (code == MPI_SUCCESS) {
            d.status = traceStatus(*status.place());
            if constexpr (F == FunctionId::Mprobe) {
                noteMessage(a, d.status);
            }
        }
    });
    return code;
}
template <FunctionId F, typename Call>
int tracedMprobe(const Args& a, CodeAddress site, Call call) {
    return tracedProbe<F>(a, site, call);
}

template <FunctionId F, typename Call>
int tracedIprobe(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const auto fill = [&](DetailsView& d) { fillProbe(d, a); };
    frame.beginPoll(fill);
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    if (code == MPI_SUCCESS && *a.flag == 0) {
        frame.pollFailed(fill);
        return code;
    }
    frame.endPoll(code, fill, [&](DetailsView& d) {
        if (code == MPI_SUCCESS) {
            d.status = traceStatus(*status.place());
            if constexpr (F == FunctionId::Improbe) {
                noteMessage(a, d.status);
            }
        }
    });
    return code;
}
template <FunctionId F, typename Call>
int tracedImprobe(const Args& a, CodeAddress site, Call call) {
    return tracedIprobe<F>(a, site, call);
}

inline void fillMatched(DetailsView& d, const Args& a) {
    d.recvBytes = bytesOf(a.count, a.datatype);
    MatchedMessage message;
    if (rank.messageTable.take(*a.message, message)) {
        d.comm = message.comm;
        d.recvPeer = message.source;
        d.recvTag = message.tag;
        d.message = {rank.messages - message.serial};
    } else if (*a.message == predefined.messageNoProc) {
        d.recvPeer = kProcNull;
    } else {
        d.message = {RequestRef::kUnknown};
    }
}

template <FunctionId F, typename Call>
int tracedMrecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) { fillMatched(d, a); });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, [&](DetailsView& d) {
        if (code == MPI_SUCCESS) {
            d.status = traceStatus(*status.place());
        }
    });
    return code;
}
template <FunctionId F, typename Call>
int tracedImrecv(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::Recv, false, call, [&](DetailsView& d) { fillMatched(d, a); },
        [](DetailsView&, int, std::uint32_t) {});
}

// --- Cancel, the end of a job ---

template <FunctionId F, typename Call>
int tracedAbort(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([&](DetailsView& d) { d.comm = commIndex(a.comm); });
    stopBeforeEnd(trace::StopReason::Abort, a.errorcode);
    const int code = call();
    frame.finished();
    frame.end(code);
    return code;
}

} // namespace stopline::preload

#include "wrappers_collective.h"
#include "wrappers_init.h"
#include "wrappers_wait.h"
