// Executions that are kept beside the one on show: each shares its beginning with another, from which it has departed or
// been made to differ by a choice.
#include "execution_comparison.h"
#include "session_impl.h"
#include "words.h"

#include <algorithm>
#include <functional>
#include <csignal>
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

} // namespace

/// What is on show is kept beside what is going to be. Its recording is given, as it is another by now, or nothing if it
/// is still the session's.
void Session::Impl::keepExecution(std::unique_ptr<Recording> before) {
    KeptExecution kept;
    kept.head = execution;
    if (before != nullptr && rerun.departure) {
        const QString left = QStringLiteral("left at event %1 of rank %2").arg(rerun.departure->event.value()).arg(rankText(rerun.departure->rank));
        kept.head.outcome = execution.end.isEmpty() ? left : QStringLiteral("%1; %2").arg(execution.end, left);
    } else {
        kept.head.outcome = outcomeNow();
    }
    kept.commands = commands;
    for (int i = 0; before == nullptr && i < ranks; ++i) {
        kept.views.push_back(q->rank(RankId(i)));
    }
    kept.recording = before != nullptr ? std::move(before) : std::exchange(recording, std::make_unique<Recording>(0));
    keepWhatIsKnown(kept);
    const int from = kept.head.number;
    if (kept.views.empty()) { // what is written is the one's that goes on
        for (const auto& [key, bytes] : besides.streams) {
            kept.outputs[key.first] += bytes;
        }
    } else {
        kept.outputs = outputs;
    }
    keptExecutions.push_back(std::move(kept));
    dropTooMany();
    execution = {++executionsSoFar, from, {}, {}, {}, {}};
}

/// What belongs to the job that is on show, not to its events.
void Session::Impl::keepWhatIsKnown(KeptExecution& kept) const {
    kept.spec = recordedSpec;
    kept.besides = besides;
    for (const auto& [key, bytes] : streams) { // the longer one tells more
        QByteArray& known = kept.besides.streams[key];
        known = bytes.size() > known.size() && !rerun.departure ? bytes : known;
    }
    kept.input = input;
    kept.inputEnded = inputEnded;
    kept.programs = programOf;
}

/// Beginnings go before whole executions, and as long as they have more events, together with what is on show, than are
/// to be shown.
void Session::Impl::dropTooMany() {
    const auto isPart = [](const KeptExecution& kept) { return kept.part; };
    const auto tooManyEvents = [this] {
        quint64 events = eventsOf(recording->timeline());
        for (const KeptExecution& kept : keptExecutions) {
            events += kept.part ? eventsOf(kept.recording->timeline()) : 0;
        }
        return historyEvents != 0 && events > historyEvents;
    };
    for (auto part = keptExecutions.begin();
         (part = std::find_if(keptExecutions.begin(), keptExecutions.end(), isPart)) != keptExecutions.end() &&
         (keptExecutions.size() > kMostKept || tooManyEvents());) {
        keptExecutions.erase(part);
    }
    while (keptExecutions.size() > kMostKept) {
        keptExecutions.pop_front();
    }
}

/// Nothing of the executions before has to do with what comes.
void Session::Impl::forgetExecutions() {
    keptExecutions.clear();
    executionsSoFar = 1;
    execution = {};
    emit q->executionsChanged();
}

QVector<Session::Execution> Session::executions() const {
    QVector<Execution> all;
    for (const Impl::KeptExecution& kept : m_impl->keptExecutions) {
        all << Execution{kept.head.number, kept.head.from, kept.head.text, eventsOf(kept.recording->timeline()), false, kept.head.outcome};
    }
    const Impl::ExecutionHead& head = m_impl->execution;
    all << Execution{head.number, head.from, head.text, eventsOf(timeline()), true, m_impl->outcomeNow()};
    std::sort(all.begin(), all.end(), [](const Execution& a, const Execution& b) { return a.number < b.number; });
    return all;
}

QVector<Session::ExecutionDifference> Session::differences(int number) const {
    QVector<ExecutionDifference> found;
    for (const Impl::KeptExecution& kept : m_impl->keptExecutions) {
        if (kept.head.number != number) {
            continue;
        }
        const Timeline& other = kept.recording->timeline();
        for (int i = 0; i < std::max(other.rankCount(), timeline().rankCount()); ++i) {
            if (i < other.rankCount() && i < timeline().rankCount()) {
                const auto compare = [this, i](CodeAddress a, CodeAddress b) {
                    const SourceLocation one = m_impl->siteOf(RankId(i), a);
                    const SourceLocation two = m_impl->siteOf(RankId(i), b);
                    return sameSite(one, two);
                };
                const auto siteText = [this, i](CodeAddress site) { return lineText(m_impl->siteOf(RankId(i), site)); };
                found << RankComparison(other, timeline(), RankId(i), compare, siteText).find();
            }
        }
    }
    return found;
}

void Session::showExecution(int number) {
    Impl& d = *m_impl;
    const auto at = d.kept(number);
    if (at == d.keptExecutions.end()) {
        d.refuse(number == d.execution.number ? tr("execution %1 is on show").arg(number)
                                              : tr("there is no execution %1 any more").arg(number));
        return;
    }
    if (d.onTheWay()) {
        d.refuse(d.whyNot(Verb::Replay));
        return;
    }
    d.switchTo(at);
    emit operationFinished(true, tr("Execution %1 is shown; Replay run, or Go to stopline, executes it again").arg(number));
}

std::deque<Session::Impl::KeptExecution>::iterator Session::Impl::kept(int number) {
    return std::find_if(keptExecutions.begin(), keptExecutions.end(), [number](const KeptExecution& one) { return one.head.number == number; });
}

/// Another execution comes on show, and the one that was is kept; its job is ended.
void Session::Impl::switchTo(std::deque<KeptExecution>::iterator to) {
    KeptExecution next = std::move(*to);
    keptExecutions.erase(to);
    noteOutcome();
    follower->forget();
    const int counted = executionsSoFar;
    keepExecution(nullptr);
    executionsSoFar = counted; // nothing new has begun
    endJob();
    execution = std::move(next.head);
    recording = std::move(next.recording);
    recordedSpec = next.spec;
    besides = std::move(next.besides);
    streams.clear();
    input = next.input;
    inputEnded = next.inputEnded;
    programOf = std::move(next.programs);
    jobs = recording->jobs();
    ranks = jobs.rankCount();
    nameRanks(jobs);
    lastViews = std::move(next.views);
    lastViews.resize(std::size_t(ranks));
    for (std::size_t i = 0; i < lastViews.size(); ++i) {
        RankView& view = lastViews[i];
        view.rank = RankId(std::int32_t(i));
        const EventIndex last = recording->timeline().lastEvent(view.rank);
        view.insideMpi = last.value() > 0 && recording->timeline().isBegin(view.rank, last);
        const bool itsEnd = view.phase == RankPhase::Exited && view.exitSignal == 0 && view.place.event == last;
        view.place = {last, view.insideMpi};
        view.location = {};
        if (!itsEnd) { // how it ended is not known any more
            view.phase = RankPhase::Exited;
            view.why = StopWhy::None;
            view.exitSignal = SIGTERM;
            view.detail = Session::tr("shown without its processes");
        }
    }
    outputs = std::move(next.outputs);
    emit q->outputCleared();
    for (const auto& [rank, bytes] : outputs) {
        emit q->outputAdded(RankId(rank), 1, bytes);
    }
    recordingReplaced();
    emit q->ranksChanged();
    emit q->verbsChanged();
}

/// Back to the execution of which this one was made by a choice, to where its ranks stood then.
void Session::Impl::undoChoice() {
    const Command command = commands.back();
    const auto at = kept(command.execution);
    if (at == keptExecutions.end()) {
        refuse(Session::tr("execution %1, of which this one was made, is not kept any more").arg(command.execution),
               Session::tr("Executions lists those that are."));
        return;
    }
    const int left = execution.number;
    const std::vector<Command> earlier = at->commands;
    std::vector<Command> undone = redoList; // these belong to the execution that is left
    undone.push_back(command);
    undone.back().before = presentTargets();
    undone.back().hits = hitCounts();
    undone.back().stood = anyoneLives();
    undone.back().execution = left;
    switchTo(at);
    commands = earlier;
    redoList = std::move(undone);
    emit q->historyChanged();
    emit q->verbsChanged();
    say(Severity::Info, Session::tr("Execution %1 is on show again; execution %2 is kept.").arg(execution.number).arg(left));
    if (!command.stood) {
        emit q->operationFinished(true, Session::tr("Execution %1 is shown, as it was when the message was taken").arg(execution.number));
        emit q->stopped();
        return;
    }
    std::vector<Target> to = command.before;
    to.resize(std::size_t(ranks));
    travel(Verb::Undo, std::move(to), [this, hits = command.hits](bool) { setHitCounts(hits); });
}

/// Forward to the execution that a choice had made, to where its ranks stood when that was undone.
void Session::Impl::redoChoice() {
    const Command command = redoList.back();
    const auto at = kept(command.execution);
    if (at == keptExecutions.end()) {
        refuse(Session::tr("execution %1, which the choice had made, is not kept any more").arg(command.execution),
               Session::tr("Take the message again: that makes another one."));
        return;
    }
    const int left = execution.number;
    const std::vector<Command> there = at->commands; // the choice among them
    std::vector<Command> undone = redoList;
    undone.pop_back();
    switchTo(at);
    commands = there;
    redoList = std::move(undone);
    emit q->historyChanged();
    emit q->verbsChanged();
    say(Severity::Info, Session::tr("Execution %1 is on show again; execution %2 is kept.").arg(execution.number).arg(left));
    if (!command.stood) {
        emit q->operationFinished(true, Session::tr("Execution %1 is shown, as it was when the choice was undone").arg(execution.number));
        emit q->stopped();
        return;
    }
    std::vector<Target> to = command.before;
    to.resize(std::size_t(ranks));
    travel(Verb::Redo, std::move(to), [this, hits = command.hits](bool) { setHitCounts(hits); });
}

/// Says something that is so of the execution on show only.
void Session::Impl::sayOfExecution(Severity severity, const QString& text, const QString& remedy) {
    saidOfExecution << text;
    say(severity, text, remedy);
}

/// What belonged to the events that were on show means nothing any more.
void Session::Impl::recordingReplaced() {
    for (const QString& text : std::exchange(saidOfExecution, {})) {
        emit q->messageGone(text);
    }
    commands.clear();
    redoList.clear();
    targets.assign(std::size_t(ranks), {});
    stopList.clear();
    line.reset();
    past.reset();
    future.reset();
    point.reset();
    rerun = {};
    again = false;
    raceWalk = {};
    emit q->timelineReplaced();
    emit q->stoplineChanged();
    emit q->historyChanged();
    emit q->executionsChanged();
}

} // namespace stopline::replay
