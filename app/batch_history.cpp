// Verbs about what has happened: events, messages, point, frontiers, history of commands.
#include "batch.h"

#include "text.h"

#include "../tracelib/functions.h"
#include "../replay/completion_words.h"
#include "../replay/words.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace stopline::app {

using namespace replay;
using namespace std::chrono_literals;

namespace {

QString name(trace::FunctionId function) {
    const auto text = trace::functionName(function);
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString cutText(const Timeline& timeline, const Cut& cut, bool started = true) {
    QStringList parts;
    for (std::size_t rank = 0; rank < cut.size(); ++rank) {
        parts << QStringLiteral("[%1] %2").arg(rankText(RankId{static_cast<std::int32_t>(rank)})).arg(
            started ? placeText(timeline, RankId{static_cast<std::int32_t>(rank)}, cut[rank])
                    : QStringLiteral("not started"));
    }
    return parts.join(QStringLiteral("  "));
}

/// Whether there was a job when a command was given. No event anywhere: there may have been one that stood
/// before MPI_Init, where the command before it had left it, or none.
bool hadJob(const HistoryEntry& entry, const HistoryEntry* previous) {
    const bool events = std::any_of(entry.before.begin(), entry.before.end(),
                                    [](const Place& place) { return place.event.value() > 0; });
    switch (entry.verb) {
    case Verb::Run:
    case Verb::Restart:
        return false;
    case Verb::Go:
    case Verb::Replay:
    case Verb::Rollback:
    case Verb::Forward:
        return events || (previous != nullptr && previous->after == entry.before);
    default:
        return true;
    }
}

QString whyText(StopWhy why) {
    RankView view;
    view.phase = RankPhase::Stopped;
    view.why = why;
    return stateText(view);
}

} // namespace

QString BatchRunner::eventText(RankId rank, EventIndex event, const CompletionNames& names) const {
    const Timeline& timeline = m_session->timeline();
    const auto ref = timeline.callAt(rank, event);
    if (!ref) {
        return QString::number(event.value());
    }
    if (timeline.isBegin(rank, event)) {
        QString text = QStringLiteral("%1 begin %2").arg(event.value()).arg(m_session->callText(*ref));
        const QString where = locationText(m_session->sourceOf(*ref), m_options.verbose);
        return where.isEmpty() ? text : text + QStringLiteral("  ") + where;
    }
    const trace::EventDetails& end = timeline.details(rank, timeline.eventDetails(rank, event));
    QString text = QStringLiteral("%1 end   %2").arg(event.value()).arg(name(end.function));
    if (end.status.source >= 0) {
        text += QStringLiteral(" from %1 tag %2 %3")
                    .arg(end.status.source)
                    .arg(end.status.tag)
                    .arg(bytesText(end.status.bytes));
    }
    const QString completed = completedText(timeline, rank, event, names);
    text += completed.isEmpty() ? QString() : u' ' + completed;
    if (!end.flag) {
        text += QStringLiteral(" not yet");
    }
    if (end.error != trace::ErrorClass::Success) { // of the call, behind those of its requests
        text += (completed.isEmpty() ? QStringLiteral(" error ") : QStringLiteral("; error ")) + errorText(end.error, end.errorCode);
    }
    return text;
}

/// The line of the last call that is recorded of a rank which has not come to the end of MPI_Finalize: where it was, as far
/// as calls tell.
QString BatchRunner::lastLineText(const RankView& view) const {
    const Timeline& timeline = m_session->timeline();
    const auto call = timeline.callAt(view.rank, view.place.event);
    if (!call || timeline.details(view.rank, timeline.call(*call).beginDetails).function == trace::FunctionId::Finalize) {
        return {};
    }
    const SourceLocation line = m_session->sourceOf(*call);
    const QString text = locationText(line, m_options.verbose);
    return text.isEmpty()            ? QString()
           : line.function.isEmpty() ? QStringLiteral("  ") + text
                                     : QStringLiteral("  %1 %2").arg(text, line.function);
}

BatchRunner::Outcome BatchRunner::events(const ScriptLine& line, Lines& out) {
    QString error;
    const auto rank = oneRank(line.words.first(), error);
    if (!rank) {
        return {Verdict::Failed, error};
    }
    const Timeline& timeline = m_session->timeline();
    if (rank->value() >= timeline.rankCount()) {
        return {Verdict::Failed, QStringLiteral("nothing is recorded of rank %1").arg(rankText(*rank))};
    }
    const quint64 last = timeline.lastEvent(*rank).value();
    bool okFrom = true;
    bool okTo = true;
    const quint64 from = line.words.size() > 1 ? line.words.at(1).toULongLong(&okFrom) : 1;
    const quint64 to = line.words.size() > 2 ? line.words.at(2).toULongLong(&okTo) : last;
    if (!okFrom || !okTo || from < 1) {
        return {Verdict::Failed, QStringLiteral("FROM and TO are event numbers from 1")};
    }
    // Lines are resolved in the background; give them a moment, so that a script prints the same every time.
    waitFor(
        [&] {
            for (quint64 event = from; event <= qMin(to, last); ++event) {
                const auto ref = timeline.callAt(*rank, EventIndex{event});
                if (ref && locationText(m_session->sourceOf(*ref)).isEmpty()) {
                    return false;
                }
            }
            return true;
        },
        2s);
    const RequestMakers makers(timeline, *rank);
    CompletionNames names = completionNames(timeline, *rank);
    names.maker = [&makers](EventIndex at, trace::RequestRef request) { return makers.maker(at, request); };
    for (quint64 event = from; event <= qMin(to, last); ++event) {
        out << QStringLiteral("[%1] %2").arg(rankText(*rank)).arg(eventText(*rank, EventIndex{event}, names));
    }
    return {};
}

void BatchRunner::lineText(const QString& title, const Line& line, Lines& out) const {
    const Timeline& timeline = m_session->timeline();
    out << title;
    for (std::size_t i = 0; i < line.cut.size(); ++i) {
        const RankId rank{static_cast<std::int32_t>(i)};
        out << QStringLiteral("  [%1] %2").arg(rankText(rank)).arg(placeText(timeline, rank, line.cut[i]));
    }
    for (const Obstacle& obstacle : line.obstacles) {
        out << QStringLiteral("  rank %1 cannot stop in user code: %2")
                   .arg(rankText(obstacle.rank))
                   .arg(QString::fromStdString(obstacle.reason));
    }
}

BatchRunner::Outcome BatchRunner::point(const ScriptLine& line, Lines& out) {
    QString error;
    const auto rank = oneRank(line.words.first(), error);
    if (!rank) {
        return {Verdict::Failed, error};
    }
    const Timeline& timeline = m_session->timeline();
    const bool byCall = line.words.at(1) == QLatin1StringView("call");
    if (line.words.size() != (byCall ? 4 : 3)) {
        return {Verdict::Failed,
                QStringLiteral("usage: point RANK EVENT before|after, or point RANK call N before|after")};
    }
    bool ok = false;
    const quint64 number = line.words.at(byCall ? 2 : 1).toULongLong(&ok);
    std::optional<CallRef> call;
    if (ok && rank->value() < timeline.rankCount()) {
        if (byCall) {
            const CallRef ref{*rank,
                              CallIndex{static_cast<std::uint32_t>(qMin<quint64>(number, UINT32_MAX))}};
            call = hasCall(timeline, ref) ? std::optional(ref) : std::nullopt;
        } else {
            call = timeline.callAt(*rank, EventIndex{number});
        }
    }
    if (!call) {
        return {Verdict::Failed, QStringLiteral("rank %1 has no %2 %3")
                                     .arg(rankText(*rank))
                                     .arg(byCall ? QStringLiteral("call") : QStringLiteral("event"),
                                          line.words.at(byCall ? 2 : 1))};
    }
    const QString side = line.words.last();
    const bool after = side == QLatin1StringView("after");
    if (!after && side != QLatin1StringView("before")) {
        return {Verdict::Failed, QStringLiteral("before or after, not `%1`").arg(side)};
    }
    if (after && timeline.call(*call).end.value() == 0) {
        return {Verdict::Failed, QStringLiteral("the call has not ended: there is no place after it yet")};
    }
    m_session->setPoint(Point{*call, after});
    out << QStringLiteral("point %1 %2").arg(side, callPlaceText(*m_session, *call));
    return {};
}

namespace {

QString seconds(TimeNs time) {
    return QString::number(static_cast<double>(time) * 1e-9, 'f', 3);
}

void times(const Timeline& timeline, QStringList& out) {
    for (int rank = 0; rank < timeline.rankCount(); ++rank) {
        const RankId id{rank};
        const EventIndex last = timeline.lastEvent(id);
        QString text =
            QStringLiteral("[%1] %2 events from %3 to %4")
                .arg(rankText(RankId{rank}))
                .arg(last.value())
                .arg(seconds(timeline.axisTime(id, timeline.firstEvent(id))), seconds(timeline.axisTime(id, last)));
        if (const EventIndex first = timeline.firstEvent(id); first.value() > 1) {
            text += QStringLiteral("; history starts at event %1").arg(first.value());
        }
        for (const Timeline::HeldSpan& span : timeline.heldSpans(id)) {
            text += QStringLiteral("; held for %1 at %2 after event %3")
                        .arg(seconds(span.end - span.begin), seconds(span.begin))
                        .arg(span.event.value());
        }
        out << text;
    }
    out << QStringLiteral("cut out, as all ranks were held: %1").arg(seconds(timeline.cutOut()));
    int matched = 0;
    int backwards = 0;
    for (const Message& message : timeline.messages()) {
        if (message.state == MessageState::Matched) {
            ++matched;
            const TimeNs sent = timeline.axisTime(message.send->rank, timeline.call(*message.send).begin);
            const TimeNs got = timeline.axisTime(message.done->rank, timeline.call(*message.done).end);
            backwards += got < sent ? 1 : 0;
        }
    }
    out << QStringLiteral("messages received: %1, of these before they were sent: %2")
               .arg(matched)
               .arg(backwards);
}

void transfers(const Timeline& timeline, QStringList& out) {
    std::vector<Transfer> all;
    for (std::uint32_t i = 0; i < timeline.transferCount(); ++i) {
        if (const Transfer transfer = timeline.transfer(TransferIndex{i}); transfer.target.value() >= 0) {
            all.push_back(transfer);
        }
    }
    // They are known in the order in which the ranks' recordings came in.
    std::sort(all.begin(), all.end(), [](const Transfer& a, const Transfer& b) {
        return std::pair(a.call.rank, a.call.call) < std::pair(b.call.rank, b.call.call);
    });
    for (const Transfer& transfer : all) {
        const auto place = [&](CallRef call, bool end) {
            const Call& data = timeline.call(call);
            return QStringLiteral("[%1] %2 %3").arg(rankText(call.rank))
                .arg(end && data.end.value() != 0 ? data.end.value() : data.begin.value())
                .arg(name(timeline.details(call.rank, data.beginDetails).function));
        };
        QString text = place(transfer.call, false) + QStringLiteral(" -> %1").arg(rankText(transfer.target));
        text += transfer.bytesOut > 0 ? QStringLiteral("  puts ") + bytesText(transfer.bytesOut) : QString();
        text += transfer.bytesIn > 0 ? QStringLiteral("  gets ") + bytesText(transfer.bytesIn) : QString();
        const auto add = [&](const QString& what, const MaybeCall& call, bool end) {
            text += call ? QStringLiteral("  %1 %2").arg(what, place(*call, end)) : QString();
        };
        add(QStringLiteral("opened"), transfer.exposed, false);
        add(QStringLiteral("local"), transfer.local, true);
        add(QStringLiteral("remote"), transfer.remote, true);
        add(QStringLiteral("seen"), transfer.seen, true);
        out << text;
    }
    if (all.empty()) {
        out << QStringLiteral("no transfers");
    }
}

} // namespace

BatchRunner::Outcome BatchRunner::refresh(const ScriptLine& line) {
    const auto read = std::make_shared<bool>(false);
    m_session->refreshTimeline([read] { *read = true; });
    return waitFor([&read] { return *read; }, limit(line)) ? Outcome{} : timedOut(line);
}

BatchRunner::Outcome BatchRunner::history(const ScriptLine& line, Lines& out) {
    const Timeline& timeline = m_session->timeline();
    switch (line.verb) {
    case ScriptVerb::Events:
        return events(line, out);
    case ScriptVerb::Point:
        return point(line, out);
    case ScriptVerb::Clear:
        m_session->setPoint(std::nullopt);
        return {};
    case ScriptVerb::Messages: {
        if (line.rest == QLatin1StringView("all")) {
            for (const Message& message : timeline.messages()) {
                out << openMessageText(*m_session, message);
            }
            return {};
        }
        const auto open = m_session->openMessages();
        for (const Session::OpenMessage& one : open) {
            const QString text = openMessageText(*m_session, one.message);
            QStringList parts{one.made ? text : QStringLiteral("later: ") + text, one.made ? one.held : QString(), one.gone};
            parts.removeAll(QString());
            out << parts.join(QStringLiteral("; "));
        }
        if (open.empty()) {
            out << QStringLiteral("no open messages");
        }
        out << m_session->deadlocks();
        return {};
    }
    case ScriptVerb::Refresh:
        return refresh(line);
    case ScriptVerb::Follow:
        if (line.rest != QLatin1StringView("on") && line.rest != QLatin1StringView("off")) {
            return {Verdict::Failed, QStringLiteral("says on or off")};
        }
        m_session->setFollowing(line.rest == QLatin1StringView("on"));
        return {};
    case ScriptVerb::Transfers:
        transfers(timeline, out);
        return {};
    case ScriptVerb::Times:
        times(timeline, out);
        return {};
    case ScriptVerb::Frontier:
    case ScriptVerb::Stopline: {
        const QString which = line.rest;
        if (!which.isEmpty() && which != QLatin1StringView("past") && which != QLatin1StringView("future")) {
            return {Verdict::Failed, QStringLiteral("past or future, not `%1`").arg(which)};
        }
        const Frontier frontier = which == QLatin1StringView("future") ? Frontier::Future : Frontier::Past;
        if (!which.isEmpty() && !m_session->frontier(frontier)) {
            return {Verdict::Failed,
                    QStringLiteral("there is no point: `point RANK EVENT before` picks one")};
        }
        if (line.verb == ScriptVerb::Frontier) {
            lineText(QStringLiteral("%1 frontier").arg(which), *m_session->frontier(frontier), out);
            return {};
        }
        if (!which.isEmpty()) {
            m_session->setStopline(frontier);
        }
        const auto stopline = m_session->stopline();
        if (!stopline) {
            return {Verdict::Failed,
                    QStringLiteral("there is no stopline: `stopline past` or `stopline future` sets one")};
        }
        lineText(QStringLiteral("stopline"), *stopline, out);
        return {};
    }
    case ScriptVerb::History: {
        const QVector<HistoryEntry> entries = m_session->history();
        for (int number = 0; number < entries.size();) {
            const HistoryEntry& entry = entries.at(number);
            const bool started = hadJob(entry, number > 0 ? &entries.at(number - 1) : nullptr);
            QString text =
                QStringLiteral("%1 %2 %3").arg(++number).arg(verbName(entry.verb), focusText(entry.focus));
            out << (entry.note.isEmpty() ? text : text + QStringLiteral("  ") + entry.note);
            out << QStringLiteral("  before  ") + cutText(timeline, entry.before, started);
            out << QStringLiteral("  after   ") + cutText(timeline, entry.after);
        }
        if (const auto redo = m_session->nextRedo()) {
            out << QStringLiteral("redo would %1 %2").arg(verbName(redo->verb), focusText(redo->focus));
        }
        return {};
    }
    case ScriptVerb::Stops:
        for (const Session::StopSummary& stop : m_session->stops()) {
            out << QStringLiteral("stop %1").arg(stop.number);
            for (qsizetype rank = 0; rank < stop.why.size(); ++rank) {
                if (stop.why[rank] != StopWhy::None && static_cast<std::size_t>(rank) < stop.places.size()) {
                    out << QStringLiteral("  [%1] %2  %3")
                               .arg(rankText(RankId{static_cast<std::int32_t>(rank)}))
                               .arg(whyText(stop.why[rank]),
                                    placeText(timeline, RankId{static_cast<std::int32_t>(rank)},
                                              stop.places[static_cast<std::size_t>(rank)]));
                }
            }
        }
        return {};
    default:
        return {Verdict::Failed, QStringLiteral("unknown verb")};
    }
}

} // namespace stopline::app
