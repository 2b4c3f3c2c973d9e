// The wrappers of all traced calls, written once for each class. The generated entry points fill Args by role and pass the
// real call as a function object; it takes the status (or statuses) to use where the function has one.
#pragma once

#include "forced.h"
#include "frame.h"
#include "heap.h"
#include "marked.h"
#include "sent.h"
#include "wrapper_args.h"

#include <climits>

namespace stopline::preload {

// --- From begin to end ---

/// A call whose begin `fill(details)` describes and whose end `fillEnd(details, code)`.
template <typename Fill, typename Call, typename FillEnd>
int performed(Frame& frame, Fill fill, Call call, FillEnd fillEnd) {
    frame.begin(fill);
    const int code = call();
    frame.finished();
    frame.end(code, [&](DetailsView& d) { fillEnd(d, code); });
    return code;
}
template <typename Fill, typename Call>
int performed(Frame& frame, Fill fill, Call call) {
    frame.begin(fill);
    const int code = call();
    frame.finished();
    frame.end(code);
    return code;
}

/// The same for a poll. `saysNo()` after a call without error: nothing has happened yet. A re-execution may have to say
/// so where MPI would not, by `sayNo()`, or to go on until all has happened: `succeed()`.
template <typename Fill, typename Call, typename SaysNo, typename FillEnd, typename SayNo, typename Succeed>
int polled(Frame& frame, Fill fill, Call call, SaysNo saysNo, FillEnd fillEnd, SayNo sayNo, Succeed succeed) {
    frame.beginPoll(fill);
    int code = MPI_SUCCESS;
    if (forced.concernsPoll()) [[unlikely]] {
        switch (forced.pollAnswer()) {
        case PollAnswer::No:
            sayNo();
            makeProgress();
            frame.pollFailed(fill);
            return MPI_SUCCESS;
        case PollAnswer::Yes:
            code = succeed();
            break;
        case PollAnswer::Real:
            code = call();
            break;
        }
    } else {
        code = call();
    }
    if (code == MPI_SUCCESS && saysNo()) [[likely]] {
        frame.pollFailed(fill);
        return code;
    }
    frame.finished();
    frame.endPoll(code, fill, [&](DetailsView& d) { fillEnd(d, code); });
    return code;
}

/// What a call that receives also sends, and where it receives it.
template <FunctionId F>
void addExchanged(const Args& a) {
    constexpr FunctionId kPlain = trace::plainFunction(F);
    if constexpr (kPlain == FunctionId::Sendrecv_replace || kPlain == FunctionId::Isendrecv_replace) {
        sent.add(a.buf, a.count, a.datatype, a.comm);
    } else if constexpr (kPlain == FunctionId::Sendrecv || kPlain == FunctionId::Isendrecv) {
        sent.add(a.sendbuf, a.sendcount, a.sendtype, a.comm);
    } else {
        heap.see(a.buf);
    }
}

/// A call that receives one message, or both ways: `facts` decide its details.
template <FunctionId F, typename Fill, typename Call>
int received(Frame& frame, const Args& a, const Facts& facts, Fill fill, Call call) {
    constexpr FunctionId kPlain = trace::plainFunction(F);
    StatusPlace status(a.status);
    frame.begin(facts, fill);
    if (sent.on()) [[unlikely]] {
        addExchanged<F>(a);
    }
    int code = MPI_SUCCESS;
    MPI_Comm out = a.comm;
    if (forced.concerns(frame.event()) && forced.source(frame.event(), a.sourcePlace, a.commPlace, &out)) [[unlikely]] {
        if (kPlain == FunctionId::Recv && a.count <= INT_MAX) {
            code = forced.receive(a, status.place());
        } else if (kPlain == FunctionId::Sendrecv && *a.sourcePlace == MPI_PROC_NULL) {
            *a.commPlace = out; // it only sends; of a request from nobody MPICH says that rank 0 has sent it
            code = toldOfTwin(a.comm, a.commPlace, call(status.place()));
        } else if (kPlain == FunctionId::Sendrecv && a.recvcount <= INT_MAX && a.sendcount <= INT_MAX) {
            code = forced.exchange(a, out, status.place());
        } else {
            code = call(status.place());
        }
    } else {
        code = call(status.place());
    }
    frame.finished();
    frame.end(code, *status.place());
    return code;
}

/// A call that makes something on a communicator, of which `made()` is then the handle: a window, a file.
/// `fill` adds to the details of its begin.
template <FunctionId F, typename Made, typename Call, typename Fill>
int tracedMake(const Args& a, CodeAddress site, trace::CommKind kind, Made made, Call call, Fill fill) {
    Frame frame(F, site);
    return performed(
        frame,
        [&](DetailsView& d) {
            d.comm = commIndex(a.comm);
            fill(d);
        },
        call,
        [&](DetailsView& d, int code) {
            if (code == MPI_SUCCESS) {
                d.newComm = rank.comms.addOn(rank.recorder, kind, rank.comms.find(rank.recorder, a.comm),
                                             keyOf(made()));
            }
        });
}

/// A call that frees what has an entry among the communicators; `index()` finds it.
template <FunctionId F, typename Handle, typename Index, typename Call>
int tracedUnmake(CodeAddress site, Handle freed, Index index, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { d.comm = index(); }, call,
        [&](DetailsView&, int code) {
            if (code == MPI_SUCCESS) {
                rank.comms.remove(keyOf(freed));
            }
        });
}

// --- Point to point ---

/// One way of a message: what decides the details, and the details.
struct Way {
    MPI_Comm comm;
    int peer;
    int tag;
    std::uint64_t bytes;

    [[nodiscard]] Facts facts() const { return {{keyOf(comm), bothOf(peer, tag), bytes, 0, 0}}; }
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
    if (sent.on()) [[unlikely]] {
        sent.add(a.buf, a.count, a.datatype, a.comm);
    }
    if (forced.concerns(frame.event())) [[unlikely]] {
        forced.send(frame.event(), a.commPlace);
    }
    const int code = toldOfTwin(a.comm, a.commPlace, call());
    frame.finished();
    frame.end(code);
    return code;
}

template <FunctionId F, typename Call>
int tracedRecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const Way way = receiveWay(a);
    return received<F>(
        frame, a, way.facts(), [&](DetailsView& d) { way.fillReceive(d); }, call);
}

// --- Calls that create requests ---

/// Remembers a request that has been made, under the lock.
inline void addRequest(const Args& a, std::uint32_t serial, RequestKind kind, bool persistent) {
    if (a.request != nullptr && *a.request != predefined.requestNull) {
        rank.requestTable.add(*a.request, serial, kind, persistent, a.request);
    }
}

/// Begin, call and end of a call that creates one request. `fill` completes the details of the begin,
/// `fillEnd` those of the end.
template <FunctionId F, bool kPersistent = false, typename Call, typename Fill, typename FillEnd>
int tracedCreate(const Args& a, CodeAddress site, RequestKind kind, Call call, Fill fill, FillEnd fillEnd) {
    Frame frame(F, site);
    std::uint32_t serial = 0;
    return performed(
        frame,
        [&](DetailsView& d) {
            serial = ++rank.requests;
            fill(d);
        },
        call,
        [&](DetailsView& d, int code) {
            if (code == MPI_SUCCESS) {
                addRequest(a, serial, kind, kPersistent);
            }
            fillEnd(d, code, serial);
        });
}
template <FunctionId F, bool kPersistent = false, typename Call, typename Fill>
int tracedCreate(const Args& a, CodeAddress site, RequestKind kind, Call call, Fill fill) {
    return tracedCreate<F, kPersistent>(a, site, kind, call, fill, [](DetailsView&, int, std::uint32_t) {});
}

/// The same for a message that goes one way, with the details that its facts decide.
template <FunctionId F, bool kPersistent, typename Call, typename Fill>
int tracedPost(const Args& a, CodeAddress site, RequestKind kind, const Way& way, Call call, Fill fill) {
    Frame frame(F, site);
    std::uint32_t serial = 0;
    frame.begin(way.facts(), fill, [&] { serial = ++rank.requests; });
    if (sent.on()) [[unlikely]] {
        if (kind == RequestKind::Send && !kPersistent) {
            sent.add(a.buf, a.count, a.datatype, a.comm);
        } else {
            heap.see(a.buf);
        }
    }
    int code = MPI_SUCCESS;
    MPI_Comm* const comm = kPersistent ? nullptr : a.commPlace;
    if (forced.concerns(frame.event()) && forced.post(frame.event(), kind == RequestKind::Recv && !kPersistent ? a.sourcePlace : nullptr, a.request, comm)) [[unlikely]] {
        // It was cancelled: what stands for it has been posted.
    } else {
        code = toldOfTwin(a.comm, comm, call());
    }
    frame.finished();
    if (code == MPI_SUCCESS) [[likely]] {
        frame.endWell(
            {}, [](DetailsView&) {}, [&] { addRequest(a, serial, kind, kPersistent); });
        if (kPersistent && sent.on() && kind == RequestKind::Send) [[unlikely]] {
            sent.remember(serial, a);
        }
    } else {
        frame.end(code);
    }
    return code;
}

template <FunctionId F, bool kPersistent = false, typename Call>
int tracedIsend(const Args& a, CodeAddress site, Call call) {
    const Way way = sendWay(a);
    return tracedPost<F, kPersistent>(a, site, RequestKind::Send, way, call,
                                      [&](DetailsView& d) { way.fillSend(d); });
}
template <FunctionId F, bool kPersistent = false, typename Call>
int tracedIrecv(const Args& a, CodeAddress site, Call call) {
    const Way way = receiveWay(a);
    return tracedPost<F, kPersistent>(a, site, RequestKind::Recv, way, call,
                                      [&](DetailsView& d) { way.fillReceive(d); });
}
/// The message of a persistent request may come in equal parts.
template <FunctionId F>
Args wholeOf(const Args& a) {
    Args whole = a;
    if constexpr (F == FunctionId::Psend_init || F == FunctionId::Precv_init) {
        whole.count *= a.partitions;
    }
    return whole;
}
template <FunctionId F, typename Call>
int tracedSendInit(const Args& a, CodeAddress site, Call call) {
    return tracedIsend<F, true>(wholeOf<F>(a), site, call);
}
template <FunctionId F, typename Call>
int tracedRecvInit(const Args& a, CodeAddress site, Call call) {
    const int code = tracedIrecv<F, true>(wholeOf<F>(a), site, call);
    if (forced.on && code == MPI_SUCCESS && !forced.left()) [[unlikely]] {
        forced.rememberReceive(a);
    }
    return code;
}

// --- Cancel, the end of a job ---

template <FunctionId F, typename Call>
int tracedAbort(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { d.comm = commIndex(a.comm); },
        [&] {
            stopBeforeEnd(trace::StopReason::Abort, a.errorcode);
            return call();
        });
}

} // namespace stopline::preload

#include "wrappers_both.h"
#include "wrappers_collective.h"
#include "wrappers_file.h"
#include "wrappers_init.h"
#include "wrappers_matched.h"
#include "wrappers_wait.h"
#include "wrappers_window.h"
