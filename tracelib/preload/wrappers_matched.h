// Probes, and messages that a matched probe has taken out. Part of wrappers.h.
#pragma once

#include "wrappers.h"

namespace stopline::preload {

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

template <FunctionId F>
void fillProbed(DetailsView& d, const Args& a, const MPI_Status& status, int code) {
    if (code == MPI_SUCCESS) {
        d.status = traceStatus(status);
        if constexpr (F == FunctionId::Mprobe || F == FunctionId::Improbe) {
            noteMessage(a, d.status);
        }
    }
}

/// The end of a poll. What was asked for first, maybe by a poll of another kind, may not be what has succeeded: the end
/// says it where it is something else.
template <FunctionId F>
void fillPolled(DetailsView& d, const Args& a, const MPI_Status& status, int code) {
    fillProbe(d, a);
    if (d.comm == rank.poll.comm && d.recvPeer == rank.poll.source && d.recvTag == rank.poll.tag) {
        d.comm = kNoComm;
        d.recvPeer = kNoPeer;
        d.recvTag = kNoTag;
    }
    fillProbed<F>(d, a, status, code);
}

/// A probe whose source is forced; nothing: the debugger has let go of it.
template <FunctionId F>
std::optional<int> probeForced(const Args& a, MPI_Status* status) {
    int flag = 0;
    const int code = untilYes(
        [&] {
            if constexpr (F == FunctionId::Mprobe) {
                return real.Improbe(*a.sourcePlace, a.tag, *a.commPlace, &flag, a.message, status);
            } else {
                return real.Iprobe(*a.sourcePlace, a.tag, *a.commPlace, &flag, status);
            }
        },
        &flag);
    return code == MPI_SUCCESS && flag == 0 ? std::nullopt : std::optional<int>(code);
}

template <FunctionId F, typename Call>
int tracedProbe(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    StatusPlace status(a.status);
    return performed(
        frame, [&](DetailsView& d) { fillProbe(d, a); },
        [&] {
            if (forced.concerns(frame.event()) && forced.source(frame.event(), a.sourcePlace, a.commPlace)) [[unlikely]] {
                if (const auto code = probeForced<F>(a, status.place())) {
                    return toldOfTwin(a.comm, a.commPlace, *code);
                }
                *a.sourcePlace = a.source;
                *a.commPlace = a.comm;
            }
            return call(status.place());
        },
        [&](DetailsView& d, int code) { fillProbed<F>(d, a, *status.place(), code); });
}
template <FunctionId F, typename Call>
int tracedMprobe(const Args& a, CodeAddress site, Call call) {
    return tracedProbe<F>(a, site, call);
}

/// What a poll asked for when it saw a message, where its first try asked for something else.
inline void tellProbe(DetailsView& d, const Args& a) {
    DetailsView asked;
    fillProbe(asked, a);
    if (asked.comm != rank.poll.comm || asked.recvPeer != rank.poll.source || asked.recvTag != rank.poll.tag) {
        fillProbe(d, a);
    }
}

template <FunctionId F, typename Call>
int tracedIprobe(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    StatusPlace status(a.status);
    return polled(
        frame, [&](DetailsView& d) { fillProbe(d, a); }, [&] { return call(status.place()); },
        [&] { return *a.flag == 0; },
        [&](DetailsView& d, int code) { fillPolled<F>(d, a, *status.place(), code); }, [&] { *a.flag = 0; },
        [&] {
            *a.sourcePlace = forced.probed(*a.sourcePlace, a.commPlace);
            return toldOfTwin(a.comm, a.commPlace, untilYes([&] { return call(status.place()); }, a.flag));
        });
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
    StatusPlace status(a.status);
    return performed(
        frame, [&](DetailsView& d) { fillMatched(d, a); }, [&] { return call(status.place()); },
        [&](DetailsView& d, int code) {
            if (code == MPI_SUCCESS || hasReceived(d.error)) {
                d.status = traceStatus(*status.place());
            }
        });
}
template <FunctionId F, typename Call>
int tracedImrecv(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::Recv, call, [&](DetailsView& d) { fillMatched(d, a); });
}

} // namespace stopline::preload
