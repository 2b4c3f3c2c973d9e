// Before a recording is executed again, what its ranks are to follow is made aside: that can be cancelled,
// also by Kill and by the session's end, and the next time it is there.
//
// usage: prepared PROGRAM [ARGUMENT...]
#include "session_support.h"

#include "../../replay/order_marks.h"

#include <QCoreApplication>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

class Test {
  public:
    explicit Test(const QStringList& command) {
        printMessages(m_session);
        LaunchSpec spec;
        spec.program = command.first();
        spec.arguments = command.mid(1);
        spec.ranks = 4;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::operationFinished, &m_session,
                         [this](bool ok, const QString& text) {
                             m_ok = ok;
                             m_text = text;
                         });
    }

    bool passes() {
        m_session.run();
        if (!ends("the run")) {
            return false;
        }
        for (const auto& [how, name] :
             {std::pair(ReplayBy::Source, "by source"), std::pair(ReplayBy::Tag, "by tag"),
              std::pair(ReplayBy::TagBounded, "by tag, bounded")}) {
            m_session.setReplayBy(how);
            if (!isCancelled(name) || !isKilled(name) || !isReplayed(name) || !isReplayed(name)) {
                return false;
            }
        }
        m_session.setReplayBy(ReplayBy::Source);
        m_session.replay();
        return begun("at the session's end"); // which follows, with the logs half made
    }

  private:
    bool says(bool is, const char* name, const char* what) {
        if (!is) {
            out << name << ": " << what << " (" << m_text << ")" << Qt::endl;
            printStates(m_session);
        }
        return is;
    }
    /// There is a job, and none of its ranks: what they follow is being made.
    bool begun(const char* name) {
        return says(m_session.jobExists() &&
                        m_session.whyNot(Verb::Replay) ==
                            QLatin1StringView("the job is on its way to a place; cancel that first"),
                    name, "it is not being made");
    }
    bool isCancelled(const char* name) {
        m_ok = true;
        m_text.clear();
        m_session.replay();
        if (!begun(name)) {
            return false;
        }
        m_session.cancel();
        return says(!m_ok && m_text == QLatin1StringView("cancelled; the job has not been started") &&
                        !m_session.jobExists() && m_session.rank(RankId(0)).phase == RankPhase::NotStarted &&
                        m_session.whyNot(Verb::Replay).isEmpty(),
                    name, "not cancelled");
    }
    bool isKilled(const char* name) {
        m_session.replay();
        if (!begun(name)) {
            return false;
        }
        m_session.kill();
        return says(waitFor([this] { return !m_session.jobExists(); }, 20), name, "not killed");
    }
    bool isReplayed(const char* name) {
        m_session.replay();
        if (!ends(name)) {
            return false;
        }
        const Session::Comparison now = m_session.comparison();
        bool whole =
            now.again && now.equal && now.compared.size() == m_session.rankCount() && now.live.isEmpty();
        for (int i = 0; whole && i < m_session.rankCount(); ++i) {
            whole =
                now.compared[i].value() > 0 && now.compared[i] == m_session.timeline().lastEvent(RankId(i));
        }
        return says(whole, name, "not as recorded");
    }
    bool ends(const char* name) {
        return says(waitFor([this] { return !m_session.jobExists(); }, 60), name, "has not ended");
    }

    Session m_session;
    bool m_ok = true;
    QString m_text;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    const QStringList arguments = app.arguments().mid(1);
    if (arguments.isEmpty()) {
        out << "usage: prepared PROGRAM [ARGUMENT...]" << Qt::endl;
        return 2;
    }
    Test test(arguments);
    return test.passes() ? 0 : 1;
}
