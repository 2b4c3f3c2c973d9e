#include "approach.h"

#include "words.h"

#include <algorithm>

namespace stopline::replay {

namespace {
constexpr int kLookMs = 50; ///< between two looks at ranks on their way
constexpr int kCancelMs = 5000;
constexpr qint64 kPatienceMs = 8000; ///< longer than a place is searched for that is passed again and again
} // namespace

Approach::Approach(const Recording& recording, std::vector<Target> targets, QObject* parent)
    : QObject(parent), m_recording(recording), m_targets(std::move(targets)), m_travellers(m_targets.size()) {
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        const JobRanks* job = spawnOf(i);
        if (job == nullptr || job->spawner.value() < 0 || std::size_t(job->spawner.value()) >= m_targets.size()) {
            continue;
        }
        const Target& spawner = m_targets[std::size_t(job->spawner.value())];
        const bool spawned = spawner.place.event > job->spawnEvent || (spawner.place.event == job->spawnEvent && spawner.place.inside) ||
                             spawner.runOn.kind == RunOn::Kind::Exit;
        if (!spawned) {
            m_travellers[i].leg = Leg::There; // it is not to be yet
        }
    }
    m_tick.setInterval(kLookMs);
    connect(&m_tick, &QTimer::timeout, this, &Approach::tick);
    m_tick.start();
}

const JobRanks* Approach::spawnOf(std::size_t rank) const {
    const JobTable& jobs = m_recording.jobs();
    const std::size_t job = jobs.jobOf(RankId(std::int32_t(rank)));
    return job == 0 ? nullptr : &jobs.all()[job];
}

/// Of a rank that is not there: whether the one that is to spawn it may still do so.
bool Approach::mayCome(std::size_t rank) const {
    const JobRanks* job = spawnOf(rank);
    if (job == nullptr || job->spawner.value() < 0 || m_travellers[rank].process != nullptr) {
        return true;
    }
    const Leg spawner = m_travellers[std::size_t(job->spawner.value())].leg;
    return spawner == Leg::Absent || spawner == Leg::Gated || spawner == Leg::Travelling || spawner == Leg::Inside ||
           spawner == Leg::RunningOn;
}

void Approach::addRanks(int count) {
    m_targets.resize(std::size_t(count));
    m_travellers.resize(std::size_t(count));
    cancel(QStringLiteral("the program has spawned processes that it had not spawned before"));
}

EventIndex Approach::thresholdOf(RankId rank) const {
    const Target& target = targetOf(rank);
    switch (target.runOn.kind) {
    case RunOn::Kind::None:
    case RunOn::Kind::Address:
        return target.place.event.value() == 0 ? kNoThreshold : target.place.event;
    case RunOn::Kind::Inside: // a guard: it is to block in the call, so its end must not come
    case RunOn::Kind::Signal:
        return EventIndex(target.place.event.value() + 1);
    case RunOn::Kind::Abort:
    case RunOn::Kind::Exit:
    case RunOn::Kind::Start:
        break;
    }
    return kNoThreshold;
}

void Approach::configure(RankId rank, agent::RankConfig& config) const {
    const Target& target = targetOf(rank);
    config.threshold = thresholdOf(rank);
    // Joining at the end of MPI_Init is the quickest, but a place before that needs gdb earlier.
    const bool early = target.place.event.value() < 2;
    config.gate = early ? trace::Gate::Constructor : trace::Gate::InitEnd;
}

void Approach::add(RankProcess* rank) {
    of(rank).process = rank;
    of(rank).still.start();
    if (m_cancelling) {
        rank->pause(); // where it is: nobody lets it come any further
    }
}

void Approach::continueFrom(const std::vector<RankProcess*>& ranks, const std::vector<bool>& stays) {
    for (RankProcess* rank : ranks) {
        Traveller& traveller = of(rank);
        traveller.process = rank;
        traveller.still.start();
        const Target& target = targetOf(rank->rank());
        const bool atPlace = rank->view().place == target.place && target.runOn.kind == RunOn::Kind::None;
        if (stays[std::size_t(rank->rank().value())]) {
            traveller.leg = Leg::There;
            traveller.passes = target.runOn.ordinal;
            continue;
        }
        if (rank->ended() || (atPlace && rank->view().why != StopWhy::Stopline)) {
            traveller.leg = Leg::There;
            continue;
        }
        // A rank that stands at a stopline already goes back to holding, so that its peers make progress.
        rank->link()->setThreshold(atPlace ? rank->view().place.event : thresholdOf(rank->rank()));
        traveller.leg = Leg::Travelling;
        rank->letGo();
    }
    QMetaObject::invokeMethod(this, &Approach::check, Qt::QueuedConnection);
}

void Approach::joined(RankProcess* rank) {
    if (m_cancelling) {
        rank->keep();
        finishCancel();
        return;
    }
    Traveller& traveller = of(rank);
    const Target& target = targetOf(rank->rank());
    if (target.place.event.value() == 0) {
        // One that loads MPI late is known from MPI_Init on: that is as near to its start as it can be held.
        if (target.runOn.kind == RunOn::Kind::None || !rank->link()->status().mpiLinked) {
            rank->keep();
            there(rank);
            return;
        }
        if (target.runOn.kind == RunOn::Kind::Address) {
            runOn(rank);
            return;
        }
        if (target.runOn.kind == RunOn::Kind::Start) {
            runToMain(rank);
            return;
        }
    }
    traveller.leg = Leg::Gated;
    openGates();
}

void Approach::openGates() {
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        if (m_travellers[i].leg == Leg::Absent && spawnOf(i) == nullptr) {
            return;
        }
    }
    for (Traveller& traveller : m_travellers) {
        if (traveller.leg == Leg::Gated) {
            traveller.leg = Leg::Travelling;
            traveller.still.restart();
            traveller.process->letGo();
        }
    }
}

void Approach::arrived(RankProcess* rank) {
    if (m_cancelling) {
        rank->release();
        return;
    }
    Traveller& traveller = of(rank);
    if (traveller.leg == Leg::RunningOn || traveller.leg == Leg::Pausing) {
        rank->release(); // the guard: atRunOnStop() or stopped() sees where it is
        return;
    }
    if (traveller.leg != Leg::Travelling && traveller.leg != Leg::Inside && traveller.leg != Leg::Stuck &&
        traveller.leg != Leg::Absent) {
        return;
    }
    traveller.leg = Leg::Arrived;
    emit progressed();
    if (m_released) {
        traveller.leg = Leg::Releasing;
        rank->release();
        return;
    }
    check();
}

void Approach::stopped(RankProcess* rank) {
    if (m_cancelling) {
        finishCancel();
        return;
    }
    Traveller& traveller = of(rank);
    const RankView& view = rank->view();
    const Target& target = targetOf(rank->rank());
    switch (traveller.leg) {
    case Leg::RunningOn:
        atRunOnStop(rank);
        return;
    case Leg::Releasing:
        if (target.runOn.kind == RunOn::Kind::Address && view.why == StopWhy::Stopline) {
            runOn(rank);
            return;
        }
        break;
    case Leg::There:
    case Leg::Elsewhere:
        return;
    default:
        break;
    }
    if (view.why == StopWhy::Signal && view.place.event < target.place.event) {
        rank->letGo(); // the recorded run has passed this signal too
        return;
    }
    const bool signal = target.runOn.kind == RunOn::Kind::Signal && view.why == StopWhy::Signal;
    const bool abort = target.runOn.kind == RunOn::Kind::Abort &&
                       (view.why == StopWhy::Abort || view.why == StopWhy::MpiError || view.why == StopWhy::ExitNoFinalize);
    const bool place = view.place == target.place;
    if ((signal || abort) && view.place.event == target.place.event) {
        there(rank);
    } else if (place && (view.why == StopWhy::Stopline || view.why == StopWhy::Paused)) {
        there(rank);
    } else if (!traveller.reason.isEmpty()) {
        elsewhere(rank, traveller.reason);
    } else {
        elsewhere(rank, QStringLiteral("rank %1 stopped %2 instead of %3: %4")
                            .arg(rankText(rank->rank()))
                            .arg(QString::fromStdString(m_recording.timeline().describe(rank->rank(), view.place)),
                                 QString::fromStdString(m_recording.timeline().describe(rank->rank(), target.place)),
                                 stateText(view)));
    }
}

void Approach::ended(RankProcess* rank) {
    if (m_cancelling) {
        finishCancel();
        return;
    }
    Traveller& traveller = of(rank);
    if (traveller.leg == Leg::There || traveller.leg == Leg::Elsewhere) {
        return;
    }
    if (targetOf(rank->rank()).runOn.kind == RunOn::Kind::Exit) {
        there(rank);
    } else {
        m_broken = true;
        elsewhere(rank, QStringLiteral("rank %1 ended before its place: %2").arg(rankText(rank->rank())).arg(
                            stateText(rank->view())));
    }
}

void Approach::check() {
    if (m_finished || m_released || m_cancelling) {
        return;
    }
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        const Leg leg = m_travellers[i].leg;
        if ((leg == Leg::Absent && mayCome(i)) || leg == Leg::Gated || leg == Leg::Travelling || leg == Leg::RunningOn) {
            return;
        }
    }
    releaseAll();
}

void Approach::releaseAll() {
    m_released = true;
    m_settling.start();
    for (Traveller& traveller : m_travellers) {
        if (traveller.leg == Leg::Arrived) {
            traveller.leg = Leg::Releasing;
            traveller.process->release();
        } else if (traveller.leg == Leg::Inside || traveller.leg == Leg::Stuck) {
            traveller.leg = Leg::Pausing;
            traveller.process->pause();
        }
    }
    finishIfDone();
}

void Approach::there(RankProcess* rank) {
    of(rank).leg = Leg::There;
    openGates();
    const Target& target = targetOf(rank->rank());
    if (target.runOn.kind == RunOn::Kind::Address) {
        rank->setWhy(target.why); // not the breakpoint that served to bring it here
    } else if (target.runOn.kind == RunOn::Kind::Inside || target.runOn.kind == RunOn::Kind::Signal) {
        rank->link()->setThreshold(kNoThreshold); // the guard behind the place is not to stop the user's next command
    }
    emit progressed();
    m_released ? finishIfDone() : check();
}

void Approach::elsewhere(RankProcess* rank, const QString& reason) {
    of(rank).leg = Leg::Elsewhere;
    of(rank).reason = reason;
    if (!rank->ended() && rank->view().why != StopWhy::Stopline) {
        rank->link()->setThreshold(kNoThreshold); // nor is the place that it did not come to
    }
    openGates();
    emit progressed();
    m_released ? finishIfDone() : check();
}

void Approach::finishIfDone() {
    if (m_finished || !m_released || m_cancelling) {
        return;
    }
    Outcome outcome;
    outcome.ok = true;
    QStringList reasons;
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        const Traveller& traveller = m_travellers[i];
        if (traveller.leg == Leg::Absent && !mayCome(i)) {
            outcome.ok = false;
            reasons << QStringLiteral("rank %1 has not been spawned").arg(rankText(RankId(std::int32_t(i))));
        } else if (traveller.leg == Leg::Elsewhere) {
            outcome.ok = false;
            reasons << traveller.reason;
        } else if (traveller.leg != Leg::There) {
            return;
        }
    }
    reasons.removeAll(QString());
    if (const QString said = note(); !said.isEmpty()) {
        reasons.prepend(said);
    }
    outcome.text = reasons.join(QStringLiteral("; "));
    if (m_guardFired) {
        outcome.again = true;
        outcome.retry = m_targets;
    }
    finish(outcome);
}

void Approach::cancel(const QString& why) {
    if (m_finished || m_cancelling) {
        return;
    }
    m_cancelling = true;
    m_cancelText = why;
    m_tick.stop();
    for (Traveller& traveller : m_travellers) {
        if (traveller.process == nullptr || traveller.process->ended()) {
            continue;
        }
        if (traveller.runOnBreakpoint != 0 && traveller.process->stopped()) {
            traveller.process->gdb()->deleteBreakpoint(traveller.runOnBreakpoint, [](Status) {});
        }
        traveller.process->link()->setThreshold(kNoThreshold);
        traveller.process->pause();
    }
    // Ranks that have not joined yet are joined where they are; an agent that never comes must not keep the rest.
    QTimer::singleShot(kCancelMs, this, [this] {
        m_cancelLate = true;
        finishCancel();
    });
    QMetaObject::invokeMethod(this, &Approach::finishCancel, Qt::QueuedConnection);
}

void Approach::finishCancel() {
    if (m_finished) {
        return;
    }
    for (const Traveller& traveller : m_travellers) {
        const RankProcess* process = traveller.process.data();
        if (!m_cancelLate && process != nullptr && !process->stopped() && !process->ended() &&
            process->view().phase != RankPhase::Failed) {
            return;
        }
    }
    Outcome outcome;
    outcome.text = m_cancelText;
    finish(outcome);
}

void Approach::finish(const Outcome& outcome) {
    m_finished = true;
    m_tick.stop();
    emit finished(outcome);
}

QString Approach::progress() const {
    int done = 0;
    for (const Traveller& traveller : m_travellers) {
        done += traveller.leg == Leg::Arrived || traveller.leg == Leg::Inside || traveller.leg == Leg::There ||
                        traveller.leg == Leg::Releasing || traveller.leg == Leg::Pausing
                    ? 1
                    : 0;
    }
    QString text = QStringLiteral("%1 of %2 ranks there").arg(done).arg(m_travellers.size());
    // How long the program takes to there is its own affair; if it never comes there again, the user has to know whom to
    // wait for no longer.
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        const Traveller& traveller = m_travellers[i];
        if (traveller.leg == Leg::RunningOn && traveller.searching.isValid() && traveller.searching.elapsed() > kPatienceMs) {
            text += QStringLiteral("; rank %1 has been running from its last call to its old place for %2 s").arg(rankText(RankId(std::int32_t(i)))).arg(traveller.searching.elapsed() / 1000);
        }
    }
    return text;
}

} // namespace stopline::replay
