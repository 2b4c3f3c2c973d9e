#include "race_text.h"

#include "../replay/words.h"
#include "../tracelib/functions.h"

namespace stopline::app {

using namespace replay;

namespace {

bool isProbe(const Race& race) {
    return race.kind == RaceKind::Probe || race.kind == RaceKind::FailedProbe;
}

} // namespace

QString callName(const Timeline& timeline, CallRef call) {
    const auto name = trace::functionName(timeline.details(call.rank, timeline.call(call).beginDetails).function);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString outcomeText(const Timeline& timeline, const Race& race) {
    if (race.kind == RaceKind::CancelledReceive) {
        return QStringLiteral("was cancelled");
    }
    if (race.kind == RaceKind::FailedProbe) {
        return QStringLiteral("saw no message");
    }
    const QString text =
        (isProbe(race) ? QStringLiteral("saw rank %1's message") : QStringLiteral("got rank %1's message"))
            .arg(rankText(race.sender));
    return race.send ? text + QStringLiteral(" of event %1").arg(timeline.call(*race.send).begin.value()) : text;
}

QString raceLine(const Timeline& timeline, const Race& race) {
    QString text = QStringLiteral("[%1] %2 %3 %4")
                       .arg(rankText(race.call.rank))
                       .arg(timeline.call(race.call).begin.value())
                       .arg(callName(timeline, race.call), outcomeText(timeline, race));
    const bool nothing = race.kind == RaceKind::CancelledReceive || race.kind == RaceKind::FailedProbe;
    text += (isProbe(race) ? QStringLiteral(", could have seen %1 %2") : QStringLiteral(", could have got %1 %2"))
                .arg(race.alternatives)
                .arg(nothing                  ? QStringLiteral("instead")
                     : race.alternatives == 1 ? QStringLiteral("other")
                                              : QStringLiteral("others"));
    if (race.pollFailures > 0) {
        text += race.pollFailures == 1 ? QStringLiteral("; 1 try failed") : QStringLiteral("; %1 tries failed").arg(race.pollFailures);
    }
    return text;
}

QString executionTitle(const Session::Execution& execution) {
    return execution.text.isEmpty() ? QStringLiteral("as it was first run")
                                    : QStringLiteral("from %1: %2").arg(execution.from).arg(execution.text);
}

QString executionText(const Session::Execution& execution) {
    const QString text = QStringLiteral("%1, %2 %3")
                             .arg(executionTitle(execution))
                             .arg(execution.events)
                             .arg(execution.events == 1 ? QStringLiteral("event") : QStringLiteral("events"));
    return execution.outcome.isEmpty() ? text : QStringLiteral("%1: %2").arg(text, execution.outcome);
}

QString differenceText(const Session::ExecutionDifference& difference) {
    const QString same = difference.same.value() == 0 ? QStringLiteral("different from the start")
                                                      : QStringLiteral("the same through event %1").arg(difference.same.value());
    if (difference.first.isEmpty() && difference.second.isEmpty()) {
        return same + QStringLiteral(", where both end");
    }
    if (difference.first.isEmpty()) {
        return same + QStringLiteral(", where it ends there; here %1 follows").arg(difference.second);
    }
    if (difference.second.isEmpty()) {
        return same + QStringLiteral(", where it ends here; there %1 follows").arg(difference.first);
    }
    return same + QStringLiteral("; then %1 there, %2 here").arg(difference.first, difference.second);
}

} // namespace stopline::app
