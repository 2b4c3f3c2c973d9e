// A window without a window: starts a job under the agent and keeps what it hears.
#pragma once

#include "../../../../gdbmi/agent_link.h"

#include <QByteArray>
#include <QElapsedTimer>
#include <QMap>
#include <QProcess>
#include <QStringList>

#include <functional>
#include <memory>

namespace stopline::agent::test {

struct Rank {
    AgentLink* link = nullptr;
    QByteArray out, err, mi;
    QStringList faults; ///< "code: text | remedy"
    bool closed = false;
    qint64 endedAt = -1; ///< ms of Window::clock when the rank's end was told
};

class Window {
  public:
    Window();
    ~Window();

    /// mpirun -n `ranks` `options` agent `program`. Not yet configured links get `config` as they come.
    void start(int ranks, const QStringList& program, const QByteArray& input = {},
               const QStringList& options = {});
    /// Runs the event loop until `done` or the time is over; says the states if it is.
    bool waitFor(const char* what, const std::function<bool()>& done, int ms = 30000);
    void waste(int ms);           ///< runs the event loop for so long
    bool waitForReady(int ranks); ///< every rank has written "ready"
    void attachAll();             ///< gdb attaches and stops every rank
    void send(int rank, const QByteArray& command) { ranks[rank].link->gdb()->send(command + '\n'); }
    [[nodiscard]] QString describe() const;

    RankConfig config;
    QMap<QString, QString> environment;
    bool autoOpenGate = true;
    AgentServer server;
    QProcess mpirun;
    QMap<int, Rank> ranks;
    QStringList rejected;
    QElapsedTimer clock;
};

/// Environment of a launcher that works on a small machine and as root.
[[nodiscard]] QProcessEnvironment launcherEnvironment();

/// What a job has left behind: processes by id that still run, shared-memory files, session directories.
class Leftovers {
  public:
    void watch(qint64 pid);
    void watchJob(const Window& window); ///< agents, ranks, gdbs and the launcher
    [[nodiscard]] QStringList now() const;
    /// Waits until nothing is left and prints how long that took: 5 s is the aim, but a slow machine is no
    /// failure.
    [[nodiscard]] bool gone(Window& window);

  private:
    QList<qint64> m_pids;
    QString m_segments; ///< begin of the names of the job's shared-memory files
    QString m_session;
};

} // namespace stopline::agent::test
