// Runs a job without any debugger and writes what its ranks record into a file.
#pragma once

#include "../gdbmi/agent_link.h"
#include "input_tee.h"
#include "job.h"
#include "recording_writer.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>

#include <memory>
#include <vector>

namespace stopline::replay {

/// The launcher has our standard input, output and error. What the ranks record is fetched every second, so
/// that little is left to be fetched when they end, and the rest at their end, however they end.
class RecordingJob : public QObject {
    Q_OBJECT
  public:
    RecordingJob(const LaunchSpec& spec, const Installation& installation, const QString& file,
                 QObject* parent = nullptr);
    ~RecordingJob() override;

    /// Makes the file and starts the job. Empty, or what is wrong: nothing has been started and no file is
    /// left then.
    [[nodiscard]] QString start();
    /// Ranks delay their calls at random, so that rare orders happen; 0: they do not. Before start().
    void setJitter(quint64 seed) { m_jitter = seed; }
    /// Which receives race is found while the job runs (tracelib/preload/online.h), and a replay of the recording is told the
    /// sources of those alone. Before start().
    void setFindRaces(bool find) { m_findRaces = find; }
    /// The job's memory is at the same addresses each time, as in a replay; else the system chooses, as without us. Before start().
    void setFixedAddresses(bool fixed) { m_fixedAddresses = fixed; }
    /// Events that all ranks have recorded so far, as last fetched.
    [[nodiscard]] quint64 eventsSeen() const;
    /// How the rank ended that is most likely the cause of a job that ended badly; empty when every rank ended well.
    [[nodiscard]] QString failure() const;
    /// From here on ranks that a signal to end ends, or of whose end nothing is told (agents may be killed with their ranks),
    /// have ended by this: "killed by stopline after 60 s without a new call".
    void setEndedBy(const QString& what) { m_endedBy = what; }
    /// Gives a signal to the launcher. The job may end by it; finished() follows then.
    void signalLauncher(int signal);
    /// A signal asked for the end: what is said and waited for is kept short.
    [[nodiscard]] bool over() const { return m_over; }

  signals:
    void said(const QString& text); ///< for the user, a line
    /// The file is written as far as it can be. Exit code of the job as the launcher gave it, 128 + signal
    /// where one ended it; 1 where the job says 0 and there is no file.
    void finished(int exitCode);

  private:
    struct Rank;

    void onAgent(agent::AgentLink* link);
    void fetchNext();
    void onEnded(Rank& rank);
    void onClosed(Rank& rank);
    void keep(Rank& rank, bool last);
    void add(ChunkType type, std::int32_t rank, std::string bytes);
    void sayNoRoom();
    void complete(Rank& rank, int waitStatus);
    [[nodiscard]] QString endedBy(const Rank& rank) const;
    void sayFault(const QString& text);
    void onLauncherFinished();
    void checkComplete();
    void writeFile();
    void writeJob();
    [[nodiscard]] std::string sites() const;
    [[nodiscard]] Rank* rankOf(std::int32_t number) const;

    LaunchSpec m_spec;
    Installation m_installation;
    QString m_file;
    RecordingWriter m_writer;
    agent::AgentServer m_server;
    QProcess m_launcher;
    std::unique_ptr<InputTee> m_input; ///< null: the launcher reads a file
    qint64 m_launcherPid = 0;
    JobTable m_jobs;
    std::vector<std::unique_ptr<Rank>> m_ranks; ///< by row; null: has not come
    std::size_t m_nextFetch = 0;
    QTimer m_fetch;
    QTimer m_patience; ///< for ranks that are still on their way when the launcher has ended
    QElapsedTimer m_clock;
    qint64 m_started = 0; ///< ns since 1970
    int m_exitCode = 0;
    bool m_launcherDone = false;
    bool m_startFailed = false;
    quint64 m_jitter = 0;
    bool m_findRaces = false;
    bool m_fixedAddresses = false;
    bool m_faultSaid = false;
    struct Chunk {
        ChunkType type;
        std::int32_t rank;
        std::string bytes;
    };
    std::vector<Chunk> m_unwritten; ///< what did not fit when it came
    QString m_endedBy;
    bool m_over = false;
    QStringList m_faultsSaid;
};

} // namespace stopline::replay
