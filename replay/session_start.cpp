// Histories that start late: what cannot be gone to, and what is dropped when there is too much.
#include "session_impl.h"
#include "words.h"

#include <utility>

#include <algorithm>

namespace stopline::replay {

void Session::setHistoryEvents(quint64 most) {
    m_impl->historyEvents = most;
    m_impl->recording->setMostEvents(most);
}

QString Session::Impl::whyNoEarlierCall() const {
    const RankId rank = focus.rank.value_or(shown);
    const EventIndex first = recording->timeline().firstEvent(rank);
    return first.value() > 1
               ? QStringLiteral("the history of rank %1 starts at event %2; its calls before are not known any more")
                     .arg(rankText(rank))
                     .arg(first.value())
               : QStringLiteral("rank %1 has no earlier call").arg(rankText(rank));
}

/// Why ranks cannot be brought to places that lie before what is known.
QString Session::Impl::whyBeforeStart(const Cut& cut) const {
    const Timeline& timeline = recording->timeline();
    const bool nowhere = std::all_of(cut.begin(), cut.end(), [](const Place& place) { return place.event.value() == 0; });
    if (nowhere || !timeline.startsLate()) {
        return {};
    }
    const auto told = [&cut](std::size_t rank) {
        return cut[rank].event.value() == 0 ? QStringLiteral("its start") : QStringLiteral("event %1").arg(cut[rank].event.value());
    };
    for (std::size_t i = 0; i < cut.size(); ++i) {
        const RankId rank{std::int32_t(i)};
        if (cut[i] < Place{timeline.firstEvent(rank), false} && timeline.firstEvent(rank).value() > 1) {
            return QStringLiteral("rank %1 cannot be taken to %2: its history starts at event %3; choose a later point")
                .arg(rankText(RankId{std::int32_t(i)}))
                .arg(told(i))
                .arg(timeline.firstEvent(rank).value());
        }
    }
    for (std::size_t i = 0; i < cut.size(); ++i) {
        const Place from = timeline.reachableFrom(RankId{std::int32_t(i)});
        if (cut[i] < from) {
            return QStringLiteral("rank %1 cannot be taken to %2: the history of rank %3 starts behind what needs its event %4; "
                                  "choose a later point")
                .arg(rankText(RankId{std::int32_t(i)}))
                .arg(told(i))
                .arg(rankText(*timeline.startsLate()))
                .arg(from.event.value());
        }
    }
    return {};
}

/// Where the history of a rank starts, once for each start.
void Session::Impl::sayStart(RankId rank) {
    startHistoryAnew();
    const quint64 first = recording->timeline().firstEvent(rank).value();
    if (first > 1 && faultsSaid.insert(QStringLiteral("start %1").arg(rank.value())).second) {
        say(Severity::Info,
            QStringLiteral("The history of rank %1 starts at event %2; older events are gone.").arg(rankText(rank)).arg(first),
            QStringLiteral("Event numbers stay. --keep lets a rank keep more before it is read, --history-events shows more."));
    }
}

/// A rank has overwritten what was not read, or has more events than are to be shown. Not from inside the reading of a
/// trace: the timeline is replaced.
void Session::Impl::startHistoryAnew() {
    if (startingAnew || !recording->startDue()) {
        return;
    }
    startingAnew = true;
    QMetaObject::invokeMethod(q, [this] { finishStartingAnew(); }, Qt::QueuedConnection);
}

/// Does at once what is due of it.
void Session::Impl::finishStartingAnew() {
    if (!std::exchange(startingAnew, false) || !recording->startDue()) {
        return;
    }
    follower->forget();
    std::unique_ptr<Recording> before = recording->startAnew();
    line.reset();
    past.reset();
    future.reset();
    point.reset();
    emit q->timelineReplaced();
    emit q->stoplineChanged();
    if (before != nullptr) {
        keepEarlier(std::move(before));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        sayStart(RankId(rank));
    }
}

/// Events of ranks were overwritten before they could be read. The execution on show goes on behind them; what had been
/// read before is kept beside it.
void Session::Impl::keepEarlier(std::unique_ptr<Recording> before) {
    const Timeline& was = before->timeline();
    const Timeline& is = recording->timeline();
    QVector<int> who;
    QString first;
    for (int i = 0; i < std::min(was.rankCount(), is.rankCount()); ++i) {
        const RankId rank(i);
        const EventIndex from = is.unreadFrom(rank);
        if (from.value() == 0 || from.value() != was.lastEvent(rank).value() + 1) {
            continue;
        }
        faultsSaid.insert(QStringLiteral("start %1").arg(i));
        first = first.isEmpty() ? QStringLiteral("event %1 of rank %2").arg(from.value() - 1).arg(rankText(rank)) : first;
        who << i;
    }
    if (who.isEmpty()) {
        return;
    }
    KeptExecution kept;
    kept.head = {++executionsSoFar, execution.number,
                 QStringLiteral("what was read of execution %1 up to %2").arg(execution.number).arg(first), {}, {},
                 QStringLiteral("goes on in execution %1, with a gap").arg(execution.number)};
    kept.recording = std::move(before);
    kept.part = true;
    kept.outputs = outputs;
    keepWhatIsKnown(kept);
    const int number = kept.head.number;
    keptExecutions.push_back(std::move(kept));
    dropTooMany();
    const bool there = this->kept(number) != keptExecutions.end();
    if (faultsSaid.insert(QStringLiteral("gap %1").arg(who.front())).second) {
        const RankId rank(who.front());
        say(Severity::Warning,
            QStringLiteral("Events %1 to %2 of rank %3 were overwritten before they were read%4; the diagram goes on behind them.")
                .arg(is.unreadFrom(rank).value())
                .arg(is.firstEvent(rank).value() - 1)
                .arg(rankText(rank), who.size() == 1 ? QString() : QStringLiteral(", and so were events of %1 other ranks").arg(who.size() - 1)),
            (there ? QStringLiteral("What was read before is execution %1 (panel Executions). ").arg(number)
                   : QStringLiteral("What was read before is gone, as --history-events allows for no more. ")) +
                QStringLiteral("Follow, or a larger --keep, lets less be overwritten."));
    }
    emit q->executionsChanged();
}

} // namespace stopline::replay
