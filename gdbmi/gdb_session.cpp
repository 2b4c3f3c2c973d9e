#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QLoggingCategory>

#include <algorithm>
#include <utility>

Q_LOGGING_CATEGORY(gdbmiLog, "stopline.gdbmi", QtWarningMsg)

namespace stopline::mi {

namespace {

const char* nameOf(GdbState state) {
    switch (state) {
    case GdbState::Starting:
        return "starting";
    case GdbState::Ready:
        return "ready";
    case GdbState::Running:
        return "running";
    case GdbState::Stopped:
        return "stopped";
    case GdbState::Dead:
        return "dead";
    }
    return "?";
}

bool isLegal(GdbState from, GdbState to) {
    switch (from) {
    case GdbState::Starting:
        return to == GdbState::Ready || to == GdbState::Dead;
    case GdbState::Ready:
        return to != GdbState::Starting;
    case GdbState::Running:
    case GdbState::Stopped:
        return to != GdbState::Starting;
    case GdbState::Dead:
        return false;
    }
    return false;
}

} // namespace

GdbSession::Impl::Impl(GdbSession* owner, MiTransport* mi) : q(owner), transport(mi), queue(owner) {
    attachTimer.setSingleShot(true);
    QObject::connect(&attachTimer, &QTimer::timeout, q, [this] { watchAttach(); });
    QObject::connect(transport, &MiTransport::received, q,
                     [this](const QByteArray& bytes) { receive(bytes); });
    QObject::connect(transport, &MiTransport::closed, q, [this](const QString& why) {
        const QPointer<GdbSession> alive(q);
        cutOff = true;
        receive("\n"); // the last line has no end, and may be half of one
        if (alive) {
            closed(why);
        }
    });
    QObject::connect(&queue, &CommandQueue::send, q, [this](const QByteArray& line) {
        if (transcript) {
            transcript->sent(line);
        }
        transport->send(line);
    });
    QObject::connect(&queue, &CommandQueue::notResponding, q, &GdbSession::notResponding);
    QObject::connect(&queue, &CommandQueue::resumeTakenBack, q,
                     [this](const QString& error) { resumeTakenBack(error); });
    queue.setAdmission([this](const Command& command) -> std::optional<Error> {
        if (command.needsNoProgram && (state == GdbState::Running || state == GdbState::Stopped)) {
            return Error{ErrorCode::Unavailable, tr("gdb has a program already; detach it first.")};
        }
        if (!command.needsStopped || state == GdbState::Stopped) {
            return std::nullopt;
        }
        return Error{ErrorCode::NotStopped, state == GdbState::Running
                                                ? tr("The program is running; pause it first.")
                                                : tr("gdb has no program to look at.")};
    });
    queue.hold(true); // until the first prompt
}

void GdbSession::Impl::setState(GdbState next) {
    if (next == state) {
        return;
    }
    if (!isLegal(state, next)) {
        qCWarning(gdbmiLog) << "illegal transition from" << nameOf(state) << "to" << nameOf(next);
        if (state == GdbState::Dead) {
            return;
        }
    }
    qCDebug(gdbmiLog) << nameOf(state) << "->" << nameOf(next);
    state = next;
    emit q->stateChanged(next);
}

void GdbSession::Impl::setRunning() {
    if (state == GdbState::Running || attachPhase != AttachPhase::None) {
        return;
    }
    const QPointer<GdbSession> alive(q);
    saidSinceResume.clear();
    setState(GdbState::Running);
    if (alive) {
        emit q->running();
    }
}

void GdbSession::Impl::closed(const QString& why) {
    if (state == GdbState::Dead) {
        return;
    }
    QString text = why;
    if (const QString waits = queue.pending(); !waits.isEmpty() && !quitting) {
        if (text.endsWith(u'.')) {
            text.chop(1);
        }
        text += QStringLiteral("; ") + tr("it %1").arg(waits);
    }
    if (!promptSeen || malformedRun > 0) {
        const QString said = QString::fromUtf8(unparsed.join('\n')).trimmed();
        if (!said.isEmpty()) {
            text += QStringLiteral("; ") + tr("it said: %1").arg(said);
        }
    }
    if (transcript) {
        transcript->note(text);
    }
    const Error error{ErrorCode::GdbDied, text};
    queue.close(error);
    if (initialiseHandler) {
        failLater([handler = std::exchange(initialiseHandler, {}), error] { handler(error); });
    }
    if (attachHandler) {
        failLater([handler = std::exchange(attachHandler, {}), error] { handler(error); });
    }
    attachTimer.stop();
    attachPhase = AttachPhase::None;
    const QPointer<GdbSession> alive(q);
    setState(GdbState::Dead);
    if (alive) {
        emit q->died(text);
    }
}

/// On a machine with much to do the stop may take long: that is told before it is given up.
void GdbSession::Impl::watchAttach() {
    const auto left = [this](std::chrono::milliseconds limit) { return limit.count() - attachedSince.elapsed(); };
    const auto watchdog = queue.watchdog();
    if (!attachAnnounced && watchdog.count() > 0 && left(watchdog) <= 0) {
        attachAnnounced = true;
        const QPointer<GdbSession> alive(q);
        emit q->notResponding(tr("gdb %1").arg(q->pending()));
        if (!alive || attachPhase != AttachPhase::Accepted) {
            return;
        }
    }
    const auto deadline = longDeadline();
    if (deadline.count() > 0 && left(deadline) <= 0) {
        finishAttach(Error{ErrorCode::TimedOut, tr("gdb has attached, but the process does not stop.")});
        return;
    }
    const bool announce = !attachAnnounced && watchdog.count() > 0;
    if (announce || deadline.count() > 0) {
        attachTimer.start(static_cast<int>(std::max<qint64>(left(announce ? watchdog : deadline), 0)));
    }
}

void GdbSession::Impl::finishAttach(const Status& status) {
    attachTimer.stop();
    attachAnnounced = false;
    attachPhase = AttachPhase::None;
    queue.hold(false);
    if (attachHandler) {
        std::exchange(attachHandler, {})(status);
    }
}

void GdbSession::Impl::failLater(std::function<void()> call) {
    QMetaObject::invokeMethod(q, std::move(call), Qt::QueuedConnection);
}

void GdbSession::Impl::request(Command command, GdbSession::Handler<Unit> handler) {
    if (handler) {
        command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
            handler(answer ? Status(Unit{}) : Status(answer.error()));
        };
    }
    queue.post(std::move(command));
}

void GdbSession::Impl::request(QByteArray text, GdbSession::Handler<Unit> handler) {
    request(Command{.text = std::move(text)}, std::move(handler));
}

QByteArray GdbSession::Impl::consoleCommand(const QByteArray& command) {
    return "-interpreter-exec console " + QByteArray::fromStdString(quote(command.toStdString()));
}

QByteArray GdbSession::Impl::context(int threadId, int frame) {
    QByteArray text;
    if (threadId > 0) {
        text += " --thread " + QByteArray::number(threadId);
        if (frame >= 0) {
            text += " --frame " + QByteArray::number(frame);
        }
    }
    return text;
}

// ---------------------------------------------------------------------------------------------------------------

GdbSession::GdbSession(MiTransport* transport, QObject* parent)
    : QObject(parent), m_impl(std::make_unique<Impl>(this, transport)) {}

GdbSession::~GdbSession() {
    m_impl->transport->disconnect(this);
    m_impl->queue.disconnect(this);
}

GdbState GdbSession::state() const {
    return m_impl->state;
}

QString GdbSession::pending() const {
    if (m_impl->attachPhase == Impl::AttachPhase::Accepted) {
        return tr("waits for the attached process to stop since %1 s")
            .arg(double(m_impl->attachedSince.elapsed()) / 1000, 0, 'f', 1);
    }
    return m_impl->state == GdbState::Starting ? tr("waits for gdb's first prompt") : m_impl->queue.pending();
}

void GdbSession::setDeadline(std::chrono::milliseconds deadline) {
    m_impl->queue.setDeadline(deadline);
}

void GdbSession::setWatchdog(std::chrono::milliseconds limit) {
    m_impl->queue.setWatchdog(limit);
}

void GdbSession::recordTranscript(const QString& path) {
    m_impl->transcript = std::make_unique<TranscriptWriter>(path);
    if (!m_impl->transcript->ok()) {
        qCWarning(gdbmiLog).noquote() << "cannot write the transcript" << path;
        m_impl->transcript.reset();
    }
}

QVector<Library> GdbSession::libraries() const {
    return m_impl->libraries.all();
}

void GdbSession::quit() {
    m_impl->quitting = true;
    m_impl->request(Command{.text = "-gdb-exit", .kind = Command::Kind::Urgent}, {});
}

void GdbSession::interrupt(Handler<Unit> handler) {
    m_impl->interruptWanted = m_impl->hiddenStop;
    m_impl->request(Command{.text = "-exec-interrupt", .kind = Command::Kind::Urgent}, std::move(handler));
}

void GdbSession::console(const QString& command, Handler<QString> handler,
                         std::chrono::milliseconds timeout) {
    Command request{
        .text = Impl::consoleCommand(command.toUtf8()), .mayCallFunctions = true, .captureConsole = true};
    if (timeout.count() > 0) {
        request.deadline = timeout;
    }
    request.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (handler) {
            handler(answer ? Result<QString>(answer.value().console) : Result<QString>(answer.error()));
        }
    };
    m_impl->queue.post(std::move(request));
}

} // namespace stopline::mi
