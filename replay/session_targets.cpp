// Targets: how to come back to where ranks stand, and what of it can be stood at together.
#include "session_impl.h"

#include <algorithm>

namespace stopline::replay {

std::vector<Target> Session::Impl::presentTargets() const {
    std::vector<Target> now(static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        Target& target = now[std::size_t(i)];
        target.place = view.place;
        const bool remembered = std::size_t(i) < targets.size() &&
                                (view.phase == RankPhase::Stopped || view.phase == RankPhase::Exited) &&
                                targets[std::size_t(i)].place.event == view.place.event;
        if (remembered) {
            target = targets[std::size_t(i)];
        }
    }
    return now;
}

/// Notes how to come back to where this rank has just stopped.
void Session::Impl::rememberTarget(RankProcess* rank) {
    const RankView& view = rank->view();
    if (targets.size() != std::size_t(ranks)) {
        targets.assign(std::size_t(ranks), {});
    }
    const auto index = std::size_t(rank->rank().value());
    Target target;
    target.place = view.place;
    target.why = view.why;
    if (view.phase == RankPhase::Exited) {
        // An end by a signal is the signal's stop and one step more; it runs to its end again.
        target.runOn.kind = RunOn::Kind::Exit;
        targets[index] = target;
        return;
    }
    switch (view.why) {
    case StopWhy::Signal:
        target.runOn.kind = RunOn::Kind::Signal;
        break;
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
        target.runOn.kind = RunOn::Kind::Abort;
        break;
    case StopWhy::Paused:
    case StopWhy::Breakpoint:
    case StopWhy::Watchpoint:
    case StopWhy::Step:
    case StopWhy::Start:
        if (view.why == StopWhy::Start && rank->stopAddress() == 0) {
            break; // at the gate, before anything of the program has run
        }
        if (view.insideMpi) {
            target.runOn.kind = RunOn::Kind::Inside;
            break;
        }
        target.runOn.kind = RunOn::Kind::Address;
        target.runOn.address = rank->stopAddress();
        break;
    default:
        break;
    }
    targets[index] = target;
    if (target.runOn.kind != RunOn::Kind::Address) {
        return;
    }
    rank->gdb()->stack(rank->thread(), 256, [this, index, target, guarded = QPointer<RankProcess>(rank)](Result<QVector<mi::Frame>> frames) {
        if (!guarded || !frames || index >= targets.size() || !(targets[index] == target)) {
            return;
        }
        RunOn& runOn = targets[index].runOn;
        if (frames.value().value(0).from.section(u'/', -1).startsWith(u"libstopline-")) {
            // Paused between the library's event and the program: where exactly differs from run to run.
            runOn = {};
            return;
        }
        runOn.depth = int(frames.value().size());
        runOn.ordinal = ++visits[{int(index), target.place.event.value(), runOn.address, runOn.depth}];
    });
}

std::vector<Target> Session::Impl::targetsOf(const Cut& cut) const {
    std::vector<Target> to(cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
        to[i].place = cut[i];
        if (cut[i].inside) {
            to[i].runOn.kind = RunOn::Kind::Inside;
        }
    }
    return to;
}

/// Lowers targets to the largest closed cut; ranks that have to move lose what they had between events.
std::vector<Target> Session::Impl::closed(std::vector<Target> to) const {
    const Timeline& timeline = recording->timeline();
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i].place.event = std::min(to[i].place.event, timeline.lastEvent(RankId(std::int32_t(i))));
    }
    for (bool changed = true; changed;) {
        changed = false;
        Cut cut;
        for (const Target& target : to) {
            cut.push_back(target.place);
        }
        const Line lowered = timeline.closeDown(cut);
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (lowered.cut[i].event != to[i].place.event) {
                to[i] = {};
            }
            to[i].place = lowered.cut[i];
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            Target& target = to[i];
            const bool kept = target.runOn.kind != RunOn::Kind::None && target.runOn.kind != RunOn::Kind::Inside;
            if (!target.place.inside || kept) {
                continue;
            }
            // Only a call that cannot return while the others stand there can be stood inside of. Any other is entered
            // and left at once, so the place before it is the nearest that can be kept; what others have of that call,
            // its message for one, then has not happened either, and the cut is closed again.
            if (timeline.blockedBy(lowered.cut, RankId(std::int32_t(i)))) {
                target.runOn.kind = RunOn::Kind::Inside;
            } else {
                target.place.inside = false;
                target.runOn = {};
                changed = true;
            }
        }
    }
    return to;
}

} // namespace stopline::replay
