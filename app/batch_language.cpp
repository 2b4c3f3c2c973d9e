#include "batch_language.h"

#include <array>
#include <limits>

namespace stopline::app {

namespace {

struct VerbInfo {
    const char* name;
    ScriptVerb verb;
    int least;     ///< words after the verb
    int most;      ///< -1: any number
    bool waits;    ///< takes "within SECONDS"
    bool inWindow; ///< only there
    const char* usage;
    const char* help;
};

constexpr std::array kVerbs{
    VerbInfo{"run", ScriptVerb::Run, 0, 0, true, false, "run",
             "start the job; returns at once, or, if there are breakpoints, when all ranks have them"},
    VerbInfo{"start", ScriptVerb::Start, 0, 0, true, false, "start",
             "start it and wait until all ranks stand before main"},
    VerbInfo{"open", ScriptVerb::Open, 1, 1, true, false, "open FILE",
             "show a recording of `stopline record` in place of a job, and wait until it has been read"},
    VerbInfo{"continue", ScriptVerb::Continue, 0, 0, false, false, "continue",
             "the focus runs on; returns at once"},
    VerbInfo{"pause", ScriptVerb::Pause, 0, 0, true, false, "pause",
             "stop the focus and wait until it has stopped"},
    VerbInfo{"step", ScriptVerb::Step, 0, 1, true, false, "step [over|into|out]", "one source line; waits"},
    VerbInfo{"runto", ScriptVerb::RunTo, 1, 1, true, false, "runto FILE:LINE", "run to a line; waits"},
    VerbInfo{"kill", ScriptVerb::Kill, 0, 0, true, false, "kill", "end all ranks; waits"},
    VerbInfo{"restart", ScriptVerb::Restart, 0, 0, true, false, "restart", "kill and run again, as `run`"},
    VerbInfo{"replay", ScriptVerb::Replay, 0, 0, true, false, "replay",
             "kill and run again as recorded: MPI decides as it did; as `run`"},
    VerbInfo{"compared", ScriptVerb::Compared, 0, 0, false, false, "compared",
             "how far this execution has been the recorded one, rank by rank"},
    VerbInfo{"focus", ScriptVerb::Focus, 1, 1, false, false, "focus RANKS",
             "what the run-control verbs act on"},
    VerbInfo{"show", ScriptVerb::Show, 1, 1, false, false, "show RANK",
             "the rank shown large, without changing the focus"},

    VerbInfo{"break", ScriptVerb::Break, 1, -1, true, false, "break LOCATION [rank N] [if CONDITION]",
             "breakpoint on all ranks or one; prints its number when every rank has it or says that it is\n"
             "        pending"},
    VerbInfo{"delete", ScriptVerb::Delete, 1, 1, false, false, "delete ID|all", "remove a breakpoint"},
    VerbInfo{"enable", ScriptVerb::Enable, 1, 1, true, false, "enable ID", "switch a breakpoint on"},
    VerbInfo{"disable", ScriptVerb::Disable, 1, 1, false, false, "disable ID", "switch it off"},
    VerbInfo{"breakpoints", ScriptVerb::Breakpoints, 0, 0, false, false, "breakpoints", "list them"},

    VerbInfo{"ranks", ScriptVerb::Ranks, 0, 0, false, false, "ranks", "state, place and line of every rank"},
    VerbInfo{"where", ScriptVerb::Where, 0, 1, false, false, "where [RANKS]",
             "line and function of the user's frame"},
    VerbInfo{"print", ScriptVerb::Print, 1, -1, true, false, "print EXPRESSION [rank RANKS]",
             "its value in the user's frame"},
    VerbInfo{"parts", ScriptVerb::Parts, 1, -1, true, false, "parts EXPRESSION [rank RANKS]",
             "members of a structure, elements of an array: at most 200"},
    VerbInfo{"locals", ScriptVerb::Locals, 0, 1, true, false, "locals [RANKS]",
             "arguments and local variables"},
    VerbInfo{"stack", ScriptVerb::Stack, 0, 1, true, false, "stack [RANKS]",
             "frames, innermost first; MPI's own only with --verbose"},
    VerbInfo{"gdb", ScriptVerb::Gdb, 2, -1, true, false, "gdb RANK COMMAND", "a command for the rank's gdb"},
    VerbInfo{"output", ScriptVerb::Output, 0, 1, false, false, "output [RANKS]",
             "what the ranks have written; `launcher` for mpirun's own"},
    VerbInfo{"input", ScriptVerb::Input, 0, -1, false, false, "input TEXT",
             "a line for the job's standard input"},

    VerbInfo{"events", ScriptVerb::Events, 1, 3, false, false, "events RANK [FROM [TO]]",
             "the recorded events of a rank"},
    VerbInfo{"messages", ScriptVerb::Messages, 0, 1, false, false, "messages [all]",
             "open messages as the ranks stand now (later: recorded, not made again), or all of the recording"},
    VerbInfo{"races", ScriptVerb::Races, 0, 1, false, false, "races [RANK]",
             "receives and probes of any source that could have got another message, of all ranks or of one: what they got,\n"
             "        the messages that they could have got instead, and why"},
    VerbInfo{"nextrace", ScriptVerb::NextRace, 0, 0, true, false, "nextrace",
             "stop the focus before the next race that is recorded of it; where none is, run until one is found; waits"},
    VerbInfo{"take", ScriptVerb::Take, 4, 7, true, false, "take RANK EVENT SENDER EVENT [instead SENDER EVENT]",
             "execute again, but the race of this call gets this send's message first, of several the one that got the other; as `run`"},
    VerbInfo{"executions", ScriptVerb::Executions, 0, 0, false, false, "executions",
             "the executions that are kept: the one on show, what it departed from, choices"},
    VerbInfo{"execution", ScriptVerb::Execution, 1, 1, true, false, "execution N",
             "end the job and show this one; replay and go execute it again"},
    VerbInfo{"differ", ScriptVerb::Differ, 1, 1, false, false, "differ N",
             "rank by rank, up to where execution N and the one on show are the same, and how they go on"},
    VerbInfo{"transfers", ScriptVerb::Transfers, 0, 0, false, false, "transfers",
             "what one-sided calls move, rank by rank: which call opened the target's memory, with which it is complete\n"
             "        at the rank itself and at the target, after which the target may rely on it"},
    VerbInfo{"times", ScriptVerb::Times, 0, 0, false, false, "times",
             "how long each rank's events and held spans are on the time axis, in seconds; messages that go "
             "backwards on it"},
    VerbInfo{"point", ScriptVerb::Point, 3, 4, false, false, "point RANK EVENT|call N before|after",
             "pick a call; `frontier` prints what belongs to it"},
    VerbInfo{"frontier", ScriptVerb::Frontier, 1, 1, false, false, "frontier past|future",
             "the frontier of the point, rank by rank"},
    VerbInfo{"stopline", ScriptVerb::Stopline, 0, 1, false, false, "stopline [past|future]",
             "make a frontier the stopline; print it"},
    VerbInfo{"clear", ScriptVerb::Clear, 0, 0, false, false, "clear", "forget point and frontiers"},
    VerbInfo{"refresh", ScriptVerb::Refresh, 0, 0, true, false, "refresh",
             "read what ranks that run have done so far, without stopping them; waits"},
    VerbInfo{"follow", ScriptVerb::Follow, 1, 1, false, false, "follow on|off",
             "do that twice a second, as long as ranks run"},

    VerbInfo{"go", ScriptVerb::Go, 0, 0, true, false, "go", "take all ranks to the stopline; waits"},
    VerbInfo{"undo", ScriptVerb::Undo, 0, 0, true, false, "undo", "back to before the last command; waits"},
    VerbInfo{"redo", ScriptVerb::Redo, 0, 0, true, false, "redo", "the other way; waits"},
    VerbInfo{"rollback", ScriptVerb::Rollback, 0, 0, true, false, "rollback",
             "the shown rank one call back; waits"},
    VerbInfo{"forward", ScriptVerb::Forward, 0, 0, true, false, "forward",
             "the shown rank one call on; waits"},
    VerbInfo{"cancel", ScriptVerb::Cancel, 0, 0, true, false, "cancel",
             "end the operation under way; waits, and prints where the ranks stand then"},
    VerbInfo{"history", ScriptVerb::History, 0, 0, false, false, "history",
             "the commands that can be undone"},
    VerbInfo{"stops", ScriptVerb::Stops, 0, 0, false, false, "stops",
             "the stops so far, with every rank's place"},

    VerbInfo{"wait", ScriptVerb::Wait, 0, 3, true, false,
             "wait [stopped [RANKS]|running [RANKS]|exited [RANKS]|events RANK N]",
             "until the focus, or these ranks, have stopped, …; alone: stopped or ended. Fails when no rank has been\n"
             "        started"},
    VerbInfo{"expect", ScriptVerb::Expect, 2, -1, true, false,
             "expect [not] where RANK FILE:LINE\n"
             "  expect [not] place RANK before|after|inside N (or: before MPI_Init, not started)\n"
             "  expect [not] state RANK WORDS\n"
             "  expect [not] print EXPRESSION [rank RANKS] = VALUE\n"
             "  expect [not] VERB … contains TEXT",
             "fails when it is not so; with `within`, after trying that long"},
    VerbInfo{"sleep", ScriptVerb::Sleep, 1, 1, false, false, "sleep SECONDS", "let the job run that long"},
    VerbInfo{"echo", ScriptVerb::Echo, 0, -1, false, false, "echo TEXT", "print it"},
    VerbInfo{"quit", ScriptVerb::Quit, 0, 1, false, false, "quit [CODE]",
             "kill the job and exit with CODE (0)"},

    VerbInfo{"screenshot", ScriptVerb::Screenshot, 1, 1, false, true, "screenshot NAME",
             "save the window as NAME.png"},
    VerbInfo{"select", ScriptVerb::Select, 2, 2, false, true, "select RANK EVENT",
             "select a call in the diagram"},
    VerbInfo{"resize", ScriptVerb::Resize, 2, 2, false, true, "resize WIDTH HEIGHT",
             "size of the window in pixels"},
    VerbInfo{"axis", ScriptVerb::Axis, 1, 1, false, true, "axis time|events", "axis of the diagram"},
    VerbInfo{"style", ScriptVerb::Style, 1, 1, false, true, "style light|dark", "colours"},
    VerbInfo{"dock", ScriptVerb::Dock, 1, 1, false, true, "dock NAME",
             "bring a panel to the front: variables, stack, call, output, openMessages, races, breakpoints,\n"
             "        history, executions or log"},
};

const VerbInfo* verbInfo(const QString& name) {
    for (const VerbInfo& info : kVerbs) {
        if (name == QLatin1StringView(info.name)) {
            return &info;
        }
    }
    return nullptr;
}

/// Removes "within SECONDS" from the end of `rest`; false when the number is not one.
bool takeWithin(ScriptLine& line) {
    const qsizetype at = line.rest.lastIndexOf(QLatin1StringView("within "));
    if (at < 0 || (at > 0 && !line.rest.at(at - 1).isSpace())) {
        return true;
    }
    const QString number = line.rest.mid(at + 7).trimmed();
    if (number.contains(u' ')) {
        return true; // the words belong to the verb: `echo`-like text, a condition
    }
    bool ok = false;
    const double seconds = number.toDouble(&ok);
    if (!ok || seconds < 0 || seconds > 86400) {
        return false;
    }
    line.within = std::chrono::milliseconds(static_cast<qint64>(seconds * 1000));
    line.rest = line.rest.left(at).trimmed();
    return true;
}

} // namespace

QStringList splitWords(const QString& text) {
    QStringList words;
    QString word;
    bool inWord = false;
    bool quoted = false;
    for (const QChar c : text) {
        if (c == u'"') {
            quoted = !quoted;
            inWord = true;
        } else if (c.isSpace() && !quoted) {
            if (inWord) {
                words << word;
            }
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (inWord) {
        words << word;
    }
    return words;
}

std::optional<ScriptLine> parseScriptLine(const QString& text, bool inWindow, QString& error) {
    ScriptLine line;
    line.text = text.trimmed();
    if (line.text.startsWith(u'-')) {
        line.mayFail = true;
        line.text = line.text.mid(1).trimmed();
    }
    const QString name = line.text.section(u' ', 0, 0);
    const VerbInfo* info = verbInfo(name);
    if (info == nullptr) {
        error = QStringLiteral("`%1` is not a verb; `stopline --batch --help` lists them").arg(name);
        return std::nullopt;
    }
    if (info->inWindow && !inWindow) {
        error = QStringLiteral("`%1` needs the window: use --session-script instead of --batch").arg(name);
        return std::nullopt;
    }
    line.verb = info->verb;
    line.rest = line.text.mid(name.size()).trimmed();
    if (info->waits && !takeWithin(line)) {
        error = QStringLiteral("`within` needs a number of seconds");
        return std::nullopt;
    }
    line.words = splitWords(line.rest);
    const qsizetype count = line.words.size();
    if (count < info->least || (info->most >= 0 && count > info->most)) {
        error = QStringLiteral("usage: %1").arg(QString::fromUtf8(info->usage));
        return std::nullopt;
    }
    return line;
}

Script parseScript(const QString& text, bool inWindow) {
    Script script;
    int number = 0;
    for (const QString& raw : text.split(u'\n')) {
        ++number;
        const QString trimmed = raw.trimmed();
        if (trimmed.isEmpty() || trimmed.startsWith(u'#')) {
            continue;
        }
        QString error;
        if (auto line = parseScriptLine(trimmed, inWindow, error)) {
            line->number = number;
            script.lines << *line;
        } else {
            script.errors.append({number, error});
        }
    }
    return script;
}

QString scriptHelp() {
    QString text = QStringLiteral(
        "Scripts of Stopline: one verb a line; # begins a comment; a line that begins with - may fail.\n"
        "\"within SECONDS\" at the end bounds a verb that waits (default 60 s, --wait changes it).\n"
        "RANKS is all, 3 or 0-3,7; where none is given, the focus is meant.\n"
        "Exit codes: 0 all went well, 1 a verb failed, 2 the script is wrong, 3 a wait ran out; `quit CODE` "
        "gives CODE.\n"
        "A job that never started is a failure, unless the line with `run` may fail.\n"
        "Addresses are printed as 0x… and files by their base names, unless --verbose is given.\n\n");
    for (const VerbInfo& info : kVerbs) {
        text += QStringLiteral("  %1\n        %2%3\n")
                    .arg(QString::fromUtf8(info.usage), QString::fromUtf8(info.help),
                         info.inWindow ? QStringLiteral(" (only with --session-script)") : QString());
    }
    return text;
}

} // namespace stopline::app
