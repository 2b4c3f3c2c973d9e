// Random programs of all kinds of calls: races found bit by bit are those found at once.
#include "races_text.h"
#include "simulator.h"

#include <algorithm>

namespace stopline::replay::test {
namespace {

/// Everything that an analysis says, but for numbers that depend on the order of reading.
std::vector<std::string> all(const RaceAnalysis& analysis) {
    std::vector<std::string> texts = found(analysis);
    const MinimalTrace trace = analysis.minimalTrace();
    texts.push_back(std::to_string(trace.messages) + " messages");
    for (const std::string& call : named(trace.traced)) {
        texts.push_back("traced " + call);
    }
    for (const std::string& call : named(trace.critical)) {
        texts.push_back("critical " + call);
    }
    EXPECT_LE(trace.lowerBound, trace.traced.size());
    return texts;
}

struct Counts {
    std::size_t races = 0;
    std::size_t windows = 0;
    std::size_t whole = 0; ///< programs analysed to their ends
};

Counts compare(std::uint64_t seeds, std::uint64_t base, bool broken) {
    Counts counts;
    for (std::uint64_t seed = base; seed < base + seeds && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Program program = randomProgram(random);
        RunOptions options;
        options.seed = seed;
        Trace trace = run(program, options).trace;
        if (broken) {
            RankTrace& rank = trace.ranks[below(random, trace.ranks.size())];
            if (!rank.events.empty()) {
                const std::size_t at = below(random, rank.events.size());
                if (chance(random, 50)) {
                    rank.events.erase(rank.events.begin() + static_cast<std::ptrdiff_t>(at));
                } else {
                    rank.events.resize(at);
                }
            }
        }
        const Timeline timeline = load(trace);
        const RaceAnalysis whole = analyse(timeline);
        counts.races += whole.count();
        counts.windows += whole.windows();
        bool reached = true;
        for (std::int32_t rank = 0; rank < timeline.rankCount(); ++rank) {
            reached = reached && whole.analysed(RankId{rank}) == timeline.lastEvent(RankId{rank});
            for (std::uint32_t call = 0; call < timeline.callCount(RankId{rank}); ++call) {
                for (const Race& race : whole.racesOf(at(rank, call))) {
                    EXPECT_TRUE(race.call == at(rank, call) || race.done == MaybeCall(at(rank, call)));
                }
            }
        }
        counts.whole += reached ? 1 : 0;
        RaceAnalysis grown;
        const Timeline slowly = load(
            trace, [&](std::size_t ranks) { return below(random, ranks); },
            [&](const Timeline& sofar) {
                if (chance(random, 10)) {
                    grown.update(sofar);
                }
            });
        grown.update(slowly);
        RaceAnalysis pieces;
        while (!pieces.update(timeline, 1 + below(random, 20))) {
        }
        const std::vector<std::string> once = all(whole);
        if (!broken) {
            EXPECT_EQ(all(grown), once);
            EXPECT_EQ(all(pieces), once);
        }
    }
    return counts;
}

TEST(RacesRandom, BitByBitIsAsAtOnce) {
    const Counts counts = compare(600, 1, false);
    EXPECT_GT(counts.races, 200U);
    EXPECT_GT(counts.windows, counts.races);
    EXPECT_GT(counts.whole, 500U);
}

TEST(RacesRandom, BrokenTracesAreSurvived) {
    EXPECT_GT(compare(600, 5000, true).windows, 300U);
}

} // namespace
} // namespace stopline::replay::test
