// Goes back in a program whose messages race: every time to the recorded place, with the recorded values.
//
// usage: racing_travel PROGRAM TIMES
//
// PROGRAM is `wildcard`: rank 0 receives from whoever comes first, three others send to it after random
// delays. Each time it is run to its end, then taken to after a receive that is drawn (Go), one call back
// (Roll back), and from there to where it was (Undo). At each of them all ranks must be at their places, and
// the variables of rank 0 must be those of the message that the recording says it received there. `run again`
// at the end says how often the order of a plain new run was another one, which nothing but chance decides.
#include "session_support.h"

#include <QCoreApplication>

#include <random>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kRanks = 4;
constexpr int kMessages = 4; ///< of each rank that sends
constexpr int kReceives = kMessages * (kRanks - 1);
constexpr int kSeconds = 120; ///< that one operation may take

class Travel {
  public:
    Travel(const QString& program, int number) : m_random(std::uint32_t(number)) {
        printMessages(m_session);
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = {QString::number(kMessages)};
        spec.ranks = kRanks;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
        QObject::connect(&m_session, &Session::operationFinished, &m_session,
                         [this](bool good, const QString& how) {
                             m_finished = true;
                             m_good = good;
                             m_how = how;
                         });
    }
    ~Travel() { endJob(m_session); }
    Travel(const Travel&) = delete;
    Travel& operator=(const Travel&) = delete;

    [[nodiscard]] int operations() const { return m_operations; }
    [[nodiscard]] int failures() const { return m_failures; }

    void perform() {
        if (!runToEnd(&Session::run) || !findReceives()) {
            ++m_failures;
            return;
        }
        // From the second on, so that there is one to come back to.
        const std::size_t drawn = 1 + m_random() % (kReceives - 1);
        m_session.setPoint(Point{m_receives[drawn], true});
        m_session.setStopline(Frontier::Past);
        const Cut there = m_session.stopline()->cut;
        operate("go", &Session::go, there, drawn);
        m_session.setFocus(Focus::of({RankId(0)}));
        const auto target = m_session.rollbackTarget();
        operate("roll back", &Session::rollback, target.value_or(Cut{}), drawn - 1);
        operate("undo", &Session::undo, there, drawn);
    }

    /// The order in which rank 0 has received, and that of a plain new run; empty if that failed.
    [[nodiscard]] std::pair<QByteArray, QByteArray> orders() {
        const QByteArray recorded = m_order;
        m_session.setFocus(Focus{});
        return {recorded, runToEnd(&Session::restart) ? m_session.output(RankId(0)) : QByteArray()};
    }

  private:
    bool runToEnd(void (Session::*start)()) {
        m_ended = false;
        (m_session.*start)();
        if (waitFor([this] { return m_ended; }, kSeconds)) {
            m_order = m_session.output(RankId(0));
            return true;
        }
        out << "the program did not end" << Qt::endl;
        printStates(m_session);
        return false;
    }

    bool findReceives() {
        const Timeline& timeline = m_session.timeline();
        m_receives.clear();
        for (std::uint32_t i = 0; i < timeline.callCount(RankId(0)); ++i) {
            const CallRef ref{RankId(0), CallIndex(i)};
            const Call call = timeline.call(ref);
            if (timeline.details(RankId(0), call.beginDetails).function == trace::FunctionId::Recv) {
                m_receives.push_back(ref);
            }
        }
        if (m_receives.size() == kReceives) {
            return true;
        }
        out << "rank 0 has recorded " << m_receives.size() << " receives, not " << kReceives << Qt::endl;
        return false;
    }

    void operate(const char* name, void (Session::*command)(), const Cut& wanted, std::size_t receive) {
        m_finished = false;
        (m_session.*command)();
        const bool inTime = waitFor([this] { return m_finished; }, kSeconds);
        const bool placed = m_session.places() == wanted && m_session.allStopped() && !m_session.departure();
        const QString is = placed ? values() : QString();
        const QString recorded = valuesOf(receive);
        ++m_operations;
        if (inTime && m_good && placed && is == recorded) {
            return;
        }
        ++m_failures;
        out << name << ", receive " << receive << (inTime ? ": " : ", timed out: ") << m_how << "; recorded "
            << recorded << ", is " << is << Qt::endl;
        printStates(m_session);
    }

    /// What the recording says that the variables are after a receive: the source, the tag, and the value,
    /// which is the tag.
    [[nodiscard]] QString valuesOf(std::size_t receive) const {
        const Timeline& timeline = m_session.timeline();
        const Call call = timeline.call(m_receives[receive]);
        const trace::Status& status = timeline.details(RankId(0), call.endDetails).status;
        return QStringLiteral("%1 %2 %2").arg(status.source).arg(status.tag);
    }

    [[nodiscard]] QString values() {
        QStringList found;
        int answers = 0;
        const QStringList expressions{QStringLiteral("status.MPI_SOURCE"), QStringLiteral("status.MPI_TAG"),
                                      QStringLiteral("value")};
        for (const QString& expression : expressions) {
            m_session.evaluate(RankId(0), -1, expression, [&found, &answers](const Result<QString>& value) {
                found << (value.ok() ? value.value() : QStringLiteral("?"));
                ++answers;
            });
        }
        waitFor([&] { return answers == expressions.size(); }, 30);
        return found.join(u' ');
    }

    Session m_session;
    std::mt19937 m_random;
    std::vector<CallRef> m_receives; ///< of rank 0, in their order
    QByteArray m_order;              ///< as rank 0 has printed it
    bool m_ended = false;
    bool m_finished = false;
    bool m_good = false;
    QString m_how;
    int m_operations = 0;
    int m_failures = 0;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 3) {
        out << "usage: racing_travel PROGRAM TIMES" << Qt::endl;
        return 2;
    }
    const int times = words.at(2).toInt();
    int operations = 0;
    int failures = 0;
    int others = 0;
    for (int i = 0; i < times; ++i) {
        Travel travel(words.at(1), i + 1);
        travel.perform();
        operations += travel.operations();
        failures += travel.failures();
        const auto [recorded, again] = travel.orders();
        others += recorded != again ? 1 : 0;
    }
    out << times << " times: " << operations << " operations, " << failures << " failures; run again, "
        << others << " of " << times << " orders are others" << Qt::endl;
    return failures == 0 && operations == 3 * times && times > 0 && others > 0 ? 0 : 1;
}
