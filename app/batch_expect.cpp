// `expect`: compares what is with what the script says.
#include "batch.h"

#include "text.h"
#include "../replay/words.h"

#include <QDeadlineTimer>

namespace stopline::app {

using namespace replay;
using namespace std::chrono_literals;

BatchRunner::Outcome BatchRunner::expect(const ScriptLine& line) {
    QString text = line.rest;
    const bool negate = text.startsWith(QLatin1StringView("not "));
    if (negate) {
        text = text.mid(4).trimmed();
    }
    const QDeadlineTimer deadline(line.within.value_or(0ms));
    for (;;) {
        Outcome outcome = expectOnce(text, line);
        if (negate && outcome.result == Verdict::Done) {
            outcome = {Verdict::Failed, QStringLiteral("it is so")};
        } else if (negate && outcome.result == Verdict::Failed &&
                   outcome.text.startsWith(QLatin1StringView("is "))) {
            outcome = {};
        }
        if (outcome.result == Verdict::Done || deadline.hasExpired() || m_aborted) {
            return outcome;
        }
        waitFor([] { return false; }, 50ms);
    }
}

/// Failures that are a difference begin with "is ", so that `not` can tell them from mistakes in the line.
BatchRunner::Outcome BatchRunner::expectOnce(const QString& text, const ScriptLine& line) {
    static const QString kContains = QStringLiteral(" contains ");
    const qsizetype contains = text.indexOf(kContains);
    if (contains > 0) {
        QString error;
        const auto inner = parseScriptLine(text.left(contains), m_window != nullptr, error);
        if (!inner) {
            return {Verdict::Failed, error};
        }
        Lines out;
        Outcome outcome = perform(*inner, out);
        if (outcome.result != Verdict::Done) {
            return outcome;
        }
        QString wanted = text.mid(contains + kContains.size()).trimmed();
        if (wanted.size() >= 2 && wanted.startsWith(u'"') && wanted.endsWith(u'"')) {
            wanted = wanted.mid(1, wanted.size() - 2);
        }
        for (const QString& one : out) {
            if (one.contains(wanted)) {
                return {};
            }
        }
        return {Verdict::Failed,
                QStringLiteral("is without it: %1").arg(out.isEmpty() ? QStringLiteral("empty") : out.join(u'\n'))};
    }
    const QStringList words = splitWords(text);
    if (QString error; const auto wanted = ranks(words.value(1), error)) {
        askRunning(*wanted);
    }
    if (words.value(0) == QLatin1StringView("where")) {
        return compareWhere(words);
    }
    if (words.value(0) == QLatin1StringView("place")) {
        return comparePlace(words);
    }
    if (words.value(0) == QLatin1StringView("state")) {
        return compareState(words);
    }
    if (words.value(0) == QLatin1StringView("print")) {
        const qsizetype equals = text.lastIndexOf(QLatin1StringView(" = "));
        if (equals < 0) {
            return {Verdict::Failed, QStringLiteral("usage: expect print EXPRESSION [rank RANKS] = VALUE")};
        }
        const QString wanted = text.mid(equals + 3).trimmed();
        const Values values = evaluate(text.left(equals).mid(6), limit(line));
        if (values.outcome.result != Verdict::Done) {
            return values.outcome;
        }
        for (const auto& [rank, value] : values.values) {
            if (value != wanted) {
                return {Verdict::Failed, QStringLiteral("is %1 on rank %2").arg(value).arg(rankText(rank))};
            }
        }
        return values.values.isEmpty() ? Outcome{Verdict::Failed, QStringLiteral("there are no ranks")}
                                       : Outcome{};
    }
    return {Verdict::Failed, QStringLiteral("expect where, place, state, print, or VERB … contains TEXT")};
}

BatchRunner::Outcome BatchRunner::compareWhere(const QStringList& words) const {
    QString error;
    const auto wanted = ranks(words.value(1), error);
    if (!wanted || words.size() != 3) {
        return {Verdict::Failed, wanted ? QStringLiteral("usage: expect where RANKS FILE:LINE") : error};
    }
    for (const RankId rank : *wanted) {
        const SourceLocation location = m_session->rank(rank).location;
        if (locationText(location) != words.at(2) && locationText(location, true) != words.at(2)) {
            return {Verdict::Failed,
                    QStringLiteral("is %1 on rank %2").arg(whereText(rank)).arg(rankText(rank))};
        }
    }
    return {};
}

BatchRunner::Outcome BatchRunner::comparePlace(const QStringList& words) const {
    const QString usage = QStringLiteral(
        "usage: expect place RANKS before|after|inside EVENT, or: before MPI_Init, not started");
    QString error;
    const auto wanted = ranks(words.value(1), error);
    if (!wanted || words.size() != 4) {
        return {Verdict::Failed, wanted ? usage : error};
    }
    const Timeline& timeline = m_session->timeline();
    const QString side = words.at(2);
    // Of a rank with a process and without an event, scripts may say either.
    const bool beforeInit =
        side == QLatin1StringView("before") && words.at(3) == QLatin1StringView("MPI_Init");
    const bool notStarted = side == QLatin1StringView("not") && words.at(3) == QLatin1StringView("started");
    bool ok = false;
    const quint64 event = words.at(3).toULongLong(&ok);
    const bool known = side == QLatin1StringView("before") || side == QLatin1StringView("after") ||
                       side == QLatin1StringView("inside");
    if (!notStarted && !beforeInit && (!ok || !known)) {
        return {Verdict::Failed, usage};
    }
    for (const RankId rank : *wanted) {
        const RankView view = shownView(rank);
        const Place place = view.place;
        bool same = place.event.value() == event;
        if (notStarted || beforeInit) {
            same = place.event.value() == 0 && (notStarted || view.phase != RankPhase::NotStarted);
        } else if (same) {
            const bool recorded =
                rank.value() < timeline.rankCount() && place.event <= timeline.lastEvent(rank);
            const bool begin = recorded && event > 0 && timeline.isBegin(rank, place.event);
            const QString is = !begin ? QStringLiteral("after")
                                      : (place.inside ? QStringLiteral("inside") : QStringLiteral("before"));
            same = is == side;
        }
        if (!same) {
            return {Verdict::Failed,
                    QStringLiteral("is %1 on rank %2").arg(placeText(timeline, view)).arg(rankText(rank))};
        }
    }
    return {};
}

BatchRunner::Outcome BatchRunner::compareState(const QStringList& words) const {
    QString error;
    const auto wanted = ranks(words.value(1), error);
    if (!wanted || words.size() < 3) {
        return {Verdict::Failed, wanted ? QStringLiteral("usage: expect state RANKS WORDS") : error};
    }
    const QString state = words.mid(2).join(u' ');
    for (const RankId rank : *wanted) {
        const QString is = fullStateText(shownView(rank));
        if (!is.contains(state)) {
            return {Verdict::Failed, QStringLiteral("is %1 on rank %2").arg(is).arg(rankText(rank))};
        }
    }
    return {};
}

} // namespace stopline::app
