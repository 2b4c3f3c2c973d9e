#include "command_line.h"

#include "batch_language.h"
#include "launch_options.h"
#include "subcommands.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <QProcess>

namespace stopline::app {

namespace {

struct Options {
    LaunchOptions launch;
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
    QCommandLineOption historyEvents{
        QStringLiteral("history-events"),
        QStringLiteral("Most events of all ranks together that are shown (default 40000000); the oldest are left out then. 0: all."),
        QStringLiteral("count")};
    QCommandLineOption replayBy{
        QStringLiteral("replay-by"),
        QStringLiteral("How a recording is executed again: each receive of any source is given the source that it had (default), or "
                       "only the messages that raced are tagged, and kept for the receives that they had; bounded: with control "
                       "messages, so that no more of them wait than did in the recording."),
        QStringLiteral("source|tag|tag-bounded")};
    QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Show this text.")};
    QCommandLineOption version{QStringLiteral("version"), QStringLiteral("Show the version.")};

    [[nodiscard]] QList<QCommandLineOption> all() const {
        return launch.all() + QList<QCommandLineOption>{run,         stopAtStart, batch,      wait,  verbose, sessionScript,
                                                        screenshots, transcript,  screenshot, style, historyEvents, replayBy, help, version};
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
    if (const auto subcommand = parseSubcommand(arguments)) {
        return *subcommand;
    }
    const Options options;
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("Stopline, a debugger for MPI programs with a memory of what happened.\n\n"
                       "  stopline -n 4 ./app args                 4 ranks, started by mpirun\n"
                       "  stopline mpirun -n 4 --bind-to none ./app  the launcher's own command line\n"
                       "  stopline --batch script -n 4 ./app       the same without a window\n"
                       "  stopline record -o run.stopline mpirun -n 4 ./app  run without any debugger, keep what happened\n"
                       "  stopline open run.stopline               look at it; also: info, export\n\n"
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
    const QStringList words = parser.positionalArguments();
    if (!words.isEmpty() && words.first() == QLatin1StringView("open")) {
        if (words.size() != 2) {
            return invalid(QStringLiteral("`stopline open FILE` opens one recording. A program that is called open is "
                                          "given with its path: ./open"));
        }
        result.openFile = words.at(1);
    } else if (const QString wrong = options.launch.read(parser, result.launch); !wrong.isEmpty()) {
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
    if (parser.isSet(options.historyEvents)) {
        bool ok = false;
        result.historyEvents = parser.value(options.historyEvents).toULongLong(&ok);
        if (!ok || (result.historyEvents != 0 && result.historyEvents < 1000)) {
            return invalid(QStringLiteral("--history-events needs a number of 1000 or more, or 0 for all, not `%1`.")
                               .arg(parser.value(options.historyEvents)));
        }
    }
    // The session looks at the environment as well; here it is told where that makes no sense.
    const bool given = parser.isSet(options.replayBy);
    const QString how = given ? parser.value(options.replayBy) : qEnvironmentVariable("STOPLINE_REPLAY_BY", QStringLiteral("source"));
    if (const auto replayBy = replay::replayByOf(how)) {
        result.replayBy = *replayBy;
    } else {
        return invalid(QStringLiteral("%1 is source, tag or tag-bounded, not `%2`.")
                           .arg(given ? QStringLiteral("--replay-by") : QStringLiteral("STOPLINE_REPLAY_BY"), how));
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
