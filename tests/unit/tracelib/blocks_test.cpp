// What the recorder leaves out of blocks because it can be guessed, comes back.
#include "image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <utility>
#include <vector>

using namespace stopline;
using namespace stopline::trace;
using namespace stopline::trace::testing;

TEST(Reader, BlocksGiveBackEveryEventOfAnyProgram) {
    // Loops with exceptions, polls among them, many and few details, in blocks and staging: all as appended.
    for (const int kinds : {3, 40, 50'000}) {
        Mapping mapping;
        std::mt19937_64 random(static_cast<std::uint64_t>(kinds));
        struct Appended {
            std::int32_t tag;
            EventKind kind;
            std::uint64_t failures;
        };
        std::vector<Appended> appended;
        TimeNs now = 0;
        for (int i = 0; i < 100'000; ++i) {
            const int tag =
                random() % 16 == 0 ? static_cast<int>(random() % static_cast<unsigned>(kinds)) : i % 3;
            const EventKind kind = i % 2 == 0 ? EventKind::Begin : EventKind::End;
            DetailsView d = sendDetails(tag, EventKind::Begin);
            d.kind = kind;
            d.function = tag % 3 == 2 ? FunctionId::Iprobe : FunctionId::Send;
            const bool pollEnd = tag % 3 == 2 && kind == EventKind::End;
            const std::uint64_t failures = pollEnd ? random() % 1000 : 0;
            now += static_cast<TimeNs>(random() % (i % 1000 == 0 ? 100'000'000 : 3'000));
            ASSERT_EQ(mapping.recorder.append(d, now, failures), static_cast<std::uint64_t>(i) + 1);
            appended.push_back({tag, kind, failures});
        }
        EXPECT_GT(mapping.header().blockLength.load(), 0U);
        RankReader reader;
        ASSERT_EQ(reader.update(mapping.image()), "");
        ASSERT_EQ(reader.events().size(), appended.size());
        for (std::size_t i = 0; i < appended.size(); ++i) {
            const DecodedEvent& event = reader.events()[i];
            ASSERT_EQ(reader.details(event.details).sendTag, appended[i].tag) << i;
            ASSERT_EQ(reader.details(event.details).kind, appended[i].kind) << i;
            ASSERT_EQ(event.pollFailures, appended[i].failures) << i;
        }
    }
}

TEST(Recorder, HeaderThatTheProgramOverwritesDoesNotSayWhereIsWritten) {
    constexpr std::size_t kLimit = std::size_t{16} << 20;
    Mapping sound(kDefaultToleranceNs, kLimit);
    Mapping broken(kDefaultToleranceNs, kLimit);
    for (Mapping* mapping : {&sound, &broken}) {
        std::mt19937_64 random(3);
        TimeNs now = 0;
        for (int i = 0; i < 200'000; ++i) {
            if (mapping == &broken && i % 50'000 == 49'999) {
                std::memset(mapping->bytes(), i < 100'000 ? 0xff : 0, sizeof(MappingHeader));
            }
            const auto kind = i % 2 == 0 ? EventKind::Begin : EventKind::End;
            mapping->recorder.append(sendDetails(static_cast<std::int32_t>(random() % 50'000), kind),
                                     now += static_cast<TimeNs>(random() % 3'000));
            if (i % 10'000 == 0) {
                CommView comm;
                comm.id = static_cast<std::uint64_t>(i) + 1;
                EXPECT_EQ(mapping->recorder.addComm(comm), CommIndex{static_cast<std::uint32_t>(i / 10'000)});
            }
        }
        mapping->recorder.flush();
    }
    ASSERT_GT(sound.header().blockLength.load(), 2 * kStagingBytes);
    EXPECT_EQ(std::memcmp(sound.bytes() + kHeaderBytes, broken.bytes() + kHeaderBytes, kLimit - kHeaderBytes),
              0);
}

TEST(Reader, WhatRepeatsTakesNextToNothing) {
    Mapping mapping;
    TimeNs now = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        mapping.recorder.append(sendDetails(i / 2 % 7, i % 2 == 0 ? EventKind::Begin : EventKind::End),
                                now += 400);
    }
    mapping.recorder.flush();
    EXPECT_LT(mapping.header().blockLength.load(), 500'000 / 50); // a fiftieth of a byte a call
}

namespace {

/// Raw bytes of tokens and ids in all blocks.
std::size_t predictionBytes(Mapping& mapping) {
    std::size_t bytes = 0;
    for (std::uint64_t at = 0; at < mapping.header().blockLength;) {
        BlockHeader block;
        std::memcpy(&block, mapping.bytes() + kBlockOffset + at, sizeof block);
        bytes += block.tokenBytes + block.idBytes;
        at += sizeof block + ((block.compressedBytes + 7U) & ~7U);
    }
    return bytes;
}

} // namespace

TEST(Reader, TurnsOfALoopThatDifferOnlyAtTheirEndsAreToldApart) {
    Mapping mapping;
    TimeNs now = 0;
    constexpr int kSteps = 4000;
    constexpr int kPhases = 40;
    // Two calls that are the same in every phase, then one of its own.
    std::vector<int> tags;
    for (int phase = 0; phase < kPhases; ++phase) {
        tags.insert(tags.end(), {0, 1, 2 + phase});
    }
    for (int step = 0; step < kSteps; ++step) {
        for (const int tag : tags) {
            mapping.recorder.append(sendDetails(tag, EventKind::Begin), now += 400);
            mapping.recorder.append(sendDetails(tag, EventKind::End), now += 400);
        }
    }
    mapping.recorder.flush();
    constexpr std::size_t kCalls = std::size_t{kSteps} * kPhases * 3;
    EXPECT_LT(mapping.header().blockLength, kCalls * 11 / 1000); // 0.011 byte a call
    EXPECT_LT(predictionBytes(mapping), kCalls / 30);            // a first step in each block
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.events().size(), kCalls * 2);
    for (std::size_t i = 0; i < kCalls * 2; i += 2) {
        ASSERT_EQ(reader.details(reader.events()[i].details).sendTag, tags[i / 2 % tags.size()]) << i;
    }
}

TEST(Reader, DetailsThatAreAllNewTakeLittleMoreThanTheDictionary) {
    Mapping mapping;
    TimeNs now = 0;
    constexpr int kCalls = 30'000;
    for (int i = 0; i < kCalls; ++i) {
        mapping.recorder.append(sendDetails(i, EventKind::Begin), now += 400);
        mapping.recorder.append(sendDetails(0, EventKind::End), now += 400);
    }
    mapping.recorder.flush();
    EXPECT_LT(mapping.header().blockLength, kCalls / 9);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    for (std::size_t i = 0; i < std::size_t{kCalls}; ++i) {
        ASSERT_EQ(reader.details(reader.events()[2 * i].details).sendTag, static_cast<std::int32_t>(i));
        ASSERT_EQ(reader.details(reader.events()[2 * i + 1].details).kind, EventKind::End);
    }
}

TEST(Recorder, KeysGiveTheDetailsOfTheirCallSite) {
    Mapping mapping;
    int filled = 0;
    const auto append = [&](std::uint64_t site, std::int32_t tag) {
        const QuickKey key{{site, static_cast<std::uint64_t>(tag), 0, 0, 0, 0, 0}};
        mapping.recorder.append(key, 0, [&](DetailsView& d) {
            d = sendDetails(tag);
            d.site = CodeAddress{site};
            ++filled;
        });
    };
    std::vector<std::pair<std::uint64_t, std::int32_t>> all;
    for (int i = 0; i < 3000; ++i) {
        // More call sites than the table has cells, and sites that change what they do.
        const std::uint64_t site = 0x400000 + static_cast<std::uint64_t>(i % 1500) * 5;
        all.emplace_back(site, i % 2 == 0 ? 7 : i / 100);
        append(all.back().first, all.back().second);
    }
    EXPECT_GT(filled, 1500);
    filled = 0;
    for (int i = 0; i < 1000; ++i) {
        all.emplace_back(0x500000, 9);
        append(0x500000, 9);
    }
    EXPECT_EQ(filled, 1);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.events().size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const EventDetails& d = reader.details(reader.events()[i].details);
        ASSERT_EQ(d.site, CodeAddress{all[i].first});
        ASSERT_EQ(d.sendTag, all[i].second);
    }
}

TEST(Signatures, DetailsThatDifferDoNotCrowdTheTable) {
    // The tags are random: steps taken in the table of signatures must stay few, whatever their bytes are.
    const auto memory = std::make_unique<SignatureMemory>();
    std::memset(static_cast<void*>(memory.get()), 0, sizeof *memory);
    std::vector<std::byte> mapping(kStopOffset);
    new (mapping.data()) MappingHeader();
    Signatures signatures;
    signatures.open(mapping.data(), memory.get());
    std::mt19937_64 random(11);
    for (std::uint32_t i = 0; i < 30'000; ++i) {
        std::size_t size = 0;
        (void)signatures.numberOf(sendDetails(static_cast<std::int32_t>(random() % 1'000'000'000)), size);
    }
    std::size_t steps = 0;
    std::size_t used = 0;
    for (std::size_t cell = 0; cell < SignatureMemory::kCells; ++cell) {
        if (const std::uint32_t number = memory->cells[cell]; number != 0) {
            ++used;
            steps += (cell - memory->signatures[number - 1].hash) % SignatureMemory::kCells;
        }
    }
    EXPECT_GT(used, 20'000U);
    EXPECT_LT(steps, used * 2); // ideal hashing at this load: about 0.4 a signature
}
