// What another execution of the recording follows, before it starts.
#include "session_logs.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

namespace {

constexpr int kTickMs = 100;
constexpr qint64 kSilentMs = 200;        ///< what is over sooner is not told of: it would only flicker
constexpr std::uint64_t kPiece = 50'000; ///< events between two looks at what the user does

} // namespace

Session::Impl::LogMaking::LogMaking(Session::Impl* of, Done done) : m_of(of), m_done(std::move(done)) {
    m_since.start();
    QObject::connect(&m_tick, &QTimer::timeout, &m_here, [this] { tell(); });
    m_tick.start(kTickMs);
    if (m_of->replayBy == ReplayBy::Source) {
        make();
    } else {
        lookForRaces();
    }
}

Session::Impl::LogMaking::~LogMaking() {
    m_progress.cancelled = true;
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

/// What is marked follows from which messages raced. The window shows them while they are looked for, so that
/// is done in its own thread.
void Session::Impl::LogMaking::lookForRaces() {
    if (m_of->recording->findRaces(kPiece)) {
        m_racesKnown = true;
        make();
        return;
    }
    QTimer::singleShot(0, &m_here, [this] { lookForRaces(); });
}

void Session::Impl::LogMaking::make() {
    const Timeline& timeline = m_of->recording->timeline();
    if (m_of->replayBy == ReplayBy::TagBounded && timeline.rankCount() > 0) {
        (void)timeline.axisTime(RankId(0),
                                EventIndex(1)); // brings its times up to date; then it is only read
    }
    m_thread = std::thread([this, recording = m_of->recording.get(), how = m_of->replayBy] {
        const std::shared_ptr<const ReplayLogs> made = recording->makeReplayLogs(how, m_progress);
        if (made != nullptr) {
            QMetaObject::invokeMethod(
                &m_here,
                [this, made] {
                    const Done done = std::move(m_done);
                    done(made);
                },
                Qt::QueuedConnection);
        }
    });
}

void Session::Impl::LogMaking::tell() {
    if (!text().isEmpty()) {
        emit m_of->q->operationChanged();
    }
}

QString Session::Impl::LogMaking::text() const {
    if (m_since.elapsed() < kSilentMs) {
        return {};
    }
    const Timeline& timeline = m_of->recording->timeline();
    if (const int rank = m_progress.rank; rank >= 0) {
        return QStringLiteral("what rank %1 of %2 has to follow").arg(rank).arg(timeline.rankCount());
    }
    if (m_of->replayBy == ReplayBy::Source) {
        return QStringLiteral("preparing");
    }
    if (m_racesKnown) {
        return QStringLiteral("marking the messages that raced");
    }
    quint64 all = 0;
    quint64 done = 0;
    for (int i = 0; i < timeline.rankCount(); ++i) {
        all += timeline.lastEvent(RankId(i)).value();
        done += m_of->recording->races().analysed(RankId(i)).value();
    }
    return QStringLiteral("looking for races, %1 %").arg(all == 0 ? 100 : done * 100 / all);
}

/// Then `rerun.logs` and `rerun.controls` are what the execution is told.
void Session::Impl::makeLogs(const Approach* with, std::function<void()> then) {
    std::vector<std::uint64_t> places;
    if (with != nullptr) {
        for (const auto& target : with->targets()) {
            places.push_back(target.place.event.value());
        }
    }
    const auto ready = [this, places = std::move(places),
                        then = std::move(then)](const std::shared_ptr<const ReplayLogs>& logs) {
        rerun.logs = logs;
        if (const OrderMarks* marks = logs->marks.get()) {
            rerun.controls = marks->controls;
            if (!places.empty() && !rerun.controls.empty()) {
                std::vector<std::uint64_t> last(std::max(places.size(), logs->ranks.size()),
                                                ~std::uint64_t{0});
                std::copy(places.begin(), places.end(), last.begin());
                leaveOutBeyond(rerun.controls, last);
            }
        }
        then();
    };
    if (const std::shared_ptr<const ReplayLogs> known = recording->replayLogs(replayBy)) {
        ready(known);
        return;
    }
    logMaking =
        std::make_shared<LogMaking>(this, [this, ready](const std::shared_ptr<const ReplayLogs>& logs) {
            const bool told = !logsText().isEmpty();
            // This function is called by it.
            QTimer::singleShot(0, q, [over = std::move(logMaking)] {});
            recording->keepReplayLogs(logs);
            if (std::exchange(racesWait, false)) {
                findRacesSoon();
            }
            ready(logs);
            if (told) {
                emit q->operationChanged();
            }
            emit q->verbsChanged();
        });
    emit q->verbsChanged();
}

QString Session::Impl::logsText() const {
    return logMaking != nullptr ? logMaking->text() : QString();
}

/// Nobody reads the recording aside any more.
void Session::Impl::endLogs() {
    logMaking.reset();
    if (std::exchange(racesWait, false)) {
        findRacesSoon();
    }
}

/// Nothing of the new job has been started: there is none.
void Session::Impl::cancelLogs() {
    endLogs();
    delete approach;
    approach = nullptr;
    notStarted();
    if (approachDone) {
        std::exchange(approachDone, nullptr)(false);
    }
    commandOpen = false;
    emit q->operationChanged();
    emit q->verbsChanged();
    emit q->historyChanged();
    emit q->operationFinished(false, QStringLiteral("cancelled; the job has not been started"));
    emit q->stopped();
}

/// What each rank of the job that is about to start is told when it comes.
Job::Configure Session::Impl::configureRanks(Approach* with) {
    return [this, with](RankId rank, agent::RankConfig& config) {
        config.gate = trace::Gate::Constructor;
        rerun.givenValues.erase(rank.value());
        if (with != nullptr && with == approach) {
            with->configure(rank, config);
        }
        if (rerun.logs != nullptr && std::size_t(rank.value()) < rerun.logs->ranks.size()) {
            const std::vector<std::byte> log =
                withControls(rerun.logs->ranks[std::size_t(rank.value())].bytes, rerun.controls, rank);
            config.values = rerun.givenValues[rank.value()] = besides.values[rank.value()];
            config.order = QByteArray(reinterpret_cast<const char*>(log.data()), qsizetype(log.size()));
        }
    };
}

} // namespace stopline::replay
