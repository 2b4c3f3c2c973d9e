// Executions that are kept beside the one on show: each shares its beginning with another, from which it has departed or
// been made to differ by a choice.
#include "session_impl.h"
#include "recording_compare.h"
#include "words.h"

#include <algorithm>
#include <functional>
#include <csignal>
#include <unordered_map>
#include <utility>

namespace stopline::replay {

namespace {

/// More of them are dropped, the oldest first: each holds all its events.
constexpr std::size_t kMostKept = 7;

quint64 eventsOf(const Timeline& timeline) {
    quint64 events = 0;
    for (int i = 0; i < timeline.rankCount(); ++i) {
        const RankId rank(i);
        const quint64 last = timeline.lastEvent(rank).value();
        events += last == 0 ? 0 : last - timeline.firstEvent(rank).value() + 1;
    }
    return events;
}

/// Events of one rank in two recordings of it.
class RankComparison {
  public:
    /// Where code has moved between the executions, calls are from the same place when `sameSite` says so.
    using SameSite = std::function<bool(CodeAddress, CodeAddress)>;
    RankComparison(const Timeline& a, const Timeline& b, RankId rank, SameSite sameSite)
        : m_a(a), m_b(b), m_rank(rank), m_sameSite(std::move(sameSite)) {}

    Session::ExecutionDifference find() {
        Session::ExecutionDifference found;
        found.rank = m_rank;
        const EventIndex lastA = m_a.lastEvent(m_rank);
        const EventIndex lastB = m_b.lastEvent(m_rank);
        const EventIndex first = std::max(m_a.firstEvent(m_rank), m_b.firstEvent(m_rank));
        EventIndex event = first;
        while (event <= lastA && event <= lastB && same(event)) {
            event = EventIndex(event.value() + 1);
        }
        found.same = EventIndex(event.value() - 1);
        if (event <= lastA) {
            found.first = detailsText(m_a.details(m_rank, m_a.eventDetails(m_rank, event)));
        }
        if (event <= lastB) {
            found.second = detailsText(m_b.details(m_rank, m_b.eventDetails(m_rank, event)));
        }
        if (!found.first.isEmpty() && found.first == found.second) {
            found.second += whatDiffers(m_a.details(m_rank, m_a.eventDetails(m_rank, event)),
                                        m_b.details(m_rank, m_b.eventDetails(m_rank, event)));
        }
        return found;
    }

  private:
    bool same(EventIndex event) {
        const DetailsId a = m_a.eventDetails(m_rank, event);
        const DetailsId b = m_b.eventDetails(m_rank, event);
        const auto [known, fresh] = m_known.try_emplace((std::uint64_t(a.value()) << 32) | b.value(), false);
        if (fresh) {
            const trace::EventDetails& one = m_a.details(m_rank, a);
            trace::EventDetails other = m_b.details(m_rank, b);
            if (one.site != other.site && m_sameSite(one.site, other.site)) {
                other.site = one.site;
            }
            known->second = sameEvent(one, other);
        }
        return known->second;
    }

    const Timeline& m_a;
    const Timeline& m_b;
    RankId m_rank;
    SameSite m_sameSite;
    std::unordered_map<std::uint64_t, bool> m_known; ///< by a pair of details
};

} // namespace

/// What is on show is kept beside what is going to be. Its recording is given, as it is another by now, or nothing if it
/// is still the session's.
void Session::Impl::keepExecution(std::unique_ptr<Recording> before) {
    KeptExecution kept;
    kept.number = execution.number;
    kept.from = execution.from;
    kept.text = execution.text;
    for (int i = 0; before == nullptr && i < ranks; ++i) {
        kept.views.push_back(q->rank(RankId(i)));
    }
    kept.recording = before != nullptr ? std::move(before) : std::exchange(recording, std::make_unique<Recording>(0));
    kept.spec = recordedSpec;
    kept.values = recordedValues;
    kept.streams = recordedStreams;
    for (const auto& [key, bytes] : streams) { // the longer one tells more
        QByteArray& known = kept.streams[key];
        known = bytes.size() > known.size() && !departure ? bytes : known;
    }
    kept.input = input;
    kept.inputEnded = inputEnded;
    kept.sent = recordedSent;
    kept.programs = programOf;
    const int from = kept.number;
    if (kept.views.empty()) { // what is written is the one's that goes on
        for (const auto& [key, bytes] : recordedStreams) {
            kept.outputs[key.first] += bytes;
        }
    } else {
        kept.outputs = outputs;
    }
    keptExecutions.push_back(std::move(kept));
    while (keptExecutions.size() > kMostKept) {
        keptExecutions.pop_front();
    }
    execution = {++executionsSoFar, from, {}};
}

/// Nothing of the executions before has to do with what comes.
void Session::Impl::forgetExecutions() {
    keptExecutions.clear();
    executionsSoFar = 1;
    execution = {1, 0, {}};
    emit q->executionsChanged();
}

QVector<Session::Execution> Session::executions() const {
    QVector<Execution> all;
    for (const Impl::KeptExecution& kept : m_impl->keptExecutions) {
        all << Execution{kept.number, kept.from, kept.text, eventsOf(kept.recording->timeline()), false};
    }
    all << Execution{m_impl->execution.number, m_impl->execution.from, m_impl->execution.text, eventsOf(timeline()), true};
    std::sort(all.begin(), all.end(), [](const Execution& a, const Execution& b) { return a.number < b.number; });
    return all;
}

QVector<Session::ExecutionDifference> Session::differences(int number) const {
    QVector<ExecutionDifference> found;
    for (const Impl::KeptExecution& kept : m_impl->keptExecutions) {
        if (kept.number != number) {
            continue;
        }
        const Timeline& other = kept.recording->timeline();
        for (int i = 0; i < std::max(other.rankCount(), timeline().rankCount()); ++i) {
            if (i < other.rankCount() && i < timeline().rankCount()) {
                const auto sameSite = [this, i](CodeAddress a, CodeAddress b) {
                    const SourceLocation one = m_impl->siteOf(RankId(i), a);
                    const SourceLocation two = m_impl->siteOf(RankId(i), b);
                    return one.known() && one.file == two.file && one.line == two.line && one.function == two.function;
                };
                found << RankComparison(other, timeline(), RankId(i), sameSite).find();
            }
        }
    }
    return found;
}

void Session::showExecution(int number) {
    Impl& d = *m_impl;
    const auto at = std::find_if(d.keptExecutions.begin(), d.keptExecutions.end(),
                                 [number](const Impl::KeptExecution& kept) { return kept.number == number; });
    if (at == d.keptExecutions.end()) {
        d.refuse(number == d.execution.number ? tr("execution %1 is on show").arg(number)
                                              : tr("there is no execution %1 any more").arg(number));
        return;
    }
    if (d.onTheWay()) {
        d.refuse(d.whyNot(Verb::Replay));
        return;
    }
    Impl::KeptExecution shown = std::move(*at);
    d.keptExecutions.erase(at);
    d.follower->forget();
    const int counted = d.executionsSoFar;
    d.keepExecution(nullptr);
    d.executionsSoFar = counted; // nothing new has begun
    d.endJob();
    d.execution = {shown.number, shown.from, shown.text};
    d.recording = std::move(shown.recording);
    d.recordedSpec = shown.spec;
    d.recordedValues = std::move(shown.values);
    d.recordedStreams = std::move(shown.streams);
    d.streams.clear();
    d.input = shown.input;
    d.inputEnded = shown.inputEnded;
    d.recordedSent = std::move(shown.sent);
    d.programOf = std::move(shown.programs);
    d.jobs = d.recording->jobs();
    d.ranks = d.jobs.rankCount();
    nameRanks(d.jobs);
    d.lastViews = std::move(shown.views);
    d.lastViews.resize(std::size_t(d.ranks));
    for (std::size_t i = 0; i < d.lastViews.size(); ++i) {
        RankView& view = d.lastViews[i];
        view.rank = RankId(std::int32_t(i));
        const EventIndex last = timeline().lastEvent(view.rank);
        view.insideMpi = last.value() > 0 && timeline().isBegin(view.rank, last);
        const bool itsEnd = view.phase == RankPhase::Exited && view.exitSignal == 0 && view.place.event == last;
        view.place = {last, view.insideMpi};
        view.location = {};
        if (!itsEnd) { // how it ended is not known any more
            view.phase = RankPhase::Exited;
            view.why = StopWhy::None;
            view.exitSignal = SIGTERM;
            view.detail = tr("shown without its processes");
        }
    }
    d.outputs = std::move(shown.outputs);
    emit outputCleared();
    for (const auto& [rank, bytes] : d.outputs) {
        emit outputAdded(RankId(rank), 1, bytes);
    }
    d.recordingReplaced();
    emit ranksChanged();
    emit verbsChanged();
    emit operationFinished(true, tr("Execution %1 is shown; Replay run, or Go to stopline, executes it again").arg(number));
}

/// What belonged to the events that were on show means nothing any more.
void Session::Impl::recordingReplaced() {
    commands.clear();
    redoList.clear();
    targets.assign(std::size_t(ranks), {});
    stopList.clear();
    line.reset();
    past.reset();
    future.reset();
    point.reset();
    departure.reset();
    again = false;
    raceWalk = {};
    emit q->timelineReplaced();
    emit q->stoplineChanged();
    emit q->historyChanged();
    emit q->executionsChanged();
}

} // namespace stopline::replay
