#include "job.h"

#include "launch_plan.h"
#include "words.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QPointer>
#include <QTimer>

#include <algorithm>


namespace stopline::replay {

Q_LOGGING_CATEGORY(logJob, "stopline.job", QtWarningMsg)

namespace {
// How long a launcher that was told to end may take before it is killed. Open MPI takes two seconds of its own,
// more on a busy machine, and one that is killed leaves its session directory behind.
constexpr int kTerminateMs = 10000;
constexpr int kOverLookMs = 250; ///< between two looks for agents that have outlived their launcher
constexpr int kOverLooks = 12;   ///< so many, and they are told to end
constexpr qsizetype kKeptErrors = 16 * 1024;
} // namespace

Installation Installation::find() {
    Installation found;
    const QString here = QCoreApplication::applicationDirPath();
    auto fromEnvironment = [](const char* name, const QString& otherwise) {
        return qEnvironmentVariable(name, otherwise);
    };
    found.agent = fromEnvironment("STOPLINE_AGENT", here + QStringLiteral("/stopline-agent"));
    found.libraryDirectory = QFileInfo(found.agent).absolutePath();
    if (!QFileInfo::exists(found.libraryDirectory + QStringLiteral("/libstopline-mpi-openmpi.so"))) {
        found.libraryDirectory = here + QStringLiteral("/../lib/stopline");
    }
    found.libraryDirectory = fromEnvironment("STOPLINE_LIBRARIES", found.libraryDirectory);
    found.gdb = fromEnvironment("STOPLINE_GDB", found.gdb);
    found.mapDirectory = fromEnvironment("STOPLINE_MAP_DIRECTORY", {});
    return found;
}

Job::Job(const LaunchSpec& spec, const Installation& installation, Incarnation incarnation, const JobTable& jobs, Configure configure,
         QObject* parent)
    : QObject(parent), m_spec(spec), m_installation(installation), m_incarnation(incarnation), m_configure(std::move(configure)),
      m_jobs(jobs) {
    connect(&m_server, &agent::AgentServer::agentConnected, this, &Job::onAgent);
    connect(&m_server, &agent::AgentServer::rejected, this, [](const QString& why) { qCInfo(logJob) << "rejected:" << why; });
    connect(&m_launcher, &QProcess::readyReadStandardOutput, this, [this] {
        emit launcherOutput(1, m_launcher.readAllStandardOutput());
    });
    connect(&m_launcher, &QProcess::readyReadStandardError, this, [this] {
        const QByteArray bytes = m_launcher.readAllStandardError();
        m_errors = (m_errors + bytes).right(kKeptErrors);
        emit launcherOutput(2, bytes);
    });
    connect(&m_launcher, &QProcess::finished, this, [this] { onLauncherFinished(); });
    connect(&m_launcher, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            m_failed = true;
            emit failed(tr("The launcher %1 could not be started: %2").arg(m_launcher.program(), m_launcher.errorString()),
                        tr("Install an MPI (Debian: openmpi-bin) or name the launcher with --launcher."));
            onLauncherFinished();
        }
    });
}

void Job::removeSessionDirectory() {
    if (m_launcherPid > 0) {
        removeLauncherDirectory(m_launcherPid);
        m_launcherPid = 0;
    }
}

Job::~Job() {
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr) {
            rank->disconnect(this);
            rank->kill(LastSteps::Leave);
        }
    }
    m_launcher.disconnect(this);
    if (m_launcher.state() != QProcess::NotRunning) {
        // Agents end their ranks when the connection goes; the launcher follows its agents. It gets a moment for that.
        m_server.close();
        m_launcher.terminate();
        if (!m_launcher.waitForFinished(kTerminateMs)) {
            m_launcher.kill();
            m_launcher.waitForFinished(1000);
        }
    }
    removeSessionDirectory();
}

void Job::start() {
    if (const QString error = m_server.listen(); !error.isEmpty()) {
        m_failed = true;
        QMetaObject::invokeMethod(this, [this, error] {
            emit failed(tr("Cannot listen for the agents: %1").arg(error), {});
            onLauncherFinished();
        }, Qt::QueuedConnection);
        return;
    }
    const LaunchPlan plan = planLaunch(m_spec, m_installation);
    if (!plan.error.isEmpty()) {
        m_failed = true;
        QMetaObject::invokeMethod(this, [this, plan] {
            emit failed(plan.error, plan.remedy);
            onLauncherFinished();
        }, Qt::QueuedConnection);
        return;
    }
    // A window that is killed before any agent has started leaves nobody else to end the launcher.
    prepareLauncher(m_launcher, m_spec, m_server);
    connect(&m_launcher, &QProcess::started, this, [this] { m_launcherPid = m_launcher.processId(); });
    m_launcher.start(plan.program, plan.arguments);
}

void Job::writeInput(const QByteArray& bytes) {
    if (m_launcher.state() != QProcess::NotRunning && m_spec.inputFile.isEmpty()) {
        m_launcher.write(bytes);
    }
}

void Job::endInput() {
    if (m_launcher.state() != QProcess::NotRunning && m_spec.inputFile.isEmpty()) {
        m_launcher.closeWriteChannel();
    }
}

RankProcess* Job::rank(RankId rank) const {
    const auto index = std::size_t(rank.value());
    return rank.value() >= 0 && index < m_ranks.size() ? m_ranks[index] : nullptr;
}

bool Job::all(const JobRanks& job, bool (*holds)(const RankProcess*)) const {
    for (int i = job.first; i < job.first + job.size; ++i) {
        const RankProcess* one = rank(RankId(i));
        if (one == nullptr || !holds(one)) {
            return false;
        }
    }
    return true;
}

bool Job::all(bool (*holds)(const RankProcess*)) const {
    return !m_here.empty() && std::all_of(m_here.begin(), m_here.end(), [this, holds](JobKey key) {
        const JobRanks* job = m_jobs.find(key);
        return job != nullptr && all(*job, holds);
    });
}

bool Job::complete() const {
    return all([](const RankProcess*) { return true; });
}

/// The row of a rank that has connected; -1 when there is no place for it.
RankId Job::welcome(const agent::Hello& hello) {
    const int size = std::max(hello.size, hello.rank + 1);
    if (std::find(m_here.begin(), m_here.end(), hello.job) == m_here.end()) {
        m_here.push_back(hello.job);
        if (hello.job == kFirstJob) {
            emit sized(size);
        } else {
            emit spawned(hello.job, size, spawnerOf(hello.spawner.toStdString()));
        }
    }
    const RankId row = m_jobs.row(hello.job, hello.rank);
    if (m_killed || row.value() < 0 || rank(row) != nullptr) {
        return RankId(-1);
    }
    if (m_ranks.size() < std::size_t(m_jobs.rankCount())) {
        m_ranks.resize(std::size_t(m_jobs.rankCount()), nullptr);
    }
    return row;
}

void Job::onAgent(agent::AgentLink* link) {
    link->setParent(this);
    const RankId row = welcome(link->hello());
    if (row.value() < 0) {
        link->deleteLater();
        return;
    }
    link->setName(rankText(row));
    agent::RankConfig config;
    config.incarnation = m_incarnation;
    config.libraryDirectory = m_installation.libraryDirectory;
    config.gdbProgram = m_installation.gdb;
    config.mapDirectory = m_installation.mapDirectory;
    config.keepBytes = m_spec.keepBytes;
    config.alsoNoted = m_spec.alsoNoted;
    m_configure(row, config);
    auto* rank = new RankProcess(row, link, config, this);
    m_ranks[std::size_t(row.value())] = rank;
    connect(rank, &RankProcess::ended_, this, [this, row] { rankEnded(row); });
    connect(link, &agent::AgentLink::closed, this, &Job::checkOver);
    connect(link, &agent::AgentLink::closed, this, &Job::checkGone);
    emit rankAdded(rank);
}

void Job::rankEnded(RankId rank) {
    if (m_killed) {
        m_ranks[std::size_t(rank.value())]->link()->finish();
    }
    const auto ended = [](const RankProcess* one) { return one->ended(); };
    if (all(ended)) {
        finishAgents();
        return;
    }
    // A spawned job may be over long before the others: what it has of the launcher is wanted for the next.
    const JobRanks& job = m_jobs.all()[m_jobs.jobOf(rank)];
    for (int i = job.first; job.key != kFirstJob && all(job, ended) && i < job.first + job.size; ++i) {
        m_ranks[std::size_t(i)]->link()->finish();
    }
}

void Job::finishAgents() {
    if (m_finishing) {
        return;
    }
    m_finishing = true;
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr) {
            rank->link()->finish();
        }
    }
    QTimer::singleShot(2 * kTerminateMs, this, [this] {
        if (!m_launcherDone) {
            m_launcher.kill();
        }
    });
}

void Job::kill(LastSteps last) {
    const bool again = std::exchange(m_killed, true);
    if (again && (m_lastSteps == last || last == LastSteps::Read)) {
        return;
    }
    m_lastSteps = last;
    if (!again) {
        m_endedByItself = all([](const RankProcess* rank) { return rank->ended(); });
    }
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr) {
            rank->kill(last);
        }
    }
    // Agents whose ranks are dead end when told to, which is when the last steps have been read (see rankEnded()).
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr && (last == LastSteps::Leave || rank->link()->status().pid <= 0 || (rank->ended() && !rank->settling()))) {
            rank->link()->finish();
        }
    }
    if (again) {
        return;
    }
    m_server.close(); // an agent that has not connected yet finds nobody to talk to
    QMetaObject::invokeMethod(this, &Job::checkGone, Qt::QueuedConnection);
    if (m_launcher.state() == QProcess::NotRunning) {
        onLauncherFinished();
        return;
    }
    if (!m_endedByItself) { // else the launcher is about to end as well, with the job's own code
        m_launcher.terminate();
    }
    QTimer::singleShot(kTerminateMs, this, [this] {
        if (!m_launcherDone) {
            m_launcher.kill();
        }
    });
}

void Job::checkGone() {
    if (m_gone || !m_killed) {
        return;
    }
    for (const RankProcess* rank : m_ranks) {
        if (rank != nullptr && rank->link()->connected()) {
            return;
        }
    }
    m_gone = true;
    emit ranksGone();
}

void Job::onLauncherFinished() {
    m_launcherDone = true;
    removeSessionDirectory();
    if (!complete() && !m_killed && !m_failed) {
        m_failed = true;
        const auto [text, remedy] = explainLauncherFailure(QString::fromLocal8Bit(m_errors), m_launcher.exitCode());
        emit failed(text, remedy);
    }
    // Agents' last words may still be on their way; then nothing of the job is left.
    QTimer::singleShot(200, this, &Job::checkOver);
}

void Job::checkOver() {
    if (m_over || !m_launcherDone) {
        return;
    }
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr && rank->settling()) { // an agent that is told to finish answers no more
            QTimer::singleShot(50, this, &Job::checkOver);
            return;
        }
        if (rank != nullptr && rank->link()->connected()) {
            // Agents end by themselves when their launcher has gone, and what their ranks did last is read then.
            if ((m_killed && m_lastSteps == LastSteps::Leave) || ++m_overLooks > kOverLooks) {
                rank->kill(LastSteps::Leave);
                rank->link()->finish();
            }
            QTimer::singleShot(kOverLookMs, this, &Job::checkOver);
            return;
        }
    }
    m_over = true;
    QString summary;
    if (m_killed && !m_endedByItself) {
        summary = tr("killed");
    } else if (m_failed) {
        summary = tr("could not be started");
    } else if (m_launcher.exitStatus() == QProcess::NormalExit) {
        summary = tr("the launcher exited with code %1").arg(m_launcher.exitCode());
    } else {
        summary = tr("the launcher was killed");
    }
    emit over_(summary);
}

} // namespace stopline::replay
