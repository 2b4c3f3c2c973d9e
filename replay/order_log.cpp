#include "order_log.h"

#include "chosen_order.h"
#include "order_log_entries.h"
#include "order_marks.h"
#include "request_posts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

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
        : m_timeline(timeline), m_rank(rank), m_cancelled(cancelled) {
        if (choice != nullptr) {
            m_chosen.emplace(timeline, rank, *choice, m_posts);
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
        if (const auto race = m_chosen->unseen()) {
            put(*race, m_chosen->choice().source + 1);
        }
        for (const ChosenOrder::Left& left : m_chosen->older()) {
            if (left.cancel != 0) {
                m_entries[left.cancel] = {OrderKind::Kept, {}};
            }
            put(left.post, std::uint64_t(left.got.source) + 1);
        }
        putSources();
        if (const auto awaited = m_chosen->awaited()) {
            m_entries[awaited->event] = {OrderKind::Awaited, {awaited->serial}};
        }
        // Calls behind what is shared may be others then: that a receive was cancelled in vain, say, is not for the cancel of another.
        std::erase_if(m_entries, [&](const auto& one) { return !m_chosen->comes(one.first); });
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

    /// What the call at hand found out is to be so again.
    [[nodiscard]] bool again() const { return !m_chosen || m_chosen->again(m_at); }

    void takeBegin(const Call& call, const EventDetails& begin) {
        m_posts.begin(call.begin.value(), begin);
        if (m_chosen) {
            m_chosen->begin(m_at, begin);
        }
        if (trace::functionClass(begin.function) == CallClass::Cancel && !begin.requests.empty()) {
            m_cancels[m_posts.serialOf(begin.requests.front())] = call.begin.value();
        }
    }

    void takeEnd(const Call& call, const EventDetails& begin, const EventDetails& end) {
        const CallClass callClass = trace::functionClass(end.function);
        if (m_chosen) {
            m_chosen->end(m_at, begin, end);
        }
        const auto alone = m_chosen && !again() ? m_chosen->raceAlone(m_at, end) : std::nullopt;
        switch (callClass) {
        case CallClass::Recv:
        case CallClass::Sendrecv:
        case CallClass::Probe:
        case CallClass::Mprobe:
            if (m_chosen && m_chosen->decidesItself(m_at)) {
                m_entries[call.begin.value()] = {OrderKind::Source, {m_chosen->choice().source}};
            } else if (begin.recvPeer == kAnySource && end.status.source >= 0 && again()) {
                m_entries[call.begin.value()] = {OrderKind::Source, {std::uint64_t(end.status.source)}};
            }
            break;
        case CallClass::Test:
        case CallClass::WinTest:
        case CallClass::Iprobe:
        case CallClass::Improbe:
            if (m_chosen && m_chosen->decidesItself(m_at)) {
                m_entries[call.begin.value()] = {OrderKind::Poll, {end.flag ? call.pollFailures : 0, std::uint64_t(PollOutcome::Source),
                                                                   m_chosen->choice().source}};
            } else if (again() || alone) {
                takePoll(call, alone ? *alone : end, callClass);
            }
            break;
        case CallClass::Wait:
            if (again() || alone) {
                takeWait(call, alone ? *alone : end);
            }
            break;
        default:
            break;
        }
        for (const trace::Completion& completion : end.completions) {
            takeCompletion(end, completion);
        }
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

    void takeCompletion(const EventDetails& end, const trace::Completion& completion) {
        const std::uint32_t serial = m_posts.serialOf(completion.request);
        if (serial == RequestPosts::kNoSerial) {
            return;
        }
        const RequestPost& post = m_posts[serial];
        const auto cancel = m_cancels.find(serial);
        const bool choose = m_chosen && m_chosen->isRace(m_at, serial);
        if (m_chosen && !choose && !m_chosen->keeps(m_at, end, completion, cancel != m_cancels.end() ? cancel->second : 0)) {
            return;
        }
        const bool cancelled = completion.status.cancelled && !choose;
        if (cancel != m_cancels.end()) {
            if (!cancelled) {
                m_entries[cancel->second] = {OrderKind::Kept, {}};
            }
            m_cancels.erase(cancel);
        }
        if (cancelled) {
            put(post, 0);
        } else if (choose) {
            put(post, m_chosen->choice().source + 1);
        } else if (post.anySource && completion.status.source >= 0) {
            put(post, std::uint64_t(completion.status.source) + 1);
        }
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
    const std::atomic<bool>* m_cancelled;
    CallRef m_at{RankId(0), CallIndex(0)}; ///< the call at hand
    OrderLog m_log;
    RequestPosts m_posts;
    std::optional<ChosenOrder> m_chosen; ///< where a choice is made
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
