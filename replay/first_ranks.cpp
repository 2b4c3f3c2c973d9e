#include "first_ranks.h"

#include "rank_process.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

namespace {

/// So long the ranks that have come wait for the next one.
constexpr int kComesMs = 3000;
/// So often again for one whose gdb is about to join it.
constexpr int kMostWaits = 20;

} // namespace

FirstRanks::FirstRanks(std::function<int()> count, std::function<RankProcess*(RankId)> process)
    : m_count(std::move(count)), m_process(std::move(process)) {
    m_patience.setSingleShot(true);
    QObject::connect(&m_patience, &QTimer::timeout, &m_patience, [this] { onPatience(); });
}

void FirstRanks::add(RankProcess* rank) {
    m_here.emplace_back(rank);
    if (m_state == State::Alone) {
        letGo();
        return;
    }
    m_state = State::Gathering;
    m_patience.start(kComesMs);
    check();
    if (isHere(rank)) {
        rank->waitForOthers();
    }
}

void FirstRanks::onCome() {
    if (m_state == State::Gathering) {
        m_patience.start(kComesMs);
    }
}

void FirstRanks::check() {
    if (m_state == State::Gathering && !misses(false)) {
        m_state = State::Empty;
        letGo();
    }
}

void FirstRanks::reset() {
    m_patience.stop();
    m_state = State::Empty;
    m_again = 0;
    m_here.clear();
}

bool FirstRanks::isHere(const RankProcess* rank) const {
    return std::find(m_here.begin(), m_here.end(), rank) != m_here.end();
}

bool FirstRanks::misses(bool atGate) const {
    for (int i = 0; i < m_count(); ++i) {
        const RankProcess* rank = m_process(RankId(i));
        const bool starts = rank != nullptr && rank->view().phase == RankPhase::Starting && !isHere(rank);
        if (atGate ? starts && rank->link()->status().atGate : starts || rank == nullptr) {
            return true;
        }
    }
    return false;
}

/// Nobody has come for a while. One at its gate will be joined; one that has not come there may never come: it may be no MPI
/// program, or wait for what another one does behind its start.
void FirstRanks::onPatience() {
    if (misses(true) && ++m_again < kMostWaits) {
        m_patience.start(kComesMs);
        return;
    }
    m_state = State::Alone;
    letGo();
}

void FirstRanks::letGo() {
    m_patience.stop();
    for (const QPointer<RankProcess>& rank : std::exchange(m_here, {})) {
        if (rank && !rank->ended() && !rank->stopped()) {
            rank->letGo();
        }
    }
}

} // namespace stopline::replay
