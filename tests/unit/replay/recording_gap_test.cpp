// A recording of which events were overwritten before they could be read.
#include "../../bench/timeline/halo.h"

#include "../../../replay/recording.h"
#include "../../../tracelib/history_advance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace stopline::replay {
namespace {

constexpr std::int32_t kRanks = 4;

/// Halves of messages by event, of those that are matched.
std::set<std::array<std::uint64_t, 4>> pairsOf(const Timeline& timeline) {
    std::set<std::array<std::uint64_t, 4>> pairs;
    for (const Message& m : timeline.messages()) {
        if (m.state == MessageState::Matched) {
            pairs.insert({std::uint64_t(m.send->rank.value()), timeline.call(*m.send).begin.value(),
                          std::uint64_t(m.post->rank.value()), timeline.call(*m.post).begin.value()});
        }
    }
    return pairs;
}

/// Reading was overtaken on two of the ranks: what had been read stays, in a recording of its own.
TEST(Recording, WhatWasReadBeforeAGapIsKept) {
    constexpr std::uint64_t kMany = 20'000; // several blocks
    Recording whole(kRanks);
    Recording overtaken(kRanks);
    std::vector<std::uint64_t> read;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const trace::RankImage image = bench::recording(rank, kRanks, kMany);
        QString error;
        EXPECT_FALSE(whole.feed(RankId{rank}, image, error).has_value());
        trace::RankImage early = image;
        trace::BlockHeader block{};
        std::memcpy(&block, image.blocks.data(), sizeof block);
        early.blocks.resize(sizeof block + ((std::size_t{block.compressedBytes} + 7) & ~std::size_t{7}));
        std::memset(early.header.data() + offsetof(trace::MappingHeader, stagedIds), 0,
                    sizeof(std::uint32_t));
        EXPECT_FALSE(overtaken.feed(RankId{rank}, early, error).has_value());
        EXPECT_EQ(error, QString());
        EXPECT_EQ(overtaken.timeline().lastEvent(RankId{rank}).value(), block.eventCount);
        read.push_back(block.eventCount);
    }
    const auto pairsBefore = pairsOf(overtaken.timeline());
    EXPECT_FALSE(pairsBefore.empty());
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        trace::RankImage image = bench::recording(rank, kRanks, kMany);
        const bool gap = rank == 1 || rank == 2;
        if (gap) {
            trace::HistoryAdvance::leaveOut(image, 60'000);
        }
        QString error;
        EXPECT_FALSE(overtaken.feed(RankId{rank}, image, error).has_value());
        EXPECT_EQ(error, QString());
        EXPECT_EQ(overtaken.startDue(), rank >= 1);
    }
    const std::unique_ptr<Recording> before = overtaken.startAnew();
    EXPECT_FALSE(overtaken.startDue());
    ASSERT_NE(before, nullptr);
    const Timeline& was = before->timeline();
    const Timeline& is = overtaken.timeline();
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const RankId id{rank};
        const bool gap = rank == 1 || rank == 2;
        const std::uint64_t all = whole.timeline().lastEvent(id).value();
        EXPECT_EQ(was.firstEvent(id).value(), 1U);
        EXPECT_EQ(was.lastEvent(id).value(), gap ? read[std::size_t(rank)] : all);
        EXPECT_EQ(was.brokenOff(id), gap);
        EXPECT_EQ(is.brokenOff(id), false);
        EXPECT_EQ(is.lastEvent(id).value(), all);
        EXPECT_EQ(is.unreadFrom(id).value(), gap ? read[std::size_t(rank)] + 1 : 0);
        if (gap) {
            EXPECT_GT(is.firstEvent(id), is.unreadFrom(id));
        } else {
            EXPECT_EQ(is.firstEvent(id).value(), 1U);
        }
        for (std::uint64_t event = 1; event <= read[std::size_t(rank)]; ++event) {
            ASSERT_EQ(was.details(id, was.eventDetails(id, EventIndex{event})),
                      whole.timeline().details(id, whole.timeline().eventDetails(id, EventIndex{event})));
        }
    }
    const auto pairsNow = pairsOf(was);
    EXPECT_TRUE(std::includes(pairsNow.begin(), pairsNow.end(), pairsBefore.begin(), pairsBefore.end()));
    // The mark goes when the history starts even later, and stays when it does not.
    overtaken.setMostEvents(8'000);
    ASSERT_TRUE(overtaken.startDue());
    EXPECT_EQ(overtaken.startAnew(), nullptr);
    EXPECT_EQ(overtaken.timeline().unreadFrom(RankId{1}).value(), 0U);
}

} // namespace
} // namespace stopline::replay
