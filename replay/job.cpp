#include "job.h"

#include "launch_plan.h"

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

Job::Job(const LaunchSpec& spec, const Installation& installation, Incarnation incarnation, Configure configure, QObject* parent)
    : QObject(parent), m_spec(spec), m_installation(installation), m_incarnation(incarnation), m_configure(std::move(configure)) {
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
            rank->kill();
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

RankProcess* Job::rank(RankId rank) const {
    const auto index = std::size_t(rank.value());
    return rank.value() >= 0 && index < m_ranks.size() ? m_ranks[index] : nullptr;
}

bool Job::complete() const {
    return !m_ranks.empty() && std::find(m_ranks.begin(), m_ranks.end(), nullptr) == m_ranks.end();
}

void Job::onAgent(agent::AgentLink* link) {
    const agent::Hello& hello = link->hello();
    link->setParent(this);
    const int size = std::max(hello.size, hello.rank.value() + 1);
    const bool first = m_ranks.empty();
    if (m_ranks.size() < std::size_t(size)) {
        m_ranks.resize(std::size_t(size), nullptr);
    }
    if (first) {
        emit sized(size);
    }
    if (m_killed || hello.rank.value() < 0 || m_ranks[std::size_t(hello.rank.value())] != nullptr) {
        link->deleteLater();
        return;
    }
    agent::RankConfig config;
    config.incarnation = m_incarnation;
    config.libraryDirectory = m_installation.libraryDirectory;
    config.gdbProgram = m_installation.gdb;
    config.mapDirectory = m_installation.mapDirectory;
    config.keepBytes = m_spec.keepBytes;
    m_configure(hello.rank, config);
    auto* rank = new RankProcess(hello.rank, link, config, this);
    m_ranks[std::size_t(hello.rank.value())] = rank;
    connect(rank, &RankProcess::ended_, this, &Job::rankEnded);
    connect(link, &agent::AgentLink::closed, this, &Job::checkOver);
    connect(link, &agent::AgentLink::closed, this, &Job::checkGone);
    emit rankAdded(rank);
}

void Job::rankEnded() {
    for (const RankProcess* rank : m_ranks) {
        if (rank == nullptr || !rank->ended()) {
            return;
        }
    }
    finishAgents();
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

void Job::kill() {
    if (m_killed) {
        return;
    }
    m_killed = true;
    m_endedByItself = complete() && std::all_of(m_ranks.begin(), m_ranks.end(), [](const RankProcess* rank) { return rank->ended(); });
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr) {
            rank->kill();
        }
    }
    // Agents whose ranks are dead end when told to; an agent that has not connected yet finds nobody to talk to.
    for (RankProcess* rank : m_ranks) {
        if (rank != nullptr) {
            rank->link()->finish();
        }
    }
    m_server.close();
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
        if (rank != nullptr && rank->link()->connected()) {
            rank->kill();
            rank->link()->finish();
            QTimer::singleShot(500, this, &Job::checkOver);
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
