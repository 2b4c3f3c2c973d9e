// Collectives, constructors of communicators. Part of wrappers.h.
#pragma once

#include "spawn.h"
#include "wrappers.h"

namespace stopline::preload {

/// What this rank contributes to a collective and what it is to receive. `entry` may be null (unknown
/// communicator).
void fillCollective(DetailsView& d, FunctionId function, const Args& a);

/// The same for the collectives over the neighbours of a topology.
void fillNeighbor(DetailsView& d, FunctionId function, const Args& a);

/// The communicator that a constructor made; kind from the function.
void fillNewComm(DetailsView& d, FunctionId function, const Args& a, int code);

/// The intercommunicator with the processes that a spawn has started.
void fillSpawned(DetailsView& d, const Args& a, int code);

/// The call, with what it sends added to the hash before.
template <FunctionId F, typename Call>
auto contributing(const Args& a, Call call) {
    return [&a, call] {
        if (sent.on()) [[unlikely]] {
            sent.contribute(F, a);
        }
        return call();
    };
}

template <FunctionId F, typename Call>
int tracedCollective(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { fillCollective(d, F, a); }, contributing<F>(a, call));
}

template <FunctionId F, typename Call>
int tracedIcollective(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::Collective, contributing<F>(a, call),
                           [&](DetailsView& d) { fillCollective(d, F, a); });
}

template <FunctionId F, typename Call>
int tracedNeighbor(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { fillNeighbor(d, F, a); }, call);
}

template <FunctionId F, typename Call>
int tracedIneighbor(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::Collective, call,
                           [&](DetailsView& d) { fillNeighbor(d, F, a); });
}

template <FunctionId F, typename Call>
int tracedCollectiveInit(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F, true>(a, site, RequestKind::Collective, call,
                                 [&](DetailsView& d) { fillCollective(d, F, a); });
}

template <FunctionId F, typename Call>
int tracedNeighborInit(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F, true>(a, site, RequestKind::Collective, call,
                                 [&](DetailsView& d) { fillNeighbor(d, F, a); });
}

template <FunctionId F, typename Call>
int tracedCommSpawn(const Args& a, CodeAddress site, Call call) {
    constexpr bool kSpawns = F == FunctionId::Comm_spawn || F == FunctionId::Comm_spawn_multiple;
    Frame frame(F, site);
    const auto fill = [&](DetailsView& d) {
        d.comm = commIndex(a.comm);
        d.root = traceRoot(a.root);
    };
    if constexpr (kSpawns) {
        const auto spawn = [&] {
            // MPI_Comm_spawn has no count: there is one command.
            const SpawnPlan plan(a, F == FunctionId::Comm_spawn ? 1 : static_cast<int>(a.count));
            return call(plan.words());
        };
        return performed(
            frame, fill, spawn,
            [&](DetailsView& d, int code) { fillSpawned(d, a, code); });
    } else {
        return performed(frame, fill, call, [&](DetailsView& d, int code) { fillNewComm(d, F, a, code); });
    }
}

template <FunctionId F, typename Call>
int tracedCommJoin(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [](DetailsView&) {}, call,
        [&](DetailsView& d, int code) {
            if (code == MPI_SUCCESS) {
                d.newComm = rank.comms.add(rank.recorder, trace::CommKind::Process, nullptr, *a.newcomm);
            }
        });
}

template <FunctionId F, typename Call>
int tracedCommCreate(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { d.comm = commIndex(a.comm); },
        [&] {
            const int code = call();
            if (code == MPI_SUCCESS && forced.concerns(frame.event()) && forced.makesTwin(frame.event())) [[unlikely]] {
                marked.add(*a.newcomm);
            }
            return code;
        },
        [&](DetailsView& d, int code) { fillNewComm(d, F, a, code); });
}

template <FunctionId F, typename Call>
int tracedCommIdup(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(
        a, site, RequestKind::CommDup, call, [&](DetailsView& d) { d.comm = commIndex(a.comm); },
        [&](DetailsView& d, int code, std::uint32_t serial) {
            if (code == MPI_SUCCESS) {
                d.newComm = rank.comms.addLater(rank.recorder, rank.comms.find(rank.recorder, a.comm),
                                                a.newcomm, serial);
            }
        });
}

template <FunctionId F, typename Call>
int tracedCommFree(const Args& a, CodeAddress site, Call call) {
    const MPI_Comm freed = *a.commPointer;
    return tracedUnmake<F>(
        site, freed, [&] { return commIndex(freed); },
        [&] {
            marked.release(freed);
            return call();
        });
}

} // namespace stopline::preload
