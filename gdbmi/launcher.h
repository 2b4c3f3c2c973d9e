// Command lines of MPI launchers: where the program begins, and how the agent gets in front of it.
#pragma once

#include "result.h"

#include <QString>
#include <QStringList>
#include <QVector>

namespace stopline::agent {

enum class LauncherKind {
    Unknown,
    OpenMpi4, ///< orterun
    OpenMpi5, ///< prterun behind mpirun
    Mpich,    ///< hydra; Intel MPI and MVAPICH use the same
    Srun,     ///< Slurm
};

/// One part of the command line: options, then a program with its arguments. Parts are separated by ":".
struct AppContext {
    QStringList options;
    QStringList program; ///< first the program, then its arguments
    int ranks = 0;       ///< as -n says; 0 when it does not say
};

struct LauncherCommand {
    QString launcher; ///< as the user wrote it: a name or a path
    LauncherKind kind = LauncherKind::Unknown;
    QVector<AppContext> contexts; ///< at least one
    /// Sum of the contexts' ranks, 0 when one of them does not say.
    [[nodiscard]] int ranks() const;
};

/// Words of a command line as a POSIX shell would split it: quotes and backslashes, nothing else (no
/// variables, no wildcards). Error: a quote that is not closed.
[[nodiscard]] Result<QStringList> splitWords(const QString& text);
/// The inverse: words that a shell reads back the same.
[[nodiscard]] QString joinWords(const QStringList& words);

/// True when the word names a launcher (mpirun, mpiexec, mpiexec.hydra, orterun, prterun, srun, with or
/// without path).
[[nodiscard]] bool isLauncherName(const QString& word);
/// What `mpirun --version` printed tells.
[[nodiscard]] LauncherKind kindFromVersion(const QString& versionText);
/// By its name alone where that says enough (srun, mpiexec.hydra, mpirun.openmpi), else Unknown.
[[nodiscard]] LauncherKind kindFromName(const QString& launcher);
/// Asks the launcher itself (blocks, at most 5 s). Unknown when it cannot be run or says nothing known.
[[nodiscard]] LauncherKind detectLauncher(const QString& launcher);

/// Number of values the option takes: 0 when it is a flag, -1 when it is unknown. `option` as it stands on
/// the command line; one that carries its value ("--map-by=core", "-n4") takes none.
[[nodiscard]] int optionValues(LauncherKind kind, const QString& option);

/// Splits `mpirun -n 4 --bind-to none ./app args : -n 2 ./b`. Error: no program, an option without its value,
/// or an option nobody here knows before which the program's begin cannot be told.
[[nodiscard]] Result<LauncherCommand> parseCommand(const QStringList& words, LauncherKind kind);
/// The form `-n RANKS [--launcher-args "…"] PROGRAM ARGUMENTS`.
[[nodiscard]] Result<LauncherCommand> buildCommand(const QString& launcher, LauncherKind kind, int ranks,
                                                   const QStringList& launcherArguments,
                                                   const QStringList& program);

/// The whole command line again, with the agent before every program. Where the launcher would not hand its
/// environment on (`exportEnvironment`: ranks on other hosts), options that make it do so are added.
[[nodiscard]] QStringList withAgent(const LauncherCommand& command, const QString& agent,
                                    bool exportEnvironment = false);
/// The command line as the user would give it without Stopline.
[[nodiscard]] QStringList withoutAgent(const LauncherCommand& command);
/// True when an option names hosts, so that ranks may run on others than this one.
[[nodiscard]] bool namesHosts(const LauncherCommand& command);

} // namespace stopline::agent
