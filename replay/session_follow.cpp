#include "session_follow.h"

#include "session_impl.h"

#include <utility>

namespace stopline::replay {

namespace {

constexpr std::chrono::milliseconds kTurn{10}; ///< of the event loop that reading takes at once
constexpr int kTellMs = 250;                   ///< between two looks at a timeline that is still being read

} // namespace

TraceFollower::TraceFollower(Session::Impl& session) : QObject(session.q), m_session(session) {
    m_timer.setInterval(kPeriodMs);
    connect(&m_timer, &QTimer::timeout, this, &TraceFollower::tick);
}

void TraceFollower::setOn(bool on) {
    m_on = on;
    setTimer();
    if (on) {
        tick();
    }
}

void TraceFollower::setComparing(bool on) {
    m_comparing = on;
    setTimer();
}

void TraceFollower::setWatching(bool on) {
    m_watching = on;
    setTimer();
}

void TraceFollower::setTimer() {
    const int period = m_comparing || m_watching ? kComparingMs : m_on ? kPeriodMs : 0;
    if (period == 0) {
        m_timer.stop();
    } else if (!m_timer.isActive() || m_timer.interval() != period) {
        m_timer.start(period);
    }
}

void TraceFollower::refresh(std::function<void()> done) {
    m_waiting.push_back(std::move(done));
    if (!fetch([](RankProcess* rank) { return !rank->ended(); })) {
        finished();
    }
}

void TraceFollower::takeIn(RankProcess* rank, std::function<void()> done) {
    if (const int number = rank->rank().value(); !m_pending.contains(number)) {
        bool grown = false;
        const std::uint64_t generation = m_generation;
        const bool all = m_session.takeTrace(rank, kPiece, kTurn, grown);
        if (grown && generation == m_generation) {
            emit m_session.q->timelineChanged();
        }
        if (all) {
            done();
            return;
        }
    }
    Pending& pending = m_pending[rank->rank().value()];
    pending.rank = rank;
    pending.done.push_back(std::move(done));
    takeSoon();
}

void TraceFollower::whenTaken(std::function<void()> done) {
    if (m_pending.empty()) {
        done();
        return;
    }
    m_whenTaken.push_back(std::move(done));
}

void TraceFollower::forget() {
    ++m_generation;
    m_fetching = 0;
    std::erase_if(m_pending, [](const auto& entry) { return entry.second.done.empty(); });
    m_untold = false;
    finished();
    if (!m_pending.empty() || !m_whenTaken.empty()) {
        takeSoon();
    }
}

void TraceFollower::tick() {
    if (m_fetching > 0 || !m_pending.empty()) {
        return; // still at the last one
    }
    if (m_comparing && !m_session.processes().empty() && !m_session.replaying()) { // none has come yet: then it will
        setComparing(false);
    }
    if (m_comparing) {
        m_session.watchStandstill();
    }
    if (m_watching) {
        m_session.watchWalk();
    }
    fetch([this](RankProcess* rank) {
        return (m_on || m_watching || m_session.recording->replaying(rank->rank())) && rank->view().phase == RankPhase::Running &&
               rank->link()->status().event > m_session.recording->executed(rank->rank());
    });
}

/// False when there is nobody to ask.
bool TraceFollower::fetch(const std::function<bool(RankProcess*)>& which) {
    if (m_session.approach != nullptr) {
        return false;
    }
    for (RankProcess* rank : m_session.processes()) {
        if (!which(rank)) {
            continue;
        }
        ++m_fetching;
        rank->fetch([this, generation = m_generation, guarded = QPointer<RankProcess>(rank)](bool ok) {
            if (generation != m_generation) {
                return;
            }
            --m_fetching;
            if (ok && guarded && m_session.process(guarded->rank()) == guarded) {
                m_pending[guarded->rank().value()].rank = guarded;
            }
            takeSoon();
        });
    }
    return m_fetching > 0;
}

void TraceFollower::takeSoon() {
    if (!m_taking) {
        m_taking = true;
        QTimer::singleShot(0, this, &TraceFollower::takeSome);
    }
}

void TraceFollower::takeSome() {
    m_taking = false;
    QElapsedTimer turn;
    turn.start();
    if (!m_told.isValid()) {
        m_told.start();
    }
    while (!m_pending.empty() && !turn.hasExpired(kTurn.count())) {
        const int number = m_pending.begin()->first;
        const QPointer<RankProcess> rank = m_pending.begin()->second.rank;
        const std::uint64_t generation = m_generation;
        const bool gone = !rank || m_session.process(rank->rank()) != rank;
        const auto left = kTurn - std::chrono::milliseconds(turn.elapsed());
        const bool all = gone || m_session.takeTrace(rank, kPiece, left, m_untold);
        if (generation != m_generation) {
            break; // it departs from the recording, which is replaced
        }
        if (!all) {
            continue;
        }
        const std::vector<std::function<void()>> done = std::move(m_pending[number].done);
        m_pending.erase(number);
        if (!gone) {
            emit m_session.q->rankChanged(rank->rank());
        }
        if (!done.empty()) {
            if (std::exchange(m_untold, false)) {
                emit m_session.q->timelineChanged(); // who hears of the stop is to see what was done up to there
            }
            for (const auto& one : done) {
                one();
            }
            break; // anything may be otherwise now
        }
    }
    if (m_untold && (m_pending.empty() || m_told.hasExpired(kTellMs))) {
        m_untold = false;
        m_told.restart();
        emit m_session.q->timelineChanged();
    }
    if (!m_pending.empty()) {
        takeSoon();
        return;
    }
    if (m_fetching == 0) {
        finished();
    }
    for (const auto& done : std::exchange(m_whenTaken, {})) {
        done();
    }
}

void TraceFollower::finished() {
    for (const auto& done : std::exchange(m_waiting, {})) {
        done();
    }
}

} // namespace stopline::replay
