#include "recording_job.h"

#include "launch_plan.h"
#include "recording_job_rank.h"
#include "recording_sites.h"
#include "words.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSysInfo>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace stopline::replay {

namespace {

/// Every rank is fetched about so often, and no faster than one rank in kFetchStepMs.
constexpr int kFetchMs = 1000;
constexpr int kFetchStepMs = 5;
/// So long after the launcher's end is waited for the last words of agents.
constexpr int kPatienceMs = 4000;

std::string bytesOf(const QString& text) {
    return QFile::encodeName(text).toStdString();
}

QStringList words(const LaunchSpec& spec) {
    if (!spec.command.isEmpty()) {
        return spec.command;
    }
    return QStringList{spec.launcher, QStringLiteral("-n"), QString::number(spec.ranks)} +
           spec.launcherArguments + QStringList(spec.program) + spec.arguments;
}

/// By us or by the launcher, not by a fault of its own. Launchers kill agents soon after they told them to end, so it
/// may not be known.
bool toldToEnd(int waitStatus) {
    if (waitStatus == -1) {
        return true;
    }
    const int signal = WIFSIGNALED(waitStatus) ? WTERMSIG(waitStatus) : 0;
    return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

} // namespace

RecordingJob::RecordingJob(const LaunchSpec& spec, const Installation& installation, const QString& file,
                           QObject* parent)
    : QObject(parent), m_spec(spec), m_installation(installation), m_file(file) {
    m_installation.gdb.clear();
    connect(&m_server, &agent::AgentServer::agentConnected, this, &RecordingJob::onAgent);
    connect(&m_launcher, &QProcess::finished, this, &RecordingJob::onLauncherFinished);
    connect(&m_launcher, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            m_startFailed = true;
            emit said(QStringLiteral("the launcher %1 could not be started: %2")
                          .arg(m_launcher.program(), m_launcher.errorString()));
            onLauncherFinished();
        }
    });
    connect(&m_fetch, &QTimer::timeout, this, &RecordingJob::fetchNext);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, [this] {
        for (const auto& rank : m_ranks) {
            if (rank != nullptr && !rank->complete) {
                rank->faults += "its end was not told within " + std::to_string(kPatienceMs / 1000) +
                                " s after the launcher's; what it did last may be missing\n";
                complete(*rank, -1);
            }
        }
    });
}

RecordingJob::~RecordingJob() = default;

QString RecordingJob::start() {
    const LaunchPlan plan = planLaunch(m_spec, m_installation);
    if (!plan.error.isEmpty()) {
        return plan.remedy.isEmpty() ? plan.error : plan.error + u' ' + plan.remedy;
    }
    if (const std::string wrong = m_writer.open(bytesOf(m_file)); !wrong.empty()) {
        return QStringLiteral("The recording cannot be written: %1. Name another file with -o.")
            .arg(QFile::decodeName(QByteArray::fromStdString(wrong)));
    }
    if (const QString wrong = m_server.listen(plan.otherHosts); !wrong.isEmpty()) {
        m_writer.discard();
        return wrong;
    }
    m_launcher.setProcessChannelMode(QProcess::ForwardedChannels);
    if (m_spec.inputFile.isEmpty()) {
        m_input = std::make_unique<InputTee>(STDIN_FILENO, m_launcher, this);
        connect(&m_launcher, &QProcess::started, m_input.get(), &InputTee::start);
    }
    prepareLauncher(m_launcher, m_spec, m_server);
    m_started = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    m_clock.start();
    writeJob();
    connect(&m_launcher, &QProcess::started, this, [this] { m_launcherPid = m_launcher.processId(); });
    m_launcher.start(plan.program, plan.arguments);
    return {};
}

void RecordingJob::writeJob() {
    const QString directory =
        m_spec.workingDirectory.isEmpty() ? QDir::currentPath() : m_spec.workingDirectory;
    add(ChunkType::Job, -1,
        encodeFileFields({{"stopline", STOPLINE_VERSION},
                          {"command", bytesOf(words(m_spec).join(u'\n'))},
                          {"directory", bytesOf(QDir(directory).absolutePath())},
                          {"started", std::to_string(m_started)},
                          {"noted", std::to_string(m_spec.alsoNoted)},
                          {"recorder", QSysInfo::machineHostName().toStdString()},
                          {"ranks", std::to_string(m_ranks.size())}}));
}

void RecordingJob::signalLauncher(int signal) {
    if (m_launcher.state() != QProcess::NotRunning && m_launcherPid > 0) {
        ::kill(static_cast<pid_t>(m_launcherPid), signal);
    }
}

RecordingJob::Rank* RecordingJob::rankOf(std::int32_t number) const {
    const auto index = static_cast<std::size_t>(number);
    return number >= 0 && index < m_ranks.size() ? m_ranks[index].get() : nullptr;
}

void RecordingJob::onAgent(agent::AgentLink* link) {
    link->setParent(this);
    const agent::Hello& hello = link->hello();
    const bool room = m_jobs.find(hello.job) != nullptr || hello.size <= kMaxFileRank - m_jobs.rankCount();
    const int inJob = std::clamp(std::max(hello.size, hello.rank + 1), 1, kMaxFileRank);
    if (room) {
        m_jobs.add(hello.job, inJob, spawnerOf(hello.spawner.toStdString()));
        nameRanks(m_jobs);
    }
    const std::int32_t number = m_jobs.row(hello.job, hello.rank).value();
    const auto size = static_cast<std::size_t>(m_jobs.rankCount());
    if (number < 0 || rankOf(number) != nullptr || m_over) {
        link->deleteLater();
        return;
    }
    link->setName(rankText(RankId(number)));
    if (m_ranks.size() < size) {
        m_ranks.resize(size);
        writeJob();
        m_fetch.start(std::max<int>(kFetchStepMs, kFetchMs / static_cast<int>(size)));
    }
    m_ranks[static_cast<std::size_t>(number)] = std::make_unique<Rank>();
    Rank& rank = *m_ranks[static_cast<std::size_t>(number)];
    rank.number = number;
    rank.link = link;
    add(ChunkType::Rank, number,
        encodeFileFields({{"job", QString::number(hello.job, 16).toStdString()},
                          {"rank", std::to_string(hello.rank)},
                          {"size", std::to_string(inJob)},
                          {"spawner", hello.spawner.toStdString()},
                          {"host", bytesOf(hello.host)},
                          {"program", bytesOf(hello.program)},
                          {"directory", bytesOf(hello.directory)},
                          {"clock", std::to_string(hello.clockOffsetNs)}}));
    connect(link, &agent::AgentLink::statusChanged, this,
            [this, &rank](const agent::RankStatus&, const agent::RankStatus& now) {
                if (now.ended) {
                    onEnded(rank);
                }
            });
    connect(link, &agent::AgentLink::modulesTold, this, [this, &rank] {
        rank.modules = rank.link->modules();
        add(ChunkType::Modules, rank.number, rank.modules);
    });
    connect(link, &agent::AgentLink::fault, this,
            [this, &rank](const QString&, const QString& text, const QString& remedy) {
                rank.faults += bytesOf(text) + '\n';
                sayFault(remedy.isEmpty() ? text : text + u' ' + remedy);
            });
    connect(link, &agent::AgentLink::closed, this, [this, &rank] { onClosed(rank); });
    agent::RankConfig config;
    config.gate = trace::Gate::None; // the agent sees to it
    config.incarnation = Incarnation(1);
    config.libraryDirectory = m_installation.libraryDirectory;
    config.gdbProgram.clear();
    config.mapDirectory = m_installation.mapDirectory;
    config.keepBytes = m_spec.keepBytes;
    config.alsoNoted = m_spec.alsoNoted;
    config.randomizeAddresses = !m_fixedAddresses;
    config.record = true;
    config.jitter = m_jitter;
    config.findRaces = m_findRaces;
    link->configure(config);
}

/// What is wrong with the program or the machine is wrong for every rank, and said once.
void RecordingJob::sayFault(const QString& text) {
    if (!m_faultsSaid.contains(text)) {
        m_faultsSaid << text;
        emit said(text);
    }
}

/// A rank at a time, so that what is fetched together is little.
void RecordingJob::fetchNext() {
    for (std::size_t tried = 0; tried < m_ranks.size(); ++tried) {
        Rank* rank = m_ranks[m_nextFetch++ % m_ranks.size()].get();
        if (rank == nullptr || rank->fetching || rank->ending || rank->complete || rank->link.isNull() ||
            !rank->link->connected() || rank->link->status().pid == 0) {
            continue;
        }
        rank->fetching = true;
        rank->link->pull([this, rank](bool ok) {
            rank->fetching = false;
            if (ok && !rank->ending && !rank->complete) {
                keep(*rank, false);
            }
        });
        return;
    }
}

/// Writes what is new of a rank.
void RecordingJob::keep(Rank& rank, bool last) {
    const trace::RankImage& image = rank.link.isNull() ? rank.image : rank.link->image();
    rank.unwritten = !m_writer.addImage(rank.number, image, last);
    if (rank.unwritten) {
        sayNoRoom();
    } else if (!rank.link.isNull()) {
        if (blocksTellSites(image)) {
            rank.sites.merge(callSitesOf(image));
        }
        rank.link->releaseBlocks(m_writer.blocksWritten(rank.number));
    }
}

/// The same of what is no part of an image.
void RecordingJob::add(ChunkType type, std::int32_t rank, std::string bytes) {
    if (!m_writer.add(type, rank, bytes)) {
        m_unwritten.push_back({type, rank, std::move(bytes)});
        sayNoRoom();
    }
}

void RecordingJob::sayNoRoom() {
    if (!m_faultSaid) {
        m_faultSaid = true;
        emit said(QStringLiteral(
                      "%1: %2. The job goes on; unless there is room again at its end, its recording is cut "
                      "short here.")
                      .arg(QString::fromLocal8Bit(m_writer.partName().c_str()),
                           QString::fromLocal8Bit(std::strerror(m_writer.fault()))));
    }
}

void RecordingJob::onEnded(Rank& rank) {
    if (rank.ending || rank.complete) {
        return;
    }
    rank.ending = true;
    rank.link->pull([this, &rank](bool ok) {
        if (ok) {
            const int status = rank.link->status().waitStatus;
            rank.link->finish();
            complete(rank, status);
        } // else its closed() follows
    });
}

/// Its agent has gone. When that was killed, the rank died with it, and what it has recorded is still in its
/// mapping.
void RecordingJob::onClosed(Rank& rank) {
    if (rank.complete) {
        return;
    }
    rank.link->readOrphan([this, &rank](agent::Orphan orphan) {
        if (rank.complete) {
            return;
        }
        const agent::RankStatus& status = rank.link->status();
        const bool started = status.pid > 0;
        if (started && orphan != agent::Orphan::Read) {
            rank.faults +=
                "the connection to its agent ended before its end was told; what it did last may be missing\n";
        }
        rank.withAgent = started && !status.ended && orphan != agent::Orphan::Lives;
        complete(rank, status.ended ? status.waitStatus : -1);
    });
}

QString RecordingJob::endedBy(const Rank& rank) const {
    if (!toldToEnd(rank.waitStatus)) {
        return {};
    }
    return !m_endedBy.isEmpty() ? m_endedBy
           : rank.withAgent     ? QStringLiteral("ended when its agent was killed (launchers do so to end a job)")
                                : QString();
}

void RecordingJob::complete(Rank& rank, int waitStatus) {
    rank.complete = true;
    rank.waitStatus = waitStatus;
    keep(rank, true);
    if (!rank.link.isNull() && !rank.link->values().isEmpty()) {
        add(ChunkType::Values, rank.number, rank.link->values().toStdString());
    }
    add(ChunkType::Exit, rank.number,
        encodeFileFields({{"status", std::to_string(waitStatus)},
                          {"by", endedBy(rank).toStdString()},
                          {"faults", rank.faults}}));
    checkComplete();
}

void RecordingJob::onLauncherFinished() {
    if (m_launcherDone) {
        return;
    }
    m_launcherDone = true;
    m_exitCode = m_startFailed                                     ? 127
                 : m_launcher.exitStatus() == QProcess::NormalExit ? m_launcher.exitCode()
                                                                   : 128 + m_launcher.exitCode();
    m_patience.start(kPatienceMs);
    // Agents' last words may still be on their way.
    QTimer::singleShot(0, this, &RecordingJob::checkComplete);
}

void RecordingJob::checkComplete() {
    if (m_over || !m_launcherDone) {
        return;
    }
    for (const auto& rank : m_ranks) {
        if (rank != nullptr && !rank->complete) {
            return;
        }
    }
    m_over = true;
    m_fetch.stop();
    m_patience.stop();
    m_server.close();
    if (m_launcherPid > 0) {
        removeLauncherDirectory(m_launcherPid);
        removeLaunchersParent();
    }
    writeFile();
}

} // namespace stopline::replay
