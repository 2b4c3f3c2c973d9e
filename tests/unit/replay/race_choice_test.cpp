// Which events an execution shares with the one whose race it decides otherwise, and what it has to follow.
#include "races_text.h"

#include "../../../replay/order_log.h"
#include "../../../replay/race_choice.h"

#include <optional>

namespace stopline::replay::test {
namespace {

/// One line an entry: begin of the call, kind, numbers.
std::string text(const OrderEntries& entries) {
    std::string all;
    for (const auto& [event, entry] : entries) {
        all += std::to_string(event) + " kind " + std::to_string(int(entry.kind));
        for (const std::uint64_t number : entry.numbers) {
            all += ' ' + std::to_string(number);
        }
        all += '\n';
    }
    return all;
}

/// The choice of the message that `sender` sends for the race of this call.
Choice choose(const Timeline& timeline, CallRef race, std::int32_t sender, std::string* why = nullptr) {
    const RaceAnalysis races = analyse(timeline);
    for (const Race& one : races.racesOf(race)) {
        for (const Alternative& alternative : races.alternatives(one)) {
            if (alternative.sender.value() == sender) {
                std::string reason;
                const Choice choice = choiceOf(timeline, one, alternative, reason);
                EXPECT_EQ(reason.empty(), why == nullptr) << reason;
                if (why != nullptr) {
                    *why = reason;
                }
                return choice;
            }
        }
    }
    ADD_FAILURE() << "no such alternative";
    return {};
}

std::string upTo(const Choice& choice) {
    std::string all;
    for (const EventIndex event : choice.upTo) {
        all += (all.empty() ? "" : " ") + std::to_string(event.value());
    }
    return all;
}

TEST(RaceChoice, ABlockingReceiveGetsTheOtherMessageAndTheRestIsLive) {
    Job job(3);
    job[1].send(0, 5);                  // Init is 1-2; 3-4
    job[2].send(0, 5);                  // 3-4
    job[0].recv(kAny, 5, {1, 5});       // 3-4
    job[0].send(1, 7);                  // 5-6: depends on it
    job[1].recv(0, 7);                  // 5-6
    job[0].recv(kAny, 5, {2, 5});       // 7-8
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 1), 2);
    EXPECT_EQ(choice.sender, RankId{2});
    EXPECT_EQ(choice.source, 2U);
    EXPECT_EQ(choice.sendBegin, EventIndex{3});
    EXPECT_EQ(upTo(choice), "3 5 4"); // rank 1 begins to receive what is sent behind the race
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n");
    EXPECT_EQ(text(plannedOrder(timeline, RankId{1}, choice)), "");
}

TEST(RaceChoice, ReceivesPostedBeforeGetWhatTheyGotAndThoseAfterAreLeftToMpi) {
    Job job(4);
    for (const std::int32_t from : {1, 2, 3}) {
        job[std::size_t(from)].send(0, 5);
    }
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    const Serial c = job[0].irecv(kAny, 5); // 7
    job[0].wait(FunctionId::Waitall, {a, b, c}, {{a, {1, 5}}, {b, {2, 5}}, {c, {3, 5}}}); // 9-10
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 2), 3); // b gets rank 3's
    EXPECT_EQ(choice.upTo[0], EventIndex{9});            // inside the Waitall
    // a completes only with the others, but what it gets has been sent by then.
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 1\n5 kind 1 3\n");
}

/// A job whose rank 0 posts a receive, whose message is sent only behind what a choice for the next one shares, as a
/// probe comes before both are complete. `older` posts the first and `complete` sees it complete.
template <typename Older, typename Complete>
Timeline withAnOlderReceive(Older&& older, Complete&& complete) {
    Job job(4);
    const Serial a = older(job[0]);                               // 3
    const Serial b = job[0].irecv(kAny, 5);                       // 5
    job[0].probe(FunctionId::Iprobe, kAny, 9, {2, 9}, true, 0);   // 7
    job[0].recv(2, 9);                                            // 9
    job[0].send(1, 7);                                            // 11
    job[0].wait(b, {2, 5});                                       // 13
    complete(job[0], a);                                          // 15
    job[0].recv(3, 5);
    job[1].recv(0, 7);
    job[1].send(0, 5); // for a
    job[1].send(0, 6); // for a that asks for it
    job[2].send(0, 9);
    job[2].send(0, 5); // for b
    job[3].send(0, 5); // the other message
    return job.timeline();
}

TEST(RaceChoice, AnOlderReceiveThatWouldTakeTheChosenMessageStaysAsItWas) {
    const Timeline timeline = withAnOlderReceive([](auto& rank) { return rank.irecv(kAny, 5); },
                                                 [](auto& rank, Serial a) { rank.wait(a, {1, 5}); });
    const Choice choice = choose(timeline, at(0, 2), 3);
    EXPECT_EQ(upTo(choice), "6 3 6 4"); // rank 1 begins to receive what is sent behind the probe
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 1\n5 kind 1 3\n");
}

TEST(RaceChoice, AnOlderReceiveThatWouldNotTakeItIsLeftToMpi) {
    const Timeline timeline = withAnOlderReceive([](auto& rank) { return rank.irecv(kAny, 6); },
                                                 [](auto& rank, Serial a) { rank.wait(a, {1, 6}); });
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choose(timeline, at(0, 2), 3))), "5 kind 1 3\n");
}

TEST(RaceChoice, WhatAYoungerReceiveGotIsNotHeldToBeAsItWas) {
    Job job(3);
    job[1].send(0, 5);
    job[2].send(0, 5);
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    job[0].wait(b, {2, 5});                 // 7-8: would get another message
    job[0].send(1, 7);                      // 9
    job[0].wait(a, {1, 5});                 // 11
    job[1].recv(0, 7);                      // 5-6: depends on the first wait
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 1), 2);
    EXPECT_EQ(choice.upTo[0], EventIndex{7});
    EXPECT_EQ(choice.upTo[1], EventIndex{5}); // its receive begins
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n");
}

TEST(RaceChoice, AFreedReceiveIsNotDecidedWhereItWasSeenComplete) {
    for (const bool last : {false, true}) {
        Job job(3);
        const Serial request = job[0].irecv(kAny, 5); // 3
        job[1].send(0, 5);
        job[0].requestFree(request); // 5-6
        job[0].tell(request, {1, 5});
        job[0].send(2, 7); // 7
        job[2].recv(0, 7);
        job[2].send(0, 5); // 5: the other message
        if (last) {
            job[0].irecv(2, 5); // 9
        } else {
            job[0].recv(2, 5); // 9: would not get it
        }
        const Timeline timeline = job.timeline();
        const Choice choice = choose(timeline, at(0, 1), 2);
        EXPECT_EQ(choice.sendBegin, EventIndex{5});
        EXPECT_EQ(upTo(choice), "9 4 6");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n");
    }
}

TEST(RaceChoice, AFreedReceiveIsNotSharedFromWhereTheProgramMayKnowWhatItGot) {
    Job job(3);
    const Serial request = job[0].irecv(kAny, 5); // 3
    job[1].send(0, 5);
    job[0].requestFree(request); // 5-6
    job[0].tell(request, {1, 5});
    job[0].collective(FunctionId::Barrier); // 7-8: all has been sent
    job[0].send(1, 9);                      // 9
    job[2].send(0, 5);
    job[1].collective(FunctionId::Barrier);
    job[2].collective(FunctionId::Barrier);
    job[1].recv(0, 9);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(upTo(choose(timeline, at(0, 1), 2)), "7 7 6");
}

TEST(RaceChoice, AYoungerFreedReceiveIsNotSharedFromWhereTheProgramMayKnowWhatItGot) {
    Job job(3);
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    job[0].requestFree(b);                  // 7-8
    job[0].tell(b, {2, 5});
    job[0].collective(FunctionId::Barrier); // 9-10
    job[0].wait(a, {1, 5});                 // 11
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[1].collective(FunctionId::Barrier);
    job[2].collective(FunctionId::Barrier);
    EXPECT_EQ(upTo(choose(job.timeline(), at(0, 1), 2)), "9 6 6");
}

TEST(RaceChoice, AFreedReceiveThatNoCallSawCompleteGetsTheChosenMessage) {
    Job job(3);
    const Serial request = job[0].irecv(kAny, 5); // 3
    job[1].send(0, 5);
    job[0].requestFree(request); // 5-6
    job[2].send(0, 5);
    job[0].recv(2, 5); // 7-8: so the first is rank 1's
    const Timeline timeline = job.timeline();
    Race race;
    race.call = at(0, 1);
    Choice choice;
    choice.race = race;
    choice.source = 2;
    choice.tag = 5;
    choice.upTo = {EventIndex{8}, EventIndex{4}, EventIndex{4}};
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n");
}

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
             {1, "9 kind 4 1 0 4\n"}}) { // a gets it: what b had may be what a gets
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

/// Entries of rank 0 when the receive that got `got`'s message of this call gets `other`'s.
std::string plannedFor(const Timeline& timeline, CallRef call, std::int32_t got, std::int32_t other, std::string* shared = nullptr) {
    const RaceAnalysis races = analyse(timeline);
    for (const Race& race : races.racesOf(call)) {
        for (const Alternative& one : races.alternatives(race)) {
            if (race.sender == RankId{got} && one.sender == RankId{other}) {
                std::string why;
                const Choice choice = choiceOf(timeline, race, one, why);
                EXPECT_EQ(why, "");
                if (shared != nullptr) {
                    *shared = upTo(choice);
                }
                return text(plannedOrder(timeline, RankId{0}, choice));
            }
        }
    }
    return "none";
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
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 3), 1, 2, &shared), "7 kind 4 1 0 3\n");
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

TEST(RaceChoice, AReceiveThatWouldTakeWhatAYoungerOneIsToGetAgainStaysAsItWas) {
    for (const std::int32_t tag : {9, 8}) {
        Job job(4);
        const Serial z = job[3].irecv(kAny, kAnyTag); // 3: has the message that is sent behind the race
        const Serial y = job[3].irecv(1, tag);        // 5
        job[3].wait(y, {1, tag});                     // 7-8
        job[3].probe(FunctionId::Probe, 1, 9, {1, 9});
        job[3].wait(z, {0, 9}); // 11
        job[1].send(0, 5);
        job[1].send(3, tag);
        job[1].send(3, 9);
        job[2].send(0, 5);
        job[0].recv(kAny, 5, {1, 5}); // 3
        job[0].send(3, 9);            // 5
        const Timeline timeline = job.timeline();
        const Choice choice = choose(timeline, at(0, 1), 2);
        EXPECT_EQ(upTo(choice), "3 8 4 11");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{3}, choice)), "3 kind 1 0\n");
    }
    for (const bool first : {true, false}) { // the message of the younger one is shared, its end is not
        Job job(4);
        const Serial z = job[3].irecv(kAny, 9); // 3
        const Serial y = job[3].irecv(kAny, 9); // 5
        if (first) {
            job[3].recv(0, 7);
            job[3].wait(z, {0, 9});
            job[3].wait(y, {1, 9});
        } else {
            job[3].recv(0, 7);
            job[3].wait(y, {1, 9});
            job[3].wait(z, {0, 9});
        }
        job[1].send(0, 5);
        job[1].send(3, 9);
        job[2].send(0, 5);
        job[0].recv(kAny, 5, {1, 5}); // 3
        job[0].send(3, 9);
        job[0].send(3, 7);
        const Timeline timeline = job.timeline();
        EXPECT_EQ(text(plannedOrder(timeline, RankId{3}, choose(timeline, at(0, 1), 2))), "3 kind 1 0\n5 kind 1 1\n") << first;
    }
    // Not where it would not take it.
    Job job(4);
    const Serial z = job[3].irecv(kAny, 8); // 3
    const Serial y = job[3].irecv(1, 9);    // 5
    job[3].wait(y, {1, 9});                 // 7-8
    job[3].wait(z, {0, 8});                 // 9
    job[1].send(0, 5);
    job[1].send(3, 9);
    job[2].send(0, 5);
    job[0].recv(kAny, 5, {1, 5}); // 3
    job[0].send(3, 8);            // 5
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(plannedOrder(timeline, RankId{3}, choose(timeline, at(0, 1), 2))), "");
}

TEST(RaceChoice, AYoungerFreedReceiveThatChanceToldOfIsLeftToMpi) {
    Job job(3);
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    job[0].requestFree(b);                  // 7-8
    job[0].tell(b, {2, 5});
    job[0].wait(a, {1, 5}); // 9
    job[1].send(0, 5);
    job[2].send(0, 5);
    std::string shared;
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 1), 1, 2, &shared), "3 kind 1 2\n");
    EXPECT_EQ(shared, "9 4 4");
}

TEST(RaceChoice, APollThatDecidesIsNotPartOfWhatIsShared) {
    Job job(3);
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[0].probe(FunctionId::Iprobe, kAny, 5, {1, 5}, true, 4); // 3-4
    job[0].recv(1, 5);                                          // 5-6
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 1), 2);
    EXPECT_EQ(choice.upTo[0], EventIndex{2});
    // As often as it failed, then the other one.
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 6 4 2 2\n");
}

TEST(RaceChoice, AProbeThatSawNothingSeesAMessageAtOnce) {
    Job job(2);
    job[0].probe(FunctionId::Iprobe, kAny, 5, {}, false, 6); // 3-4
    job[0].recv(1, 5);                                       // 5
    job[1].send(0, 5);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choose(timeline, at(0, 1), 1))), "3 kind 6 0 2 1\n");
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

TEST(RaceChoice, ACancelledReceiveIsNotCancelledThen) {
    Job job(2);
    const Serial request = job[1].irecv(kAny, 5); // 3
    job[1].cancel(request);                       // 5
    job[1].waitCancelled(request);                // 7
    job[0].send(1, 5);
    job[1].recv(0, 5); // 9
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(1, 1), 0);
    EXPECT_EQ(choice.upTo[1], EventIndex{7});
    EXPECT_EQ(text(plannedOrder(timeline, RankId{1}, choice)), "3 kind 1 0\n5 kind 3\n");
}

TEST(RaceChoice, TheCallThatFindsTheRaceCompleteFindsItAgain) {
    for (const FunctionId function : {FunctionId::Waitany, FunctionId::Waitsome, FunctionId::Testsome, FunctionId::Waitall}) {
        Job job(3);
        const Serial a = job[0].irecv(kAny, 5); // 3
        const Serial b = job[0].irecv(kAny, 5); // 5
        const bool both = function == FunctionId::Waitsome || function == FunctionId::Waitall;
        if (both) {
            job[0].wait(function, {b, a}, {{b, {2, 5}}, {a, {1, 5}}}); // 7
        } else {
            job[0].wait(function, {b, a}, {{a, {1, 5}}}); // 7
            job[0].wait(b, {2, 5});
        }
        job[1].send(0, 5);
        job[2].send(0, 5);
        const std::string expected = function == FunctionId::Waitall    ? ""
                                     : function == FunctionId::Testsome ? "7 kind 6 0 3 1 1\n"
                                                                        : "7 kind 5 1 1\n";
        EXPECT_EQ(plannedFor(job.timeline(), at(0, 1), 1, 2), "3 kind 1 2\n" + expected) << int(function);
    }
}

TEST(RaceChoice, WhatALaterCallTellsOfTheRaceIsNotHeldToBeAsItWas) {
    Job job(3);
    const Serial a = job[0].recvInit(kAny, 5);                                   // 3
    job[0].start({a});                                                          // 5
    job[0].wait(FunctionId::Request_get_status, {a}, {{a, {1, 5}}});            // 7: the request is still there
    job[0].wait(a, {1, 5});                                                     // 9
    job[1].send(0, 5);
    job[2].send(0, 5);
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 2), 1, 2), "5 kind 4 1 0 3\n7 kind 6 0 4\n"); // and complete there again
}

TEST(RaceChoice, TheSenderOfWhatWasGotMayWaitAndThenNothingBehindItIsShared) {
    Job job(3);
    job[1].send(0, 5, 8, kWorld, FunctionId::Ssend); // 3-4: over when it has been received
    job[1].send(2, 6);                               // 5
    job[2].send(0, 5);
    job[2].recv(1, 6); // 5-6
    job[0].recv(kAny, 5, {1, 5});
    job[0].recv(kAny, 5, {2, 5});
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 1), 2);
    EXPECT_EQ(choice.upTo[1], EventIndex{3}); // in a send that may not end where it did
    EXPECT_EQ(choice.upTo[2], EventIndex{5});
}

TEST(RaceChoice, WhatASynchronousSenderDidBehindItsSendIsNotShared) {
    Job job(3);
    const Serial a = job[0].irecv(kAny, 5);          // 3
    job[0].wait(a, {1, 5});                          // 5-6
    job[1].send(0, 5, 8, kWorld, FunctionId::Ssend); // 3-4: over when it has been received
    job[1].send(2, 6);                               // 5
    job[2].recv(1, 6);                               // 3-4
    job[2].send(0, 5);                               // 5
    const Choice choice = choose(job.timeline(), at(0, 1), 2);
    EXPECT_EQ(upTo(choice), "5 3 3");
    EXPECT_LT(choice.upTo[2], choice.sendBegin); // so it may not come
}

TEST(RaceChoice, AMessageThatIsSentOnlyBehindTheReceiveIsKnownToBe) {
    Job job(3);
    CommInfo copy = worldComm(3);
    copy.id = 77;
    copy.kind = trace::CommKind::Dup;
    job[1].send(0, 5);
    job[0].recv(kAny, 5, {1, 5});
    for (std::size_t rank = 0; rank < 3; ++rank) {
        job[rank].construct(FunctionId::Comm_dup, copy); // carries no data, but MPI waits there
    }
    job[2].send(0, 5); // 5
    job[0].recv(kAny, 5, {2, 5});
    const Timeline timeline = job.timeline();
    const Choice choice = choose(timeline, at(0, 1), 2);
    EXPECT_EQ(choice.sendBegin, EventIndex{5});
    EXPECT_LT(choice.upTo[2], choice.sendBegin);
}

TEST(RaceChoice, RecordedOutcomesGoBeforePlannedOnes) {
    Job job(3);
    job[0].recv(kAny, 5, {1, 5});           // 3
    const Serial a = job[0].irecv(kAny, 5); // 5: not complete
    EXPECT_NE(a, 0U);
    const Timeline timeline = job.timeline();
    OrderEntries planned;
    planned[3] = {trace::OrderKind::Source, {2}};
    planned[5] = {trace::OrderKind::Source, {2}};
    planned[7] = {trace::OrderKind::Source, {1}};
    const OrderLog log = orderLogOf(timeline, RankId{0}, 0, planned);
    EXPECT_EQ(log.entries, 3U);
    trace::OrderReader reader(log.bytes.data(), log.bytes.size());
    std::vector<std::uint64_t> got;
    while (reader.kind() != trace::OrderKind::None) {
        trace::OrderReader numbers = reader;
        got.push_back(reader.event());
        got.push_back(numbers.number());
        reader.skip();
    }
    EXPECT_EQ(got, (std::vector<std::uint64_t>{3, 1, 5, 2, 7, 1}));
}

TEST(RaceChoice, WithoutTheBeginningOfAHistoryNoneCanBeMade) {
    Job job(3);
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[0].recv(kAny, 5, {1, 5});
    job[0].recv(kAny, 5, {2, 5});
    const Timeline timeline = job.timeline();
    const RaceAnalysis races = analyse(timeline);
    const Race race = races.races().front();
    Alternative foreign = races.alternatives(race).front();
    foreign.source = -1;
    std::string why;
    EXPECT_TRUE(choiceOf(timeline, race, foreign, why).upTo.empty());
    EXPECT_EQ(why, "it is not known which rank of the communicator rank 2 is");
}

} // namespace
} // namespace stopline::replay::test
