#include "recording_summary_parts.h"

#include "call_words.h"
#include "races.h"

#include <algorithm>
#include <array>
#include <map>

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
        out << (QStringLiteral("to repeat the run, the order of %1 of %2 messages is enough (%3 %), at least %4 are needed")
                 .arg(trace.traced.size())
                 .arg(trace.messages)
                 .arg(trace.share() * 100, 0, 'f', 1)
                 .arg(trace.lowerBound));
    }
    return out;
}

} // namespace stopline::replay
