// How long it takes to make what a replay follows, and for how long the window waits for it at most: of a
// recording that is read from a file, for each way to replay. Then the job is killed.
//
// usage: bench_prepare FILE.stopline
#include "../../../replay/order_marks.h"
#include "../../../replay/session.h"
#include "../event_loop.h"

#include <QCoreApplication>

#include <cstdio>

using namespace stopline;
using namespace stopline::replay;

namespace {

bool measure(const QString& file, ReplayBy how, const char* name) {
    Session session;
    session.setReplayBy(how);
    bool read = false;
    QObject::connect(&session, &Session::operationFinished, &session,
                     [&](bool, const QString&) { read = true; });
    session.openRecording(file);
    if (!bench::waitFor([&] { return read; }, 600) || session.rankCount() == 0) {
        std::fprintf(stderr, "bench_prepare: %s cannot be read\n", qPrintable(file));
        return false;
    }
    double idle = 0;
    QElapsedTimer since;
    since.start();
    bench::waitFor([&] { return since.hasExpired(2000); }, 10, &idle); // the races are looked for meanwhile
    double longest = 0;
    QStringList texts;
    QObject::connect(&session, &Session::operationChanged, &session, [&] {
        const QString text = session.operation();
        if (texts.isEmpty() || texts.last() != text) {
            texts << text;
        }
    });
    since.restart();
    session.replay();
    const double begun = double(since.nsecsElapsed()) * 1e-6;
    const bool made = bench::waitFor(
        [&] { return session.whyNot(Verb::Replay).isEmpty() || !session.jobExists(); }, 600, &longest);
    std::printf("%-16s made in %8.1f ms; the window waits %6.1f ms at most, %6.1f ms in replay() itself, "
                "%6.1f ms in 2 s before it\n",
                name, double(since.nsecsElapsed()) * 1e-6, longest, begun, idle);
    for (const QString& text : texts) {
        std::printf("    %s\n", qPrintable(text));
    }
    session.kill();
    return bench::waitFor([&] { return !session.jobExists(); }, 60) && made;
}

} // namespace

int main(int argc, char** argv) {
    const QCoreApplication app(argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: bench_prepare FILE.stopline\n");
        return 2;
    }
    const QString file = QString::fromLocal8Bit(argv[1]);
    const bool done = measure(file, ReplayBy::Source, "by source") &&
                      measure(file, ReplayBy::Tag, "by tag") &&
                      measure(file, ReplayBy::TagBounded, "by tag, bounded");
    return done ? 0 : 1;
}
