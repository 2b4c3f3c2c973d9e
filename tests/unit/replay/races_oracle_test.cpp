// The race analysis against all the ways in which small programs could have run.
#include "../../../replay/races.h"
#include "races_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>

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
    int freed = 0;            ///< programs with receives that were freed while they were active
    int other = 0;            ///< programs that can go another way without marks
    std::uint64_t marked = 0; ///< messages
    std::uint64_t open = 0;   ///< receives and probes left to MPI
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
        tally.freed += program.hasFreed() ? 1 : 0;
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
        const OrderMarks marks = whole.orderMarks();
        EXPECT_EQ(program.replayed(marks), "") << program.text() << "program " << tally.programs;
        tally.other += program.replayed(program.only({})).empty() ? 0 : 1;
        OracleProgram::Found told = expected;
        for (const CallRef call : whole.guarded()) {
            told[{call.rank.value(), static_cast<int>(call.call.value())}];
        }
        EXPECT_EQ(program.replayed(program.only(told)), "") << program.text() << "program " << tally.programs << ", racing ones alone";
        tally.marked += marks.marked;
        tally.open += marks.open;
        for (const Race& race : whole.races()) {
            const std::vector<Race> there = whole.racesOf(race.call); // and such as were freed and are told of there
            EXPECT_EQ(std::count_if(there.begin(), there.end(), [&](const Race& one) { return one.call == race.call; }), 1)
                << program.text();
        }
    }
    return tally;
}

/// The programs were such as tell something: more than so many of each kind.
void expectMore(const Tally& tally, int programs, std::uint64_t messages) {
    EXPECT_GT(tally.racing, programs);
    EXPECT_GT(tally.other, programs);
    EXPECT_GT(tally.marked, messages);
    EXPECT_GT(tally.open, messages);
}

TEST(RacesOracle, BlockingCallsOfThreeRanks) {
    const Tally tally = compare(1, {3, 5, false, false, false}, 400);
    expectMore(tally, 100, 200);
}

TEST(RacesOracle, SynchronousSends) {
    const Tally tally = compare(2, {3, 5, false, true, false}, 400);
    expectMore(tally, 100, 100);
}

TEST(RacesOracle, NonBlockingReceivesAndCancels) {
    const Tally tally = compare(3, {3, 5, true, false, false}, 400);
    expectMore(tally, 100, 100);
}

TEST(RacesOracle, SynchronousSendsToNonBlockingReceives) {
    const Tally tally = compare(6, {3, 6, true, true, false}, 400);
    expectMore(tally, 100, 100);
}

TEST(RacesOracle, SynchronousSendsToReceivesThatAreFreed) {
    const Tally tally = compare(7, {3, 7, true, true, true}, 400);
    EXPECT_GT(tally.freed, 200);
    expectMore(tally, 100, 100);
}

TEST(RacesOracle, ReceivesThatAreFreed) {
    const Tally tally = compare(5, {3, 7, true, false, true}, 400);
    EXPECT_GT(tally.freed, 200);
    expectMore(tally, 100, 100);
}

TEST(RacesOracle, MoreMessagesOfFourRanks) {
    const Tally tally = compare(4, {4, 6, true, false, false}, 100);
    expectMore(tally, 30, 30);
}

} // namespace
} // namespace stopline::replay::test
