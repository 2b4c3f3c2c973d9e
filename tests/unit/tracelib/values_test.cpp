// The log of times and random bytes: what is written is read again, and damage ends it.
#include "../../../tracelib/values.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>
#include <vector>

using namespace stopline::trace;

namespace {

struct Item {
    ValueKind kind;
    std::uint64_t event;
    std::int64_t value;
    std::vector<std::byte> random = {};
};

std::vector<std::byte> written(const std::vector<Item>& items) {
    std::vector<std::byte> log;
    ValueWriter writer;
    for (const Item& item : items) {
        const std::size_t used = log.size();
        log.resize(used + ValueWriter::kItemBytes + item.random.size());
        log.resize(used + writer.put(log.data() + used, item.kind, item.event, item.value, item.random.data()));
    }
    return log;
}

const std::vector<Item> kItems = {
    {ValueKind::Time, 0, 1'795'903'338},
    {ValueKind::Clock, 2, 16'758'904'620'798},
    {ValueKind::Wtime, 2, std::bit_cast<std::int64_t>(0.0)},
    {ValueKind::Wtime, 2, std::bit_cast<std::int64_t>(1.25)},
    {ValueKind::Wtime, 9, std::bit_cast<std::int64_t>(-3.5e300)},
    {ValueKind::Clock, 9, std::numeric_limits<std::int64_t>::max()},
    {ValueKind::Clock, 9, std::numeric_limits<std::int64_t>::min()},
    {ValueKind::Random, 1000, 3, {std::byte{1}, std::byte{255}, std::byte{0}}},
    {ValueKind::Random, 1000, -1},
    {ValueKind::Sent, 1000, std::numeric_limits<std::int64_t>::min()},
    {ValueKind::Base, 1000, -1},
    {ValueKind::Heap, 1000, std::numeric_limits<std::int64_t>::min()},
    {ValueKind::Buffer, 1001, 0x7fff'f7d3'2010},
    {ValueKind::Pid, 1002, 4711},
    {ValueKind::Sent, 1002, 5},
    {ValueKind::Processor, std::uint64_t{1} << 60, 7},
    {ValueKind::Day, std::uint64_t{1} << 60, 1'795'903'338'798'404},
};

} // namespace

TEST(Values, WhatIsWrittenIsReadAgain) {
    const std::vector<std::byte> log = written(kItems);
    ValueReader reader(log.data(), log.size());
    for (const Item& item : kItems) {
        ASSERT_EQ(reader.kind(), item.kind);
        EXPECT_EQ(reader.event(), item.event);
        EXPECT_EQ(reader.value(), item.value);
        if (!item.random.empty()) {
            EXPECT_EQ(std::vector<std::byte>(reader.bytes(), reader.bytes() + reader.value()), item.random);
        }
        reader.next();
    }
    EXPECT_EQ(reader.kind(), ValueKind::None);
}

TEST(Values, ALoopThatAsksForTheTimeTakesTwoBytesATurn) {
    std::vector<Item> items;
    for (std::int64_t turn = 0; turn < 1000; ++turn) {
        items.push_back({static_cast<ValueKind>(2), 12, 16'758'904'620'798 + turn * 60});
    }
    EXPECT_LE(written(items).size(), 3000U + 10U);
}

TEST(Values, LogsThatDifferInWhereMemoryIsAreOfOneLength) {
    EXPECT_EQ(written({{ValueKind::Heap, 2, 0}, {ValueKind::Buffer, 3, 16}, {ValueKind::Buffer, 5, 0x5555'5557'12a0}}).size(),
              written({{ValueKind::Heap, 2, -7}, {ValueKind::Buffer, 3, 0x7fff'f7d3'2010}, {ValueKind::Buffer, 5, 16}}).size());
}

TEST(Values, AnItemNeverNeedsMoreRoomThanStated) {
    const std::vector<std::byte> log = written({{ValueKind::Wtime, ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::min()}});
    EXPECT_EQ(log.size(), ValueWriter::kItemBytes);
}

TEST(Values, ACutLogHasItsWholeItemsAndEnds) {
    const std::vector<std::byte> log = written(kItems);
    for (std::size_t size = 0; size < log.size(); ++size) {
        ValueReader reader(log.data(), size);
        std::size_t read = 0;
        for (; reader.kind() != ValueKind::None; reader.next()) {
            ASSERT_LT(read, kItems.size());
            EXPECT_EQ(reader.value(), kItems[read].value) << "cut at " << size;
            ++read;
        }
        EXPECT_LT(read, kItems.size()) << "cut at " << size;
    }
}

TEST(Values, RandomBytesAreReadWithoutHarm) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> log(random() % 64);
        for (std::byte& byte : log) {
            byte = std::byte(random() & 0xffU);
        }
        ValueReader reader(log.data(), log.size());
        for (int items = 0; reader.kind() != ValueKind::None; ++items) {
            ASSERT_LE(items, 64);
            if (reader.kind() == ValueKind::Random && reader.value() > 0) {
                ASSERT_LE(reader.bytes() + reader.value(), log.data() + log.size());
            }
            reader.next();
        }
    }
}
