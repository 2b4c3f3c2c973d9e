// A program that completes sends by copies of their handles, recorded where MPI is done with many of them at
// once and replayed where it is with others, and the other way round: all comes out the same.
//
// usage: copies PROGRAM [LAUNCHER]
#include "session_support.h"

#include <QCoreApplication>
#include <QFile>
#include <QTemporaryDir>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kSeconds = 100; ///< that one execution may take

class Job {
  public:
    Job(const QString& program, const QString& launcher) {
        printMessages(m_session);
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = {file()};
        spec.ranks = 2;
        if (!launcher.isEmpty()) {
            spec.launcher = launcher;
        }
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
    }
    ~Job() { endJob(m_session); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    bool record(const char* how) { return execute(&Session::run, how); }

    bool replay(const char* how) {
        const QVector<EventIndex> recorded = lastEvents();
        if (!execute(&Session::replay, how)) {
            return false;
        }
        const Session::Comparison now = m_session.comparison();
        if (now.again && now.equal && now.live.isEmpty() && now.compared == recorded &&
            lastEvents() == recorded) {
            return true;
        }
        out << "FAILED: not all recorded events, or others as well" << Qt::endl;
        printStates(m_session);
        return false;
    }

  private:
    [[nodiscard]] QString file() const { return m_directory.filePath(QStringLiteral("how")); }

    bool execute(void (Session::*start)(), const char* how) {
        out << how << Qt::endl;
        QFile words(file());
        if (!words.open(QIODevice::WriteOnly) || words.write(how) <= 0) {
            out << "FAILED: " << words.fileName() << " cannot be written" << Qt::endl;
            return false;
        }
        words.close();
        m_ended = false;
        (m_session.*start)();
        if (waitFor([this] { return m_ended || m_session.departure(); }, kSeconds) && m_ended) {
            return true;
        }
        out << "FAILED: it did not end as it should" << Qt::endl;
        printStates(m_session);
        return false;
    }

    [[nodiscard]] QVector<EventIndex> lastEvents() const {
        QVector<EventIndex> result;
        for (int i = 0; i < m_session.rankCount(); ++i) {
            result << m_session.timeline().lastEvent(RankId(i));
        }
        return result;
    }

    QTemporaryDir m_directory;
    Session m_session;
    bool m_ended = false;
};

/// `first` is recorded; then it is replayed twice, the other way and the same way.
bool comesOutTheSame(const QStringList& words, const char* first, const char* other) {
    Job job(words.at(1), words.value(2));
    return job.record(first) && job.replay(other) && job.replay(first);
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 2) {
        out << "usage: copies PROGRAM [LAUNCHER]" << Qt::endl;
        return 2;
    }
    const bool late = comesOutTheSame(words, "late", "prompt");
    const bool prompt = comesOutTheSame(words, "prompt", "late");
    return late && prompt ? 0 : 1;
}
