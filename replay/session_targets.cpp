// Targets: how to come back to where ranks stand, and what of it can be stood at together.
#include "frame_values.h"
#include "session_impl.h"
#include "signals.h"

#include <QTimer>

#include <algorithm>
#include <memory>
#include <utility>

namespace stopline::replay {

namespace {

/// Its end was not its own doing, as far as that can be seen of it.
bool wasKilled(const RankView& view) {
    return view.phase == RankPhase::Exited && view.exitSignal != 0 && !isOwnFault(view.exitSignal);
}

/// A rank that has a process and no event yet is somewhere between its start and MPI_Init: that is not "not started".
void keepStarted(Target& target) {
    if (target.place.event.value() == 0 && target.runOn.kind == RunOn::Kind::None) {
        target.runOn.kind = RunOn::Kind::Start;
    }
}

/// Of a rank that is not brought to its very place: the reason of its stop there is none here.
StopWhy whyNear(StopWhy why) {
    const bool ofReplay = why == StopWhy::Stopline || why == StopWhy::RolledBack || why == StopWhy::Forwarded;
    return ofReplay ? why : StopWhy::Paused;
}

} // namespace

std::vector<Target> Session::Impl::presentTargets() const {
    std::vector<Target> now(static_cast<std::size_t>(ranks));
    const bool killed = killedFromOutside();
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        Target& target = now[std::size_t(i)];
        target.place = view.place;
        target.why = StopWhy::Paused; // one that runs is brought back to be looked at
        const bool remembered = std::size_t(i) < targets.size() &&
                                (view.phase == RankPhase::Stopped || view.phase == RankPhase::Exited) &&
                                targets[std::size_t(i)].place.event == view.place.event;
        if (remembered) {
            target = targets[std::size_t(i)];
        }
        if (killed && wasKilled(view)) { // nobody kills it there again: it is brought back to where it was then
            target = {view.place, {}, StopWhy::Paused};
        }
        if (alive() && process(RankId(i)) != nullptr) { // one that is yet to be spawned has no start to come back to
            keepStarted(target);
        }
    }
    return now;
}

/// A signal from outside has ended ranks, or the job through them; not the launcher, as a rank had failed or left.
bool Session::Impl::killedFromOutside() const {
    bool killed = false;
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        if (view.phase == RankPhase::Exited && !wasKilled(view) && (view.exitSignal != 0 || view.exitCode > 0)) {
            return false;
        }
        killed = killed || wasKilled(view);
    }
    return killed && leaving.empty();
}

/// Notes how to come back to where this rank has just stopped.
void Session::Impl::rememberTarget(RankProcess* rank) {
    if (approach != nullptr) {
        return; // on its way, where it stops again and again: what it comes to is noted when all are there
    }
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
        if (const int signal = signalOfName(rank->lastStop().signalName); signal < 0 || isOwnFault(signal)) {
            target.runOn.kind = RunOn::Kind::Signal;
            break;
        }
        [[fallthrough]]; // it came from outside, and will not come again: as a pause
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
        if (view.insideMpi) {
            target.runOn.kind = RunOn::Kind::Inside;
            break;
        }
        if (rank->stopAddress() == 0) {
            break; // where it was joined, before anything of the program has run
        }
        target.runOn.kind = RunOn::Kind::Address;
        target.runOn.address = rank->stopAddress();
        target.runOn.condition = conditionHit(rank);
        target.runOn.ordinal = ++visits[visitOf(int(index), target)];
        break;
    default:
        break;
    }
    keepStarted(target);
    targets[index] = target;
    if (target.runOn.kind == RunOn::Kind::Address) {
        remembering[int(index)] = {rank, ++rememberSerial, false};
    } else {
        remembering.erase(int(index));
    }
}

/// Asks the gdbs for what tells the places of the ranks that stand from other visits of the same address. Not before all
/// have stopped, as it is not to delay the showing of a stop, or somebody wants to leave and waits for the answers.
void Session::Impl::askRemembered() {
    std::erase_if(remembering, [](const auto& one) { return one.second.rank == nullptr; }); // gone with their job
    std::vector<std::pair<std::size_t, Remembering>> fresh; // an answer may take an entry out of the list
    for (auto& [index, one] : remembering) {
        if (!std::exchange(one.asked, true)) {
            fresh.emplace_back(std::size_t(index), one);
        }
    }
    for (const auto& [index, one] : fresh) {
        askPlaceOf(one.rank, index, one.serial);
    }
}

void Session::Impl::askPlaceOf(RankProcess* rank, std::size_t index, int serial) {
    const auto done = [this, index, serial] {
        if (const auto it = remembering.find(int(index)); it != remembering.end() && it->second.serial == serial) {
            remembering.erase(it);
            checkRemembered();
        }
    };
    const auto current = [this, index, serial] {
        const auto it = remembering.find(int(index));
        return it != remembering.end() && it->second.serial == serial && index < targets.size();
    };
    rank->gdb()->stack(rank->thread(), 256, [this, index, done, current, guarded = QPointer<RankProcess>(rank)](Result<QVector<mi::Frame>> frames) {
        if (!guarded || !frames || !current()) {
            done();
            return;
        }
        RunOn& runOn = targets[index].runOn;
        if (frames.value().value(0).from.section(u'/', -1).startsWith(u"libstopline-")) {
            // Paused between the library's event and the program: where exactly differs from run to run.
            runOn = {};
            keepStarted(targets[index]);
            done();
            return;
        }
        runOn.depth = int(frames.value().size());
        if (targets[index].why == StopWhy::Start || allVisitsWereStops(guarded)) {
            done(); // main begins once, with variables that hold anything; of stops, their number says which one it was
            return;
        }
        readFrameValues(guarded, frames.value(), [this, index, done, current](const FrameValues& values) {
            if (current()) {
                targets[index].runOn.values = values;
            }
            done();
        });
    });
}

/// Notes where a journey has brought this rank: a place that it was at before, or wherever it stands.
void Session::Impl::rememberArrival(RankProcess* rank, const Approach& journey) {
    const auto index = std::size_t(rank->rank().value());
    const Target& target = journey.targets()[index];
    if (targets.size() != std::size_t(ranks)) {
        targets.assign(std::size_t(ranks), {});
    }
    if (target.runOn.kind == RunOn::Kind::Address && journey.passes(rank->rank()) > 0) {
        visits[visitOf(int(index), target)] = journey.passes(rank->rank());
    }
    if (!journey.exactlyThere(rank->rank())) {
        rememberTarget(rank);
        return;
    }
    targets[index] = target;
    if (target.runOn.kind == RunOn::Kind::Address) {
        targets[index].runOn.ordinal = journey.passes(rank->rank());
    } else if (target.runOn.kind == RunOn::Kind::None && rank->view().why != StopWhy::Stopline) {
        targets[index].why = rank->view().why; // else what it stood there for: not every hold is a stopline of the user's
    }
    keepStarted(targets[index]);
}

/// The condition of the user's breakpoint that has stopped this rank; empty when it was another stop, or when one
/// without a condition would have stopped it as well.
QString Session::Impl::conditionHit(RankProcess* rank) const {
    QString condition;
    for (const BreakpointState& state : breakpoints) {
        const auto it = state.numbers.find(rank->rank().value());
        if (it == state.numbers.end() || !rank->lastStop().breakpoints.contains(it->second)) {
            continue;
        }
        if (state.shown.condition.isEmpty()) {
            return {};
        }
        condition = state.shown.condition;
    }
    return condition;
}

/// Whether the breakpoint that has stopped this rank was there before the present stretch between two events began, so
/// that it has been stopped there every time.
bool Session::Impl::allVisitsWereStops(RankProcess* rank) const {
    const int number = rank->rank().value();
    return std::any_of(breakpoints.begin(), breakpoints.end(), [&](const BreakpointState& state) {
        const auto it = state.numbers.find(number);
        const auto since = state.since.find(number);
        return it != state.numbers.end() && rank->lastStop().breakpoints.contains(it->second) &&
               (since == state.since.end() || since->second < rank->view().place.event);
    });
}

Session::Impl::Visit Session::Impl::visitOf(int rank, const Target& target) {
    return {rank, target.place.event.value(), target.runOn.address, target.runOn.condition};
}

/// Does `then` when it is known of all ranks that stand how to come back to there, or when a gdb is too long about it.
void Session::Impl::onceRemembered(std::function<void()> then) {
    constexpr int kLongestMs = 3000;
    askRemembered();
    if (remembering.empty()) {
        then();
        return;
    }
    auto once = std::make_shared<std::function<void()>>(std::move(then));
    const auto call = [once] {
        if (auto now = std::exchange(*once, {})) {
            now();
        }
    };
    whenRemembered.push_back(call);
    QTimer::singleShot(kLongestMs, q, call);
}

void Session::Impl::checkRemembered() {
    if (remembering.empty()) {
        for (const auto& then : std::exchange(whenRemembered, {})) {
            then();
        }
    }
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
                to[i] = {{}, {}, whyNear(to[i].why)};
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
            // A receive that is held for a chosen message, which has not come, takes no other.
            const RankId rank{std::int32_t(i)};
            const auto call = timeline.callAt(rank, target.place.event);
            const bool held = call && timeline.call(*call).end.value() == 0 && !heldText(rank, target.place.event).isEmpty();
            if (held || timeline.blockedBy(lowered.cut, rank)) {
                target.runOn.kind = RunOn::Kind::Inside;
            } else {
                target.place.inside = false;
                target.runOn = {};
                target.why = whyNear(target.why);
                changed = true;
            }
        }
    }
    return to;
}

} // namespace stopline::replay
