// Requests that are cancelled or freed, and several communicators: what matches and what depends on what.
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

TEST(Requests, CancelledSendMakesNoMessageAndNoEdge) {
    Job job(2);
    const Serial send = job[0].isend(1, 0, 100'000); // call 1; above the eager limit
    job[0].cancel(send);
    job[0].waitCancelled(send); // call 3, end is event 8
    job[1].irecv(0);            // call 1, posted and never filled
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"- 1:1 - S", "0:1 - - C"}));
    EXPECT_EQ(timeline.openMessages().size(), 1U);
    EXPECT_EQ(timeline.messagesOf(at(0, 3)).size(), 1U);
    // The other rank goes as far as it got; nothing of it is needed.
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 1))), text(cut({3, 4})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 3))), text(cut({8, 2})));
}

TEST(Requests, ReceiveGoesToTheSendBehindACancelledOne) {
    Job job(2);
    const Serial first = job[0].isend(1); // call 1
    job[0].isend(1);                      // call 2
    job[0].cancel(first);                 // call 3
    job[1].recv(0);                       // call 1
    {
        // Until its end is known the first send counts.
        EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:1 1:1 M", "0:2 - - R"}));
    }
    job[0].wait(FunctionId::Waitall, {first}, {{first, {}, true}}); // call 4
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:1 - - C", "0:2 1:1 1:1 M"}));
    // The receive depends on the second send, and on that alone.
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 1))), text(cut({6, 4})));
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 2))), text(cut({5, 3})));
}

TEST(Requests, WhatAWaitThatHangsWaitsFor) {
    Job job(2);
    const Serial sent = job[1].isend(0, 7);                                  // call 1
    const Serial matched = job[1].irecv(0, 1);                               // call 2
    const Serial missing = job[1].irecv(0, 9);                               // call 3
    const Serial barrier = job[1].icollective(FunctionId::Ibarrier);         // call 4
    job[1].wait(FunctionId::Waitall, {sent, matched, missing, barrier}, {}); // call 5
    job[1].unfinished();
    job[0].send(1, 1); // call 1
    const Timeline timeline = job.timeline();
    const auto awaited = timeline.awaited(at(1, 5));
    ASSERT_EQ(awaited.size(), 4U);
    const auto message = [&](std::size_t i) {
        return timeline.messages()[awaited[i].message.value().value()];
    };
    EXPECT_EQ(message(0).tag, 7);
    EXPECT_EQ(message(0).state, MessageState::Unreceived);
    EXPECT_EQ(message(1).send, MaybeCall(at(0, 1)));
    EXPECT_EQ(message(1).state, MessageState::Posted);
    EXPECT_EQ(message(2).tag, 9);
    EXPECT_EQ(message(2).state, MessageState::Unsent);
    EXPECT_FALSE(awaited[3].message.has_value());
    EXPECT_TRUE(awaited[3].collective.has_value());
    EXPECT_FALSE(awaited[2].done);
    // Nothing else waits.
    EXPECT_TRUE(timeline.awaited(at(1, 3)).empty());
    EXPECT_TRUE(timeline.awaited(at(0, 1)).empty());
    EXPECT_TRUE(timeline.awaited(at(1, 77)).empty());
}

TEST(Requests, CancelThatCameTooLateChangesNothing) {
    Job job(2);
    const Serial send = job[0].isend(1);
    job[0].cancel(send);
    job[0].wait(send);
    const Serial recv = job[1].irecv(0);
    job[1].cancel(recv);
    job[1].wait(recv);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:1 1:1 1:3 M"}));
}

TEST(Requests, CancelledWildcardLeavesTheMessageToTheNext) {
    Job job(2);
    job[0].send(1, 4);
    const Serial any = job[1].irecv(kAnySource, kAnyTag); // call 1
    job[1].cancel(any);
    job[1].waitCancelled(any);                // call 3
    job[1].recv(kAnySource, kAnyTag, {0, 4}); // call 4
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"- 1:1 1:3 C", "0:1 1:4 1:4 M"}));
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 3))), text(cut({2, 8})));
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 4))), text(cut({4, 10})));
}

TEST(Requests, FreedSendsAreReceivedAndWaitForNobody) {
    Job job(2);
    const Serial send = job[0].isend(1, 0, 100'000); // call 1
    job[0].requestFree(send);                        // call 2
    job[0].send(1, 1);                               // call 3
    job[1].recv(0, 1);                               // call 1
    job[1].recv(0, 0);                               // call 2
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:1 1:2 1:2 M", "0:3 1:1 1:1 M"}));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 2))), text(cut({6, 2})));
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 1))), text(cut({3, 3})));
}

TEST(Requests, FreedPersistentRequestsKeepWhatTheyStarted) {
    Job job(2);
    const Serial send = job[0].sendInit(1);
    job[0].start({send});     // call 2
    job[0].requestFree(send); // call 3
    const Serial recv = job[1].recvInit(0);
    job[1].start({recv});     // call 2
    job[1].requestFree(recv); // call 3
    job[1].call(FunctionId::Barrier);
    EXPECT_EQ(pairs(job.timeline()), (Pairs{"0:2 1:2 - P"}));
}

TEST(Communicators, TheSameTagOnTwoOfThemAndSelf) {
    Job job(2);
    CommInfo dup = worldComm(2);
    dup.id = 9;
    const CommIndex a = job[0].construct(FunctionId::Comm_dup, dup); // call 1
    const CommIndex b = job[1].construct(FunctionId::Comm_dup, dup);
    constexpr CommIndex kSelf{1};
    job[0].isend(1, 5, 8, a);     // 2
    job[0].isend(1, 5);           // 3
    job[0].isend(0, 5, 8, kSelf); // 4
    job[0].recv(0, 5, {}, kSelf); // 5
    job[1].irecv(kAnySource, 5);  // 2: not complete, of the world
    job[1].recv(0, 5, {0, 5}, b); // 3
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"- 1:2 - S", "0:2 1:3 1:3 M", "0:3 - - R", "0:4 0:5 0:5 M"}));
    for (const Message& m : timeline.messages()) {
        if (m.send && m.send->call == CallIndex{4}) {
            EXPECT_EQ(m.commId, 1000U);
            EXPECT_EQ(m.receiver, RankId{0});
        }
    }
}

TEST(Communicators, RanksOfAPartAreTranslatedInItsOwnOrder) {
    // A communicator of ranks 3, 1, 0 in that order: its rank 0 is rank 3 of the world.
    Job job(4);
    CommInfo part;
    part.id = 20;
    part.kind = trace::CommKind::Split;
    part.members = {3, 1, 0};
    CommIndex comm;
    for (const std::size_t rank : {0U, 1U, 3U}) {
        comm = job[rank].construct(FunctionId::Comm_split, part);
    }
    job[0].send(0, 7, 8, comm);                    // call 2, to rank 3 of the world
    job[3].recv(2, 7, {}, comm);                   // call 2
    job[3].send(1, 7, 8, comm);                    // call 3, to rank 1
    job[1].recv(kAnySource, 7, {0, 7}, comm);      // call 2
    job[1].collective(FunctionId::Bcast, 0, comm); // call 3, from rank 3
    job[3].collective(FunctionId::Bcast, 0, comm); // call 4
    const Timeline timeline = job.timeline();
    EXPECT_EQ(pairs(timeline), (Pairs{"0:2 3:2 3:2 M", "3:3 1:2 1:2 M"}));
    EXPECT_EQ(timeline.messages()[0].sender, RankId{0});
    EXPECT_EQ(timeline.messages()[0].receiver, RankId{3});
    const auto bcast = timeline.collectiveOf(at(1, 3));
    ASSERT_TRUE(bcast.has_value());
    const Collective& c = timeline.collectives()[bcast->value()];
    EXPECT_EQ(c.root, RankId{3});
    EXPECT_EQ(c.members[0], RankId{3});
    EXPECT_TRUE(c.arrived[0] == at(3, 4));
    EXPECT_TRUE(c.arrived[1] == at(1, 3));
    EXPECT_FALSE(c.arrived[2].has_value());
    EXPECT_TRUE(c.finished[1] == at(1, 3));
    EXPECT_FALSE(c.mismatch);
    // Rank 1 after its receive: rank 3 has sent, for which it had received from rank 0; rank 2 has no part in
    // it.
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 2))), text(cut({6, 6, 2, 8})));
}

} // namespace
} // namespace stopline::replay::test
