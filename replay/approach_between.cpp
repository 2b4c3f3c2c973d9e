// The last leg: from the event to a place between two events.
#include "approach.h"
#include "words.h"

namespace stopline::replay {

namespace {
/// So long the round of a loop is searched for in which the rank stood; each costs a few milliseconds.
constexpr qint64 kSearchMs = 5000;
} // namespace

void Approach::runOn(RankProcess* rank) {
    Traveller& traveller = of(rank);
    traveller.leg = Leg::RunningOn;
    openGates();
    const Target& target = targetOf(rank->rank());
    traveller.passes = target.runOn.ordinal - 1; // those are not stopped at
    traveller.searching.start();
    rank->link()->setThreshold(EventIndex(target.place.event.value() + 1));
    insertRunOn(rank, target.runOn.condition);
}

/// The nearest place to wherever it stood before its first event that can be found again.
void Approach::runToMain(RankProcess* rank) {
    Traveller& traveller = of(rank);
    traveller.leg = Leg::RunningOn;
    traveller.approximate = true;
    m_starts << rank->rank();
    openGates();
    rank->runToMain([this, self = QPointer<Approach>(this), rank] {
        if (self) {
            rank->keep();
            there(rank);
        }
    });
}

void Approach::insertRunOn(RankProcess* rank, const QString& condition) {
    const QString location = QStringLiteral("*0x%1").arg(targetOf(rank->rank()).runOn.address, 0, 16);
    rank->gdb()->insertBreakpoint(location, condition, false, [this, condition, self = QPointer<Approach>(this), rank](Result<mi::Breakpoint> bp) {
        if (!self || rank->ended()) {
            return;
        }
        if (!bp && !condition.isEmpty()) {
            insertRunOn(rank, {}); // every pass is looked at then
            return;
        }
        if (!bp) {
            elsewhere(rank, QStringLiteral("rank %1: %2").arg(rankText(rank->rank())).arg(bp.error().text));
            return;
        }
        Traveller& traveller = of(rank);
        traveller.runOnBreakpoint = bp.value().number;
        if (traveller.passes > 0) {
            rank->gdb()->setBreakpointIgnore(traveller.runOnBreakpoint, traveller.passes, [](Status) {});
        }
        rank->letGo();
    });
}

/// Takes the breakpoint of this leg away; nothing of it may be left when the rank is there.
void Approach::leaveRunOn(RankProcess* rank, std::function<void()> then) {
    rank->link()->setThreshold(kNoThreshold);
    rank->gdb()->deleteBreakpoint(of(rank).runOnBreakpoint, [self = QPointer<Approach>(this), then = std::move(then)](Status) {
        if (self) {
            then();
        }
    });
}

void Approach::atRunOnStop(RankProcess* rank) {
    Traveller& traveller = of(rank);
    RunOn& to = m_targets[std::size_t(rank->rank().value())].runOn;
    if (to.kind == RunOn::Kind::Start) {
        if (rank->view().why == StopWhy::Start) {
            there(rank);
        } else {
            elsewhere(rank, QStringLiteral("rank %1: %2").arg(rankText(rank->rank())).arg(stateText(rank->view())));
        }
        return;
    }
    if (rank->view().why == StopWhy::Stopline) {
        // The next call began before the place was known again. Either its address was passed: then the pass that was most
        // like the old place is taken; or the user's run took another way between the events: then it stays at the event.
        m_guardFired = true;
        if (const auto best = traveller.visits.best()) {
            to.ordinal = *best;
            to.values.clear();
            if (!traveller.visits.unique()) {
                m_rounds << rank->rank();
            }
        } else {
            to = {};
            m_early << rank->rank();
        }
        leaveRunOn(rank, [this, rank] { elsewhere(rank, {}); });
        return;
    }
    if (!rank->lastStop().breakpoints.contains(traveller.runOnBreakpoint)) {
        leaveRunOn(rank, [this, rank] { elsewhere(rank, QStringLiteral("rank %1: %2").arg(rankText(rank->rank())).arg(stateText(rank->view()))); });
        return;
    }
    ++traveller.passes;
    passed(rank);
}

/// Stands at the address of its place: is it the place?
void Approach::passed(RankProcess* rank) {
    const RunOn& to = targetOf(rank->rank()).runOn;
    const auto decide = [this, self = QPointer<Approach>(this), guarded = QPointer<RankProcess>(rank)](bool same) {
        if (!self || !guarded || guarded->ended()) {
            return;
        }
        if (m_cancelling) {
            finishCancel(); // it stands, and stays where it is
        } else if (same) {
            arriveBetween(guarded);
        } else {
            passOn(guarded);
        }
    };
    if (to.depth == 0 && to.values.empty()) {
        decide(true);
        return;
    }
    rank->gdb()->stack(rank->thread(), 256, [this, self = QPointer<Approach>(this), to, decide, guarded = QPointer<RankProcess>(rank)](Result<QVector<mi::Frame>> frames) {
        if (!self || !guarded) {
            return;
        }
        if (!frames) { // nothing to tell this pass from another by
            doubt(guarded);
            decide(true);
        } else if (to.depth != 0 && frames.value().size() != to.depth) {
            decide(false);
        } else if (to.values.empty()) {
            decide(true);
        } else {
            readFrameValues(guarded, frames.value(), [this, self, guarded, to, decide](const FrameValues& found) {
                if (!self || !guarded) {
                    return;
                }
                Traveller& traveller = of(guarded);
                decide(traveller.visits.look(traveller.passes, to.values, found) == VisitSearch::Verdict::This);
            });
        }
    });
}

/// Another round of the loop, or another depth of the recursion.
void Approach::passOn(RankProcess* rank) {
    if (of(rank).searching.elapsed() < kSearchMs) {
        rank->letGo();
        return;
    }
    doubt(rank);
    arriveBetween(rank);
}

/// This pass is taken for the place, though it may be another one.
void Approach::doubt(RankProcess* rank) {
    of(rank).approximate = true;
    m_rounds << rank->rank();
}

void Approach::arriveBetween(RankProcess* rank) {
    leaveRunOn(rank, [this, guarded = QPointer<RankProcess>(rank)] {
        if (guarded) {
            there(guarded);
        }
    });
}

QString Approach::note() const {
    QStringList notes;
    if (!m_early.isEmpty()) {
        notes << QStringLiteral("%1 did not pass the old place between two calls again; the place is the call before it").arg(rankListText(m_early));
    }
    if (!m_starts.isEmpty()) {
        notes << QStringLiteral("%1: at the start; the exact place before MPI_Init cannot be found again").arg(rankListText(m_starts));
    }
    if (!m_rounds.isEmpty()) {
        notes << QStringLiteral("%1: the line is that of the old place, but whether the values are cannot be told: it may be another round of a loop").arg(rankListText(m_rounds));
    }
    return notes.join(QStringLiteral("; "));
}

} // namespace stopline::replay
