// What raced, and why.
#include "batch.h"

#include "../replay/races.h"
#include "../tracelib/functions.h"

#include <optional>

namespace stopline::app {

using namespace replay;

namespace {

QString fromText(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// "[1] 5 MPI_Recv got rank 0's message of event 3, could have got 2 others"
QString raceText(const Timeline& timeline, const Race& race) {
    const Call call = timeline.call(race.call);
    const trace::EventDetails& asked = timeline.details(race.call.rank, call.beginDetails);
    QString text = QStringLiteral("[%1] %2 %3")
                       .arg(race.call.rank.value())
                       .arg(call.begin.value())
                       .arg(fromText(trace::functionName(asked.function)));
    const bool probe = race.kind == RaceKind::Probe || race.kind == RaceKind::FailedProbe;
    if (race.kind == RaceKind::CancelledReceive) {
        text += QStringLiteral(" was cancelled");
    } else if (race.kind == RaceKind::FailedProbe) {
        text += QStringLiteral(" saw no message");
    } else {
        text += (probe ? QStringLiteral(" saw rank %1's message") : QStringLiteral(" got rank %1's message"))
                    .arg(race.sender.value());
        if (race.send) {
            text += QStringLiteral(" of event %1").arg(timeline.call(*race.send).begin.value());
        }
    }
    const bool nothing = race.kind == RaceKind::CancelledReceive || race.kind == RaceKind::FailedProbe;
    text += (probe ? QStringLiteral(", could have seen %1 %2") : QStringLiteral(", could have got %1 %2"))
                .arg(race.alternatives)
                .arg(nothing                  ? QStringLiteral("instead")
                     : race.alternatives == 1 ? QStringLiteral("other")
                                              : QStringLiteral("others"));
    if (race.pollFailures > 0) {
        text += QStringLiteral("; %1 tries failed").arg(race.pollFailures);
    }
    return text;
}

} // namespace

BatchRunner::Outcome BatchRunner::races(const ScriptLine& line, Lines& out) {
    std::optional<RankId> rank;
    if (!line.rest.isEmpty()) {
        QString error;
        rank = oneRank(line.rest, error);
        if (!rank) {
            return {Verdict::Failed, error};
        }
    }
    const Timeline& timeline = m_session->timeline();
    RaceAnalysis analysis;
    analysis.update(timeline);
    bool any = false;
    for (const Race& race : analysis.races()) {
        if (rank && race.call.rank != *rank) {
            continue;
        }
        any = true;
        out << raceText(timeline, race);
        for (const Alternative& one : analysis.alternatives(race)) {
            out << QStringLiteral("    ") + QString::fromStdString(reasonText(timeline, race, one));
        }
    }
    if (!any) {
        out << QStringLiteral("no races");
    }
    return {};
}

} // namespace stopline::app
