// The command line of stopline, both forms: `stopline -n 4 ./app args` and `stopline mpirun -n 4 … ./app
// args`.
#pragma once

#include "../replay/session.h"

#include <QString>
#include <QStringList>

#include <chrono>

namespace stopline::app {

enum class RunMode {
    Window,
    Batch,   ///< --batch: no window, no display needed
    Record,  ///< record: run a job without a debugger, into `recordFile`
    Info,    ///< info: print what `openFile` holds
    Export,  ///< export: `openFile` in `exportFormat` to `exportTo`
    Print,   ///< `text` is all there is to do: help, version, the batch language
    Invalid, ///< `text` says what is wrong and the remedy
};

enum class ColourStyle { System, Light, Dark };

struct CommandLine {
    RunMode mode = RunMode::Window;
    QString text;
    replay::LaunchSpec launch; ///< empty program and command: nothing given, the window asks
    QString openFile;     ///< recording to be shown, told about or exported
    QString recordFile;   ///< of record
    int untilFail = 0;    ///< of record: runs until one fails, at most so many; 0: one run, whatever comes of it
    int hangSeconds = 60; ///< of record: no event for so long is a failure; only with untilFail
    quint64 jitter = 0;   ///< of record: seed of delays; 0: none
    bool findRaces = false; ///< of record: --order=racing
    bool fixedAddresses = false; ///< of record: no address is chosen at random
    QString exportFormat; ///< "chrome" or "otf2"
    QString exportTo;
    QString scriptFile;        ///< of --batch or --session-script; "-" is stdin
    QString screenshotDirectory;
    QString screenshotFile; ///< window only: save a picture of it and quit
    QString transcript;     ///< batch: write the text here instead of to stdout
    ColourStyle style = ColourStyle::System;
    bool styleGiven = false;
    bool verbose = false;
    bool stopAtStart = false;
    bool runAtOnce = false;
    quint64 historyEvents = replay::kDefaultHistoryEvents; ///< see Session::setHistoryEvents()
    replay::ReplayBy replayBy = replay::ReplayBy::Source;  ///< see Session::setReplayBy()
    std::chrono::seconds wait{60}; ///< default bound of every wait in a script

    [[nodiscard]] bool hasProgram() const { return !launch.program.isEmpty() || !launch.command.isEmpty(); }
};

/// `arguments` without the program's own name. Never exits and prints nothing itself. Everything from the
/// first word that is not an option of Stopline's belongs to the program (or to the launcher, when that word
/// names one).
[[nodiscard]] CommandLine parseCommandLine(const QStringList& arguments);

/// True for the base names of MPI launchers whose own command line may be given: mpirun, mpiexec, srun, …
[[nodiscard]] bool isLauncherName(const QString& word);

} // namespace stopline::app
