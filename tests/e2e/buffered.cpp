// How many messages wait to be received in a replay by tag: without control messages as many as are sent, with them no
// more than in the recorded execution.
//
// usage: buffered PROGRAM   (tests/programs/paced)
#include "session_support.h"

#include "../../replay/order_marks.h"
#include "../programs/paced.h"

#include <QCoreApplication>
#include <QFile>
#include <QTemporaryDir>

#include <cstring>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

class Test {
  public:
    explicit Test(const QString& program) : m_file(m_directory.filePath(QStringLiteral("board"))) {
        printMessages(m_session);
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = {m_file};
        spec.ranks = 3;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
    }
    ~Test() { endJob(m_session); }
    Test(const Test&) = delete;
    Test& operator=(const Test&) = delete;

    bool passes() {
        const int recorded = most(PACED, "paced, recorded");
        // A message counts as sent when its call has returned, which can be after it was received.
        if (recorded < 0 || recorded > 1) {
            return false;
        }
        m_session.setReplayBy(ReplayBy::Tag);
        if (most(FLOOD, "by tag") != MESSAGES || !m_session.orderMarks()->controls.empty()) {
            return false;
        }
        m_session.setReplayBy(ReplayBy::TagBounded);
        const int bounded = most(SLOW, "by tag, bounded");
        // The control message comes before the program can note what it has received; and the last message of all has
        // no other one that it raced with, so that nothing keeps it back.
        return bounded >= 0 && bounded <= 3 && m_session.orderMarks()->marked == std::uint64_t(2 * MESSAGES - 1) &&
               m_session.orderMarks()->controls.size() == std::size_t(2 * MESSAGES - 1);
    }

  private:
    /// Executes the program; the most messages that waited. Negative: not as recorded.
    int most(int how, const char* what) {
        board shared{};
        shared.how = how;
        QFile file(m_file);
        if (!file.open(QIODevice::WriteOnly) || file.write(reinterpret_cast<const char*>(&shared), sizeof shared) != sizeof shared) {
            return -1;
        }
        file.close();
        m_ended = false;
        if (how == PACED) {
            m_session.run();
        } else {
            m_session.replay();
        }
        if (!waitFor([this] { return m_ended; }, 60)) {
            out << "FAILED: " << what << " does not end" << Qt::endl;
            printStates(m_session);
            return -1;
        }
        const QByteArray output = m_session.output(RankId(0));
        if (how == PACED) {
            m_output = output;
        } else if (!m_session.comparison().equal || output != m_output) {
            out << "FAILED: " << what << " is another execution, output " << output << Qt::endl;
            return -1;
        }
        if (!file.open(QIODevice::ReadOnly) || file.read(reinterpret_cast<char*>(&shared), sizeof shared) != sizeof shared) {
            return -1;
        }
        out << what << ": at most " << shared.most << " messages of one rank waited";
        if (const OrderMarks* marks = m_session.orderMarks()) {
            out << ", " << marks->marked << " of " << marks->messages << " marked, " << marks->controls.size() << " control messages";
        }
        out << Qt::endl;
        return shared.most;
    }

    QTemporaryDir m_directory;
    QString m_file;
    Session m_session;
    QByteArray m_output;
    bool m_ended = false;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    if (argc != 2) {
        out << "usage: buffered PROGRAM" << Qt::endl;
        return 2;
    }
    Test test(QString::fromLocal8Bit(argv[1]));
    return test.passes() ? 0 : 1;
}
