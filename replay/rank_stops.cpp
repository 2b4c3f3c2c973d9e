// Stops of a rank: what gdb says of them, and what they mean to the user.
#include "rank_process.h"

#include "../gdbmi/agent_guard.h"
#include "../tracelib/errors.h"

#include <QPointer>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace stopline::replay {

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
        if (ok && m_taker) {
            takePlace();
            m_taker(then);
        } else {
            then();
        }
    });
}

/// `then` comes when what has been pulled is in the recording, unless the rank is no more by then.
void RankProcess::readTrace(bool pulled, std::function<void()> then) {
    if (!pulled || !m_taker) {
        then();
        return;
    }
    takePlace();
    m_taker([guarded = QPointer<RankProcess>(this), then = std::move(then)] {
        if (guarded) {
            then();
        }
    });
}

void RankProcess::fetch(std::function<void(bool)> then) {
    m_link->pull([this, then = std::move(then)](bool ok) {
        if (ok) {
            takePlace();
        }
        then(ok);
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
        readTrace(ok, [this, event] {
            if (!ended()) {
                classify(event);
            }
        });
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
    if (event.cause == mi::StopCause::Exec) {
        onExec(event.newProgram);
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

/// The process goes on with another program: what was set at addresses of the old one must go before it can.
void RankProcess::onExec(const QString& path) {
    m_plan = Plan::None;
    m_rejoinWanted = true;
    emit programReplaced(path, m_view.place.event.value() > 0);
    if (m_stopBreakpoint == 0) {
        resume(mi::Resume::Continue);
        return;
    }
    m_gdb->deleteBreakpoint(std::exchange(m_stopBreakpoint, 0), [this](Status) {
        if (!ended()) {
            resume(mi::Resume::Continue);
        }
    });
}

/// The new program has loaded the library and waits at the gate; gdb takes breakpoints while it does.
void RankProcess::rejoin() {
    m_rejoinWanted = false;
    watchStopFunction([this] {
        if (!ended()) {
            emit rejoined();
            m_link->openGate();
        }
    });
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
    if (event.cause == mi::StopCause::SignalReceived && event.signalName == u"SIGSTOP" && m_pauseWanted &&
        m_link->status().state == trace::RankState::Arrived) {
        // It has come to hold just before: its stop function is a better place than the middle of its waiting.
        m_link->release();
        m_view.phase = RankPhase::Running;
        resume(mi::Resume::Continue);
        return;
    }
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
            detail = static_cast<trace::ErrorClass>(code) == trace::ErrorClass::Success
                         ? QStringLiteral("an error in MPI would end the job")
                         : QString::fromStdString(std::string(trace::errorName(static_cast<trace::ErrorClass>(code)))) + QStringLiteral(" would end the job");
            break;
        case trace::StopReason::ExitNoFinalize:
            why = StopWhy::ExitNoFinalize;
            detail = QStringLiteral("exits with code %1 without MPI_Finalize").arg(code);
            break;
        case trace::StopReason::Threshold:
        case trace::StopReason::None:
            why = StopWhy::Stopline;
            if (const std::uint64_t differs = header->sentDiffers.load(); differs != 0 && m_view.place.event.value() - differs <= 1) {
                why = StopWhy::Departure; // it has held by itself
            }
            if (m_link->status().recordingOff == static_cast<int>(agent::kOverwritten)) {
                why = StopWhy::Abort; // nobody can say any more which of these it is
                detail = QStringLiteral("MPI_Abort, an error in MPI, or an exit without MPI_Finalize");
            }
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

} // namespace stopline::replay
