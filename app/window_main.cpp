#include "window_main.h"

#include "main_window.h"
#include "quit_on_signal.h"
#include "script_files.h"
#include "theme.h"
#include "window_script.h"

#include <QApplication>
#include <QSettings>
#include <QTimer>

#include <cstdio>
#include <memory>

namespace stopline::app {

namespace {

bool hasDisplay() {
    return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
           qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

ColourStyle rememberedStyle() {
    const QString name = QSettings().value(QString::fromLatin1(MainWindow::kStyleKey)).toString();
    return name == QLatin1StringView("dark")    ? ColourStyle::Dark
           : name == QLatin1StringView("light") ? ColourStyle::Light
                                                : ColourStyle::System;
}

/// Whatever reads settings from now on finds none, and what is written goes nowhere: below a file there can be no folder.
/// Scripts and pictures look the same on every machine, and change nothing of what people have set for themselves.
void keepFromSettings() {
    const QString nowhere = QStringLiteral("/dev/null/settings");
    for (const auto format : {QSettings::NativeFormat, QSettings::IniFormat}) {
        QSettings::setPath(format, QSettings::UserScope, nowhere);
        QSettings::setPath(format, QSettings::SystemScope, nowhere);
    }
}

QtMessageHandler usualHandler = nullptr;

/// The offscreen platform complains at every window that is resized, and where XDG_RUNTIME_DIR is not set (over ssh -X, in
/// containers) Qt takes another directory and says so; both tell a user nothing.
void quietHandler(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (!text.contains(QLatin1StringView("propagateSizeHints")) && !text.contains(QLatin1StringView("XDG_RUNTIME_DIR not set"))) {
        usualHandler(type, context, text);
    }
}

/// Performs the script in the shown window; the exit code.
int performScript(MainWindow& window, replay::Session& session, const CommandLine& line) {
    QString error;
    const auto text = readScript(line.scriptFile, error);
    if (!text) {
        std::fprintf(stderr, "stopline: %s\n", qPrintable(error));
        return kScriptWrong;
    }
    TextSink sink;
    if (const QString wrong = sink.openTranscript(line.transcript); !wrong.isEmpty()) {
        std::fprintf(stderr, "stopline: %s\n", qPrintable(wrong));
        return kScriptWrong;
    }
    BatchOptions options;
    options.verbose = line.verbose;
    options.wait = line.wait;
    options.out = [&sink](const QString& one) { sink.write(stdout, one); };
    options.err = [&sink](const QString& one) { sink.write(stderr, one); };
    WindowScript verbs(&window, line.screenshotDirectory);
    BatchRunner runner(&session, options, &verbs);
    QObject::connect(&window, &MainWindow::closing, &runner, &BatchRunner::abort);
    if (!line.openFile.isEmpty() && !runner.openRecording(line.openFile)) {
        return kScriptFailed;
    }
    settleWindow(&window);
    const int code = runner.run(parseScript(*text, true));
    for (const QString& picture : verbs.pictures()) {
        sink.write(stdout, QStringLiteral("saved %1").arg(picture));
    }
    return code;
}

} // namespace

int runWindow(char* programName, const CommandLine& line) {
    const bool unattended = !line.scriptFile.isEmpty() || !line.screenshotFile.isEmpty();
    if (!hasDisplay()) {
        if (!unattended) {
            std::fputs(
                "stopline: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set).\n"
                "Log in with X forwarding (ssh -X), or work without a window: stopline --batch FILE …\n",
                stderr);
            return kScriptWrong;
        }
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    if (unattended) {
        keepFromSettings();
    }
    usualHandler = qInstallMessageHandler(quietHandler);
    int argc = 1;
    char* argv[] = {programName, nullptr};
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("stopline"));
    QApplication::setApplicationName(QStringLiteral("stopline"));
    QApplication::setApplicationDisplayName(QStringLiteral("Stopline"));
    QApplication::setDesktopFileName(QStringLiteral("org.stopline.Stopline"));
    applyStyle(line.styleGiven ? line.style : unattended ? ColourStyle::Light : rememberedStyle());

    replay::Session session;
    session.setStopAtStart(line.stopAtStart);
    session.setHistoryEvents(line.historyEvents);
    session.setReplayBy(line.replayBy);
    quitOnSignals(&session);
    MainWindow window(&session, unattended ? MainWindow::Memory::None : MainWindow::Memory::Keep);
    window.setAskBeforeClose(!unattended);
    if (line.hasProgram()) {
        window.setLaunch(line.launch);
    }
    window.show();
    if (!line.openFile.isEmpty() && line.scriptFile.isEmpty()) {
        session.openRecording(line.openFile);
    } else if (!line.hasProgram() && !unattended) {
        QTimer::singleShot(0, &window, &MainWindow::showLaunchDialog);
    }
    if (!line.scriptFile.isEmpty()) {
        return performScript(window, session, line);
    }
    if (!line.screenshotFile.isEmpty()) {
        while (!session.operation().isEmpty()) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
        settleWindow(&window);
        const bool saved = window.grab().save(line.screenshotFile);
        if (!saved) {
            std::fprintf(stderr, "stopline: %s cannot be written\n", qPrintable(line.screenshotFile));
        }
        return saved ? kScriptOk : kScriptFailed;
    }
    if (line.runAtOnce) {
        QTimer::singleShot(0, &session, &replay::Session::run);
    }
    return QApplication::exec();
}

} // namespace stopline::app
