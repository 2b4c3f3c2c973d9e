#include "command_line.h"

#include "batch_language.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <QProcess>

namespace stopline::app {

namespace {

struct Options {
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
    QCommandLineOption run{QStringLiteral("run"), QStringLiteral("Start the job at once.")};
    QCommandLineOption stopAtStart{QStringLiteral("stop-at-start"),
                                   QStringLiteral("Run stops every rank before main.")};
    QCommandLineOption batch{
        QStringLiteral("batch"),
        QStringLiteral("Perform a script without a window; - reads it from standard input. "
                       "`--batch --help` explains the language."),
        QStringLiteral("file")};
    QCommandLineOption wait{QStringLiteral("wait"),
                            QStringLiteral("Scripts: seconds after which a wait fails (default 60)."),
                            QStringLiteral("seconds")};
    QCommandLineOption verbose{
        QStringLiteral("verbose"),
        QStringLiteral("Scripts: print pids, addresses, full paths and notes as well.")};
    QCommandLineOption sessionScript{
        QStringLiteral("session-script"),
        QStringLiteral("Perform a script inside the real window, then close it."), QStringLiteral("file")};
    QCommandLineOption screenshots{QStringLiteral("screenshots"),
                                   QStringLiteral("With --session-script: where `screenshot NAME` saves."),
                                   QStringLiteral("directory")};
    QCommandLineOption transcript{QStringLiteral("transcript"),
                                  QStringLiteral("Scripts: write the text to this file as well."),
                                  QStringLiteral("file")};
    QCommandLineOption screenshot{QStringLiteral("screenshot"),
                                  QStringLiteral("Save a picture of the window as it opens, then quit."),
                                  QStringLiteral("file")};
    QCommandLineOption style{QStringLiteral("style"), QStringLiteral("Colours: light, dark or system."),
                             QStringLiteral("name")};
    QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Show this text.")};
    QCommandLineOption version{QStringLiteral("version"), QStringLiteral("Show the version.")};

    [[nodiscard]] QList<QCommandLineOption> all() const {
        return {ranks,       launcher,    launcherArgs, directory, environment, input,
                run,         stopAtStart, batch,        wait,      verbose,     sessionScript,
                screenshots, transcript,  screenshot,   style,     help,        version};
    }
};

CommandLine invalid(const QString& text) {
    CommandLine result;
    result.mode = RunMode::Invalid;
    result.text = text;
    return result;
}

CommandLine print(const QString& text) {
    CommandLine result;
    result.mode = RunMode::Print;
    result.text = text;
    return result;
}

/// Fills in what is to be launched; returns what is wrong, or an empty text.
QString readLaunch(const QCommandLineParser& parser, const Options& options, replay::LaunchSpec& launch) {
    const QStringList words = parser.positionalArguments();
    for (const QString& pair : parser.values(options.environment)) {
        const qsizetype equals = pair.indexOf(u'=');
        if (equals <= 0) {
            return QStringLiteral("--env needs NAME=VALUE, not `%1`.").arg(pair);
        }
        launch.environment.append({pair.left(equals), pair.mid(equals + 1)});
    }
    launch.workingDirectory = parser.value(options.directory);
    if (!launch.workingDirectory.isEmpty() && !QFileInfo(launch.workingDirectory).isDir()) {
        return QStringLiteral("The working directory %1 does not exist.").arg(launch.workingDirectory);
    }
    launch.inputFile = parser.value(options.input);
    if (!launch.inputFile.isEmpty() && !QFileInfo(launch.inputFile).isReadable()) {
        return QStringLiteral("The input file %1 cannot be read.").arg(launch.inputFile);
    }
    if (!words.isEmpty() && isLauncherName(words.first())) {
        if (parser.isSet(options.ranks) || parser.isSet(options.launcher) ||
            parser.isSet(options.launcherArgs)) {
            return QStringLiteral(
                       "Give the number of ranks and other options to %1 itself, after its name, or leave "
                       "%1 out.")
                .arg(words.first());
        }
        launch.command = words;
        return {};
    }
    if (parser.isSet(options.ranks)) {
        bool ok = false;
        launch.ranks = parser.value(options.ranks).toInt(&ok);
        if (!ok || launch.ranks < 1) {
            return QStringLiteral("-n needs a number of ranks of 1 or more, not `%1`.")
                .arg(parser.value(options.ranks));
        }
    }
    if (parser.isSet(options.launcher)) {
        launch.launcher = parser.value(options.launcher);
    }
    launch.launcherArguments = QProcess::splitCommand(parser.value(options.launcherArgs));
    if (!words.isEmpty()) {
        launch.program = words.first();
        launch.arguments = words.mid(1);
    }
    return {};
}

} // namespace

bool isLauncherName(const QString& word) {
    static const QStringList kNames{
        QStringLiteral("mpirun"),        QStringLiteral("mpiexec"),        QStringLiteral("orterun"),
        QStringLiteral("prterun"),       QStringLiteral("prun"),           QStringLiteral("srun"),
        QStringLiteral("mpiexec.hydra"), QStringLiteral("mpirun.openmpi"), QStringLiteral("mpiexec.openmpi"),
        QStringLiteral("mpirun.mpich"),  QStringLiteral("mpiexec.mpich"),  QStringLiteral("aprun"),
        QStringLiteral("jsrun"),         QStringLiteral("mpirun_rsh")};
    return kNames.contains(QFileInfo(word).fileName());
}

CommandLine parseCommandLine(const QStringList& arguments) {
    const Options options;
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("Stopline, a debugger for MPI programs with a memory of what happened.\n\n"
                       "  stopline -n 4 ./app args                 4 ranks, started by mpirun\n"
                       "  stopline mpirun -n 4 --bind-to none ./app  the launcher's own command line\n"
                       "  stopline --batch script -n 4 ./app       the same without a window\n\n"
                       "Everything after the program belongs to the program."));
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    parser.setOptionsAfterPositionalArgumentsMode(QCommandLineParser::ParseAsPositionalArguments);
    parser.addOptions(options.all());
    parser.addPositionalArgument(QStringLiteral("program"),
                                 QStringLiteral("Program to debug, or an MPI launcher."),
                                 QStringLiteral("[program"));
    parser.addPositionalArgument(QStringLiteral("args"), QStringLiteral("Its arguments."),
                                 QStringLiteral("[args…]]"));

    const bool parsed = parser.parse(QStringList{QStringLiteral("stopline")} + arguments);
    // `--batch --help` reads as "a script called --help": nobody has one.
    if (parser.value(options.batch) == QLatin1StringView("--help") ||
        (parser.isSet(options.help) && parser.isSet(options.batch))) {
        return print(scriptHelp());
    }
    if (!parsed) {
        return invalid(parser.errorText() + QStringLiteral(" `stopline --help` lists the options."));
    }
    if (parser.isSet(options.help)) {
        // There is no application object yet that could tell the parser the program's name.
        return print(
            parser.helpText().replace(QStringLiteral("<executable_name>"), QStringLiteral("stopline")));
    }
    if (parser.isSet(options.version)) {
        return print(QStringLiteral("stopline " STOPLINE_VERSION "\n"));
    }

    CommandLine result;
    if (const QString wrong = readLaunch(parser, options, result.launch); !wrong.isEmpty()) {
        return invalid(wrong);
    }
    if (parser.isSet(options.batch) && parser.isSet(options.sessionScript)) {
        return invalid(
            QStringLiteral("--batch works without a window, --session-script inside one: give one of them."));
    }
    if (parser.isSet(options.batch)) {
        result.mode = RunMode::Batch;
        result.scriptFile = parser.value(options.batch);
    } else {
        result.scriptFile = parser.value(options.sessionScript);
    }
    if (parser.isSet(options.wait)) {
        bool ok = false;
        const int seconds = parser.value(options.wait).toInt(&ok);
        if (!ok || seconds < 1) {
            return invalid(QStringLiteral("--wait needs a number of seconds of 1 or more, not `%1`.")
                               .arg(parser.value(options.wait)));
        }
        result.wait = std::chrono::seconds(seconds);
    }
    if (parser.isSet(options.style)) {
        const QString name = parser.value(options.style);
        result.styleGiven = true;
        if (name == QLatin1StringView("light")) {
            result.style = ColourStyle::Light;
        } else if (name == QLatin1StringView("dark")) {
            result.style = ColourStyle::Dark;
        } else if (name != QLatin1StringView("system")) {
            return invalid(QStringLiteral("--style is light, dark or system, not `%1`.").arg(name));
        }
    }
    result.screenshotDirectory = parser.value(options.screenshots);
    result.screenshotFile = parser.value(options.screenshot);
    result.transcript = parser.value(options.transcript);
    result.verbose = parser.isSet(options.verbose);
    result.stopAtStart = parser.isSet(options.stopAtStart);
    result.runAtOnce = parser.isSet(options.run);
    if (result.runAtOnce && !result.hasProgram()) {
        return invalid(QStringLiteral("--run needs a program to run: stopline --run -n 4 ./app"));
    }
    return result;
}

} // namespace stopline::app
