// Times of a session as its user feels them, each beside the bare figure of the same run.
//
// usage: session_bench LONGRUN [REPEATS]
//   start     from Run to all ranks standing in main, against as many `gdb -batch` under the same mpirun
//   go        from the command to all ranks stopped at a place near the program's end, against the bare program
//   pause     from the command to all ranks stopped, as the kernel has it and as the session shows it
#include "../../../replay/session.h"
#include "../event_loop.h"
#include "../measure.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTextStream>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace stopline;
using namespace stopline::replay;
using bench::median;
using bench::waitFor;

namespace {

QTextStream out(stdout);

/// Wall time of a bare command in seconds; -1 when it fails.
double bare(const QStringList& words) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    QElapsedTimer timer;
    timer.start();
    process.start(words.first(), words.mid(1));
    if (!process.waitForFinished(120'000) || process.exitCode() != 0) {
        return -1;
    }
    return double(timer.nsecsElapsed()) * 1e-9;
}

struct Driver {
    Session session;
    bool finished = false;
    bool ended = false;
    Driver(const QString& program, const QStringList& arguments, int ranks) {
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = arguments;
        spec.ranks = ranks;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        session.setLaunch(spec);
        QObject::connect(&session, &Session::operationFinished, &session, [this] { finished = true; });
        QObject::connect(&session, &Session::jobEnded, &session, [this] { ended = true; });
    }
    ~Driver() {
        ended = !session.jobExists();
        session.kill();
        waitFor([this] { return ended; }, 10);
    }
};

void start(const QString& program, int ranks, int repeats) {
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int i = 0; i < repeats; ++i) {
        {
            Driver driver(program, {QStringLiteral("10")}, ranks);
            driver.session.setStopAtStart(true);
            QElapsedTimer timer;
            timer.start();
            driver.session.run();
            if (waitFor([&] { return driver.session.rankCount() == ranks && driver.session.allStopped() && driver.session.rank(RankId(ranks - 1)).location.known(); }, 120)) {
                ours.push_back(double(timer.nsecsElapsed()) * 1e-9);
            }
        }
        theirs.push_back(bare({QStringLiteral("mpirun"), QStringLiteral("-n"), QString::number(ranks), QStringLiteral("--oversubscribe"),
                               QStringLiteral("gdb"), QStringLiteral("-nx"), QStringLiteral("-batch"), QStringLiteral("-ex"),
                               QStringLiteral("break main"), QStringLiteral("-ex"), QStringLiteral("run"), QStringLiteral("--args"),
                               program, QStringLiteral("10")}));
    }
    out << "start, " << ranks << " ranks: " << median(ours) << " s to main; bare gdb -batch to main and out: " << median(theirs)
        << " s; ratio " << median(ours) / median(theirs) << " (median of " << ours.size() << ")" << Qt::endl;
}

void go(const QString& program, const QString& rounds, int ranks, int repeats) {
    Driver driver(program, {rounds}, ranks);
    driver.session.run();
    if (!waitFor([&] { return driver.ended; }, 300)) {
        out << "go: the first run did not end" << Qt::endl;
        return;
    }
    const std::uint32_t calls = driver.session.timeline().callCount(RankId(0));
    driver.session.setPoint(Point{{RankId(0), CallIndex(calls - 2)}, false});
    driver.session.setStopline(Frontier::Future);
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int i = 0; i < repeats; ++i) {
        driver.ended = !driver.session.jobExists(); // a live job at its place would have nowhere to go
        driver.session.kill();
        waitFor([&] { return driver.ended; }, 20);
        driver.finished = false;
        QElapsedTimer timer;
        timer.start();
        driver.session.go();
        if (!waitFor([&] { return driver.finished; }, 300)) {
            out << "go: not finished" << Qt::endl;
            return;
        }
        ours.push_back(double(timer.nsecsElapsed()) * 1e-9);
        theirs.push_back(bare({QStringLiteral("mpirun"), QStringLiteral("-n"), QString::number(ranks), QStringLiteral("--oversubscribe"), program, rounds}));
    }
    out << "go, " << ranks << " ranks, " << rounds << " rounds, " << calls << " calls of rank 0: " << median(ours)
        << " s from command to all stopped; bare program: " << median(theirs) << " s; 1.1 x bare + 0.5 = "
        << 1.1 * median(theirs) + 0.5 << " s" << Qt::endl;
}

/// Sees by /proc when the last of some processes has stopped. Its looking takes a part of one processor.
class StopWatch {
  public:
    explicit StopWatch(std::vector<qint64> pids) : m_pids(std::move(pids)), m_begin(Clock::now()), m_thread([this] { look(); }) {}
    ~StopWatch() { stop(); }
    /// Milliseconds from the making of this; -1: not all have stopped.
    double stop() {
        m_done = true;
        if (m_thread.joinable()) {
            m_thread.join();
        }
        return m_ms;
    }

  private:
    using Clock = std::chrono::steady_clock;
    void look() {
        while (!m_done && m_ms < 0) {
            const bool all = std::all_of(m_pids.begin(), m_pids.end(), [](qint64 pid) {
                std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
                std::string line;
                std::getline(file, line);
                const std::size_t name = line.rfind(") ");
                return name != std::string::npos && (line[name + 2] == 't' || line[name + 2] == 'T');
            });
            if (all) {
                m_ms = std::chrono::duration<double, std::milli>(Clock::now() - m_begin).count();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    std::vector<qint64> m_pids;
    Clock::time_point m_begin;
    std::atomic<bool> m_done{false};
    std::atomic<double> m_ms{-1};
    std::thread m_thread;
};

void list(const char* what, std::vector<double> values) {
    out << "  " << what << ": median " << median(values) << " ms, largest " << *std::max_element(values.begin(), values.end()) << " ms; in their order:";
    for (const double one : values) {
        out << ' ' << one;
    }
    out << Qt::endl;
}

void pause(const QString& program, int ranks, int repeats) {
    // Long loops between the messages: what is measured is the stop, not the reading of a million events.
    Driver driver(program, {QStringLiteral("100000000"), QStringLiteral("1000000")}, ranks);
    driver.session.run();
    if (!waitFor([&] { return driver.session.rankCount() == ranks && driver.session.rank(RankId(ranks - 1)).phase == RankPhase::Running; }, 60)) {
        out << "pause: did not start" << Qt::endl;
        return;
    }
    std::vector<qint64> pids;
    for (int i = 0; i < ranks; ++i) {
        pids.push_back(driver.session.rank(RankId(i)).pid);
    }
    std::vector<double> ours;
    std::vector<double> kernel;
    for (int i = 0; i < repeats * 4; ++i) {
        waitFor([] { return false; }, 1);
        QElapsedTimer timer;
        timer.start();
        StopWatch watch(pids);
        driver.session.pause();
        if (!waitFor([&] { return driver.session.allStopped(); }, 30)) {
            out << "pause: not stopped" << Qt::endl;
            return;
        }
        ours.push_back(double(timer.nsecsElapsed()) * 1e-6);
        kernel.push_back(watch.stop());
        driver.session.continueRun();
    }
    out << "pause, " << ranks << " ranks, from the command" << Qt::endl;
    list("to all stopped", kernel);
    list("to all shown as stopped", ours);
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 2) {
        out << "usage: session_bench LONGRUN [REPEATS]" << Qt::endl;
        return 2;
    }
    const int repeats = words.value(2, QStringLiteral("3")).toInt();
    start(words.at(1), 4, repeats);
    start(words.at(1), 16, repeats);
    pause(words.at(1), 4, repeats);
    go(words.at(1), QStringLiteral("100"), 4, repeats);
    go(words.at(1), QStringLiteral("20000"), 4, repeats);
    return 0;
}
