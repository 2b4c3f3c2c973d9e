// Whether the source files on show have changed on disk, and whether a rank's program knows of it.
#pragma once

#include "../replay/session.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QHash>
#include <QObject>
#include <QTimer>

namespace stopline::app {

/// Compares by time and size: when the system tells of a change (which it does not for files that another
/// machine writes), whenever a rank gets a new process, and at each stop. A source belongs to the program,
/// unless a frame has shown that it is one of a library.
class SourceWatch : public QObject {
    Q_OBJECT
  public:
    /// Does not own the session, which must outlive it.
    explicit SourceWatch(replay::Session* session, QObject* parent = nullptr);

    /// The file that is run; empty when it cannot be told.
    void setProgram(const QString& path);
    /// A frame of this rank is at a line of the file and at this address: it belongs to the module that is
    /// there. Only of processes of this machine; others' sources stay the program's.
    void learn(RankId rank, const QString& file, quint64 address);
    /// The program, or the library, that the file is known to be a source of.
    [[nodiscard]] QString moduleOf(RankId rank, const QString& file) const;
    void watch(const QString& file);
    void unwatch(const QString& file);
    void check();
    /// The file has changed after what this rank executes of it was built. False where that is not known.
    [[nodiscard]] bool newerThanProgramOf(RankId rank, const QString& file) const;
    /// That has been built again since the file has changed.
    [[nodiscard]] bool builtAgain(RankId rank, const QString& file) const;

  signals:
    void changed(const QString& file);
    void programsChanged(); ///< a rank has got a new process, or none

  private:
    struct Stamp {
        QDateTime time; ///< invalid: there is no such file
        qint64 size = -1;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };
    struct Module {
        QString path;
        QDateTime built; ///< of what is loaded; where that is not known, no earlier than it was
    };
    /// The program as it was when the process was first seen: it may have been built anew since.
    struct Process {
        qint64 pid = 0;
        QDateTime built;
        QDateTime seen;
        QHash<QString, Module> libraries; ///< by source file
    };
    [[nodiscard]] static Stamp stampOf(const QString& file);
    bool noteProcess(RankId rank); ///< true: it has another one
    void noteProcesses();

    replay::Session* m_session;
    QFileSystemWatcher m_watcher;
    QTimer m_settle; ///< a file that is being written changes more than once
    QString m_program;
    QHash<QString, Stamp> m_files;
    QHash<int, Process> m_processes; ///< by rank
};

} // namespace stopline::app
