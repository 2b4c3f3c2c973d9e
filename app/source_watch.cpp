#include "source_watch.h"

#include <QFile>
#include <QFileInfo>

namespace stopline::app {

using namespace replay;

namespace {
constexpr int kSettleMs = 150;

/// The file that a process of this machine has mapped at an address; empty where that cannot be told.
QString fileAt(qint64 pid, quint64 address) {
    QFile maps(QStringLiteral("/proc/%1/maps").arg(pid));
    if (address == 0 || !maps.open(QIODevice::ReadOnly)) {
        return {};
    }
    for (const QByteArray& line : maps.readAll().split('\n')) {
        const QByteArray range = line.left(line.indexOf(' '));
        const qsizetype dash = range.indexOf('-');
        const quint64 from = range.left(dash).toULongLong(nullptr, 16);
        const quint64 to = range.mid(dash + 1).toULongLong(nullptr, 16);
        const qsizetype path = line.indexOf('/');
        if (dash > 0 && from <= address && address < to && path > 0) {
            return QString::fromLocal8Bit(line.mid(path));
        }
    }
    return {};
}

} // namespace

SourceWatch::SourceWatch(Session* session, QObject* parent) : QObject(parent), m_session(session) {
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleMs);
    connect(&m_settle, &QTimer::timeout, this, &SourceWatch::check);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_settle, qOverload<>(&QTimer::start));
    connect(session, &Session::rankChanged, this, [this](RankId rank) {
        if (noteProcess(rank)) {
            check();
            emit programsChanged();
        }
    });
    connect(session, &Session::ranksChanged, this, &SourceWatch::noteProcesses);
    connect(session, &Session::stopped, this, &SourceWatch::check);
}

SourceWatch::Stamp SourceWatch::stampOf(const QString& file) {
    const QFileInfo info(file);
    return info.isFile() ? Stamp{info.lastModified(), info.size()} : Stamp{};
}

void SourceWatch::setProgram(const QString& path) {
    m_program = path;
}

void SourceWatch::watch(const QString& file) {
    m_files.insert(file, stampOf(file));
    m_watcher.addPath(file);
}

void SourceWatch::unwatch(const QString& file) {
    m_files.remove(file);
    m_watcher.removePath(file);
}

void SourceWatch::check() {
    QStringList fresh;
    for (auto it = m_files.begin(); it != m_files.end(); ++it) {
        const Stamp now = stampOf(it.key());
        if (!now.time.isValid()) {
            continue; // about to be replaced, or gone: what has been read stays on show
        }
        if (now != it.value()) {
            it.value() = now;
            fresh << it.key();
        }
        if (!m_watcher.files().contains(it.key())) {
            m_watcher.addPath(it.key()); // an editor that saves by renaming leaves another file there
        }
    }
    for (const QString& file : std::as_const(fresh)) {
        emit changed(file);
    }
}

bool SourceWatch::noteProcess(RankId rank) {
    const qint64 pid = m_session->rank(rank).pid;
    const auto known = m_processes.constFind(rank.value());
    if (pid == (known == m_processes.cend() ? 0 : known->pid)) {
        return false;
    }
    if (pid == 0) {
        m_processes.remove(rank.value());
    } else {
        m_processes.insert(rank.value(), {pid,
                                          m_program.isEmpty() ? QDateTime() : stampOf(m_program).time,
                                          QDateTime::currentDateTime(),
                                          {}});
    }
    return true;
}

void SourceWatch::noteProcesses() {
    const int count = m_session->rankCount();
    bool others = m_processes.removeIf([count](const auto& one) { return one.key() >= count; }) > 0;
    for (int rank = 0; rank < count; ++rank) {
        others = noteProcess(RankId{rank}) || others;
    }
    if (others) {
        check();
        emit programsChanged();
    }
}

void SourceWatch::learn(RankId rank, const QString& file, quint64 address) {
    const auto process = m_processes.find(rank.value());
    if (process == m_processes.end() || process->pid != m_session->rank(rank).pid ||
        process->libraries.contains(file)) {
        return;
    }
    QString module = fileAt(process->pid, address);
    const QString executed = QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(process->pid));
    if (module.isEmpty() || module == executed) {
        return;
    }
    // One that has been replaced or written over since is not the one that is loaded, which is older than the
    // process.
    const QLatin1StringView replaced(" (deleted)");
    const QDateTime now = module.endsWith(replaced) ? QDateTime() : stampOf(module).time;
    module.remove(replaced);
    process->libraries.insert(file, {module, now.isValid() && now < process->seen ? now : process->seen});
}

QString SourceWatch::moduleOf(RankId rank, const QString& file) const {
    const auto process = m_processes.constFind(rank.value());
    const QString library = process == m_processes.cend() ? QString() : process->libraries.value(file).path;
    return library.isEmpty() ? m_program : library;
}

bool SourceWatch::newerThanProgramOf(RankId rank, const QString& file) const {
    const auto process = m_processes.constFind(rank.value());
    const auto stamp = m_files.constFind(file);
    // Whoever asks may have heard of a new process before this has.
    if (process == m_processes.cend() || process->pid != m_session->rank(rank).pid ||
        stamp == m_files.cend()) {
        return false;
    }
    const auto library = process->libraries.constFind(file);
    const QDateTime built = library == process->libraries.cend() ? process->built : library->built;
    return built.isValid() && stamp->time > built;
}

bool SourceWatch::builtAgain(RankId rank, const QString& file) const {
    const auto stamp = m_files.constFind(file);
    const QDateTime built = stampOf(moduleOf(rank, file)).time;
    return stamp != m_files.cend() && built.isValid() && built >= stamp->time;
}

} // namespace stopline::app
