// What stands in the way of a job, said before or as soon as it fails.
#pragma once

#include "launcher.h"

#include <QProcessEnvironment>
#include <QString>
#include <QVector>

#include <optional>

namespace stopline::agent {

/// Something to tell the user: what is wrong and what to do about it.
struct Obstacle {
    QString
        code; ///< stable word: launcher-missing, gdb-missing, agent-missing, root, slots, ptrace, launcher
    QString text;
    QString remedy;
    bool fatal = true; ///< false: worth saying, but the job may run
};

struct LaunchEnvironment {
    LauncherKind kind = LauncherKind::Unknown;
    QString launcher;
    QString gdb = QStringLiteral("gdb"); ///< empty: none is needed
    QString agent; ///< path of stopline-agent; empty: not checked
    QStringList launcherOptions;
    QProcessEnvironment environment; ///< of the job
    bool root = false;               ///< effective user is root
    int yamaScope = -1;              ///< kernel.yama.ptrace_scope; -1 when there is no Yama
};

/// Fills `root` and `yamaScope` from this system.
[[nodiscard]] LaunchEnvironment currentEnvironment(const QString& launcher, LauncherKind kind);
/// Everything that can be known before the start, most important first.
[[nodiscard]] QVector<Obstacle> checkEnvironment(const LaunchEnvironment& launch);
/// Recognises a launcher's own error messages (more ranks than slots, root, no such program) in its output.
[[nodiscard]] std::optional<Obstacle> explainLauncherOutput(const QString& output);
/// What gdb's refusal to attach means; nothing when the text is about something else.
[[nodiscard]] std::optional<Obstacle> explainAttachFailure(const QString& gdbError, int yamaScope);

} // namespace stopline::agent
