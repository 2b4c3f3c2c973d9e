// The same where one MPI_Startall posts several receives.
#include "race_choice_text.h"

#include <string>
#include <utility>
#include <vector>

namespace stopline::replay::test {
namespace {

TEST(RaceChoice, OfOneStartallTheOlderReceivesStayAsTheyWereAndTheYoungerAreLeftToMpi) {
    Job job(4);
    const Serial a = job[0].recvInit(kAny, 5); // 3
    const Serial b = job[0].recvInit(kAny, 5); // 5
    const Serial c = job[0].recvInit(kAny, 5); // 7
    job[0].start({a, b, c});                   // 9
    job[0].wait(b, {2, 5});                    // 11
    job[0].wait(a, {1, 5});                    // 13
    job[0].wait(c, {3, 5});                    // 15
    for (const std::size_t rank : {1U, 2U, 3U}) {
        job[rank].send(0, 5);
    }
    const Timeline timeline = job.timeline();
    RaceAnalysis analysis;
    analysis.update(timeline);
    for (const auto& [got, expected] : std::vector<std::pair<std::int32_t, std::string>>{
             {2, "9 kind 4 2 0 2 1 4\n"},    // b gets rank 3's: a, which is older, has had its own; c had that
             {1, "9 kind 4 1 0 4\n12 kind 10 1\n"}}) { // a gets it: what b had may be what a gets
        bool found = false;
        for (const Race& race : analysis.racesOf(at(0, 4))) {
            for (const Alternative& one : analysis.alternatives(race)) {
                if (race.sender == RankId{got} && one.sender == RankId{3}) {
                    std::string why;
                    const Choice choice = choiceOf(timeline, race, one, why);
                    EXPECT_EQ(why, "");
                    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), expected) << got;
                    found = true;
                }
            }
        }
        EXPECT_TRUE(found) << got;
    }
}

TEST(RaceChoice, WhatAReceiveOfTheSameStartallGotIsNotHeldToBeAsItWas) {
    Job job(3);
    const Serial a = job[0].recvInit(kAny, 5); // 3
    const Serial b = job[0].recvInit(kAny, 5); // 5
    job[0].start({a, b});                      // 7
    job[0].wait(b, {2, 5});                    // 9: would get another message
    job[0].wait(a, {1, 5});                    // 11
    job[1].send(0, 5);
    job[2].send(0, 5);
    std::string shared;
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 3), 1, 2, &shared), "7 kind 4 1 0 3\n10 kind 10 1\n");
    EXPECT_EQ(shared, "9 4 4");
}

TEST(RaceChoice, OfOneStartallTheOneThatGotTheMessageIsMeant) {
    Job job(3);
    const Serial s = job[0].sendInit(2, 9);    // 3: is no receive
    const Serial a = job[0].recvInit(kAny, 5); // 5
    const Serial b = job[0].recvInit(kAny, 5); // 7
    job[0].start({s, a, b});                   // 9
    job[0].wait(FunctionId::Waitall, {s, a, b}, {{s, {}}, {a, {1, 5}}, {b, {1, 5}}}); // 11: two of one sender
    job[1].send(0, 5);
    job[1].send(0, 5);
    job[2].recv(0, 9);
    job[2].send(0, 5);
    const Timeline timeline = job.timeline();
    const RaceAnalysis races = analyse(timeline);
    std::string all;
    for (const Race& race : races.racesOf(at(0, 4))) {
        std::string why;
        const Choice choice = choiceOf(timeline, race, races.alternatives(race).front(), why);
        all += text(plannedOrder(timeline, RankId{0}, choice));
    }
    EXPECT_EQ(all, "9 kind 4 1 1 3\n"         // the first: the second is left to MPI
                   "9 kind 4 2 1 2 2 3\n");   // the second: the first stays as it was
}

TEST(RaceChoice, AReceiveOfTheSameStartallThatWasCancelledInVainStaysSo) {
    Job job(4);
    const Serial a = job[0].recvInit(kAny, 5); // 3
    const Serial b = job[0].recvInit(kAny, 5); // 5
    job[0].start({a, b});                      // 7
    job[0].cancel(a);                          // 9
    job[0].wait(b, {2, 5});                    // 11
    job[0].wait(a, {1, 5});                    // 13: not cancelled
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[3].send(0, 5);
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 3), 2, 3), "7 kind 4 2 0 2 1 4\n9 kind 3\n");
}

TEST(RaceChoice, OfOneStartallThoseAreAsRecordedWhoseMessagesAreSentBefore) {
    for (const bool same : {false, true}) { // both messages look the same
        Job job(4);
        const Serial a = job[3].recvInit(kAny, 9);             // 3
        const Serial b = job[3].recvInit(kAny, same ? 9 : 8);  // 5
        job[3].start({b, a});                                  // 7
        job[3].wait(FunctionId::Waitall, {a, b}, {{a, {0, 9}}, {b, {0, same ? 9 : 8}}}); // 9
        job[1].send(0, 5);
        job[2].send(0, 5);
        job[0].send(3, 9);               // 3
        job[0].recv(kAny, 5, {1, 5});    // 5
        job[0].send(3, same ? 9 : 8);    // 7: only behind the race
        const Timeline timeline = job.timeline();
        const Choice choice = choose(timeline, at(0, 2), 2);
        EXPECT_EQ(upTo(choice), "5 4 4 9");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{3}, choice)), same ? "" : "7 kind 4 1 1 1\n");
    }
}

TEST(RaceChoice, OfAStartTheSourceOfThatRequestIsAnother) {
    Job job(3);
    const Serial first = job[0].recvInit(1, 4);    // 3
    const Serial request = job[0].recvInit(kAny, 5); // 5
    job[1].send(0, 4);
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[0].start({first, request}); // 7
    job[0].wait(FunctionId::Waitall, {first, request}, {{first, {1, 4}}, {request, {1, 5}}});
    const Timeline timeline = job.timeline();
    // Position 1 of the list, from rank 2: sources are counted from 1 there.
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choose(timeline, at(0, 3), 2))), "7 kind 4 1 1 3\n");
}

} // namespace
} // namespace stopline::replay::test
