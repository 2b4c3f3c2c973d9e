#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QLoggingCategory>

#include <utility>

Q_LOGGING_CATEGORY(gdbmiLog, "stopline.gdbmi", QtWarningMsg)

namespace stopline::mi {

namespace {

constexpr int kMostMalformed = 200; ///< lines in a row after which the other side is no gdb
constexpr int kUnparsedKept = 5;

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
    QObject::connect(&attachTimer, &QTimer::timeout, q, [this] {
        finishAttach(Error{ErrorCode::TimedOut, tr("gdb has attached, but the process does not stop.")});
    });
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

void GdbSession::Impl::receive(const QByteArray& bytes) {
    if (state == GdbState::Dead) {
        return;
    }
    if (transcript) {
        transcript->received(bytes);
    }
    // All records first: a handler may delete the session, and the reader with it.
    std::vector<Record> records;
    reader.feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())),
                [&records](Record&& record) { records.push_back(std::move(record)); });
    const QPointer<GdbSession> alive(q);
    for (Record& record : records) {
        if (!alive || state == GdbState::Dead) {
            return;
        }
        handle(std::move(record));
    }
}

void GdbSession::Impl::handle(Record&& record) {
    if (record.type == RecordType::Malformed) {
        handleMalformed(record);
        return;
    }
    malformedRun = 0;
    switch (record.type) {
    case RecordType::Result:
        if (record.resultClass == ResultClass::Running) {
            const QPointer<GdbSession> alive(q);
            setRunning();
            if (!alive) {
                return;
            }
        }
        queue.answer(std::move(record));
        break;
    case RecordType::ExecAsync:
        handleExec(record);
        break;
    case RecordType::NotifyAsync:
        handleNotify(record);
        break;
    case RecordType::ConsoleStream:
        if (!queue.capture(record.text)) {
            emit q->consoleOutput(toText(record.text));
        }
        break;
    case RecordType::Prompt: {
        if (!promptSeen) {
            promptSeen = true;
            queue.hold(false);
            const QPointer<GdbSession> alive(q);
            setState(GdbState::Ready);
            if (!alive) {
                return;
            }
            if (initialiseHandler) {
                runSettings(0, std::exchange(initialiseHandler, {}));
            }
        }
        break;
    }
    case RecordType::LogStream:
        qCDebug(gdbmiLog) << "gdb:" << record.text.c_str();
        conditionComplaint.take(record.text);
        break;
    case RecordType::TargetStream:
    case RecordType::StatusAsync:
    case RecordType::Malformed:
        break;
    }
}

void GdbSession::Impl::handleMalformed(const Record& record) {
    if (malformedRun == 0 && !cutOff) {
        qCWarning(gdbmiLog).noquote() << "not MI:" << QString::fromStdString(record.error) << "in"
                                      << QString::fromUtf8(record.text.substr(0, 200));
    }
    unparsed.append(QByteArray::fromStdString(record.text).left(200));
    if (unparsed.size() > kUnparsedKept) {
        unparsed.removeFirst();
    }
    if (++malformedRun >= kMostMalformed) {
        closed(tr("what answers is not gdb"));
    }
}

void GdbSession::Impl::handleExec(const Record& record) {
    if (record.name == "running") {
        setRunning();
    } else if (record.name == "stopped") {
        handleStop(record);
    }
}

void GdbSession::Impl::handleStop(const Record& record) {
    StopEvent event = toStopEvent(record);
    const QPointer<GdbSession> alive(q); // whoever hears of a change may delete the session
    if (attachPhase == AttachPhase::Accepted) {
        setState(GdbState::Stopped);
        if (alive) {
            finishAttach(Unit{});
        }
        return;
    }
    if (attachPhase == AttachPhase::Asked) {
        attachPhase = AttachPhase::StoppedFirst;
        return;
    }
    const QString complaint = conditionComplaint.told();
    if (!complaint.isEmpty() && event.cause == StopCause::BreakpointHit && !event.breakpoints.isEmpty()) {
        emit q->conditionFailed(event.breakpoints.first(), complaint);
        if (!alive) {
            return;
        }
    }
    if (isExit(event.cause)) {
        libraries.clear();
        hiddenStop = false;
        setState(GdbState::Ready);
        if (alive) {
            emit q->exited(event);
        }
        return;
    }
    if (state == GdbState::Stopped && queue.callsFunctions() && event.cause != StopCause::BreakpointHit) {
        qCDebug(gdbmiLog) << "stop inside a called function belongs to the evaluation";
        return;
    }
    if (event.cause == StopCause::SolibEvent && loadCatchpoint != 0 &&
        event.breakpoints.contains(loadCatchpoint) && state == GdbState::Running) {
        userLibraryStop(event);
        return;
    }
    if (event.cause == StopCause::Exec) {
        libraries.clear(); // those of the program that is gone
        event.breakpoints.clear();
    }
    if (advanceBreakpoint != 0) {
        const int number = std::exchange(advanceBreakpoint, 0);
        if (event.breakpoints.contains(number)) {
            event.cause = StopCause::LocationReached;
            event.breakpoints.removeAll(number);
        } else {
            // May have gone by itself, when a breakpoint of the user's at the same place was reported
            // instead.
            request("-break-delete " + QByteArray::number(number), {});
        }
    }
    if (state == GdbState::Stopped && event.cause != StopCause::BreakpointHit) {
        qCInfo(gdbmiLog) << "a stop of a stopped program";
    }
    setState(GdbState::Stopped);
    if (!alive) {
        return;
    }
    if (followLibraries == Follow::On && !libraries.usersWithoutSymbols().isEmpty()) {
        loadUserLibrariesNow({});
    }
    emit q->stopped(event);
}

void GdbSession::Impl::handleNotify(const Record& record) {
    if (record.name == "library-loaded") {
        libraries.loaded(record);
        // While stepping the catchpoint is off, as its stop would end the step.
        if (followLibraries == Follow::On && !catchpointOn && state == GdbState::Running) {
            if (const QStringList paths = libraries.usersWithoutSymbols(); !paths.isEmpty()) {
                loadNext(paths, {});
            }
        }
    } else if (record.name == "library-unloaded") {
        libraries.unloaded(record);
    } else if (record.name == "breakpoint-modified" || record.name == "breakpoint-created") {
        const Breakpoint breakpoint = toBreakpoint(record["bkpt"]);
        if (breakpoint.number != advanceBreakpoint && breakpoint.number != loadCatchpoint) {
            emit q->breakpointChanged(breakpoint);
        }
    } else if (record.name == "breakpoint-deleted") {
        const int number = record["id"].toInt();
        if (number == loadCatchpoint) {
            loadCatchpoint = 0;
            catchpointOn = false;
        } else if (number > 0 && number != advanceBreakpoint) {
            emit q->breakpointDeleted(number);
        }
    }
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

void GdbSession::Impl::finishAttach(const Status& status) {
    attachTimer.stop();
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
        return tr("waits for the attached process to stop");
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
