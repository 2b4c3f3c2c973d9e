#include "window.h"

#include <QCoreApplication>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QTimer>

#include <gtest/gtest.h>
#include <iostream>

namespace stopline::agent::test {

QProcessEnvironment launcherEnvironment() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    const QMap<QString, QString> settings = {
        {QStringLiteral("OMPI_ALLOW_RUN_AS_ROOT"), QStringLiteral("1")},
        {QStringLiteral("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), QStringLiteral("1")},
        {QStringLiteral("OMPI_MCA_rmaps_base_oversubscribe"), QStringLiteral("1")},
        {QStringLiteral("OMPI_MCA_pml"), QStringLiteral("ob1")},
        {QStringLiteral("OMPI_MCA_btl"), QStringLiteral("self,vader,tcp")},
        {QStringLiteral("OMPI_MCA_btl_tcp_if_include"), QStringLiteral("lo")},
        {QStringLiteral("OMPI_MCA_oob_tcp_if_include"), QStringLiteral("lo")},
        {QStringLiteral("OMPI_MCA_mpi_yield_when_idle"), QStringLiteral("1")},
        {QStringLiteral("OMPI_MCA_hwloc_base_binding_policy"), QStringLiteral("none")}};
    for (auto it = settings.begin(); it != settings.end(); ++it) {
        environment.insert(it.key(), it.value());
    }
    return environment;
}

Window::Window() {
    clock.start();
    config.libraryDirectory = QStringLiteral(FAKE_LIBRARIES);
    QObject::connect(&server, &AgentServer::rejected, &server,
                     [this](const QString& why) { rejected << why; });
    QObject::connect(&server, &AgentServer::agentConnected, &server, [this](AgentLink* link) {
        const int number = link->hello().rank;
        ranks[number].link = link;
        QObject::connect(link, &AgentLink::output, &server,
                         [this, number](int stream, const QByteArray& bytes) {
                             (stream == 2 ? ranks[number].err : ranks[number].out) += bytes;
                         });
        QObject::connect(link, &AgentLink::fault, &server,
                         [this, number](const QString& code, const QString& text, const QString& remedy) {
                             ranks[number].faults
                                 << code + QStringLiteral(": ") + text + QStringLiteral(" | ") + remedy;
                         });
        QObject::connect(link->gdb(), &mi::MiTransport::received, &server,
                         [this, number](const QByteArray& bytes) { ranks[number].mi += bytes; });
        QObject::connect(link, &AgentLink::closed, &server, [this, number] { ranks[number].closed = true; });
        QObject::connect(link, &AgentLink::statusChanged, &server,
                         [this, number, link](const RankStatus&, const RankStatus& now) {
                             if (now.atGate && autoOpenGate) {
                                 link->openGate();
                             }
                             if (now.ended && ranks[number].endedAt < 0) {
                                 ranks[number].endedAt = clock.elapsed();
                             }
                         });
        link->configure(config);
    });
    EXPECT_EQ(server.listen().toStdString(), "");
}

Window::~Window() {
    if (mpirun.state() != QProcess::NotRunning) {
        mpirun.terminate();
        if (!mpirun.waitForFinished(5000)) {
            mpirun.kill();
            mpirun.waitForFinished(5000);
        }
    }
}

void Window::start(int count, const QStringList& program, const QByteArray& input,
                   const QStringList& options) {
    QProcessEnvironment variables = launcherEnvironment();
    variables.insert(QLatin1StringView(kConnectVariable), server.connectAddress());
    variables.insert(QLatin1StringView(kTokenVariable), server.token());
    for (auto it = environment.begin(); it != environment.end(); ++it) {
        variables.insert(it.key(), it.value());
    }
    mpirun.setProcessEnvironment(variables);
    mpirun.start(QStringLiteral("mpirun"), QStringList{QStringLiteral("-n"), QString::number(count)} +
                                               options + QStringList{QStringLiteral(AGENT_PROGRAM)} +
                                               program);
    ASSERT_TRUE(mpirun.waitForStarted(10000)) << mpirun.errorString().toStdString();
    mpirun.write(input);
    mpirun.closeWriteChannel();
}

QString Window::describe() const {
    QString text =
        QStringLiteral("mpirun state %1 code %2 out [%3] err [%4]\n")
            .arg(mpirun.state())
            .arg(mpirun.exitCode())
            .arg(QString::fromUtf8(const_cast<QProcess&>(mpirun).peek(2000)))
            .arg(QString::fromUtf8(const_cast<QProcess&>(mpirun).readAllStandardError().left(2000)));
    for (auto it = ranks.begin(); it != ranks.end(); ++it) {
        const RankStatus& status = it->link->status();
        text +=
            QStringLiteral("rank %1: pid %2 state %3 alive %4 ended %5 status %6 gate %7 gdb %8 closed %9")
                .arg(it.key())
                .arg(status.pid)
                .arg(static_cast<unsigned>(status.state))
                .arg(status.alive)
                .arg(status.ended)
                .arg(status.waitStatus)
                .arg(status.atGate)
                .arg(status.gdbPid)
                .arg(it->closed) +
            QStringLiteral(" faults [%1]\n out [%2]\n err [%3]\n mi [%4]\n")
                .arg(it->faults.join(u'|'), QString::fromUtf8(it->out.right(500)),
                     QString::fromUtf8(it->err.right(500)), QString::fromUtf8(it->mi.right(1500)));
    }
    return text + QStringLiteral("rejected: ") + rejected.join(u'|');
}

bool Window::waitFor(const char* what, const std::function<bool()>& done, int ms) {
    QElapsedTimer timer;
    timer.start();
    while (!done()) {
        if (timer.elapsed() > ms) {
            std::cerr << "time over while waiting for " << what << "\n"
                      << describe().toStdString() << std::endl;
            return false;
        }
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
        QEventLoop loop;
        QTimer::singleShot(2, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return true;
}

void Window::waste(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

bool Window::waitForReady(int count) {
    return waitFor("all ranks to be ready", [&] {
        int ready = 0;
        for (const Rank& rank : ranks) {
            ready += rank.out.contains("ready") ? 1 : 0;
        }
        return ready == count;
    });
}

void Window::attachAll() {
    for (Rank& rank : ranks) {
        rank.link->gdb()->send("1-gdb-set mi-async on\n2-target-attach " +
                               QByteArray::number(rank.link->status().pid) + '\n');
    }
    ASSERT_TRUE(waitFor("gdb to attach to all ranks", [&] {
        bool all = true;
        for (const Rank& rank : ranks) {
            all = all && rank.mi.contains("*stopped");
        }
        return all;
    }));
}

void Leftovers::watch(qint64 pid) {
    if (pid > 0) {
        m_pids << pid;
    }
}

void Leftovers::watchJob(const Window& window) {
    watch(window.mpirun.processId());
    m_session = QStringLiteral("pid.%1").arg(window.mpirun.processId());
    for (const Rank& rank : window.ranks) {
        watch(rank.link->hello().agentPid);
        watch(rank.link->status().pid);
        watch(rank.link->status().gdbPid);
        // "vader_segment.HOST.USER.JOB.RANK": other jobs on this machine have another JOB.
        QFile maps(QStringLiteral("/proc/%1/maps").arg(rank.link->status().pid));
        if (maps.open(QIODevice::ReadOnly)) {
            const QByteArray text = maps.readAll();
            const qsizetype at = text.indexOf("/dev/shm/vader_segment.");
            if (at > 0) {
                const QByteArray path = text.mid(at, text.indexOf('\n', at) - at);
                m_segments = QString::fromLocal8Bit(path.mid(9, path.lastIndexOf('.') - 8));
            }
        }
    }
}

QStringList Leftovers::now() const {
    QStringList left;
    for (const qint64 pid : m_pids) {
        QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
        if (stat.open(QIODevice::ReadOnly)) {
            const QByteArray text = stat.readAll(); // empty when it has gone since the file was opened
            const qsizetype name = text.lastIndexOf(')');
            if (name > 0 && text.at(name + 2) != 'Z') { // a zombie launcher is ours to wait for
                left << QStringLiteral("process %1").arg(QString::fromLatin1(text.left(60)));
            }
        }
    }
    if (!m_segments.isEmpty()) {
        const QDir shared(QStringLiteral("/dev/shm"));
        for (const QString& file : shared.entryList({m_segments + u'*'}, QDir::Files | QDir::System)) {
            left << QStringLiteral("file %1").arg(file);
        }
    }
    QDir temporary(QDir::tempPath());
    for (const QString& name : temporary.entryList({QStringLiteral("ompi.*")}, QDir::Dirs)) {
        if (!m_session.isEmpty() && QDir(temporary.filePath(name)).exists(m_session)) {
            left << QStringLiteral("directory %1/%2").arg(name, m_session);
        }
    }
    return left;
}

bool Leftovers::gone(Window& window) {
    QElapsedTimer timer;
    timer.start();
    if (window.waitFor(
            "everything to be gone", [&] { return now().isEmpty(); }, 60000)) {
        std::cout << "nothing left after " << timer.elapsed() << " ms" << std::endl;
        return true;
    }
    std::cerr << "left: " << now().join(u'\n').toStdString() << std::endl;
    return false;
}

} // namespace stopline::agent::test
