// Run control and breakpoints.
#include "session_impl.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

namespace stopline::replay {

QString Session::Impl::whyNot(Verb verb) const {
    const bool travelling = approach != nullptr;
    auto any = [this](auto condition) {
        const auto all = focusRanks();
        return std::any_of(all.begin(), all.end(), condition);
    };
    const QString who = focus.rank ? QStringLiteral("rank %1").arg(focus.rank->value()) : QStringLiteral("no rank");
    if (travelling && verb != Verb::Kill && verb != Verb::Pause) {
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
    case Verb::Kill:
        return alive() ? QString() : QStringLiteral("there is no job");
    case Verb::Pause:
        if (!alive()) {
            return QStringLiteral("there is no job");
        }
        return any([](RankProcess* r) {
                   const RankPhase phase = r->view().phase;
                   return phase == RankPhase::Running || phase == RankPhase::Holding || phase == RankPhase::Starting;
               })
                   ? QString()
                   : QStringLiteral("%1 is running").arg(who);
    case Verb::Continue:
    case Verb::StepOver:
    case Verb::StepInto:
    case Verb::StepOut:
    case Verb::RunTo:
        if (!alive()) {
            return QStringLiteral("there is no job");
        }
        return any([](RankProcess* r) { return r->stopped(); }) ? QString() : QStringLiteral("%1 is stopped").arg(who);
    case Verb::Go:
        return line ? QString() : QStringLiteral("no stopline is set: pick a point in the diagram");
    case Verb::Undo:
        return commands.empty() ? QStringLiteral("there is nothing to undo") : QString();
    case Verb::Redo:
        return redoList.empty() ? QStringLiteral("there is nothing to redo") : QString();
    case Verb::Rollback:
        return q->rollbackTarget() ? QString() : QStringLiteral("rank %1 has no earlier call").arg(shown.value());
    case Verb::Forward: {
        const Cut now = q->places();
        if (shown.value() >= recording->timeline().rankCount()) {
            return QStringLiteral("nothing is recorded");
        }
        return recording->timeline().forward(now, shown)
                   ? QString()
                   : QStringLiteral("the recording has no later finished call of rank %1").arg(shown.value());
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
    auto one = [left, then = std::move(then)] {
        if (--*left == 0) {
            then();
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

void Session::Impl::resumeCommand(Verb verb, std::function<void(RankProcess*)> resume) {
    if (const QString why = whyNot(verb); !why.isEmpty()) {
        emit q->message(Severity::Warning, why, {});
        return;
    }
    freshPlaces([this, verb, resume = std::move(resume)] {
        if (!whyNot(verb).isEmpty()) {
            return; // the job has ended meanwhile
        }
        beginCommand(verb);
        for (RankProcess* rank : focusRanks()) {
            if (rank->stopped()) {
                resume(rank);
            }
        }
    });
}

void Session::Impl::noteStop() {
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
    StopSummary summary;
    summary.number = int(stopList.size()) + 1;
    summary.places = q->places();
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        summary.why.push_back(view.phase == RankPhase::Stopped ? view.why : StopWhy::None);
    }
    stopList.push_back(summary);
    // The stop of one rank also shows what the others have done meanwhile.
    q->refreshTimeline();
    emit q->verbsChanged();
    emit q->stopped();
}

void Session::run() {
    if (!whyNot(Verb::Run).isEmpty()) {
        emit message(Severity::Warning, whyNot(Verb::Run), {});
        return;
    }
    m_impl->startFresh();
}

void Session::restart() {
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
    recording = std::make_unique<Recording>(ranks);
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
    setHitCounts({});
    emit q->timelineReplaced();
    emit q->stoplineChanged();
    startJob(nullptr);
    beginCommand(Verb::Run);
}

void Session::kill() {
    if (!m_impl->alive()) {
        return;
    }
    if (m_impl->approach != nullptr) {
        m_impl->approach->cancel(tr("the job was killed"));
    }
    if (m_impl->job) {
        m_impl->job->kill();
    }
}

void Session::continueRun() {
    m_impl->resumeCommand(Verb::Continue, [](RankProcess* rank) { rank->letGo(); });
}

void Session::pause() {
    if (m_impl->approach != nullptr) {
        cancel();
        return;
    }
    for (RankProcess* rank : m_impl->focusRanks()) {
        rank->pause();
    }
}

void Session::stepOver() {
    m_impl->resumeCommand(Verb::StepOver, [](RankProcess* rank) { rank->step(Verb::StepOver); });
}

void Session::stepInto() {
    m_impl->resumeCommand(Verb::StepInto, [](RankProcess* rank) { rank->step(Verb::StepInto); });
}

void Session::stepOut() {
    m_impl->resumeCommand(Verb::StepOut, [](RankProcess* rank) { rank->step(Verb::StepOut); });
}

void Session::runTo(const QString& file, int line) {
    m_impl->resumeCommand(Verb::RunTo, [location = QStringLiteral("%1:%2").arg(file).arg(line)](RankProcess* rank) {
        rank->runTo(location);
    });
}

// --- Breakpoints ---

BreakpointState* Session::Impl::findBreakpoint(int id) {
    const auto it = std::find_if(breakpoints.begin(), breakpoints.end(), [id](const BreakpointState& b) { return b.shown.id == id; });
    return it == breakpoints.end() ? nullptr : &*it;
}

void Session::Impl::insert(BreakpointState& state, RankProcess* rank, std::function<void()> done) {
    const int number = rank->rank().value();
    if (!state.shown.enabled || (state.shown.onlyRank && *state.shown.onlyRank != rank->rank()) || state.numbers.count(number) != 0) {
        done();
        return;
    }
    const int id = state.shown.id;
    rank->gdb()->insertBreakpoint(state.shown.location, state.shown.condition, false,
        [this, id, number, done, guarded = QPointer<RankProcess>(rank)](Result<mi::Breakpoint> bp) {
            BreakpointState* now = findBreakpoint(id);
            if (now == nullptr) { // removed meanwhile
                if (bp && guarded) {
                    guarded->gdb()->deleteBreakpoint(bp.value().number, [](Status) {});
                }
                done();
                return;
            }
            if (!bp) {
                const QString what = now->shown.condition.isEmpty()
                                         ? now->shown.location
                                         : QStringLiteral("%1 if %2").arg(now->shown.location, now->shown.condition);
                // The same mistake in every rank is said once.
                if (guarded && !guarded->ended() && faultsSaid.insert(what + bp.error().text).second) {
                    say(Severity::Warning, QStringLiteral("The breakpoint at %1 could not be set: %2").arg(what, bp.error().text),
                        QStringLiteral("Check the location and the condition; a file needs to be compiled with -g."));
                }
                done();
                return;
            }
            if (bp.value().pending && faultsSaid.insert(QStringLiteral("pending ") + now->shown.location).second) {
                say(Severity::Warning, QStringLiteral("There is no code at %1 yet.").arg(now->shown.location),
                    QStringLiteral("The breakpoint is set when a library that has it is loaded; else check the name and the line."));
            }
            now->numbers[number] = bp.value().number;
            if (now->shown.pending && !bp.value().pending) {
                now->shown.pending = false;
                now->shown.file = bp.value().fullName.isEmpty() ? bp.value().file : bp.value().fullName;
                now->shown.line = bp.value().line;
            }
            emit q->breakpointsChanged();
            done();
        });
}

void Session::Impl::applyBreakpoints(RankProcess* rank, std::function<void()> done) {
    auto left = std::make_shared<int>(1);
    auto one = [left, done] {
        if (--*left == 0) {
            done();
        }
    };
    for (BreakpointState& state : breakpoints) {
        ++*left;
        insert(state, rank, one);
    }
    one();
}

void Session::Impl::clearBreakpoints(RankProcess* rank, std::function<void()> done) {
    auto left = std::make_shared<int>(1);
    auto one = [left, done] {
        if (--*left == 0) {
            done();
        }
    };
    for (BreakpointState& state : breakpoints) {
        const auto it = state.numbers.find(rank->rank().value());
        if (it != state.numbers.end()) {
            ++*left;
            rank->gdb()->deleteBreakpoint(it->second, [one](Status) { one(); });
            state.numbers.erase(it);
        }
    }
    one();
}

void Session::Impl::countHit(RankProcess* rank) {
    if (rank->view().why != StopWhy::Breakpoint) {
        return;
    }
    for (BreakpointState& state : breakpoints) {
        const auto it = state.numbers.find(rank->rank().value());
        if (it != state.numbers.end() && rank->lastStop().breakpoints.contains(it->second)) {
            ++state.shown.hits;
            emit q->breakpointsChanged();
        }
    }
}

std::map<int, int> Session::Impl::hitCounts() const {
    std::map<int, int> hits;
    for (const BreakpointState& state : breakpoints) {
        hits[state.shown.id] = state.shown.hits;
    }
    return hits;
}

void Session::Impl::setHitCounts(const std::map<int, int>& hits) {
    for (BreakpointState& state : breakpoints) {
        const auto it = hits.find(state.shown.id);
        state.shown.hits = it == hits.end() ? 0 : it->second;
    }
    emit q->breakpointsChanged();
}

int Session::addBreakpoint(const QString& location, const QString& condition, std::optional<RankId> onlyRank) {
    BreakpointState state;
    state.shown.id = m_impl->nextBreakpoint++;
    state.shown.location = location;
    state.shown.condition = condition;
    state.shown.onlyRank = onlyRank;
    if (onlyRank && m_impl->ranks > 0 && (onlyRank->value() < 0 || onlyRank->value() >= m_impl->ranks)) {
        emit message(Severity::Warning,
                     tr("The breakpoint at %1 is for rank %2; the job has ranks 0 to %3.").arg(location).arg(onlyRank->value()).arg(m_impl->ranks - 1), {});
    }
    m_impl->breakpoints.push_back(state);
    const int id = state.shown.id;
    if (m_impl->approach == nullptr) { // else they are set on arrival
        for (RankProcess* rank : m_impl->processes()) {
            rank->whileStopped([this, id, guarded = QPointer<RankProcess>(rank)](std::function<void()> done) {
                BreakpointState* now = m_impl->findBreakpoint(id);
                if (now == nullptr || !guarded) {
                    done();
                    return;
                }
                m_impl->insert(*now, guarded, done);
            });
        }
    }
    emit breakpointsChanged();
    return id;
}

void Session::removeBreakpoint(int id) {
    setBreakpointEnabled(id, false);
    auto& all = m_impl->breakpoints;
    all.erase(std::remove_if(all.begin(), all.end(), [id](const BreakpointState& b) { return b.shown.id == id; }), all.end());
    emit breakpointsChanged();
}

void Session::setBreakpointEnabled(int id, bool enabled) {
    BreakpointState* state = m_impl->findBreakpoint(id);
    if (state == nullptr || state->shown.enabled == enabled) {
        return;
    }
    state->shown.enabled = enabled;
    if (m_impl->approach == nullptr) {
        for (RankProcess* rank : m_impl->processes()) {
            const auto number = state->numbers.find(rank->rank().value());
            const int known = number == state->numbers.end() ? 0 : number->second;
            if (!enabled) {
                state->numbers.erase(rank->rank().value());
                if (known != 0) {
                    rank->whileStopped([guarded = QPointer<RankProcess>(rank), known](std::function<void()> done) {
                        if (!guarded) {
                            done();
                            return;
                        }
                        guarded->gdb()->deleteBreakpoint(known, [done](Status) { done(); });
                    });
                }
                continue;
            }
            rank->whileStopped([this, id, guarded = QPointer<RankProcess>(rank)](std::function<void()> done) {
                BreakpointState* now = m_impl->findBreakpoint(id);
                if (now == nullptr || !guarded) {
                    done();
                    return;
                }
                m_impl->insert(*now, guarded, done);
            });
        }
    }
    emit breakpointsChanged();
}

QVector<UserBreakpoint> Session::breakpoints() const {
    QVector<UserBreakpoint> all;
    for (const BreakpointState& state : m_impl->breakpoints) {
        all.push_back(state.shown);
    }
    return all;
}

} // namespace stopline::replay
