// The life of one rank as its agent sees it: the loop between window, gdb, rank and launcher.
#pragma once

#include "agent_connection.h"
#include "agent_hold.h"
#include "agent_mapping.h"
#include "agent_modules.h"
#include "agent_process.h"
#include "agent_spawn.h"

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace stopline::agent {

/// Why the agent leaves its loop.
enum class Leaving {
    No,
    Finished,     ///< the window has seen the rank's end
    WindowGone,   ///< the connection has ended
    LauncherGone, ///< mpirun or its daemon has died
    Terminated,   ///< a signal asks to
};

struct SessionSetup {
    int rank = 0;
    pid_t launcher = 0;    ///< our parent at the start
    int signalFd = -1;     ///< TERM, INT, HUP, QUIT, CHLD and what else must not end the agent
    sigset_t signalMask{}; ///< as the launcher gave it, for rank and gdb
    std::vector<std::string> arguments;
    std::string order;  ///< log that the rank is to follow; empty: none
    std::string values; ///< log that the rank is to be given; empty: none
    std::string spawned; ///< who has spawned the rank, for trace::kSpawnedVariable; empty: the launcher has started it
};

/// One rank, its gdb and its mapping. run() returns the agent's exit code.
class Session {
  public:
    Session(Connection& window, SessionSetup setup);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] int run(const Fields& config);

  private:
    [[nodiscard]] std::optional<FaultText> start(const Fields& config, int& exitCode);
    void loop();
    [[nodiscard]] int leave();
    [[nodiscard]] bool launcherGone() const;
    [[nodiscard]] int timeoutMs() const;

    void readSignals();
    void readWindow();
    void obey(const Fields& command);
    void toGdb(std::string_view bytes);
    void passToGdb(std::string_view bytes);
    void flushGdb();
    void readGdb();
    void readGdbErrors();
    bool readOutput(OutputPipe& output);
    void drainOutputs(int milliseconds);

    void watchMpiProcess(); ///< when MPI runs in another process than the child
    void reapChildren();
    void checkRank();
    void gdbEnded(int status);
    void killRank();
    void killAll();
    void serveUntilFinished();
    void tellModules(const std::string& modules);
    void killGdb();
    void lookAtMapping(std::int64_t now);
    void sendState();
    void fault(const FaultText& fault);

    // Recording without gdb (agent_session_record.cpp).
    [[nodiscard]] std::optional<FaultText> startRecorded(RankStart start, int& exitCode);
    void passOn(int signal);
    void sendModules();
    void letThroughGate();
    [[nodiscard]] int endAsRank(int status) const;

    [[nodiscard]] pid_t rankPid() const;
    [[nodiscard]] bool outputsOpen() const;
    void startStateThread();

    Connection& m_window;
    SessionSetup m_setup;
    Mapping m_mapping;
    HoldClock m_hold{m_mapping};
    Leaving m_leaving = Leaving::No;

    // Recording without gdb.
    bool m_record = false;
    ModuleReader m_modules;
    std::string m_modulesTold;
    bool m_gateOpened = false;
    std::int64_t m_gateSoon = 0; ///< until then the rank may come to its gate before anybody waits for its state
    std::uint64_t m_modulesLength = 0; ///< of the dictionary when the modules were read last

    // The rank.
    pid_t m_child = -1;
    int m_childFd = -1; ///< pidfd
    bool m_childReaped = false;
    int m_childStatus = -1;
    pid_t m_mpiPid = 0; ///< the process that uses MPI, where it is not the child; 0: it is
    int m_mpiFd = -1;
    int m_mpiStatus = -1; ///< wait status, where it has become a child of the agent
    bool m_mpiFdReadable = false;
    bool m_childFdReadable = false;
    bool m_rankEnded = false; ///< noticed
    bool m_endTold = false;   ///< in a State frame
    bool m_endedWithJob = false; ///< it lived when the launcher had its agent end
    std::int64_t m_endTime = 0;
    int m_rankStatus = -1;
    std::int64_t m_recheckUntil = 0; ///< something hints at the rank's end: look often until then
    std::int64_t m_lastCheck = 0;
    std::vector<OutputPipe> m_outputs;
    bool m_finish = false;

    // gdb.
    std::string m_gdbProgram;
    GdbProcess m_gdb;
    std::string m_gdbQueue;
    std::string m_gdbPartial; ///< of a command line
    std::string m_gdbReplay;  ///< everything sent so far, until gdb attaches
    std::string m_gdbErrors;  ///< the end of what it wrote to stderr
    LineSplitter m_gdbLines;
    bool m_replayPossible = true;
    bool m_gdbRestarted = false;
    bool m_attachAsked = false;
    bool m_exitAsked = false;

    int m_stateEvent = -1;      ///< eventfd of the thread that waits for the mapping's state
    std::string m_lastState;    ///< what was told last, without the progress
    std::string m_lastProgress; ///< event number and the like
    std::int64_t m_lastStateTime = 0;
    std::int64_t m_lastLook = 0; ///< at all of the mapping
    bool m_overwrittenTold = false;
};

} // namespace stopline::agent
