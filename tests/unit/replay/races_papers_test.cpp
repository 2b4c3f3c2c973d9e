// The figures of Netzer & Miller 1992 and Meehan 1994.
#include "races_text.h"

namespace stopline::replay::test {
namespace {

TEST(NetzerMiller, Figure1TheSecondOfTwoMessagesIsTraced) {
    Job job(3);
    receiveInOrder(job, 1, {0, 2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1"}));
    const Timeline timeline = job.timeline();
    const MinimalTrace trace = analyse(timeline).minimalTrace();
    EXPECT_EQ(named(trace.traced), Texts({"2:1"}));
    EXPECT_EQ(trace.messages, 2U);
    EXPECT_EQ(trace.lowerBound, 1U);
    EXPECT_DOUBLE_EQ(trace.share(), 0.5);
}

TEST(NetzerMiller, Figure3ARaceOnlyWhereTheReceiveDoesNotHappenBeforeTheSend) {
    Job race(3);
    race[0].send(1);
    race[1].recv(kAny, 0, {0});
    race[1].recv(kAny, 0, {2});
    race[1].send(2, 7);
    race[2].send(1);
    race[2].recv(1, 7);
    EXPECT_EQ(racesOf(race), Texts({"1:1 got 0, also 2:1"}));
    Job none(3);
    none[0].send(1);
    none[1].recv(kAny, 0, {0});
    none[1].send(2, 7);
    none[2].recv(1, 7);
    none[2].send(1);
    none[1].recv(kAny, 0, {2});
    EXPECT_EQ(racesOf(none), Texts());
}

TEST(NetzerMiller, Figure4AControlMessageAfterTheReceiveTakesTheRaceAway) {
    for (const bool control : {false, true}) {
        Job job(4);
        job[0].send(1);
        job[1].recv(kAny, 0, {0});
        if (control) {
            job[1].send(3, 9);
            job[3].recv(1, 9);
            job[3].send(2, 9); // a chain of messages is as good
            job[2].recv(3, 9);
        }
        job[2].send(1);
        job[1].recv(kAny, 0, {2});
        EXPECT_EQ(racesOf(job).size(), control ? 0U : 1U);
    }
}

TEST(NetzerMiller, Figure5aOfTransitiveRacesAllButTheFirstMessageAreTraced) {
    Job job(4);
    receiveInOrder(job, 1, {0, 2, 3});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1 3:1", "1:2 got 2, also 3:1"}));
    const Timeline timeline = job.timeline();
    const MinimalTrace trace = analyse(timeline).minimalTrace();
    EXPECT_EQ(named(trace.traced), Texts({"2:1", "3:1"}));
    EXPECT_EQ(trace.lowerBound, 1U);
}

/// The first receive takes the first two messages, the second the last two, the third only the last.
TEST(NetzerMiller, Figure5bWhereRacesAreNotTransitiveTwoAreTracedAndOneWouldDo) {
    Job job(4);
    job[0].send(1, 1);
    job[2].send(1, 1);
    job[3].send(1, 2);
    job[1].recv(kAny, 1, {0});
    job[1].recv(kAny, kAnyTag, {2, 1});
    job[1].recv(kAny, 2, {3});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1", "1:2 got 2, also 3:1"}));
    const Timeline timeline = job.timeline();
    const MinimalTrace trace = analyse(timeline).minimalTrace();
    EXPECT_EQ(named(trace.traced), Texts({"2:1", "3:1"}));
    EXPECT_EQ(trace.lowerBound, 1U);
}

TEST(Meehan, Figure1ThreeMessagesRaceForThreeReceives) {
    Job job(4);
    receiveInOrder(job, 1, {0, 3, 2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1 3:1", "1:2 got 3, also 2:1"}));
    const Timeline timeline = job.timeline();
    EXPECT_EQ(named(analyse(timeline).minimalTrace().critical), Texts({"1:1", "1:2"}));
}

TEST(Meehan, Figure2ABlockRace) {
    Job job(3);
    receiveInOrder(job, 1, {0, 0, 2, 0, 2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1", "1:2 got 0, also 2:1", "1:3 got 2, also 0:3",
                                   "1:4 got 0, also 2:2"}));
    const Timeline timeline = job.timeline();
    const MinimalTrace trace = analyse(timeline).minimalTrace();
    EXPECT_EQ(named(trace.critical), Texts({"1:1", "1:2", "1:3", "1:4"}));
    EXPECT_EQ(named(trace.traced), Texts({"0:3", "2:1", "2:2"}));
    EXPECT_EQ(trace.lowerBound, 2U);
}

TEST(Meehan, Figure3AtMostAllButOneReceiveIsCritical) {
    Job job(4);
    receiveInOrder(job, 1, {0, 2, 3, 0, 2, 3, 0});
    const Timeline timeline = job.timeline();
    EXPECT_EQ(analyse(timeline).minimalTrace().critical.size(), 6U);
}

TEST(Meehan, Figure4AtLeastOneReceiveLessThanThereAreSendersIsCritical) {
    Job job(4);
    receiveInOrder(job, 1, {0, 2, 3, 3, 3});
    const Timeline timeline = job.timeline();
    EXPECT_EQ(named(analyse(timeline).minimalTrace().critical), Texts({"1:1", "1:2"}));
}

TEST(Meehan, Figure5AMessageThatKnowsOfTheReceivesDoesNotRaceWithThem) {
    Job job(3);
    receiveInOrder(job, 1, {2, 0});
    job[1].send(2);
    job[2].recv(1);
    job[2].send(1);
    job[1].recv(kAny, 0, {2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 2, also 0:1"}));
}

TEST(Meehan, Figure6OneMessageRacesWithABlock) {
    Job job(3);
    receiveInOrder(job, 1, {0, 0, 0, 2});
    EXPECT_EQ(racesOf(job), Texts({"1:1 got 0, also 2:1", "1:2 got 0, also 2:1", "1:3 got 0, also 2:1"}));
    const Timeline timeline = job.timeline();
    const MinimalTrace trace = analyse(timeline).minimalTrace();
    EXPECT_EQ(named(trace.critical), Texts({"1:1", "1:2", "1:3"}));
    EXPECT_EQ(named(trace.traced), Texts({"2:1"}));
    EXPECT_EQ(trace.lowerBound, 1U);
}

} // namespace
} // namespace stopline::replay::test
