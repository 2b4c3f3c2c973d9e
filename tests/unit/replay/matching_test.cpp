// Matching of messages and collectives on small programs.
#include "script.h"

#include <gtest/gtest.h>

#include <utility>

namespace stopline::replay::test {
namespace {

TEST(Matching, ReceivesCompletedOutOfOrderMatchInPostingOrder) {
    Job job(2);
    job[0].send(1);
    job[0].send(1);
    const Serial first = job[1].irecv(0);
    const Serial second = job[1].irecv(0);
    job[1].wait(second);
    job[1].wait(first);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:1 1:4 M", "0:2 1:2 1:3 M"}));
}

TEST(Matching, MessagesInFlightAndWaitingReceives) {
    Job job(2);
    job[0].send(1, 4, 100);
    job[0].send(1, 5);
    job[1].irecv(0, 5);
    job[1].recv(0, 6);
    job[1].unfinished();
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"- 1:2 - S", "0:1 - - R", "0:2 1:1 - P"}));
    EXPECT_EQ(timeline.openMessages().size(), 3U);
    const auto sent = timeline.messagesOf(at(0, 1));
    ASSERT_EQ(sent.size(), 1U);
    const Message& message = timeline.messages()[sent[0].value()];
    EXPECT_EQ(message.bytes, 100U);
    EXPECT_EQ(message.tag, 4);
    EXPECT_EQ(message.sender, RankId{0});
    EXPECT_EQ(message.receiver, RankId{1});
}

TEST(Matching, HalvesBehindABrokenRecordingAreLost) {
    Job job(3);
    job[0].send(1, 4);
    job[0].send(2, 4);
    job[1].recv(0, 9);
    job[1].irecv(kAnySource, 3);
    Timeline timeline = job.timeline();
    const auto lost = [&timeline](std::int32_t rank, std::uint32_t call) {
        const auto of = timeline.messagesOf(at(rank, call));
        return of.size() == 1 ? timeline.halfLostBy(timeline.messages()[of[0].value()]) : std::nullopt;
    };
    EXPECT_EQ(lost(0, 1), std::nullopt);
    EXPECT_EQ(lost(1, 1), std::nullopt);
    timeline.setBrokenOff(RankId{2}, true);
    EXPECT_TRUE(timeline.brokenOff(RankId{2}));
    EXPECT_EQ(lost(0, 1), std::nullopt);
    EXPECT_EQ(lost(0, 2), RankId{2});
    EXPECT_EQ(lost(1, 1), std::nullopt);
    EXPECT_EQ(lost(1, 2), RankId{-1});
    timeline.setBrokenOff(RankId{0}, true);
    EXPECT_EQ(lost(1, 1), RankId{0});
    timeline.setBrokenOff(RankId{2}, false);
    EXPECT_EQ(lost(0, 2), std::nullopt);
}

TEST(Matching, WildcardsTakeWhatTheirCompletionSaysAtThePlaceOfTheirPosting) {
    Job job(3);
    job[1].send(0, 7);
    job[1].send(0, 7);
    job[2].send(0, 8);
    const Serial any = job[0].irecv(kAnySource, kAnyTag);
    job[0].recv(1, 7);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"- 0:1 - S", "1:1 0:2 0:2 M", "1:2 - - R", "2:1 - - R"}));
    job[0].wait(any, {1, 7});
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"1:1 0:1 0:3 M", "1:2 0:2 0:2 M", "2:1 - - R"}));
    const Message& message = timeline.messages()[timeline.messagesOf(at(0, 3))[0].value()];
    EXPECT_TRUE(message.wildcardSource);
    EXPECT_TRUE(message.wildcardTag);
}

TEST(Matching, CommunicatorsAreApart) {
    Job job(2);
    CommInfo dup = worldComm(2);
    dup.id = 9;
    const CommIndex a = job[0].construct(FunctionId::Comm_dup, dup);
    const CommIndex b = job[1].construct(FunctionId::Comm_dup, dup);
    job[0].send(1, 0, 8, a);
    job[0].send(1);
    job[1].recv(0);
    job[1].recv(0, 0, {}, b);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:2 1:3 1:3 M", "0:3 1:2 1:2 M"}));
    ASSERT_EQ(timeline.collectives().size(), 2U);
    EXPECT_EQ(timeline.collectives()[1].finished[1], at(1, 1));
}

TEST(Matching, IntercommunicatorPeersAreOfTheOtherGroup) {
    Job job(3);
    CommInfo info;
    info.id = 50;
    info.members = {0};
    info.remote = {2, 1};
    const CommIndex a = job[0].construct(FunctionId::Intercomm_create, info);
    std::swap(info.members, info.remote);
    const CommIndex b = job[1].construct(FunctionId::Intercomm_create, info);
    job[2].construct(FunctionId::Intercomm_create, info);
    job[0].send(1, 0, 8, a); // rank 1 of the other group is world rank 1
    job[1].recv(0, 0, {}, b);
    job[1].send(0, 3, 8, b);
    job[0].recv(kAnySource, 3, {1, 3}, a);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:2 1:2 1:2 M", "1:3 0:3 0:3 M"}));
    ASSERT_EQ(timeline.collectives().size(), 2U);
    EXPECT_EQ(timeline.collectives()[1].members.size(), 3U);
}

TEST(Matching, SelfMessagesAndProcNull) {
    Job job(1);
    job[0].isend(0);
    job[0].recv(0);
    job[0].send(kProcNull);
    job[0].recv(kProcNull);
    job[0].sendrecv(kProcNull, kProcNull);
    job[0].wait(job[0].irecv(kProcNull));
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:1 0:2 0:2 M"}));
    EXPECT_TRUE(timeline.messagesOf(at(0, 3)).empty());
}

TEST(Matching, CancelledReceivesTakeNothingAndFreedOnesMatchByPostingOrder) {
    Job job(2);
    job[0].send(1);
    job[0].send(1);
    const Serial cancelled = job[1].irecv(0);
    job[1].cancel(cancelled);
    job[1].waitCancelled(cancelled);
    const Serial freed = job[1].irecv(0);
    job[1].requestFree(freed);
    job[1].recv(0);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"- 1:1 1:3 C", "0:1 1:4 - P", "0:2 1:6 1:6 M"}));
    // A completion of the freed one that is seen later ends the edge there.
    job[1].wait(FunctionId::Waitall, {}, {{freed}});
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"- 1:1 1:3 C", "0:1 1:4 1:7 M", "0:2 1:6 1:6 M"}));
}

TEST(Matching, PersistentRequestsPostAtEachStart) {
    Job job(2);
    const Serial send = job[0].sendInit(1);
    const Serial recv = job[1].recvInit(0);
    for (int round = 0; round < 2; ++round) {
        job[0].start({send});
        job[0].wait(send);
        job[1].start({recv});
        job[1].wait(recv);
    }
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:2 1:2 1:3 M", "0:4 1:4 1:5 M"}));
}

TEST(Matching, MatchedProbesTakeTheMessageAtTheProbe) {
    Job job(2);
    job[0].send(1, 1);
    job[0].send(1, 2);
    job[0].send(1, 1);
    job[1].probe(FunctionId::Mprobe, 0, 1, {0, 1});
    job[1].probe(FunctionId::Improbe, kAnySource, kAnyTag, {0, 2}, true, 3);
    job[1].recv(0, 1);
    job[1].mrecv({0, 2}); // the other way round
    const Serial last = job[1].imrecv();
    job[1].wait(last, {0, 1});
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:1 1:6 M", "0:2 1:2 1:4 M", "0:3 1:3 1:3 M"}));
}

TEST(Matching, MergedPollsAndWaitsOfAllKinds) {
    Job job(2);
    job[0].send(1, 1);
    job[0].send(1, 2);
    job[0].send(1, 3);
    const Serial a = job[1].irecv(0, 1);
    const Serial b = job[1].irecv(0, 2);
    const Serial c = job[1].irecv(0, 3);
    job[1].wait(FunctionId::Testsome, {a, b, c}, {}, false, 12);
    job[1].wait(FunctionId::Waitany, {a, b, c}, {{b}});
    job[1].wait(FunctionId::Waitsome, {a, c}, {{c}, {a}});
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:1 1:1 1:6 M", "0:2 1:2 1:5 M", "0:3 1:3 1:6 M"}));
    EXPECT_EQ(timeline.call(at(1, 4)).pollFailures, 12U);
    EXPECT_EQ(timeline.messagesOf(at(1, 6)).size(), 2U);
}

} // namespace
} // namespace stopline::replay::test
