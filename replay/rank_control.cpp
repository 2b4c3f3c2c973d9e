// What a rank is told to do: run, step, pause, end.
#include "rank_process.h"
#include "words.h"

#include <QTimer>

#include <memory>
#include <utility>

namespace stopline::replay {

namespace {
constexpr int kStopPatienceMs = 3000; ///< then whoever has not told of a stop is named
constexpr int kAnswerMs = 1000;       ///< for the agent to answer within, at the end of that
}

void RankProcess::resume(mi::Resume how, int frame) {
    m_lastResume = how;
    m_lastFrame = frame;
    m_gdb->resume(how, m_thread, frame, [this](Status status) {
        if (status || ended()) {
            return;
        }
        if (m_gdb->state() == mi::GdbState::Running) {
            return; // a late answer has said so meanwhile
        }
        if (status.error().code == ErrorCode::GdbDied) {
            return; // told by itself, with its reason, unless the job has been killed
        }
        if (status.error().code == ErrorCode::TimedOut) {
            // A gdb that is late is no reason to take the rank for stopped. It may have got the command or not: asked
            // again it goes on, or says that it runs already.
            emit fault(QStringLiteral("Rank %1 may not have gone on yet: %2").arg(rankText(m_rank)).arg(status.error().text), {});
            resume(m_lastResume, m_lastFrame);
        } else {
            m_plan = Plan::None;
            setPhase(RankPhase::Stopped, StopWhy::Paused); // what gdb has said is of this command, not of where it stands
            emit fault(QStringLiteral("Rank %1 could not be resumed: %2").arg(rankText(m_rank)).arg(status.error().text), {});
            emit stoppedNow();
        }
    });
}

/// gdb said that the program runs and then could not let it: it stands where it stood, or one instruction on.
void RankProcess::onResumeFailed(const QString& why) {
    m_plan = Plan::None;
    emit fault(QStringLiteral("Rank %1 could not go on: %2").arg(rankText(m_rank)).arg(why),
               QStringLiteral("If it is a breakpoint that cannot be set there, delete it; then Continue."));
    m_gdb->stack(m_thread, 1, [this](Result<QVector<mi::Frame>> frames) {
        if (ended() || stopped()) {
            return;
        }
        mi::StopEvent event;
        event.threadId = m_thread;
        if (frames && !frames.value().isEmpty()) {
            event.frame = frames.value().first();
        }
        onStopped(event);
    });
}

void RankProcess::keep() {
    if (m_waiting) {
        m_view.place = {m_link->status().event, false}; // the gate may be at the end of MPI_Init
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

/// Fortran's own main program first: its C main is nothing the user has written.
void RankProcess::runToFirst(const QString& function, std::function<void()> otherwise) {
    m_gdb->insertBreakpoint(function, {}, true, [this, function, otherwise = std::move(otherwise)](Result<mi::Breakpoint> bp) {
        if (ended()) {
            return;
        }
        if (stopped()) { // paused meanwhile: whoever lets it go then says how far
            if (bp) {
                m_gdb->deleteBreakpoint(bp.value().number, [](Status) {});
            }
            return;
        }
        const QString plain = QStringLiteral("main");
        if ((bp && !bp.value().pending) || (function == plain && !otherwise)) {
            m_startBreakpoint = bp ? bp.value().number : 0;
            letGo();
            return;
        }
        const auto next = [this, last = function == plain, plain, otherwise] {
            if (!ended() && !stopped()) {
                last ? otherwise() : runToFirst(plain, otherwise);
            }
        };
        if (bp) {
            m_gdb->deleteBreakpoint(bp.value().number, [next](Status) { next(); });
        } else {
            next();
        }
    });
}

void RankProcess::finishToUser(Plan then) {
    m_gdb->stack(m_thread, 64, [this, then](Result<QVector<mi::Frame>> frames) {
        if (ended()) {
            return;
        }
        const mi::Frame* frame = frames ? Session::userFrame(frames.value()) : nullptr;
        const int user = frame != nullptr ? frame->level : -1;
        m_callLine = frame != nullptr ? frame->line : m_callLine;
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
        const mi::Frame* frame = frames ? Session::userFrame(frames.value()) : nullptr;
        resume(mi::Resume::Finish, frame != nullptr ? frame->level : 0);
    });
}

void RankProcess::runTo(int breakpoint) {
    if (!stopped()) {
        return;
    }
    m_runToBreakpoint = breakpoint;
    letGo();
}

void RankProcess::pause() {
    if (ended() || (stopped() && !m_working)) {
        return;
    }
    // While gdb is joining it, it stands already: a signal sent now would stop it again, some time after it has been let go.
    const bool joining = m_view.phase == RankPhase::Starting && !m_waiting;
    if (!m_attached || joining) {
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
    stopByAgent();
}

/// The agent stops the rank and gdb tells of it: neither is asked anything that it could leave unanswered, so that here
/// is watched whether the stop comes.
void RankProcess::stopByAgent() {
    ++m_stopsSent;
    m_link->stopRank();
    QTimer::singleShot(kStopPatienceMs - kAnswerMs, this, [this, asked = ++m_stopsAsked] {
        const auto waits = [this, asked] {
            return asked == m_stopsAsked && m_stopsSent > 0 && (m_pauseWanted || m_quietWanted) && !ended() && !m_killing &&
                   m_view.phase != RankPhase::Failed && m_link->connected();
        };
        if (!waits()) {
            return;
        }
        const auto heard = std::make_shared<bool>(false);
        m_link->pull([heard](bool ok) { *heard = ok; });
        QTimer::singleShot(kAnswerMs, this, [this, heard, waits] {
            if (!waits()) {
                return;
            }
            setSilent(true);
            emit fault(QStringLiteral("The %1 of rank %2 does not answer: the rank has been told to stop, and %3.")
                           .arg(*heard ? QStringLiteral("gdb") : QStringLiteral("agent"))
                           .arg(rankText(m_rank))
                           .arg(*heard ? QStringLiteral("gdb has not said that it has") : QStringLiteral("nothing has been heard since")),
                       QStringLiteral("It may be busy; Kill ends the job if it stays so."));
        });
    });
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
        stopByAgent();
    }
}

void RankProcess::release() {
    m_link->release();
}

void RankProcess::kill(LastSteps last) {
    m_killing = true;
    m_lastSteps = last;
    if (last == LastSteps::Leave) {
        m_link->forgetMapping();
    }
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

void RankProcess::waitForOthers() {
    if (m_waiting && m_view.phase == RankPhase::Starting) {
        setPhase(RankPhase::Starting, StopWhy::None, QStringLiteral("ready, waits for the other ranks"));
    }
}

} // namespace stopline::replay
