// Traces that contradict themselves.
#include "../../../replay/races.h"
#include "program.h"
#include "script.h"

#include <gtest/gtest.h>

namespace stopline::replay::test {
namespace {

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
        RaceAnalysis races;
        for (int i = 0; i < 200; ++i) {
            if (i % 29 == 0) {
                races.update(timeline);
            }
            const RankId rank{small(0, ranks)};
            EventDetails d;
            d.kind = chance(random, 50) ? EventKind::Begin : EventKind::End;
            d.function = static_cast<FunctionId>(random() % (static_cast<unsigned>(FunctionId::Count) + 2));
            if (chance(random, 30)) {
                constexpr auto kFirst = static_cast<unsigned>(FunctionId::Win_create);
                constexpr auto kLast = static_cast<unsigned>(FunctionId::Rget_accumulate);
                d.function = static_cast<FunctionId>(kFirst + random() % (kLast - kFirst + 1));
            }
            for (int k = small(0, 3); k > 0; --k) {
                d.peers.push_back(small(-1, 5));
            }
            d.mode = small(0, 4);
            if (chance(random, 20)) {
                d.error = static_cast<trace::ErrorClass>(
                    random() % (static_cast<unsigned>(trace::ErrorClass::Unlisted) + 2));
            }
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
                d.completions.push_back({ref(), 0, {small(-1, 5), small(-1, 2), 1, chance(random, 20)}, d.error, 0});
            }
            DetailsId id = timeline.addDetails(rank, d);
            timeline.addEvent(rank, chance(random, 2) ? DetailsId{99999} : id,
                              static_cast<TimeNs>(random() % 1000));
        }
        for (std::uint32_t i = 0; i < timeline.transferCount() + 2; ++i) {
            (void)timeline.transfer(TransferIndex{i});
        }
        races.update(timeline);
        for (const Race& race : races.races()) {
            EXPECT_LE(races.alternatives(race).size(), timeline.messages().size());
            EXPECT_GE(races.racesOf(race.call).size(), 1U);
        }
        EXPECT_LE(races.minimalTrace().traced.size(), timeline.messages().size());
        std::uint64_t events = 0;
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            EXPECT_LE(races.analysed(RankId{rank}), timeline.lastEvent(RankId{rank}));
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
            (void)timeline.transferOf(point.call);
            (void)timeline.axisTime(rank, EventIndex{random() % 300});
        }
    }
}

} // namespace
} // namespace stopline::replay::test
