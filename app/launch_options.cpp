#include "launch_options.h"

#include "command_line.h"

#include <QFileInfo>
#include <QProcess>

namespace stopline::app {

QString LaunchOptions::read(const QCommandLineParser& parser, replay::LaunchSpec& launch) const {
    const QStringList words = parser.positionalArguments();
    for (const QString& pair : parser.values(environment)) {
        const qsizetype equals = pair.indexOf(u'=');
        if (equals <= 0) {
            return QStringLiteral("--env needs NAME=VALUE, not `%1`.").arg(pair);
        }
        launch.environment.append({pair.left(equals), pair.mid(equals + 1)});
    }
    launch.workingDirectory = parser.value(directory);
    if (!launch.workingDirectory.isEmpty() && !QFileInfo(launch.workingDirectory).isDir()) {
        return QStringLiteral("The working directory %1 does not exist.").arg(launch.workingDirectory);
    }
    launch.inputFile = parser.value(input);
    if (!launch.inputFile.isEmpty() && !QFileInfo(launch.inputFile).isReadable()) {
        return QStringLiteral("The input file %1 cannot be read.").arg(launch.inputFile);
    }
    if (!words.isEmpty() && isLauncherName(words.first())) {
        if (parser.isSet(ranks) || parser.isSet(launcher) || parser.isSet(launcherArgs)) {
            return QStringLiteral(
                       "Give the number of ranks and other options to %1 itself, after its name, or leave "
                       "%1 out.")
                .arg(words.first());
        }
        launch.command = words;
        return {};
    }
    if (parser.isSet(ranks)) {
        bool ok = false;
        launch.ranks = parser.value(ranks).toInt(&ok);
        if (!ok || launch.ranks < 1) {
            return QStringLiteral("-n needs a number of ranks of 1 or more, not `%1`.")
                .arg(parser.value(ranks));
        }
    }
    if (parser.isSet(launcher)) {
        launch.launcher = parser.value(launcher);
    }
    launch.launcherArguments = QProcess::splitCommand(parser.value(launcherArgs));
    if (!words.isEmpty()) {
        launch.program = words.first();
        launch.arguments = words.mid(1);
    }
    return {};
}

} // namespace stopline::app
