// Records random programs whose messages race, and replays each recording under other delays: all must come
// out the same.
//
// usage: racing_replay [--by-tag | --by-tag-bounded] PROGRAM FIRST_SEED SEEDS REPLAYS [RANKS [SEEDS_A_JOB [LAUNCHER]]]
//
// The seeds are run in jobs of some each. A job is run once to see that it would come out differently, run
// once more and recorded, then replayed REPLAYS times. The program is delayed at random (RACING_JITTER), each
// time in another way. A departure, a rank that does not make all recorded events or makes others, and output
// that is not the same bit for bit fail. So does a job of which fewer than half of the seeds would come out
// differently: it would prove nothing. With --by-tag the messages that raced are marked, instead of forcing all
// receives to their sources; so does then a job in which no message is marked, or nothing is left to MPI.
#include "session_support.h"

#include "../../replay/order_marks.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QMap>
#include <QTemporaryDir>

#include <algorithm>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kSeconds = 300; ///< that one execution may take

struct Settings {
    QString program;
    int first = 1;
    int seeds = 0;
    int replays = 0;
    int ranks = 4;
    int seedsOfJob = 10;
    QString launcher;
    ReplayBy by = ReplayBy::Source;
};

/// What one execution has printed, by rank.
using Output = QVector<QByteArray>;

class Job {
  public:
    Job(const Settings& settings, int first, int seeds)
        : m_settings(settings), m_first(first), m_seeds(seeds) {
        printMessages(m_session);
        m_session.setReplayBy(settings.by);
        LaunchSpec spec;
        spec.program = settings.program;
        spec.arguments = {QString::number(first), QString::number(seeds)};
        spec.ranks = settings.ranks;
        if (settings.launcher.isEmpty()) {
            spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        } else {
            spec.launcher = settings.launcher;
        }
        spec.environment = {{QStringLiteral("RACING_JITTER"), jitterFile()}};
        m_session.setLaunch(spec);
        QObject::connect(&m_session, &Session::jobEnded, &m_session, [this] { m_ended = true; });
    }
    ~Job() { endJob(m_session); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// True when everything was as it has to be.
    bool passes() {
        if (!execute(&Session::run, 1)) {
            return false;
        }
        const Output other = output();
        if (!execute(&Session::restart, 2)) {
            return false;
        }
        const Output recorded = output();
        const QVector<EventIndex> events = lastEvents();
        const int racing = m_seeds - seedsAlike(other, recorded);
        out << name() << ": " << total(events) << " events, " << racing << " of " << m_seeds << " seeds raced"
            << Qt::endl;
        bool good = racing * 2 >= m_seeds;
        for (int replay = 0; replay < m_settings.replays; ++replay) {
            good = replayed(replay, recorded, events) && good;
        }
        return good;
    }

  private:
    [[nodiscard]] QString name() const {
        return QStringLiteral("seeds %1-%2").arg(m_first).arg(m_first + m_seeds - 1);
    }
    [[nodiscard]] QString jitterFile() const { return m_directory.filePath(QStringLiteral("jitter")); }

    bool execute(void (Session::*start)(), int jitter) {
        QFile file(jitterFile());
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(QByteArray::number(m_first * 1000 + jitter)) <= 0) {
            out << name() << ": " << file.fileName() << " cannot be written" << Qt::endl;
            return false;
        }
        file.close();
        m_ended = false;
        (m_session.*start)();
        const bool inTime =
            waitFor([this] { return m_ended || m_session.departure() || anyoneStands(); }, kSeconds);
        if (inTime && m_ended && exitedWell()) {
            return true;
        }
        out << name() << ", execution " << jitter << (inTime ? ": ended badly" : ": did not end") << Qt::endl;
        printStates(m_session);
        endJob(m_session);
        return false;
    }

    /// Nobody stops it: a signal, MPI_Abort.
    [[nodiscard]] bool anyoneStands() const {
        for (int i = 0; i < m_session.rankCount(); ++i) {
            if (m_session.rank(RankId(i)).phase == RankPhase::Stopped) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool exitedWell() const {
        for (int i = 0; i < m_session.rankCount(); ++i) {
            const RankView view = m_session.rank(RankId(i));
            if (view.phase != RankPhase::Exited || view.exitCode != 0 || view.exitSignal != 0) {
                return false;
            }
        }
        return m_session.rankCount() == m_settings.ranks;
    }

    bool replayed(int replay, const Output& recorded, const QVector<EventIndex>& events) {
        const bool ended = execute(&Session::replay, 3 + replay);
        if (const auto departure = m_session.departure()) {
            out << name() << ", replay " << replay + 1 << ": rank " << departure->rank.value()
                << " departs at event " << departure->event.value() << ": recorded " << departure->recorded
                << ", executed " << departure->executed << ", " << departure->where.file << ':'
                << departure->where.line << Qt::endl;
            return false;
        }
        if (!ended) {
            return false;
        }
        const OrderMarks* marks = m_session.orderMarks();
        if (marks != nullptr && replay == 0) {
            out << name() << ": of " << marks->messages << " messages " << marks->traced << " raced and " << marks->marked
                << " are marked, of " << marks->windows << " receives and probes of any source " << marks->open
                << " are left to MPI, " << marks->controls.size() << " control messages" << Qt::endl;
        }
        if ((marks != nullptr && marks->marked > 0) != (m_settings.by != ReplayBy::Source) ||
            (marks != nullptr && marks->open == 0) ||
            (marks != nullptr && !marks->controls.empty()) != (m_settings.by == ReplayBy::TagBounded)) {
            out << name() << ": nothing is marked or left to MPI, or without control messages" << Qt::endl;
            return false;
        }
        const Session::Comparison now = m_session.comparison();
        bool good =
            now.again && now.equal && now.live.isEmpty() && now.compared == events && lastEvents() == events;
        if (!good) {
            out << name() << ", replay " << replay + 1 << ": not all recorded events, or others as well"
                << Qt::endl;
            printStates(m_session);
        }
        const Output printed = output();
        if (printed != recorded) {
            good = false;
            out << name() << ", replay " << replay + 1 << ": the output differs for "
                << m_seeds - seedsAlike(printed, recorded) << " seeds" << Qt::endl;
            for (int i = 0; i < printed.size() && i < recorded.size(); ++i) {
                printDifference(recorded[i], printed[i]);
            }
        }
        return good;
    }

    static void printDifference(const QByteArray& recorded, const QByteArray& printed) {
        const QList<QByteArray> then = recorded.split('\n');
        const QList<QByteArray> now = printed.split('\n');
        for (qsizetype i = 0; i < std::max(then.size(), now.size()); ++i) {
            if (then.value(i) != now.value(i)) {
                out << "    recorded: " << then.value(i) << "\n    now:      " << now.value(i) << Qt::endl;
                return; // the first says it
            }
        }
    }

    [[nodiscard]] Output output() const {
        Output result;
        for (int i = 0; i < m_session.rankCount(); ++i) {
            result << m_session.output(RankId(i));
        }
        return result;
    }

    [[nodiscard]] QVector<EventIndex> lastEvents() const {
        QVector<EventIndex> result;
        for (int i = 0; i < m_session.rankCount(); ++i) {
            result << m_session.timeline().lastEvent(RankId(i));
        }
        return result;
    }

    static quint64 total(const QVector<EventIndex>& events) {
        quint64 sum = 0;
        for (const EventIndex event : events) {
            sum += event.value();
        }
        return sum;
    }

    /// How many seeds have printed the same in both, one line on each rank.
    static int seedsAlike(const Output& one, const Output& other) {
        QMap<QByteArray, bool> differs;
        for (int i = 0; i < one.size() && i < other.size(); ++i) {
            const QList<QByteArray> a = one[i].split('\n');
            const QList<QByteArray> b = other[i].split('\n');
            for (qsizetype line = 0; line < a.size(); ++line) {
                if (const QByteArray seed = a[line].split(' ').value(1); !a[line].isEmpty()) {
                    differs[seed] = differs.value(seed) || a[line] != b.value(line);
                }
            }
        }
        return int(std::count(differs.cbegin(), differs.cend(), false));
    }

    const Settings& m_settings;
    int m_first;
    int m_seeds;
    QTemporaryDir m_directory;
    Session m_session;
    bool m_ended = false;
};

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    QStringList words = QCoreApplication::arguments();
    const bool bounded = words.removeAll(QStringLiteral("--by-tag-bounded")) > 0;
    const bool byTag = words.removeAll(QStringLiteral("--by-tag")) > 0;
    if (words.size() < 5) {
        out << "usage: racing_replay [--by-tag | --by-tag-bounded] PROGRAM FIRST_SEED SEEDS REPLAYS [RANKS [SEEDS_A_JOB [LAUNCHER]]]"
            << Qt::endl;
        return 2;
    }
    Settings settings;
    settings.program = words.at(1);
    settings.first = words.at(2).toInt();
    settings.seeds = words.at(3).toInt();
    settings.replays = words.at(4).toInt();
    settings.ranks = words.value(5, QStringLiteral("4")).toInt();
    settings.seedsOfJob = std::max(1, words.value(6, QStringLiteral("10")).toInt());
    settings.launcher = words.value(7);
    settings.by = bounded ? ReplayBy::TagBounded : byTag ? ReplayBy::Tag : ReplayBy::Source;
    QElapsedTimer clock;
    clock.start();
    int jobs = 0;
    int failures = 0;
    for (int done = 0; done < settings.seeds; done += settings.seedsOfJob) {
        Job job(settings, settings.first + done, std::min(settings.seedsOfJob, settings.seeds - done));
        ++jobs;
        failures += job.passes() ? 0 : 1;
    }
    out << settings.seeds << " seeds in " << jobs << " jobs, each replayed " << settings.replays << " times, "
        << failures << " jobs failed, " << clock.elapsed() / 1000 << " s" << Qt::endl;
    return failures == 0 && jobs > 0 ? 0 : 1;
}
