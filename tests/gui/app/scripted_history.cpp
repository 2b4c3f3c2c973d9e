// What a scripted session says of messages, places, commands and output.
#include "scripted_session_impl.h"

#include <utility>

namespace stopline::replay {

const Timeline& Session::timeline() const {
    return *m_impl->timeline;
}
std::vector<Session::OpenMessage> Session::openMessages() const {
    std::vector<OpenMessage> open;
    for (const MessageIndex index : m_impl->timeline->openMessages()) {
        const Message& message = m_impl->timeline->messages()[index.value()];
        const auto gone = m_impl->gone.find((message.send ? message.receiver : message.sender).value());
        open.push_back({message, true, {}, gone != m_impl->gone.end() ? gone->second : QString()});
    }
    return open;
}
QStringList Session::deadlocks() const {
    return m_impl->deadlocks;
}
QString Session::heldFor(CallRef call) const {
    const auto held = m_impl->held.find(call);
    return held == m_impl->held.end() ? QString() : held->second;
}
void Session::refreshTimeline(std::function<void()> done) {
    m_impl->calls << QStringLiteral("refresh");
    if (done) {
        done();
    }
}
void Session::setFollowing(bool on) {
    if (on != m_impl->following) {
        m_impl->calls << (on ? QStringLiteral("follow") : QStringLiteral("follow no more"));
    }
    m_impl->following = on;
}
bool Session::following() const {
    return m_impl->following;
}

SourceLocation Session::sourceOf(CallRef call) const {
    return {QStringLiteral("/src/ring.c"), 30 + static_cast<int>(call.call.value()), QStringLiteral("main"), {}};
}

QString Session::callText(CallRef call) const {
    const Call& data = m_impl->timeline->call(call);
    const auto name = trace::functionName(m_impl->timeline->details(call.rank, data.beginDetails).function);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

void Session::setPoint(std::optional<Point> point) {
    m_impl->point = point;
    m_impl->past = point ? std::optional(m_impl->timeline->pastFrontier(*point)) : std::nullopt;
    m_impl->future = point ? std::optional(m_impl->timeline->futureFrontier(*point)) : std::nullopt;
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
    m_impl->calls << (which == Frontier::Past ? QStringLiteral("stopline past")
                                              : QStringLiteral("stopline future"));
    m_impl->stopline = frontier(which);
    emit stoplineChanged();
}

void Session::setStopline(const Line& line) {
    m_impl->stopline = line;
    emit stoplineChanged();
}

std::optional<Line> Session::stopline() const {
    return m_impl->stopline;
}

void Session::go() {
    m_impl->calls << QStringLiteral("go");
    if (m_impl->finishesOperations) {
        emit operationFinished(m_impl->operationOk, m_impl->operationText);
    }
}

void Session::undo() {
    m_impl->calls << QStringLiteral("undo");
    if (m_impl->finishesOperations) {
        emit operationFinished(m_impl->operationOk, m_impl->operationText);
    }
}

void Session::redo() {
    m_impl->calls << QStringLiteral("redo");
}
void Session::rollback() {
    m_impl->calls << QStringLiteral("rollback");
}
void Session::forward() {
    m_impl->calls << QStringLiteral("forward");
}
std::optional<Cut> Session::undoTarget() const {
    return m_impl->undo ? std::optional(m_impl->undo->before) : std::nullopt;
}
std::optional<Cut> Session::rollbackTarget() const {
    return std::nullopt;
}
QVector<HistoryEntry> Session::history() const {
    return m_impl->history;
}
std::optional<HistoryEntry> Session::nextUndo() const {
    return m_impl->undo;
}
std::optional<HistoryEntry> Session::nextRedo() const {
    return m_impl->redo;
}
std::optional<Departure> Session::departure() const {
    return std::nullopt;
}
const QVector<Session::StopSummary>& Session::stops() const {
    return m_impl->stops;
}

QByteArray Session::output(RankId rank) const {
    const auto found = m_impl->output.find(rank.value());
    return found == m_impl->output.end() ? QByteArray() : found->second;
}

void Session::writeInput(const QByteArray& bytes) {
    m_impl->input += bytes;
}

} // namespace stopline::replay
