// The last leg: from the event to a place between two events.
#include "approach.h"

namespace stopline::replay {

void Approach::runOn(RankProcess* rank) {
    Traveller& traveller = of(rank);
    traveller.leg = Leg::RunningOn;
    openGates();
    traveller.passes = 0;
    const Target& target = targetOf(rank->rank());
    rank->link()->setThreshold(EventIndex(target.place.event.value() + 1));
    const QString location = QStringLiteral("*0x%1").arg(target.runOn.address, 0, 16);
    rank->gdb()->insertBreakpoint(location, {}, false, [this, self = QPointer<Approach>(this), rank](Result<mi::Breakpoint> bp) {
        if (!self || rank->ended()) {
            return;
        }
        if (!bp) {
            elsewhere(rank, bp.error().text);
            return;
        }
        of(rank).runOnBreakpoint = bp.value().number;
        rank->letGo();
    });
}

void Approach::atRunOnStop(RankProcess* rank) {
    Traveller& traveller = of(rank);
    const Target& target = targetOf(rank->rank());
    auto leave = [this, rank, &traveller](auto then) {
        rank->link()->setThreshold(kNoThreshold);
        rank->gdb()->deleteBreakpoint(traveller.runOnBreakpoint, [self = QPointer<Approach>(this), then](Status) {
            if (self) {
                then();
            }
        });
    };
    if (rank->view().why == StopWhy::Stopline) {
        // The next call began before the place was reached: the user's run took another way between the events.
        m_guardFired = true;
        m_targets[std::size_t(rank->rank().value())].runOn = {};
        leave([this, rank] { elsewhere(rank, QStringLiteral("rank %1 did not pass its old place between two events").arg(rank->rank().value())); });
        return;
    }
    if (!rank->lastStop().breakpoints.contains(traveller.runOnBreakpoint)) {
        leave([this, rank] { elsewhere(rank, QStringLiteral("rank %1: %2").arg(rank->rank().value()).arg(stateText(rank->view()))); });
        return;
    }
    auto pass = [this, rank, leave](int depth) {
        if (m_cancelling) {
            finishCancel(); // it stands, and stays where it is
            return;
        }
        Traveller& t = of(rank);
        const RunOn& to = targetOf(rank->rank()).runOn;
        const bool same = to.depth == 0 || depth == to.depth;
        if (same && ++t.passes >= to.ordinal) {
            leave([this, rank] { there(rank); });
        } else {
            rank->letGo();
        }
    };
    if (target.runOn.depth == 0) {
        pass(0);
        return;
    }
    rank->gdb()->stack(rank->thread(), 256, [self = QPointer<Approach>(this), rank, pass](Result<QVector<mi::Frame>> frames) {
        if (self && !rank->ended()) {
            pass(frames ? int(frames.value().size()) : 0);
        }
    });
}

} // namespace stopline::replay
