#include "subcommands.h"

#include "launch_options.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <QRandomGenerator>

namespace stopline::app {

namespace {

/// About 300 MB.
constexpr quint64 kInfoEvents = 4'000'000;

CommandLine only(RunMode mode, const QString& text) {
    CommandLine result;
    result.mode = mode;
    result.text = text;
    return result;
}

/// What all of them do; nothing: go on.
std::optional<CommandLine> parse(QCommandLineParser& parser, const QString& name,
                                 const QStringList& arguments) {
    const QCommandLineOption help({QStringLiteral("h"), QStringLiteral("help")},
                                  QStringLiteral("Show this text."));
    parser.addOption(help);
    if (!parser.parse(arguments)) {
        return only(RunMode::Invalid,
                    parser.errorText() +
                        QStringLiteral(" `stopline %1 --help` lists the options.").arg(name));
    }
    if (parser.isSet(help)) {
        return only(RunMode::Print, parser.helpText().replace(QStringLiteral("<executable_name>"),
                                                              QStringLiteral("stopline %1").arg(name)));
    }
    return std::nullopt;
}

CommandLine parseRecord(const QStringList& arguments) {
    const LaunchOptions launch;
    const QCommandLineOption output({QStringLiteral("o"), QStringLiteral("output")},
                                    QStringLiteral("File to write (default run.stopline)."),
                                    QStringLiteral("file"), QStringLiteral("run.stopline"));
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Runs a job without any debugger and writes what all its ranks did into one file.\n\n"
        "  stopline record -o run.stopline mpirun -n 16 ./app args\n"
        "  stopline record -o run.stopline -n 16 ./app args\n\n"
        "Output, input and exit code are those of the job. Ctrl+C ends it and writes the file.\n\n"
        "  stopline record --until-fail 500 --jitter random -n 4 ./app\n\n"
        "runs the job until a rank exits with a code other than 0, dies or hangs, and keeps the recording of that run. "
        "Ctrl+C ends the search and keeps that of the run under way."));
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    parser.setOptionsAfterPositionalArgumentsMode(QCommandLineParser::ParseAsPositionalArguments);
    const QCommandLineOption untilFail(QStringLiteral("until-fail"),
                                       QStringLiteral("Run again and again until one run fails, at most so often."),
                                       QStringLiteral("runs"));
    const QCommandLineOption hang(QStringLiteral("hang"),
                                  QStringLiteral("With --until-fail: a run without any MPI call for so long hangs (default 60)."),
                                  QStringLiteral("seconds"), QStringLiteral("60"));
    const QCommandLineOption jitter(QStringLiteral("jitter"),
                                    QStringLiteral("Delay one call in eight at random, by 1 µs to 4 ms (half a millisecond on average), so that "
                                                   "rare orders of messages happen. A number is the seed; each further run takes the next one."),
                                    QStringLiteral("seed|random"));
    const QCommandLineOption order(
        QStringLiteral("order"),
        QStringLiteral("What a replay is told of the messages that receives of any source got: that of all (default), or only that of "
                       "those that raced, which is found while the job runs, by timestamps that its ranks share. Their ranks must "
                       "be on one host."),
        QStringLiteral("all|racing"), QStringLiteral("all"));
    const QCommandLineOption fixedAddresses(
        QStringLiteral("fixed-addresses"),
        QStringLiteral("Memory of the job at the same addresses each time, as in a replay. Without it the system chooses, as it "
                       "does for the plain command; then an order that addresses decide is another one in the replay."));
    parser.addOption(output);
    parser.addOptions({untilFail, hang, jitter, order, fixedAddresses});
    parser.addOptions(launch.all());
    parser.addPositionalArgument(QStringLiteral("program"),
                                 QStringLiteral("Program to run, or an MPI launcher."));
    parser.addPositionalArgument(QStringLiteral("args"), QStringLiteral("Its arguments."),
                                 QStringLiteral("[args…]"));
    if (const auto done = parse(parser, QStringLiteral("record"), arguments)) {
        return *done;
    }
    CommandLine result;
    result.mode = RunMode::Record;
    result.recordFile = parser.value(output);
    if (const QString wrong = launch.read(parser, result.launch); !wrong.isEmpty()) {
        return only(RunMode::Invalid, wrong);
    }
    result.fixedAddresses = parser.isSet(fixedAddresses);
    if (parser.isSet(untilFail)) {
        bool ok = false;
        result.untilFail = parser.value(untilFail).toInt(&ok);
        if (!ok || result.untilFail < 1) {
            return only(RunMode::Invalid,
                        QStringLiteral("--until-fail needs the most runs, not `%1`.").arg(parser.value(untilFail)));
        }
    }
    if (parser.isSet(hang)) {
        bool ok = false;
        result.hangSeconds = parser.value(hang).toInt(&ok);
        if (!ok || result.hangSeconds < 1 || result.untilFail == 0) {
            return only(RunMode::Invalid,
                        QStringLiteral("--hang needs a number of seconds, and --until-fail beside it."));
        }
    }
    if (const QString which = parser.value(order); which == QLatin1StringView("racing")) {
        result.findRaces = true;
    } else if (which != QLatin1StringView("all")) {
        return only(RunMode::Invalid, QStringLiteral("--order needs `all` or `racing`, not `%1`.").arg(which));
    }
    if (parser.isSet(jitter)) {
        bool ok = parser.value(jitter) == QLatin1StringView("random");
        result.jitter = ok ? QRandomGenerator::global()->bounded(1, 1'000'000'000) : parser.value(jitter).toULongLong(&ok);
        if (!ok || result.jitter == 0) {
            return only(RunMode::Invalid,
                        QStringLiteral("--jitter needs a seed above 0, or `random`, not `%1`.").arg(parser.value(jitter)));
        }
    }
    if (!result.hasProgram()) {
        return only(
            RunMode::Invalid,
            QStringLiteral("record needs a program: stopline record -o run.stopline mpirun -n 4 ./app"));
    }
    if (result.recordFile.isEmpty() || QFileInfo(result.recordFile).isDir()) {
        return only(RunMode::Invalid,
                    QStringLiteral("-o needs the name of a file, not `%1`.").arg(result.recordFile));
    }
    return result;
}

CommandLine parseInfo(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Prints what a recording holds."));
    parser.addPositionalArgument(QStringLiteral("file"),
                                 QStringLiteral("Recording, as `stopline record` writes it."));
    const QCommandLineOption most(QStringLiteral("history-events"),
                                  QStringLiteral("Most events of all ranks together in which unmatched messages and races are looked "
                                                 "for, the latest (default %1); all are counted. 0: all.")
                                      .arg(kInfoEvents),
                                  QStringLiteral("number"));
    parser.addOption(most);
    if (const auto done = parse(parser, QStringLiteral("info"), arguments)) {
        return *done;
    }
    if (parser.positionalArguments().size() != 1) {
        return only(RunMode::Invalid, QStringLiteral("info needs one recording: stopline info run.stopline"));
    }
    CommandLine result;
    result.mode = RunMode::Info;
    result.openFile = parser.positionalArguments().first();
    result.historyEvents = kInfoEvents;
    if (parser.isSet(most)) {
        bool ok = false;
        result.historyEvents = parser.value(most).toULongLong(&ok);
        if (!ok || (result.historyEvents != 0 && result.historyEvents < 1000)) {
            return only(RunMode::Invalid, QStringLiteral("--history-events needs a number of 1000 or more, or 0 for all, not `%1`.").arg(parser.value(most)));
        }
    }
    return result;
}

CommandLine parseExport(const QStringList& arguments) {
    const QCommandLineOption format(QStringLiteral("format"),
                                    QStringLiteral("chrome: JSON for ui.perfetto.dev and chrome://tracing. "
                                                   "otf2: an archive for Vampir, Scalasca and the "
                                                   "like."),
                                    QStringLiteral("chrome|otf2"));
    const QCommandLineOption output({QStringLiteral("o"), QStringLiteral("output")},
                                    QStringLiteral("File to write (chrome), or directory to make (otf2)."),
                                    QStringLiteral("name"));
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Writes a recording in the format of another tool."));
    parser.addOption(format);
    parser.addOption(output);
    parser.addPositionalArgument(QStringLiteral("file"),
                                 QStringLiteral("Recording, as `stopline record` writes it."));
    if (const auto done = parse(parser, QStringLiteral("export"), arguments)) {
        return *done;
    }
    CommandLine result;
    result.mode = RunMode::Export;
    result.exportFormat = parser.value(format);
    result.exportTo = parser.value(output);
    if (result.exportFormat != QLatin1StringView("chrome") &&
        result.exportFormat != QLatin1StringView("otf2")) {
        return only(RunMode::Invalid,
                    QStringLiteral("--format is chrome or otf2, not `%1`.").arg(result.exportFormat));
    }
    if (parser.positionalArguments().size() != 1 || result.exportTo.isEmpty()) {
        return only(RunMode::Invalid,
                    QStringLiteral(
                        "export needs one recording and -o: stopline export --format %1 -o OUT run.stopline")
                        .arg(result.exportFormat));
    }
    result.openFile = parser.positionalArguments().first();
    return result;
}

} // namespace

std::optional<CommandLine> parseSubcommand(const QStringList& arguments) {
    const QString name = arguments.value(0);
    if (name == QLatin1StringView("record")) {
        return parseRecord(arguments);
    }
    if (name == QLatin1StringView("info")) {
        return parseInfo(arguments);
    }
    if (name == QLatin1StringView("export")) {
        return parseExport(arguments);
    }
    return std::nullopt;
}

} // namespace stopline::app
