// A replay in which a recorded message cannot come: it is said which and why, and the job goes on all the same.
//
// usage: awaited PROGRAM   (tests/programs/awaits)
#include "session_support.h"

#include <QCoreApplication>
#include <QTemporaryDir>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

class Test {
  public:
    explicit Test(const QString& program) {
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = {m_directory.filePath(QStringLiteral("starts"))};
        spec.ranks = 4;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
        QObject::connect(&m_session, &Session::message, &m_session,
                         [this](Severity severity, const QString& text, const QString& remedy) {
                             out << "    " << text << " — " << remedy << Qt::endl;
                             if (severity == Severity::Warning) {
                                 m_warnings << text;
                             } else if (!text.startsWith(u"Identical") && !text.startsWith(u"Replayed by tag")) {
                                 m_messages << text;
                             }
                         });
    }
    ~Test() { endJob(m_session); }
    Test(const Test&) = delete;
    Test& operator=(const Test&) = delete;

    bool passes() {
        m_session.run();
        if (!step("the first run ends", [this] { return m_ended; }) ||
            !equal("output", QString::fromUtf8(m_session.output(RankId(0))), QStringLiteral("got 50 from rank 2, then 70\n"))) {
            return false;
        }
        m_ended = false;
        m_messages.clear();
        m_session.replay();
        // Rank 2 makes no call: nobody can tell whether it will.
        if (!step("it is said who waits", [this] { return m_warnings.size() >= 3; })) {
            return false;
        }
        m_warnings.sort();
        const QString silent = QStringLiteral("; rank 2 has made no call since its event 2.");
        const QString first = QStringLiteral("ank 0 waits in 5 MPI_Recv for the message with tag 5 on MPI_COMM_WORLD that rank 2 "
                                             "sent at 3 MPI_Send in the recording");
        if (!equal("warning", m_warnings.value(0), u'R' + first + silent) ||
            !equal("warning", m_warnings.value(1),
                   QStringLiteral("Rank 1 waits in 3 MPI_Recv for the message with tag 6 on MPI_COMM_WORLD that rank 2 sent at 5 "
                                  "MPI_Send in the recording") + silent) ||
            !equal("warning", m_warnings.value(2),
                   QStringLiteral("Rank 3 waits in 3 MPI_Finalize for rank 0 to enter 9 MPI_Finalize, r") + first + silent)) {
            return false;
        }
        // By tag the posted receive of rank 0 has been left to MPI, as no other message could reach it.
        const bool bySource = m_session.orderMarks() == nullptr;
        const qsizetype messages = bySource ? 5 : 4;
        if (!letGo(1) || !step("it departs", [this, messages] { return m_session.departure() && m_session.allStopped() && m_messages.size() >= messages; })) {
            return false;
        }
        const QString departed = QStringLiteral("; rank 2 departed at its event 3.");
        const QStringList expected = {
            QStringLiteral("The re-execution departs from the recording: rank 2, event 3 (awaits.c:51): recorded MPI_Send to 0 tag 5 4 B, now MPI_Barrier"),
            u'R' + first + departed,
            QStringLiteral("Rank 1 waits in 3 MPI_Recv for the message with tag 6 on MPI_COMM_WORLD that rank 2 sent at 5 MPI_Send in the recording") + departed,
            QStringLiteral("Rank 3 waits in 3 MPI_Finalize for rank 0 to enter 9 MPI_Finalize, r") + first + departed,
            QStringLiteral("Receives that have been posted from any source keep the one that they had in the recording: rank 0's of event 3, from rank 2."),
        };
        for (qsizetype i = 0; i < messages; ++i) {
            if (!equal("message", m_messages.value(i), expected[i])) {
                return false;
            }
        }
        // Rank 0 is inside the receive that waited for rank 2; MPI gives it what rank 1 sends.
        if (!letGo(2) || !step("the job ends", [this] { return m_ended; }) ||
            !equal("output", QString::fromUtf8(m_session.output(RankId(0))), QStringLiteral("got 51 from rank 1, then 70\n"))) {
            return false;
        }
        // What it has done now is what is replayed from here on.
        m_ended = false;
        m_session.replay();
        return step("rank 1 receives", [this] { return m_session.live(RankId(1)).place.event.value() == 3; }) && letGo(2) &&
               step("the replay ends", [this] { return m_ended; }) && !m_session.departure() && m_session.comparison().equal &&
               m_session.comparison().live.isEmpty() &&
               equal("output", QString::fromUtf8(m_session.output(RankId(0))), QStringLiteral("got 51 from rank 1, then 70\n"));
    }

  private:
    static constexpr int kSeconds = 60;

    bool step(const char* what, const std::function<bool()>& done) {
        if (waitFor(done, kSeconds)) {
            out << what << Qt::endl;
            return true;
        }
        out << "FAILED: " << what << Qt::endl;
        printStates(m_session);
        return false;
    }
    /// Lets rank 2 out of its loop.
    bool letGo(int go) {
        m_session.pause();
        if (!step("all ranks stop", [this] { return m_session.allStopped(); })) {
            return false;
        }
        bool set = false;
        m_session.gdbCommand(RankId(2), QStringLiteral("set var go = %1").arg(go), [&set](const Result<QString>& answer) { set = bool(answer); });
        if (!step("go is set", [&set] { return set; })) {
            return false;
        }
        m_session.continueRun();
        return true;
    }
    static bool equal(const char* what, const QString& now, const QString& expected) {
        if (now != expected) {
            out << "FAILED: " << what << "\n  expected " << expected << "\n  got      " << now << Qt::endl;
        }
        return now == expected;
    }

    QTemporaryDir m_directory;
    Session m_session;
    bool m_ended = false;
    QStringList m_warnings;
    QStringList m_messages;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    if (QCoreApplication::arguments().size() != 2) {
        out << "usage: awaited PROGRAM" << Qt::endl;
        return 2;
    }
    Test test(QCoreApplication::arguments().at(1));
    return test.passes() ? 0 : 1;
}
