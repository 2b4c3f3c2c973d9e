// Entry point: reads the command line and becomes the window or the batch runner.
#include "batch.h"
#include "command_line.h"
#include "quit_on_signal.h"
#include "record_main.h"
#include "recording_mains.h"
#include "script_files.h"
#include "window_main.h"

#include <QCoreApplication>

#include <csignal>
#include <cstdio>

namespace {

using namespace stopline;

int runBatch(const app::CommandLine& line) {
    QString error;
    const auto text = app::readScript(line.scriptFile, error);
    app::TextSink sink;
    if (!text) {
        sink.write(stderr, QStringLiteral("stopline: ") + error);
        return app::kScriptWrong;
    }
    if (const QString wrong = sink.openTranscript(line.transcript); !wrong.isEmpty()) {
        sink.write(stderr, QStringLiteral("stopline: ") + wrong);
        return app::kScriptWrong;
    }
    replay::Session session;
    session.setLaunch(line.launch);
    session.setStopAtStart(line.stopAtStart);
    session.setHistoryEvents(line.historyEvents);
    session.setReplayBy(line.replayBy);
    app::BatchOptions options;
    options.verbose = line.verbose;
    options.wait = line.wait;
    options.out = [&sink](const QString& one) { sink.write(stdout, one); };
    options.err = [&sink](const QString& one) { sink.write(stderr, one); };
    app::quitOnSignals(&session);
    app::BatchRunner runner(&session, options);
    if (!line.openFile.isEmpty() && !runner.openRecording(line.openFile)) {
        return app::kScriptFailed;
    }
    return runner.run(app::parseScript(*text, false));
}

int runWithoutWindow(const app::CommandLine& line, char** argv) {
    // Qt's own options (-style, -platform …) are nobody's business here: the program gets one argument.
    int one = 1;
    QCoreApplication application(one, argv);
    QCoreApplication::setApplicationName(QStringLiteral("stopline"));
    switch (line.mode) {
    case app::RunMode::Record:
        return app::runRecord(line);
    case app::RunMode::Info:
        return app::runInfo(line);
    case app::RunMode::Export:
        return app::runExport(line);
    default:
        return runBatch(line);
    }
}

} // namespace

int main(int argc, char* argv[]) {
    std::signal(SIGPIPE, SIG_IGN); // a reader of our output that goes away must not end the session
    QStringList arguments;
    for (int i = 1; i < argc; ++i) {
        arguments << QString::fromLocal8Bit(argv[i]);
    }
    const app::CommandLine line = app::parseCommandLine(arguments);
    switch (line.mode) {
    case app::RunMode::Print:
        std::fputs(line.text.toUtf8().constData(), stdout);
        return 0;
    case app::RunMode::Invalid:
        std::fprintf(stderr, "stopline: %s\n", qPrintable(line.text));
        return app::kScriptWrong;
    case app::RunMode::Batch:
    case app::RunMode::Record:
    case app::RunMode::Info:
    case app::RunMode::Export:
        return runWithoutWindow(line, argv);
    case app::RunMode::Window:
        return app::runWindow(argv[0], line);
    }
    return app::kScriptWrong;
}
