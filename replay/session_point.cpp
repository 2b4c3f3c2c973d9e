// The point, its frontiers, the stopline, and what the history shows.
#include "session_impl.h"

namespace stopline::replay {

void Session::setPoint(std::optional<Point> point) {
    m_impl->point = point;
    m_impl->past.reset();
    m_impl->future.reset();
    if (point) {
        m_impl->past = timeline().pastFrontier(*point);
        m_impl->future = timeline().futureFrontier(*point);
    }
    emit stoplineChanged();
    emit verbsChanged();
}

std::optional<Point> Session::point() const {
    return m_impl->point;
}

std::optional<Line> Session::frontier(Frontier which) const {
    return which == Frontier::Past ? m_impl->past : m_impl->future;
}

void Session::setStopline(Frontier which) {
    m_impl->line = frontier(which);
    m_impl->lineRank = m_impl->point ? std::optional(m_impl->point->call.rank) : std::nullopt;
    emit stoplineChanged();
    emit verbsChanged();
}

void Session::setStopline(const Line& line) {
    m_impl->line = line;
    m_impl->lineRank.reset();
    emit stoplineChanged();
    emit verbsChanged();
}

std::optional<Line> Session::stopline() const {
    return m_impl->line;
}

std::optional<Cut> Session::undoTarget() const {
    if (m_impl->commands.empty() || m_impl->commands.back().execution != 0) { // of another execution there is nothing to draw
        return std::nullopt;
    }
    Cut cut;
    for (const Target& target : m_impl->closed(m_impl->commands.back().before)) {
        cut.push_back(target.place);
    }
    return cut;
}

std::optional<Cut> Session::rollbackTarget() const {
    const RankId rank = m_impl->focus.rank.value_or(m_impl->shown);
    if (rank.value() >= timeline().rankCount()) {
        return std::nullopt;
    }
    const auto line = timeline().rollback(places(), rank);
    return line ? std::optional<Cut>(line->cut) : std::nullopt;
}

QVector<HistoryEntry> Session::history() const {
    QVector<HistoryEntry> all;
    for (const Command& command : m_impl->commands) {
        all.push_back(command.shown);
    }
    return all;
}

std::optional<HistoryEntry> Session::nextUndo() const {
    return m_impl->commands.empty() ? std::nullopt : std::optional<HistoryEntry>(m_impl->commands.back().shown);
}

std::optional<HistoryEntry> Session::nextRedo() const {
    return m_impl->redoList.empty() ? std::nullopt : std::optional<HistoryEntry>(m_impl->redoList.back().shown);
}

} // namespace stopline::replay
