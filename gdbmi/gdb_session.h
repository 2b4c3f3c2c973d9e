// One gdb, spoken to over GDB/MI: typed requests with tokens and deadlines in, typed events out.
#pragma once

#include "result.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QVector>

#include <chrono>
#include <functional>
#include <map>
#include <memory>

namespace stopline::mi {

/// Where MI bytes go to and come from: a socket frame, a QProcess, a recorded transcript.
class MiTransport : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;
    virtual void send(const QByteArray& bytes) = 0;
  signals:
    void received(const QByteArray& bytes);
    /// gdb has gone; `why` is for the user. Emitted at most once.
    void closed(const QString& why);
};

struct Frame {
    int level = 0;
    quint64 address = 0;
    QString function; ///< "??" when gdb knows none
    QString file;     ///< as the debug information says
    QString fullName; ///< absolute path, may be empty
    QString from;     ///< shared object, empty for the program itself or where gdb gives none
    int line = 0;     ///< 0 when unknown
};

struct Variable {
    QString name;
    QString type;
    QString value;
    bool argument = false;
    bool composite = false; ///< an array or a structure: it has parts
};

/// A value that gdb keeps, to be looked into: a variable, a member, an element. Members of base classes stand under
/// the class's name; elements have the index of the program's language.
struct ValueTree {
    QString handle; ///< gdb's name for it, for parts and changes
    QString name;   ///< the expression, the member's name or the element's index
    QString type;
    QString value;  ///< "{...}" and "[100]" for what has parts
    int parts = 0;  ///< members or elements; more than that may be listed of a C++ class. Of what a printer of gdb's
                    ///< shows (std::vector) only whether there are any is known: 1 or 0
};

/// What has become of a kept value since it was last looked at.
struct ValueChange {
    QString handle;
    QString value;
    QString type;      ///< when it has changed
    int parts = -1;    ///< when their number has changed, else -1
    bool inScope = true;
    bool typeChanged = false; ///< its parts are gone
};

struct Breakpoint {
    int number = 0;
    bool pending = false;
    bool enabled = true;
    QString function, file, fullName, what;
    int line = 0;
    quint64 address = 0; ///< first location
    int hits = 0;
};

enum class StopCause {
    Unknown, BreakpointHit, WatchpointTrigger, EndSteppingRange, FunctionFinished, LocationReached, SignalReceived,
    ExitedNormally, Exited, ExitedSignalled, SolibEvent, Exec, Fork, WatchpointScope
};

struct StopEvent {
    StopCause cause = StopCause::Unknown;
    QString signalName, signalMeaning;
    QVector<int> breakpoints; ///< numbers hit
    int threadId = 0;         ///< gdb's thread number that stopped; 0 if none given
    int exitCode = 0;
    QString returnValue;      ///< of FunctionFinished, as gdb prints it; empty if none
    QString newProgram;       ///< of Exec: path of the program that runs from now on
    Frame frame;              ///< innermost frame as gdb reports it; function empty if none given
};

struct Thread {
    int id = 0;      ///< gdb's number
    qint64 lwp = 0;  ///< kernel thread id; 0 when gdb names none
    QString name;
    bool running = false;
    Frame frame;     ///< innermost; function empty while running
};

struct Library {
    QString path;
    bool symbolsLoaded = false;
};

/// What gdb does when the program gets this signal.
struct SignalPolicy {
    QString name; ///< as gdb calls it: "SIGUSR1"; a real-time signal is "SIG34"
    bool stop = true;
    bool pass = true; ///< the program sees it when it goes on
};

enum class Resume { Continue, Next, Step, Finish, NextInstruction, StepInstruction };

/// State of the connection to one gdb. Failed and Dead are final.
enum class GdbState { Starting, Ready, Running, Stopped, Dead };

struct FrameFilter {
    /// True for frames that are the debugger's or MPI's, not the user's. Used to find the user's frame.
    std::function<bool(const Frame&)> isInternal;
};

/// One gdb process. All requests are asynchronous; the handler is called exactly once, also when gdb dies, from the
/// event loop, never from inside the call; only deleting the session drops handlers uncalled. Requests are queued
/// and sent one at a time (an interrupt overtakes): stack and variable refreshes that wait are dropped (Cancelled)
/// when a resume is asked for. Breakpoints may be changed while the program runs (gdb 13 on Linux inserts them
/// then); stack, variables and evaluation need it stopped (NotStopped). When a request gets no answer before its
/// deadline, it and all that wait behind it fail with TimedOut; the answer, if it ever comes, is dropped.
/// Stops that come from a function called by an evaluation belong to that evaluation and are not announced, except
/// a breakpoint hit inside it, which leaves the program there.
class GdbSession : public QObject {
    Q_OBJECT
  public:
    template <typename T>
    using Handler = std::function<void(Result<T>)>;

    /// Does not take ownership of the transport, which must outlive the session.
    explicit GdbSession(MiTransport* transport, QObject* parent = nullptr);
    ~GdbSession() override;

    [[nodiscard]] GdbState state() const;
    /// For messages: "waits for -target-attach since 3.2 s", or empty.
    [[nodiscard]] QString pending() const;
    /// Default deadline of a request (20 s); 0 means none. Those that resume (for their ^running only), attach (for the stop
    /// as well) or read symbols have one six times as long.
    void setDeadline(std::chrono::milliseconds deadline);
    /// A request unanswered for so long is announced once by notResponding (default 5 s); 0 switches that off.
    void setWatchdog(std::chrono::milliseconds limit);
    /// Writes everything sent and received to this file, in the form the transcript player reads.
    void recordTranscript(const QString& path);

    /// The settings every Stopline gdb has (async, auto-solib-add off, pagination, confirm, print limits, signals:
    /// SIGSTOP and SIGINT stop, print, nopass; SIGUSR1.. pass) ; waits for the first prompt.
    void initialise(Handler<Unit> handler);
    /// Answered when the process is attached and stopped. That first stop is not announced by stopped().
    void attach(qint64 pid, Handler<Unit> handler);
    void detach(Handler<Unit> handler);
    void quit(); ///< -gdb-exit; the transport then closes

    /// Loads the symbols of libraries whose path matches a regular expression of gdb. Loaded ones are not loaded again.
    void loadSymbols(const QString& libraryPattern, Handler<Unit> handler);
    /// Loads the symbols of all libraries outside the system's and MPI's directories, now and from then on whenever
    /// one is loaded, before its code runs (while stepping: soon after). Breakpoints in them then bind.
    void loadUserLibraries(Handler<Unit> handler);
    /// Stops, with StopCause::Exec, when the program replaces itself by another: before any code of the new one runs,
    /// its libraries included. Breakpoints at addresses must then be deleted, as gdb cannot insert them any more and
    /// would refuse to go on; all others are its to set again.
    void watchExec(Handler<Unit> handler);
    /// Libraries of the attached process, as gdb announced them.
    [[nodiscard]] QVector<Library> libraries() const;
    /// Gives gdb the separate debug files of the system back and reads libc again, for its files and lines. Slow.
    void loadLibcDebug(Handler<Unit> handler);
    /// Stack of a thread, innermost first, at most `limit` frames. Libraries on the way whose symbols are missing are
    /// loaded and the unwinding repeated until it reaches main (or the thread's start) or nothing changes.
    void stack(int threadId, int limit, Handler<QVector<Frame>> handler);
    // The first question for values loads gdb's printers for C++'s library: a std::vector is then its elements, a
    // std::map its keys and values, a std::string its text.
    void variables(int threadId, int frame, Handler<QVector<Variable>> handler); ///< arguments first
    /// The plain values of a frame by name, for comparing: no structures, arrays or pointers. Of an optimised or stripped
    /// frame there may be none. Where blocks hide a variable by another of that name, the innermost counts.
    void scalars(int threadId, int frame, Handler<std::map<QString, QString>> handler);
    /// Keeps the value of an expression in that frame, for as long as the frame lives, until it is closed.
    void openValue(const QString& expression, int threadId, int frame, Handler<ValueTree> handler);
    /// Parts `from` to before `to` of a kept value or of a part of one; they are kept with it.
    void valueParts(const QString& handle, int from, int to, Handler<QVector<ValueTree>> handler);
    /// Brings all kept values up to date, and tells of those that differ since the last time.
    void updateValues(Handler<QVector<ValueChange>> handler);
    void closeValue(const QString& handle); ///< and all its parts; one that is not there is no harm
    void evaluate(const QString& expression, int threadId, int frame, Handler<QString> handler);
    /// `location` as gdb takes it: file:line, function, *0xADDRESS. Pending is allowed unless `address` form.
    void insertBreakpoint(const QString& location, const QString& condition, bool temporary, Handler<Breakpoint> handler);
    /// All breakpoints as gdb has them now, with their hit counts.
    void breakpoints(Handler<QVector<Breakpoint>> handler);
    void setBreakpointEnabled(int number, bool enabled, Handler<Unit> handler);
    void setBreakpointCondition(int number, const QString& condition, Handler<Unit> handler);
    void setBreakpointIgnore(int number, int count, Handler<Unit> handler);
    void deleteBreakpoint(int number, Handler<Unit> handler);
    /// Resumes; answered at ^running. `frame` only for Finish: the frame to return *from* is selected by level.
    void resume(Resume how, int threadId, int frame, Handler<Unit> handler);
    /// Runs to a location (file:line, function, *0xADDRESS); ends with LocationReached there, or earlier at whatever
    /// else stops the program. `threadId` 0: whichever thread comes there first. Answered at ^running.
    void advance(const QString& location, int threadId, Handler<Unit> handler);
    void threads(Handler<QVector<Thread>> handler);
    void setSignals(const QVector<SignalPolicy>& policies, Handler<Unit> handler);
    /// -exec-interrupt. Stopline normally stops a rank by SIGSTOP through the agent; both end in stopped().
    void interrupt(Handler<Unit> handler);
    /// Any console command; answers its console output. `timeout` 0: the default deadline.
    void console(const QString& command, Handler<QString> handler, std::chrono::milliseconds timeout = {});
    /// Value of a register expression of the selected thread, e.g. "$pc", as a number.
    void readNumber(const QString& expression, int threadId, int frame, Handler<quint64> handler);
    void writeMemory(quint64 address, const QByteArray& bytes, Handler<Unit> handler);

  signals:
    void stateChanged(stopline::mi::GdbState state);
    void stopped(const stopline::mi::StopEvent& event);
    void running();
    /// gdb has answered "running" and has then been unable to let the program go on, as a breakpoint cannot be inserted
    /// for one: `why` in its words. state() is Stopped again; no stopped() comes.
    void resumeFailed(const QString& why);
    void exited(const stopline::mi::StopEvent& event); ///< the program, not gdb
    void breakpointChanged(const stopline::mi::Breakpoint& breakpoint);
    void breakpointDeleted(int number); ///< by gdb itself: a temporary one that was hit
    /// The condition of a breakpoint could not be evaluated: `why` in gdb's words. The program stops there, as if it
    /// held; this comes just before stopped().
    void conditionFailed(int number, const QString& why);
    void consoleOutput(const QString& text);
    /// The connection to gdb has ended, also after quit(): `why` names what was pending. state() is Dead.
    void died(const QString& why);
    /// A request has had no answer for the watchdog's time: `why` names it. gdb may still come back.
    void notResponding(const QString& why);

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::mi
