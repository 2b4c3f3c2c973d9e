// Times of a session as its user feels them, each beside the bare figure of the same run.
//
// usage: session_bench LONGRUN [REPEATS]
//   start     from Run to all ranks standing in main, against as many `gdb -batch` under the same mpirun
//   go        from the command to all ranks stopped at a place near the program's end, against the bare program
//   pause     from the command to all ranks stopped
#include "../../../replay/session.h"
#include "../event_loop.h"
#include "../measure.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTextStream>

#include <algorithm>
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

void pause(const QString& program, int ranks, int repeats) {
    // Long loops between the messages: what is measured is the stop, not the reading of a million events.
    Driver driver(program, {QStringLiteral("100000000"), QStringLiteral("1000000")}, ranks);
    driver.session.run();
    if (!waitFor([&] { return driver.session.rankCount() == ranks && driver.session.rank(RankId(ranks - 1)).phase == RankPhase::Running; }, 60)) {
        out << "pause: did not start" << Qt::endl;
        return;
    }
    std::vector<double> ours;
    for (int i = 0; i < repeats * 4; ++i) {
        waitFor([] { return false; }, 1);
        QElapsedTimer timer;
        timer.start();
        driver.session.pause();
        if (!waitFor([&] { return driver.session.allStopped(); }, 30)) {
            out << "pause: not stopped" << Qt::endl;
            return;
        }
        ours.push_back(double(timer.nsecsElapsed()) * 1e-6);
        driver.session.continueRun();
    }
    out << "pause, " << ranks << " ranks: median " << median(ours) << " ms, largest " << *std::max_element(ours.begin(), ours.end())
        << " ms from command to all shown as stopped" << Qt::endl;
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
