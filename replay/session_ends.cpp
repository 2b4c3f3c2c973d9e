// Ends: of ranks that leave without MPI_Finalize, and what came of a whole execution.
#include "session_impl.h"
#include "words.h"

#include <QTimer>

#include <algorithm>
#include <csignal>

namespace stopline::replay {

namespace {

constexpr int kTogetherMs = 300; ///< ranks that leave within that time are told of together

bool isBad(const RankView& view) {
    return view.phase == RankPhase::Stopped &&
           (view.why == StopWhy::Signal || view.why == StopWhy::Abort || view.why == StopWhy::MpiError ||
            view.why == StopWhy::ExitNoFinalize);
}

bool isOver(const RankView& view) {
    return view.phase == RankPhase::Exited || view.phase == RankPhase::Lost ||
           view.phase == RankPhase::Failed;
}

/// "ranks 0-2 wait in MPI"
QString saidOf(const QVector<RankId>& ranks, const QString& what) {
    return QStringLiteral("%1 %2").arg(rankListText(ranks), what);
}

} // namespace

/// With the stop of this rank the job comes to its end. Not so where it leaves without MPI_Finalize and
/// another one has done so before: the user has let that one go, and would have to do so for one rank after
/// the other.
bool Session::Impl::bringsDown(const RankProcess* rank) const {
    if (!isBad(rank->view())) {
        return false;
    }
    return rank->view().why != StopWhy::ExitNoFinalize ||
           std::none_of(leaving.begin(), leaving.end(), [&](int number) {
               const RankProcess* other = process(RankId(number));
               return other != nullptr && other != rank && !other->stopped();
           });
}

void Session::Impl::onLeaving(const RankProcess* rank) {
    const bool first = leaving.empty();
    leaving.insert(int(rank->rank().value()));
    if (first && ranks > 1) {
        say(Severity::Info,
            QStringLiteral("Rank %1 %2; the others have been paused.")
                .arg(rankText(rank->rank()), rank->view().detail),
            QStringLiteral(
                "Continue lets it go. mpirun alone would end the job then; here the other ranks stay."));
    }
}

void Session::Impl::onLeft(const RankProcess* rank) {
    if (leaving.count(int(rank->rank().value())) == 0 || rank->view().exitSignal != 0) {
        return;
    }
    if (leftNow.empty()) {
        QTimer::singleShot(kTogetherMs, q, [this] { sayLeft(); });
    }
    leftNow.insert(int(rank->rank().value()));
}

void Session::Impl::sayLeft() {
    std::map<int, QVector<RankId>> byCode;
    for (const int number : std::exchange(leftNow, {})) {
        byCode[q->rank(RankId(number)).exitCode] << RankId(number);
    }
    QStringList parts;
    for (const auto& [code, who] : byCode) {
        parts << saidOf(who, QStringLiteral("exited with code %1").arg(code));
    }
    if (parts.isEmpty()) {
        return;
    }
    QString text = parts.join(QStringLiteral(", ")) + QStringLiteral(" without MPI_Finalize.");
    text[0] = text[0].toUpper();
    const bool others = anyoneLives();
    say(Severity::Warning, text,
        others ? QStringLiteral("mpirun alone would have ended the job; here the other ranks stay, to be "
                                "looked at. Who waits for one that "
                                "has left waits for ever: Kill ends the job, Restart begins it anew.")
               : QString());
}

/// "held for the message from rank 2, event 7", where this execution was made by choosing that for this
/// receive or probe.
QString Session::Impl::heldText(RankId rank, EventIndex event) const {
    const std::optional<Chosen>& chosen = execution.chosen;
    if (!chosen || chosen->receiver != rank || chosen->event != event) {
        return {};
    }
    return QStringLiteral("held for the message from rank %1, event %2")
        .arg(rankText(chosen->sender))
        .arg(chosen->send.value());
}

QString Session::heldFor(CallRef call) const {
    return m_impl->heldText(call.rank, timeline().call(call).begin);
}

/// What has come of the execution on show. How it had ended stays what it came to while it is executed again.
QString Session::Impl::outcomeNow() const {
    if (!execution.outcome.isEmpty()) {
        return execution.outcome;
    }
    const QString ranksDo = outcomeOfRanks();
    if (execution.end.isEmpty()) {
        return ranksDo;
    }
    return anyoneLives() ? QStringLiteral("%1; now %2").arg(execution.end, ranksDo) : execution.end;
}

/// How the ranks stand, or have ended.
QString Session::Impl::outcomeOfRanks() const {
    std::vector<std::pair<QString, QVector<RankId>>> bad; // by what is said of them, in the order of ranks
    const auto add = [&bad](RankId rank, const QString& what) {
        const auto at =
            std::find_if(bad.begin(), bad.end(), [&what](const auto& one) { return one.first == what; });
        (at == bad.end() ? bad.emplace_back(what, QVector<RankId>()) : *at).second << rank;
    };
    const bool lives = anyoneLives();
    QVector<RankId> inside;
    bool anyEnded = false;
    bool anyFree = false;
    bool anyRuns = false;
    for (int i = 0; i < ranks; ++i) {
        const RankView view = q->rank(RankId(i));
        if (isBad(view)) {
            add(view.rank, stateText(view));
        } else if (view.phase == RankPhase::Exited && (view.exitSignal != 0 || view.exitCode != 0) &&
                   !view.endedWithJob) {
            add(view.rank, stateText(view));
        } else if (isOver(view) && view.phase != RankPhase::Exited) {
            add(view.rank, stateText(view));
        }
        anyEnded = anyEnded || view.phase == RankPhase::Exited;
        if (isOver(view) || isBad(view) || view.phase == RankPhase::NotStarted) {
            continue;
        }
        anyRuns = anyRuns || view.phase != RankPhase::Stopped;
        if (view.insideMpi) {
            inside << view.rank;
        } else {
            anyFree = true;
        }
    }
    QStringList parts;
    for (const auto& [what, who] : bad) {
        parts << saidOf(who, what);
    }
    if (rerun.departure) {
        parts << QStringLiteral("departed at event %1 of rank %2")
                     .arg(rerun.departure->event.value())
                     .arg(rankText(rerun.departure->rank));
    }
    if (!lives) {
        return !parts.isEmpty() ? parts.join(QStringLiteral("; "))
               : anyEnded       ? QStringLiteral("ended well")
                                : QStringLiteral("not run here");
    }
    // Where nobody is outside of MPI nobody can make the others go on: those that run are looked at for some
    // time elsewhere.
    if (!anyFree && !inside.isEmpty() && !anyRuns) {
        parts << saidOf(inside, inside.size() == 1 ? QStringLiteral("waits in MPI")
                                                        : QStringLiteral("wait in MPI"));
        for (const RankId rank : inside) {
            if (const QString held = heldText(rank, q->rank(rank).place.event); !held.isEmpty()) {
                parts << QStringLiteral("rank %1 event %2 is %3")
                             .arg(rankText(rank))
                             .arg(q->rank(rank).place.event.value())
                             .arg(held);
            }
        }
    } else {
        parts << (anyRuns        ? QStringLiteral("still running")
                  : !bad.empty() ? QString()
                                 : QStringLiteral("stopped"));
    }
    parts.removeAll(QString());
    return parts.join(QStringLiteral("; "));
}

/// "rank 1 killed by SIGKILL (Killed)" of a rank that has ended while others have not, or badly; empty of any other.
QString Session::Impl::goneText(RankId rank) const {
    if (rank.value() < 0 || rank.value() >= ranks || !q->jobExists()) {
        return {};
    }
    const RankView view = q->rank(rank);
    const bool well = view.phase == RankPhase::Exited && view.exitSignal == 0 && view.exitCode == 0;
    return isOver(view) && (!well || anyoneLives()) ? saidOf({rank}, stateText(view)) : QString();
}

/// The job is gone. If its ranks had ended by themselves, that is what came of the execution.
void Session::Impl::noteEnd() {
    const bool anyEnded = std::any_of(lastViews.begin(), lastViews.end(), [](const RankView& view) { return isOver(view); });
    if (execution.outcome.isEmpty() && anyEnded) { // else the user has ended it
        execution.end = outcomeOfRanks();
    }
}

/// The user ends it: how it stood then is what came of it.
void Session::Impl::noteOutcome() {
    if (!anyoneLives() || !execution.outcome.isEmpty()) {
        return;
    }
    if (!execution.end.isEmpty()) {
        execution.outcome = execution.end;
        return;
    }
    const QString now = outcomeNow();
    const QString others = QStringLiteral("; still running"); // those that nothing is said of before
    execution.outcome = now == QStringLiteral("still running") ? QStringLiteral("ended while it ran")
                        : now.endsWith(others) ? now.chopped(others.size()) + QStringLiteral("; the others ended while they ran")
                                               : now + QStringLiteral("; then ended");
}

} // namespace stopline::replay
