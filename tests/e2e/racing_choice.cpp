// Runs random programs whose messages race, and has their races get other messages than they got.
//
// usage: racing_choice PROGRAM FIRST_SEED SEEDS CHOICES [RANKS]
//
// Each seed is run and recorded, then CHOICES races of it, spread over the run, are given another message each. In each
// of these executions what does not depend on the race must be as recorded, the race must get the chosen message, and
// all ranks must end well. The first execution must then still be there, and be replayed identically. A seed without a
// race counts for nothing; when no race at all was found the test fails.
#include "session_support.h"

#include "../../replay/call_words.h"
#include "../../replay/order_log.h"
#include "../../replay/race_choice.h"

#include <QCoreApplication>
#include <QElapsedTimer>

#include <algorithm>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kSeconds = 120; ///< that one execution may take

/// A race and a message that it could have had, and that is sent by what does not depend on it.
struct Wanted {
    RankId receiver{0};
    EventIndex post{0};
    RankId sender{0};
    EventIndex send{0};
    MaybeCall insteadOf; ///< the send of what it had got: of several races of one call it tells which
    bool probe = false;
    Choice choice;
};

class Seed {
  public:
    Seed(const QString& program, int seed, int ranks) : m_seed(seed), m_ranks(ranks) {
        printMessages(m_session);
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = {QString::number(seed)};
        spec.ranks = ranks;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
        QObject::connect(&m_session, &Session::racesChanged, &m_session, [this] { m_looked = true; });
        QObject::connect(&m_session, &Session::operationFinished, &m_session, [this](bool ok, const QString& text) {
            m_refusal = ok ? QString() : text;
        });
    }
    ~Seed() { endJob(m_session); }
    Seed(const Seed&) = delete;
    Seed& operator=(const Seed&) = delete;

    /// True when everything was as it has to be. `chosen` gets how many choices were made.
    bool passes(int choices, int& chosen) {
        m_ended = false;
        m_session.run();
        if (!endsWell(QStringLiteral("run"))) {
            return false;
        }
        const QVector<EventIndex> events = lastEvents();
        const std::vector<Wanted> all = wanted();
        bool good = true;
        for (int i = 0; i < choices && i < int(all.size()); ++i) {
            const Wanted& want = all[std::size_t(i) * all.size() / std::size_t(std::min<std::size_t>(choices, all.size()))];
            const bool made = choose(want);
            ++chosen;
            good = back(events) && made && good;
            if (!made) {
                out << "as it was first run:" << Qt::endl;
                printAround(want);
                printAsked(want);
            }
        }
        return good;
    }

  private:
    bool endsWell(const QString& what) {
        const bool inTime = waitFor([this] { return m_ended || m_session.departure(); }, kSeconds);
        bool good = inTime && m_ended && m_session.rankCount() == m_ranks;
        for (int i = 0; i < m_session.rankCount(); ++i) {
            const RankView view = m_session.rank(RankId(i));
            good = good && view.phase == RankPhase::Exited && view.exitCode == 0 && view.exitSignal == 0;
        }
        if (!good) {
            out << "seed " << m_seed << ", " << what << (inTime ? ": ended badly" : ": did not end") << Qt::endl;
            printStates(m_session);
            endJob(m_session);
        }
        return good;
    }

    std::vector<Wanted> wanted() {
        m_looked = false;
        m_session.lookForRaces();
        waitFor([this] { return m_looked; }, kSeconds);
        const Timeline& timeline = m_session.timeline();
        std::vector<Wanted> all;
        int kept = 0;
        for (const Race& race : m_session.races().races()) {
            const bool probe = race.kind == RaceKind::Probe || race.kind == RaceKind::FailedProbe;
            const trace::CallClass asked = trace::functionClass(
                timeline.details(race.call.rank, timeline.call(race.call).beginDetails).function);
            if (probe && (asked == trace::CallClass::Test || asked == trace::CallClass::WinTest)) {
                continue; // part of a poll that began by asking for something else: refused
            }
            const Call deciding = timeline.call(decidingCall(race));
            for (const Alternative& one : m_session.races().alternatives(race)) {
                const EventIndex send = timeline.call(one.send).begin;
                // Sent in any case, whatever MPI itself waits for: before the future frontier of what decides the race.
                const Line free = timeline.futureFrontier({decidingCall(race), false});
                if (deciding.end.value() == 0 || send > free.cut[std::size_t(one.sender.value())].event) {
                    continue;
                }
                // Behind a send that waits for the race it may never come: the user is told so.
                std::string why;
                const Choice choice = choiceOf(timeline, race, one, why);
                if (!choice.upTo.empty() && send > choice.upTo[std::size_t(one.sender.value())]) {
                    ++kept;
                } else {
                    all.push_back({race.call.rank, timeline.call(race.call).begin, one.sender, send,
                                   race.send, probe, choice});
                }
            }
        }
        out << "seed " << m_seed << ": " << m_session.races().count() << " races, " << all.size() << " messages to choose, " << kept
            << " that may be kept back" << Qt::endl;
        return all;
    }

    bool choose(const Wanted& want) {
        const Timeline& timeline = m_session.timeline();
        const QString name = QStringLiteral("rank %1 event %2 (%3) gets rank %4's event %5 instead of %6")
                                 .arg(want.receiver.value())
                                 .arg(want.post.value())
                                 .arg(callText(want.receiver, want.post))
                                 .arg(want.sender.value())
                                 .arg(want.send.value())
                                 .arg(want.insteadOf ? QStringLiteral("rank %1's event %2")
                                                           .arg(want.insteadOf->rank.value())
                                                           .arg(timeline.call(*want.insteadOf).begin.value())
                                                     : QStringLiteral("nothing that is known"));
        const auto race = timeline.callAt(want.receiver, want.post);
        const auto send = timeline.callAt(want.sender, want.send);
        m_ended = false;
        m_refusal.clear();
        const int before = m_session.executions().last().number; // of many the older ones go
        m_session.takeInstead(*race, *send, want.insteadOf);
        if (!m_refusal.isEmpty()) {
            out << "seed " << m_seed << ", " << name << ": refused: " << m_refusal << Qt::endl;
            return false;
        }
        if (!waitFor([&] { return m_session.executions().last().number > before; }, kSeconds)) {
            out << "seed " << m_seed << ", " << name << ": not begun" << Qt::endl;
            return false;
        }
        if (!endsWell(name)) {
            return false;
        }
        const Session::Comparison now = m_session.comparison();
        const bool good = now.again && now.equal && got(want);
        if (!good) {
            out << "seed " << m_seed << ", " << name << (got(want) ? ": not equal up to there" : ": got something else") << Qt::endl;
            printAround(want);
        }
        return good;
    }

    [[nodiscard]] QString callText(RankId rank, EventIndex event) const {
        const auto call = m_session.timeline().callAt(rank, event);
        return call ? m_session.callText(*call) : QStringLiteral("no call");
    }

    /// What the receiver did from the race on, and what its messages were.
    void printAround(const Wanted& want) const {
        const Timeline& timeline = m_session.timeline();
        out << "    " << m_session.executions().last().text << Qt::endl;
        for (const MessageIndex index : timeline.messagesOf(*timeline.callAt(want.receiver, want.post))) {
            const Message& message = timeline.messages()[index.value()];
            out << "    message: from rank " << message.sender.value() << " event "
                << (message.send ? timeline.call(*message.send).begin.value() : 0) << ", posted at event "
                << (message.post ? timeline.call(*message.post).begin.value() : 0) << ", done at event "
                << (message.done ? timeline.call(*message.done).begin.value() : 0) << Qt::endl;
        }
        const std::uint64_t last = timeline.lastEvent(want.receiver).value();
        for (std::uint64_t event = want.post.value(); event <= last && event < want.post.value() + 24; ++event) {
            const EventIndex at(event);
            out << "    " << event << ' ' << detailsText(timeline.details(want.receiver, timeline.eventDetails(want.receiver, at))) << Qt::endl;
        }
    }

    /// What the choice asks of the ranks, and near the race of its receiver; the first execution is shown.
    void printAsked(const Wanted& want) const {
        out << "    as recorded up to:";
        for (const EventIndex event : want.choice.upTo) {
            out << ' ' << event.value();
        }
        out << Qt::endl;
        for (const auto& [event, entry] : plannedOrder(m_session.timeline(), want.receiver, want.choice)) {
            if (event + 24 > want.post.value() && event < want.post.value() + 24) {
                out << "    event " << event << ": order kind " << int(entry.kind);
                for (const std::uint64_t number : entry.numbers) {
                    out << ' ' << number;
                }
                out << Qt::endl;
            }
        }
    }

    /// The call at the place of the race has got the message of the call at the place of the send.
    [[nodiscard]] bool got(const Wanted& want) const {
        const Timeline& timeline = m_session.timeline();
        const auto race = timeline.callAt(want.receiver, want.post);
        if (!race) {
            return false;
        }
        if (want.probe) {
            const Call call = timeline.call(*race);
            const trace::EventDetails& begin = timeline.details(want.receiver, call.beginDetails);
            const trace::EventDetails& end = timeline.details(want.receiver, call.endDetails);
            const CommIndex comm = begin.comm != kNoComm ? begin.comm : end.comm;
            const trace::CommInfo& info = timeline.comm(want.receiver, comm);
            const auto& senders = info.remote.empty() ? info.members : info.remote;
            return end.status.source >= 0 && senders[std::size_t(end.status.source)] == want.sender.value();
        }
        const std::vector<MessageIndex> all = timeline.messagesOf(*race);
        return std::any_of(all.begin(), all.end(), [&](MessageIndex index) {
            const Message& message = timeline.messages()[index.value()];
            return message.post == race && message.send && message.send->rank == want.sender &&
                   timeline.call(*message.send).begin == want.send;
        });
    }

    /// The first execution again: shown, and replayed identically.
    bool back(const QVector<EventIndex>& events) {
        endJob(m_session);
        const int first = m_session.executions().first().number;
        m_session.showExecution(first);
        m_ended = false;
        m_session.replay();
        if (!endsWell(QStringLiteral("replay of the first"))) {
            return false;
        }
        const Session::Comparison now = m_session.comparison();
        const bool good = now.again && now.equal && now.live.isEmpty() && now.compared == events;
        if (!good) {
            out << "seed " << m_seed << ": the first execution is not the same any more" << Qt::endl;
        }
        return good;
    }

    [[nodiscard]] QVector<EventIndex> lastEvents() const {
        QVector<EventIndex> result;
        for (int i = 0; i < m_session.rankCount(); ++i) {
            result << m_session.timeline().lastEvent(RankId(i));
        }
        return result;
    }

    int m_seed;
    int m_ranks;
    Session m_session;
    bool m_ended = false;
    bool m_looked = false;
    QString m_refusal;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 5) {
        out << "usage: racing_choice PROGRAM FIRST_SEED SEEDS CHOICES [RANKS]" << Qt::endl;
        return 2;
    }
    QElapsedTimer clock;
    clock.start();
    int failures = 0;
    int chosen = 0;
    for (int i = 0; i < words.at(3).toInt(); ++i) {
        Seed seed(words.at(1), words.at(2).toInt() + i, words.value(5, QStringLiteral("4")).toInt());
        failures += seed.passes(words.at(4).toInt(), chosen) ? 0 : 1;
    }
    out << words.at(3) << " seeds, " << chosen << " other messages chosen, " << failures << " seeds failed, " << clock.elapsed() / 1000
        << " s" << Qt::endl;
    return failures == 0 && chosen > 0 ? 0 : 1;
}
