// Go, undo, redo, rollback, forward: where to go, and what is kept to come back.
#include "session_impl.h"
#include "words.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

/// Does `then`, the beginning of a journey, when it is known where all ranks are. Until then no other can be asked for.
void Session::Impl::setOut(std::function<void()> then) {
    if (refusesProgram()) {
        return;
    }
    const auto token = std::make_shared<bool>(true);
    settingOut = token;
    freshPlaces([this, token, then = std::move(then)] {
        if (settingOut.lock() == token) { // else it has been called off meanwhile
            settingOut.reset();
            then();
        }
    });
    emit q->verbsChanged();
}

/// Calls off a journey that has not begun.
void Session::Impl::stayHere(const QString& why) {
    if (settingOut.expired()) {
        return;
    }
    settingOut.reset();
    emit q->verbsChanged();
    emit q->operationFinished(false, why);
}

void Session::Impl::refuse(const QString& why, const QString& remedy) {
    emit q->message(Severity::Warning, why, remedy);
    emit q->operationFinished(false, why);
}

/// Says why ranks cannot come to these places, if so.
bool Session::Impl::refusesPlaces(const std::vector<Target>& to) {
    Cut cut;
    for (const Target& target : closed(to)) {
        cut.push_back(target.place);
    }
    const QString why = whyUnreachable(cut);
    if (why.isEmpty()) {
        return false;
    }
    refuse(why);
    return true;
}

void Session::Impl::travel(Verb verb, std::vector<Target> to, std::function<void(bool)> done) {
    approachVerb = verb;
    approachDone = std::move(done);
    approachNote.clear();
    commandOpen = false;
    startApproach(closed(std::move(to)));
}

/// A journey that is itself a command of the history.
void Session::Impl::travelCommand(Verb verb, std::vector<Target> to) {
    beginCommand(verb);
    travel(verb, std::move(to), [this](bool) {
        if (!commands.empty()) {
            commands.back().shown.after = q->places();
        }
    });
}

void Session::Impl::notStarted() {
    endJob();
    lastViews.assign(std::size_t(ranks), {});
    targets.assign(std::size_t(ranks), {});
    outputs.clear();
    emit q->outputCleared();
    emit q->ranksChanged();
    emit q->verbsChanged();
}

void Session::Impl::startApproach(std::vector<Target> to) {
    endRaceWalk();
    const bool nowhere = std::all_of(to.begin(), to.end(), [](const Target& t) { return t.place.event.value() == 0 && t.runOn.kind == RunOn::Kind::None; });
    if (nowhere) {
        notStarted();
        if (approachDone) {
            std::exchange(approachDone, nullptr)(true);
        }
        emit q->operationFinished(true, QStringLiteral("not started"));
        emit q->stopped();
        return;
    }
    // A live job whose ranks all stand at or before their targets goes on; any other starts again.
    bool goesOn = alive() && job->complete() && q->allStopped();
    for (std::size_t i = 0; goesOn && i < to.size(); ++i) {
        const RankProcess* rank = process(RankId(std::int32_t(i)));
        if (rank == nullptr) {
            continue; // it is spawned on the way, or not yet
        }
        const RankView& view = rank->view();
        const bool between = std::size_t(i) < targets.size() && targets[i].runOn.kind != RunOn::Kind::None && !(targets[i] == to[i]);
        goesOn = !rank->ended() && view.place <= to[i].place && !(between && view.place == to[i].place) &&
                 view.why != StopWhy::Abort && view.why != StopWhy::MpiError && view.why != StopWhy::ExitNoFinalize &&
                 view.why != StopWhy::Signal && !(view.place == to[i].place && to[i].runOn.kind != RunOn::Kind::None && !(targets[i] == to[i]));
    }
    approach = new Approach(*recording, to, q);
    QObject::connect(approach, &Approach::progressed, q, [this] { emit q->operationChanged(); });
    QObject::connect(approach, &Approach::silent, q, [this](RankId rank) {
        say(Severity::Warning, QStringLiteral("Rank %1 is not there yet: its agent or its gdb does not answer.").arg(rankText(rank)),
            QStringLiteral("Wait, or Cancel and go again, or Kill."));
    });
    QObject::connect(approach, &Approach::finished, q, [this](const Approach::Outcome& outcome) { onApproachFinished(outcome); });
    emit q->operationChanged();
    emit q->verbsChanged();
    if (!goesOn) {
        startJob(approach, true);
        return;
    }
    std::vector<bool> stays;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool findable = to[i].runOn.kind == RunOn::Kind::Address || to[i].runOn.kind == RunOn::Kind::Start;
        const RankProcess* rank = process(RankId(std::int32_t(i)));
        stays.push_back(rank != nullptr && i < targets.size() && findable && targets[i] == to[i] && rank->view().place == to[i].place);
    }
    const Countdown one([this, stays, mine = QPointer<Approach>(approach)] {
        if (mine) {
            mine->continueFrom(processes(), stays);
        }
    });
    for (RankProcess* rank : processes()) {
        one.begin();
        clearBreakpoints(rank, one);
    }
    one();
}

void Session::Impl::onApproachFinished(const Approach::Outcome& outcome) {
    Approach* old = std::exchange(approach, nullptr);
    old->deleteLater();
    if (outcome.again && !rerun.departure) {
        approachNote = outcome.text;
        startApproach(outcome.retry);
        return;
    }
    const bool ok = outcome.ok && !rerun.departure;
    if (rerun.departure) {
        for (RankProcess* rank : processes()) {
            rank->setWhy(StopWhy::Departure); // wherever it stands, it is not at the place asked for
        }
    }
    QString text = outcome.text;
    if (!approachNote.isEmpty()) {
        text = text.isEmpty() ? approachNote : approachNote + QStringLiteral("; ") + text;
    }
    for (RankProcess* rank : processes()) {
        if (rank->stopped() || rank->ended()) {
            rememberArrival(rank, *old);
        }
    }
    arriving = true;
    const Countdown done([this, ok, text, verb = approachVerb] {
        onceLocated([this, ok, text, verb] { arrived(ok, text, verb); });
    });
    for (RankProcess* rank : processes()) {
        if (rank->stopped() && !rerun.departure) {
            done.begin();
            rank->gdb()->loadUserLibraries([](Status) {});
            applyBreakpoints(rank, done);
        }
    }
    QMetaObject::invokeMethod(q, done, Qt::QueuedConnection);
}

/// The end of a journey, told when every rank shows where it stands.
void Session::Impl::arrived(bool ok, const QString& text, Verb verb) {
    arriving = false;
    if (approachDone) {
        std::exchange(approachDone, nullptr)(ok);
    }
    listStop();
    emit q->operationChanged();
    emit q->verbsChanged();
    emit q->historyChanged();
    if (ok) {
        sayCompared();
    }
    if (!ok && !rerun.departure) {
        say(Severity::Warning, QStringLiteral("%1: not every rank is at its place: %2").arg(verbName(verb), text));
    }
    emit q->operationFinished(ok, text);
    emit q->stopped();
}

void Session::cancel() {
    m_impl->cancelOpening();
    if (m_impl->logMaking != nullptr) {
        m_impl->cancelLogs();
        return;
    }
    m_impl->stayHere(tr("cancelled; the ranks stay where they are"));
    if (m_impl->approach != nullptr) {
        m_impl->approach->cancel(tr("cancelled; the ranks stay where they are"));
    }
}

QString Session::operation() const {
    if (const QString text = m_impl->openingText(); !text.isEmpty()) {
        return text;
    }
    if (m_impl->arriving) {
        return tr("%1: looking around").arg(verbName(m_impl->approachVerb));
    }
    if (const QString text = m_impl->logsText(); !text.isEmpty()) {
        return tr("%1: %2").arg(verbName(m_impl->approach != nullptr ? m_impl->approachVerb : Verb::Replay), text);
    }
    if (m_impl->approach == nullptr) {
        return {};
    }
    return tr("%1: %2").arg(verbName(m_impl->approachVerb), m_impl->approach->progress());
}

void Session::go() {
    const QString why = whyNot(Verb::Go);
    if (!why.isEmpty()) {
        m_impl->refuse(why);
        return;
    }
    if (m_impl->refusesPlaces(m_impl->targetsOf(m_impl->line->cut))) {
        return;
    }
    if (m_impl->lineRank && m_impl->focus.contains(*m_impl->lineRank)) {
        setShownRank(*m_impl->lineRank);
    }
    m_impl->setOut([this, to = m_impl->targetsOf(m_impl->line->cut)] { m_impl->travelCommand(Verb::Go, to); });
}

void Session::undo() {
    if (const QString why = whyNot(Verb::Undo); !why.isEmpty()) {
        m_impl->refuse(why);
        return;
    }
    m_impl->setOut([this] {
        if (m_impl->commands.back().execution != 0) {
            m_impl->undoChoice();
            return;
        }
        if (m_impl->refusesPlaces(m_impl->commands.back().before)) {
            return;
        }
        Command command = m_impl->commands.back();
        m_impl->commands.pop_back();
        Command back = command;
        back.before = m_impl->presentTargets();
        back.hits = m_impl->hitCounts();
        m_impl->redoList.push_back(back);
        emit historyChanged();
        m_impl->travel(Verb::Undo, command.before, [this, hits = command.hits](bool) { m_impl->setHitCounts(hits); });
    });
}

void Session::redo() {
    if (const QString why = whyNot(Verb::Redo); !why.isEmpty()) {
        m_impl->refuse(why);
        return;
    }
    m_impl->setOut([this] {
        if (m_impl->redoList.back().execution != 0) {
            m_impl->redoChoice();
            return;
        }
        if (m_impl->refusesPlaces(m_impl->redoList.back().before)) {
            return;
        }
        Command command = m_impl->redoList.back();
        m_impl->redoList.pop_back();
        const std::vector<Target> to = command.before;
        const std::map<int, int> hits = command.hits;
        command.before = m_impl->presentTargets();
        command.hits = m_impl->hitCounts();
        if (!m_impl->alive()) {
            command.before.assign(std::size_t(m_impl->ranks), {});
        }
        m_impl->commands.push_back(command);
        emit historyChanged();
        m_impl->travel(Verb::Redo, to, [this, hits](bool) { m_impl->setHitCounts(hits); });
    });
}

void Session::rollback() {
    m_impl->oneCall(Verb::Rollback);
}

void Session::forward() {
    m_impl->oneCall(Verb::Forward);
}

void Session::Impl::oneCall(Verb verb) {
    if (onTheWay() || !whyNotOpened(verb).isEmpty()) { // whether there is such a call is known when it is known where the ranks are
        refuse(whyNot(verb));
        return;
    }
    setOut([this, verb] {
        const RankId rank = focus.rank.value_or(shown);
        const Timeline& timeline = recording->timeline();
        std::optional<Line> goal;
        if (rank.value() < timeline.rankCount()) {
            goal = verb == Verb::Rollback ? timeline.rollback(q->places(), rank) : timeline.forward(q->places(), rank);
        }
        if (!goal) {
            refuse(whyNot(verb));
            return;
        }
        std::vector<Target> to = targetsOf(goal->cut);
        const std::vector<Target> now = presentTargets();
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (to[i].place == now[i].place) {
                to[i] = now[i]; // stays exactly where it is
            } else {
                to[i].why = verb == Verb::Rollback ? StopWhy::RolledBack : StopWhy::Forwarded;
            }
        }
        if (!refusesPlaces(to)) {
            travelCommand(verb, to);
        }
    });
}

} // namespace stopline::replay
