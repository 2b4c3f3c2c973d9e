// What raced, and why.
#include "batch.h"

#include "race_text.h"

#include "../replay/chance_words.h"
#include "../replay/races.h"

#include <algorithm>
#include <optional>

namespace stopline::app {

using namespace replay;

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
    RaceAnalysis analysis; // of its own: all that is recorded counts, looked at by now or not
    analysis.update(timeline);
    bool any = false;
    for (const Race& race : analysis.races()) {
        if (rank && race.call.rank != *rank) {
            continue;
        }
        any = true;
        out << raceLine(timeline, race);
        for (const Alternative& one : analysis.alternatives(race)) {
            out << QStringLiteral("    ") + QString::fromStdString(reasonText(timeline, race, one));
        }
    }
    if (!any) {
        out << QStringLiteral("no races");
    }
    if (const QString chance = chanceText(timeline, rank); !chance.isEmpty()) {
        out << chance;
    }
    return {};
}

/// What has been recorded is looked at in the background: all of it counts.
bool BatchRunner::knowRaces(const ScriptLine& line) {
    bool looked = false;
    const auto watch = connect(m_session, &Session::racesChanged, this, [&looked] { looked = true; });
    m_session->lookForRaces();
    const bool known = waitFor([&looked] { return looked; }, limit(line));
    disconnect(watch);
    return known;
}

BatchRunner::Outcome BatchRunner::nextRace(const ScriptLine& line, Lines& out) {
    if (!knowRaces(line)) {
        return timedOut(line);
    }
    if (const QString why = m_session->whyNotNextRace(); !why.isEmpty()) {
        return {Verdict::Failed, why};
    }
    std::optional<CallRef> reached;
    const auto listen = connect(m_session, &Session::raceReached, this, [&reached](const CallRef& call) { reached = call; });
    m_operationDone = false;
    if (m_session->jobExists()) {
        expectResume(Verb::Continue);
    }
    m_session->stopAtNextRace();
    const bool going = reached.has_value();
    const auto there = [&] {
        if (going) {
            return m_operationDone && m_session->operation().isEmpty();
        }
        return (m_operationDone && !m_operationOk) || (!m_session->runsToNextRace() && (m_session->allStopped() || !m_session->jobExists()));
    };
    const bool in = waitFor(there, limit(line));
    disconnect(listen);
    m_resuming.clear();
    if (!in) {
        return timedOut(line);
    }
    if (m_operationDone && !m_operationOk) {
        return {Verdict::Failed, m_operationText};
    }
    if (!reached) {
        const QVector<RankId> all = allRanks();
        const bool stands = std::any_of(all.begin(), all.end(), [this](RankId rank) { return m_session->rank(rank).phase == RankPhase::Stopped; });
        return {Verdict::Failed, stands ? QStringLiteral("the ranks have stopped, and nothing more raced up to there")
                                        : QStringLiteral("the job has ended, and nothing more raced")};
    }
    const Timeline& timeline = m_session->timeline();
    for (const Race& race : m_session->races().racesOf(*reached)) {
        out << raceLine(timeline, race);
    }
    return {};
}

std::optional<CallRef> BatchRunner::callOf(const QString& rank, const QString& event, QString& error) const {
    const auto of = oneRank(rank, error);
    if (!of) {
        return std::nullopt;
    }
    const auto call = m_session->timeline().callAt(*of, EventIndex{event.toULongLong()});
    if (!call) {
        error = QStringLiteral("rank %1 has no event %2").arg(rank, event);
    }
    return call;
}

BatchRunner::Outcome BatchRunner::take(const ScriptLine& line) {
    QString error;
    const auto race = callOf(line.words.at(0), line.words.at(1), error);
    const auto send = race ? callOf(line.words.at(2), line.words.at(3), error) : std::nullopt;
    const bool named = line.words.size() > 4;
    if (named && (line.words.size() != 7 || line.words.at(4) != QLatin1StringView("instead"))) {
        return {Verdict::Failed, QStringLiteral("take RANK EVENT SENDER EVENT [instead SENDER EVENT]")};
    }
    const auto insteadOf = named && send ? callOf(line.words.at(5), line.words.at(6), error) : std::nullopt;
    if (!send || (named && !insteadOf)) {
        return {Verdict::Failed, error};
    }
    if (!knowRaces(line)) {
        return timedOut(line);
    }
    m_mustBegin = !line.mayFail;
    m_session->setStopAtStart(false);
    expectResume(Verb::Replay);
    m_operationDone = false;
    m_session->takeInstead(*race, *send, insteadOf ? MaybeCall(*insteadOf) : MaybeCall());
    if (m_operationDone && !m_operationOk) {
        m_launching = false;
        return {Verdict::Failed, m_operationText};
    }
    if (m_operationDone) { // that choice has been made before, and is shown
        m_launching = false;
        m_mustBegin = false;
        return {};
    }
    return waitLaunched(line);
}

} // namespace stopline::app
