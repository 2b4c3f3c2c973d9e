#include "live_ranks.h"

namespace stopline::app {

using namespace replay;

namespace {

bool moves(RankPhase phase) {
    return phase == RankPhase::Starting || phase == RankPhase::Running || phase == RankPhase::Holding;
}

} // namespace

LiveRanks::LiveRanks(Session* session, QObject* parent) : QObject(parent), m_session(session) {
    m_timer.setInterval(kPeriodMs);
    connect(&m_timer, &QTimer::timeout, this, &LiveRanks::tick);
    for (const auto signal : {&Session::ranksChanged, &Session::verbsChanged, &Session::operationChanged}) {
        connect(session, signal, this, &LiveRanks::schedule);
    }
    connect(session, &Session::rankChanged, this, &LiveRanks::schedule);
    schedule();
}

void LiveRanks::schedule() {
    if (m_session->jobExists() && !m_timer.isActive()) {
        m_timer.start();
    }
}

void LiveRanks::tick() {
    const int count = m_session->rankCount();
    m_seen.resize(static_cast<std::size_t>(count));
    bool differs = false;
    bool anyMoves = false;
    for (int i = 0; i < count; ++i) {
        const RankId rank{i};
        const RankView view = m_session->live(rank);
        Seen& seen = m_seen[static_cast<std::size_t>(i)];
        anyMoves = anyMoves || moves(view.phase);
        const bool same =
            seen.place == view.place && seen.phase == view.phase && seen.insideMpi == view.insideMpi;
        const bool named = !view.callName.isEmpty();
        differs = differs || !same || named != seen.named;
        if (!same) {
            seen = {view.place, view.phase, view.insideMpi, named, false};
            continue;
        }
        seen.named = named;
        if (view.phase != RankPhase::Running || !view.place.inside || named || seen.asked) {
            continue;
        }
        const Timeline& timeline = m_session->timeline();
        const quint64 known = i < timeline.rankCount() ? timeline.lastEvent(rank).value() : 0;
        if (view.place.event.value() > known && view.place.event.value() - known <= kMostToRead) {
            seen.asked = true;
            m_session->lookAt(rank);
        }
    }
    if (differs) {
        emit changed();
    }
    if (!m_session->jobExists() || !anyMoves) {
        m_timer.stop();
    }
}

} // namespace stopline::app
