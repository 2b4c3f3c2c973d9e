// Holds the races that the ranks of a recorded job have found while it ran against those that the analysis of
// its recording finds: each is the other's oracle.
//
// usage: race_oracle FILE...
//
// With them go receives and probes that did not race only as an older receive was open.
//
// Prints a line for each file: "<windows> windows, <raced> raced, <traced> of <messages> messages traced", or
// "given up: <reason>". Fails where a receive or probe is in one of the two alone, where the messages that
// Netzer and Miller's algorithm traces are not as many, or where orders that the ranks cannot know would make
// races and not unmake them.
#include "../../replay/found_races.h"
#include "../../replay/loaded_recording.h"
#include "../../replay/races.h"

#include <QCoreApplication>
#include <QTextStream>

#include <algorithm>
#include <set>

using namespace stopline;
using namespace stopline::replay;

namespace {

QTextStream out(stdout);

using Places = std::multiset<std::pair<std::int32_t, std::uint64_t>>; // rank, begin of the call

Places placesOf(const Timeline& timeline, const RaceAnalysis& analysis) {
    Places places;
    for (const Race& race : analysis.races()) {
        places.emplace(race.call.rank.value(), timeline.call(race.call).begin.value());
    }
    return places;
}

bool sayDifference(const Timeline& timeline, const Places& some, const Places& others, const char* what) {
    Places only;
    std::set_difference(some.begin(), some.end(), others.begin(), others.end(),
                        std::inserter(only, only.begin()));
    int said = 0;
    for (const auto& [rank, event] : only) {
        const auto call = timeline.callAt(RankId(rank), EventIndex(event));
        const trace::EventDetails* begin =
            call ? &timeline.details(RankId(rank), timeline.call(*call).beginDetails) : nullptr;
        if (++said <= 5) {
            out << "  " << what << ": rank " << rank << " event " << event << ' '
                << (begin == nullptr ? "?" : trace::functionName(begin->function).data()) << Qt::endl;
        }
    }
    if (said > 5) {
        out << "  " << what << ": " << said << " in all" << Qt::endl;
    }
    return said == 0;
}

bool agrees(const QString& file) {
    LoadedRecording loaded;
    if (const QString wrong = loadRecording(file, loaded); !wrong.isEmpty()) {
        out << file << ": " << wrong << Qt::endl;
        return false;
    }
    const Timeline& timeline = loaded.recording->timeline();
    std::vector<FoundRaces> found;
    Places online;
    Places guarded;
    std::uint64_t traced = 0;
    for (std::size_t rank = 0; rank < loaded.file.ranks.size(); ++rank) {
        found.push_back(foundRacesOf(std::as_bytes(std::span(loaded.file.ranks[rank].values))));
        traced += found.back().traced;
        for (const auto& [event, position] : found.back().raced) {
            online.emplace(static_cast<std::int32_t>(rank), event.value());
        }
        std::vector<FoundRaces::Place> alone; // some have turned out to race after all
        std::set_difference(found.back().guarded.begin(), found.back().guarded.end(), found.back().raced.begin(),
                            found.back().raced.end(), std::back_inserter(alone));
        for (const auto& [event, position] : alone) {
            guarded.emplace(static_cast<std::int32_t>(rank), event.value());
        }
    }
    if (!areComplete(found)) {
        const auto limit = std::find_if(found.begin(), found.end(),
                                        [](const FoundRaces& one) { return one.looked && !one.complete; });
        out << file << ": given up: "
            << (limit == found.end() ? "a rank has not come to the end" : limitText(limit->limit).data())
            << Qt::endl;
        return true;
    }
    RaceAnalysis offline(Orders::OfMessages);
    offline.update(timeline);
    RaceAnalysis all;
    all.update(timeline);
    const MinimalTrace trace = offline.minimalTrace();
    out << file << ": " << offline.windows() << " windows, " << online.size() << " raced, " << traced
        << " of " << trace.messages << " messages traced" << Qt::endl;
    const Places expected = placesOf(timeline, offline);
    Places kept;
    for (const CallRef call : offline.guarded()) {
        kept.emplace(call.rank.value(), timeline.call(call).begin.value());
    }
    bool good = sayDifference(timeline, expected, online, "not found while it ran");
    good = sayDifference(timeline, online, expected, "found while it ran alone") && good;
    good = sayDifference(timeline, kept, guarded, "guarded, and not found while it ran") && good;
    good = sayDifference(timeline, guarded, kept, "guarded as found while it ran alone") && good;
    good = sayDifference(timeline, placesOf(timeline, all), online, "found with more orders alone") && good;
    if (traced != trace.traced.size()) {
        out << "  messages traced: the analysis says " << trace.traced.size() << Qt::endl;
        good = false;
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    const QCoreApplication app(argc, argv);
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i) {
        good = agrees(QString::fromLocal8Bit(argv[i])) && good;
    }
    return good ? 0 : 1;
}
