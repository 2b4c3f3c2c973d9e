// What gdb says: its records as they come, stops, notices.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QLoggingCategory>

#include <utility>

Q_DECLARE_LOGGING_CATEGORY(gdbmiLog)

namespace stopline::mi {

namespace {

constexpr int kMostMalformed = 200; ///< lines in a row after which the other side is no gdb
constexpr int kUnparsedKept = 5;
constexpr std::size_t kMostSaid = 2000; ///< bytes

} // namespace

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
                sendSettings(std::exchange(initialiseHandler, {}));
            }
        }
        break;
    }
    case RecordType::LogStream:
        qCDebug(gdbmiLog) << "gdb:" << record.text.c_str();
        conditionComplaint.take(record.text);
        if (state == GdbState::Running && saidSinceResume.size() < kMostSaid) {
            saidSinceResume += record.text;
        }
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

void GdbSession::Impl::resumeTakenBack(const QString& error) {
    if (state != GdbState::Running) {
        return;
    }
    const QString said =
        QString::fromStdString(saidSinceResume).remove(QStringLiteral("Warning:")).simplified();
    if (const int number = std::exchange(advanceBreakpoint, 0); number != 0) {
        request("-break-delete " + QByteArray::number(number), {});
    }
    hiddenStop = false;
    const QPointer<GdbSession> alive(q);
    setState(GdbState::Stopped);
    if (alive) {
        emit q->resumeFailed(said.isEmpty() ? error : said);
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

} // namespace stopline::mi
