#include "gdb_process.h"

namespace stopline::mi {

namespace {

constexpr qsizetype kErrorBytes = 2000;

} // namespace

GdbProcess::GdbProcess(QObject* parent) : MiTransport(parent) {
    connect(&m_process, &QProcess::readyReadStandardOutput, this,
            [this] { emit received(m_process.readAllStandardOutput()); });
    connect(&m_process, &QProcess::readyReadStandardError, this, [this] {
        m_errors += m_process.readAllStandardError();
        m_errors = m_errors.right(kErrorBytes);
    });
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        if (const QByteArray rest = m_process.readAllStandardOutput(); !rest.isEmpty()) {
            emit received(rest);
        }
        m_errors += m_process.readAllStandardError();
        QString why = status == QProcess::CrashExit ? tr("gdb was killed or crashed (signal %1)").arg(code)
                                                    : tr("gdb has ended with code %1").arg(code);
        if (code != 0 && !m_errors.trimmed().isEmpty()) {
            why += QStringLiteral(": ") + QString::fromUtf8(m_errors.trimmed());
        }
        end(why);
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            end(tr("gdb cannot be started: %1").arg(m_process.errorString()));
        }
    });
}

GdbProcess::~GdbProcess() {
    m_process.disconnect(this);
    if (m_process.state() != QProcess::NotRunning) {
        m_process.kill();
        m_process.waitForFinished(10000);
    }
}

QStringList GdbProcess::arguments() {
    // The debug files of libc are hidden and scripts not loaded: the largest part of gdb's start time and
    // memory.
    return {QStringLiteral("-nx"),
            QStringLiteral("-q"),
            QStringLiteral("--interpreter=mi3"),
            QStringLiteral("-iex"),
            QStringLiteral("set debug-file-directory /nonexistent"),
            QStringLiteral("-iex"),
            QStringLiteral("set auto-load no"),
            QStringLiteral("-iex"),
            QStringLiteral("set auto-solib-add off")};
}

void GdbProcess::start(const QString& program, const QStringList& arguments) {
    m_process.start(program, arguments);
}

void GdbProcess::send(const QByteArray& bytes) {
    if (m_process.state() != QProcess::NotRunning) {
        m_process.write(bytes);
    }
}

void GdbProcess::end(const QString& why) {
    if (!m_closed) {
        m_closed = true;
        emit closed(why);
    }
}

} // namespace stopline::mi
