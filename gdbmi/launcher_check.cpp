#include "launcher_check.h"

#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include <unistd.h>

namespace stopline::agent {
namespace {

bool isOpenMpi(LauncherKind kind) {
    return kind == LauncherKind::OpenMpi4 || kind == LauncherKind::OpenMpi5;
}

/// The program as the job's own PATH finds it.
bool exists(const QString& program, const QProcessEnvironment& environment) {
    if (program.contains(u'/')) {
        const QFileInfo info(program);
        return info.isFile() && info.isExecutable();
    }
    const QStringList paths = environment.value(QStringLiteral("PATH")).split(u':', Qt::SkipEmptyParts);
    return !program.isEmpty() && !paths.isEmpty() &&
           !QStandardPaths::findExecutable(program, paths).isEmpty();
}

Obstacle rootObstacle() {
    return {QStringLiteral("root"), QStringLiteral("Open MPI refuses to start a job for the user root."),
            QStringLiteral(
                "Run as another user; or, in a container where nothing can be damaged, set "
                "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or add the launcher option "
                "--allow-run-as-root. Stopline does not set them for you."),
            true};
}

Obstacle ptraceObstacle(int scope) {
    Obstacle obstacle{QStringLiteral("ptrace"), {}, {}, true};
    if (scope >= 3) {
        obstacle.text =
            QStringLiteral("This kernel lets nobody debug a process (kernel.yama.ptrace_scope is 3).");
        obstacle.remedy = QStringLiteral("Only a restart of the machine with another value changes that.");
    } else if (scope == 2) {
        obstacle.text =
            QStringLiteral("Only root may attach a debugger here (kernel.yama.ptrace_scope is 2).");
        obstacle.remedy = QStringLiteral("Have the administrator set it: sysctl kernel.yama.ptrace_scope=1");
    } else {
        obstacle.text = QStringLiteral("gdb was not allowed to attach to the rank.");
        obstacle.remedy =
            QStringLiteral("In a container: start it with --cap-add=SYS_PTRACE (and, for old runtimes, "
                           "--security-opt seccomp=unconfined). Elsewhere: the rank must belong to you "
                           "and must not be set-user-ID, and no other debugger may be attached.");
    }
    return obstacle;
}

} // namespace

LaunchEnvironment currentEnvironment(const QString& launcher, LauncherKind kind) {
    LaunchEnvironment launch;
    launch.kind = kind;
    launch.launcher = launcher;
    launch.environment = QProcessEnvironment::systemEnvironment();
    launch.root = ::geteuid() == 0;
    QFile scope(QStringLiteral("/proc/sys/kernel/yama/ptrace_scope"));
    if (scope.open(QIODevice::ReadOnly)) {
        bool valid = false;
        const int value = scope.readAll().trimmed().toInt(&valid);
        launch.yamaScope = valid ? value : -1;
    }
    return launch;
}

QVector<Obstacle> checkEnvironment(const LaunchEnvironment& launch) {
    QVector<Obstacle> obstacles;
    if (!exists(launch.launcher, launch.environment)) {
        obstacles << Obstacle{
            QStringLiteral("launcher-missing"),
            QStringLiteral("The MPI launcher \"%1\" was not found.").arg(launch.launcher),
            QStringLiteral("Install an MPI (Debian: apt install openmpi-bin), or name the launcher."), true};
    }
    if (!launch.gdb.isEmpty() && !exists(launch.gdb, launch.environment)) {
        obstacles << Obstacle{QStringLiteral("gdb-missing"),
                              QStringLiteral("The debugger \"%1\" was not found.").arg(launch.gdb),
                              QStringLiteral("Install it (Debian: apt install gdb), or name another one."),
                              true};
    }
    if (!launch.agent.isEmpty() && !exists(launch.agent, launch.environment)) {
        obstacles << Obstacle{
            QStringLiteral("agent-missing"),
            QStringLiteral("Stopline's agent \"%1\" is missing.").arg(launch.agent),
            QStringLiteral("The installation is incomplete: build or install Stopline again."), true};
    }
    const auto set = [&launch](const char* name) {
        return launch.environment.value(QLatin1StringView(name)) == QLatin1StringView("1");
    };
    const bool allowed = (set("OMPI_ALLOW_RUN_AS_ROOT") && set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")) ||
                         (set("PRTE_ALLOW_RUN_AS_ROOT") && set("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")) ||
                         launch.launcherOptions.contains(QStringLiteral("--allow-run-as-root")) ||
                         launch.launcherOptions.contains(QStringLiteral("-allow-run-as-root"));
    if (launch.root && isOpenMpi(launch.kind) && !allowed) {
        obstacles << rootObstacle();
    }
    if (launch.yamaScope >= 3 || (launch.yamaScope == 2 && !launch.root)) {
        obstacles << ptraceObstacle(launch.yamaScope);
    }
    return obstacles;
}

std::optional<Obstacle> explainLauncherOutput(const QString& output) {
    const auto has = [&output](const char* text) { return output.contains(QLatin1StringView(text)); };
    if (has("not enough slots available") ||
        has("All nodes which are allocated for this job are already filled")) {
        return Obstacle{
            QStringLiteral("slots"), QStringLiteral("The launcher has fewer slots than the job has ranks."),
            QStringLiteral("Ask for fewer ranks, or add the launcher option --oversubscribe (Open MPI 5: "
                           "--map-by :OVERSUBSCRIBE). Stopline does not add it for you."),
            true};
    }
    if (has("has detected an attempt to run as root") || has("running as root is *strongly* discouraged") ||
        has("Running as root is *strongly* discouraged")) {
        return rootObstacle();
    }
    if (has("unable to find the specified executable") || has("could not access or execute an executable") ||
        has("was unable to launch the specified application") || has("execvp error on file")) {
        return Obstacle{
            QStringLiteral("launcher"),
            QStringLiteral("The launcher could not start Stopline's agent on one of the hosts."),
            QStringLiteral("Stopline must be installed under the same path on every host of the job, and "
                           "the launcher's working directory must exist there."),
            true};
    }
    if (has("Error: unknown option") || has("unrecognized argument") || has("Unrecognized option") ||
        has("unrecognized option")) {
        return Obstacle{QStringLiteral("launcher"),
                        QStringLiteral("The launcher does not know one of its options."),
                        QStringLiteral("See its own message above."), true};
    }
    return std::nullopt;
}

std::optional<Obstacle> explainAttachFailure(const QString& gdbError, int yamaScope) {
    if (!gdbError.contains(QLatin1StringView("Operation not permitted")) &&
        !gdbError.contains(QLatin1StringView("Could not attach to process"))) {
        return std::nullopt;
    }
    Obstacle obstacle = ptraceObstacle(yamaScope);
    obstacle.text += QStringLiteral(" gdb says: ") + gdbError;
    return obstacle;
}

} // namespace stopline::agent
