// A pause after many new events: how long until all ranks are shown as stopped and their events are in the timeline,
// and for how long the event loop stands still meanwhile.
//
// usage: bench_pause LONGRUN [EVENTS A RANK [REPEATS]]
#include "../../../replay/session.h"
#include "../event_loop.h"
#include "../measure.h"

#include <QCoreApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace stopline;
using namespace stopline::replay;
using bench::median;
using bench::waitFor;

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 2) {
        std::puts("usage: bench_pause LONGRUN [EVENTS A RANK [REPEATS]]");
        return 2;
    }
    const std::uint64_t wanted = words.value(2, QStringLiteral("100000")).toULongLong();
    const int repeats = words.value(3, QStringLiteral("3")).toInt();
    constexpr int kRanks = 4;
    Session session;
    LaunchSpec spec;
    spec.program = words.at(1);
    spec.arguments = {QStringLiteral("100000000"), QStringLiteral("1")};
    spec.ranks = kRanks;
    spec.launcherArguments = {QStringLiteral("--oversubscribe")};
    session.setLaunch(spec);
    bool ended = false;
    QObject::connect(&session, &Session::jobEnded, &session, [&] { ended = true; });
    session.run();
    const auto running = [&] {
        return session.rankCount() == kRanks && session.rank(RankId(kRanks - 1)).phase == RankPhase::Running;
    };
    std::vector<double> stops;
    std::vector<double> blocks;
    std::vector<double> behind;
    std::vector<double> events;
    int milliseconds = 1000;
    if (!waitFor(running, 60)) {
        std::puts("did not start");
        return 1;
    }
    for (int i = 0; i <= repeats; ++i) {
        const std::uint64_t before = session.timeline().lastEvent(RankId(0)).value();
        QElapsedTimer timer;
        timer.start();
        waitFor([&] { return timer.elapsed() >= milliseconds; }, 600);
        const std::uint64_t already = session.timeline().lastEvent(RankId(0)).value();
        double longest = 0;
        timer.restart();
        session.pause();
        if (!waitFor([&] { return session.allStopped(); }, 60, &longest)) {
            std::puts("not stopped");
            break;
        }
        const double took = double(timer.nsecsElapsed()) * 1e-6;
        const std::uint64_t all = session.timeline().lastEvent(RankId(0)).value();
        const auto fresh = double(all - before);
        if (i == 0) { // sets the pace
            milliseconds = std::max(50, int(double(milliseconds) * double(wanted) / std::max(fresh, 1.0)));
        } else {
            stops.push_back(took);
            blocks.push_back(longest);
            events.push_back(fresh);
            behind.push_back(double(all - already));
        }
        session.continueRun();
        waitFor(running, 10);
    }
    std::printf("pause, %d ranks: %.0f new events a rank, %.0f of them read after the command; %.0f ms until all are shown "
                "as stopped, the event loop stands still for up to %.0f ms (medians of %zu)\n",
                kRanks, median(events), median(behind), median(stops), median(blocks), stops.size());
    session.kill();
    waitFor([&] { return ended; }, 20);
    return 0;
}
