#include "recording_summary_parts.h"

#include "call_words.h"
#include "chance_words.h"
#include "found_races.h"
#include "order_log.h"
#include "races.h"
#include "recording_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace stopline::replay {

namespace {

/// Races that have a line of the program, and what asked there, in common.
struct RacingLine {
    std::uint64_t times = 0;
    std::uint32_t fewest = 0;
    std::uint32_t most = 0;
    std::vector<int> ranks;
};

} // namespace

QStringList racesByLine(const Timeline& timeline, const std::function<QString(CallRef)>& where) {
    QStringList out;
    RaceAnalysis analysis;
    analysis.update(timeline);
    static const std::array<QString, 4> kKinds{QString(), QString(), QStringLiteral(" that saw nothing"),
                                               QStringLiteral(" that was cancelled")};
    std::map<QString, RacingLine> lines;
    for (const Race& race : analysis.races()) {
        const trace::EventDetails& asked = timeline.details(race.call.rank, timeline.call(race.call).beginDetails);
        const QString place = where(race.call);
        RacingLine& line = lines[QStringLiteral("%1  %2%3").arg(place.isEmpty() ? QStringLiteral("(unknown)") : place,
                                                                 functionText(asked.function),
                                                                 kKinds[static_cast<std::size_t>(race.kind)])];
        line.fewest = line.times == 0 ? race.alternatives : std::min(line.fewest, race.alternatives);
        line.most = std::max(line.most, race.alternatives);
        ++line.times;
        if (line.ranks.empty() || line.ranks.back() != race.call.rank.value()) {
            line.ranks.push_back(race.call.rank.value());
        }
    }
    for (const auto& [name, line] : lines) {
        const QString others = line.fewest == line.most ? QString::number(line.most)
                                                        : QStringLiteral("%1 to %2").arg(line.fewest).arg(line.most);
        out << (QStringLiteral("%1  %2 %3 on %4, with %5 other %6 each")
                 .arg(name)
                 .arg(line.times)
                 .arg(line.times == 1 ? QStringLiteral("time") : QStringLiteral("times"), ranksInWords(line.ranks), others,
                      line.most == 1 ? QStringLiteral("message") : QStringLiteral("messages")));
    }
    const MinimalTrace trace = analysis.minimalTrace();
    if (lines.empty()) {
        out << (QStringLiteral("none"));
    }
    if (lines.empty() && trace.messages != 0) {
        out << (QStringLiteral("to repeat the run, the order of none of its %1 messages is needed").arg(trace.messages));
    } else if (!lines.empty()) {
        out << QStringLiteral("to repeat the run, the order of %1 of %2 messages is enough (%3 %)%4")
                   .arg(trace.traced.size())
                   .arg(trace.messages)
                   .arg(trace.share() * 100, 0, 'f', 1)
                   .arg(trace.lowerBound == 0 ? QString() // of probes alone it is not known
                                              : QStringLiteral(", at least %1 %2 needed")
                                                    .arg(trace.lowerBound)
                                                    .arg(trace.lowerBound == 1 ? QStringLiteral("is") : QStringLiteral("are")));
    }
    for (std::int32_t rank = 0; rank < timeline.rankCount() && !lines.empty(); ++rank) {
        if (const auto from = unforcedOf(timeline, RankId(rank))) { // one rank's is enough: what it does others may depend on
            const auto call = timeline.callAt(RankId(rank), from->event);
            const QString place = call ? where(*call) : QString();
            out << QStringLiteral("but a replay does not repeat all from event %1 of rank %2 on%3: %4")
                       .arg(from->event.value())
                       .arg(rank)
                       .arg(place.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(place),
                            QString::fromUtf8(unforcedReason(from->why)));
            break;
        }
    }
    if (const QString chance = chanceText(timeline); !chance.isEmpty()) {
        out << chance;
    }
    return out;
}

QStringList foundWhileItRan(const Timeline& timeline, const RecordingFile& file) {
    std::vector<FoundRaces> ranks;
    std::uint64_t raced = 0;
    std::uint64_t traced = 0;
    const FoundRaces* limited = nullptr;
    for (const RecordedRank& rank : file.ranks) {
        ranks.push_back(foundRacesOf(std::as_bytes(std::span(rank.values))));
    }
    for (const FoundRaces& one : ranks) {
        raced += one.raced.size();
        traced += one.traced;
        limited = one.looked && !one.complete ? &one : limited;
    }
    if (limited != nullptr) {
        return {QStringLiteral("races could not be found while the job ran: %1").arg(QString::fromUtf8(limitText(limited->limit)))};
    }
    if (!areComplete(ranks)) {
        return {};
    }
    const QString found = QStringLiteral("found while the job ran: %1 receives and probes that raced, %2 messages to be traced").arg(raced).arg(traced);
    std::size_t told = 0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const RankId rank(static_cast<std::int32_t>(i));
        told += orderLogOf(timeline, rank, 0, {}, nullptr, &ranks[i]).bytes.size();
        all += orderLogOf(timeline, rank).bytes.size();
    }
    return {found, QStringLiteral("order that a replay is told: %1 bytes; with that of all receives it would be %2").arg(told).arg(all)};
}

} // namespace stopline::replay
