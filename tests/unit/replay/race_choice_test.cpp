// Which events an execution shares with the one whose race it decides otherwise, and what it has to follow.
#include "race_choice_text.h"

#include <string>
#include <vector>

namespace stopline::replay::test {
namespace {

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
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 1\n5 kind 1 3\n6 kind 10 2\n");
}

TEST(RaceChoice, AnOlderReceiveThatWouldNotTakeItIsLeftToMpi) {
    const Timeline timeline = withAnOlderReceive([](auto& rank) { return rank.irecv(kAny, 6); },
                                                 [](auto& rank, Serial a) { rank.wait(a, {1, 6}); });
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choose(timeline, at(0, 2), 3))), "5 kind 1 3\n6 kind 10 2\n");
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
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n8 kind 10 1\n");
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

TEST(RaceChoice, ACallThatFailedOnTheRaceMayNotFailThen) {
    for (const FunctionId function : {FunctionId::Waitall, FunctionId::Testall}) {
        Job job(3);
        const Serial a = job[0].irecv(kAny, 5); // 3
        const Serial b = job[0].irecv(kAny, 6); // 5
        job[0].wait(function, {a, b}, {{a, {1, 5}}}, true, 0, trace::ErrorClass::InStatus); // 7: its message is cut
        job[0].wait(b, {1, 6});
        job[1].send(0, 5);
        job[1].send(0, 6);
        job[2].send(0, 5);
        // A poll is not asked until the other one is complete too: the race's is, before it is asked.
        EXPECT_EQ(plannedFor(job.timeline(), at(0, 1), 1, 2), function == FunctionId::Waitall ? "3 kind 1 2\n7 kind 5 1 0\n" : "3 kind 1 2\n6 kind 10 1\n");
    }
}

TEST(RaceChoice, OfCallsThatMayBeOthersThenNothingIsAsked) {
    for (const bool race : {true, false}) { // is cancelled in vain, the race or one of another rank
        Job job(4);
        const Serial a = job[0].irecv(kAny, 5); // 3
        job[0].recv(kAny, 5, {2, 5});           // 5: not shared
        if (race) {
            job[0].cancel(a); // 7
        }
        job[0].wait(a, {1, 5});
        job[0].send(3, 9);
        const Serial b = job[3].irecv(kAny, 7); // 3
        job[3].recv(0, 9);                      // 5: not shared
        job[3].cancel(b);                       // 7
        job[3].wait(b, {1, 7});
        job[1].send(0, 5);
        job[1].send(3, 7);
        job[2].send(0, 5);
        const Timeline timeline = job.timeline();
        const Choice choice = choose(timeline, at(0, 1), 2);
        EXPECT_EQ(upTo(choice), "5 6 4 5");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n6 kind 10 1\n");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{3}, choice)), "3 kind 1 1\n");
    }
}

/// A race of rank 0 that is complete behind another call, which is not to be as recorded: `first` is that.
template <typename First>
std::string plannedBefore(First&& first) {
    Job job(3);
    const Serial before = job[0].isend(1, 3);   // 3: the first of its requests
    const Serial race = job[0].irecv(kAny, 5);  // 5
    const Serial other = job[0].irecv(kAny, 5); // 7
    first(job[0], other);                       // 9
    job[0].wait(FunctionId::Waitsome, {before, race}, {{before, {}}, {race, {1, 5}}});
    job[1].recv(0, 3);
    job[1].send(0, 5);
    job[1].send(0, 6);
    job[2].send(0, 5);
    return plannedFor(job.timeline(), at(0, 2), 1, 2);
}
TEST(RaceChoice, TheRaceHasItsMessageBeforeTheProgramGoesItsOwnWay) {
    // Else it might cancel it. Behind what has begun: others may need that it has.
    EXPECT_EQ(plannedBefore([](auto& rank, Serial other) { rank.wait(other, {2, 5}); }), "5 kind 1 2\n10 kind 10 2\n");
    EXPECT_EQ(plannedBefore([](auto& rank, Serial other) { rank.wait(FunctionId::Waitany, {other}, {{other, {2, 5}}}); }),
              "5 kind 1 2\n10 kind 10 2\n");
    EXPECT_EQ(plannedBefore([](auto& rank, Serial) { rank.recv(1, 6); }), "5 kind 1 2\n10 kind 10 2\n");
    // Before a poll, which may begin otherwise.
    EXPECT_EQ(plannedBefore([](auto& rank, Serial other) { rank.wait(FunctionId::Test, {other}, {{other, {2, 5}}}); }),
              "5 kind 1 2\n8 kind 10 2\n");
    EXPECT_EQ(plannedBefore([](auto& rank, Serial) { rank.probe(FunctionId::Iprobe, 1, 6, {1, 6}, true, 0); }),
              "5 kind 1 2\n8 kind 10 2\n");
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

TEST(RaceChoice, WhatALargeSendWasFollowedByIsNotShared) {
    for (const FunctionId function : {FunctionId::Send, FunctionId::Bsend}) {
        Job job(3);
        const Serial a = job[0].irecv(kAny, 5);        // 3
        job[0].wait(a, {1, 5});                        // 5-6
        job[1].send(0, 5, 100000, kWorld, function);   // 3-4: may be over only when it has been received; a buffered one not
        job[1].send(2, 6);                             // 5
        job[2].recv(1, 6);                             // 3-4
        job[2].send(0, 5);                             // 5
        const Choice choice = choose(job.timeline(), at(0, 1), 2);
        const bool waits = function == FunctionId::Send;
        EXPECT_EQ(upTo(choice), waits ? "5 3 3" : "5 6 6");
        EXPECT_EQ(choice.upTo[2] < choice.sendBegin, waits); // so it may not come
    }
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
