#include "launch_options.h"

#include "../tracelib/mapping.h"
#include "command_line.h"

#include <QFileInfo>
#include <QProcess>

#include <optional>

namespace stopline::app {

namespace {

/// "256K", "64M", "2G" or plain bytes.
std::optional<quint64> bytesOf(const QString& text) {
    static const QString kUnits = QStringLiteral("KMG");
    const qsizetype unit = text.isEmpty() ? -1 : kUnits.indexOf(text.back().toUpper());
    bool ok = false;
    const quint64 count = (unit < 0 ? text : text.chopped(1)).toULongLong(&ok);
    const int shift = unit < 0 ? 0 : 10 * (int(unit) + 1);
    if (!ok || count > (~quint64(0) >> shift)) {
        return std::nullopt;
    }
    return count << shift;
}

} // namespace

QString LaunchOptions::read(const QCommandLineParser& parser, replay::LaunchSpec& launch) const {
    const QStringList words = parser.positionalArguments();
    for (const QString& pair : parser.values(environment)) {
        const qsizetype equals = pair.indexOf(u'=');
        if (equals <= 0) {
            return QStringLiteral("--env needs NAME=VALUE, not `%1`.").arg(pair);
        }
        launch.environment.append({pair.left(equals), pair.mid(equals + 1)});
    }
    if (parser.isSet(keep)) {
        const auto bytes = bytesOf(parser.value(keep));
        if (!bytes || *bytes < trace::kLeastBlockBytes || *bytes > trace::kMostBlockBytes) {
            return QStringLiteral("--keep needs a size from 256K to 1024G, not `%1`.").arg(parser.value(keep));
        }
        launch.keepBytes = *bytes;
    }
    if (parser.isSet(checkData)) {
        launch.alsoNoted |= trace::kNoteSent;
    }
    for (const QString& names : parser.values(values)) {
        for (const QString& name : names.split(u',')) {
            if (name != QLatin1StringView("getpid")) {
                return QStringLiteral("--values knows getpid, not `%1`; times, random bytes and standard input are always recorded.").arg(name);
            }
            launch.alsoNoted |= trace::kNotePid;
        }
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
