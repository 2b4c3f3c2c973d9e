// Races of receives and probes by the rules of MPI, on small programs.
#include "races_text.h"

namespace stopline::replay::test {
namespace {

TEST(Races, AMessageMayOvertakeOneWhoseSendItKnows) {
    Job job(3);
    job[0].send(1);
    job[0].send(2, 7);
    job[2].recv(0, 7);
    job[2].send(1); // knows of the first send, not of its receive
    job[1].recv(kAny, 0, {0});
    job[1].recv(kAny, 0, {2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:2"}));
}

/// Irecv, Barrier, Wait of Vo et al.: the window is open until the Wait.
TEST(Races, TheWindowOfANonBlockingReceiveEndsAtItsCompletion) {
    Job job(3);
    const Serial request = job[1].irecv(kAny);
    job[0].send(1);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        job[rank].collective(FunctionId::Barrier);
    }
    job[2].send(1);
    job[1].wait(request, {0, 0});
    job[1].recv(2);
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:2"}));
    Job closed(3);
    closed[0].send(1);
    closed[1].recv(kAny, 0, {0});
    for (std::size_t rank = 0; rank < 3; ++rank) {
        closed[rank].collective(FunctionId::Barrier);
    }
    closed[2].send(1);
    closed[1].recv(2);
    EXPECT_EQ(racesOf(closed), Texts());
}

TEST(Races, CollectivesOrderByTheDataTheyCarryAlone) {
    const auto raced = [](FunctionId function, std::int32_t root, std::uint64_t bytes) {
        Job job(3);
        job[0].send(1);
        job[1].recv(kAny, 0, {0});
        for (std::size_t rank = 0; rank < 3; ++rank) {
            trace::EventDetails d;
            d.function = function;
            d.comm = kWorld;
            d.root = root;
            d.sendBytes = bytes;
            d.recvBytes = bytes;
            job[rank].both(d);
        }
        job[2].send(1);
        job[1].recv(kAny, 0, {2});
        return racesOf(job).size() == 1;
    };
    EXPECT_FALSE(raced(FunctionId::Barrier, kNoPeer, 0));
    EXPECT_FALSE(raced(FunctionId::Allreduce, kNoPeer, 8));
    EXPECT_TRUE(raced(FunctionId::Allreduce, kNoPeer, 0));
    EXPECT_FALSE(raced(FunctionId::Bcast, 1, 8)); // the receiver gives to the sender
    EXPECT_TRUE(raced(FunctionId::Bcast, 1, 0));
    EXPECT_TRUE(raced(FunctionId::Bcast, 0, 8));
    EXPECT_FALSE(raced(FunctionId::Reduce, 2, 8));
    EXPECT_TRUE(raced(FunctionId::Reduce, 0, 8));
    EXPECT_FALSE(raced(FunctionId::Gather, 2, 8));
    EXPECT_FALSE(raced(FunctionId::Scatter, 1, 8));
    EXPECT_FALSE(raced(FunctionId::Scan, kNoPeer, 8));     // from 1 to 2
    EXPECT_TRUE(raced(FunctionId::Alltoallv, kNoPeer, 8)); // who gives to whom is not recorded
    EXPECT_TRUE(raced(FunctionId::Comm_dup, kNoPeer, 0));
    EXPECT_FALSE(raced(FunctionId::Comm_split, kNoPeer, 0));
    EXPECT_FALSE(raced(FunctionId::Win_fence, kNoPeer, 0));
}

TEST(Races, AScanOrdersLowerMembersBeforeHigherOnesOnly) {
    Job job(3);
    job[0].send(2);
    job[2].recv(kAny, 0, {0});
    for (std::size_t rank = 0; rank < 3; ++rank) {
        job[rank].collective(FunctionId::Scan);
    }
    job[1].send(2);
    job[2].recv(kAny, 0, {1});
    EXPECT_EQ(racesOf(job), Texts({"2:1 got 0, also 1:2"}));
}

TEST(Races, ASynchronousSendTellsThatItsMessageHasMatched) {
    for (const FunctionId function : {FunctionId::Send, FunctionId::Ssend}) {
        Job job(3);
        job[0].send(1, 0, 8, kWorld, function);
        job[0].send(2, 7);
        job[2].recv(0, 7);
        job[2].send(1);
        job[1].recv(kAny, 0, {0});
        job[1].recv(kAny, 0, {2});
        EXPECT_EQ(racesOf(job).size(), function == FunctionId::Send ? 1U : 0U);
    }
    // Of a non-blocking one, too, although it is seen complete only when the other message is there; where an older message of the
    // other sender does not know it, that one could have been got.
    for (const bool older : {false, true}) {
        for (const FunctionId function : {FunctionId::Isend, FunctionId::Issend}) {
            Job job(3);
            if (older) {
                job[2].send(1);
            }
            const Serial sent = job[0].isend(1, 0, 8, kWorld, function);
            job[0].wait(sent, {});
            job[0].send(2, 7);
            job[2].recv(0, 7);
            job[2].send(1);
            const Serial request = job[1].irecv(kAny, 0);
            job[1].recv(2, 0);
            job[1].wait(request, {0});
            const bool known = function == FunctionId::Issend && !older;
            EXPECT_EQ(racesOf(job).size(), known ? 0U : 1U) << older;
        }
    }
}

TEST(Races, AReceiveThatIsKnownToHaveMatchedMeanwhileKeepsNothingFromTheOnesBefore) {
    // The first of rank 1 got what was sent when its second one had matched, as a synchronous send told: the second one got its
    // message while the first was open, which would have taken rank 2's.
    for (const FunctionId function : {FunctionId::Send, FunctionId::Ssend}) {
        Job job(3);
        const Serial first = job[1].irecv(kAny, 5);
        const Serial second = job[1].irecv(kAny, kAnyTag);
        job[0].send(1, 6, 8, kWorld, function);
        job[0].send(1, 5);
        job[2].send(1, 5);
        job[1].wait(first, {0, 5});
        job[1].wait(second, {0, 6});
        job[1].recv(2, 5);
        EXPECT_EQ(racesOf(job), function == FunctionId::Send ? Texts({"1:1 got 0, also 2:1", "1:2 got 0, also 2:1"})
                                                             : Texts({"1:1 got 0, also 2:1"}));
    }
}

TEST(Races, TagsAndCommunicatorsMustFit) {
    const CommIndex second{2};
    Job job(4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        trace::CommInfo info = worldComm(4);
        info.id = 77;
        info.kind = trace::CommKind::Dup;
        job[rank].construct(FunctionId::Comm_dup, info);
    }
    job[0].send(1, 1);
    job[2].send(1, 2);
    job[3].send(1, 1, 8, second);
    job[1].recv(kAny, 1, {0});
    job[1].recv(kAny, 2, {2});
    job[1].recv(kAny, 1, {3}, second);
    EXPECT_EQ(racesOf(job), Texts());
}

TEST(Races, OfAnyTagTheFirstMessageOfASenderCounts) {
    Job job(3);
    job[0].send(1, 1);
    job[2].send(1, 5);
    job[2].send(1, 6);
    job[1].recv(kAny, kAnyTag, {0, 1});
    job[1].recv(2, 6);
    job[1].recv(2, 5);
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1"}));
}

TEST(Races, WithoutReceivesOfAnySourceThereAreNone) {
    Job job(3);
    for (int i = 0; i < 3; ++i) {
        job[0].send(1);
        job[2].send(1, 4);
        job[1].recv(0);
        job[1].recv(2, kAnyTag, {2, 4});
        job[1].probe(FunctionId::Iprobe, 0, 0, {}, false, 3);
    }
    const Timeline timeline = job.timeline();
    const RaceAnalysis races = analyse(timeline);
    EXPECT_EQ(found(races), Texts());
    EXPECT_EQ(races.windows(), 0U);
    EXPECT_EQ(races.minimalTrace().traced.size(), 0U);
    EXPECT_EQ(races.minimalTrace().messages, 6U);
}

TEST(Races, AProbeOfAnySourceRacesThoughTheReceiveNamesTheSource) {
    Job job(3);
    job[0].send(1, 3);
    job[2].send(1, 3);
    job[1].probe(FunctionId::Probe, kAny, 3, {0, 3});
    job[1].recv(0, 3);
    job[1].probe(FunctionId::Iprobe, kAny, 3, {2, 3}, true, 4);
    job[1].recv(2, 3);
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    EXPECT_EQ(found(races), Texts({"1:1 saw 0, also 2:1"}));
    EXPECT_EQ(races.minimalTrace().lowerBound, 0U);
    EXPECT_EQ(named(races.minimalTrace().critical), Texts({"1:1"}));
}

TEST(Races, AFailedProbeOfAnySourceCountsWhereAMessageCouldHaveBeenThere) {
    Job job(3);
    job[1].probe(FunctionId::Iprobe, kAny, 3, {}, false, 4);
    job[1].send(2, 1);
    job[0].send(1, 3);
    job[2].recv(1, 1);
    job[2].send(1, 3); // only after the probe
    job[1].recv(0, 3);
    job[1].recv(2, 3);
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    EXPECT_EQ(found(races), Texts({"1:1 saw nothing, also 0:1"}));
    EXPECT_EQ(races.races()[0].pollFailures, 4U);
}

TEST(Races, AMatchedProbeRacesAndItsReceiveDoesNot) {
    Job job(3);
    job[0].send(1, 3);
    job[2].send(1, 3);
    job[1].probe(FunctionId::Mprobe, kAny, 3, {0, 3});
    job[1].mrecv({0, 3});
    job[1].recv(2, 3);
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1"}));
}

TEST(Races, APersistentReceiveRacesAtEachOfItsStarts) {
    Job job(3);
    const Serial request = job[1].recvInit(kAny, 5);
    for (const std::int32_t from : {0, 2, 0}) {
        job[static_cast<std::size_t>(from)].send(1, 5);
        job[1].start({request});
        job[1].wait(request, {from, 5});
    }
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    EXPECT_EQ(found(races), Texts({"1:2 got 0, also 2:1", "1:4 got 2, also 0:2"}));
    EXPECT_EQ(races.racesOf(at(1, 2)).size(), 1U); // its Start
    EXPECT_EQ(races.racesOf(at(1, 3)).size(), 1U); // its Wait
    EXPECT_EQ(races.racesOf(at(1, 6)).size(), 0U);
    EXPECT_EQ(races.racesOf(at(0, 1)).size(), 0U);
    EXPECT_EQ(races.racesOf(at(7, 1)).size(), 0U);
    EXPECT_EQ(races.racesOf(at(1, 70)).size(), 0U);
}

TEST(Races, ACancelledReceiveCouldHaveGotAMessage) {
    Job job(2);
    const Serial request = job[1].irecv(kAny, 5);
    job[1].cancel(request);
    job[1].waitCancelled(request);
    job[0].send(1, 5);
    job[1].recv(0, 5);
    EXPECT_EQ(racesOf(job), Texts({"1:1 was cancelled, also 0:1"}));
}

TEST(Races, BetweenGroupsTheSendersOfTheOtherGroupRace) {
    const CommIndex inter{2};
    Job job(4); // 0, 1 on one side; 2, 3 on the other
    for (std::int32_t rank = 0; rank < 4; ++rank) {
        trace::CommInfo info;
        info.id = 99;
        info.kind = trace::CommKind::InterCreate;
        info.members = rank < 2 ? std::vector<std::int32_t>{0, 1} : std::vector<std::int32_t>{2, 3};
        info.remote = rank < 2 ? std::vector<std::int32_t>{2, 3} : std::vector<std::int32_t>{0, 1};
        job[static_cast<std::size_t>(rank)].construct(FunctionId::Intercomm_create, info);
    }
    job[2].send(1, 4, 8, inter); // rank 1 of the other group
    job[3].send(1, 4, 8, inter);
    job[1].recv(kAny, 4, {0, 4}, inter); // from its rank 0: rank 2 of the world
    job[1].recv(kAny, 4, {1, 4}, inter);
    EXPECT_EQ(racesOf(job), Texts({"1:2 got 2, also 3:2"}));
}

TEST(Races, AnOlderReceiveThatWaitsForAReplyKeepsAMessageFromAYoungerOne) {
    for (const std::int32_t tag : {5, kAnyTag}) {
        Job job(3);
        const Serial request = job[1].irecv(2, tag); // takes all that rank 2 sends, or what has tag 5
        job[0].send(1, 5);
        job[1].recv(kAny, 5, {0, 5});
        job[1].send(2, 9); // rank 2 answers only now
        job[2].recv(1, 9);
        job[2].send(1, 5);
        job[2].send(1, 5);
        job[1].wait(request, {2, 5});
        job[1].recv(kAny, 5, {2, 5});
        EXPECT_EQ(racesOf(job), Texts());
    }
    // The same with a message that the older receive could not have: it waits for another tag.
    Job job(4);
    const Serial request = job[1].irecv(2, 6);
    job[0].send(1, 5);
    job[1].recv(kAny, 5, {0, 5});
    job[1].send(2, 9);
    job[2].send(1, 5);
    job[2].recv(1, 9);
    job[2].send(1, 6);
    job[1].wait(request, {2, 6});
    job[1].recv(kAny, 5, {2, 5});
    EXPECT_EQ(racesOf(job), Texts({"1:2 got 0, also 2:1"}));
    // A receive of any source that is open and got its own only afterwards would have taken it.
    Job taken(4);
    const Serial open = taken[1].irecv(2, kAnyTag);
    taken[0].send(1, 5);
    taken[1].recv(kAny, 5, {0, 5});
    taken[1].send(3, 9);
    taken[3].recv(1, 9);
    taken[3].send(2, 9);
    taken[2].recv(3, 9);
    taken[2].send(1, 6);
    taken[1].wait(open, {2, 6});
    EXPECT_EQ(racesOf(taken), Texts());
}

TEST(Races, ThreadsOfOneSenderRace) {
    Job job(2);
    for (const std::uint16_t thread : {0, 1}) {
        trace::EventDetails begin;
        begin.function = FunctionId::Send;
        begin.comm = kWorld;
        begin.sendPeer = 1;
        begin.sendTag = 2;
        begin.sendBytes = 8;
        begin.thread = thread;
        trace::EventDetails end;
        end.function = FunctionId::Send;
        end.thread = thread;
        job[0].both(begin, end);
        job[1].recv(kAny, 2, {0, 2});
    }
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 0:2"}));
}

TEST(Races, AYoungerReceiveThatGotWhatAnOlderOneCouldHaveGotTellsThatTheOlderOneWasDecided) {
    Job job(4);
    job[1].send(3, 0);
    const Serial request = job[3].irecv(kAny, kAnyTag);
    job[0].send(3, 1);
    job[3].recv(0, 1); // the older one would have got this had it still been open
    job[3].send(2, 0);
    job[2].recv(3, 0);
    job[2].send(3, 1);
    const Serial younger = job[3].irecv(kAny, 1);
    job[3].wait(request, {1, 0});
    job[3].wait(younger, {2, 1});
    EXPECT_EQ(racesOf(job), Texts({"3:1 got 1, also 0:1"}));
}

TEST(Races, TheReasonNamesTheSendAndTheLatestEventThatItKnows) {
    Job job(3);
    job[1].send(2, 7);
    job[2].recv(1, 7);
    job[0].send(1);
    job[2].send(1);
    job[1].recv(kAny, 0, {0});
    job[1].recv(kAny, kAnyTag, {2, 0});
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    ASSERT_EQ(found(races), Texts({"1:2 got 0, also 2:2"}));
    const Race race = races.races()[0];
    const Alternative other = races.alternatives(race)[0];
    EXPECT_EQ(race.done, race.call);
    EXPECT_EQ(other.windowEnd, EventIndex{6});
    EXPECT_EQ(other.knows, EventIndex{3});
    EXPECT_EQ(other.receive, MaybeCall(at(1, 3)));
    EXPECT_EQ(reasonText(timeline, race, other),
              "rank 2's MPI_Send at event 5 (tag 0, same communicator) need not come after the receive, "
              "which is decided by "
              "event 6: event 3 is the latest of rank 1 that is certain to have come before it");
}

TEST(Races, WhatIsNotRecordedAtTheOtherSideYetIsWaitedFor) {
    Job job(3);
    receiveInOrder(job, 1, {0, 2});
    job.trace.ranks[0].events.resize(2); // rank 0 has not told of its send yet
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    EXPECT_EQ(races.analysed(RankId{1}), EventIndex{3});
    EXPECT_EQ(races.analysed(RankId{2}), EventIndex{4});
    EXPECT_EQ(races.analysed(RankId{9}), EventIndex{0});
    EXPECT_EQ(races.count(), 0U);
    Timeline lost = job.timeline();
    lost.setBrokenOff(RankId{0}, true); // and never will
    EXPECT_EQ(found(analyse(lost)), Texts({"1:1 got 0, also 2:1"}));
}

TEST(Races, NothingIsFoundInAnEmptyAnalysis) {
    const RaceAnalysis races;
    EXPECT_EQ(races.count(), 0U);
    EXPECT_EQ(races.races().size(), 0U);
    EXPECT_EQ(races.alternatives({}).size(), 0U);
    EXPECT_EQ(races.racesOf(at(0, 0)).size(), 0U);
    EXPECT_EQ(races.minimalTrace().messages, 0U);
}

} // namespace
} // namespace stopline::replay::test
