#include "chosen_order.h"

#include "recording_compare.h"
#include "unforced.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;

namespace {

bool receives(const EventDetails& begin) {
    return begin.recvPeer != kNoPeer && begin.recvPeer != kProcNull;
}

} // namespace

ChosenOrder::ChosenOrder(const Timeline& timeline, RankId rank, const Choice& choice, const RequestPosts& posts)
    : m_timeline(timeline), m_choice(choice), m_posts(posts), m_rank(rank), m_here(choice.race.call.rank == rank),
      m_upTo(choice.upTo[std::size_t(rank.value())].value()) {
    if (m_here) {
        m_racePost = timeline.call(choice.race.call).begin.value();
        m_racePlace = {m_racePost, 0};
    }
}

void ChosenOrder::begin(CallRef at, const EventDetails& begin) {
    if (!m_here || m_choice.race.call != at) {
        return;
    }
    if (trace::createsRequest(trace::functionClass(begin.function))) {
        m_chosen = m_posts.last();
    } else if (trace::functionClass(begin.function) == CallClass::Start) {
        std::uint32_t place = 0;
        for (const trace::RequestRef ref : begin.requests) {
            const std::uint32_t serial = m_posts.serialOf(ref);
            if (serial != RequestPosts::kNoSerial && m_posts[serial].anySource && place++ == m_choice.race.place) {
                m_chosen = serial;
                break;
            }
        }
    }
    if (m_chosen != RequestPosts::kNoSerial) {
        m_racePlace = m_posts[m_chosen].place();
        if (m_choice.race.kind == RaceKind::Receive) {
            m_unseen = m_posts[m_chosen]; // so far
        }
    }
}

void ChosenOrder::end(CallRef at, const EventDetails& begin, const EventDetails& end) {
    const CallClass callClass = trace::functionClass(end.function);
    if (m_here && !m_diverged && !again(at)) {
        m_diverged = true;
        noteFirstOpen(at, end);
    }
    if (receives(begin) && again(at) && (!trace::isPoll(callClass) || end.flag) && !trace::createsRequest(callClass) &&
        !trace::completesRequests(callClass)) {
        noteShared(begin, end.status.tag, {m_timeline.call(at).begin.value(), 0});
    }
    for (const trace::Completion& completion : end.completions) {
        if (const std::uint32_t serial = m_posts.serialOf(completion.request); serial != RequestPosts::kNoSerial && isRace(at, serial)) {
            m_unseen.reset();
            noteShared(askedBy(m_posts[serial]), m_choice.tag, m_racePlace);
        }
    }
}

/// The first call that is not to find out what it did. One that has begun may be needed for the message to come, as it sends, or
/// receives what another rank waits to be rid of: then the wait is behind it.
void ChosenOrder::noteFirstOpen(CallRef at, const EventDetails& end) {
    const std::size_t sender(std::size_t(m_choice.sender.value()));
    if (m_chosen == RequestPosts::kNoSerial || m_choice.sendBegin > m_choice.upTo[sender]) {
        return;
    }
    if (decides(at) && (raceAlone(at, end) || !trace::isPoll(trace::functionClass(end.function)))) {
        return; // it has its message before that call ends
    }
    const std::uint64_t begin = m_timeline.call(at).begin.value();
    m_awaited = Awaited{begin <= m_upTo ? begin + 1 : m_upTo, m_chosen};
}

std::optional<EventDetails> ChosenOrder::raceAlone(CallRef at, const EventDetails& end) const {
    const bool several = end.completions.size() > 1 && !deliversSome(end.function);
    // One that failed does not have to now, and then is about more: a poll would be asked until all of that is complete.
    const bool failedPoll = failsInPart(end) && trace::isPoll(trace::functionClass(end.function));
    if (m_upTo + 1 < m_timeline.call(at).begin.value() || several || failedPoll) {
        return std::nullopt;
    }
    for (const trace::Completion& completion : end.completions) {
        if (const std::uint32_t serial = m_posts.serialOf(completion.request); serial != RequestPosts::kNoSerial && isRace(at, serial)) {
            EventDetails alone = end;
            alone.completions = {completion};
            return alone;
        }
    }
    return std::nullopt;
}

bool ChosenOrder::keeps(CallRef at, const EventDetails& end, const trace::Completion& completion, std::uint64_t cancel) {
    const std::uint32_t serial = m_posts.serialOf(completion.request);
    const RequestPost& post = m_posts[serial];
    const trace::Status& got = completion.status;
    // That a call which completes nothing told of it was chance: nothing waits for it to be so again. And what a younger one got
    // may be what the race gets now.
    const bool asRecorded = again(at) && !(tellsOfFreed(end) && younger(post));
    const bool kept = asRecorded || wouldTakeChosen(post) || (!younger(post) && decidedBefore(at, post, got, cancel));
    if (kept && !got.cancelled && receives(askedBy(post))) {
        noteShared(askedBy(post), got.tag, post.place());
    }
    const std::uint64_t posted = post.place().first;
    if (!kept && post.anySource && posted != 0 && posted <= m_upTo && got.source >= 0 && !got.cancelled && !younger(post) && serial != m_chosen) {
        m_left.push_back({post, got, cancel});
    }
    return kept;
}

/// What is to be done again decides what came of a receive that this call sees complete only later: it has been cancelled, or its
/// message has been sent.
bool ChosenOrder::decidedBefore(CallRef at, const RequestPost& post, const trace::Status& got, std::uint64_t cancel) const {
    if (got.cancelled) {
        return cancel != 0 && cancel <= m_upTo;
    }
    const std::uint64_t posted = post.place().first;
    const RankId sender = senderOf(post, got.source);
    bool found = false;
    for (const MessageIndex index : m_timeline.messagesOf(at)) {
        const Message& message = m_timeline.messages()[index.value()];
        if (posted > m_upTo || message.done != at || !message.post || message.post->rank != m_rank ||
            m_timeline.call(*message.post).begin.value() != posted || message.tag != got.tag || message.sender != sender) {
            continue;
        }
        // An MPI_Startall may post several for messages that look the same: then all of them have to be.
        if (!message.send || m_timeline.call(*message.send).begin > m_choice.upTo[std::size_t(sender.value())]) {
            return false;
        }
        found = true;
    }
    return found;
}

/// A receive of any source that stands before the race's in MPI's order, and would take the chosen message from it: it stays as
/// recorded although its own message may come only behind what is shared. Where it cannot come before the race is decided, there
/// is no such choice (rule 3 of races.h).
bool ChosenOrder::wouldTakeChosen(const RequestPost& post) const {
    if (!m_here || !post.anySource || post.place().first > m_upTo || post.place() >= m_racePlace) {
        return false;
    }
    const EventDetails& asked = askedBy(post);
    return asked.comm != kNoComm && m_timeline.comm(m_rank, asked.comm).id == m_choice.race.commId &&
           (asked.recvTag == kAnyTag || asked.recvTag == m_choice.tag);
}

/// There is another receive, or a probe, behind it whose message it would take: what that one found is to be so again.
bool ChosenOrder::wouldTakeShared(const RequestPost& post) const {
    const EventDetails& asked = askedBy(post);
    const auto latest = m_latestShared.find({asked.comm.value(), asked.recvTag});
    return latest != m_latestShared.end() && latest->second > post.place();
}

std::vector<ChosenOrder::Left> ChosenOrder::older() {
    std::vector<Left> kept;
    std::sort(m_left.begin(), m_left.end(), [](const Left& a, const Left& b) { return b.post.place() < a.post.place(); });
    for (const Left& left : m_left) { // the youngest first, as what it gets then is not to be taken either
        if (wouldTakeShared(left.post)) {
            noteShared(askedBy(left.post), left.got.tag, left.post.place());
            kept.push_back(left);
        }
    }
    return kept;
}

/// This post, or probe, is to have its message again. `tag` is of the message; kNoTag: as asked for.
void ChosenOrder::noteShared(const EventDetails& asked, std::int32_t tag, Place place) {
    if (asked.comm == kNoComm) {
        return;
    }
    for (const std::int32_t key : {tag != kNoTag ? tag : asked.recvTag, kAnyTag}) {
        Place& latest = m_latestShared[{asked.comm.value(), key}];
        latest = std::max(latest, place);
    }
}

/// The begin of the call that made a request: of a persistent one it knows what is asked for.
const EventDetails& ChosenOrder::askedBy(const RequestPost& post) const {
    const auto made = m_timeline.callAt(m_rank, EventIndex(post.made));
    return m_timeline.details(m_rank, m_timeline.call(*made).beginDetails);
}

/// World rank of what a receive has got from this rank of its communicator; -1: not known.
RankId ChosenOrder::senderOf(const RequestPost& post, std::int32_t source) const {
    const CommIndex comm = askedBy(post).comm;
    if (comm == kNoComm || source < 0) {
        return RankId{-1};
    }
    const trace::CommInfo& info = m_timeline.comm(m_rank, comm);
    const std::vector<std::int32_t>& senders = info.remote.empty() ? info.members : info.remote;
    return RankId{std::size_t(source) < senders.size() ? senders[std::size_t(source)] : -1};
}

} // namespace stopline::replay
