// Command line and script language: what belongs to whom, and what is said of mistakes.
#include "../../../app/batch_language.h"
#include "../../../app/command_line.h"
#include "../../../app/text.h"

#include <QTemporaryDir>
#include <QTest>

using namespace stopline;
using namespace stopline::app;

class CommandLineTest : public QObject {
    Q_OBJECT

    static CommandLine parse(const char* text) {
        return parseCommandLine(splitWords(QString::fromUtf8(text)));
    }

  private slots:
    void programTakesTheRest() {
        const CommandLine line = parse("-n 3 ./app -n 7 --batch x --help");
        QCOMPARE(line.mode, RunMode::Window);
        QCOMPARE(line.launch.ranks, 3);
        QCOMPARE(line.launch.program, QStringLiteral("./app"));
        QCOMPARE(line.launch.arguments,
                 QStringList({QStringLiteral("-n"), QStringLiteral("7"), QStringLiteral("--batch"),
                              QStringLiteral("x"), QStringLiteral("--help")}));
        QVERIFY(line.launch.command.isEmpty());
    }

    void launcherForm() {
        const CommandLine line = parse("mpirun -n 2 --bind-to none ./a 1 : -n 2 ./b");
        QCOMPARE(line.mode, RunMode::Window);
        QCOMPARE(line.launch.command.first(), QStringLiteral("mpirun"));
        QCOMPARE(line.launch.command.size(), 11);
        QVERIFY(line.launch.program.isEmpty());
    }

    void launcherFormByPath() { QVERIFY(!parse("/opt/mpi/bin/mpiexec -n 2 ./a").launch.command.isEmpty()); }

    void options() {
        const CommandLine line =
            parse("-np 2 --launcher mpiexec --launcher-args \"--bind-to none\" --env A=1=2 --env B= "
                  "--wait 7 --style dark --verbose ./app");
        QCOMPARE(line.launch.ranks, 2);
        QCOMPARE(line.launch.launcher, QStringLiteral("mpiexec"));
        QCOMPARE(line.launch.launcherArguments,
                 QStringList({QStringLiteral("--bind-to"), QStringLiteral("none")}));
        QCOMPARE(line.launch.environment.size(), 2);
        QCOMPARE(line.launch.environment[0].second, QStringLiteral("1=2"));
        QCOMPARE(line.launch.environment[1].second, QString());
        QCOMPARE(line.wait, std::chrono::seconds(7));
        QCOMPARE(line.style, ColourStyle::Dark);
        QVERIFY(line.verbose);
    }

    void batch() {
        const CommandLine line = parse("--batch story -n 4 ./app");
        QCOMPARE(line.mode, RunMode::Batch);
        QCOMPARE(line.scriptFile, QStringLiteral("story"));
        QCOMPARE(line.launch.ranks, 4);
    }

    void recordTakesBothForms() {
        const CommandLine launcher = parse("record -o a.stopline mpirun -n 3 ./app -o x record");
        QCOMPARE(launcher.mode, RunMode::Record);
        QCOMPARE(launcher.recordFile, QStringLiteral("a.stopline"));
        QCOMPARE(launcher.launch.command,
                 QStringList({QStringLiteral("mpirun"), QStringLiteral("-n"), QStringLiteral("3"), QStringLiteral("./app"),
                              QStringLiteral("-o"), QStringLiteral("x"), QStringLiteral("record")}));
        const CommandLine own = parse("record -n 2 --env A=1 ./app x");
        QCOMPARE(own.recordFile, QStringLiteral("run.stopline"));
        QCOMPARE(own.launch.ranks, 2);
        QCOMPARE(own.launch.program, QStringLiteral("./app"));
        QCOMPARE(own.launch.environment.size(), 1);
        QCOMPARE(parse("record").mode, RunMode::Invalid);
        QCOMPARE(parse("record -n 0 ./app").mode, RunMode::Invalid);
        QVERIFY(parse("record --help").text.contains(QStringLiteral("Ctrl+C ends it and writes the file")));
    }

    void recordingsAreOpenedByTheWindowAndByScripts() {
        const CommandLine window = parse("open a.stopline");
        QCOMPARE(window.mode, RunMode::Window);
        QCOMPARE(window.openFile, QStringLiteral("a.stopline"));
        QVERIFY(!window.hasProgram());
        const CommandLine batch = parse("--batch story --wait 5 open a.stopline");
        QCOMPARE(batch.mode, RunMode::Batch);
        QCOMPARE(batch.openFile, QStringLiteral("a.stopline"));
        QCOMPARE(batch.scriptFile, QStringLiteral("story"));
        QCOMPARE(parse("open").mode, RunMode::Invalid);
        QCOMPARE(parse("open a b").mode, RunMode::Invalid);
        QCOMPARE(parse("./open a b").launch.program, QStringLiteral("./open"));
    }

    void infoAndExport() {
        const CommandLine info = parse("info a.stopline");
        QCOMPARE(info.mode, RunMode::Info);
        QCOMPARE(info.openFile, QStringLiteral("a.stopline"));
        QCOMPARE(parse("info").mode, RunMode::Invalid);
        QCOMPARE(info.historyEvents, quint64(4'000'000));
        QCOMPARE(parse("info --history-events 0 a.stopline").historyEvents, quint64(0));
        QCOMPARE(parse("info --history-events 5000 a.stopline").historyEvents, quint64(5000));
        QCOMPARE(parse("info --history-events 999 a.stopline").mode, RunMode::Invalid);
        QCOMPARE(parse("info --history-events all a.stopline").text,
                 QStringLiteral("--history-events needs a number of 1000 or more, or 0 for all, not `all`."));
        const CommandLine chrome = parse("export --format chrome -o a.json a.stopline");
        QCOMPARE(chrome.mode, RunMode::Export);
        QCOMPARE(chrome.exportFormat, QStringLiteral("chrome"));
        QCOMPARE(chrome.exportTo, QStringLiteral("a.json"));
        QCOMPARE(chrome.openFile, QStringLiteral("a.stopline"));
        QCOMPARE(parse("export a.stopline --format otf2 -o a").exportFormat, QStringLiteral("otf2"));
        QVERIFY(parse("export --format svg -o a b").text.contains(QStringLiteral("chrome or otf2, not `svg`")));
        QVERIFY(parse("export --format otf2 b").text.contains(QStringLiteral("needs one recording and -o")));
        // Names of programs, not of ours.
        QCOMPARE(parse("./info x").launch.program, QStringLiteral("./info"));
        QCOMPARE(parse("-n 2 info").launch.program, QStringLiteral("info"));
    }

    void batchHelpListsEveryVerb() {
        const CommandLine line = parse("--batch --help");
        QCOMPARE(line.mode, RunMode::Print);
        for (const char* verb : {"rollback", "expect", "runto", "screenshot", "stopline"}) {
            QVERIFY2(line.text.contains(QString::fromUtf8(verb)), verb);
        }
    }

    void theHelpOfScriptsSaysWhatHappens() {
        const QString text = parse("--batch --help").text;
        QVERIFY(!text.contains(QStringLiteral("prints both frontiers"))); // `frontier` does
        QVERIFY(text.contains(QStringLiteral("pick a call; `frontier` prints what belongs to it")));
    }

    void helpAndVersion() {
        QCOMPARE(parse("--help").mode, RunMode::Print);
        QVERIFY(parse("--help").text.contains(QStringLiteral("--launcher-args")));
        QVERIFY(!parse("--help").text.contains(QStringLiteral("<executable_name>")));
        QVERIFY(parse("--version").text.startsWith(QStringLiteral("stopline ")));
    }

    void mistakes_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("says");
        QTest::newRow("ranks") << "-n none ./app"
                               << "-n needs";
        QTest::newRow("no ranks") << "-n 0 ./app"
                                  << "-n needs";
        QTest::newRow("unknown") << "--frobnicate ./app"
                                 << "--help";
        QTest::newRow("n and launcher") << "-n 3 mpirun -n 4 ./app"
                                        << "mpirun";
        QTest::newRow("environment") << "--env A ./app"
                                     << "NAME=VALUE";
        QTest::newRow("directory") << "--working-directory /no/such/place ./app"
                                   << "/no/such/place";
        QTest::newRow("input") << "--input /no/such/file ./app"
                               << "/no/such/file";
        QTest::newRow("style") << "--style pink ./app"
                               << "pink";
        QTest::newRow("wait") << "--wait soon ./app"
                              << "--wait";
        QTest::newRow("run without program") << "--run"
                                             << "program";
        QTest::newRow("two scripts") << "--batch a --session-script b ./app"
                                     << "one of them";
    }

    void mistakes() {
        QFETCH(QString, line);
        QFETCH(QString, says);
        const CommandLine parsed = parseCommandLine(splitWords(line));
        QCOMPARE(parsed.mode, RunMode::Invalid);
        QVERIFY2(parsed.text.contains(says), qPrintable(parsed.text));
    }

    void scriptLines() {
        const Script script =
            parseScript(QStringLiteral("# story\n\nrun\n-wait stopped within 2.5\nprint a within 3\n"
                                       "echo within 5\nbreak a.c:3 if x > 2\n"),
                        false);
        QVERIFY(script.errors.isEmpty());
        QCOMPARE(script.lines.size(), 5);
        QCOMPARE(script.lines[0].number, 3);
        QVERIFY(!script.lines[0].mayFail);
        QVERIFY(script.lines[1].mayFail);
        QCOMPARE(*script.lines[1].within, std::chrono::milliseconds(2500));
        QCOMPARE(script.lines[1].words, QStringList{QStringLiteral("stopped")});
        QCOMPARE(script.lines[3].rest, QStringLiteral("within 5"));
    }

    void scriptMistakes_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("verb") << "run\nfly"
                              << "fly";
        QTest::newRow("too many words") << "run\ngo now"
                                        << "usage";
        QTest::newRow("too few words") << "run\nevents"
                                       << "usage";
        QTest::newRow("within") << "run\nwait stopped within soon"
                                << "within";
        QTest::newRow("window verb") << "run\nscreenshot a"
                                     << "--session-script";
    }

    void scriptMistakes() {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const Script script = parseScript(text, false);
        QCOMPARE(script.errors.size(), 1);
        QCOMPARE(script.errors.first().line, 2);
        QVERIFY2(script.errors.first().text.contains(says), qPrintable(script.errors.first().text));
    }

    void words() {
        QCOMPARE(splitWords(QStringLiteral(" a \"b c\"  d\"e f\" ")),
                 QStringList({QStringLiteral("a"), QStringLiteral("b c"), QStringLiteral("de f")}));
        QCOMPARE(splitWords(QStringLiteral("\"\"")), QStringList{QString()});
    }

    void rankSets_data() {
        QTest::addColumn<QVector<int>>("ranks");
        QTest::addColumn<QString>("text");
        QTest::newRow("none") << QVector<int>{} << "";
        QTest::newRow("one") << QVector<int>{3} << "3";
        QTest::newRow("pair") << QVector<int>{3, 4} << "3,4";
        QTest::newRow("run") << QVector<int>{0, 1, 2, 3, 7} << "0-3,7";
        QTest::newRow("unsorted, twice") << QVector<int>{7, 2, 0, 1, 7} << "0-2,7";
    }

    void rankSets() {
        QFETCH(QVector<int>, ranks);
        QFETCH(QString, text);
        QCOMPARE(rankSetText(ranks), text);
        if (!text.isEmpty()) {
            std::sort(ranks.begin(), ranks.end());
            ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
            QCOMPARE(*parseRankSet(text), ranks);
        }
    }

    void badRankSets() {
        for (const char* text : {"", "a", "3-1", "-2", "1-2-3", "0-99999999", "1,,2"}) {
            QVERIFY2(!parseRankSet(QString::fromUtf8(text)), text);
        }
        QCOMPARE(parseRankSet(QStringLiteral("0..3"))->size(), 4);
    }

    void bytes() {
        QCOMPARE(bytesText(0), QStringLiteral("0 B"));
        QCOMPARE(bytesText(1023), QStringLiteral("1023 B"));
        QCOMPARE(bytesText(4096), QStringLiteral("4 KiB"));
        QCOMPARE(bytesText(3ULL << 19), QStringLiteral("1.5 MiB"));
    }

    void functionsWithoutTheirPrefix_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("own");
        QTest::newRow("C") << "exchange" << "exchange";
        QTest::newRow("Fortran") << "tasks::master" << "master";
        QTest::newRow("submodule") << "tasks::inner::worker" << "worker";
        QTest::newRow("program") << "MAIN__" << "MAIN__";
        QTest::newRow("C++") << "solver::grid::step(int, std::vector<int>)" << "step";
        QTest::newRow("template") << "solver::grid<std::array<double, 3> >::step" << "step";
        QTest::newRow("function template") << "ns::fill<a::b>(a::b&)" << "fill<a::b>";
        QTest::newRow("anonymous") << "(anonymous namespace)::exchange(int)" << "exchange";
        QTest::newRow("operator") << "ns::grid::operator()(int) const" << "operator()(int) const";
        QTest::newRow("comparison") << "ns::operator<(ns::a, ns::b)" << "operator<(ns::a, ns::b)";
        QTest::newRow("lambda") << "main::{lambda(int)#1}::operator()(int) const" << "operator()(int) const";
        QTest::newRow("destructor") << "ns::grid::~grid()" << "~grid";
        QTest::newRow("none") << "" << "";
        QTest::newRow("odd") << "odd::" << "odd::";
    }

    void functionsWithoutTheirPrefix() {
        QFETCH(QString, name);
        QFETCH(QString, own);
        QCOMPARE(shortFunction(name), own);
    }
};

QTEST_GUILESS_MAIN(CommandLineTest)
#include "command_line_test.moc"
