// One execution of the job: the launcher's process, the agents that connect, one RankProcess a rank.
#pragma once

#include "../gdbmi/agent_link.h"
#include "rank_process.h"

#include <QObject>
#include <QProcess>
#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

namespace stopline::replay {

/// How the job's programs and the debugger's own files are found.
struct Installation {
    QString agent;            ///< path of stopline-agent
    QString libraryDirectory; ///< holds the preload modules
    QString gdb = QStringLiteral("gdb");
    QString mapDirectory;     ///< for the ranks' mappings; empty: memory
    /// Beside the running program, overridden by STOPLINE_AGENT, STOPLINE_GDB, STOPLINE_MAP_DIRECTORY.
    static Installation find();
};

class Job : public QObject {
    Q_OBJECT
  public:
    using Configure = std::function<void(RankId, agent::RankConfig&)>;

    /// `configure` is asked for gate and threshold of each rank as it connects.
    Job(const LaunchSpec& spec, const Installation& installation, Incarnation incarnation, Configure configure,
        QObject* parent);
    ~Job() override; ///< ends what still lives

    /// Starts the launcher; failures come by failed(), from the event loop.
    void start();
    [[nodiscard]] Incarnation incarnation() const { return m_incarnation; }
    /// Number of ranks once the first has connected, before that 0.
    [[nodiscard]] int rankCount() const { return int(m_ranks.size()); }
    /// Null until that rank has connected.
    [[nodiscard]] RankProcess* rank(RankId rank) const;
    [[nodiscard]] bool complete() const; ///< every rank has connected
    [[nodiscard]] bool over() const { return m_over; }
    /// Ends ranks, gdbs and the launcher; ended() follows. Safe to call again.
    void kill();
    void writeInput(const QByteArray& bytes);

  signals:
    void sized(int ranks);
    void rankAdded(stopline::replay::RankProcess* rank);
    void launcherOutput(int stream, const QByteArray& bytes);
    void failed(const QString& text, const QString& remedy); ///< the job could not be started
    void ranksGone();                                        ///< after kill(): no rank of it lives
    void over_(const QString& summary);                      ///< nothing of it runs any more

  private:
    void onAgent(agent::AgentLink* link);
    void onLauncherFinished();
    void rankEnded();
    void finishAgents();
    void checkOver();
    void checkGone();
    void removeSessionDirectory();

    LaunchSpec m_spec;
    Installation m_installation;
    Incarnation m_incarnation;
    Configure m_configure;
    agent::AgentServer m_server;
    QProcess m_launcher;
    std::vector<RankProcess*> m_ranks;
    QByteArray m_errors; ///< last of the launcher's stderr, for messages
    qint64 m_launcherPid = 0;
    bool m_killed = false;
    bool m_endedByItself = false; ///< when it was killed, all ranks had ended already
    bool m_gone = false;
    bool m_finishing = false;
    bool m_launcherDone = false;
    bool m_failed = false;
    bool m_over = false;
};

} // namespace stopline::replay
