// Control messages of a replay by tag: where the recorded execution had the order that they make, and nowhere else.
#include "races_text.h"

#include "../../../replay/order_marks.h"

#include <limits>

namespace stopline::replay::test {
namespace {

using Controls = std::vector<ControlMessage>;

Controls controlsOf(const Job& job) {
    const Timeline timeline = job.timeline();
    return analyse(timeline).orderMarks(&timeline).controls;
}

std::string text(std::span<const std::byte> log) {
    std::string all;
    for (trace::ControlReader reader(log); reader.event() != std::numeric_limits<std::uint64_t>::max(); reader.next()) {
        all += std::to_string(reader.event()) + (reader.isReceived() ? " from " : " to ") + std::to_string(reader.peer()) + '\n';
    }
    return all;
}

/// Rank 1 sends at time 300, which rank 0 has at 400; rank 2 sends at `time`.
void sendLater(Job& job, TimeNs time) {
    job[1].send(0);
    job[0].recv(kAny, 0, {1});
    job[2].sleep(time - 300);
    job[2].send(0);
    job[0].sleep(5000);
    job[0].recv(kAny, 0, {2});
}

TEST(OrderControlsTest, WhatWasSentAfterTheOtherOneWasReceivedIsSentAfterItAgain) {
    Job job(3);
    sendLater(job, 401);
    EXPECT_EQ(controlsOf(job), (Controls{{.from = 0, .after = 4, .to = 2, .before = 3, .world = 0}}));
}

TEST(OrderControlsTest, WhatWasSentBeforeItIsNotKeptBack) {
    Job job(3);
    sendLater(job, 400);
    EXPECT_EQ(controlsOf(job), Controls{});
}

TEST(OrderControlsTest, NoneUnlessAskedFor) {
    Job job(3);
    sendLater(job, 1000);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(analyse(timeline).orderMarks().controls, Controls{});
}

TEST(OrderControlsTest, OneForSeveralThatWereSentAfterTheSame) {
    Job job(3);
    job[1].send(0);
    job[0].recv(kAny, 0, {1});
    job[2].sleep(1000);
    job[2].send(0);
    job[2].send(0);
    job[0].sleep(5000);
    job[0].recv(kAny, 0, {2});
    job[0].recv(kAny, 0, {2});
    EXPECT_EQ(controlsOf(job), (Controls{{.from = 0, .after = 4, .to = 2, .before = 3, .world = 0}}));
}

TEST(OrderControlsTest, OrdersThatWouldCloseACircleAreNotThere) {
    // 2 and 3 send to 0 and 1 in opposite orders, and what each has sent first comes last: were it kept back until the
    // other one has been received, nobody could go on.
    Job job(4);
    job[2].send(0);
    job[2].send(1);
    job[3].send(1);
    job[3].send(0);
    job[0].sleep(1000);
    job[1].sleep(1000);
    job[0].recv(kAny, 0, {3});
    job[0].recv(kAny, 0, {2});
    job[1].recv(kAny, 0, {2});
    job[1].recv(kAny, 0, {3});
    const Timeline timeline = job.timeline();
    const OrderMarks marks = analyse(timeline).orderMarks(&timeline);
    EXPECT_GE(marks.marked, 2U);
    EXPECT_EQ(marks.controls, Controls{});
}

TEST(OrderControlsTest, EachRankFollowsItsOwnAndCountsFromItsWorld) {
    const Controls messages = {{.from = 4, .after = 300, .to = 6, .before = 7, .world = 4},
                               {.from = 4, .after = 300, .to = 5, .before = 9, .world = 4},
                               {.from = 5, .after = 8, .to = 4, .before = 11, .world = 4}};
    EXPECT_EQ(text(controlLog(messages, RankId{4})), "11 from 1\n300 to 1\n300 to 2\n");
    EXPECT_EQ(text(controlLog(messages, RankId{5})), "8 to 0\n9 from 0\n");
    EXPECT_EQ(text(controlLog(messages, RankId{6})), "7 from 0\n");
    EXPECT_EQ(text(controlLog(messages, RankId{7})), "");
}

TEST(OrderControlsTest, WhatIsCutOffEndsEarly) {
    const Controls messages = {{.from = 0, .after = 300, .to = 1, .before = 7, .world = 0},
                               {.from = 0, .after = 302, .to = 1, .before = 9, .world = 0}};
    const std::vector<std::byte> whole = controlLog(messages, RankId{0});
    ASSERT_EQ(whole.size(), 5U);
    const auto part = [&](std::size_t size) { return text(std::span(whole).first(size)); };
    EXPECT_EQ(part(0), "");
    EXPECT_EQ(part(1), "");
    EXPECT_EQ(part(2), "");
    EXPECT_EQ(part(3), "300 to 1\n");
    EXPECT_EQ(part(4), "300 to 1\n");
    EXPECT_EQ(part(5), "300 to 1\n302 to 1\n");
}

TEST(OrderControlsTest, NobodyWaitsForARankThatStopsBefore) {
    const ControlMessage both{.from = 0, .after = 10, .to = 1, .before = 8, .world = 0};
    const auto left = [&](std::uint64_t from, std::uint64_t to) {
        Controls messages = {both};
        leaveOutBeyond(messages, {from, to});
        return messages.size();
    };
    EXPECT_EQ(left(10, 8), 1U);
    EXPECT_EQ(left(9, 8), 0U);
    EXPECT_EQ(left(9, 7), 1U); // both are behind their places: it is waited for later
    EXPECT_EQ(left(10, 7), 1U);
}

TEST(OrderControlsTest, TheyStandFirstInTheLogOfEveryRank) {
    Job job(3);
    sendLater(job, 1000);
    for (RankScript& rank : job.ranks) {
        rank.finalize();
    }
    const Timeline timeline = job.timeline();
    const OrderMarks marks = analyse(timeline).orderMarks(&timeline);
    const std::vector<std::string> expected = {"4 to 2\n", "", "3 from 0\n"};
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        const std::vector<std::byte> log =
            withControls(orderLogOf(timeline, RankId{rank}, 0, {}, &marks).bytes, marks.controls, RankId{rank});
        trace::OrderReader reader(log.data(), log.size());
        EXPECT_EQ(reader.kind(), trace::OrderKind::Controls);
        EXPECT_EQ(reader.event(), 0U);
        trace::OrderReader entry = reader;
        EXPECT_EQ(text(entry.controls()), expected[std::size_t(rank)]);
        reader.skip();
        EXPECT_EQ(reader.kind(), trace::OrderKind::Twin); // MPI_Init
        EXPECT_EQ(reader.event(), 1U);
    }
}

} // namespace
} // namespace stopline::replay::test
