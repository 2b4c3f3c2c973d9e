#include "launch_plan.h"

#include "../gdbmi/launcher.h"
#include "../gdbmi/launcher_check.h"

#include <QDir>
#include <QMap>
#include <QProcessEnvironment>
#include <QSysInfo>

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace stopline::replay {

namespace {

/// Asking a launcher for its version starts a process; once a launcher is enough.
agent::LauncherKind kindOf(const QString& launcher) {
    static QMap<QString, agent::LauncherKind> known;
    const auto it = known.constFind(launcher);
    if (it != known.constEnd()) {
        return *it;
    }
    agent::LauncherKind kind = agent::kindFromName(launcher);
    if (kind == agent::LauncherKind::Unknown) {
        kind = agent::detectLauncher(launcher);
    }
    if (kind != agent::LauncherKind::Unknown) {
        known.insert(launcher, kind);
    }
    return kind;
}

} // namespace

LaunchPlan planLaunch(const LaunchSpec& spec, const Installation& installation) {
    LaunchPlan plan;
    const QString launcher = spec.command.isEmpty() ? spec.launcher : spec.command.first();
    const agent::LauncherKind kind = kindOf(launcher);
    agent::LaunchEnvironment surroundings = agent::currentEnvironment(launcher, kind);
    surroundings.gdb = installation.gdb;
    surroundings.agent = installation.agent;
    surroundings.environment = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : spec.environment) {
        surroundings.environment.insert(name, value);
    }
    const Result<agent::LauncherCommand> command =
        spec.command.isEmpty()
            ? agent::buildCommand(launcher, kind, spec.ranks, spec.launcherArguments, QStringList(spec.program) + spec.arguments)
            : agent::parseCommand(spec.command, kind);
    if (command) {
        for (const agent::AppContext& context : command.value().contexts) {
            surroundings.launcherOptions += context.options;
        }
    }
    for (const agent::Obstacle& obstacle : agent::checkEnvironment(surroundings)) {
        if (obstacle.fatal) {
            plan.error = obstacle.text;
            plan.remedy = obstacle.remedy;
            return plan;
        }
    }
    if (!command) {
        plan.error = command.error().text;
        return plan;
    }
    plan.otherHosts = agent::namesHosts(command.value());
    const QStringList words = agent::withAgent(command.value(), installation.agent, plan.otherHosts);
    plan.program = words.first();
    plan.arguments = words.mid(1);
    return plan;
}

void prepareLauncher(QProcess& launcher, const LaunchSpec& spec, const agent::AgentServer& server) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : spec.environment) {
        environment.insert(name, value);
    }
    environment.insert(QString::fromLatin1(agent::kConnectVariable), server.connectAddress());
    environment.insert(QString::fromLatin1(agent::kTokenVariable), server.token());
    launcher.setProcessEnvironment(environment);
    if (!spec.workingDirectory.isEmpty()) {
        launcher.setWorkingDirectory(spec.workingDirectory);
    }
    if (!spec.inputFile.isEmpty()) {
        launcher.setStandardInputFile(spec.inputFile);
    }
    launcher.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
}

/// Where Open MPI has the session directories of all of this user's jobs.
static QString launchersParent() {
    return QStringLiteral("%1/ompi.%2.%3").arg(QDir::tempPath(), QSysInfo::machineHostName()).arg(::geteuid());
}

void removeLauncherDirectory(qint64 launcherPid) {
    QDir session(QStringLiteral("%1/pid.%2").arg(launchersParent()).arg(launcherPid));
    if (session.exists()) {
        session.removeRecursively();
    }
}

void removeLaunchersParent() {
    QDir().rmdir(launchersParent()); // only if no other job of this user is left
}

std::pair<QString, QString> explainLauncherFailure(const QString& errors, int exitCode) {
    if (const auto obstacle = agent::explainLauncherOutput(errors)) {
        return {obstacle->text, obstacle->remedy};
    }
    const QString said = errors.trimmed();
    return {said.isEmpty() ? QStringLiteral("The launcher ended with code %1 before all ranks had started.").arg(exitCode)
                           : QStringLiteral("The launcher ended with code %1 before all ranks had started. It said: %2").arg(exitCode).arg(said),
            QStringLiteral("The same command without Stopline should show the same.")};
}

} // namespace stopline::replay
