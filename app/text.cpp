#include "text.h"

#include "../tracelib/functions.h"
#include "../replay/completion_words.h"
#include "../replay/words.h"

#include <QFileInfo>
#include <QLocale>
#include <QStringList>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

/// What was last known of a rank is all there is while its gdb or agent says nothing.
QString withSilence(const QString& state, const RankView& view) {
    return view.silent ? QStringLiteral("%1, debugger silent").arg(state) : state;
}

} // namespace

std::optional<QVector<int>> parseRankSet(const QString& text) {
    constexpr int kMostInRange = 65536;
    QVector<int> ranks;
    for (QString part : text.split(u',')) {
        part.replace(QStringLiteral(".."), QStringLiteral("-"));
        const QStringList ends = part.split(u'-');
        // A range is of one job, which is named once: 1:0-3.
        const QString job = ends.first().left(ends.first().indexOf(u':') + 1);
        const auto first = replay::rankOfName(ends.first().trimmed().toStdString());
        const auto last = ends.size() == 1 ? first : replay::rankOfName((job + ends.last()).simplified().toStdString());
        if (ends.size() > 2 || !first || !last || *last < *first || last->value() - first->value() >= kMostInRange) {
            return std::nullopt;
        }
        for (int rank = first->value(); rank <= last->value(); ++rank) {
            ranks << rank;
        }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

QString shortFunction(const QString& name) {
    qsizetype begin = 0;
    qsizetype end = name.size();
    int depth = 0; // of brackets: what is in them is no prefix
    for (qsizetype i = 0; i < name.size(); ++i) {
        const QChar c = name.at(i);
        const bool starts = i == begin && depth == 0;
        if (starts && name.mid(i).startsWith(QLatin1StringView("operator"))) {
            return name.mid(begin); // the rest is its name: operator<, operator()
        }
        if (c == u'<' || c == u'(' || c == u'{') {
            // Arguments begin with a bracket that is not the component itself, as in "(anonymous namespace)::f".
            if (depth == 0 && c == u'(' && i > begin && end == name.size()) {
                end = i;
            }
            ++depth;
        } else if (c == u'>' || c == u')' || c == u'}') {
            --depth;
        } else if (depth == 0 && c == u':' && name.mid(i, 2) == QLatin1StringView("::")) {
            begin = i + 2;
            end = name.size(); // the brackets were of the prefix
            ++i;
        }
    }
    return begin >= name.size() ? name : name.mid(begin, end - begin);
}

QString focusText(const Focus& focus) {
    if (focus.rank) {
        return QStringLiteral("rank %1").arg(rankText(*focus.rank));
    }
    if (focus.group.isEmpty()) {
        return QStringLiteral("all");
    }
    return QStringLiteral("ranks %1").arg(rankSetText(rankNumbers(focus.group)));
}

QVector<int> rankNumbers(const QVector<RankId>& ranks) {
    QVector<int> numbers;
    for (const RankId rank : ranks) {
        numbers << rank.value();
    }
    return numbers;
}

QString locationText(const SourceLocation& location, bool fullPath) {
    if (!location.known()) {
        return location.module.isEmpty() ? QString() : QStringLiteral("%1, no line").arg(location.module);
    }
    return QStringLiteral("%1:%2")
        .arg(fullPath ? location.file : QFileInfo(location.file).fileName())
        .arg(location.line);
}

bool hasCall(const Timeline& timeline, CallRef call) {
    return call.rank.value() >= 0 && call.rank.value() < timeline.rankCount() &&
           call.call.value() < timeline.callCount(call.rank);
}

QString placeText(const Timeline& timeline, RankId rank, const Place& place) {
    if (place.event.value() == 0) {
        return QStringLiteral("before MPI_Init");
    }
    if (rank.value() < 0 || rank.value() >= timeline.rankCount() || place.event > timeline.lastEvent(rank)) {
        return QStringLiteral("event %1").arg(place.event.value());
    }
    return QString::fromStdString(timeline.describe(rank, place)) + chosenText(timeline, rank, place.event);
}

QString placeText(const Timeline& timeline, const RankView& view) {
    return view.phase == RankPhase::NotStarted ? QStringLiteral("not started")
                                               : placeText(timeline, view.rank, view.place);
}

QString fullStateText(const RankView& view) {
    const QString state = stateText(view);
    const bool more = !view.detail.isEmpty() && !state.contains(view.detail);
    return withSilence(more ? QStringLiteral("%1: %2").arg(state, view.detail) : state, view);
}

QString eventCountText(EventIndex event) {
    return QLocale().toString(static_cast<qulonglong>(event.value()));
}

QString liveStateText(const RankView& view) {
    if (view.phase == RankPhase::Running && view.place.inside && !view.callName.isEmpty()) {
        return withSilence(QStringLiteral("in %1").arg(view.callName), view);
    }
    if (view.phase == RankPhase::Running && view.place.event.value() == 0) {
        return withSilence(QStringLiteral("running, before MPI_Init"), view);
    }
    return fullStateText(view);
}

QString messageStateText(const Timeline& timeline, const Message& message) {
    if (const auto rank = timeline.halfLostBy(message)) {
        const QString known = message.state == MessageState::Unreceived ? QStringLiteral("sent")
                              : message.done                            ? QStringLiteral("received")
                                                                        : QStringLiteral("receive waits");
        return rank->value() < 0 ? QStringLiteral("%1; a recording broke off").arg(known)
                                 : QStringLiteral("%1; the recording of rank %2 broke off").arg(known).arg(rankText(*rank));
    }
    switch (message.state) {
    case MessageState::Matched:
        return QStringLiteral("received");
    case MessageState::Posted:
        return QStringLiteral("receive posted, not complete");
    case MessageState::Unreceived:
        return QStringLiteral("sent, not received");
    case MessageState::Unsent:
        return QStringLiteral("receive waits, not sent");
    case MessageState::Cancelled:
        return QStringLiteral("cancelled");
    case MessageState::Early:
        return message.send ? QStringLiteral("received before the start of the history")
                            : QStringLiteral("sent before the start of the history");
    }
    return {};
}

QString messageStateText(const Session& session, const Message& message) {
    const QString held = message.state == MessageState::Unsent && message.post ? session.heldFor(*message.post) : QString();
    return held.isEmpty() ? messageStateText(session.timeline(), message) : held;
}

QString callPlaceText(const Session& session, CallRef call) {
    const Timeline& timeline = session.timeline();
    if (!hasCall(timeline, call)) {
        return QStringLiteral("rank %1").arg(rankText(call.rank));
    }
    const Call& data = timeline.call(call);
    const auto name = trace::functionName(timeline.details(call.rank, data.beginDetails).function);
    QString text = QStringLiteral("rank %1 event %2 %3")
                       .arg(rankText(call.rank))
                       .arg(data.begin.value())
                       .arg(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
    const QString where = locationText(session.sourceOf(call));
    return where.isEmpty() ? text : text + QStringLiteral(" at ") + where;
}

QString openMessageText(const Session& session, const Message& message) {
    const auto end = [](RankId rank) {
        return rank.value() < 0 ? QStringLiteral("any") : rankText(rank);
    };
    QString text = QStringLiteral("%1 -> %2  tag %3  %4")
                       .arg(end(message.sender), end(message.receiver),
                            message.tag == kAnyTag ? QStringLiteral("any") : QString::number(message.tag),
                            messageStateText(session.timeline(), message));
    if (message.send) {
        text += QStringLiteral("  %1  from %2")
                    .arg(bytesText(message.bytes), callPlaceText(session, *message.send));
    }
    if (message.post) {
        text += QStringLiteral("  into %1").arg(callPlaceText(session, *message.post));
    }
    return text;
}

QString severityText(Severity severity) {
    switch (severity) {
    case Severity::Info:
        return QStringLiteral("info");
    case Severity::Warning:
        return QStringLiteral("warning");
    case Severity::Error:
        return QStringLiteral("error");
    }
    return {};
}

} // namespace stopline::app
