// The wrappers of all traced calls, written once for each class. The generated entry points fill Args by role and pass the
// real call as a function object; it takes the status (or statuses) to use where the function has one.
#pragma once

#include "forced.h"
#include "frame.h"

namespace stopline::preload {

/// An array of counts, of either size.
class Counts {
  public:
    Counts() = default; // as the members of Args: not set
    Counts(const int* counts) : m_counts(counts), m_large(nullptr) {}
    Counts(const MPI_Count* counts) : m_counts(nullptr), m_large(counts) {}
    [[nodiscard]] bool isNull() const { return m_counts == nullptr && m_large == nullptr; }
    std::int64_t operator[](std::int32_t i) const {
        return m_large != nullptr ? static_cast<std::int64_t>(m_large[i]) : m_counts[i];
    }

  private:
    const int* m_counts;
    const MPI_Count* m_large;
};

/// Arguments of a call by their role (functions.def); what a function lacks but others of its class have is
/// zero. Members that no function of a class has are not set at all: setting them would cost more than a poll
/// may.
struct Args {
    const void* buf;
    const void* sendbuf;
    const void* recvbuf;
    MPI_Count count;
    int partitions;
    MPI_Datatype datatype;
    int dest;
    int source;
    int* sourcePlace; ///< where MPI will be given the source from
    int tag;
    MPI_Count sendcount;
    Counts sendcounts;
    MPI_Datatype sendtype;
    const MPI_Datatype* sendtypes;
    int sendtag;
    MPI_Count recvcount;
    Counts recvcounts;
    MPI_Datatype recvtype;
    const MPI_Datatype* recvtypes;
    int recvtag;
    int root;
    MPI_Comm comm;
    MPI_Comm* commPointer; ///< Comm_free, Comm_disconnect
    MPI_Comm* newcomm;
    MPI_Request* request;
    MPI_Request* requests;
    MPI_Status* status;
    MPI_Status* statuses;
    MPI_Message* message;
    int* flag;
    int* index;
    int* outcount;
    int* indices;
    int errorcode;
    MPI_Win win;
    MPI_Win* winPointer; ///< made or freed
    MPI_File fh;
    MPI_File* fhPointer; ///< made or freed
    int target_rank;
    MPI_Count origin_count;
    MPI_Datatype origin_datatype;
    MPI_Count result_count;
    MPI_Datatype result_datatype;
    int lock_type;
    MPI_Group group;
    int assertion;
    int amode;
    const char* const* commands; ///< Comm_spawn, Comm_spawn_multiple, as the next two
    char** const* argvs;
    const MPI_Info* infos;
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
    if (forced.poll.on) [[unlikely]] {
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

/// A call that receives one message, or both ways: `facts` decide its details.
template <typename Fill, typename Call>
int received(Frame& frame, const Args& a, const Facts& facts, Fill fill, Call call) {
    StatusPlace status(a.status);
    frame.begin(facts, fill);
    if (forced.concerns(frame.event())) [[unlikely]] {
        forced.source(frame.event(), a.sourcePlace);
    }
    const int code = call(status.place());
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
    const int code = call();
    frame.finished();
    frame.end(code);
    return code;
}

template <FunctionId F, typename Call>
int tracedRecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const Way way = receiveWay(a);
    return received(
        frame, a, way.facts(), [&](DetailsView& d) { way.fillReceive(d); }, call);
}

/// The messages of a call that sends and receives.
struct BothWays {
    Way out;
    Way in;
};
template <FunctionId F>
BothWays bothWays(const Args& a) {
    constexpr FunctionId kPlain = trace::plainFunction(F);
    if constexpr (kPlain == FunctionId::Sendrecv_replace || kPlain == FunctionId::Isendrecv_replace) {
        const std::uint64_t bytes = bytesOf(a.count, a.datatype);
        return {{a.comm, a.dest, a.sendtag, bytes}, {a.comm, a.source, a.recvtag, bytes}};
    } else {
        return {{a.comm, a.dest, a.sendtag, bytesOf(a.sendcount, a.sendtype)},
                {a.comm, a.source, a.recvtag, bytesOf(a.recvcount, a.recvtype)}};
    }
}

template <FunctionId F, typename Call>
int tracedSendrecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const BothWays ways = bothWays<F>(a);
    Facts facts = ways.out.facts();
    facts.words[3] = bothOf(ways.in.peer, ways.in.tag);
    facts.words[4] = ways.in.bytes;
    return received(
        frame, a, facts,
        [&](DetailsView& d) {
            ways.out.fillSend(d);
            ways.in.fillReceive(d);
        },
        call);
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
    int code = MPI_SUCCESS;
    if (forced.concerns(frame.event()) && forced.post(frame.event(), kind == RequestKind::Recv && !kPersistent ? a.sourcePlace : nullptr, a.request)) [[unlikely]] {
        // It was cancelled: what stands for it has been posted.
    } else {
        code = call();
    }
    frame.finished();
    if (code == MPI_SUCCESS) [[likely]] {
        frame.endWell(
            {}, [](DetailsView&) {}, [&] { addRequest(a, serial, kind, kPersistent); });
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
    if (forced.on && code == MPI_SUCCESS) [[unlikely]] {
        forced.rememberReceive(a);
    }
    return code;
}

/// Both ways in one request. Its status is that of the receive by the standard, but MPICH 4.0 leaves it as it
/// was: it is not looked at, and what a wildcard got stays unknown.
template <FunctionId F, typename Call>
int tracedIsendrecv(const Args& a, CodeAddress site, Call call) {
    const BothWays ways = bothWays<F>(a);
    return tracedCreate<F>(a, site, RequestKind::Plain, call, [&](DetailsView& d) {
        ways.out.fillSend(d);
        ways.in.fillReceive(d);
    });
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

#include "wrappers_collective.h"
#include "wrappers_file.h"
#include "wrappers_init.h"
#include "wrappers_matched.h"
#include "wrappers_wait.h"
#include "wrappers_window.h"
