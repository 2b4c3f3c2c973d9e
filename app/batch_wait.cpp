// Waiting for ranks.
#include "batch.h"

#include "text.h"
#include "../replay/words.h"

#include <algorithm>
#include <memory>

namespace stopline::app {

using namespace replay;

namespace {

const QString kNeverBegan = QStringLiteral("no rank has been started");

bool hasEnded(RankPhase phase) {
    return phase == RankPhase::Exited || phase == RankPhase::Failed || phase == RankPhase::Lost;
}

/// Nobody waits for ranks that have yet to be spawned again.
QVector<RankId> withoutUnspawned(const Session& session, QVector<RankId> ranks) {
    ranks.removeIf([&session](RankId rank) {
        return session.rank(rank).phase == RankPhase::NotStarted && rankText(rank).contains(u':');
    });
    return ranks;
}

} // namespace

/// Breakpoints that cannot be set hold the job at its start, which a script must not take for its own stop.
BatchRunner::Outcome BatchRunner::waitLaunched(const ScriptLine& line) {
    const auto refused = [this]() -> QString {
        for (const UserBreakpoint& b : m_session->breakpoints()) {
            if (b.enabled && !b.refused.isEmpty()) {
                return QStringLiteral("the job is held at its start, as breakpoint %1 could not be set: %2")
                    .arg(b.id)
                    .arg(b.refused);
            }
        }
        return {};
    };
    if (m_session->breakpoints().isEmpty()) {
        return {};
    }
    // One that runs has been given all of its breakpoints.
    const auto begun = [&] {
        if (!m_session->jobExists() || !refused().isEmpty()) {
            return true;
        }
        const QVector<RankId> all = withoutUnspawned(*m_session, allRanks());
        return !m_launching && !all.isEmpty() && std::all_of(all.begin(), all.end(), [this](RankId rank) {
            const RankPhase phase = m_session->rank(rank).phase;
            return phase != RankPhase::NotStarted && phase != RankPhase::Starting;
        });
    };
    waitFor(begun, limit(line)); // a launch that does not come to its ranks is for the next wait to tell of
    const QString why = refused();
    return why.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, why};
}

/// Waits for ranks that have been sent somewhere: those that end on the way, or have not gone, are failures.
BatchRunner::Outcome BatchRunner::waitThere(const ScriptLine& line, const QVector<RankId>& moved,
                                            const QString& where) {
    if (const Outcome o = waitStopped(line, moved, true); o.result != Verdict::Done) {
        return o;
    }
    if (!m_stayed.isEmpty()) {
        return {Verdict::Failed, m_warning.isEmpty() ? QStringLiteral("not every rank went on") : m_warning};
    }
    QVector<RankId> ended;
    std::copy_if(moved.begin(), moved.end(), std::back_inserter(ended),
                 [this](RankId rank) { return hasEnded(m_session->rank(rank).phase); });
    return ended.isEmpty()
               ? Outcome{}
               : Outcome{Verdict::Failed,
                         QStringLiteral("%1 ended before %2").arg(focusText(Focus::of(ended)), where)};
}

BatchRunner::Outcome BatchRunner::waitStopped(const ScriptLine& line, const QVector<RankId>& ranks,
                                              bool orEnded) {
    QString failure;
    const auto done = [&] {
        if (m_launching || !m_session->operation().isEmpty()) {
            return false;
        }
        if (!m_session->jobExists()) {
            if (!orEnded) {
                failure = QStringLiteral("the job has ended");
            }
            return true;
        }
        const QVector<RankId> wanted = withoutUnspawned(*m_session, ranks.isEmpty() ? focusRanks() : ranks);
        int stopped = 0;
        int ended = 0;
        for (const RankId rank : wanted) {
            const RankPhase phase = m_session->rank(rank).phase;
            if (phase == RankPhase::Stopped && !m_resuming.contains(rank.value())) {
                ++stopped;
            } else if (hasEnded(phase)) {
                ++ended;
            }
        }
        if (wanted.isEmpty() || stopped + ended < wanted.size()) {
            return false;
        }
        if (stopped == 0 && !orEnded) {
            failure = QStringLiteral("%1 ended instead of stopping")
                          .arg(wanted.size() == 1 ? QStringLiteral("rank %1").arg(rankText(wanted.first()))
                                                  : QStringLiteral("all ranks have"));
        }
        return true;
    };
    if (!waitFor(done, limit(line))) {
        return timedOut(line);
    }
    if (failure.isEmpty() && neverBegan()) {
        failure = kNeverBegan;
    }
    // Where some have stopped it is for the script to say whether all of them had to.
    QVector<RankId> gone;
    std::copy_if(m_moved.begin(), m_moved.end(), std::back_inserter(gone),
                 [this](RankId rank) { return hasEnded(m_session->rank(rank).phase); });
    if (!orEnded && failure.isEmpty() && !gone.isEmpty()) {
        m_options.err(
            QStringLiteral("warning: %1 ended instead of stopping").arg(focusText(Focus::of(gone))));
    }
    return failure.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, failure};
}

BatchRunner::Outcome BatchRunner::wait(const ScriptLine& line) {
    const QString what = line.words.value(0);
    // How many ranks there are is known only when the launch has got that far.
    if (m_launching && !waitFor([this] { return !m_launching; }, limit(line))) {
        return timedOut(line);
    }
    if (what == QLatin1StringView("events")) {
        QString error;
        const auto rank = oneRank(line.words.value(1), error);
        bool ok = false;
        const quint64 number = line.words.value(2).toULongLong(&ok);
        if (!rank || !ok) {
            return {Verdict::Failed, rank ? QStringLiteral("needs a number of events") : error};
        }
        int turn = 0;
        QString failure;
        bool reached = false;
        const auto read = std::make_shared<bool>(false);
        const auto done = [&] {
            // Running ranks tell of new events only when asked; five times a second is enough for a script.
            if (turn++ % 10 == 0) {
                m_session->refreshTimeline();
            }
            if (rank->value() >= m_session->rankCount()) {
                return false;
            }
            // In this execution: the recording may already reach further.
            const RankView view = m_session->rank(*rank);
            if (view.place.event.value() >= number) {
                if (!reached) { // and can be looked at, as far as they are recorded
                    reached = true;
                    m_session->refreshTimeline([read] { *read = true; });
                }
                return *read;
            }
            if (hasEnded(view.phase)) {
                failure = QStringLiteral("rank %1 ended at event %2")
                              .arg(rankText(*rank))
                              .arg(view.place.event.value());
            }
            return !failure.isEmpty();
        };
        if (!waitFor(done, limit(line))) {
            return timedOut(line);
        }
        return failure.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, failure};
    }
    QVector<RankId> wanted;
    if (line.words.size() > 1) {
        QString error;
        const auto given = ranks(line.words.at(1), error);
        if (!given) {
            return {Verdict::Failed, error};
        }
        wanted = *given;
    }
    if (what.isEmpty() || what == QLatin1StringView("stopped")) {
        return waitStopped(line, wanted, what.isEmpty());
    }
    const bool running = what == QLatin1StringView("running");
    if (!running && what != QLatin1StringView("exited")) {
        return {Verdict::Failed,
                QStringLiteral("wait for stopped, running, exited or events, not `%1`").arg(what)};
    }
    const auto done = [&] {
        if (!m_session->jobExists() && m_session->operation().isEmpty()) {
            return true;
        }
        const QVector<RankId> all = withoutUnspawned(*m_session, wanted.isEmpty() ? focusRanks() : wanted);
        return !all.isEmpty() && std::all_of(all.begin(), all.end(), [&](RankId rank) {
            const RankPhase phase = m_session->rank(rank).phase;
            return running ? phase == RankPhase::Running : hasEnded(phase);
        });
    };
    if (!waitFor(done, limit(line))) {
        return timedOut(line);
    }
    if (running && !m_session->jobExists()) {
        return {Verdict::Failed, QStringLiteral("the job has ended")};
    }
    if (!running && neverBegan()) {
        return {Verdict::Failed, kNeverBegan};
    }
    return {};
}

} // namespace stopline::app
