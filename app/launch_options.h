// Options that say what is to be launched, of the window's command line and of `stopline record`.
#pragma once

#include "../replay/session.h"

#include <QCommandLineOption>
#include <QCommandLineParser>
#include <QList>
#include <QString>

namespace stopline::app {

struct LaunchOptions {
    QCommandLineOption ranks{{QStringLiteral("n"), QStringLiteral("np"), QStringLiteral("ranks")},
                             QStringLiteral("Number of ranks (default 4)."),
                             QStringLiteral("count")};
    QCommandLineOption launcher{QStringLiteral("launcher"),
                                QStringLiteral("Program that starts the ranks (default mpirun)."),
                                QStringLiteral("program")};
    QCommandLineOption launcherArgs{
        QStringLiteral("launcher-args"),
        QStringLiteral("Options for the launcher, as one word: \"--bind-to none\"."),
        QStringLiteral("options")};
    QCommandLineOption directory{{QStringLiteral("working-directory"), QStringLiteral("wd")},
                                 QStringLiteral("Directory the job runs in."),
                                 QStringLiteral("directory")};
    QCommandLineOption environment{QStringLiteral("env"),
                                   QStringLiteral("Environment variable of the job; may be repeated."),
                                   QStringLiteral("NAME=VALUE")};
    QCommandLineOption input{QStringLiteral("input"),
                             QStringLiteral("File that the job reads as standard input."),
                             QStringLiteral("file")};

    QCommandLineOption keep{QStringLiteral("keep"),
                            QStringLiteral("Most that a rank keeps of its compressed events before it was read, as 256K, "
                                           "64M, 2G (default 1G); then the oldest go."),
                            QStringLiteral("size")};

    QCommandLineOption values{QStringLiteral("values"),
                              QStringLiteral("What is recorded besides times and random bytes, and given back when the recording is "
                                             "executed again: getpid."),
                              QStringLiteral("names")};
    QCommandLineOption checkData{QStringLiteral("check-data"),
                                 QStringLiteral("Hash what is sent; another execution is stopped where it sends other data.")};

    [[nodiscard]] QList<QCommandLineOption> all() const {
        return {ranks, launcher, launcherArgs, directory, environment, input, keep, values, checkData};
    }

    /// Fills in what is to be launched, with the parser's positional arguments as the program or the
    /// launcher's own command line; returns what is wrong, or an empty text.
    [[nodiscard]] QString read(const QCommandLineParser& parser, replay::LaunchSpec& launch) const;
};

} // namespace stopline::app
