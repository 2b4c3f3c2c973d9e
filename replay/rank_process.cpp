#include "rank_process.h"

#include "../gdbmi/agent_guard.h"
#include "../gdbmi/launcher_check.h"
#include "signals.h"
#include "words.h"

#include <QLoggingCategory>
#include <QTimer>

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <utility>

namespace stopline::replay {

Q_LOGGING_CATEGORY(logRank, "stopline.rank", QtWarningMsg)

namespace {

bool legal(RankPhase from, RankPhase to) {
    switch (from) {
    case RankPhase::NotStarted:
        return to == RankPhase::Starting;
    case RankPhase::Starting:
        return to != RankPhase::NotStarted;
    case RankPhase::Running:
    case RankPhase::Holding:
    case RankPhase::Stopped:
        return to != RankPhase::NotStarted && to != RankPhase::Starting;
    case RankPhase::Exited:
        return false;
    case RankPhase::Failed:
        return to == RankPhase::Exited || to == RankPhase::Lost;
    case RankPhase::Lost:
        return to == RankPhase::Exited;
    }
    return false;
}

constexpr int kAloneMs = 800;

bool isOverwritten(const agent::RankStatus& status) {
    return status.recordingOff == static_cast<int>(agent::kOverwritten);
}

QString overwrittenText() {
    return QStringLiteral("its recording was overwritten by the program");
}

} // namespace

RankProcess::RankProcess(RankId rank, agent::AgentLink* link, const agent::RankConfig& config, QObject* parent)
    : QObject(parent), m_rank(rank), m_link(link) {
    link->setParent(this);
    qCDebug(logRank) << "rank" << rank.value() << "connected";
    m_view.rank = rank;
    m_view.phase = RankPhase::Starting;
    m_gdb = new mi::GdbSession(link->gdb(), this);
    if (const QString folder = qEnvironmentVariable("STOPLINE_TRANSCRIPTS"); !folder.isEmpty()) {
        m_gdb->recordTranscript(QStringLiteral("%1/rank%2.%3.mi").arg(folder).arg(rankText(rank)).arg(
            config.incarnation.value()));
    }
    connect(m_gdb, &mi::GdbSession::stopped, this, &RankProcess::onStopped);
    connect(m_gdb, &mi::GdbSession::exited, this, [this](const mi::StopEvent& event) {
        m_lastStop = event;
        // The agent's word follows and has the true wait status, but gdb is first to know of a traced process.
        const int status = event.cause == mi::StopCause::ExitedSignalled ? 0 : (event.exitCode & 0xff) << 8;
        if (event.cause == mi::StopCause::ExitedSignalled) {
            m_link->poll();
            const int signal = signalOfName(event.signalName);
            if (m_killing && signal == SIGKILL) {
                setEndedWithJob();
            } else {
                m_view.exitSignal = signal;
                setPhase(RankPhase::Exited, StopWhy::None,
                         signal > 0 ? killedText(signal) : QStringLiteral("killed by %1").arg(event.signalName));
            }
            readLast([this] { emit ended_(); });
            return;
        }
        readLast([this, status] { endOf(status); });
    });
    connect(m_gdb, &mi::GdbSession::died, this, [this](const QString& why) {
        if (ended() || m_killing) {
            return;
        }
        // When the launcher ends the job, gdbs go just before their agents: only a gdb that dies alone is a failure.
        QTimer::singleShot(kAloneMs, this, [this, why] {
            if (ended() || m_killing || !m_link->connected()) {
                return;
            }
            setPhase(RankPhase::Failed, StopWhy::None, QStringLiteral("its gdb has died (%1)").arg(why));
            emit fault(QStringLiteral("The gdb of rank %1 has died (%2); the rank is ended with it.").arg(rankText(m_rank)).arg(why),
                       QStringLiteral("Undo or Restart brings the job back; the other ranks are untouched."));
            m_link->kill();
            emit ended_();
        });
    });
    connect(m_gdb, &mi::GdbSession::resumeFailed, this, &RankProcess::onResumeFailed);
    connect(m_gdb, &mi::GdbSession::notResponding, this, [this](const QString& why) {
        setSilent(true);
        emit fault(QStringLiteral("The gdb of rank %1 does not answer: %2.").arg(rankText(m_rank)).arg(why),
                   QStringLiteral("It may be reading symbols; Kill ends the job if it stays so."));
    });
    connect(link->gdb(), &mi::MiTransport::received, this, [this] { setSilent(false); });
    connect(link, &agent::AgentLink::statusChanged, this, &RankProcess::onStatus);
    connect(link, &agent::AgentLink::fault, this, [this](const QString&, const QString& text, const QString& remedy) {
        emit fault(text, remedy);
    });
    connect(link, &agent::AgentLink::closed, this, [this](const QString& why) {
        const auto lost = [this, why] {
            if (m_view.phase == RankPhase::Exited) {
                return;
            }
            if (m_killing) {
                setEndedWithJob();
            } else {
                setPhase(RankPhase::Lost, StopWhy::None, why);
            }
            emit ended_();
        };
        if (m_lastSteps == LastSteps::Leave || m_view.phase == RankPhase::Exited) {
            lost(); // what it did last is not wanted, or has been read
        } else {
            readLast(lost);
        }
    });
    m_gdb->initialise([this](Status status) {
        if (!status) {
            if (!ended() && !m_killing && m_link->connected()) {
                emit fault(QStringLiteral("gdb of rank %1 could not be started: %2").arg(rankText(m_rank)).arg(
                               status.error().text),
                           QStringLiteral("Install gdb, or name one with --gdb."));
            }
            return;
        }
        m_gdbReady = true;
        qCDebug(logRank) << "rank" << m_rank.value() << "gdb is ready";
        tryJoin();
    });
    link->configure(config);
}

RankProcess::~RankProcess() {
    delete m_gdb; // before the link, whose transport it uses
}

void RankProcess::setPhase(RankPhase phase, StopWhy why, const QString& detail) {
    if (m_view.phase != phase && !legal(m_view.phase, phase)) {
        qCWarning(logRank) << "rank" << m_rank.value() << "goes from phase" << int(m_view.phase) << "to" << int(phase);
        if (m_view.phase == RankPhase::Exited) {
            return;
        }
    }
    if (phase == RankPhase::Running || phase == RankPhase::Holding) {
        m_view.userFrame = -1;
    }
    m_view.phase = phase;
    m_view.silent = m_view.silent && !ended() && phase != RankPhase::Failed;
    m_view.why = why;
    m_view.detail = detail.isEmpty() && !ended() && isOverwritten(m_link->status()) ? overwrittenText() : detail;
    qCDebug(logRank) << "rank" << m_rank.value() << "phase" << int(phase) << "why" << int(why);
    emit phaseChanged();
}

void RankProcess::setSilent(bool silent) {
    if (m_view.silent != silent) {
        m_view.silent = silent;
        emit phaseChanged();
    }
}

void RankProcess::tryJoin() {
    if (!m_gdbReady || m_attached || m_attaching || ended()) {
        return;
    }
    const agent::RankStatus& status = m_link->status();
    const bool waits = status.atGate || status.state == trace::RankState::Arrived;
    if (status.pid <= 0 || !status.alive || !(waits || m_joinWanted)) {
        return;
    }
    m_attaching = true;
    qCDebug(logRank) << "rank" << m_rank.value() << "waits; gdb attaches";
    m_view.pid = status.pid;
    m_view.gdbPid = status.gdbPid;
    m_gdb->attach(status.pid, [this](Status result) {
        m_attaching = false;
        if (ended() || m_killing || !m_link->connected()) {
            return;
        }
        if (!result) {
            setPhase(RankPhase::Failed, StopWhy::None, result.error().text);
            const int yama = agent::currentEnvironment({}, agent::LauncherKind::Unknown).yamaScope;
            const auto known = agent::explainAttachFailure(result.error().text, yama);
            emit fault(QStringLiteral("gdb could not join rank %1: %2").arg(rankText(m_rank)).arg(known ? known->text : result.error().text),
                       known ? known->remedy : QStringLiteral("Kill ends the job."));
            emit ended_();
            return;
        }
        onAttached();
    });
}

void RankProcess::onAttached() {
    m_attached = true;
    qCDebug(logRank) << "rank" << m_rank.value() << "is joined";
    m_gdb->watchExec([](Status) {});
    watchStopFunction([this] {
        m_waiting = true; // whoever hears joined() lets it go or keeps it
        if (m_joinWanted) {
            m_joinWanted = false;
            m_lastStop = {};
            m_stopAddress = 0;
            m_link->pull([this](bool ok) { // it has been joined anywhere
                if (ended()) {
                    return;
                }
                readTrace(ok, [this] {
                    if (ended()) {
                        return;
                    }
                    afterStop();
                    emit joined(); // the pause that was asked for; what belongs to joining is done all the same
                });
            });
            return;
        }
        emit joined();
    });
}

/// By name, as gdb forgets where a name was when the program is replaced by exec. A breakpoint at an address stays, cannot be
/// inserted into the new program, and gdb then hangs before it has told of the exec. The address is for a library without
/// any symbols.
void RankProcess::watchStopFunction(std::function<void()> done) {
    const quint64 address = m_link->status().stopFunction;
    if (address == 0) {
        done();
        return;
    }
    auto watched = [this, done](const Result<mi::Breakpoint>& bp) {
        if (bp) {
            m_stopBreakpoint = bp.value().number;
        } else if (ended() || m_killing || !m_link->connected()) {
            return;
        } else {
            emit fault(QStringLiteral("Rank %1: the stop function could not be watched: %2").arg(rankText(m_rank)).arg(
                           bp.error().text),
                       QStringLiteral("Stoplines will not stop this rank; Pause does."));
        }
        done();
    };
    m_gdb->loadSymbols(QStringLiteral("libstopline-mpi-"), [](Status) {});
    m_gdb->insertBreakpoint(QStringLiteral("stopline_stop_here"), {}, false, [this, address, watched](Result<mi::Breakpoint> bp) {
        if (!bp || !bp.value().pending) {
            watched(bp);
            return;
        }
        m_gdb->deleteBreakpoint(bp.value().number, [this, address, watched](Status) {
            m_gdb->insertBreakpoint(QStringLiteral("*0x%1").arg(address, 0, 16), {}, false, watched);
        });
    });
}

void RankProcess::onStatus(const agent::RankStatus& before, const agent::RankStatus& now) {
    m_view.pid = now.pid;
    m_view.gdbPid = now.gdbPid;
    if (now.ended && !ended()) {
        if (m_attached && m_gdb->state() == mi::GdbState::Running && !before.ended && now.gdbPid != 0 && !m_killing) {
            // gdb reports the end itself; it has a second for that.
            QTimer::singleShot(1000, this, [this] { settleEnd(); });
            return;
        }
        settleEnd();
        return;
    }
    if (isOverwritten(now) && !isOverwritten(before) && m_view.detail.isEmpty()) {
        m_view.detail = overwrittenText();
        emit phaseChanged();
    }
    tryJoin();
    if (m_rejoinWanted && now.atGate) {
        rejoin();
    } else if (now.atGate && !before.atGate && m_attached && m_view.phase == RankPhase::Running) {
        m_link->openGate(); // joined before it came there, and let go since
    }
    if (now.state == trace::RankState::Arrived && before.state != trace::RankState::Arrived) {
        if (m_view.phase == RankPhase::Running) {
            setPhase(RankPhase::Holding);
        }
        m_view.place = {now.event, false};
        qCDebug(logRank) << "rank" << m_rank.value() << "arrived at" << now.event.value();
        emit arrived();
    }
}

void RankProcess::settleEnd() {
    if (ended()) {
        return;
    }
    readLast([this] {
        if (!ended()) {
            endOf(m_link->status().waitStatus);
        }
    });
}

/// Brings the history up to date with what an ended rank has recorded, by its agent or, where that has gone as well, from
/// its mapping.
void RankProcess::readLast(std::function<void()> then) {
    ++m_settling;
    const auto settled = [this, then = std::move(then)] {
        --m_settling;
        m_link->forgetMapping(); // the ranks of the next job may need its room
        then();
    };
    m_link->pull([this, settled](bool ok) {
        if (ok) {
            readTrace(true, settled);
        } else {
            m_link->readOrphan([this, settled](agent::Orphan orphan) {
                qCDebug(logRank) << "rank" << m_rank.value() << "is left by its agent:" << int(orphan);
                readTrace(orphan == agent::Orphan::Read, settled);
            });
        }
    });
}

void RankProcess::setEndedWithJob() {
    m_view.exitSignal = SIGTERM;
    m_view.endedWithJob = true;
    setPhase(RankPhase::Exited, StopWhy::None, endedWithJobText());
}

void RankProcess::endOf(int waitStatus) {
    if (m_view.phase == RankPhase::Exited) {
        return;
    }
    const bool byUs = m_killing && WIFSIGNALED(waitStatus) && WTERMSIG(waitStatus) == SIGKILL;
    if (m_link->status().endedWithJob || byUs) {
        setEndedWithJob();
    } else if (WIFSIGNALED(waitStatus)) {
        m_view.exitSignal = WTERMSIG(waitStatus);
        setPhase(RankPhase::Exited, StopWhy::None,
                 killedText(m_view.exitSignal));
    } else {
        m_view.exitCode = WEXITSTATUS(waitStatus);
        setPhase(RankPhase::Exited);
    }
    emit ended_();
}

} // namespace stopline::replay
