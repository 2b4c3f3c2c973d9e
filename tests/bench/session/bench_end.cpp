// For how long the window waits at most while a job runs to its end, which nobody has looked at before: all
// that its ranks have done is read then.
//
// usage: bench_end RANKS PROGRAM [ARGUMENT...]
#include "../../../replay/session.h"
#include "../event_loop.h"

#include <QCoreApplication>

#include <cstdio>

using namespace stopline;
using namespace stopline::replay;

int main(int argc, char** argv) {
    const QCoreApplication app(argc, argv);
    const QStringList words = app.arguments();
    if (words.size() < 3) {
        std::fprintf(stderr, "usage: bench_end RANKS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    Session session;
    LaunchSpec spec;
    spec.ranks = words[1].toInt();
    spec.program = words[2];
    spec.arguments = words.mid(3);
    spec.launcherArguments = {QStringLiteral("--oversubscribe")};
    session.setLaunch(spec);
    bool ended = false;
    QObject::connect(&session, &Session::jobEnded, &session, [&] { ended = true; });
    QElapsedTimer since;
    since.start();
    double longest = 0;
    session.run();
    const bool done = bench::waitFor([&] { return ended; }, 600, &longest);
    quint64 events = 0;
    for (int rank = 0; rank < session.rankCount(); ++rank) {
        events += session.timeline().lastEvent(RankId(rank)).value();
    }
    std::printf("%llu events in %.1f s; the window waits %.0f ms at most\n",
                static_cast<unsigned long long>(events), double(since.nsecsElapsed()) * 1e-9, longest);
    session.kill();
    return bench::waitFor([&] { return !session.jobExists(); }, 60) && done ? 0 : 1;
}
