#include "source_watch.h"

#include <QFileInfo>

namespace stopline::app {

using namespace replay;

namespace {
constexpr int kSettleMs = 150;
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
        m_processes.insert(rank.value(), {pid, m_program.isEmpty() ? QDateTime() : stampOf(m_program).time});
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

bool SourceWatch::newerThanProgramOf(RankId rank, const QString& file) const {
    const auto process = m_processes.constFind(rank.value());
    const auto stamp = m_files.constFind(file);
    // Whoever asks may have heard of a new process before this has.
    return process != m_processes.cend() && process->pid == m_session->rank(rank).pid &&
           process->built.isValid() && stamp != m_files.cend() && stamp->time > process->built;
}

bool SourceWatch::builtAgain(const QString& file) const {
    const auto stamp = m_files.constFind(file);
    const QDateTime built = stampOf(m_program).time;
    return stamp != m_files.cend() && built.isValid() && built >= stamp->time;
}

} // namespace stopline::app
