// Windows and files: transfers, what synchronises them, and what depends on what.
#include "window_job.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

/// "call>target epoch exposed local remote seen", calls as rank:call.
std::string transferText(const Transfer& t) {
    const auto show = [](const MaybeCall& call) {
        return call ? std::to_string(call->rank.value()) + ":" + std::to_string(call->call.value()) : "-";
    };
    return show(MaybeCall(t.call)) + ">" + std::to_string(t.target.value()) + " " +
           "FGL"[static_cast<std::size_t>(t.epoch)] + " " + show(t.exposed) + " " + show(t.local) + " " +
           show(t.remote) + " " + show(t.seen);
}

std::vector<std::string> transfers(const Timeline& timeline) {
    std::vector<std::string> result;
    for (std::uint32_t i = 0; i < timeline.transferCount(); ++i) {
        result.push_back(transferText(timeline.transfer(TransferIndex{i})));
    }
    return result;
}
using Lines = std::vector<std::string>;

TEST(OneSided, FenceOpensAndCloses) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_fence, kNoPeer, trace::kNoPrecede); // call 2
    job.put(0, 1);                                                  // call 3
    job.put(0, kProcNull);                                          // call 4: no transfer
    job.sync(0, FunctionId::Win_fence);                             // call 5
    job.put(0, 1);                                                  // call 6: not closed
    job.sync(1, FunctionId::Win_fence, kNoPeer, trace::kNoPrecede); // call 2
    job.sync(1, FunctionId::Win_fence);                             // call 3
    for (const bool lastFirst : {false, true}) {
        const Timeline timeline =
            load(job.trace, [lastFirst](std::size_t ranks) { return lastFirst ? ranks - 1 : 0; });
        EXPECT_EQ(transfers(timeline), (Lines{"0:3>1 F 1:2 0:5 0:5 1:3", "0:6>1 F 1:3 - - -"}));
        EXPECT_EQ(timeline.transferOf(at(0, 3)), TransferIndex{0});
        EXPECT_EQ(timeline.transferOf(at(0, 4)), std::nullopt);
        EXPECT_EQ(timeline.transferOf(at(0, 5)), std::nullopt);
        EXPECT_EQ(timeline.transfer(TransferIndex{0}).bytesOut, 24U);
        EXPECT_EQ(timeline.transfer(TransferIndex{0}).bytesIn, 0U);
        EXPECT_EQ(timeline.transfer(TransferIndex{0}).windowId, 77U);
        // The target sees it at the end of its fence, so that end depends on the put.
        EXPECT_EQ(text(timeline.futureFrontier(before(0, 3))), text(cut({7, 7})));
        EXPECT_EQ(text(timeline.pastFrontier(after(1, 3))), text(cut({12, 8})));
        ASSERT_TRUE(timeline.collectiveOf(at(0, 5)).has_value());
        EXPECT_EQ(timeline.collectiveOf(at(0, 5)), timeline.collectiveOf(at(1, 3)));
    }
}

TEST(OneSided, GroupsPairPostWithStartAndCompleteWithWait) {
    WindowJob job(2);
    job.group(0, FunctionId::Win_start, {1}); // call 2
    job.put(0, 1);                            // call 3
    job.put(0, 1, FunctionId::Get);           // call 4
    job.sync(0, FunctionId::Win_complete);    // call 5
    job.group(1, FunctionId::Win_post, {0});  // call 2
    job.sync(1, FunctionId::Win_wait);        // call 3
    for (const bool lastFirst : {false, true}) {
        const Timeline timeline =
            load(job.trace, [lastFirst](std::size_t ranks) { return lastFirst ? ranks - 1 : 0; });
        EXPECT_EQ(transfers(timeline), (Lines{"0:3>1 G 1:2 0:5 - 1:3", "0:4>1 G 1:2 0:5 - 1:3"}));
        EXPECT_EQ(text(timeline.pastFrontier(after(0, 2))), text(cut({6, 6})));
        EXPECT_EQ(text(timeline.futureFrontier(before(1, 2))), text(cut({5, 5})));
        EXPECT_EQ(text(timeline.pastFrontier(after(1, 3))), text(cut({12, 8})));
        EXPECT_EQ(text(timeline.futureFrontier(before(0, 5))), text(cut({11, 7})));
        // Between the two edges nothing binds: the target may stand before or after its post.
        EXPECT_EQ(text(timeline.futureFrontier(after(0, 5))), text(cut({12, 8})));
        EXPECT_FALSE(timeline.isClosed(cut({6, 5})));
        EXPECT_TRUE(timeline.isClosed(cut({5, 6})));
        EXPECT_FALSE(timeline.isClosed(cut({11, 8})));
    }
}

TEST(OneSided, TestThatSucceedsWaitsForAllOriginsAndOneThatFailsForNone) {
    WindowJob job(3);
    for (const std::size_t origin : {std::size_t{0}, std::size_t{2}}) {
        job.group(origin, FunctionId::Win_start, {1}); // call 2
        job.sync(origin, FunctionId::Win_complete);    // call 3
    }
    job.group(1, FunctionId::Win_post, {2, 0}); // call 2
    EventDetails no;
    no.function = FunctionId::Win_test;
    no.flag = false;
    job[1].both(job.on(FunctionId::Win_test), no, 3); // call 3: ended by call 4
    job[1].call(FunctionId::Barrier);                 // call 4
    EventDetails yes;
    yes.function = FunctionId::Win_test;
    job[1].both(job.on(FunctionId::Win_test), yes, 2); // call 5
    const Timeline timeline = job.timeline();
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 3))), text(cut({4, 8, 4})));
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 5))), text(cut({8, 12, 8})));
    EXPECT_EQ(text(timeline.futureFrontier(before(2, 3))), text(cut({8, 11, 7})));
}

TEST(OneSided, EpochsOfOnePairAreCountedForThemselves) {
    WindowJob job(3);
    // Rank 0 exposes to 1, then to 1 and 2, then to 2.
    job.group(0, FunctionId::Win_post, {1}); // calls 2, 3
    job.sync(0, FunctionId::Win_wait);
    job.group(0, FunctionId::Win_post, {1, 2}); // calls 4, 5
    job.sync(0, FunctionId::Win_wait);
    job.group(0, FunctionId::Win_post, {2}); // calls 6, 7
    job.sync(0, FunctionId::Win_wait);
    for (const std::size_t origin : {std::size_t{1}, std::size_t{2}}) {
        for (int epoch = 0; epoch < 2; ++epoch) { // calls 2 to 4, 5 to 7
            job.group(origin, FunctionId::Win_start, {0});
            job.put(origin, 0);
            job.sync(origin, FunctionId::Win_complete);
        }
    }
    const Timeline timeline = job.timeline();
    EXPECT_EQ(transfers(timeline), (Lines{"1:3>0 G 0:2 1:4 - 0:3", "1:6>0 G 0:4 1:7 - 0:5", "2:3>0 G 0:4 2:4 - 0:5",
                                          "2:6>0 G 0:6 2:7 - 0:7"}));
    EXPECT_EQ(text(timeline.pastFrontier(after(2, 2))), text(cut({10, 10, 6})));
}

TEST(OneSided, LocksCompleteTransfersAndBindNobody) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_lock, 1, trace::kLockShared); // call 2
    job.put(0, 1);                                            // call 3
    job.sync(0, FunctionId::Win_flush_local, 1);              // call 4
    job.put(0, 1);                                            // call 5
    job.sync(0, FunctionId::Win_flush, 1);                    // call 6
    job.put(0, 1);                                            // call 7
    job.sync(0, FunctionId::Win_unlock, 1);                   // call 8
    job.sync(0, FunctionId::Win_lock_all);                    // call 9
    job.put(0, 1);                                            // call 10
    job.put(0, 0);                                            // call 11: to itself
    job.sync(0, FunctionId::Win_flush, 0);                    // call 12
    job.sync(0, FunctionId::Win_unlock_all);                  // call 13
    job[1].call(FunctionId::Win_sync);                        // call 2
    const Timeline timeline = job.timeline();
    EXPECT_EQ(transfers(timeline), (Lines{"0:3>1 L - 0:4 0:6 -", "0:5>1 L - 0:6 0:6 -", "0:7>1 L - 0:8 0:8 -",
                                          "0:10>1 L - 0:13 0:13 -", "0:11>0 L - 0:12 0:12 -"}));
    EXPECT_EQ(text(timeline.futureFrontier(before(0, 3))), text(cut({7, 6})));
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 13))), text(cut({28, 4})));
}

TEST(OneSided, RequestsSayWhenTheirOriginMayGoOn) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_lock_all); // call 2
    EventDetails rput = job.on(FunctionId::Rput, 1);
    rput.sendBytes = 8;
    job[0].both(rput); // call 3
    EventDetails wait;
    wait.function = FunctionId::Wait;
    wait.requests = {RequestRef{0}};
    EventDetails done;
    done.completions = {{RequestRef{0}, 0, {}, ErrorClass::Success, 0}};
    job[0].both(wait, done);                 // call 4
    job.sync(0, FunctionId::Win_unlock_all); // call 5
    EXPECT_EQ(transfers(job.timeline()), (Lines{"0:3>1 L - 0:4 0:5 -"}));
}

TEST(OneSided, WhoeverWaitsIsTold) {
    WindowJob job(3);
    job.group(0, FunctionId::Win_start, {1, 2}); // call 2: rank 2 does not post
    job[0].unfinished();
    job.group(1, FunctionId::Win_post, {0}); // call 2
    job.sync(1, FunctionId::Win_wait);       // call 3
    job[1].unfinished();
    const Timeline timeline = job.timeline();
    const Cut stopped{{EventIndex{5}, true}, {EventIndex{7}, true}, {EventIndex{4}, false}};
    const auto first = timeline.blockedBy(stopped, RankId{0});
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->reason,
              "Rank 0 waits in 5 MPI_Win_start for rank 2 to call MPI_Win_post; rank 2 stands after 4 MPI_Win_create.");
    const auto second = timeline.blockedBy(stopped, RankId{1});
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->reason, "Rank 1 waits in 7 MPI_Win_wait for rank 0 to call MPI_Win_complete; rank 0 stands inside 5 "
                            "MPI_Win_start.");
    // A call that is recorded, and not entered where the ranks stand.
    WindowJob pair(2);
    pair.group(0, FunctionId::Win_start, {1}); // call 2
    pair.group(1, FunctionId::Win_post, {0});  // call 2
    const Cut early{{EventIndex{5}, true}, {EventIndex{5}, false}};
    const auto third = pair.timeline().blockedBy(early, RankId{0});
    ASSERT_TRUE(third.has_value());
    EXPECT_EQ(third->reason,
              "Rank 0 waits in 5 MPI_Win_start for rank 1 to enter 5 MPI_Win_post; rank 1 stands before 5 MPI_Win_post.");
    EXPECT_EQ(third->waitsFor, at(1, 2));
}

TEST(OneSided, LocksOfOthersAreNamed) {
    WindowJob job(3);
    job.sync(0, FunctionId::Win_lock, 2, trace::kLockExclusive); // call 2
    job.put(0, 2);                                               // call 3
    job.sync(0, FunctionId::Win_unlock, 2);                      // call 4
    job.sync(1, FunctionId::Win_lock, 2, trace::kLockShared);    // call 2
    job[1].unfinished();
    const Timeline timeline = job.timeline();
    const auto blocked = [&](std::uint64_t place) {
        const Cut cut{{EventIndex{place}, false}, {EventIndex{5}, true}, {EventIndex{4}, false}};
        const auto obstacle = timeline.blockedBy(cut, RankId{1});
        return obstacle ? obstacle->reason : std::string();
    };
    EXPECT_EQ(blocked(5), "");
    EXPECT_EQ(blocked(6), "Rank 1 waits in 5 MPI_Win_lock for the lock that rank 0 has since 6 MPI_Win_lock; rank 0 stands "
                          "after 6 MPI_Win_lock.");
    EXPECT_NE(blocked(9), ""); // before the unlock
    EXPECT_EQ(blocked(10), "");
    // The same where the recording shows how it went then: another time another rank may be first.
    WindowJob again(2);
    again.sync(0, FunctionId::Win_lock, 0, trace::kLockExclusive); // call 2
    again.sync(0, FunctionId::Win_unlock, 0);                      // call 3
    again.sync(1, FunctionId::Win_lock, 0, trace::kLockExclusive); // call 2
    const Cut inside{{EventIndex{6}, false}, {EventIndex{5}, true}};
    ASSERT_TRUE(again.timeline().blockedBy(inside, RankId{1}).has_value());
    EXPECT_EQ(again.timeline().blockedBy(inside, RankId{1})->waitsFor, at(0, 2));
    // Two that share it do not keep each other waiting.
    WindowJob shared(2);
    shared.sync(0, FunctionId::Win_lock_all);
    shared.sync(1, FunctionId::Win_lock, 0, trace::kLockShared);
    shared[1].unfinished();
    const Cut both{{EventIndex{6}, false}, {EventIndex{5}, true}};
    EXPECT_EQ(shared.timeline().blockedBy(both, RankId{1}), std::nullopt);
}

TEST(OneSided, BlocksOfEventsSayWhatSingleEventsDo) {
    // The same questions at every moment of any interleaving, with and without digests.
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        WindowJob job(3);
        for (int round = 0; round < 6; ++round) {
            for (std::int32_t rank = 0; rank < 3; ++rank) {
                const std::int32_t other = (rank + 1 + round % 2) % 3;
                const std::int32_t from = (rank + 2 - round % 2) % 3;
                const auto own = static_cast<std::size_t>(rank);
                job.group(own, FunctionId::Win_post, {from});
                job.group(own, FunctionId::Win_start, {other});
                job.put(own, other);
                job.sync(own, FunctionId::Win_complete);
                job.sync(own, FunctionId::Win_wait);
            }
            for (std::size_t rank = 0; round % 3 == 1 && rank < 3; ++rank) {
                job.sync(rank, FunctionId::Win_fence);
            }
        }
        const auto answers = [&](std::uint64_t digestEvents) {
            std::vector<std::string> result;
            std::uint32_t random = seed * 2654435761U + 1;
            const auto number = [&random] { return (random = random * 1664525U + 1013904223U) >> 16; };
            job.trace.rules.digestEvents = digestEvents;
            (void)load(
                job.trace, [&](std::size_t ranks) { return number() % ranks; },
                [&](const Timeline& timeline) {
                    const auto rank = static_cast<std::int32_t>(number() % 3);
                    const std::uint32_t calls = timeline.callCount(RankId{rank});
                    if (calls != 0) {
                        const std::uint32_t call = number() % calls;
                        result.push_back(text(timeline.futureFrontier(before(rank, call))));
                        result.push_back(text(timeline.pastFrontier(after(rank, call))));
                    }
                });
            return result;
        };
        ASSERT_EQ(answers(1), answers(0)) << seed;
        ASSERT_EQ(answers(4), answers(0)) << seed;
    }
}

TEST(OneSided, LocksOfNobodyKeepNobody) {
    WindowJob job(2);
    job.sync(0, FunctionId::Win_lock, kProcNull, trace::kLockExclusive); // call 2
    job.put(0, 1);                                                       // call 3: under no lock
    job.sync(1, FunctionId::Win_lock, 0, trace::kLockExclusive);
    job[1].unfinished();
    const Timeline timeline = job.timeline();
    EXPECT_EQ(transfers(timeline), (Lines{"0:3>1 F - - - -"}));
    EXPECT_EQ(timeline.blockedBy({{EventIndex{8}, false}, {EventIndex{5}, true}}, RankId{1}), std::nullopt);
}

TEST(OneSided, WhatMpiRefusedNeverWas) {
    WindowJob job(2);
    EventDetails refused;
    refused.error = ErrorClass::RmaSync;
    job[0].both(job.on(FunctionId::Put, 1), refused);                       // call 2
    job.group(0, FunctionId::Win_start, {1});                               // call 3
    job.group(0, FunctionId::Win_start, {1}, ErrorClass::RmaSync);          // call 4
    job.put(0, 1);                                                          // call 5
    job.sync(0, FunctionId::Win_complete);                                  // call 6
    job[0].both(job.on(FunctionId::Win_complete), refused);                 // call 7
    job.group(1, FunctionId::Win_post, {0}, ErrorClass::Win);               // call 2
    job.group(1, FunctionId::Win_post, {0});                                // call 3
    job.sync(1, FunctionId::Win_wait);                                      // call 4
    const Timeline timeline = job.timeline();
    ASSERT_EQ(timeline.transferCount(), 2U);
    EXPECT_EQ(timeline.transfer(TransferIndex{0}).target, RankId{-1});
    EXPECT_EQ(timeline.transferOf(at(0, 2)), std::nullopt);
    EXPECT_EQ(transferText(timeline.transfer(TransferIndex{1})), "0:5>1 G 1:3 0:6 - 1:4");
    EXPECT_EQ(text(timeline.pastFrontier(after(0, 3))), text(cut({8, 8})));
    EXPECT_EQ(text(timeline.pastFrontier(after(1, 4))), text(cut({14, 10})));
}

TEST(Files, SplitCollectivesAreOneFromBeginToEnd) {
    WindowJob job(2, FunctionId::File_open);
    for (std::size_t rank : {std::size_t{0}, std::size_t{1}}) {
        job.sync(rank, FunctionId::File_set_size);            // call 2
        job.sync(rank, FunctionId::File_write_all_begin);     // call 3
        job[rank].call(FunctionId::Barrier);                  // call 4
        if (rank == 0) {
            job.sync(rank, FunctionId::File_write_all_end); // call 5
            job.sync(rank, FunctionId::File_sync);          // call 6
        }
    }
    const Timeline timeline = job.timeline();
    const auto split = timeline.collectiveOf(at(0, 3));
    ASSERT_TRUE(split.has_value());
    EXPECT_EQ(timeline.collectiveOf(at(0, 5)), split);
    EXPECT_EQ(timeline.collectiveOf(at(1, 3)), split);
    EXPECT_NE(timeline.collectiveOf(at(0, 6)), split);
    EXPECT_NE(timeline.collectiveOf(at(0, 2)), split);
    const Collective& c = timeline.collectives()[split->value()];
    EXPECT_EQ(c.function, FunctionId::File_write_all_begin);
    EXPECT_FALSE(c.mismatch);
    EXPECT_EQ(c.arrived[0], MaybeCall(at(0, 3)));
    EXPECT_EQ(c.finished[0], MaybeCall(at(0, 5)));
    EXPECT_EQ(c.arrived[1], MaybeCall(at(1, 3)));
    EXPECT_FALSE(c.finished[1].has_value());
    // As if it synchronised: its end depends on the begin of the other.
    EXPECT_EQ(text(timeline.futureFrontier(before(1, 3))), text(cut({11, 7})));
}

} // namespace
} // namespace stopline::replay::test
