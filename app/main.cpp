// Entry point: reads the command line and becomes the window or the batch runner.
#include "batch.h"
#include "command_line.h"
#include "window_main.h"

#include <QCoreApplication>
#include <QFile>
#include <QTextStream>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace {

using namespace stopline;

bool readScript(const QString& path, QString& text, QString& error) {
    QFile file(path);
    const bool open = path == QLatin1StringView("-") ? file.open(stdin, QIODevice::ReadOnly)
                                                     : file.open(QIODevice::ReadOnly);
    if (!open) {
        error = QStringLiteral("The script %1 cannot be read: %2.").arg(path, file.errorString());
        return false;
    }
    text = QString::fromUtf8(file.readAll());
    return true;
}

void writeLine(std::FILE* stream, const QString& line) {
    const QByteArray bytes = line.toUtf8() + '\n';
    std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), stream);
    std::fflush(stream); // results and errors keep their order when both go to one place
}

int runBatch(const app::CommandLine& line) {
    QString text;
    QString error;
    if (!readScript(line.scriptFile, text, error)) {
        writeLine(stderr, error);
        return app::kScriptWrong;
    }
    QFile transcript(line.transcript);
    if (!line.transcript.isEmpty() && !transcript.open(QIODevice::WriteOnly)) {
        writeLine(stderr, QStringLiteral("The transcript %1 cannot be written: %2.")
                              .arg(line.transcript, transcript.errorString()));
        return app::kScriptWrong;
    }
    replay::Session session;
    session.setLaunch(line.launch);
    session.setStopAtStart(line.stopAtStart);
    app::BatchOptions options;
    options.verbose = line.verbose;
    options.wait = line.wait;
    const auto write = [&transcript](std::FILE* stream, const QString& one) {
        writeLine(stream, one);
        if (transcript.isOpen()) {
            transcript.write(one.toUtf8() + '\n');
            transcript.flush();
        }
    };
    options.out = [&write](const QString& one) { write(stdout, one); };
    options.err = [&write](const QString& one) { write(stderr, one); };
    app::BatchRunner runner(&session, options);
    return runner.run(app::parseScript(text, false));
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
        writeLine(stderr, QStringLiteral("stopline: ") + line.text);
        return app::kScriptWrong;
    case app::RunMode::Batch: {
        // Qt's own options (-style, -platform …) are nobody's business here: the program gets one argument.
        int one = 1;
        QCoreApplication application(one, argv);
        QCoreApplication::setApplicationName(QStringLiteral("stopline"));
        return runBatch(line);
    }
    case app::RunMode::Window:
        return app::runWindow(argv[0], line);
    }
    return app::kScriptWrong;
}
