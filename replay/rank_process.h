// One incarnation of one rank: its agent, its gdb, and the state machine that joins them.
#pragma once

#include "../gdbmi/agent_link.h"
#include "../gdbmi/gdb_session.h"
#include "session.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace stopline::replay {

/// A variable: the number of its frame among the user's, innermost 0, and its name.
using FrameVariable = std::pair<int, QString>;
using FrameValues = std::map<FrameVariable, QString>;

/// How a rank goes on from its arrival at an event to a place between events.
struct RunOn {
    enum class Kind {
        None,    ///< the place is at the event
        Address, ///< to a code address: the first time that all that is known of the old stop is so again
        Signal,  ///< until the signal comes again
        Abort,   ///< until the library's own stop (abort, fatal error, exit without finalize) comes again
        Exit,    ///< to the end of the program
        Start,   ///< to the start of main: of where it stood before its first event no more is known
        Inside,  ///< into the call whose begin is the event, and paused there
    };
    Kind kind = Kind::None;
    quint64 address = 0;
    int depth = 0;      ///< number of frames on the stack, 0: not compared
    int ordinal = 1;    ///< of the times that count: where the condition held, at any depth; fewer is too early
    QString condition;  ///< of the user's breakpoint that stopped it there; empty: none
    /// Plain values of the innermost frames of the user's at that place: tells the rounds of a loop apart. Empty: not
    /// compared.
    FrameValues values;
    friend bool operator==(const RunOn&, const RunOn&) = default;
};

/// Where a rank is to be brought.
struct Target {
    Place place;
    RunOn runOn;
    StopWhy why = StopWhy::Stopline; ///< why it stood there, to be shown again
    friend bool operator==(const Target&, const Target&) = default;
};

/// What becomes of that which a rank that is killed did since it was last looked at.
enum class LastSteps {
    Read,  ///< it is read, before the rank has ended()
    Leave, ///< it is not: nobody wants it
};

/// Runs the rank through its life. Every signal comes from the event loop. Phases change only in setPhase(), which
/// logs a change that the table of legal ones does not hold.
class RankProcess : public QObject {
    Q_OBJECT
  public:
    /// Takes ownership of the link.
    RankProcess(RankId rank, agent::AgentLink* link, const agent::RankConfig& config, QObject* parent);
    ~RankProcess() override;

    [[nodiscard]] RankId rank() const { return m_rank; }
    [[nodiscard]] const RankView& view() const { return m_view; }
    [[nodiscard]] agent::AgentLink* link() const { return m_link; }
    [[nodiscard]] mi::GdbSession* gdb() const { return m_gdb; }
    [[nodiscard]] bool attached() const { return m_attached; }
    [[nodiscard]] bool ended() const { return m_view.phase == RankPhase::Exited || m_view.phase == RankPhase::Lost; }
    /// It is over, and what it did last is being read: it has not ended() yet, and will have in seconds at most.
    [[nodiscard]] bool settling() const { return m_settling > 0; }
    [[nodiscard]] bool stopped() const { return m_view.phase == RankPhase::Stopped; }
    [[nodiscard]] int thread() const { return m_thread; }
    [[nodiscard]] quint64 stopAddress() const { return m_stopAddress; }
    [[nodiscard]] const mi::StopEvent& lastStop() const { return m_lastStop; }
    /// The rank is inside a traced call or holds, as its mapping said when it was last read.
    [[nodiscard]] bool insideCall() const { return m_insideCall; }

    /// Leaves a rank that has joined where it waits: shown as stopped before main.
    void keep();
    /// Lets a rank that has joined and waits run to the start of the program's main. `otherwise` is called instead where
    /// there is no main to be found; without it, one that a library may yet bring is waited for.
    void runToMain(std::function<void()> otherwise = {}) { runToFirst(QStringLiteral("MAIN__"), std::move(otherwise)); }
    /// Lets a rank that has joined and waits (or is stopped) run at full speed.
    void letGo();
    /// One user-level step. From inside MPI or a stopline the call is finished first.
    void step(Verb how);
    /// Runs until this temporary breakpoint of its gdb's, or any other stop.
    void runTo(int breakpoint);
    /// Stops the rank, also when it is not joined yet (it is joined where it is).
    void pause();
    /// Does `work` while the rank is stopped: at once if it is, else by a stop that nobody sees. `work` must call its
    /// argument when done. Ranks without gdb are joined first or, if they have ended, skipped.
    void whileStopped(std::function<void(std::function<void()>)> work);
    /// Lets an arrived rank into the stop function.
    void release();
    /// Ends the rank and its gdb. With Read it has ended() once its last steps are in its history; the agent serves until it is
    /// told to finish. Safe to call again with Leave.
    void kill(LastSteps last);
    /// Brings place and counters of view() up to date from the mapping without stopping the rank.
    void look(std::function<void()> then);
    /// The same, but nobody is told that there is something to read: whoever asks reads by himself. False: the rank has
    /// gone.
    void fetch(std::function<void(bool)> then);

    /// Takes in what link()->image() has got, and calls back when all of it has been, at once or later; it may be that the rank
    /// is no more by then. Only then is the rank told to have stopped or ended.
    using Taker = std::function<void(std::function<void()>)>;
    void setTaker(Taker taker) { m_taker = std::move(taker); }

    /// Source location of the last event's call site; set by the session, which knows the symbols.
    void setLocation(const SourceLocation& location, int userFrame);
    /// What is shown as the reason of the present stop; for a rank brought back to an earlier one.
    void setWhy(StopWhy why);
    /// Says of a rank that has been joined, and that nobody has let go or kept yet, that others have not come.
    void waitForOthers();

  signals:
    void phaseChanged();
    void joined();   ///< gdb is attached, the rank waits at its gate: letGo() or keep()
    void arrived();  ///< at its threshold, held
    void stoppedNow(); ///< a stop that the user sees
    void ended_();     ///< exited, killed or lost
    /// It has replaced its program by exec; `recorded` when it had called MPI before: nothing more will be recorded.
    void programReplaced(const QString& path, bool recorded);
    void rejoined();   ///< the new program's libraries are there; it goes on by itself
    void fault(const QString& text, const QString& remedy);

  private:
    enum class Plan { None, FinishThenNext, FinishThenStep };

    void tryJoin();
    void onAttached();
    void onStatus(const agent::RankStatus& before, const agent::RankStatus& now);
    void onStopped(const mi::StopEvent& event);
    void onResumeFailed(const QString& why);
    void readTrace(bool pulled, std::function<void()> then);
    void classify(const mi::StopEvent& event);
    void onExec(const QString& path);
    void rejoin();
    void watchStopFunction(std::function<void()> done);
    void afterStop();
    void takePlace();
    void setPhase(RankPhase phase, StopWhy why = StopWhy::None, const QString& detail = {});
    void resume(mi::Resume how, int frame = -1);
    void runToFirst(const QString& function, std::function<void()> otherwise);
    void finishToUser(Plan then);
    void callFinished();
    void settleEnd();
    void readLast(std::function<void()> then);
    void setSilent(bool silent);
    void stopByAgent();
    void endOf(int waitStatus);
    void setEndedWithJob();

    RankId m_rank;
    agent::AgentLink* m_link;
    mi::GdbSession* m_gdb;
    RankView m_view;
    mi::StopEvent m_lastStop;
    bool m_gdbReady = false;
    bool m_attaching = false;
    bool m_attached = false;
    bool m_waiting = false;     ///< joined, not let go yet
    bool m_joinWanted = false;  ///< pause or work asked for before there was a gate
    bool m_pauseWanted = false; ///< the user's pause
    bool m_quietWanted = false; ///< a stop for whileStopped
    int m_stopsSent = 0;        ///< SIGSTOPs sent and not seen by gdb yet
    int m_stopsAsked = 0;       ///< counts them all, to tell which one a watch is about
    bool m_insideCall = false;
    bool m_rejoinWanted = false; ///< after an exec: its new program may come to the gate again
    int m_stopBreakpoint = 0;
    int m_thread = 1;
    quint64 m_stopAddress = 0;
    int m_runToBreakpoint = 0;
    int m_startBreakpoint = 0;
    Taker m_taker;
    Plan m_plan = Plan::None;
    int m_callLine = 0; ///< of the call that the plan finishes
    mi::Resume m_lastResume = mi::Resume::Continue;
    int m_lastFrame = -1;
    std::vector<std::function<void(std::function<void()>)>> m_work;
    bool m_working = false;
    bool m_killing = false;
    LastSteps m_lastSteps = LastSteps::Read;
    int m_settling = 0; ///< reads of what it did last that are under way
};

} // namespace stopline::replay
