// The begin and the end of MPI. Part of wrappers.h.
#pragma once

#include "wrappers.h"

namespace stopline::preload {

/// Makes this process the rank if it is to be one; false: the call is not traced.
bool startRecording();
/// After a successful MPI_Init: ranks, communicators, thread level, the guard against leaving without
/// Finalize.
void becomeLive();

template <FunctionId F, typename Call>
int tracedInit(const Args&, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([](DetailsView&) {}, trace::Gate::Init);
    const bool twins = forced.concerns(frame.event()) && forced.makesTwin(frame.event());
    const int code = call();
    frame.finished();
    if (code == MPI_SUCCESS) {
        becomeLive();
        if (twins) {
            marked.begin();
        }
    }
    frame.end(
        code, [](DetailsView&) {}, trace::Gate::InitEnd);
    return code;
}

template <FunctionId F, typename Call>
int tracedFinalize(const Args&, CodeAddress site, Call call) {
    Frame frame(F, site);
    frame.begin([](DetailsView&) {});
    if (sent.hashes) {
        sent.compare();
        sent.mark();
        holdIfWanted(frame.event()); // here it can still be looked at why data differ
    }
    rank.phase = Phase::Ending;
    rank.freed.pollForTheLastTime();
    controlMessages.end();
    marked.end();
    const int code = call();
    frame.finished();
    rank.phase = Phase::Finalized;
    frame.end(MPI_SUCCESS);
    online.finish();
    rank.recording.store(false, std::memory_order_relaxed);
    setState(trace::RankState::Finalized);
    return code;
}

/// At MPI_Session_finalize outside of a recording: says why there is none, if MPI_Init has never been called.
void noteSession();

template <FunctionId F, typename Call>
int tracedSessionEnd(const Args& a, CodeAddress site, Call call) {
    return tracedService<F>(a, site, call);
}

} // namespace stopline::preload
