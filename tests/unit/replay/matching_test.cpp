// Matching of messages and collectives on small programs, and the time axis.
#include "program.h"
#include "script.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stopline::replay::test {
namespace {

std::string show(const std::optional<CallRef>& ref) {
    return ref ? std::to_string(ref->rank.value()) + ":" + std::to_string(ref->call.value()) : "-";
}

/// "send post done state" of each message, sorted; M matched, P posted, R unreceived, S unsent, C cancelled.
std::vector<std::string> pairs(const Timeline& timeline) {
    std::vector<std::string> result;
    for (const Message& m : timeline.messages()) {
        result.push_back(show(m.send) + " " + show(m.post) + " " + show(m.done) + " " +
                         "MPRSC"[static_cast<std::size_t>(m.state)]);
    }
    std::sort(result.begin(), result.end());
    return result;
}
using Pairs = std::vector<std::string>;

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

TEST(Axis, HeldRankDoesNotSendMessagesBackwards) {
    constexpr TimeNs kSecond = 1'000'000'000;
    Job job(2);
    job[0].sleep(kSecond);
    job[1].sleep(2 * kSecond);
    job[1].send(0);
    job[0].recv(1);
    Timeline timeline = job.timeline();
    timeline.setOrigin(RankId{0}, 100);
    timeline.setOrigin(RankId{1}, 100);
    EXPECT_GT(timeline.axisTime(RankId{1}, EventIndex{3}), timeline.axisTime(RankId{0}, EventIndex{4}));
    // Rank 0 was held for 5 s after its event 2: what it did after that happened that much later.
    timeline.addStop(RankId{0}, {EventIndex{2}, 1000, 1000 + 5 * kSecond});
    EXPECT_LT(timeline.axisTime(RankId{1}, EventIndex{3}), timeline.axisTime(RankId{0}, EventIndex{4}));
    EXPECT_EQ(timeline.axisTime(RankId{0}, EventIndex{3}), 6 * kSecond + 200);
    ASSERT_EQ(timeline.heldSpans(RankId{0}).size(), 1U);
    EXPECT_EQ(timeline.heldSpans(RankId{0})[0].end - timeline.heldSpans(RankId{0})[0].begin, 5 * kSecond);
    EXPECT_TRUE(timeline.heldSpans(RankId{1}).empty());
    // A span in which both were held is cut out.
    timeline.addStop(RankId{1}, {EventIndex{2}, 1000 + kSecond, 1000 + 3 * kSecond});
    EXPECT_EQ(timeline.axisTime(RankId{0}, EventIndex{3}), 4 * kSecond + 200);
    EXPECT_EQ(timeline.axisTime(RankId{1}, EventIndex{3}), 2 * kSecond + 200);
    EXPECT_TRUE(timeline.heldSpans(RankId{1}).empty());
    EXPECT_EQ(timeline.heldSpans(RankId{0})[0].end - timeline.heldSpans(RankId{0})[0].begin, 3 * kSecond);
}

/// Nothing that a trace can say makes the timeline crash or loop; event numbers stay right.
TEST(Hostile, AnyEventsInAnyOrder) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed);
        const auto small = [&](int from, int to) {
            return static_cast<std::int32_t>(from +
                                             static_cast<int>(random() % static_cast<unsigned>(to - from)));
        };
        const std::int32_t ranks = small(1, 5);
        Timeline timeline(ranks, {small(0, 2) == 0 ? 0ULL : 50ULL});
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            for (std::int32_t i = small(0, 4); i > 0; --i) {
                CommInfo info;
                info.id = random() % 3;
                for (std::int32_t m = small(0, 5); m > 0; --m) {
                    info.members.push_back(small(-2, 7));
                }
                for (std::int32_t m = small(-4, 4); m > 0; --m) {
                    info.remote.push_back(small(-2, 7));
                }
                timeline.addComm(RankId{rank}, info);
            }
        }
        const auto ref = [&] {
            return RequestRef{chance(random, 80) ? static_cast<std::uint32_t>(random() % 4)
                                                 : static_cast<std::uint32_t>(random())};
        };
        for (int i = 0; i < 200; ++i) {
            const RankId rank{small(0, ranks)};
            EventDetails d;
            d.kind = chance(random, 50) ? EventKind::Begin : EventKind::End;
            d.function = static_cast<FunctionId>(random() % (static_cast<unsigned>(FunctionId::Count) + 2));
            d.thread = static_cast<std::uint16_t>(random() % 10 == 0 ? 1 : 0);
            d.comm = CommIndex{static_cast<std::uint32_t>(random() % 4)};
            d.sendPeer = small(-104, -101 + 4 + 1) < -101 ? kProcNull : small(-1, 4);
            d.sendTag = small(-1, 2);
            d.sendBytes = random() % 100;
            d.recvPeer = chance(random, 30) ? kAnySource : small(-1, 4);
            d.recvTag = chance(random, 30) ? kAnyTag : small(-1, 2);
            d.root = chance(random, 20) ? kRootInter : small(-1, 5);
            d.flag = chance(random, 70);
            d.status.source = small(-1, 5);
            d.status.tag = small(-1, 2);
            d.newComm = CommIndex{static_cast<std::uint32_t>(random() % 5)};
            for (int k = small(0, 4); k > 0; --k) {
                d.requests.push_back(ref());
                d.completions.push_back({ref(), 0, {small(-1, 5), small(-1, 2), 1, chance(random, 20)}});
            }
            DetailsId id = timeline.addDetails(rank, d);
            timeline.addEvent(rank, chance(random, 2) ? DetailsId{99999} : id,
                              static_cast<TimeNs>(random() % 1000));
        }
        std::uint64_t events = 0;
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            events += timeline.lastEvent(RankId{rank}).value();
        }
        EXPECT_EQ(events, 200U);
        for (int i = 0; i < 20; ++i) {
            const RankId rank{small(-1, ranks + 1)};
            const Point point{{rank, CallIndex{static_cast<std::uint32_t>(random() % 60)}},
                              chance(random, 50)};
            EXPECT_EQ(timeline.pastFrontier(point).cut.size(), static_cast<std::size_t>(ranks));
            EXPECT_EQ(timeline.futureFrontier(point).cut.size(), static_cast<std::size_t>(ranks));
            Cut cut;
            for (std::int32_t r = small(0, ranks + 2); r > 0; --r) {
                cut.push_back({EventIndex{random() % 150}, chance(random, 50)});
            }
            EXPECT_TRUE(timeline.isClosed(timeline.closeDown(cut).cut));
            (void)timeline.closeUp(cut, rank);
            (void)timeline.rollback(cut, rank);
            (void)timeline.forward(cut, rank);
            (void)timeline.blockedBy(cut, rank);
            (void)timeline.messagesOf(point.call);
            (void)timeline.axisTime(rank, EventIndex{random() % 300});
        }
    }
}

} // namespace
} // namespace stopline::replay::test
