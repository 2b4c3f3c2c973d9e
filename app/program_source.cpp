#include "program_source.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QTimer>

namespace stopline::app {

namespace {
constexpr int kPatienceMs = 20'000; ///< a large program's symbols take gdb some seconds
}

ProgramSource::~ProgramSource() {
    if (m_gdb != nullptr) {
        m_gdb->disconnect(this);
        m_gdb->kill();
        m_gdb->waitForFinished(1000);
    }
}

void ProgramSource::find(const QString& program, const QString& directory) {
    if (m_gdb != nullptr) {
        m_gdb->disconnect(this);
        m_gdb->kill();
        m_gdb->deleteLater();
    }
    const QString base = directory.isEmpty() ? QDir::currentPath() : directory;
    const QFileInfo file(QDir(base).filePath(program));
    if (program.isEmpty() || !file.isFile()) {
        m_gdb = nullptr;
        return;
    }
    m_gdb = new QProcess(this);
    QTimer::singleShot(kPatienceMs, m_gdb, &QProcess::kill);
    connect(m_gdb, &QProcess::finished, this, [this] {
        const QString text = QString::fromUtf8(m_gdb->readAllStandardOutput());
        m_gdb->deleteLater();
        m_gdb = nullptr;
        static const QRegularExpression path(QStringLiteral("^Located in (.*)$"),
                                             QRegularExpression::MultilineOption);
        static const QRegularExpression number(QStringLiteral("^Line (\\d+) of "),
                                               QRegularExpression::MultilineOption);
        const auto located = path.match(text);
        if (located.hasMatch()) {
            emit found(located.captured(1), number.match(text).captured(1).toInt());
        }
    });
    // "list" without argument shows the neighbourhood of the language's own main, also in Fortran.
    m_gdb->start(QStringLiteral("gdb"),
                 {QStringLiteral("-nx"), QStringLiteral("-batch"), QStringLiteral("-iex"),
                  QStringLiteral("set debuginfod enabled off"), QStringLiteral("-ex"), QStringLiteral("list"),
                  QStringLiteral("-ex"), QStringLiteral("info source"), QStringLiteral("-ex"),
                  QStringLiteral("info line main"), file.absoluteFilePath()});
}

QString programOfCommand(const QStringList& command, const QString& directory) {
    const QDir base(directory.isEmpty() ? QDir::currentPath() : directory);
    for (qsizetype i = 1; i < command.size(); ++i) {
        const QFileInfo file(base.filePath(command.at(i)));
        if (file.isFile() && file.isExecutable()) {
            return command.at(i);
        }
    }
    return {};
}

} // namespace stopline::app
