// The window's end of the connections to the agents.
#pragma once

#ifndef Q_MOC_RUN // moc stumbles over what <compare> includes, and needs none of it
#include "../tracelib/mapping.h"
#include "../tracelib/reader.h"
#include "../tracelib/types.h"
#endif
#include "agent_protocol.h"
#include "gdb_session.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <string>

namespace stopline::agent {

/// What the agent last said of its rank (the State fields, typed).
struct RankStatus {
    qint64 pid = 0;
    trace::RankState state = trace::RankState::Absent;
    EventIndex event{0};
    bool insideCall = false;
    bool pollOpen = false;
    bool inHold = false;
    bool atGate = false;
    trace::StopReason reason = trace::StopReason::None;
    int code = 0;
    quint64 stopFunction = 0;
    quint64 libraryBase = 0;
    bool mpiLinked = false;
    int worldRank = -1;
    int worldSize = 0;
    bool alive = false; ///< false before the start and after the end; see `ended`
    bool ended = false;
    int waitStatus = 0; ///< as waitpid gives it; valid when ended; -1 when the system did not tell
    bool endedWithJob = false; ///< it lived when the launcher ended the job; valid when ended
    qint64 gdbPid = 0;
    int recordingOff = 0; ///< errno
};

struct Hello {
    std::int32_t rank = -1; ///< in MPI_COMM_WORLD of its job
    JobKey job = kFirstJob;
    QString spawner; ///< where the job was spawned, see trace::kSpawnedVariable; empty: the launcher has started it
    int size = 0; ///< of MPI_COMM_WORLD as the launcher's environment says; 0 unknown
    QString host, program, directory;
    qint64 agentPid = 0;
    qint64 clockOffsetNs = 0; ///< add to the agent's CLOCK_MONOTONIC to get ours
};

struct RankConfig {
    trace::Gate gate = trace::Gate::Constructor;
    EventIndex threshold = kNoThreshold;
    Incarnation incarnation{1};
    QString libraryDirectory; ///< holds libstopline-mpi-*.so
    QString gdbProgram = QStringLiteral("gdb");
    QString mapDirectory; ///< empty: anonymous memory
    quint64 keepBytes = 0; ///< of compressed events of a rank, see trace::blockBytesFor(); 0: the default
    bool randomizeAddresses = false;
    QByteArray order;    ///< log of what MPI is to decide as it did (tracelib/order.h); empty: nothing
    QByteArray values;   ///< log of times and random bytes that the rank is given (tracelib/values.h); empty: it gets what is true
    quint32 alsoNoted = 0; ///< trace::AlsoNoted bits
    quint64 jitter = 0;  ///< seed of random delays before calls; 0: none
    bool findRaces = false; ///< while it runs: which receives raced stands among the values it notes
    bool record = false; ///< no gdb, and the agent keeps out of the rank's way (see Config in agent_protocol.h)
};

/// What an agent that has gone leaves of its rank.
enum class Orphan {
    Read,       ///< the rank is dead, and all that it has recorded is there
    Unreadable, ///< the rank is dead, and what it did last is not to be had
    Lives,      ///< it has not died with its agent
};

/// Connection to the agent of one rank. Owned by the AgentServer until taken.
class AgentLink : public QObject {
    Q_OBJECT
  public:
    ~AgentLink() override;
    [[nodiscard]] const Hello& hello() const;
    [[nodiscard]] const RankStatus& status() const;
    [[nodiscard]] bool connected() const;
    /// MI to and from this rank's gdb. Owned by the link.
    [[nodiscard]] mi::MiTransport* gdb();

    void configure(const RankConfig& config); ///< once, starts the rank
    /// What the rank is called where its connection is spoken of; before that its number in its job.
    void setName(const QString& name);
    void openGate();
    void setThreshold(EventIndex event);
    void release();
    void leaveOrder(); ///< the rank follows its log of order no further
    void stopRank(); ///< SIGSTOP to the rank
    void kill();
    void finish();
    void poll();
    /// Brings image() up to date, then calls back; false when the connection ended first. May be called while another
    /// pull is under way (answered in order).
    void pull(std::function<void(bool)> handler);
    [[nodiscard]] const trace::RankImage& image() const;
    /// Of image(): what is before this byte of all blocks has been read or written and is not needed again.
    void releaseBlocks(std::uint64_t upTo);
    /// Times and random bytes that the program has asked for, as far as they came with the last pull.
    [[nodiscard]] const QByteArray& values() const;
    /// Of a rank that is recorded: its code as text (see agent_modules.h); empty before it was told.
    [[nodiscard]] const std::string& modules() const;
    /// After the end of the connection: brings image() and values() up to date from the mapping itself, which a rank of
    /// this host leaves as it was when agent and rank were killed, then calls back. The rank dies with its agent; that is waited
    /// for, 1.5 s at most. `then` may be called at once, and is not when the link is deleted before.
    void readOrphan(std::function<void(Orphan)> then);
    /// Nothing of the mapping is wanted any more: the room it takes on this host is free once agent and rank have gone, and
    /// readOrphan() gives no Read and does not wait.
    void forgetMapping();

  signals:
    void modulesTold(); ///< modules() has changed
    void statusChanged(const stopline::agent::RankStatus& before, const stopline::agent::RankStatus& now);
    void output(int stream, const QByteArray& bytes); ///< stream 1 or 2
    void fault(const QString& code, const QString& text, const QString& remedy);
    void closed(const QString& why); ///< agent gone; at most once

  private:
    friend class AgentServer;
    AgentLink();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Listens on loopback (or on all addresses if asked) and hands out links of agents that know the token.
class AgentServer : public QObject {
    Q_OBJECT
  public:
    explicit AgentServer(QObject* parent = nullptr);
    ~AgentServer() override;
    /// Empty on success, else what is wrong. Makes a new token; connections with an older one are dropped.
    QString listen(bool allAddresses = false);
    [[nodiscard]] QString connectAddress() const; ///< for STOPLINE_CONNECT
    [[nodiscard]] QString token() const;
    /// Makes the token invalid and a new one valid, for the next launch.
    void renewToken();
    void close();

  signals:
    /// A rank has connected and said Hello. The receiver takes ownership (setParent) and calls configure().
    void agentConnected(stopline::agent::AgentLink* link);
    void rejected(const QString& why); ///< a connection without token or of another version

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::agent
