#include "order_log.h"

#include "order_log_entries.h"
#include "order_marks.h"
#include "recording_compare.h"
#include "request_posts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;
using trace::OrderKind;
using trace::PollOutcome;

namespace {

using Entry = OrderEntry;

class Builder {
  public:
    Builder(const Timeline& timeline, RankId rank, const Choice* choice = nullptr, const std::atomic<bool>* cancelled = nullptr)
        : m_timeline(timeline), m_rank(rank), m_choice(choice), m_cancelled(cancelled),
          m_upTo(choice != nullptr ? choice->upTo[std::size_t(rank.value())].value() : ~std::uint64_t{0}) {
        if (choosesHere()) {
            m_chosenPlace = {timeline.call(choice->race.call).begin.value(), 0};
        }
    }

    OrderLog build(std::uint64_t openFailures, const OrderEntries& planned, const OrderMarks* marks, const FoundRaces* racing) {
        take(openFailures);
        if (racing != nullptr) {
            keepRacing(m_entries, m_started, *racing);
        }
        putSources();
        for (const auto& [event, entry] : planned) {
            plan(event, entry);
        }
        if (marks != nullptr) {
            marks->put(m_rank, m_entries);
        }
        m_log.bytes = bytesOf(m_entries);
        m_log.entries = m_entries.size();
        return std::move(m_log);
    }

    OrderEntries entries() {
        take(0);
        chooseUnseen();
        keepOlder();
        putSources();
        return {m_entries.begin(), m_entries.end()};
    }

  private:
    void take(std::uint64_t openFailures) {
        const std::uint32_t calls = m_timeline.callCount(m_rank);
        if (m_timeline.firstEvent(m_rank).value() > 1) {
            m_log.unforced = Unforced{Unforced::Why::Missing, m_timeline.firstEvent(m_rank)};
            return;
        }
        constexpr std::uint32_t kLook = 1U << 14; // calls between two looks at whether anybody still wants it
        for (std::uint32_t i = 0; i < calls; ++i) {
            if (m_cancelled != nullptr && i % kLook == 0 && m_cancelled->load(std::memory_order_relaxed)) {
                return;
            }
            m_at = {m_rank, CallIndex(i)};
            const Call call = m_timeline.call(m_at);
            const EventDetails& begin = m_timeline.details(m_rank, call.beginDetails);
            if (!m_log.unforced) {
                if (const auto why = whyUnforced(m_timeline, m_at)) {
                    m_log.unforced = Unforced{*why, call.begin};
                }
            }
            if (begin.thread != 0) {
                break; // event numbers are not the same each time
            }
            takeBegin(call, begin);
            if (call.end.value() != 0) {
                takeEnd(call, begin, m_timeline.details(m_rank, call.endDetails));
            } else if (trace::isPoll(trace::functionClass(begin.function))) {
                m_entries[call.begin.value()] = {OrderKind::Poll, {openFailures, std::uint64_t(PollOutcome::Open)}};
            }
        }
    }

    /// Whether the choice is of a race of this rank.
    [[nodiscard]] bool choosesHere() const { return m_choice != nullptr && m_choice->race.call.rank == m_rank; }

    /// The race of the choice is decided by the call at hand, of this post.
    [[nodiscard]] bool chosen(std::uint64_t post) const {
        return choosesHere() && m_timeline.call(m_choice->race.call).begin.value() == post && decidingCall(m_choice->race) == m_at;
    }

    /// What the call at hand found out is to be so again.
    [[nodiscard]] bool again(const Call& call) const { return call.end.value() <= m_upTo; }

    /// Posted by the race's own rank when the race had been: what it got may be what the race gets now.
    [[nodiscard]] bool youngerThanChoice(const RequestPost& post) const {
        return choosesHere() && post.place() > m_chosenPlace;
    }

    /// What is to be done again decides what came of a receive that the call at hand sees complete only later: it has
    /// been cancelled, or its message has been sent.
    [[nodiscard]] bool decidedBefore(std::uint32_t serial, const trace::Status& got) const {
        if (got.cancelled) {
            const auto cancel = m_cancels.find(serial);
            return cancel != m_cancels.end() && cancel->second <= m_upTo;
        }
        const RequestPost& post = m_posts[serial];
        const std::uint64_t posted = post.place().first;
        const RankId sender = senderOf(post, got.source);
        bool found = false;
        for (const MessageIndex index : m_timeline.messagesOf(m_at)) {
            const Message& message = m_timeline.messages()[index.value()];
            if (posted > m_upTo || message.done != m_at || !message.post || message.post->rank != m_rank ||
                m_timeline.call(*message.post).begin.value() != posted || message.tag != got.tag || message.sender != sender) {
                continue;
            }
            // An MPI_Startall may post several for messages that look the same: then all of them have to be.
            if (!message.send || m_timeline.call(*message.send).begin > m_choice->upTo[std::size_t(sender.value())]) {
                return false;
            }
            found = true;
        }
        return found;
    }

    /// The begin of the call that made a request: of a persistent one it knows what is asked for.
    [[nodiscard]] const EventDetails& askedBy(const RequestPost& post) const {
        const auto made = m_timeline.callAt(m_rank, EventIndex(post.made));
        return m_timeline.details(m_rank, m_timeline.call(*made).beginDetails);
    }

    /// World rank of what a receive has got from this rank of its communicator; -1: not known.
    [[nodiscard]] RankId senderOf(const RequestPost& post, std::int32_t source) const {
        const CommIndex comm = askedBy(post).comm;
        if (comm == kNoComm || source < 0) {
            return RankId{-1};
        }
        const trace::CommInfo& info = m_timeline.comm(m_rank, comm);
        const std::vector<std::int32_t>& senders = info.remote.empty() ? info.members : info.remote;
        return RankId{std::size_t(source) < senders.size() ? senders[std::size_t(source)] : -1};
    }

    /// A receive of any source that stands before the race's in MPI's order, and would take the chosen message from it: it
    /// stays as recorded although its own message may come only behind what is shared. Where it cannot come before the race is
    /// decided, there is no such choice (rule 3 of races.h).
    [[nodiscard]] bool wouldTakeChosen(const RequestPost& post) const {
        return choosesHere() && post.anySource && post.place().first <= m_upTo && post.place() < m_chosenPlace && fitsChosen(post);
    }

    [[nodiscard]] static bool receives(const EventDetails& begin) { return begin.recvPeer != kNoPeer && begin.recvPeer != kProcNull; }

    /// A receive of any source that has another one, or a probe, behind it whose message it would take: what that one found is
    /// to be so again.
    [[nodiscard]] bool wouldTakeShared(const RequestPost& post) const {
        const EventDetails& asked = askedBy(post);
        const auto latest = m_latestShared.find({asked.comm.value(), asked.recvTag});
        return latest != m_latestShared.end() && latest->second > post.place();
    }

    /// Those that are left to MPI, but would take what others are to get, had they not got their own: they stay as recorded, too.
    void keepOlder() {
        std::sort(m_left.begin(), m_left.end(), [](const Left& a, const Left& b) { return b.post.place() < a.post.place(); });
        for (const Left& left : m_left) { // the youngest first, as what it gets then is not to be taken either
            if (wouldTakeShared(left.post)) {
                noteShared(askedBy(left.post), left.got.tag, left.post.place());
                if (left.cancel != 0) {
                    m_entries[left.cancel] = {OrderKind::Kept, {}};
                }
                put(left.post, std::uint64_t(left.got.source) + 1);
            }
        }
    }

    /// This post, or probe, is to have its message again.
    void noteShared(const EventDetails& asked, std::int32_t tag, std::pair<std::uint64_t, std::size_t> place) {
        if (m_choice != nullptr && asked.comm != kNoComm) {
            for (const std::int32_t key : {tag != kNoTag ? tag : asked.recvTag, kAnyTag}) {
                auto& latest = m_latestShared[{asked.comm.value(), key}];
                latest = std::max(latest, place);
            }
        }
    }

    /// What a receive asks for is what the chosen message has.
    [[nodiscard]] bool fitsChosen(const RequestPost& post) const {
        const EventDetails& asked = askedBy(post);
        return asked.comm != kNoComm && m_timeline.comm(m_rank, asked.comm).id == m_choice->race.commId &&
               (asked.recvTag == kAnyTag || asked.recvTag == m_choice->tag);
    }

    void takeBegin(const Call& call, const EventDetails& begin) {
        m_posts.begin(call.begin.value(), begin);
        if (choosesHere() && m_choice->race.call == m_at) {
            findChosen(begin);
        }
        if (trace::functionClass(begin.function) == CallClass::Cancel && !begin.requests.empty()) {
            m_cancels[m_posts.serialOf(begin.requests.front())] = call.begin.value();
        }
    }

    /// The call at hand posts the race's receive: which of its requests that is.
    void findChosen(const EventDetails& begin) {
        if (trace::createsRequest(trace::functionClass(begin.function))) {
            m_chosen = m_posts.last();
        } else if (trace::functionClass(begin.function) == CallClass::Start) {
            std::uint32_t place = 0;
            for (const trace::RequestRef ref : begin.requests) {
                const std::uint32_t serial = m_posts.serialOf(ref);
                if (serial != RequestPosts::kNoSerial && m_posts[serial].anySource && place++ == m_choice->race.place) {
                    m_chosen = serial;
                    break;
                }
            }
        }
        if (m_chosen != RequestPosts::kNoSerial) {
            m_chosenPlace = m_posts[m_chosen].place();
        }
    }

    void takeEnd(const Call& call, const EventDetails& begin, const EventDetails& end) {
        const CallClass callClass = trace::functionClass(end.function);
        if (receives(begin) && again(call) && (!trace::isPoll(callClass) || end.flag) && !trace::createsRequest(callClass) &&
            !trace::completesRequests(callClass)) {
            noteShared(begin, end.status.tag, {call.begin.value(), 0});
        }
        switch (callClass) {
        case CallClass::Recv:
        case CallClass::Sendrecv:
        case CallClass::Probe:
        case CallClass::Mprobe:
            if (chosen(call.begin.value())) {
                m_entries[call.begin.value()] = {OrderKind::Source, {m_choice->source}};
            } else if (begin.recvPeer == kAnySource && end.status.source >= 0 && again(call)) {
                m_entries[call.begin.value()] = {OrderKind::Source, {std::uint64_t(end.status.source)}};
            }
            break;
        case CallClass::Test:
        case CallClass::WinTest:
        case CallClass::Iprobe:
        case CallClass::Improbe:
            if (chosen(call.begin.value()) && (callClass == CallClass::Iprobe || callClass == CallClass::Improbe)) {
                m_entries[call.begin.value()] = {OrderKind::Poll,
                                                 {end.flag ? call.pollFailures : 0, std::uint64_t(PollOutcome::Source), m_choice->source}};
            } else if (again(call)) {
                takePoll(call, end, callClass);
            } else if (const auto alone = raceAlone(call, end)) {
                takePoll(call, *alone, callClass);
            }
            break;
        case CallClass::Wait:
            if (again(call)) {
                takeWait(call, end);
            } else if (const auto alone = raceAlone(call, end)) {
                takeWait(call, *alone);
            }
            break;
        default:
            break;
        }
        for (const trace::Completion& completion : end.completions) {
            takeCompletion(call, end, completion);
        }
    }

    /// The end of the call at hand, if it completes the race and all before it is as recorded, as if it completed nothing else.
    /// It is to find the race complete again, whatever else is by then: else the program might give the race up, and its choice
    /// be lost. Not of what asks for several at once, as others of them may never be.
    [[nodiscard]] std::optional<EventDetails> raceAlone(const Call& call, const EventDetails& end) const {
        if (m_chosen == RequestPosts::kNoSerial || m_upTo + 1 < call.begin.value() || !chosen(m_posts[m_chosen].place().first) ||
            (end.completions.size() > 1 && !deliversSome(end.function))) {
            return std::nullopt;
        }
        for (const trace::Completion& completion : end.completions) {
            if (m_posts.serialOf(completion.request) == m_chosen) {
                EventDetails alone = end;
                alone.completions = {completion};
                return alone;
            }
        }
        return std::nullopt;
    }

    void takeWait(const Call& call, const EventDetails& end) {
        if ((deliversSome(end.function) || failsInPart(end)) && !end.completions.empty()) {
            Entry entry{OrderKind::Completed, {}};
            addPositions(entry, end);
            m_entries[call.begin.value()] = std::move(entry);
        }
    }

    static void addPositions(Entry& entry, const EventDetails& end) {
        entry.numbers.push_back(end.completions.size());
        for (const trace::Completion& completion : end.completions) {
            entry.numbers.push_back(completion.index);
        }
    }

    void takePoll(const Call& call, const EventDetails& end, CallClass callClass) {
        Entry entry{OrderKind::Poll, {call.pollFailures}};
        PollOutcome outcome = PollOutcome::Real;
        if (!end.flag) {
            outcome = PollOutcome::Broken;
        } else if (callClass == CallClass::WinTest) {
            outcome = end.error == trace::ErrorClass::Success ? PollOutcome::All : PollOutcome::Real;
        } else if (callClass == CallClass::Test) {
            outcome = end.completions.empty()          ? PollOutcome::Real
                      : deliversSome(end.function) || failsInPart(end) ? PollOutcome::Completed
                                                                       : PollOutcome::All;
        } else if (end.status.source >= 0) {
            outcome = PollOutcome::Source;
        }
        entry.numbers.push_back(std::uint64_t(outcome));
        if (outcome == PollOutcome::Source) {
            entry.numbers.push_back(std::uint64_t(end.status.source));
        } else if (outcome == PollOutcome::Completed) {
            addPositions(entry, end);
        } else if (outcome == PollOutcome::Real && call.pollFailures == 0 && end.error == trace::ErrorClass::Success) {
            return;
        }
        m_entries[call.begin.value()] = std::move(entry);
    }

    void takeCompletion(const Call& call, const EventDetails& end, const trace::Completion& completion) {
        const std::uint32_t serial = m_posts.serialOf(completion.request);
        if (serial == RequestPosts::kNoSerial) {
            return;
        }
        const RequestPost& post = m_posts[serial];
        const std::uint64_t posted = post.place().first;
        const bool choose = serial == m_chosen && chosen(posted);
        m_choiceMade = m_choiceMade || choose;
        // That a call which completes nothing told of it was chance: nothing waits for it to be so again.
        const bool asRecorded = again(call) && !(tellsOfFreed(end) && youngerThanChoice(post));
        const auto it = m_cancels.find(serial);
        if (!choose && !asRecorded && !wouldTakeChosen(post) &&
            (youngerThanChoice(post) || !decidedBefore(serial, completion.status))) {
            if (post.anySource && posted <= m_upTo && posted != 0 && completion.status.source >= 0 && !completion.status.cancelled &&
                !youngerThanChoice(post) && serial != m_chosen) {
                m_left.push_back({post, completion.status, it != m_cancels.end() ? it->second : 0});
            }
            return;
        }
        const bool cancelled = completion.status.cancelled && !choose;
        if (m_choice != nullptr && !cancelled && receives(askedBy(post))) {
            noteShared(askedBy(post), choose ? m_choice->tag : completion.status.tag, post.place());
        }
        if (it != m_cancels.end()) {
            if (!cancelled) {
                m_entries[it->second] = {OrderKind::Kept, {}};
            }
            m_cancels.erase(it);
        }
        if (!cancelled && !choose && (!post.anySource || completion.status.source < 0)) {
            return;
        }
        const std::uint64_t source = cancelled ? 0 : choose ? m_choice->source + 1 : std::uint64_t(completion.status.source) + 1;
        put(post, source);
    }

    /// What a receive gets: its source plus one; 0: it is cancelled.
    void put(const RequestPost& post, std::uint64_t source) {
        if (post.persistent) {
            if (post.started != 0) {
                m_started[post.started][post.position] = source;
            }
        } else if (source == 0) {
            m_entries[post.made] = {OrderKind::Withheld, {}};
        } else {
            m_entries[post.made] = {OrderKind::Source, {source - 1}};
        }
    }

    /// No call has seen the race complete, as its request was freed: what it got is known by who else got something.
    void chooseUnseen() {
        if (m_choiceMade || m_chosen == RequestPosts::kNoSerial || m_choice->race.kind != RaceKind::Receive) {
            return;
        }
        if (m_posts[m_chosen].persistent) {
            m_started[m_chosenPlace.first].try_emplace(m_chosenPlace.second, m_choice->source + 1);
        } else {
            m_entries.try_emplace(m_chosenPlace.first, Entry{OrderKind::Source, {m_choice->source}});
        }
    }

    void putSources() {
        for (const auto& [event, positions] : m_started) {
            Entry entry{OrderKind::Starts, {positions.size()}};
            for (const auto& [position, source] : positions) {
                entry.numbers.push_back(position);
                entry.numbers.push_back(source);
            }
            m_entries[event] = std::move(entry);
        }
    }

    /// What is recorded of a call goes before what is planned for it.
    void plan(std::uint64_t event, const Entry& entry) {
        const auto [at, added] = m_entries.emplace(event, entry);
        if (added || entry.kind != OrderKind::Starts || at->second.kind != OrderKind::Starts) {
            return;
        }
        std::map<std::uint64_t, std::uint64_t> sources; // by position
        for (const Entry* from : {static_cast<const Entry*>(&at->second), &entry}) {
            for (std::size_t i = 1; i + 1 < from->numbers.size(); i += 2) {
                sources.emplace(from->numbers[i], from->numbers[i + 1]);
            }
        }
        at->second.numbers = {sources.size()};
        for (const auto& [position, source] : sources) {
            at->second.numbers.insert(at->second.numbers.end(), {position, source});
        }
    }

    const Timeline& m_timeline;
    RankId m_rank;
    const Choice* m_choice;
    const std::atomic<bool>* m_cancelled;
    std::uint64_t m_upTo; ///< what calls have found out behind this event is not to be so again
    bool m_choiceMade = false;
    std::uint32_t m_chosen = RequestPosts::kNoSerial;     ///< the race's receive, where it has a request
    std::pair<std::uint64_t, std::size_t> m_chosenPlace;  ///< of its post, in MPI's order
    /// A receive of any source that is left to MPI, and what it had got.
    struct Left {
        RequestPost post;
        trace::Status got;
        std::uint64_t cancel; ///< event that tried to cancel it; 0: none did
    };
    std::vector<Left> m_left;
    /// By communicator and tag (kAnyTag: all of them): the last post or probe that is to find a message again.
    std::map<std::pair<std::uint32_t, std::int32_t>, std::pair<std::uint64_t, std::size_t>> m_latestShared;
    CallRef m_at{RankId(0), CallIndex(0)}; ///< the call at hand
    OrderLog m_log;
    RequestPosts m_posts;
    std::unordered_map<std::uint32_t, std::uint64_t> m_cancels; ///< by serial; whose outcome is not known yet
    EntriesByCall m_entries;
    StartedSources m_started;
};

} // namespace

OrderLog orderLogOf(const Timeline& timeline, RankId rank, std::uint64_t openFailures, const OrderEntries& planned,
                    const OrderMarks* marks, const FoundRaces* racing, const std::atomic<bool>* cancelled) {
    return Builder(timeline, rank, nullptr, cancelled).build(openFailures, planned, marks, racing);
}

OrderEntries plannedOrder(const Timeline& timeline, RankId rank, const Choice& choice) {
    return Builder(timeline, rank, &choice).entries();
}

} // namespace stopline::replay
