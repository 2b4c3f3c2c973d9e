// The language of `stopline --batch FILE`: one verb a line, the same verbs as the window's.
//
//   run / wait stopped / break solver.c:118 / continue / wait stopped within 20 / where all / print n rank 1
//
// Rules
// - Blank lines and lines that begin with # are skipped. A line that begins with - may fail: the script goes
// on.
// - "within SECONDS" at the end of a waiting verb bounds it (default 60 s). A wait that runs out prints the
// state of
//   every rank and ends the script with exit code 3; any other failure ends it with 1; a script that cannot
//   be read, or has an unknown verb or a wrong number of words, is not begun and gives 2. `quit CODE` ends it
//   with CODE.
// - RANKS is `all`, `3`, `0-3,7`. Where a verb looks at ranks and none is given, it looks at the focus.
// - The output is made for diffing: no pids, no times, base names of files, addresses shown as 0x… unless
// --verbose.
//   Results go to stdout; warnings, errors and failures to stderr, so that they stand in the same order on a
//   terminal.
// - When the script ends, however it ends, the job is killed and waited for.
//
// `scriptHelp()` lists the verbs; it is made from the same table as the parser.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>

#include <chrono>
#include <optional>

namespace stopline::app {

enum class ScriptVerb {
    // run control
    Run,
    Start,
    Continue,
    Pause,
    Step,
    RunTo,
    Kill,
    Restart,
    Replay,
    Compared,
    Open,
    Focus,
    Show,
    // breakpoints
    Break,
    Delete,
    Enable,
    Disable,
    Breakpoints,
    // looking
    Ranks,
    Where,
    Print,
    Parts,
    Locals,
    Stack,
    Gdb,
    Output,
    Input,
    // history of messages
    Events,
    Messages,
    Races,
    NextRace,
    Take,
    Executions,
    Execution,
    Differ,
    Transfers,
    Times,
    Point,
    Frontier,
    Stopline,
    Clear,
    Refresh,
    Follow,
    // time
    Go,
    Undo,
    Redo,
    Rollback,
    Forward,
    Cancel,
    History,
    Stops,
    // script
    Wait,
    Expect,
    Sleep,
    Echo,
    Quit,
    // inside the window only
    Screenshot,
    Select,
    Resize,
    Axis,
    Style,
    Dock
};

struct ScriptLine {
    int number = 0;       ///< in the file, from 1
    bool mayFail = false; ///< began with "-"
    ScriptVerb verb = ScriptVerb::Echo;
    QString text;      ///< the line as written, without the "-"
    QString rest;      ///< after the verb, "within SECONDS" removed
    QStringList words; ///< `rest` split at blanks; "two words" in double quotes are one, without the quotes
    std::optional<std::chrono::milliseconds> within;
};

struct ScriptError {
    int line = 0;
    QString text;
};

struct Script {
    QVector<ScriptLine> lines;
    QVector<ScriptError> errors; ///< not empty: do not begin
};

/// Reads a whole script. `inWindow`: screenshot, select, … are known verbs, else they are errors that say so.
[[nodiscard]] Script parseScript(const QString& text, bool inWindow);
/// One line, for `expect VERB …`, which runs another verb. nullopt and `error` when it is not one.
[[nodiscard]] std::optional<ScriptLine> parseScriptLine(const QString& line, bool inWindow, QString& error);
/// What `stopline --batch --help` prints.
[[nodiscard]] QString scriptHelp();
/// Splits at blanks; double quotes group. An unclosed quote ends with the line.
[[nodiscard]] QStringList splitWords(const QString& text);

} // namespace stopline::app
