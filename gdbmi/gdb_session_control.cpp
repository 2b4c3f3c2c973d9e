// Start, attach, resume, breakpoints.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QLoggingCategory>

#include <array>
#include <utility>

Q_DECLARE_LOGGING_CATEGORY(gdbmiLog)

namespace stopline::mi {

namespace {

struct Setting {
    const char* text;
    bool essential; ///< without it Stopline cannot work; the others may be unknown to an older gdb
};

constexpr std::array kSettings{
    Setting{"mi-async on", true},
    Setting{"auto-solib-add off", true},
    Setting{"pagination off", false},
    Setting{"confirm off", true},
    Setting{"width 0", false},
    Setting{"height 0", false},
    Setting{"style enabled off", false},
    Setting{"charset UTF-8", false},
    Setting{"debuginfod enabled off", false},
    Setting{"breakpoint pending on", false},
    Setting{"detach-on-fork on", false},
    Setting{"follow-fork-mode parent", false},
    Setting{"follow-exec-mode same", false},
    Setting{"schedule-multiple off", false},
    Setting{"unwindonsignal on", false},
    Setting{"unwind-on-terminating-exception on", false},
    Setting{"print thread-events off", false},
    Setting{"print inferior-events off", false},
    Setting{"print elements 200", false},
    Setting{"print repeats 10", false},
    Setting{"print demangle on", false},
    Setting{"print asm-demangle on", false},
    Setting{"print entry-values no", false}, // no doubled x@entry among the variables
    Setting{"max-value-size 1048576", false},
};

QByteArray handleCommand(const QByteArray& names, bool stop, bool pass) {
    return "handle " + names + (stop ? " stop print" : " nostop noprint") + (pass ? " pass" : " nopass");
}

QByteArray realTimeSignals() {
    QByteArray names;
    for (int number = 32; number <= 64; ++number) {
        names += " SIG" + QByteArray::number(number);
    }
    return names.trimmed();
}

QByteArray quoted(const QString& text) {
    return QByteArray::fromStdString(quote(text.toStdString()));
}

/// gdb takes an empty location for the place where the program stands.
std::optional<Error> locationError(const QString& location) {
    if (location.trimmed().isEmpty()) {
        return Error{ErrorCode::Unavailable,
                     GdbSession::tr("A breakpoint needs a place: file:line or a function.")};
    }
    return std::nullopt;
}

} // namespace

void GdbSession::initialise(Handler<Unit> handler) {
    if (m_impl->state == GdbState::Starting) {
        m_impl->initialiseHandler = std::move(handler);
        return;
    }
    m_impl->sendSettings(std::move(handler));
}

// All at once: with a round trip for each, many gdbs that start on few processors wait for one another at
// every one.
void GdbSession::Impl::sendSettings(GdbSession::Handler<Unit> handler) {
    const auto first = std::make_shared<Status>(Unit{}); // the first failure that matters is the answer
    const auto send = [this, first](QByteArray text, bool essential, std::function<void()> last = {}) {
        Command command{.text = text, .kind = Command::Kind::Urgent};
        command.handler = [first, text, essential, last = std::move(last)](const Result<Answer>& answer) {
            if (!answer && first->ok() && (essential || answer.error().code != ErrorCode::GdbError)) {
                *first = answer.error();
            } else if (!answer) {
                qCInfo(gdbmiLog).noquote() << text << "refused:" << answer.error().text;
            }
            if (last) {
                last();
            }
        };
        queue.post(std::move(command));
    };
    for (const Setting& setting : kSettings) {
        send(QByteArray("-gdb-set ") + setting.text, setting.essential);
    }
    // What gdb's printers show is what has parts, instead of the insides of std::vector.
    send("-enable-pretty-printing", false);
    // SIGSTOP and SIGINT are how a rank is paused; the program never sees those. Signals that programs send
    // themselves (and the snapshot signal) pass without a stop.
    send(consoleCommand(handleCommand("SIGSTOP SIGINT", true, false)), true);
    send(consoleCommand(handleCommand(
             "SIGUSR1 SIGUSR2 SIGCHLD SIGALRM SIGVTALRM SIGPROF SIGURG SIGIO SIGWINCH", false, true)),
         true);
    send(consoleCommand(handleCommand(realTimeSignals(), false, true)), true,
         [first, handler = std::move(handler)] { handler(*first); });
}

void GdbSession::setSignals(const QVector<SignalPolicy>& policies, Handler<Unit> handler) {
    if (policies.isEmpty()) {
        m_impl->failLater([handler = std::move(handler)] {
            if (handler) {
                handler(Unit{});
            }
        });
        return;
    }
    // The first failure is the answer.
    auto first = std::make_shared<Status>(Unit{});
    for (qsizetype i = 0; i < policies.size(); ++i) {
        const SignalPolicy& policy = policies[i];
        const bool last = i + 1 == policies.size();
        m_impl->request(Impl::consoleCommand(handleCommand(policy.name.toUtf8(), policy.stop, policy.pass)),
                        [first, last, handler](const Status& status) {
                            if (first->ok() && !status) {
                                *first = status;
                            }
                            if (last && handler) {
                                handler(*first);
                            }
                        });
    }
}

void GdbSession::attach(qint64 pid, Handler<Unit> handler) {
    Impl& d = *m_impl;
    if (d.attachPhase != Impl::AttachPhase::None) {
        d.failLater([handler = std::move(handler)] {
            handler(Error{ErrorCode::Unavailable, tr("gdb is attaching to a program already.")});
        });
        return;
    }
    Command command{.text = "-target-attach " + QByteArray::number(pid), .needsNoProgram = true, .deadline = d.longDeadline()};
    d.attachPhase = Impl::AttachPhase::Asked;
    d.attachHandler = std::move(handler);
    command.handler = [&d](const Result<Answer>& answer) {
        if (!answer) {
            Error error = answer.error();
            if (error.text.contains(QLatin1StringView("not permitted"))) {
                error.text +=
                    QStringLiteral(" ") +
                    tr("Attaching may be forbidden on that host: see /proc/sys/kernel/yama/ptrace_scope.");
            }
            d.finishAttach(error);
            return;
        }
        if (d.attachPhase == Impl::AttachPhase::StoppedFirst) {
            d.setState(GdbState::Stopped);
            d.finishAttach(Unit{});
            return;
        }
        // Nothing else may be asked before the stop that follows.
        d.attachPhase = Impl::AttachPhase::Accepted;
        d.queue.hold(true);
        d.attachedSince.start();
        d.watchAttach();
    };
    d.queue.post(std::move(command));
}

void GdbSession::detach(Handler<Unit> handler) {
    m_impl->queue.dropRefreshes();
    ++m_impl->resumes;
    m_impl->request(QByteArray("-target-detach"), [this, handler = std::move(handler)](const Status& status) {
        const QPointer<GdbSession> alive(this);
        if (status) {
            m_impl->libraries.clear();
            m_impl->setState(GdbState::Ready);
        }
        if (alive && handler) {
            handler(status);
        }
    });
}

void GdbSession::resume(Resume how, int threadId, int frame, Handler<Unit> handler) {
    QByteArray text;
    switch (how) {
    case Resume::Continue:
        text = "-exec-continue";
        break;
    case Resume::Next:
        text = "-exec-next" + Impl::context(threadId, -1);
        break;
    case Resume::Step:
        text = "-exec-step" + Impl::context(threadId, -1);
        break;
    case Resume::Finish:
        text = "-exec-finish" + Impl::context(threadId, frame);
        break;
    case Resume::NextInstruction:
        text = "-exec-next-instruction" + Impl::context(threadId, -1);
        break;
    case Resume::StepInstruction:
        text = "-exec-step-instruction" + Impl::context(threadId, -1);
        break;
    }
    m_impl->sendResume(std::move(text), how, std::move(handler));
}

void GdbSession::Impl::sendResume(QByteArray text, Resume how, GdbSession::Handler<Unit> handler) {
    ++resumes;
    queue.dropRefreshes();
    // A stop at the catchpoint would end a step, and continuing after it would not complete the step.
    const bool wantCatchpoint = how == Resume::Continue;
    if (loadCatchpoint != 0 && wantCatchpoint != catchpointOn) {
        catchpointOn = wantCatchpoint;
        request((wantCatchpoint ? "-break-enable " : "-break-disable ") + QByteArray::number(loadCatchpoint),
                {});
    }
    request(Command{.text = std::move(text),
                    .kind = Command::Kind::Resume,
                    .needsStopped = true,
                    .deadline = longDeadline()},
            std::move(handler));
}

void GdbSession::advance(const QString& location, int threadId, Handler<Unit> handler) {
    Impl& d = *m_impl;
    if (const auto error = locationError(location)) {
        d.failLater([handler = std::move(handler), error] {
            if (handler) {
                handler(*error);
            }
        });
        return;
    }
    ++d.resumes;
    d.queue.dropRefreshes();
    QByteArray text = "-break-insert -t";
    if (threadId > 0) {
        text += " -p " + QByteArray::number(threadId);
    }
    Command insert{.text = text + ' ' + quoted(location), .needsStopped = true};
    insert.handler = [&d, handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            if (handler) {
                handler(answer.error());
            }
            return;
        }
        const int number = answer.value().record["bkpt"]["number"].toInt();
        d.advanceBreakpoint = number;
        d.sendResume("-exec-continue", Resume::Continue, [&d, number, handler](const Status& status) {
            if (!status && d.advanceBreakpoint == number) {
                d.advanceBreakpoint = 0;
                d.request("-break-delete " + QByteArray::number(number), {});
            }
            if (handler) {
                handler(status);
            }
        });
    };
    d.queue.post(std::move(insert));
}

void GdbSession::insertBreakpoint(const QString& location, const QString& condition, bool temporary,
                                  Handler<Breakpoint> handler) {
    if (const auto error = locationError(location)) {
        m_impl->failLater([handler = std::move(handler), error] {
            if (handler) {
                handler(*error);
            }
        });
        return;
    }
    QByteArray text = "-break-insert";
    if (!location.trimmed().startsWith(QLatin1Char('*'))) {
        text += " -f";
    }
    if (temporary) {
        text += " -t";
    }
    if (!condition.trimmed().isEmpty()) {
        text += " -c " + quoted(condition);
    }
    Command command{.text = text + ' ' + quoted(location)};
    command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (!handler) {
            return;
        }
        if (!answer) {
            handler(answer.error());
            return;
        }
        const Breakpoint breakpoint = toBreakpoint(answer.value().record["bkpt"]);
        if (breakpoint.number == 0) {
            handler(Error{ErrorCode::BadAnswer, tr("gdb has not said which breakpoint it made.")});
            return;
        }
        handler(breakpoint);
    };
    // Nobody will know of a breakpoint whose answer came too late.
    command.late = [this](const Record& record) {
        if (const int number = record["bkpt"]["number"].toInt(); number > 0) {
            m_impl->request("-break-delete " + QByteArray::number(number), {});
        }
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::breakpoints(Handler<QVector<Breakpoint>> handler) {
    Command command{.text = "-break-list", .kind = Command::Kind::Refresh};
    command.handler = [this, handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        QVector<Breakpoint> all;
        for (const Value& value : answer.value().record["BreakpointTable"]["body"].children()) {
            const Breakpoint breakpoint = toBreakpoint(value);
            if (breakpoint.number != m_impl->loadCatchpoint &&
                breakpoint.number != m_impl->advanceBreakpoint) {
                all.append(breakpoint);
            }
        }
        handler(all);
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::setBreakpointEnabled(int number, bool enabled, Handler<Unit> handler) {
    m_impl->request((enabled ? "-break-enable " : "-break-disable ") + QByteArray::number(number),
                    std::move(handler));
}

void GdbSession::setBreakpointCondition(int number, const QString& condition, Handler<Unit> handler) {
    QByteArray text = "-break-condition " + QByteArray::number(number);
    if (!condition.trimmed().isEmpty()) {
        text += ' ' + quoted(condition);
    }
    m_impl->request(std::move(text), std::move(handler));
}

void GdbSession::setBreakpointIgnore(int number, int count, Handler<Unit> handler) {
    m_impl->request("-break-after " + QByteArray::number(number) + ' ' + QByteArray::number(count),
                    std::move(handler));
}

void GdbSession::deleteBreakpoint(int number, Handler<Unit> handler) {
    m_impl->request("-break-delete " + QByteArray::number(number), std::move(handler));
}

} // namespace stopline::mi
