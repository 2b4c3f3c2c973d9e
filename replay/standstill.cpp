#include "standstill.h"

#include <algorithm>

namespace stopline::replay {

namespace {

std::string eventText(const Timeline& timeline, CallRef call) {
    const Call one = timeline.call(call);
    return std::to_string(one.begin.value()) + ' ' +
           std::string(trace::functionName(timeline.details(call.rank, one.beginDetails).function));
}

std::string commText(const Timeline& timeline, RankId rank, CommIndex index) {
    if (index == kCommWorld) {
        return "MPI_COMM_WORLD";
    }
    return index == kCommSelf ? "MPI_COMM_SELF"
                              : "communicator " + std::to_string(index.value()) + " of " +
                                    std::to_string(timeline.comm(rank, index).members.size()) + " ranks";
}

/// What a rank inside `call` waits for, in the words of its recording.
struct Wanted {
    RankId from;
    std::string text;
};

std::string messageText(const Timeline& timeline, CallRef call, const Message& message) {
    std::string text = "rank " + rankName(call.rank) + " waits in " + eventText(timeline, call) +
                       " for the message with tag " + std::to_string(message.tag);
    // The sender's name of the communicator, or the receiver's where no more is known.
    const CallRef names = message.send ? *message.send : message.post ? *message.post : call;
    const CommIndex comm = timeline.details(names.rank, timeline.call(names).beginDetails).comm;
    text += comm == kNoComm ? std::string() : " on " + commText(timeline, names.rank, comm);
    text += " that rank " + rankName(message.sender) + " sent ";
    return text + (message.send ? "at " + eventText(timeline, *message.send) + " in the recording"
                                : std::string("behind the end of its recording"));
}

/// The first thing that has not been done for the call to end as it did.
std::optional<Wanted> wantedBy(const Timeline& timeline, const Cut& cut, const std::vector<Doing>& doing, CallRef call) {
    const std::vector<MessageIndex> messages = timeline.messagesOf(call);
    const auto all = timeline.messages();
    if (const auto obstacle = timeline.blockedBy(cut, call.rank)) {
        if (obstacle->waitsFor.rank == call.rank) {
            return std::nullopt; // it is not known whom for
        }
        for (const MessageIndex index : messages) {
            const Message& message = all[index.value()];
            if (message.send == MaybeCall(obstacle->waitsFor)) {
                return Wanted{obstacle->waitsFor.rank, messageText(timeline, call, message)};
            }
        }
        std::string text = obstacle->reason.substr(0, obstacle->reason.rfind("; rank "));
        if (!text.empty() && text.front() == 'R') {
            text.front() = 'r';
        }
        return Wanted{obstacle->waitsFor.rank, std::move(text)};
    }
    // What was sent behind the end of a recording that broke off is sent again, unless its rank ends before.
    for (const MessageIndex index : messages) {
        const Message& message = all[index.value()];
        const auto sender = static_cast<std::size_t>(message.sender.value());
        if (!message.send && message.done == MaybeCall(call) && message.sender.value() >= 0 && sender < doing.size() &&
            doing[sender].what == Doing::What::Ended && timeline.brokenOff(message.sender)) {
            return Wanted{message.sender, messageText(timeline, call, message)};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Standstill> standstillOf(const Timeline& timeline, const std::vector<Doing>& doing, RankId rank) {
    Cut cut;
    for (const Doing& one : doing) {
        const RankId of(static_cast<std::int32_t>(cut.size()));
        Place place = one.place;
        place.inside = place.inside || one.what == Doing::What::InCall;
        if (place.event > timeline.lastEvent(of)) {
            place = {timeline.lastEvent(of), false}; // it has done all that is known of it
        }
        cut.push_back(place);
    }
    Standstill found{rank, doing[static_cast<std::size_t>(rank.value())].place.event, rank, false, {}};
    std::vector<RankId> waiting;
    for (RankId at = rank;;) {
        const Doing& now = doing[static_cast<std::size_t>(at.value())];
        const auto call = timeline.callAt(at, now.place.event);
        const bool recorded = call && timeline.call(*call).end.value() != 0;
        if (!recorded) {
            return std::nullopt; // what it waits for its arguments say, and who sends that is open
        }
        const auto wanted = wantedBy(timeline, cut, doing, *call);
        if (!wanted) {
            return std::nullopt;
        }
        waiting.push_back(at);
        found.text += found.text.empty() ? wanted->text : ", " + wanted->text;
        found.last = wanted->from;
        const std::string name = "rank " + rankName(wanted->from);
        const Doing& other = doing[static_cast<std::size_t>(wanted->from.value())];
        if (other.what == Doing::What::Ended) {
            found.certain = true;
            found.text += "; " + name + " has ended";
            return found;
        }
        if (other.what == Doing::What::Departed) {
            found.certain = true;
            found.text += "; " + name + " departed at its event " + std::to_string(other.place.event.value());
            return found;
        }
        if (std::find(waiting.begin(), waiting.end(), wanted->from) != waiting.end()) {
            found.certain = true;
            found.text += "; " + name + " waits itself";
            return found;
        }
        if (other.what == Doing::What::Held) {
            return std::nullopt;
        }
        if (other.what == Doing::What::Runs) {
            found.text += "; " + name + " has made no call since its event " + std::to_string(other.place.event.value());
            return found;
        }
        at = wanted->from;
    }
}

} // namespace stopline::replay
