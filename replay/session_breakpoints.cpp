// The breakpoints of the user: in every gdb, with hits that survive going back.
#include "session_impl.h"
#include "words.h"

#include <algorithm>

namespace stopline::replay {

namespace {

/// A place that gdb does not know yet is no reason to refuse: what is left is one that it cannot read, or the condition.
QString refusalRemedy(const QString& error, bool conditional) {
    if (error.contains(QStringLiteral("symbol table"))) {
        return QStringLiteral("Compile the program with -g.");
    }
    const bool place = error.contains(QStringLiteral("linespec")) || error.contains(QStringLiteral("Junk at end"));
    return conditional && !place ? QStringLiteral("Check the condition: it is read where the breakpoint is.")
                                 : QStringLiteral("Check the location: FILE:LINE or a function.");
}

} // namespace

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
            if (!bp && (bp.error().code == ErrorCode::GdbDied || bp.error().code == ErrorCode::Cancelled)) {
                done(); // nobody has refused anything: the rank is gone, and that is told by itself
                return;
            }
            if (!bp) {
                now->refused[number] = bp.error().text;
                const QString what = now->shown.condition.isEmpty()
                                         ? now->shown.location
                                         : QStringLiteral("%1 if %2").arg(now->shown.location, now->shown.condition);
                emit q->breakpointsChanged();
                // The same mistake in every rank is said once.
                if (guarded && !guarded->ended() && faultsSaid.insert(what + bp.error().text).second) {
                    say(Severity::Warning, QStringLiteral("The breakpoint at %1 could not be set: %2").arg(what, bp.error().text),
                        refusalRemedy(bp.error().text, !now->shown.condition.isEmpty()));
                }
                done();
                return;
            }
            if (bp.value().pending && faultsSaid.insert(QStringLiteral("pending ") + now->shown.location).second) {
                say(Severity::Warning, QStringLiteral("There is no code at %1 yet.").arg(now->shown.location),
                    QStringLiteral("The breakpoint is set when a library that has it is loaded; else check the name and the line, and "
                                   "that the file is compiled with -g."));
            }
            // The program may have been built anew since the last job: the first rank says where it is in this one.
            const bool first = now->numbers.empty();
            now->numbers[number] = bp.value().number;
            now->since.erase(number);
            if (guarded && !guarded->link()->status().atGate) {
                now->since[number] = std::max(guarded->view().place.event, guarded->link()->status().event);
            }
            if (bp.value().pending) {
                now->shown.pending = now->shown.pending || first;
            } else if (first || now->shown.pending) {
                now->shown.pending = false;
                now->shown.file = bp.value().fullName.isEmpty() ? bp.value().file : bp.value().fullName;
                now->shown.line = bp.value().line;
            }
            emit q->breakpointsChanged();
            done();
        });
}

/// A breakpoint that cannot be set holds a new job before main: what it was to catch may happen only once.
bool Session::Impl::holdsAtStart(RankProcess* rank) {
    const bool refuses = std::any_of(breakpoints.begin(), breakpoints.end(), [rank](const BreakpointState& state) {
        return state.shown.enabled && state.refused.count(rank->rank().value()) != 0;
    });
    if (refuses && !heldAtStart) {
        heldAtStart = true;
        say(Severity::Warning, QStringLiteral("The job is held at its start, as a breakpoint could not be set."),
            QStringLiteral("Correct or remove the breakpoint, then Continue."));
        for (RankProcess* other : processes()) {
            if (other != rank && other->view().phase == RankPhase::Running) {
                other->pause(); // let go before this one was asked
            }
        }
    }
    return heldAtStart;
}

/// A launcher's own command line has said how many ranks there are only now.
void Session::Impl::checkBreakpointRanks() {
    for (const BreakpointState& state : breakpoints) {
        if (state.shown.onlyRank && state.shown.onlyRank->value() >= ranks) {
            say(Severity::Warning, QStringLiteral("The breakpoint at %1 is for rank %2; the job has ranks 0 to %3.")
                                       .arg(state.shown.location).arg(rankText(*state.shown.onlyRank)).arg(ranks - 1));
        }
    }
}

void Session::Impl::applyBreakpoints(RankProcess* rank, std::function<void()> done) {
    const Countdown one(std::move(done));
    for (BreakpointState& state : breakpoints) {
        one.begin();
        insert(state, rank, one);
    }
    one();
}

void Session::Impl::clearBreakpoints(RankProcess* rank, std::function<void()> done) {
    const Countdown one(std::move(done));
    for (BreakpointState& state : breakpoints) {
        const auto it = state.numbers.find(rank->rank().value());
        if (it != state.numbers.end()) {
            one.begin();
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

void Session::Impl::onConditionFailed(RankProcess* rank, int number, const QString& why) {
    for (const BreakpointState& state : breakpoints) {
        const auto it = state.numbers.find(rank->rank().value());
        if (it == state.numbers.end() || it->second != number) {
            continue;
        }
        const QString what = QStringLiteral("%1 if %2").arg(state.shown.location, state.shown.condition);
        if (faultsSaid.insert(QStringLiteral("condition ") + what + why).second) {
            say(Severity::Warning,
                QStringLiteral("Rank %1 stops at the breakpoint at %2, as its condition cannot be evaluated: %3")
                    .arg(rankText(rank->rank()))
                    .arg(what, why),
                QStringLiteral("Change the condition, for example to one that first tests what it needs, or remove it."));
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
    const auto refuse = [this, &location](const QString& why) {
        emit message(Severity::Warning, tr("There can be no breakpoint at %1: %2").arg(location, why), {});
        return 0;
    };
    if (location.trimmed().startsWith(u'-')) { // gdb would take it for an option
        return refuse(tr("a place is FILE:LINE, a function or *ADDRESS."));
    }
    // How many ranks a launcher's own command line gives is known only when they are there.
    const bool told = !m_impl->alive() && m_impl->spec.command.isEmpty() && !m_impl->spec.program.isEmpty();
    const int count = told ? m_impl->spec.ranks : m_impl->ranks;
    if (onlyRank && count > 0 && (onlyRank->value() < 0 || onlyRank->value() >= count)) {
        return refuse(count == 1 ? tr("there is no rank %1; the job has only rank 0.").arg(rankText(*onlyRank))
                                 : tr("there is no rank %1; the job has %2 ranks, 0 to %3.").arg(rankText(*onlyRank)).arg(count).arg(count - 1));
    }
    BreakpointState state;
    state.shown.id = m_impl->nextBreakpoint++;
    state.shown.location = location;
    state.shown.condition = condition;
    state.shown.onlyRank = onlyRank;
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
    state->refused.clear();
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

bool Session::breakpointSettled(int id) const {
    const BreakpointState* state = m_impl->findBreakpoint(id);
    if (state == nullptr || !state->shown.enabled || m_impl->approach != nullptr) {
        return true; // on a journey they are set on arrival
    }
    const auto all = m_impl->processes();
    return std::all_of(all.begin(), all.end(), [state](const RankProcess* rank) {
        const bool concerned = !state->shown.onlyRank || *state->shown.onlyRank == rank->rank();
        // A rank that has not joined gets its breakpoints then, before it goes on.
        const bool live = rank->attached() && !rank->ended() && rank->view().phase != RankPhase::Failed;
        return !concerned || !live || state->numbers.count(rank->rank().value()) != 0 ||
               state->refused.count(rank->rank().value()) != 0;
    });
}

QVector<UserBreakpoint> Session::breakpoints() const {
    QVector<UserBreakpoint> all;
    for (const BreakpointState& state : m_impl->breakpoints) {
        all.push_back(state.shown);
        QVector<RankId> ranks;
        for (const auto& [rank, why] : state.refused) {
            ranks << RankId(rank);
        }
        if (!ranks.isEmpty()) {
            const QString why = state.refused.begin()->second;
            all.back().refused = state.numbers.empty() ? why : QStringLiteral("%1 (%2)").arg(why, rankListText(ranks));
        }
    }
    return all;
}

} // namespace stopline::replay
