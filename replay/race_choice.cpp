#include "race_choice.h"

#include "../tracelib/functions.h"
#include "jobs.h"
#include "matcher.h"

#include <algorithm>

namespace stopline::replay {

namespace {

using trace::CallClass;

bool completes(const Timeline& timeline, CallRef call) {
    return timeline.call(call).end.value() != 0 &&
           trace::completesRequests(trace::functionClass(timeline.details(call.rank, timeline.call(call).endDetails).function));
}

/// The first call behind `post` by whose end its rank can know that this message has been sent, other than by its being
/// received; `last` at the latest, which has ended. Of a receive whose request was freed no call tells that it is complete, but
/// from there on the program may look at what has come.
CallRef firstKnowing(const Timeline& timeline, CallRef post, CallRef last, const MaybeCall& send) {
    if (!send) {
        return post;
    }
    const RankId sender = send->rank;
    const Line before = timeline.futureFrontier({*send, false});
    const EventIndex sent = std::max(timeline.call(*send).begin, timeline.call(*send).end); // what the receive itself needs
    const auto knows = [&](CallIndex call) {
        const Line needed = timeline.pastFrontier({{post.rank, call}, true});
        for (std::int32_t i = 0; i < timeline.rankCount(); ++i) {
            const EventIndex own = needed.cut[std::size_t(i)].event;
            const EventIndex most = i == sender.value() ? sent : before.cut[std::size_t(i)].event;
            if (i != post.rank.value() && own > most) {
                return true;
            }
        }
        return false;
    };
    if (!knows(last.call)) {
        return last;
    }
    std::uint32_t ignorant = post.call.value();
    std::uint32_t knowing = last.call.value();
    while (knowing - ignorant > 1) {
        const std::uint32_t middle = ignorant + (knowing - ignorant) / 2;
        (knows(CallIndex(middle)) ? knowing : ignorant) = middle;
    }
    return {post.rank, CallIndex(knowing)};
}

/// Whether what this receive got can only be told by chance: its request was freed, or it was not complete in the end.
bool untold(const Timeline& timeline, const Message& message) {
    return message.done != message.post && (!message.done || !completes(timeline, *message.done));
}

/// The call that completes the race. Where its request was freed there is none, and what tells of it is chance: then the one
/// by which the program may know it.
CallRef lastDependent(const Timeline& timeline, const Race& race) {
    CallRef last = decidingCall(race);
    if (last == race.call || completes(timeline, last)) {
        return last;
    }
    last.call = CallIndex(timeline.callCount(last.rank) - 1);
    while (timeline.call(last).end.value() == 0) {
        last.call = CallIndex(last.call.value() - 1); // it ends at the one that tells of the race
    }
    return firstKnowing(timeline, race.call, last, race.send);
}

/// What a call of this rank finds out may depend on which message the race gets: it completes the race, or it receives or
/// probes for something that has been posted later, or by the same MPI_Startall, or it tells that something has come there. The
/// first of these, up to the one that completes the race. Not one that was told of a freed receive by chance: what that got is
/// left open, see Recording::upTo().
CallRef firstDependent(const Timeline& timeline, const Race& race) {
    CallRef last = lastDependent(timeline, race);
    for (CallRef at = race.call; at < last; at.call = CallIndex(at.call.value() + 1)) {
        if (at != race.call) {
            const CallClass callClass = trace::functionClass(
                timeline.details(at.rank, timeline.call(at).beginDetails).function);
            if (callClass == CallClass::Probe || callClass == CallClass::Mprobe || callClass == CallClass::Iprobe ||
                callClass == CallClass::Improbe) {
                return at;
            }
        }
        for (const MessageIndex index : timeline.messagesOf(at)) {
            const Message& message = timeline.messages()[index.value()];
            if (!message.post || message.post->rank != at.rank || *message.post < race.call) {
                continue;
            }
            if (message.done == at && at != race.call && (*message.post == at || completes(timeline, at))) {
                return at;
            }
            if (*message.post == at && message.send && untold(timeline, message) && last != race.call) {
                last = firstKnowing(timeline, at, last, message.send);
            }
        }
    }
    return last;
}

/// The sender of what the race got may not have gone on before it was received.
bool sendMayWait(const Timeline& timeline, const Race& race) {
    if (!race.send) {
        return false;
    }
    const trace::FunctionId function = timeline.details(race.send->rank, timeline.call(*race.send).beginDetails).function;
    if (isBufferedSend(function)) {
        return false;
    }
    if (isSynchronousSend(function) || trace::functionClass(function) == CallClass::Start) { // of a start it is not told here
        return true;
    }
    const std::uint64_t limit = TransportRules().eagerLimit;
    const std::vector<MessageIndex> sent = timeline.messagesOf(*race.send);
    return std::any_of(sent.begin(), sent.end(), [&](MessageIndex index) {
        return timeline.messages()[index.value()].bytes > limit;
    });
}

/// The call itself does not end before its message has gone.
bool sendsAndWaits(const Timeline& timeline, CallRef send) {
    const CallClass callClass = trace::functionClass(timeline.details(send.rank, timeline.call(send).beginDetails).function);
    return callClass == CallClass::Send || callClass == CallClass::Sendrecv;
}

} // namespace

Choice choiceOf(const Timeline& timeline, const Race& race, const Alternative& alternative, std::string& why) {
    Choice choice{race, alternative.sender, std::uint64_t(std::max(0, alternative.source)), alternative.tag,
                  timeline.call(alternative.send).begin, {}};
    if (alternative.source < 0) {
        why = "it is not known which rank of the communicator rank " + rankName(alternative.sender) + " is";
        return choice;
    }
    if (const auto late = timeline.startsLate()) {
        why = "the history of rank " + rankName(*late) + " starts at event " +
              std::to_string(timeline.firstEvent(*late).value()) + ": what came before cannot be replayed";
        return choice;
    }
    const CallClass asked = trace::functionClass(timeline.details(race.call.rank, timeline.call(race.call).beginDetails).function);
    if ((race.kind == RaceKind::Probe || race.kind == RaceKind::FailedProbe) && asked != CallClass::Probe && asked != CallClass::Mprobe &&
        asked != CallClass::Iprobe && asked != CallClass::Improbe) {
        why = "the probe belongs to a poll that began by asking for something else";
        return choice;
    }
    const CallRef deciding = firstDependent(timeline, race);
    const Call call = timeline.call(deciding);
    if (call.end.value() == 0) {
        why = "the call that decides it has not ended";
        return choice;
    }
    std::vector<Line> lines{timeline.futureFrontier({deciding, true})};
    const bool mayWait = sendMayWait(timeline, race);
    const bool endWaits = mayWait && sendsAndWaits(timeline, *race.send);
    if (mayWait) {
        // Its sender goes on only when the message has been received, which may now be later, or never.
        lines.push_back(timeline.futureFrontier({deciding, false}));
    }
    if (endWaits) {
        lines.push_back(timeline.futureFrontier({*race.send, true}));
    }
    for (std::int32_t rank = 0; rank < timeline.rankCount(); ++rank) {
        EventIndex least = timeline.lastEvent(RankId(rank));
        for (const Line& line : lines) {
            least = std::min(least, line.cut[std::size_t(rank)].event);
        }
        choice.upTo.push_back(least);
    }
    if (endWaits) {
        EventIndex& sending = choice.upTo[std::size_t(race.send->rank.value())];
        sending = std::min(sending, timeline.call(*race.send).begin);
    }
    // A poll may begin otherwise, as it may succeed earlier.
    const CallClass callClass = trace::functionClass(timeline.details(deciding.rank, call.beginDetails).function);
    EventIndex& own = choice.upTo[std::size_t(deciding.rank.value())];
    own = std::min(own, trace::isPoll(callClass) ? EventIndex(call.begin.value() - 1) : call.begin);
    return choice;
}

} // namespace stopline::replay
