// Run control and breakpoints.
#include "call_words.h"
#include "session_impl.h"
#include "words.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace stopline::replay {

namespace {

/// Why a rank cannot go forward; what stood inside a call that has not ended is brought back there by Undo alone.
QString noLaterCallText(const Timeline& timeline, RankId rank, const QVector<HistoryEntry>& commands) {
    QString text = QStringLiteral("the recording has no later finished call of rank %1").arg(rankText(rank));
    const EventIndex last = timeline.lastEvent(rank);
    if (last.value() == 0 || !timeline.isBegin(rank, last)) {
        return text;
    }
    text += QStringLiteral(": its %1 at event %2 has not ended")
                .arg(functionText(timeline.details(rank, timeline.eventDetails(rank, last)).function))
                .arg(last.value());
    const auto index = static_cast<std::size_t>(rank.value());
    for (qsizetype undos = 1; undos <= commands.size(); ++undos) {
        const Cut& before = commands.at(commands.size() - undos).before;
        if (index < before.size() && before[index].event == last && before[index].inside) {
            return text + (undos == 1 ? QStringLiteral("; Undo goes back into it")
                                      : QStringLiteral("; Undo, %1 times, goes back into it").arg(undos));
        }
    }
    return text;
}

} // namespace

bool Session::Impl::onTheWay() const {
    return approach != nullptr || arriving || logMaking != nullptr || !settingOut.expired();
}

QString Session::Impl::whyNot(Verb verb) const {
    auto any = [this](auto condition) {
        const auto all = focusRanks();
        return std::any_of(all.begin(), all.end(), condition);
    };
    const auto nobody = [this](const QString& state) {
        return focus.rank    ? QStringLiteral("rank %1 is not %2").arg(rankText(*focus.rank)).arg(state)
               : focus.all() ? QStringLiteral("no rank is %1").arg(state)
                             : QStringLiteral("none of the chosen ranks is %1").arg(state);
    };
    if (const QString why = whyNotOpened(verb); !why.isEmpty()) {
        return why;
    }
    if (onTheWay() && verb != Verb::Kill && verb != Verb::Pause) {
        return QStringLiteral("the job is on its way to a place; cancel that first");
    }
    switch (verb) {
    case Verb::Run:
        if (alive()) {
            return QStringLiteral("the job runs already; Restart starts it again");
        }
        return spec.program.isEmpty() && spec.command.isEmpty() ? QStringLiteral("no program is chosen") : QString();
    case Verb::Restart:
        return spec.program.isEmpty() && spec.command.isEmpty() ? QStringLiteral("no program is chosen") : QString();
    case Verb::Replay:
        return recordedEvents() ? QString() : QStringLiteral("nothing is recorded yet");
    case Verb::Kill:
        return alive() ? QString() : QStringLiteral("there is no job");
    case Verb::Pause:
        if (!alive()) {
            return QStringLiteral("there is no job");
        }
        if (!job->complete() && focus.all()) {
            return {}; // of ranks that are still to come, too
        }
        return any([](RankProcess* r) {
                   const RankPhase phase = r->view().phase;
                   return phase == RankPhase::Running || phase == RankPhase::Holding || phase == RankPhase::Starting;
               })
                   ? QString()
                   : nobody(QStringLiteral("running"));
    case Verb::Continue:
    case Verb::StepOver:
    case Verb::StepInto:
    case Verb::StepOut:
    case Verb::RunTo: {
        if (!alive()) {
            return QStringLiteral("there is no job");
        }
        if (!any([](RankProcess* r) { return r->stopped(); })) {
            return nobody(QStringLiteral("stopped"));
        }
        if (verb != Verb::StepOut || any([](RankProcess* r) { return r->stopped() && r->view().location.function != u"main"; })) {
            return {};
        }
        QVector<RankId> inMain;
        for (const RankProcess* rank : focusRanks()) {
            if (rank->stopped()) {
                inMain << rank->rank();
            }
        }
        const Refusal why = outermost(QStringLiteral("main"));
        return (inMain.size() == 1 ? why.first : why.second).arg(rankListText(inMain));
    }
    case Verb::Go:
        return line ? QString() : QStringLiteral("no stopline is set: pick a point in the diagram");
    case Verb::Undo:
        return commands.empty() ? QStringLiteral("there is nothing to undo") : QString();
    case Verb::Redo:
        return redoList.empty() ? QStringLiteral("there is nothing to redo") : QString();
    case Verb::Rollback:
        return q->rollbackTarget() ? QString() : whyNoEarlierCall();
    case Verb::Forward: {
        const Cut now = q->places();
        if (shown.value() >= recording->timeline().rankCount()) {
            return QStringLiteral("nothing is recorded");
        }
        return recording->timeline().forward(now, shown) ? QString() : noLaterCallText(recording->timeline(), shown, q->history());
    }
    }
    return {};
}

QString Session::whyNot(Verb verb) const {
    return m_impl->whyNot(verb);
}

void Session::Impl::beginCommand(Verb verb) {
    Command command;
    command.shown.verb = verb;
    command.shown.focus = focus;
    command.shown.before = q->places();
    command.before = presentTargets();
    command.hits = hitCounts();
    if (!alive()) {
        command.before.assign(std::size_t(ranks), {});
        command.shown.before.assign(std::size_t(ranks), {});
    }
    commands.push_back(std::move(command));
    redoList.clear();
    commandOpen = true;
    emit q->historyChanged();
}

/// Undo needs to know where ranks that run are at this moment: they are asked first, which takes a few milliseconds.
void Session::Impl::freshPlaces(std::function<void()> then) {
    auto left = std::make_shared<int>(1);
    auto one = [this, left, then = std::move(then)] {
        if (--*left == 0) {
            onceRemembered(then);
        }
    };
    for (RankProcess* rank : processes()) {
        if (rank->view().phase == RankPhase::Running) {
            ++*left;
            rank->look(one);
        }
    }
    one();
}

void Session::Impl::resumeCommand(Verb verb, std::function<void(RankProcess*)> resume, const Prepare& prepare) {
    if (const QString why = whyNot(verb); !why.isEmpty()) {
        emit q->message(Severity::Warning, why, {});
        return;
    }
    forJourney = false; // what it spawns from here on is let go as well
    // Until its ranks have been let go they look as if they had come to their next stop already.
    auto under = std::make_shared<bool>(true);
    preparing = under;
    freshPlaces([this, verb, resume = std::move(resume), prepare, under] {
        if (!whyNot(verb).isEmpty()) {
            *under = false;
            return; // the job has ended meanwhile
        }
        auto ready = std::make_shared<std::vector<QPointer<RankProcess>>>();
        auto refused = std::make_shared<std::map<Refusal, QVector<RankId>>>();
        // All of them together: what one does on its way may be what another waits for.
        const Countdown all([this, verb, resume, under, ready, refused] {
            *under = false;
            for (const auto& [why, whom] : *refused) {
                say(Severity::Warning, (whom.size() == 1 ? why.first : why.second).arg(rankListText(whom)));
            }
            if (ready->empty()) {
                emit q->stopped(); // they stand where they stood
                return;
            }
            beginCommand(verb);
            pauseComing = false;
            for (const auto& rank : *ready) {
                if (rank && rank->stopped()) {
                    resume(rank);
                }
            }
        });
        for (RankProcess* rank : focusRanks()) {
            if (!rank->stopped()) {
                continue;
            }
            if (!prepare) {
                ready->push_back(rank);
                continue;
            }
            all.begin();
            prepare(rank, [guarded = QPointer<RankProcess>(rank), id = rank->rank(), ready, refused, all](const Refusal& why) {
                if (why.first.isEmpty()) {
                    ready->push_back(guarded);
                } else {
                    (*refused)[why].push_back(id);
                }
                all();
            });
        }
        all();
    });
}

/// Adds where all ranks stand to the list of stops.
void Session::Impl::listStop() {
    StopSummary summary;
    summary.number = int(stopList.size()) + 1;
    summary.places = q->places();
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        summary.why.push_back(view.phase == RankPhase::Stopped ? view.why : StopWhy::None);
    }
    stopList.push_back(summary);
}

void Session::Impl::noteStop() {
    if (const auto under = preparing.lock(); under && *under) {
        return;
    }
    const auto all = focusRanks();
    const bool settled = std::all_of(all.begin(), all.end(), [this](RankProcess* r) {
        return (r->stopped() && locating.count(r->rank().value()) == 0) || r->ended() || r->view().phase == RankPhase::Failed;
    });
    if (!settled || all.empty() || (job && !job->complete())) {
        return;
    }
    if (commandOpen && !commands.empty()) {
        commands.back().shown.after = q->places();
        emit q->historyChanged();
    }
    commandOpen = false;
    listStop();
    // The stop of one rank also shows what the others have done meanwhile.
    q->refreshTimeline();
    emit q->verbsChanged();
    emit q->stopped();
    askRemembered();
}

void Session::run() {
    if (!whyNot(Verb::Run).isEmpty()) {
        emit message(Severity::Warning, whyNot(Verb::Run), {});
        return;
    }
    m_impl->startFresh();
}

void Session::restart() {
    m_impl->stayHere(tr("the job was started again"));
    if (!whyNot(Verb::Restart).isEmpty() && m_impl->approach == nullptr) {
        emit message(Severity::Warning, whyNot(Verb::Restart), {});
        return;
    }
    delete m_impl->approach;
    m_impl->approach = nullptr;
    m_impl->approachDone = nullptr;
    emit operationChanged();
    m_impl->startFresh();
}

/// A new recording: nothing of the last one is kept but the breakpoints.
void Session::Impl::startFresh() {
    endLogs();
    follower->forget();
    for (const QString& text : std::exchange(saidOfExecution, {})) {
        emit q->messageGone(text);
    }
    forgetExecutions();
    jobs = JobTable(firstRanks());
    nameRanks(jobs);
    ranks = firstRanks();
    lastViews.resize(std::size_t(ranks));
    if (shown.value() >= ranks) {
        shown = RankId(0);
    }
    if ((focus.rank && focus.rank->value() >= ranks) || (!focus.group.isEmpty() && focus.group.last().value() >= ranks)) {
        focus = {};
    }
    recording = std::make_unique<Recording>(ranks);
    recording->setMostEvents(historyEvents);
    commands.clear();
    redoList.clear();
    stopList.clear();
    point.reset();
    past.reset();
    future.reset();
    line.reset();
    symbols.clear();
    sites.clear();
    recordedSpec = spec;
    origin.reset();
    setHitCounts({});
    emit q->timelineReplaced();
    emit q->stoplineChanged();
    startJob(nullptr, false);
    beginCommand(Verb::Run);
    commands.back().before.assign(std::size_t(ranks), {}); // the job is there already, but was not
}

void Session::kill() {
    if (!m_impl->alive()) {
        return;
    }
    m_impl->endLogs();
    m_impl->noteOutcome();
    m_impl->endRaceWalk();
    m_impl->stayHere(tr("the job was killed"));
    if (m_impl->approach != nullptr) {
        m_impl->approach->cancel(tr("the job was killed"));
    }
    if (m_impl->job) {
        m_impl->job->kill(LastSteps::Read); // where it stands is what they want to see who kill a job that hangs
    }
}

void Session::continueRun() {
    m_impl->resumeCommand(Verb::Continue, [](RankProcess* rank) { rank->letGo(); });
}

void Session::pause() {
    m_impl->endRaceWalk();
    m_impl->stayHere(tr("cancelled; the ranks stay where they are"));
    if (m_impl->approach != nullptr) {
        cancel();
        return;
    }
    for (RankProcess* rank : m_impl->focusRanks()) {
        rank->pause();
    }
    m_impl->pauseComing = m_impl->alive() && !m_impl->job->complete() && m_impl->focus.all();
}

void Session::stepOver() {
    m_impl->resumeCommand(Verb::StepOver, [](RankProcess* rank) { rank->step(Verb::StepOver); });
}

void Session::stepInto() {
    m_impl->resumeCommand(Verb::StepInto, [](RankProcess* rank) { rank->step(Verb::StepInto); });
}

} // namespace stopline::replay
