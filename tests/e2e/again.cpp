// What a program takes from outside, and what it sends, in an execution and in the next one.
//
// usage: again PROGRAM_DIRECTORY seeds|pids|data|differs|killed|shot|recorded|input
#include "session_support.h"

#include "../../replay/recording_job.h"
#include "../../tracelib/mapping.h"

#include <QCoreApplication>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kSeconds = 100;

bool fails(const QString& why) {
    out << "FAILED: " << why << Qt::endl;
    return false;
}

LaunchSpec specOf(const QString& program, const QStringList& arguments, int ranks, quint32 noted) {
    LaunchSpec spec;
    spec.command = QStringList{QStringLiteral("mpirun"), QStringLiteral("--oversubscribe"), QStringLiteral("-n"), QString::number(ranks), program} + arguments;
    spec.alsoNoted = noted;
    return spec;
}

class Executions {
  public:
    Executions() {
        QObject::connect(&session, &Session::jobEnded, &session, [this] { ended = true; });
        QObject::connect(&session, &Session::message, &session, [this](Severity, const QString& text, const QString& remedy) {
            out << "    " << text << " — " << remedy << Qt::endl;
            said << text;
        });
    }
    ~Executions() { endJob(session); }
    Executions(const Executions&) = delete;
    Executions& operator=(const Executions&) = delete;

    bool execute(void (Session::*start)()) {
        ended = false;
        (session.*start)();
        if (!waitFor([this] { return ended || session.departure(); }, kSeconds) || session.departure()) {
            printStates(session);
            return fails(QStringLiteral("it does not end by itself"));
        }
        return true;
    }
    /// Once more, and all of it is the same.
    bool same(const QVector<QByteArray>& printed) {
        if (!execute(&Session::replay)) {
            return false;
        }
        const Session::Comparison now = session.comparison();
        if (!now.again || !now.equal || !now.live.isEmpty() || now.compared != lastEvents()) {
            return fails(QStringLiteral("not all of it was compared and equal"));
        }
        if (output() != printed) {
            for (qsizetype i = 0; i < printed.size(); ++i) {
                out << "  then: " << printed[i].left(500) << "\n  now:  " << output().value(i).left(500) << Qt::endl;
            }
            return fails(QStringLiteral("it prints something else"));
        }
        return true;
    }
    [[nodiscard]] QVector<QByteArray> output() const {
        QVector<QByteArray> result;
        for (int i = 0; i < session.rankCount(); ++i) {
            result << session.output(RankId(i));
        }
        return result;
    }
    [[nodiscard]] QVector<EventIndex> lastEvents() const {
        QVector<EventIndex> result;
        for (int i = 0; i < session.rankCount(); ++i) {
            result << session.timeline().lastEvent(RankId(i));
        }
        return result;
    }

    Session session;
    bool ended = false;
    QStringList said;
};

/// Two executions print different things, the replays of the second what the second did.
bool replays(const LaunchSpec& spec) {
    Executions job;
    job.session.setLaunch(spec);
    if (!job.execute(&Session::run)) {
        return false;
    }
    const auto other = job.output();
    if (!job.execute(&Session::restart)) {
        return false;
    }
    const auto printed = job.output();
    if (printed == other || printed.contains(QByteArray())) {
        return fails(QStringLiteral("it prints the same each time: nothing is shown by this"));
    }
    return job.same(printed) && job.same(printed);
}

/// The data are the same, wherever the ranks have been stopped meanwhile.
bool data(const LaunchSpec& spec) {
    Executions job;
    job.session.setLaunch(spec);
    if (!job.execute(&Session::run) || !job.same(job.output())) {
        return false;
    }
    job.session.setPoint(Point{{RankId(0), CallIndex(6000)}, false});
    job.session.setStopline(Frontier::Past);
    bool there = false;
    QObject::connect(&job.session, &Session::operationFinished, &job.session, [&there](bool ok, const QString&) { there = ok; });
    job.session.go();
    return (waitFor([&there] { return there; }, kSeconds) || fails(QStringLiteral("the stopline is not reached"))) && job.same(QVector<QByteArray>(2));
}

bool differs(const LaunchSpec& spec, bool looked) {
    Executions job;
    job.session.setLaunch(spec);
    if (!job.execute(&Session::run)) {
        return false;
    }
    if (!looked) {
        return job.same(QVector<QByteArray>(2));
    }
    job.said.clear();
    job.session.replay();
    if (!waitFor([&] { return job.session.departure() && !job.said.isEmpty(); }, kSeconds)) {
        return fails(QStringLiteral("nobody has seen it"));
    }
    // The 5001st message is another one; looked at each 4096.
    static const QRegularExpression kText(QStringLiteral("^What rank 0 sends is not what it sent in the recording: it differs at event 16405 "
                                                         "\\(payload\\.c:\\d+\\); up to event 8205 it was the same$"));
    return kText.match(job.said.first()).hasMatch() || fails(job.said.first());
}

/// Killed while rank 0 waits for what rank 1 sends only later: that it cannot come any more is no departure.
bool killed(const LaunchSpec& spec) {
    Executions job;
    job.session.setLaunch(spec);
    if (!job.execute(&Session::run)) {
        return false;
    }
    const QVector<EventIndex> recorded = job.lastEvents();
    const QVector<QByteArray> printed = job.output();
    job.ended = false;
    job.session.replay();
    EventIndex at{0};
    QElapsedTimer since;
    const auto waits = [&] { // for longer than a wait has to last to be taken for one
        const QVector<EventIndex> compared = job.session.comparison().compared;
        if (const EventIndex now = compared.isEmpty() ? EventIndex(0) : compared.first(); now != at || !since.isValid()) {
            at = now;
            since.start();
        }
        return at.value() > 2 && since.elapsed() > 2600;
    };
    if (!waitFor(waits, kSeconds) || at >= recorded.first()) {
        printStates(job.session);
        return fails(QStringLiteral("rank 0 does not wait"));
    }
    job.session.kill();
    if (!waitFor([&job] { return job.ended; }, kSeconds)) {
        printStates(job.session);
        return fails(QStringLiteral("the job is not killed"));
    }
    waitFor([] { return false; }, 1); // a departure would be told of now
    if (job.session.departure() || job.session.executions().size() != 1 || job.lastEvents() != recorded) {
        return fails(QStringLiteral("a kill was taken for a departure"));
    }
    return job.same(printed);
}

/// A rank that a signal from outside has ended is brought back to where it was then: nobody kills it there again.
bool shot(const LaunchSpec& spec) {
    Executions job;
    Session& session = job.session;
    session.setLaunch(spec);
    const auto phase = [&session](int rank) { return session.rank(RankId(rank)).phase; };
    const auto stands = [&] { return phase(0) == RankPhase::Stopped && phase(1) != RankPhase::Running; };
    session.run();
    if (!waitFor([&] { return phase(1) == RankPhase::Running && session.live(RankId(1)).place.event.value() > 10; }, kSeconds)) {
        printStates(session);
        return fails(QStringLiteral("rank 1 does not run"));
    }
    ::kill(pid_t(session.rank(RankId(1)).pid), SIGKILL);
    if (!waitFor([&] { return phase(1) == RankPhase::Exited; }, kSeconds)) {
        printStates(session);
        return fails(QStringLiteral("rank 1 has not been killed"));
    }
    if (session.rank(RankId(1)).detail != u"killed by SIGKILL (Killed)") {
        return fails(session.rank(RankId(1)).detail);
    }
    session.pause();
    if (!waitFor(stands, kSeconds)) {
        printStates(session);
        return fails(QStringLiteral("rank 0 does not stop"));
    }
    const Place last = session.rank(RankId(1)).place;
    const Place other = session.rank(RankId(0)).place;
    bool done = false;
    bool good = false;
    QObject::connect(&session, &Session::operationFinished, &session, [&](bool ok, const QString& text) {
        done = true;
        good = ok;
        out << "    " << text << Qt::endl;
    });
    session.continueRun();
    waitFor([&] { return phase(0) == RankPhase::Running; }, kSeconds);
    session.undo();
    if (!waitFor([&done] { return done; }, kSeconds) || !good) {
        printStates(session);
        return fails(QStringLiteral("not undone"));
    }
    // What cannot be stood inside of is stood before.
    const Place now = session.rank(RankId(1)).place;
    if (phase(1) != RankPhase::Stopped || now.event.value() + 1 < last.event.value() || now.event > last.event ||
        session.rank(RankId(0)).place.event.value() + 1 < other.event.value() || session.rank(RankId(0)).place.event > other.event) {
        printStates(session);
        return fails(QStringLiteral("not where they were: rank 1 had been at event %1, rank 0 at %2").arg(last.event.value()).arg(other.event.value()));
    }
    return true;
}

/// By `stopline record`, and executed from its file.
bool recorded(const LaunchSpec& spec, const QByteArray* input, const QByteArray& lastLine) {
    QTemporaryDir directory;
    const QString file = directory.filePath(QStringLiteral("run.stopline"));
    if (input != nullptr) {
        QFile given(directory.filePath(QStringLiteral("input")));
        if (!given.open(QIODevice::WriteOnly) || given.write(*input) != input->size()) {
            return fails(QStringLiteral("no input"));
        }
        given.close();
        const int fd = ::open(qPrintable(given.fileName()), O_RDONLY | O_CLOEXEC);
        ::dup2(fd, STDIN_FILENO);
        ::close(fd);
    }
    bool done = false;
    {
        RecordingJob recorder(spec, Installation::find(), file);
        QObject::connect(&recorder, &RecordingJob::finished, &recorder, [&done](int code) { done = code == 0; });
        if (const QString wrong = recorder.start(); !wrong.isEmpty()) {
            return fails(wrong);
        }
        if (!waitFor([&done] { return done; }, kSeconds)) {
            return fails(QStringLiteral("the recording does not end"));
        }
    }
    Executions job;
    bool opened = false;
    QObject::connect(&job.session, &Session::operationFinished, &job.session, [&opened](bool ok, const QString&) { opened = ok; });
    job.session.openRecording(file);
    if (!waitFor([&opened] { return opened; }, kSeconds) || !job.execute(&Session::replay)) {
        return false;
    }
    const auto printed = job.output();
    const Session::Comparison now = job.session.comparison();
    if (!now.equal || !now.live.isEmpty() || now.compared != job.lastEvents()) {
        return fails(QStringLiteral("not all of it was compared and equal"));
    }
    if (!lastLine.isEmpty() && !printed.first().endsWith(lastLine)) {
        return fails(QString::fromUtf8(printed.first().right(200)));
    }
    return job.same(printed);
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() != 3) {
        out << "usage: again PROGRAM_DIRECTORY seeds|pids|data|differs|killed|shot|recorded|input" << Qt::endl;
        return 2;
    }
    const auto program = [&](const char* name) { return words.at(1) + u'/' + QLatin1StringView(name); };
    const QString& what = words.at(2);
    const QStringList pid{QStringLiteral("pid")};
    const QStringList ten{QStringLiteral("10000")};
    const QStringList other{QStringLiteral("10000"), QStringLiteral("5000")};
    bool good = false;
    if (what == u"seeds") {
        good = replays(specOf(program("seeds"), {}, 3, 0));
    } else if (what == u"pids") {
        good = replays(specOf(program("seeds"), pid, 3, trace::kNotePid));
    } else if (what == u"data") {
        good = data(specOf(program("payload"), ten, 2, trace::kNoteSent));
    } else if (what == u"differs") {
        good = differs(specOf(program("payload"), other, 2, trace::kNoteSent), true) && differs(specOf(program("payload"), other, 2, 0), false);
    } else if (what == u"killed") {
        good = killed(specOf(program("trickle"), {QStringLiteral("2"), QStringLiteral("4000")}, 2, 0));
    } else if (what == u"shot") {
        good = shot(specOf(program("trickle"), {QStringLiteral("4000"), QStringLiteral("20")}, 2, 0));
    } else if (what == u"recorded") {
        good = recorded(specOf(program("seeds"), pid, 3, trace::kNotePid), nullptr, {});
    } else if (what == u"input") {
        QByteArray lines;
        for (int i = 0; i < 5000; ++i) {
            lines += "line " + QByteArray::number(i) + QByteArray(i % 50, '.') + '\n';
        }
        const QByteArray nothing;
        good = recorded(specOf(program("stdin"), {}, 2, 0), &lines, "5000 lines, " + QByteArray::number(2 * (lines.size() - 5000)) + " letters on 2 ranks\n") &&
               recorded(specOf(program("stdin"), {}, 2, 0), &nothing, "0 lines, 0 letters on 2 ranks\n");
    }
    return good ? 0 : 1;
}
