#include "races.h"

#include "jobs.h"

#include "../tracelib/functions.h"

namespace stopline::replay {

std::string reasonText(const Timeline& timeline, const Race& race, const Alternative& alternative) {
    const Call send = timeline.call(alternative.send);
    const trace::EventDetails& sent = timeline.details(alternative.send.rank, send.beginDetails);
    const std::string receiver = "rank " + rankName(race.call.rank);
    std::string text = "rank " + rankName(alternative.sender) + "'s " +
                       std::string(trace::functionName(sent.function)) + " at event " +
                       std::to_string(send.begin.value()) + " (tag " + std::to_string(alternative.tag) +
                       (race.tag == kAnyTag ? ", any tag fits" : "") +
                       ", same communicator) need not come after the ";
    text += race.kind == RaceKind::Probe || race.kind == RaceKind::FailedProbe ? "probe" : "receive";
    text += alternative.windowEnd.value() == 0
                ? ", which nothing waits for, as its request was freed while it was active: "
                : ", which is decided by event " + std::to_string(alternative.windowEnd.value()) + ": ";
    if (alternative.knows.value() == 0) {
        return text + "no event of " + receiver + " is certain to have come before it";
    }
    return text + "event " + std::to_string(alternative.knows.value()) + " is the latest of " + receiver +
           " that is certain to have come before it";
}

} // namespace stopline::replay
