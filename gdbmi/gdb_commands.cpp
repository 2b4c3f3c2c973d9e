#include "gdb_commands.h"

#include "gdb_values.h"

#include <QLoggingCategory>
#include <QPointer>

#include <algorithm>
#include <utility>

Q_DECLARE_LOGGING_CATEGORY(gdbmiLog)

namespace stopline::mi {

namespace {

constexpr std::size_t kMostLate = 1000; // tokens remembered of a gdb that never answers

/// The command's name only: arguments may be long and may hold what the user typed.
QString nameOf(const Command& command) {
    const qsizetype space = command.text.indexOf(' ');
    if (command.text.startsWith("-interpreter-exec console ")) {
        return QString::fromUtf8(command.text.mid(26, 60));
    }
    return QString::fromUtf8(command.text.left(space < 0 ? command.text.size() : space));
}

QString seconds(qint64 ms) {
    return QString::number(static_cast<double>(ms) / 1000.0, 'f', 1) + QStringLiteral(" s");
}

} // namespace

CommandQueue::CommandQueue(QObject* parent) : QObject(parent) {
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &CommandQueue::checkTimes);
}

void CommandQueue::setAdmission(std::function<std::optional<Error>(const Command&)> admission) {
    m_admission = std::move(admission);
}

void CommandQueue::post(Command command) {
    if (m_closed) {
        failLater(std::move(command), *m_closed);
        return;
    }
    m_waiting.push_back(std::move(command));
    schedulePump();
}

void CommandQueue::postFirst(Command command) {
    if (m_closed) {
        failLater(std::move(command), *m_closed);
        return;
    }
    m_waiting.push_front(std::move(command));
    schedulePump();
}

void CommandQueue::failLater(Command command, const Error& error) {
    if (!command.handler) {
        return;
    }
    QMetaObject::invokeMethod(
        this, [handler = std::move(command.handler), error] { handler(error); }, Qt::QueuedConnection);
}

void CommandQueue::dropRefreshes() {
    std::deque<Command> kept;
    for (Command& command : m_waiting) {
        if (command.kind == Command::Kind::Refresh) {
            failLater(std::move(command), {ErrorCode::Cancelled, tr("The program was resumed.")});
        } else {
            kept.push_back(std::move(command));
        }
    }
    m_waiting.swap(kept);
}

void CommandQueue::hold(bool held) {
    m_held = held;
    schedulePump();
}

// Always from the event loop: a transport may answer from within send(), and no handler may run inside a
// request.
void CommandQueue::schedulePump() {
    if (!m_pumpScheduled) {
        m_pumpScheduled = true;
        QMetaObject::invokeMethod(this, &CommandQueue::pump, Qt::QueuedConnection);
    }
}

bool CommandQueue::mayTransmit(const Command& command) const {
    if (command.kind == Command::Kind::Urgent) {
        return true;
    }
    const bool free = std::all_of(m_sent.begin(), m_sent.end(),
                                  [](const Sent& s) { return s.command.kind == Command::Kind::Urgent; });
    return !m_held && (m_silent || free);
}

void CommandQueue::pump() {
    m_pumpScheduled = false;
    const QPointer<CommandQueue> alive(this); // a transport may answer at once, and a handler end the session
    while (alive && !m_waiting.empty() && !m_closed) {
        auto next = std::find_if(m_waiting.begin(), m_waiting.end(),
                                 [](const Command& c) { return c.kind == Command::Kind::Urgent; });
        if (next == m_waiting.end()) {
            next = m_waiting.begin();
        }
        if (!mayTransmit(*next)) {
            break;
        }
        Command command = std::move(*next);
        m_waiting.erase(next);
        if (m_admission) {
            if (const auto refused = m_admission(command)) {
                failLater(std::move(command), *refused);
                continue;
            }
        }
        transmit(std::move(command));
    }
}

void CommandQueue::transmit(Command command) {
    Sent sent;
    sent.token = m_nextToken++;
    const QByteArray line = QByteArray::number(static_cast<qulonglong>(sent.token)) + command.text + '\n';
    sent.command = std::move(command);
    sent.since.start();
    m_sent.push_back(std::move(sent));
    armTimer();
    emit send(line);
}

void CommandQueue::answer(Record record) {
    m_silent = false;
    if (!record.token) {
        qCWarning(gdbmiLog) << "result without token dropped:" << record.name.c_str();
        return;
    }
    const std::uint64_t token = *record.token;
    const auto late =
        std::find_if(m_late.begin(), m_late.end(), [&](const Late& l) { return l.token == token; });
    if (late != m_late.end()) {
        qCInfo(gdbmiLog) << "late answer to request" << token << "dropped";
        const auto correct = std::move(late->correct);
        m_late.erase(late);
        if (correct) {
            correct(record);
        }
        schedulePump();
        return;
    }
    const auto found =
        std::find_if(m_sent.begin(), m_sent.end(), [&](const Sent& s) { return s.token == token; });
    if (found == m_sent.end() && token == m_resumed && record.resultClass == ResultClass::Error) {
        emit resumeTakenBack(toText(record["msg"].text()));
        return;
    }
    if (found == m_sent.end()) {
        qCWarning(gdbmiLog) << "answer to unknown request" << token << "dropped";
        return;
    }
    Sent sent = std::move(*found);
    m_sent.erase(found);
    if (record.resultClass == ResultClass::Running) {
        m_resumed = token;
    }
    armTimer();
    schedulePump();
    if (!sent.command.handler) {
        return;
    }
    if (record.resultClass == ResultClass::Error) {
        QString text = toText(record["msg"].text());
        if (text.isEmpty()) {
            text = tr("gdb refuses %1 without saying why.").arg(nameOf(sent.command));
        }
        sent.command.handler(Error{ErrorCode::GdbError, text});
        return;
    }
    sent.command.handler(Answer{std::move(record), toText(sent.console)});
}

bool CommandQueue::capture(const std::string& text) {
    for (Sent& sent : m_sent) {
        if (sent.command.captureConsole) {
            sent.console += text;
            return true;
        }
    }
    return false;
}

void CommandQueue::close(const Error& error) {
    if (m_closed) {
        return;
    }
    m_closed = error;
    m_timer.stop();
    for (Sent& sent : m_sent) {
        failLater(std::move(sent.command), error);
    }
    for (Command& command : m_waiting) {
        failLater(std::move(command), error);
    }
    m_sent.clear();
    m_waiting.clear();
    m_late.clear();
}

QString CommandQueue::pending() const {
    if (m_sent.empty()) {
        return {};
    }
    const Sent& oldest = m_sent.front();
    return tr("waits for %1 since %2").arg(nameOf(oldest.command), seconds(oldest.since.elapsed()));
}

bool CommandQueue::callsFunctions() const {
    return std::any_of(m_sent.begin(), m_sent.end(),
                       [](const Sent& s) { return s.command.mayCallFunctions; });
}

std::chrono::milliseconds CommandQueue::deadlineOf(const Command& command) const {
    return command.deadline.value_or(m_deadline);
}

void CommandQueue::armTimer() {
    qint64 next = -1;
    const auto consider = [&next](qint64 left) {
        left = std::max<qint64>(left, 0);
        next = next < 0 ? left : std::min(next, left);
    };
    for (const Sent& sent : m_sent) {
        const qint64 elapsed = sent.since.elapsed();
        if (const auto deadline = deadlineOf(sent.command); deadline.count() > 0) {
            consider(deadline.count() - elapsed);
        }
        if (!sent.announced && m_watchdog.count() > 0) {
            consider(m_watchdog.count() - elapsed);
        }
    }
    if (next < 0) {
        m_timer.stop();
    } else {
        m_timer.start(static_cast<int>(std::min<qint64>(next, 3600000)));
    }
}

void CommandQueue::checkTimes() {
    const QPointer<CommandQueue> alive(this);
    for (std::size_t i = 0; i < m_sent.size(); ++i) {
        Sent& sent = m_sent[i];
        if (!sent.announced && m_watchdog.count() > 0 && sent.since.elapsed() >= m_watchdog.count()) {
            sent.announced = true;
            emit notResponding(tr("gdb %1").arg(pending()));
            if (!alive || m_closed) {
                return;
            }
        }
    }
    for (std::size_t i = 0; i < m_sent.size();) {
        const auto deadline = deadlineOf(m_sent[i].command);
        if (deadline.count() > 0 && m_sent[i].since.elapsed() >= deadline.count()) {
            timeOut(i);
        } else {
            ++i;
        }
    }
    armTimer();
    schedulePump();
}

void CommandQueue::timeOut(std::size_t index) {
    Sent sent = std::move(m_sent[index]);
    m_sent.erase(m_sent.begin() + static_cast<std::ptrdiff_t>(index));
    const Error error{ErrorCode::TimedOut,
                      tr("gdb has not answered %1 for %2. It may be reading large symbol files, or be stuck.")
                          .arg(nameOf(sent.command), seconds(sent.since.elapsed()))};
    qCWarning(gdbmiLog).noquote() << error.text;
    m_late.push_back({sent.token, std::move(sent.command.late)});
    if (m_late.size() > kMostLate) {
        m_late.erase(m_late.begin());
    }
    failLater(std::move(sent.command), error);
    if (!m_silent) {
        m_silent = true;
        std::deque<Command> waiting;
        waiting.swap(m_waiting);
        for (Command& command : waiting) {
            failLater(std::move(command), error);
        }
    }
}

} // namespace stopline::mi
