// Executes random points of random real programs: every rank must be found exactly at its place.
//
// usage: random_points PROGRAM FIRST_SEED SEEDS POINTS [RANKS]
//
// For each seed the program is run to its end once. Then POINTS random calls are picked, before or after, past or
// future frontier in turn, and the job is taken there by the session that the window uses. A rank that is not at the
// place of the line, a departure, or a rank left running fails.
#include "session_support.h"

#include <QCoreApplication>

#include <random>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 5) {
        out << "usage: random_points PROGRAM FIRST_SEED SEEDS POINTS [RANKS]" << Qt::endl;
        return 2;
    }
    const int first = words.at(2).toInt();
    const int seeds = words.at(3).toInt();
    const int points = words.at(4).toInt();
    const int ranks = words.value(5, QStringLiteral("4")).toInt();
    int failures = 0;
    int executed = 0;
    for (int seed = first; seed < first + seeds; ++seed) {
        Session session;
        printMessages(session);
        LaunchSpec spec;
        spec.program = words.at(1);
        spec.arguments = {QString::number(seed)};
        spec.ranks = ranks;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        session.setLaunch(spec);
        bool ended = false;
        QObject::connect(&session, &Session::jobEnded, &session, [&ended] { ended = true; });
        session.run();
        if (!waitFor([&] { return ended; }, 60)) {
            out << "seed " << seed << ": the first run did not end" << Qt::endl;
            printStates(session);
            ++failures;
            endJob(session);
            continue;
        }
        const Timeline& timeline = session.timeline();
        std::mt19937 random{std::uint32_t(seed)};
        for (int n = 0; n < points; ++n) {
            const RankId rank(std::int32_t(random() % std::uint32_t(session.rankCount()))); // also spawned ones
            const std::uint32_t calls = timeline.callCount(rank);
            if (calls < 3) {
                out << "seed " << seed << ": rank " << rank.value() << " has recorded " << calls << " calls only" << Qt::endl;
                ++failures;
                break;
            }
            // Between MPI_Init and MPI_Finalize, both excluded: everything there can be stood at.
            Point point;
            point.call = {rank, CallIndex(1 + std::uint32_t(random() % (calls - 2)))};
            point.after = random() % 2 != 0;
            const Frontier which = random() % 2 != 0 ? Frontier::Past : Frontier::Future;
            session.setPoint(point);
            session.setStopline(which);
            const Line line = *session.stopline();
            bool finished = false;
            bool ok = false;
            QString text;
            const auto connection = QObject::connect(&session, &Session::operationFinished, &session, [&](bool good, const QString& how) {
                finished = true;
                ok = good;
                text = how;
            });
            session.go();
            const bool inTime = waitFor([&] { return finished; }, 60);
            const Cut places = session.places();
            const bool same = places == line.cut;
            ++executed;
            if (!inTime || !ok || !same || !session.allStopped()) {
                ++failures;
                out << "seed " << seed << " point " << n << ": rank " << rank.value() << ' ' << session.callText(point.call)
                    << (point.after ? " after " : " before ") << (which == Frontier::Past ? "past" : "future")
                    << (inTime ? "" : ", timed out") << ": " << text << Qt::endl;
                for (int i = 0; i < session.rankCount(); ++i) {
                    out << "    rank " << i << ": wanted " << QString::fromStdString(session.timeline().describe(RankId(i), line.cut[std::size_t(i)])) << ", is "
                        << QString::fromStdString(session.timeline().describe(RankId(i), places[std::size_t(i)])) << ", "
                        << stateText(session.rank(RankId(i))) << Qt::endl;
                }
                for (const Obstacle& obstacle : line.obstacles) {
                    out << "    obstacle: " << QString::fromStdString(obstacle.reason) << Qt::endl;
                }
                if (!inTime) {
                    session.cancel(); // or the next point has no chance
                    waitFor([&] { return finished; }, 30);
                }
            }
            QObject::disconnect(connection);
            if (session.departure()) {
                break;
            }
        }
        endJob(session);
    }
    out << executed << " points executed, " << failures << " failures" << Qt::endl;
    return failures == 0 && executed > 0 ? 0 : 1;
}
