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

/// One way of a message: what decides the details, and the details.
struct Way {
    MPI_Comm comm;
    int peer;
    int tag;
    std::uint64_t bytes;

    [[nodiscard]] Facts facts() const {
        return {{reinterpret_cast<std::uintptr_t>(comm), bothOf(peer, tag), bytes, 0}};
    }
    void fillSend(DetailsView& d) const {
        d.comm = commIndex(comm);
        d.sendPeer = traceDestination(peer);
        d.sendTag = tag;
        d.sendBytes = bytes;
    }
    void fillReceive(DetailsView& d) const {
        d.comm = commIndex(comm);
        d.recvPeer = traceSource(peer);
        d.recvTag = traceTag(tag);
        d.recvBytes = bytes;
    }
};
inline Way sendWay(const Args& a) {
    return {a.comm, a.dest, a.tag, bytesOf(a.count, a.datatype)};
}
inline Way receiveWay(const Args& a) {
    return {a.comm, a.source, a.tag, bytesOf(a.count, a.datatype)};
}

template <FunctionId F, typename Call>
int tracedSend(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const Way way = sendWay(a);
    frame.begin(way.facts(), [&](DetailsView& d) { way.fillSend(d); });
    const int code = call();
    frame.finished();
    frame.end(code);
    return code;
}

template <FunctionId F, typename Call>
int tracedRecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const Way way = receiveWay(a);
    frame.begin(way.facts(), [&](DetailsView& d) { way.fillReceive(d); });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, *status.place());
    return code;
}

template <FunctionId F, typename Call>
int tracedSendrecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    constexpr bool kReplaces = F == FunctionId::Sendrecv_replace;
    const Way out{a.comm, a.dest, a.sendtag,
                  kReplaces ? bytesOf(a.count, a.datatype) : bytesOf(a.sendcount, a.sendtype)};
    const Way in{a.comm, a.source, a.recvtag, kReplaces ? out.bytes : bytesOf(a.recvcount, a.recvtype)};
    Facts facts = out.facts();
    facts.words[3] = bothOf(in.peer, in.tag) ^ in.bytes * 0x9e3779b97f4a7c15ULL;
    frame.begin(facts, [&](DetailsView& d) {
        out.fillSend(d);
        in.fillReceive(d);
    });
    StatusPlace status(a.status);
    const int code = call(status.place());
    frame.finished();
    frame.end(code, *status.place());
    return code;
}

// --- Calls that create requests ---

inline bool isPersistent(FunctionId function) {
    const CallClass c = trace::functionClass(function);
    return c == CallClass::SendInit || c == CallClass::RecvInit;
}

/// Remembers a request that has been made, under the lock.
inline void addRequest(const Args& a, std::uint32_t serial, RequestKind kind, bool persistent) {
    if (a.request != nullptr && *a.request != predefined.requestNull) {
        rank.requestTable.add(*a.request, serial, kind, persistent);
    }
}

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
        if (code == MPI_SUCCESS) {
            addRequest(a, serial, kind, persistent);
        }
        fillEnd(d, code, serial);
    });
    return code;
}

/// The same for a message that goes one way, with the details that its facts decide.
template <FunctionId F, typename Call, typename Fill>
int tracedPost(const Args& a, CodeAddress site, RequestKind kind, bool persistent, const Way& way, Call call,
               Fill fill) {
    Frame frame(F, site);
    std::uint32_t serial = 0;
    frame.begin(way.facts(), fill, [&] { serial = ++rank.requests; });
    const int code = call();
    frame.finished();
    if (code == MPI_SUCCESS) [[likely]] {
        frame.endWell({}, [](DetailsView&) {}, [&] { addRequest(a, serial, kind, persistent); });
    } else {
        frame.end(code);
    }
    return code;
}

template <FunctionId F, typename Call>
int tracedIsend(const Args& a, CodeAddress site, Call call) {
    const Way way = sendWay(a);
    return tracedPost<F>(a, site, RequestKind::Send, isPersistent(F), way, call,
                         [&](DetailsView& d) { way.fillSend(d); });
}
template <FunctionId F, typename Call>
int tracedIrecv(const Args& a, CodeAddress site, Call call) {
    const Way way = receiveWay(a);
    return tracedPost<F>(a, site, RequestKind::Recv, isPersistent(F), way, call,
                         [&](DetailsView& d) { way.fillReceive(d); });
}
template <FunctionId F, typename Call>
int tracedSendInit(const Args& a, CodeAddress site, Call call) {
    return tracedIsend<F>(a, site, call);
}
template <FunctionId F, typename Call>
int tracedRecvInit(const Args& a, CodeAddress site, Call call) {
    return tracedIrecv<F>(a, site, call);
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
    frame.end(code, *status.place());
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
