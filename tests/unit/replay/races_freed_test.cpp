// Receives whose requests are freed while they are active: nothing waits for them, and nothing follows from
// them.
#include "races_text.h"

#include <algorithm>

namespace stopline::replay::test {
namespace {

TEST(RacesFreed, AFreedReceiveHasNoEnd) {
    // It is seen complete before rank 1 tells rank 2 to send: the next time it may not be.
    Job job(3);
    const Serial request = job[1].irecv(kAny, 5);
    job[0].send(1, 5);
    job[1].requestFree(request);
    job[1].tell(request, {0, 5});
    job[1].send(2, 7);
    job[2].recv(1, 7);
    job[2].send(1, 5);
    job[1].irecv(2, 5);
    const Timeline timeline = job.timeline();
    RaceAnalysis races = analyse(timeline);
    ASSERT_EQ(found(races), Texts({"1:1 got 0, also 2:2"}));
    const Race race = races.races()[0];
    EXPECT_EQ(race.done, MaybeCall(at(1, 2)));
    EXPECT_EQ(races.racesOf(at(1, 2)).size(), 1U);
    const Alternative other = races.alternatives(race)[0];
    EXPECT_EQ(other.windowEnd, EventIndex{0});
    EXPECT_EQ(other.knows, EventIndex{7});
    EXPECT_EQ(reasonText(timeline, race, other),
              "rank 2's MPI_Send at event 5 (tag 5, same communicator) need not come after the receive, "
              "which nothing waits for, as "
              "its request was freed while it was active: event 7 is the latest of rank 1 that is certain to "
              "have come before it");
}

TEST(RacesFreed, AYoungerReceiveThatIsWaitedForEndsAFreedOne) {
    // Before it is seen complete, and after that.
    for (const bool late : {false, true}) {
        Job job(3);
        const Serial request = job[1].irecv(kAny, 5);
        job[0].send(1, 5);
        job[0].send(1, 5);
        job[1].requestFree(request);
        if (!late) {
            job[1].tell(request, {0, 5});
        }
        job[1].recv(0, 5);
        if (late) {
            job[1].tell(request, {0, 5});
        }
        job[1].send(2, 7);
        job[2].recv(1, 7);
        job[2].send(1, 5);
        job[1].recv(2, 5);
        EXPECT_EQ(racesOf(job), Texts()) << late;
    }
}

TEST(RacesFreed, AYoungerFreedReceiveEndsNothing) {
    Job job(3);
    const Serial older = job[1].irecv(kAny, 5);
    const Serial younger = job[1].irecv(kAny, 5);
    job[0].send(1, 5);
    job[0].send(1, 5);
    job[1].requestFree(younger);
    job[1].tell(younger, {0, 5});
    job[1].send(2, 7);
    job[2].recv(1, 7);
    job[2].send(1, 5);
    job[1].wait(older, {0, 5});
    job[1].recv(2, 5);
    // Of the freed one it is known that it was decided when the last one got its message.
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:2", "1:2 got 0, also 2:2"}));
}

TEST(RacesFreed, APollThatBeganAsAnotherOneTellsOfItsOwnRequestsWhereItEndsSo) {
    for (const bool test : {false, true}) {
        Job job(3);
        const Serial request = job[1].irecv(kAny, 5);
        job[0].send(1, 5);
        EventDetails begin;
        begin.function = test ? FunctionId::Iprobe : FunctionId::Testsome;
        begin.comm = kWorld;
        begin.recvPeer = kAny;
        begin.recvTag = 8;
        EventDetails end;
        end.function = test ? FunctionId::Testsome : FunctionId::Iprobe;
        end.comm = kWorld;
        end.recvPeer = kAny;
        end.recvTag = 8;
        end.flag = test;
        job[1].both(begin, end, 3);
        job[1].tell(request, {0, 5});
        job[1].send(2, 7);
        job[2].recv(1, 7);
        job[2].send(1, 5);
        job[1].recv(2, 5);
        EXPECT_EQ(racesOf(job), test ? Texts() : Texts({"1:1 got 0, also 2:2"})) << test;
    }
}

TEST(RacesFreed, AnOlderReceiveStillEndsWhereItIsWaitedFor) {
    Job job(3);
    const Serial older = job[1].irecv(kAny, 5);
    const Serial younger = job[1].irecv(kAny, 5);
    job[0].send(1, 5);
    job[0].send(1, 5);
    job[1].requestFree(younger);
    job[1].tell(younger, {0, 5});
    job[1].wait(older, {0, 5});
    job[1].send(2, 7);
    job[2].recv(1, 7);
    job[2].send(1, 5);
    job[1].recv(2, 5);
    EXPECT_EQ(racesOf(job), Texts({"1:2 got 0, also 2:2"}));
}

TEST(RacesFreed, AnEndThatOthersKnowBeforeItIsComeToCounts) {
    // Rank 2 knows by its synchronous send that the receive of rank 1 has matched, and with that the freed
    // one.
    Job job(4);
    const Serial request = job[1].irecv(kAny, 5);
    job[0].send(1, 5);
    job[1].requestFree(request);
    job[1].tell(request, {0, 5});
    job[1].recv(2, 5);
    job[2].send(1, 5, 8, kWorld, FunctionId::Ssend);
    job[2].send(3, 7);
    job[3].recv(2, 7);
    job[3].send(1, 5);
    job[1].recv(3, 5);
    const Texts expected{"1:1 got 0, also 2:1"};
    EXPECT_EQ(racesOf(job), expected);
    const Timeline timeline = job.timeline();
    RaceAnalysis pieces;
    while (!pieces.update(timeline, 1)) {
    }
    EXPECT_EQ(found(pieces), expected);
}

TEST(RacesFreed, NothingFollowsFromAFreedReceive) {
    // Rank 2 sends when the freed receive is seen complete, which got its message after the receive of
    // rank 1.
    for (const bool freed : {false, true}) {
        Job job(4);
        const Serial request = job[2].irecv(1, 7);
        job[0].send(1, 5);
        job[1].recv(kAny, 5, {0, 5});
        job[1].send(2, 7);
        if (freed) {
            job[2].requestFree(request);
            job[2].tell(request, {1, 7});
        } else {
            job[2].wait(request, {1, 7});
        }
        job[2].send(1, 5);
        job[1].recv(2, 5);
        EXPECT_EQ(racesOf(job), freed ? Texts({"1:1 got 0, also 2:3"}) : Texts());
    }
}

TEST(RacesFreed, AProbeThatSawNothingCountsWhereItsEndTellsOfAFreedReceive) {
    Job job(3);
    const Serial request = job[1].irecv(2, 6);
    job[2].send(1, 6);
    job[1].requestFree(request);
    job[1].probe(FunctionId::Iprobe, kAny, 5, {}, false, 1);
    job[1].tell(request, {2, 6});
    job[0].send(1, 5);
    job[1].recv(0, 5);
    EXPECT_EQ(racesOf(job), Texts({"1:3 saw nothing, also 0:1"}));
}

TEST(RacesFreed, WhatWasDecidedWhileItWasOpenIsKeptFromWhatItWouldHaveTaken) {
    // What the freed one got is sent when rank 0 has received with any tag, so it was open then. It is seen
    // complete before its sender's part is known, and after that.
    Job job(4);
    const Serial request = job[0].irecv(kAny, 5);
    job[1].send(0, 6);
    job[0].recv(kAny, kAnyTag, {1, 6});
    job[0].send(2, 7);
    job[2].recv(0, 7);
    job[2].send(0, 5);
    job[0].requestFree(request);
    job[0].tell(request, {2, 5});
    job[3].send(0, 5);
    job[0].recv(3, 5);
    for (RankScript& rank : job.ranks) {
        rank.finalize();
    }
    const Texts expected{"0:1 got 2, also 3:1"};
    for (const bool known : {false, true}) {
        RaceAnalysis grown;
        std::vector<std::size_t> left{job.trace.ranks[0].events.size(), job.trace.ranks[1].events.size(),
                                      job.trace.ranks[2].events.size(), job.trace.ranks[3].events.size()};
        // Rank 2 last, or rank 0 last.
        const std::vector<std::size_t> order =
            known ? std::vector<std::size_t>{1, 2, 3, 0} : std::vector<std::size_t>{0, 1, 3, 2};
        const Timeline timeline = load(
            job.trace,
            [&](std::size_t) {
                std::size_t place = 0;
                for (const std::size_t rank : order) {
                    if (left[rank] != 0) {
                        place = static_cast<std::size_t>(
                            std::count_if(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(rank),
                                          [](std::size_t one) { return one != 0; }));
                        --left[rank];
                        break;
                    }
                }
                return place;
            },
            [&](const Timeline& sofar) { grown.update(sofar); });
        EXPECT_EQ(found(grown), expected);
        EXPECT_EQ(named(grown.guarded()), Texts({"0:2"}));
        EXPECT_EQ(found(analyse(timeline)), expected);
    }
}

} // namespace
} // namespace stopline::replay::test
