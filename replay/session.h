// A debugging session: one job, its recording, its control history. Everything the window and the batch script can do
// is a method here, and everything they show comes from here. Nothing blocks; results come by signals or handlers.
#pragma once

#include "../gdbmi/gdb_session.h"
#include "../tracelib/event.h"
#include "place.h"
#include "races.h"
#include "replay_by.h"
#include "timeline.h"

#include <QObject>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>
#include <QVector>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace stopline::replay {

/// What to start. Either `command` (a launcher's own command line, `mpirun -n 4 … ./app args`), or the other fields.
struct LaunchSpec {
    QStringList command;
    QString program;
    QStringList arguments;
    int ranks = 4;
    QString launcher = QStringLiteral("mpirun");
    QStringList launcherArguments;
    QString workingDirectory;              ///< empty: the window's
    QVector<std::pair<QString, QString>> environment; ///< added to, or replacing, the window's
    QString inputFile;                     ///< given to the launcher's stdin; empty: none
    quint32 alsoNoted = 0; ///< trace::AlsoNoted bits: what is recorded besides, to be given back or compared
    quint64 keepBytes = 0; ///< of compressed events, by each rank, after which the oldest go; 0: 1 GiB
};
/// Most events of all ranks together that are shown, if nothing else is said: about 3 GB.
inline constexpr quint64 kDefaultHistoryEvents = 40'000'000;

struct OrderMarks;
enum class RankPhase {
    NotStarted,
    Starting, ///< process made, gdb not joined yet
    Running,  ///< user code or MPI
    Holding,  ///< at its threshold, keeps MPI progressing, waits for the others
    Stopped,  ///< by gdb; see StopWhy
    Exited,
    Failed,   ///< its gdb or agent could not be made to work; `detail` says what and the remedy
    Lost,     ///< the connection to its agent ended
};

enum class StopWhy {
    None, Paused, Breakpoint, Watchpoint, Step, Signal, Stopline, RolledBack, Forwarded, Start, Abort, MpiError, ExitNoFinalize,
    Departure
};

struct SourceLocation {
    QString file;     ///< absolute where known
    int line = 0;     ///< 0: unknown
    QString function;
    QString module;   ///< of a call without a line: name of the library or program that it is in
    [[nodiscard]] bool known() const { return line > 0; }
};

/// All that is shown of a rank. A copy: valid as long as you keep it.
struct RankView {
    RankId rank{0};
    RankPhase phase = RankPhase::NotStarted;
    StopWhy why = StopWhy::None;
    QString detail;           ///< "SIGSEGV, Segmentation fault", "exit code 3", an error text
    Place place;              ///< last known; while running as of the last look
    bool insideMpi = false;
    QString callName;         ///< "MPI_Recv" when inside or before a call, else empty
    SourceLocation location;  ///< user's frame; from the trace while it is inside MPI and not unwound
    int userFrame = -1;       ///< level of the user's innermost frame in the stack; -1 unknown
    qint64 pid = 0;
    qint64 gdbPid = 0;
    int exitCode = -1;        ///< valid when Exited and not signalled
    int exitSignal = 0;
    bool endedWithJob = false; ///< exitSignal is no doing of its own: it still lived when its job was ended
    bool silent = false;      ///< its gdb or its agent owes an answer for some seconds
};

/// One letter for the rank strip and the diagram: N S R H P(aused) B(reakpoint) W T(step) ! (signal, abort, error)
/// L(stopline) X(exited) F(ailed) ?(lost).
[[nodiscard]] QChar stateLetter(const RankView& view);
/// "stopped at breakpoint", "running", "waiting in MPI", "exited with code 1", … (conventions section 5.3)
[[nodiscard]] QString stateText(const RankView& view);

/// Whom run control acts on: all ranks, one, or a chosen few.
struct Focus {
    std::optional<RankId> rank;  ///< the one it is on; nullopt: all ranks, or those of `group`
    QVector<RankId> group = {};  ///< two or more, ascending, while it is on a chosen few; else empty
    /// On these, in any order; on all when there are none.
    [[nodiscard]] static Focus of(QVector<RankId> ranks) {
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        Focus focus;
        if (ranks.size() == 1) {
            focus.rank = ranks.first();
        } else {
            focus.group = std::move(ranks);
        }
        return focus;
    }
    [[nodiscard]] bool all() const { return !rank && group.isEmpty(); }
    [[nodiscard]] bool contains(RankId one) const { return rank ? *rank == one : group.isEmpty() || group.contains(one); }
    friend bool operator==(const Focus&, const Focus&) = default;
};

/// "rank 3", "ranks 0-3,7".
[[nodiscard]] QString rankListText(const QVector<RankId>& ranks);

enum class Verb {
    Run, Continue, Pause, StepOver, StepInto, StepOut, RunTo, Kill, Restart, Replay, Go, Undo, Redo, Rollback, Forward
};
[[nodiscard]] QString verbName(Verb verb); ///< "Continue", "Step over", …

/// A command of the control history.
struct HistoryEntry {
    Verb verb = Verb::Run;
    Focus focus;
    Cut before; ///< event 0 everywhere: not started
    Cut after;  ///< filled in at the next stop or command
    QString note; ///< for the user, e.g. where undo ended up if not exactly there
};

struct UserBreakpoint {
    int id = 0;
    QString location; ///< as given: file:line or function
    QString condition;
    bool enabled = true;
    std::optional<RankId> onlyRank;
    // From gdb, the first rank that has it:
    QString file;
    int line = 0;
    bool pending = true;
    QString refused; ///< why the gdb of a rank will not have it; empty: none has refused it
    int hits = 0; ///< sum over ranks, continuing over re-executions
};

enum class Severity { Info, Warning, Error };

/// The first difference between a re-execution and the recording.
struct Departure {
    RankId rank{0};
    EventIndex event{0};
    QString recorded;  ///< call as recorded
    QString executed;  ///< call as executed
    SourceLocation where;
    QString memory; ///< "the heap is not where it was: …"; empty where no buffer is known to be elsewhere
    /// `memory` as the last part of a sentence: "; the heap …", or empty.
    [[nodiscard]] QString memoryPart() const { return memory.isEmpty() ? QString() : QStringLiteral("; ") + memory; }
};

/// Line that the user sees and can go to.
enum class Frontier { Past, Future };

class Session : public QObject {
    Q_OBJECT
  public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    // --- The job ---
    void setLaunch(const LaunchSpec& spec); ///< for the next Run or Restart
    [[nodiscard]] const LaunchSpec& launch() const;
    [[nodiscard]] int rankCount() const; ///< 0 before the first Run has counted them
    [[nodiscard]] RankView rank(RankId rank) const;
    /// As rank(); of one that runs with what its agent has told within the last tenth of a second: event number, and
    /// the call it is in where the timeline knows it (see lookAt()). No signal tells of these; ask again.
    [[nodiscard]] RankView live(RankId rank) const;
    /// Reads the trace of one rank into the timeline without stopping it.
    void lookAt(RankId rank);
    [[nodiscard]] bool jobExists() const;  ///< started and not ended
    [[nodiscard]] std::uint32_t launches() const; ///< how often a job has been started: of which one ranks are shown
    [[nodiscard]] bool allStopped() const; ///< no rank runs (ended ones do not count)
    [[nodiscard]] Cut places() const;

    // --- A recording instead of a job ---
    /// Shows what a file of `stopline record` holds. It is read in the background (operation() says so, cancel() ends it);
    /// operationFinished() tells the result, message() what is wrong with the file or has changed since. The next
    /// setLaunch() leaves it. Not while there is a job.
    /// Most events of all ranks together that are shown; the oldest are left out when there are more. For what is opened or started
    /// from now on; 0: all.
    void setHistoryEvents(quint64 most);
    /// How executions of the recording that are started from now on are made the same. At first as the environment variable
    /// STOPLINE_REPLAY_BY says, so that whole sets of tests and scripts can be run either way; without it, by source.
    void setReplayBy(ReplayBy how);
    /// What is marked in the present execution of the recording; null where none is under way, or it goes by source.
    [[nodiscard]] const OrderMarks* orderMarks() const;
    void openRecording(const QString& file);
    [[nodiscard]] QString openedRecording() const; ///< path of the file on show; empty: none

    // --- Run control; acts on the focus unless it says otherwise ---
    void setFocus(Focus focus);
    [[nodiscard]] Focus focus() const;
    /// The rank shown large: the focus rank, or the last one looked at when the focus is all.
    [[nodiscard]] RankId shownRank() const;
    void setShownRank(RankId rank);
    void setStopAtStart(bool stop); ///< Run stops all ranks before main (default: false, Run runs)
    void run();
    void continueRun();
    void pause();
    void stepOver();
    void stepInto();
    void stepOut();
    void runTo(const QString& file, int line);
    void kill();    ///< all ranks, always
    void restart(); ///< kill, then run from the start with the same settings
    /// Kill, then the recorded execution again from its start, with the breakpoints as they are now: every rank's MPI
    /// decides as it did. Behind the end of the recording the job goes on live.
    void replay();
    /// How far the present execution has been compared with the recording.
    struct Comparison {
        bool again = false;  ///< it is not the first of this recording
        bool equal = true;   ///< as far as it has been compared
        QVector<EventIndex> compared; ///< last event found equal, by rank; empty before there are ranks
        QVector<RankId> live;         ///< have gone on behind the end of the recording
    };
    [[nodiscard]] Comparison comparison() const;
    /// Empty when the verb can be used now, else why not (for a disabled action's tooltip).
    [[nodiscard]] QString whyNot(Verb verb) const;
    /// What is under way and can be cancelled ("Going to the stopline: 3 of 4 ranks there"), or empty.
    [[nodiscard]] QString operation() const;
    void cancel(); ///< ends the operation; ranks stay where they are

    // --- Breakpoints; on all ranks unless restricted; kept over restarts ---
    /// Answers its number; 0 when there can be no such breakpoint, which message() has explained.
    int addBreakpoint(const QString& location, const QString& condition = {}, std::optional<RankId> onlyRank = {});
    void removeBreakpoint(int id);
    void setBreakpointEnabled(int id, bool enabled);
    [[nodiscard]] QVector<UserBreakpoint> breakpoints() const;
    /// No rank of the job has still to be asked: each one that it is for has it, has it pending, or has refused it.
    [[nodiscard]] bool breakpointSettled(int id) const;

    // --- Looking at a stopped rank; `frame` is a level of its stack, negative: the user's innermost one ---
    template <typename T>
    using Handler = std::function<void(Result<T>)>;
    void stack(RankId rank, Handler<QVector<mi::Frame>> handler);
    void variables(RankId rank, int frame, Handler<QVector<mi::Variable>> handler);
    void evaluate(RankId rank, int frame, const QString& expression, Handler<QString> handler);
    /// Looking into structures and arrays: values that the rank's gdb keeps until they are closed, their frame is left
    /// or the rank's process ends. See mi::GdbSession for what is answered; handles are of use here only.
    void openValue(RankId rank, int frame, const QString& expression, Handler<mi::ValueTree> handler);
    void valueParts(RankId rank, const QString& handle, int from, int to, Handler<QVector<mi::ValueTree>> handler);
    void updateValues(RankId rank, Handler<QVector<mi::ValueChange>> handler);
    void closeValue(RankId rank, const QString& handle);
    void gdbCommand(RankId rank, const QString& command, Handler<QString> handler);
    /// True for frames of the debugger or of MPI, which the stack view greys or hides.
    [[nodiscard]] static bool isInternalFrame(const mi::Frame& frame);
    /// The innermost frame that is not internal; null where there is none. Points into `frames`.
    [[nodiscard]] static const mi::Frame* userFrame(const QVector<mi::Frame>& frames);

    // --- History of messages ---
    [[nodiscard]] const Timeline& timeline() const; ///< the address stays until timelineReplaced()
    /// A message of which one half has been made and not the other.
    struct OpenMessage {
        Message message;   ///< without the halves that this execution has not made
        bool made = true; ///< false: open in the recording, and this execution has made neither half again
        QString held{};   ///< "held for the message from rank 2, event 7": of a receive that was chosen to get it; else empty
        QString gone{};   ///< "rank 1 killed by SIGKILL (Killed)": where the missing half would be of a rank that has ended; else empty
        friend bool operator==(const OpenMessage&, const OpenMessage&) = default;
    };
    /// As the ranks stand now: also what was received in the recording and has not been again. First what this execution
    /// has made, receives that wait before messages that nobody has received, by rank and event.
    [[nodiscard]] std::vector<OpenMessage> openMessages() const;
    /// "rank 0 waits in MPI_Send (a.c:12) for rank 1, which waits in MPI_Send (a.c:14) for rank 0: a deadlock": ranks that wait
    /// for each other where they stand now.
    [[nodiscard]] QStringList deadlocks() const;
    /// The same words of the receive or probe that `call` is; empty where it is held for nothing.
    [[nodiscard]] QString heldFor(CallRef call) const;
    /// Reads the traces of all ranks without stopping anybody, in pieces that leave the event loop time for others.
    /// `done` is called when all that the ranks have done so far is in the timeline.
    void refreshTimeline(std::function<void()> done = {});
    /// While on, that is done about twice a second, as long as ranks run.
    void setFollowing(bool on);
    [[nodiscard]] bool following() const;
    /// Source of a call, from debug information of the program; cached. Unknown until resolved once.
    [[nodiscard]] SourceLocation sourceOf(CallRef call) const;
    /// "MPI_Send to 3 tag 5 comm world 4 KiB", for lists and messages.
    [[nodiscard]] QString callText(CallRef call) const;

    // --- Stoplines, undo, rollback ---
    void setPoint(std::optional<Point> point); ///< also computes both frontiers
    [[nodiscard]] std::optional<Point> point() const;
    [[nodiscard]] std::optional<Line> frontier(Frontier which) const;
    void setStopline(Frontier which);
    void setStopline(const Line& line);
    [[nodiscard]] std::optional<Line> stopline() const;
    void go(); ///< to the stopline
    void undo();
    void redo();
    void rollback(); ///< one call of the focus rank (of the shown rank when the focus is all)
    void forward();
    [[nodiscard]] std::optional<Cut> undoTarget() const;     ///< preview
    [[nodiscard]] std::optional<Cut> rollbackTarget() const; ///< preview
    [[nodiscard]] QVector<HistoryEntry> history() const;     ///< oldest first, without what was undone
    [[nodiscard]] std::optional<HistoryEntry> nextUndo() const;
    [[nodiscard]] std::optional<HistoryEntry> nextRedo() const;
    [[nodiscard]] std::optional<Departure> departure() const; ///< of the present execution

    /// Numbered stops of the job so far, for the diagram: places and reasons by rank.
    struct StopSummary {
        int number = 0;
        Cut places;
        QVector<StopWhy> why; ///< None: was not stopped by this stop
    };
    [[nodiscard]] const QVector<StopSummary>& stops() const;

    // --- Races ---
    /// Of the timeline, as far as it has been looked at: found in the background as it grows. racesChanged() tells when all
    /// of it has been; valid until timelineReplaced().
    [[nodiscard]] const RaceAnalysis& races() const;
    /// Looks again at what is recorded, though nothing may have been added: racesChanged() follows.
    void lookForRaces();
    /// All of them as of the last racesChanged(), by rank and call.
    [[nodiscard]] const std::vector<Race>& foundRaces() const;
    /// Of the ranks of the focus: to where the next recorded race of theirs lies before them, which becomes the point and
    /// the stopline; where none is recorded, they run until one is found.
    void stopAtNextRace();
    [[nodiscard]] QString whyNotNextRace() const; ///< as whyNot()
    [[nodiscard]] bool runsToNextRace() const;    ///< none is recorded before them, and none has been found yet
    /// "nothing raced: …", why there are none.
    [[nodiscard]] QString noRacesText() const;
    /// Executes the recording again, but the race of this call gets this send's message first. What does not depend on it
    /// is forced to be as recorded, the rest runs live. What was on show is kept (see executions()), and undo() goes back to
    /// it. Where that choice has been made before, the execution that it made is shown, and nothing is run. Several races of one
    /// call (MPI_Startall) are told apart by the message that each got, the send `insteadOf`; else it is the first of them
    /// that can get this one.
    void takeInstead(CallRef call, CallRef send, MaybeCall insteadOf = {});

    // --- Executions beside the one on show: it has departed from them, or a choice was made ---
    struct Execution {
        int number = 1;    ///< in the order in which they were made
        int from = 0;      ///< number of the one with which it shares its beginning; 0: none
        QString text;      ///< by what it differs from the one that it was made of; empty for the first
        quint64 events = 0;
        bool shown = true;
        QString outcome{}; ///< how it ended, or what its ranks do: "rank 0 exited with code 1", "still running"
    };
    [[nodiscard]] QVector<Execution> executions() const; ///< by number; at least the one on show
    /// Shows another one in place of the present one, which is kept; its job is ended.
    void showExecution(int number);
    /// Where a rank is not the same in two executions.
    struct ExecutionDifference {
        RankId rank{0};
        EventIndex same{0}; ///< last event that is the same
        QString first;      ///< what follows in the one; empty: it ends there
        QString second;     ///< in the other
    };
    /// By rank: how the kept execution with this number (first) and the one on show (second) differ. Empty if there is none.
    [[nodiscard]] QVector<ExecutionDifference> differences(int number) const;

    // --- Output of the program ---
    /// Everything a rank wrote in this execution, both streams, in the order it arrived. rank -1: the launcher's own.
    [[nodiscard]] QByteArray output(RankId rank) const;
    void writeInput(const QByteArray& bytes); ///< to the launcher's stdin

  signals:
    void ranksChanged();                              ///< count or any view of many
    void rankChanged(stopline::RankId rank);
    void focusChanged();
    void verbsChanged();                              ///< whyNot() of something may differ
    void operationChanged();
    void operationFinished(bool ok, const QString& text); ///< go, undo, … arrived or failed; text says where
    void stopped();                                   ///< all ranks of the focus have stopped after a command
    void timelineChanged();                           ///< grew
    void timelineReplaced();                          ///< timeline() is another object (new job, a branch, a file)
    void stoplineChanged();                           ///< point, frontiers or stopline
    void racesChanged();                              ///< all that is recorded has been looked at for races
    void raceReached(const stopline::replay::CallRef& call); ///< "stop at the next race" has found it, or is on its way to it
    void executionsChanged();
    void historyChanged();
    void breakpointsChanged();
    void outputAdded(stopline::RankId rank, int stream, const QByteArray& bytes);
    void outputCleared();
    void departed(const stopline::replay::Departure& departure);
    void message(stopline::replay::Severity severity, const QString& text, const QString& remedy);
    void messageGone(const QString& text); ///< what message() has told is not so any more
    void jobEnded(const QString& summary);

  private:
    friend class TraceFollower;
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// "rank 2's MPI_Recv at event 17 (tasks.c:41) raced: 2 other messages could have come"
[[nodiscard]] QString raceText(const Session& session, const Race& race);

} // namespace stopline::replay
