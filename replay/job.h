// One execution of the job: the launcher's process, the agents that connect, one RankProcess a rank.
#pragma once

#include "../gdbmi/agent_link.h"
#include "jobs.h"
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

    /// `configure` is asked for gate and threshold of each rank as it connects. `jobs` says which row is whose; whoever
    /// hears sized() and spawned() keeps it up to date.
    Job(const LaunchSpec& spec, const Installation& installation, Incarnation incarnation, const JobTable& jobs,
        Configure configure, QObject* parent);
    ~Job() override; ///< ends what still lives

    /// Starts the launcher; failures come by failed(), from the event loop.
    void start();
    [[nodiscard]] Incarnation incarnation() const { return m_incarnation; }
    /// Null until that rank has connected.
    [[nodiscard]] RankProcess* rank(RankId rank) const;
    [[nodiscard]] bool complete() const; ///< every rank has connected, of the spawned jobs those that have begun to
    [[nodiscard]] bool over() const { return m_over; }
    [[nodiscard]] bool killed() const { return m_killed; } ///< it is being ended by the user
    /// Ends ranks, gdbs and the launcher; over_() follows. Safe to call again, also with Leave while the last steps are being
    /// read, which ends that.
    void kill(LastSteps last);
    void writeInput(const QByteArray& bytes);
    void endInput(); ///< behind all that has been written

  signals:
    void sized(int ranks); ///< of the first job
    /// The first rank of a spawned job has connected: before rankAdded().
    void spawned(stopline::JobKey key, int ranks, const stopline::replay::Spawner& spawner);
    void rankAdded(stopline::replay::RankProcess* rank);
    void launcherOutput(int stream, const QByteArray& bytes);
    void failed(const QString& text, const QString& remedy); ///< the job could not be started
    void ranksGone();                                        ///< after kill(): no rank of it lives
    void over_(const QString& summary);                      ///< nothing of it runs any more

  private:
    void onAgent(agent::AgentLink* link);
    [[nodiscard]] RankId welcome(const agent::Hello& hello);
    void onLauncherFinished();
    void rankEnded(RankId rank);
    /// Whether `holds` of all ranks of a job that has come.
    [[nodiscard]] bool all(const JobRanks& job, bool (*holds)(const RankProcess*)) const;
    [[nodiscard]] bool all(bool (*holds)(const RankProcess*)) const;
    void finishAgents();
    void checkOver();
    void checkGone();
    void removeSessionDirectory();

    LaunchSpec m_spec;
    Installation m_installation;
    Incarnation m_incarnation;
    Configure m_configure;
    const JobTable& m_jobs;
    std::vector<JobKey> m_here; ///< of which some rank has connected
    agent::AgentServer m_server;
    QProcess m_launcher;
    std::vector<RankProcess*> m_ranks; ///< by row
    QByteArray m_errors; ///< last of the launcher's stderr, for messages
    qint64 m_launcherPid = 0;
    bool m_killed = false;
    LastSteps m_lastSteps = LastSteps::Read; ///< once it is killed
    bool m_endedByItself = false; ///< when it was killed, all ranks had ended already
    bool m_gone = false;
    bool m_finishing = false;
    bool m_launcherDone = false;
    bool m_failed = false;
    bool m_over = false;
    int m_overLooks = 0; ///< since the launcher has ended, that have found an agent
};

} // namespace stopline::replay
