// From what the user asked for to the launcher's command line with the agent before every program.
#pragma once

#include "job.h"

#include <QString>
#include <QStringList>

#include <utility>

namespace stopline::replay {

struct LaunchPlan {
    QString program;
    QStringList arguments;
    QString error; ///< empty: can be started
    QString remedy;
    bool otherHosts = false; ///< the command line names hosts: agents may come from elsewhere
};

[[nodiscard]] LaunchPlan planLaunch(const LaunchSpec& spec, const Installation& installation);

/// Sets a launcher's environment, directory and input as asked for, with what its agents need to find `server`. It is told
/// to end when this process is killed, so that it removes its own files.
void prepareLauncher(QProcess& launcher, const LaunchSpec& spec, const agent::AgentServer& server);

/// What a launcher that ended before all ranks had started has to say, and what to do about it.
[[nodiscard]] std::pair<QString, QString> explainLauncherFailure(const QString& errors, int exitCode);

/// Open MPI removes its session directory itself, unless it is ended at a bad moment. Once the launcher is dead nobody
/// needs it.
void removeLauncherDirectory(qint64 launcherPid);
/// Removes the directory that all those are in, if it is empty. Only for use when this process starts no further job: a
/// launcher that is just starting would miss it.
void removeLaunchersParent();

} // namespace stopline::replay
