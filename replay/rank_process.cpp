#include "rank_process.h"

#include "../gdbmi/launcher_check.h"

#include <QLoggingCategory>
#include <QTimer>

#include <sys/wait.h>

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

const char* signalText(int signal) {
    return strsignal(signal);
}

} // namespace

RankProcess::RankProcess(RankId rank, agent::AgentLink* link, const agent::RankConfig& config, QObject* parent)
    : QObject(parent), m_rank(rank), m_link(link) {
    link->setParent(this);
    m_view.rank = rank;
    m_view.phase = RankPhase::Starting;
    m_gdb = new mi::GdbSession(link->gdb(), this);
    if (const QString folder = qEnvironmentVariable("STOPLINE_TRANSCRIPTS"); !folder.isEmpty()) {
        m_gdb->recordTranscript(QStringLiteral("%1/rank%2.%3.mi").arg(folder).arg(rank.value()).arg(
            config.incarnation.value()));
    }
    connect(m_gdb, &mi::GdbSession::stopped, this, &RankProcess::onStopped);
    connect(m_gdb, &mi::GdbSession::exited, this, [this](const mi::StopEvent& event) {
        m_lastStop = event;
        // The agent's word follows and has the true wait status, but gdb is first to know of a traced process.
        const int status = event.cause == mi::StopCause::ExitedSignalled ? 0 : (event.exitCode & 0xff) << 8;
        if (event.cause == mi::StopCause::ExitedSignalled) {
            m_link->poll();
            setPhase(RankPhase::Exited, StopWhy::None, QStringLiteral("killed by %1").arg(event.signalName));
            m_view.exitSignal = -1;
            m_link->pull([this](bool ok) {
                if (ok) {
                    takePlace();
                    emit traceRead();
                }
                emit ended_();
            });
            return;
        }
        m_link->pull([this, status](bool ok) {
            if (ok) {
                takePlace();
                emit traceRead();
            }
            endOf(status);
        });
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
            emit fault(QStringLiteral("The gdb of rank %1 has died (%2); the rank is ended with it.").arg(m_rank.value()).arg(why),
                       QStringLiteral("Undo or Restart brings the job back; the other ranks are untouched."));
            m_link->kill();
            emit ended_();
        });
    });
    connect(m_gdb, &mi::GdbSession::notResponding, this, [this](const QString& why) {
        emit fault(QStringLiteral("The gdb of rank %1 does not answer: %2.").arg(m_rank.value()).arg(why),
                   QStringLiteral("It may be reading symbols; Kill ends the job if it stays so."));
    });
    connect(link, &agent::AgentLink::statusChanged, this, &RankProcess::onStatus);
    connect(link, &agent::AgentLink::fault, this, [this](const QString&, const QString& text, const QString& remedy) {
        emit fault(text, remedy);
    });
    connect(link, &agent::AgentLink::closed, this, [this](const QString& why) {
        if (m_view.phase == RankPhase::Exited) {
            return;
        }
        setPhase(RankPhase::Lost, StopWhy::None, why);
        emit ended_();
    });
    m_gdb->initialise([this](Status status) {
        if (!status) {
            if (!ended() && !m_killing && m_link->connected()) {
                emit fault(QStringLiteral("gdb of rank %1 could not be started: %2").arg(m_rank.value()).arg(
                               status.error().text),
                           QStringLiteral("Install gdb, or name one with --gdb."));
            }
            return;
        }
        m_gdbReady = true;
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
    m_view.why = why;
    m_view.detail = detail;
    emit phaseChanged();
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
            emit fault(QStringLiteral("gdb could not join rank %1: %2").arg(m_rank.value()).arg(known ? known->text : result.error().text),
                       known ? known->remedy : QStringLiteral("Kill ends the job."));
            emit ended_();
            return;
        }
        onAttached();
    });
}

void RankProcess::onAttached() {
    m_attached = true;
    const quint64 address = m_link->status().stopFunction;
    auto done = [this] {
        if (m_joinWanted) {
            m_joinWanted = false;
            m_lastStop = {};
            afterStop();
            return;
        }
        m_waiting = true; // whoever hears joined() lets it go or keeps it
        emit joined();
    };
    if (address == 0) {
        done();
        return;
    }
    m_gdb->insertBreakpoint(QStringLiteral("*0x%1").arg(address, 0, 16), {}, false, [this, done](Result<mi::Breakpoint> bp) {
        if (bp) {
            m_stopBreakpoint = bp.value().number;
        } else if (ended() || m_killing || !m_link->connected()) {
            return;
        } else {
            emit fault(QStringLiteral("Rank %1: the stop function could not be watched: %2").arg(m_rank.value()).arg(
                           bp.error().text),
                       QStringLiteral("Stoplines will not stop this rank; Pause does."));
        }
        done();
    });
}

void RankProcess::onStatus(const agent::RankStatus& before, const agent::RankStatus& now) {
    m_view.pid = now.pid;
    m_view.gdbPid = now.gdbPid;
    if (now.ended && !ended()) {
        if (m_attached && m_gdb->state() == mi::GdbState::Running && !before.ended) {
            // gdb reports the end itself; it has a second for that.
            QTimer::singleShot(1000, this, [this] { settleEnd(); });
            return;
        }
        settleEnd();
        return;
    }
    tryJoin();
    if (now.state == trace::RankState::Arrived && before.state != trace::RankState::Arrived) {
        if (m_view.phase == RankPhase::Running) {
            setPhase(RankPhase::Holding);
        }
        m_view.place = {now.event, false};
        emit arrived();
    }
}

void RankProcess::settleEnd() {
    if (ended()) {
        return;
    }
    m_link->pull([this](bool ok) {
        if (ended()) {
            return;
        }
        if (ok) {
            takePlace();
            emit traceRead();
        }
        endOf(m_link->status().waitStatus);
    });
}

void RankProcess::endOf(int waitStatus) {
    if (m_view.phase == RankPhase::Exited) {
        return;
    }
    if (WIFSIGNALED(waitStatus)) {
        m_view.exitSignal = WTERMSIG(waitStatus);
        setPhase(RankPhase::Exited, StopWhy::None,
                 QStringLiteral("killed by signal %1 (%2)").arg(m_view.exitSignal).arg(QString::fromUtf8(signalText(m_view.exitSignal))));
    } else {
        m_view.exitCode = WEXITSTATUS(waitStatus);
        setPhase(RankPhase::Exited);
    }
    emit ended_();
}

void RankProcess::takePlace() {
    const std::vector<std::byte>& bytes = m_link->image().header;
    if (bytes.size() < sizeof(trace::MappingHeader)) {
        return;
    }
    const auto* header = reinterpret_cast<const trace::MappingHeader*>(bytes.data());
    const bool hold = header->inHold.load() != 0;
    m_insideCall = header->insideCall.load() != 0;
    m_view.place.event = EventIndex(header->eventCount.load());
    m_view.place.inside = !hold && (m_insideCall || header->pollOpen.load() != 0);
    m_view.insideMpi = m_insideCall && !hold;
}

void RankProcess::look(std::function<void()> then) {
    m_link->pull([this, then = std::move(then)](bool ok) {
        if (ok) {
            takePlace();
            emit traceRead();
        }
        then();
    });
}

void RankProcess::onStopped(const mi::StopEvent& event) {
    if (m_attaching || !m_attached) {
        return; // the stop that belongs to attaching
    }
    const bool ourSignal = event.cause == mi::StopCause::SignalReceived && event.signalName == u"SIGSTOP";
    if (ourSignal && m_stopsSent > 0) {
        --m_stopsSent;
        if (!m_pauseWanted && !m_quietWanted) {
            resume(m_lastResume, m_lastFrame); // left over from a pause that another stop has overtaken
            return;
        }
    }
    m_lastStop = event;
    m_thread = event.threadId > 0 ? event.threadId : 1;
    m_stopAddress = event.frame.address;
    m_link->pull([this, event](bool ok) {
        if (ended()) {
            return;
        }
        if (ok) {
            takePlace();
            emit traceRead();
        }
        classify(event);
    });
}

void RankProcess::classify(const mi::StopEvent& event) {
    if (event.cause == mi::StopCause::SolibEvent || event.cause == mi::StopCause::Fork) {
        resume(mi::Resume::Continue);
        return;
    }
    // gdb gives no reason when it finishes out of a frame without symbols.
    const bool finished = event.cause == mi::StopCause::FunctionFinished || event.cause == mi::StopCause::Unknown;
    if (m_plan != Plan::None && finished) {
        callFinished();
        return;
    }
    const bool ourSignal = event.cause == mi::StopCause::SignalReceived &&
                           (event.signalName == u"SIGSTOP" || (event.signalName == u"SIGINT" && m_pauseWanted));
    if (ourSignal && m_quietWanted && !m_pauseWanted) {
        m_view.phase = RankPhase::Stopped; // seen by nobody: no signal
        m_view.why = StopWhy::Paused;
        afterStop();
        return;
    }
    m_plan = Plan::None;
    afterStop();
}

/// The call is over and the rank is back in the user's function: on the call's own line, which then has to be left, or,
/// where the call was the last thing on it, at the very start of the next.
void RankProcess::callFinished() {
    const Plan plan = std::exchange(m_plan, Plan::None);
    const mi::Resume next = plan == Plan::FinishThenNext ? mi::Resume::Next : mi::Resume::Step;
    if (m_lastStop.frame.line == m_callLine || m_lastStop.frame.line == 0) {
        resume(next);
        return;
    }
    const QString address = QStringLiteral("0x%1").arg(m_lastStop.frame.address, 0, 16);
    m_gdb->console(QStringLiteral("info line *%1").arg(address), [this, address, next](Result<QString> text) {
        if (ended()) {
            return;
        }
        if (text && text.value().contains(QStringLiteral("starts at address %1 ").arg(address))) {
            m_lastStop.cause = mi::StopCause::EndSteppingRange;
            afterStop();
        } else {
            resume(next);
        }
    });
}

void RankProcess::afterStop() {
    if (m_quietWanted) {
        m_quietWanted = false;
        m_working = true;
        auto work = std::exchange(m_work, {});
        auto remaining = std::make_shared<int>(int(work.size()));
        const bool visible = !(m_lastStop.cause == mi::StopCause::SignalReceived && m_lastStop.signalName == u"SIGSTOP") ||
                             m_pauseWanted;
        auto finish = [this, remaining, visible] {
            if (--*remaining > 0) {
                return;
            }
            m_working = false;
            if (visible || m_pauseWanted) {
                afterStop();
            } else {
                m_view.phase = RankPhase::Running;
                m_view.why = StopWhy::None;
                resume(m_lastResume, m_lastFrame);
            }
        };
        if (!work.empty()) {
            for (auto& one : work) {
                one(finish);
            }
            return;
        }
    }
    const mi::StopEvent& event = m_lastStop;
    StopWhy why = StopWhy::Paused;
    QString detail;
    if (m_stopBreakpoint != 0 && event.breakpoints.contains(m_stopBreakpoint)) {
        const auto* header = reinterpret_cast<const trace::MappingHeader*>(m_link->image().header.data());
        const int code = header->stopCode.load();
        switch (static_cast<trace::StopReason>(header->stopReason.load())) {
        case trace::StopReason::Abort:
            why = StopWhy::Abort;
            detail = QStringLiteral("MPI_Abort, code %1").arg(code);
            break;
        case trace::StopReason::MpiError:
            why = StopWhy::MpiError;
            detail = QStringLiteral("MPI error %1 would end the job").arg(code);
            break;
        case trace::StopReason::ExitNoFinalize:
            why = StopWhy::ExitNoFinalize;
            detail = QStringLiteral("exits with code %1 without MPI_Finalize").arg(code);
            break;
        case trace::StopReason::Threshold:
        case trace::StopReason::None:
            why = StopWhy::Stopline;
            break;
        }
    } else {
        switch (event.cause) {
        case mi::StopCause::BreakpointHit:
            why = StopWhy::Breakpoint;
            if (m_runToBreakpoint != 0 && event.breakpoints.contains(m_runToBreakpoint)) {
                why = StopWhy::Step;
            } else if (m_startBreakpoint != 0 && event.breakpoints.contains(m_startBreakpoint)) {
                why = StopWhy::Start;
            }
            break;
        case mi::StopCause::WatchpointTrigger:
            why = StopWhy::Watchpoint;
            break;
        case mi::StopCause::EndSteppingRange:
        case mi::StopCause::FunctionFinished:
        case mi::StopCause::LocationReached:
            why = StopWhy::Step;
            break;
        case mi::StopCause::SignalReceived:
            if ((event.signalName == u"SIGSTOP" || event.signalName == u"SIGINT") && m_pauseWanted) {
                why = StopWhy::Paused;
            } else {
                why = StopWhy::Signal;
                detail = QStringLiteral("%1, %2").arg(event.signalName, event.signalMeaning);
            }
            break;
        default:
            why = StopWhy::Paused;
            break;
        }
    }
    m_pauseWanted = false;
    m_runToBreakpoint = 0;
    setPhase(RankPhase::Stopped, why, detail);
    emit stoppedNow();
}

void RankProcess::resume(mi::Resume how, int frame) {
    m_lastResume = how;
    m_lastFrame = frame;
    m_gdb->resume(how, m_thread, frame, [this](Status status) {
        if (!status && !ended()) {
            m_plan = Plan::None;
            setPhase(RankPhase::Stopped, StopWhy::Paused, status.error().text);
            emit fault(QStringLiteral("Rank %1 could not be resumed: %2").arg(m_rank.value()).arg(status.error().text), {});
            emit stoppedNow();
        }
    });
}

void RankProcess::keep() {
    if (m_waiting) {
        setPhase(RankPhase::Stopped, StopWhy::Start);
    }
}

void RankProcess::letGo() {
    if (ended() || !m_attached) {
        return;
    }
    m_waiting = false;
    if (m_link->status().atGate) {
        m_link->openGate();
    }
    m_plan = Plan::None;
    setPhase(RankPhase::Running);
    resume(mi::Resume::Continue);
}

void RankProcess::finishToUser(Plan then) {
    m_gdb->stack(m_thread, 64, [this, then](Result<QVector<mi::Frame>> frames) {
        if (ended()) {
            return;
        }
        int user = -1;
        if (frames) {
            for (const mi::Frame& frame : frames.value()) {
                if (!Session::isInternalFrame(frame)) {
                    user = frame.level;
                    m_callLine = frame.line;
                    break;
                }
            }
        }
        if (m_link->status().atGate) {
            m_link->openGate();
        }
        if (user > 0) {
            m_plan = then;
            resume(mi::Resume::Finish, user - 1);
        } else {
            resume(then == Plan::FinishThenNext ? mi::Resume::Next : mi::Resume::Step);
        }
    });
}

void RankProcess::step(Verb how) {
    if (!stopped()) {
        return;
    }
    m_waiting = false;
    setPhase(RankPhase::Running);
    if (how == Verb::StepOver || how == Verb::StepInto) {
        // A stop in the library or in MPI: bring the call to its end first, then step in the user's code.
        finishToUser(how == Verb::StepOver ? Plan::FinishThenNext : Plan::FinishThenStep);
        return;
    }
    m_gdb->stack(m_thread, 64, [this](Result<QVector<mi::Frame>> frames) {
        if (ended()) {
            return;
        }
        int user = 0;
        if (frames) {
            for (const mi::Frame& frame : frames.value()) {
                if (!Session::isInternalFrame(frame)) {
                    user = frame.level;
                    break;
                }
            }
        }
        resume(mi::Resume::Finish, user);
    });
}

void RankProcess::runTo(const QString& location) {
    if (!stopped()) {
        return;
    }
    m_gdb->insertBreakpoint(location, {}, true, [this](Result<mi::Breakpoint> bp) {
        if (ended()) {
            return;
        }
        if (!bp) {
            emit fault(QStringLiteral("Rank %1 cannot run there: %2").arg(m_rank.value()).arg(bp.error().text), {});
            emit stoppedNow();
            return;
        }
        m_runToBreakpoint = bp.value().number;
        letGo();
        m_runToBreakpoint = bp.value().number;
    });
}

void RankProcess::pause() {
    if (ended() || (stopped() && !m_working)) {
        return;
    }
    if (!m_attached) {
        m_joinWanted = true;
        m_pauseWanted = true;
        tryJoin();
        return;
    }
    if (m_waiting) {
        keep();
        emit stoppedNow();
        return;
    }
    m_pauseWanted = true;
    if (m_link->status().state == trace::RankState::Arrived) {
        m_link->release(); // its stop function is a better place than the middle of its waiting
        return;
    }
    ++m_stopsSent;
    m_link->stopRank();
}

void RankProcess::whileStopped(std::function<void(std::function<void()>)> work) {
    if (ended()) {
        return;
    }
    if (stopped() || m_waiting) {
        work([] {});
        return;
    }
    if (!m_attached) {
        return; // breakpoints and settings are given when it joins
    }
    m_work.push_back(std::move(work));
    if (!m_quietWanted) {
        m_quietWanted = true;
        ++m_stopsSent;
        m_link->stopRank();
    }
}

void RankProcess::release() {
    m_link->release();
}

void RankProcess::kill() {
    m_killing = true;
    m_link->kill();
}

void RankProcess::setLocation(const SourceLocation& location, int userFrame) {
    m_view.location = location;
    m_view.userFrame = userFrame;
}

void RankProcess::setWhy(StopWhy why) {
    if (stopped()) {
        m_view.why = why;
        emit phaseChanged();
    }
}

} // namespace stopline::replay
