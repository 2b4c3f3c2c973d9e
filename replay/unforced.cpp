#include "unforced.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

namespace {

/// True for a spawn of processes that are ranks here, and so have logs of their own.
bool hasSpawnedRanks(const Timeline& timeline, RankId rank, const Call& call) {
    if (call.end.value() == 0) {
        return false;
    }
    const CommIndex made = timeline.details(rank, call.endDetails).newComm;
    if (made == kNoComm) {
        return true; // none has been started
    }
    const std::vector<std::int32_t>& others = timeline.comm(rank, made).remote;
    return std::find(others.begin(), others.end(), -1) == others.end();
}

} // namespace

bool deliversSome(FunctionId function) {
    return function == FunctionId::Waitany || function == FunctionId::Waitsome || function == FunctionId::Testany ||
           function == FunctionId::Testsome;
}

bool failsInPart(const EventDetails& end) {
    return end.error == trace::ErrorClass::InStatus && (end.function == FunctionId::Waitall || end.function == FunctionId::Testall);
}

std::optional<Unforced::Why> whyUnforced(const Timeline& timeline, CallRef ref) {
    const Call call = timeline.call(ref);
    const EventDetails& begin = timeline.details(ref.rank, call.beginDetails);
    if (begin.thread != 0) {
        return Unforced::Why::Threads;
    }
    const CallClass callClass = trace::functionClass(begin.function);
    if (callClass == CallClass::Isendrecv && begin.recvPeer == kAnySource) {
        return Unforced::Why::Unknown;
    }
    if (callClass == CallClass::Rma || callClass == CallClass::RmaRequest) {
        return Unforced::Why::OneSided;
    }
    if ((callClass == CallClass::CommSpawn || callClass == CallClass::CommJoin) && !hasSpawnedRanks(timeline, ref.rank, call)) {
        return Unforced::Why::Processes;
    }
    if (begin.truncated) {
        return Unforced::Why::TooLong;
    }
    if (call.end.value() != 0) {
        const EventDetails& end = timeline.details(ref.rank, call.endDetails);
        if (end.truncated && (deliversSome(end.function) || failsInPart(end))) {
            return Unforced::Why::TooLong;
        }
    }
    return std::nullopt;
}

std::optional<Unforced> unforcedOf(const Timeline& timeline, RankId rank) {
    if (timeline.firstEvent(rank).value() > 1) {
        return Unforced{Unforced::Why::Missing, timeline.firstEvent(rank)};
    }
    const std::uint32_t calls = timeline.callCount(rank);
    for (std::uint32_t i = 0; i < calls; ++i) {
        const CallRef call{rank, CallIndex(i)};
        if (const auto why = whyUnforced(timeline, call)) {
            return Unforced{*why, timeline.call(call).begin};
        }
    }
    return std::nullopt;
}

std::string_view unforcedReason(Unforced::Why why) {
    switch (why) {
    case Unforced::Why::Threads:
        return "several threads call MPI, and in which order they do is not replayed";
    case Unforced::Why::OneSided:
        return "what one-sided calls read depends on when others write, which is not replayed";
    case Unforced::Why::Processes:
        return "processes that are joined are others each time";
    case Unforced::Why::Unknown:
        return "MPI does not tell from whom the call received";
    case Unforced::Why::Missing:
        return "what its calls before got is not known any more";
    case Unforced::Why::TooLong:
        return "it is about more requests than the recording lists";
    }
    return {};
}

} // namespace stopline::replay
