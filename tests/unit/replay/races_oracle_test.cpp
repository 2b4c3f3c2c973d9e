// The race analysis against all the ways in which small programs could have run.
#include "../../../replay/races.h"
#include "races_oracle.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

OracleProgram::Found foundBy(const RaceAnalysis& analysis) {
    OracleProgram::Found found;
    for (const Race& race : analysis.races()) {
        auto& also = found[{race.call.rank.value(), static_cast<int>(race.call.call.value())}];
        const auto alternatives = analysis.alternatives(race);
        EXPECT_EQ(alternatives.size(), race.alternatives);
        for (const Alternative& one : alternatives) {
            also.insert({one.send.rank.value(), static_cast<int>(one.send.call.value())});
        }
    }
    return found;
}

std::string show(const OracleProgram::Found& found) {
    std::string text;
    for (const auto& [window, sends] : found) {
        text += std::to_string(window.first) + ":" + std::to_string(window.second) + " also";
        for (const auto& [rank, call] : sends) {
            text += " " + std::to_string(rank) + ":" + std::to_string(call);
        }
        text += "\n";
    }
    return text;
}

struct Tally {
    int programs = 0;
    int racing = 0;
};

Tally compare(std::uint64_t seed, const OracleOptions& options, int wanted) {
    std::mt19937_64 random(seed);
    Tally tally;
    while (tally.programs < wanted && !::testing::Test::HasFailure()) {
        OracleProgram program(random, options);
        if (!program.record(random)) {
            continue;
        }
        ++tally.programs;
        Job job(options.ranks);
        program.write(job);
        const OracleProgram::Found expected = program.alternatives();
        tally.racing += expected.empty() ? 0 : 1;
        const Timeline timeline = job.timeline();
        RaceAnalysis whole;
        whole.update(timeline);
        EXPECT_EQ(show(foundBy(whole)), show(expected)) << program.text() << "program " << tally.programs;
        // Bit by bit, with the ranks' events in any order.
        RaceAnalysis grown;
        const Timeline slowly = load(
            job.trace, [&](std::size_t ranks) { return random() % ranks; },
            [&](const Timeline& sofar) {
                if (random() % 3 == 0) {
                    grown.update(sofar);
                }
            });
        grown.update(slowly);
        EXPECT_EQ(show(foundBy(grown)), show(expected))
            << program.text() << "bit by bit, program " << tally.programs;
        EXPECT_EQ(grown.minimalTrace().traced, whole.minimalTrace().traced);
        EXPECT_GE(whole.minimalTrace().traced.size(), whole.minimalTrace().lowerBound);
        for (const Race& race : whole.races()) {
            EXPECT_EQ(whole.racesOf(race.call).size(), 1U) << program.text();
        }
    }
    return tally;
}

TEST(RacesOracle, BlockingCallsOfThreeRanks) {
    EXPECT_GT(compare(1, {3, 5, false, false}, 400).racing, 100);
}

TEST(RacesOracle, SynchronousSends) {
    EXPECT_GT(compare(2, {3, 5, false, true}, 400).racing, 100);
}

TEST(RacesOracle, NonBlockingReceivesAndCancels) {
    EXPECT_GT(compare(3, {3, 5, true, false}, 400).racing, 100);
}

TEST(RacesOracle, MoreMessagesOfFourRanks) {
    EXPECT_GT(compare(4, {4, 6, true, false}, 100).racing, 30);
}

} // namespace
} // namespace stopline::replay::test
