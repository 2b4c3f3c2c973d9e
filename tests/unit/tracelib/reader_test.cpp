#include "image.h"

#include <gtest/gtest.h>

#include <random>

using namespace stopline;
using namespace stopline::trace;
using stopline::trace::testing::Mapping;
using stopline::trace::testing::sendDetails;

namespace {

/// Appends `count` events in a loop of a few signatures with random times; returns the times given.
std::vector<TimeNs> appendLoop(Mapping& mapping, int count, std::uint64_t seed, TimeNs longest = 300'000) {
    std::mt19937_64 random(seed);
    std::vector<TimeNs> times;
    TimeNs now = 1000;
    for (int i = 0; i < count; ++i) {
        now += static_cast<TimeNs>(random() % static_cast<std::uint64_t>(longest));
        mapping.recorder.append(sendDetails(i / 2 % 5, i % 2 == 0 ? EventKind::Begin : EventKind::End), now);
        times.push_back(now);
    }
    return times;
}

} // namespace

TEST(Reader, StagedEventsAreReadAtOnce) {
    Mapping mapping;
    mapping.recorder.append(sendDetails(7), 1000);
    mapping.recorder.append(sendDetails(7, EventKind::End), 2000);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.events().size(), 2U);
    EXPECT_EQ(reader.firstEvent(), EventIndex{1});
    EXPECT_EQ(reader.lastEvent(), EventIndex{2});
    const EventDetails& d = reader.details(reader.events()[0].details);
    EXPECT_EQ(d.function, FunctionId::Send);
    EXPECT_EQ(d.sendTag, 7);
    EXPECT_EQ(d.sendPeer, 1);
    EXPECT_EQ(d.site, CodeAddress{0x401234});
    EXPECT_EQ(reader.details(reader.events()[1].details).kind, EventKind::End);
    // The same image again says nothing new.
    ASSERT_EQ(reader.update(mapping.image()), "");
    EXPECT_EQ(reader.events().size(), 2U);
}

TEST(Reader, NothingYet) {
    Mapping mapping;
    RankReader reader;
    EXPECT_EQ(reader.update(mapping.image()), "");
    EXPECT_EQ(reader.lastEvent(), EventIndex{0});
}

TEST(Reader, HandoverFromStagingToBlocksLosesAndRepeatsNothing) {
    Mapping mapping;
    std::mt19937_64 random(1);
    RankReader pieces;
    int total = 0;
    std::vector<std::int32_t> tags;
    for (int round = 0; round < 200; ++round) {
        const int n = static_cast<int>(random() % 2000);
        for (int i = 0; i < n; ++i, ++total) {
            mapping.recorder.append(sendDetails(total % 300), total * 100);
        }
        if (round % 17 == 0) {
            mapping.recorder.flush();
        }
        ASSERT_EQ(pieces.update(mapping.image()), "") << round;
        ASSERT_EQ(pieces.lastEvent().value(), static_cast<std::uint64_t>(total));
    }
    EXPECT_GT(mapping.header().blockLength.load(), 0U);
    RankReader whole;
    ASSERT_EQ(whole.update(mapping.image()), "");
    ASSERT_EQ(whole.events().size(), pieces.events().size());
    for (std::size_t i = 0; i < whole.events().size(); ++i) {
        ASSERT_EQ(whole.details(whole.events()[i].details).sendTag, static_cast<std::int32_t>(i % 300));
        ASSERT_EQ(pieces.details(pieces.events()[i].details).sendTag, static_cast<std::int32_t>(i % 300));
        ASSERT_EQ(whole.events()[i].execution, pieces.events()[i].execution);
    }
}

TEST(Reader, PiecesAndDiscardedEventsChangeNothing) {
    Mapping mapping;
    appendLoop(mapping, 200'000, 11);
    const RankImage image = mapping.image();
    RankReader whole;
    ASSERT_EQ(whole.update(image), "");
    EXPECT_FALSE(whole.behind());
    ASSERT_EQ(whole.events().size(), 200'000U);
    RankReader pieces;
    std::size_t seen = 0;
    int turns = 0;
    do {
        ASSERT_EQ(pieces.update(image, 1000), "");
        ASSERT_EQ(pieces.firstEvent(), EventIndex{seen + 1});
        for (const DecodedEvent& event : pieces.events()) {
            ASSERT_EQ(event.execution, whole.events()[seen].execution);
            ASSERT_EQ(event.details, whole.events()[seen].details);
            ++seen;
        }
        pieces.discard(pieces.events().size());
        EXPECT_TRUE(pieces.events().empty());
        EXPECT_EQ(pieces.lastEvent(), EventIndex{seen});
        ++turns;
    } while (pieces.behind());
    EXPECT_EQ(seen, 200'000U);
    EXPECT_GT(turns, 3);
    // What comes later goes on there, and some of it may be kept.
    mapping.recorder.append(sendDetails(7), 1'000'000'000'000);
    mapping.recorder.append(sendDetails(7, EventKind::End), 1'000'000'000'001);
    ASSERT_EQ(pieces.update(mapping.image()), "");
    ASSERT_EQ(pieces.events().size(), 2U);
    pieces.discard(1);
    EXPECT_EQ(pieces.firstEvent(), EventIndex{200'002});
    EXPECT_EQ(pieces.lastEvent(), EventIndex{200'002});
    EXPECT_EQ(pieces.details(pieces.events()[0].details).kind, EventKind::End);
}

TEST(Reader, BlocksAreSelfContained) {
    Mapping mapping;
    for (int i = 0; i < 3000; ++i) {
        mapping.recorder.append(sendDetails(i % 7), i * 1000);
        if (i % 1000 == 999) {
            mapping.recorder.flush();
        }
    }
    RankImage image = mapping.image();
    RankReader all;
    ASSERT_EQ(all.update(image), "");
    // The first block dropped: numbers stay absolute, times too.
    BlockHeader first;
    std::memcpy(&first, image.blocks.data(), sizeof first);
    const std::size_t skip = sizeof first + ((first.compressedBytes + 7) & ~7U);
    image.blocks.erase(image.blocks.begin(), image.blocks.begin() + static_cast<std::ptrdiff_t>(skip));
    RankReader tail;
    ASSERT_EQ(tail.update(image), "");
    EXPECT_EQ(tail.firstEvent(), EventIndex{1001});
    EXPECT_EQ(tail.lastEvent(), EventIndex{3000});
    EXPECT_EQ(tail.events()[0].execution, all.events()[1000].execution);
    EXPECT_EQ(tail.events().back().execution, all.events().back().execution);
}

TEST(Reader, TimesNeverDrift) {
    for (const TimeNs tolerance : {TimeNs{0}, TimeNs{1000}, TimeNs{100'000}, TimeNs{1'000'000}}) {
        for (const TimeNs longest : {TimeNs{50}, TimeNs{20'000}, TimeNs{3'000'000}, TimeNs{20'000'000'000}}) {
            Mapping mapping(tolerance);
            const std::vector<TimeNs> times = appendLoop(mapping, 30000, 9, longest);
            RankReader reader;
            ASSERT_EQ(reader.update(mapping.image()), "");
            ASSERT_EQ(reader.events().size(), times.size());
            const TimeNs bound = std::max(tolerance, TimeNs{1} << (kExactShift - 1));
            TimeNs last = 0;
            for (std::size_t i = 0; i < times.size(); ++i) {
                const TimeNs error = reader.events()[i].execution - times[i];
                ASSERT_LE(error < 0 ? -error : error, bound)
                    << i << " tolerance " << tolerance << " longest " << longest;
                ASSERT_GE(reader.events()[i].execution, last);
                last = reader.events()[i].execution;
            }
            EXPECT_EQ(mapping.recorder.reconstructedTime(), last);
        }
    }
}

TEST(Reader, TimeThatGoesBackStandsStill) {
    Mapping mapping;
    mapping.recorder.append(sendDetails(1), 5'000'000);
    mapping.recorder.append(sendDetails(2), 1'000'000);
    mapping.recorder.append(sendDetails(3), 6'000'000);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    EXPECT_LE(reader.events()[0].execution, reader.events()[1].execution);
    EXPECT_NEAR(static_cast<double>(reader.events()[1].execution), 5e6, 1e5);
    EXPECT_NEAR(static_cast<double>(reader.events()[2].execution), 6e6, 1e5);
}

TEST(Reader, FailuresOfPolls) {
    Mapping mapping;
    DetailsView d;
    d.function = FunctionId::Test;
    mapping.recorder.append(d, 1);
    d.kind = EventKind::End;
    mapping.recorder.append(d, 2, 123456789);
    mapping.recorder.append(sendDetails(1), 3);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.events().size(), 3U);
    EXPECT_EQ(reader.events()[0].pollFailures, 0U);
    EXPECT_EQ(reader.events()[1].pollFailures, 123456789U);
}

TEST(Reader, FullDictionaryGoesOnInline) {
    Mapping mapping;
    const int count = 120'000;
    for (int i = 0; i < count; ++i) {
        mapping.recorder.append(sendDetails(i % 60'000), i * 100);
    }
    EXPECT_LE(mapping.header().dictionaryLength.load(), kDictionaryBytes);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.events().size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(reader.details(reader.events()[static_cast<std::size_t>(i)].details).sendTag, i % 60'000);
    }
    EXPECT_EQ(reader.detailsCount(), 60'000U); // inline ones are interned by the reader
}

TEST(Reader, ListsTooLongForARecordAreCutAndSaySo) {
    Mapping mapping;
    std::mt19937_64 random(6);
    std::vector<Completion> done(50'000);
    for (std::uint32_t i = 0; i < done.size(); ++i) {
        done[i] = {{static_cast<std::uint32_t>(random() % 100000)},
                   i,
                   {static_cast<std::int32_t>(random() % 64), 1, random(), false}};
    }
    DetailsView d;
    d.kind = EventKind::End;
    d.function = FunctionId::Waitall;
    d.completions = done.data();
    d.completionCount = static_cast<std::uint32_t>(done.size());
    mapping.recorder.append(d, 1);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    const EventDetails& read = reader.details(reader.events()[0].details);
    EXPECT_TRUE(read.truncated);
    ASSERT_GT(read.completions.size(), 1000U);
    for (std::size_t i = 0; i < read.completions.size(); ++i) {
        ASSERT_EQ(read.completions[i], done[i]);
    }
}

TEST(Recorder, FullFileStopsTheRecordingButNotTheCount) {
    Mapping mapping(0, kInitialFileBytes);
    std::mt19937_64 random(7);
    TimeNs now = 0;
    std::uint64_t appended = 0;
    while (!mapping.recorder.isOff() && appended < 5'000'000) {
        now += static_cast<TimeNs>(random() % 1'000'000'000);
        mapping.recorder.append(sendDetails(static_cast<std::int32_t>(random() % 1000)), now);
        ++appended;
    }
    ASSERT_TRUE(mapping.recorder.isOff());
    EXPECT_EQ(mapping.header().recordingOff.load(), static_cast<std::uint32_t>(ENOSPC));
    EXPECT_EQ(mapping.recorder.append(sendDetails(1), now), appended + 1);
    EXPECT_EQ(mapping.header().eventCount.load(), appended + 1);
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    EXPECT_GT(reader.lastEvent().value(), 100'000U);
    EXPECT_LT(reader.lastEvent().value(), appended);
}

TEST(Reader, CommsAndStops) {
    Mapping mapping;
    const std::int32_t members[] = {0, 1, 2, 5};
    EXPECT_EQ(mapping.recorder.addComm({11, CommKind::World, kNoComm, 0, members, 4, nullptr, 0}),
              CommIndex{0});
    EXPECT_EQ(
        mapping.recorder.addComm({12, CommKind::InterCreate, kCommWorld, 3, members, 1, members + 1, 2}),
        CommIndex{1});
    auto* stops = reinterpret_cast<MappedStop*>(mapping.bytes() + kStopOffset);
    stops[0].event = 5;
    stops[0].beginNs = 10;
    stops[0].endNs = 30;
    stops[0].ready = 1;
    stops[2].event = 6; // the one before it is being written
    stops[2].ready = 1;
    mapping.header().stopCount = 3;
    mapping.header().originNs = 77;
    RankReader reader;
    ASSERT_EQ(reader.update(mapping.image()), "");
    ASSERT_EQ(reader.comms().size(), 2U);
    EXPECT_EQ(reader.comms()[0].members, (std::vector<std::int32_t>{0, 1, 2, 5}));
    EXPECT_EQ(reader.comms()[1].remote, (std::vector<std::int32_t>{1, 2}));
    EXPECT_EQ(reader.comms()[1].ordinal, 3U);
    ASSERT_EQ(reader.stops().size(), 2U);
    EXPECT_EQ(reader.stops()[0].end, 30);
    EXPECT_EQ(reader.originNs(), 77);
    stops[1].ready = 1;
    ASSERT_EQ(reader.update(mapping.image()), "");
    EXPECT_EQ(reader.stops().size(), 3U);
}

TEST(Reader, CommRegionFull) {
    Mapping mapping;
    std::vector<std::int32_t> members(5000);
    std::mt19937_64 random(8);
    for (std::int32_t& m : members) {
        m = static_cast<std::int32_t>(random() % 100000);
    }
    int fit = 0;
    while (mapping.recorder.addComm({1, CommKind::Dup, kNoComm, 0, members.data(), 5000, nullptr, 0}) !=
           kNoComm) {
        ++fit;
    }
    EXPECT_GT(fit, 5);
    RankReader reader;
    EXPECT_EQ(reader.update(mapping.image()), "");
    EXPECT_EQ(reader.comms().size(), static_cast<std::size_t>(fit));
}

TEST(HostileReader, WrongHeadersAreNamed) {
    Mapping mapping;
    RankImage image = mapping.image();
    RankReader reader;
    image.header.resize(10);
    EXPECT_NE(reader.update(image).find("cut off"), std::string::npos);
    image = mapping.image();
    image.header[0] ^= std::byte{1};
    EXPECT_NE(reader.update(image).find("no recording"), std::string::npos);
    image = mapping.image();
    const auto old = static_cast<std::byte>(kOldestReadVersion);
    image.header[offsetof(MappingHeader, formatVersion)] = old;
    EXPECT_EQ(RankReader().update(image), "");
    image.header[offsetof(MappingHeader, formatVersion)] = static_cast<std::byte>(kOldestReadVersion - 1);
    EXPECT_NE(RankReader().update(image).find("version 6"), std::string::npos);
    image.header[offsetof(MappingHeader, formatVersion)] = static_cast<std::byte>(kFormatVersion + 1);
    EXPECT_NE(reader.update(image).find("version " + std::to_string(kFormatVersion + 1) + ","), std::string::npos);
}

TEST(HostileReader, DamageNamesTheBlockAndKeepsWhatWasBefore) {
    Mapping mapping;
    for (int i = 0; i < 3000; ++i) {
        mapping.recorder.append(sendDetails(i % 7), i * 1000);
        if (i % 1000 == 999) {
            mapping.recorder.flush();
        }
    }
    RankImage image = mapping.image();
    BlockHeader first;
    std::memcpy(&first, image.blocks.data(), sizeof first);
    const std::size_t second = sizeof first + ((first.compressedBytes + 7) & ~7U);
    image.blocks[second + sizeof first + 20] ^= std::byte{4};
    RankReader reader;
    const std::string error = reader.update(image);
    EXPECT_EQ(error.rfind("block 1 ", 0), 0U) << error;
    EXPECT_EQ(reader.lastEvent(), EventIndex{1000});
    // Repaired, it goes on where it stopped.
    EXPECT_EQ(reader.update(mapping.image()), "");
    EXPECT_EQ(reader.lastEvent(), EventIndex{3000});
}

TEST(HostileReader, EveryTruncationAndEveryBitFlip) {
    Mapping mapping;
    for (int i = 0; i < 60; ++i) {
        mapping.recorder.append(sendDetails(i % 5), i * 777'777);
        if (i == 19 || i == 39) {
            mapping.recorder.flush();
        }
    }
    const std::int32_t members[] = {0, 1, 2, 5};
    mapping.recorder.addComm({11, CommKind::World, kNoComm, 0, members, 4, nullptr, 0});
    const RankImage good = mapping.image();
    std::vector<std::byte> RankImage::*parts[] = {&RankImage::header, &RankImage::dictionary,
                                                  &RankImage::comms, &RankImage::blocks};
    int silent = 0;
    int tried = 0;
    for (const auto part : parts) {
        for (std::size_t size = 0; size < (good.*part).size(); ++size) {
            RankImage image = good;
            (image.*part).resize(size);
            RankReader reader;
            (void)reader.update(image);
            EXPECT_LE(reader.events().size(), 60U);
        }
        for (std::size_t bit = 0; bit < (good.*part).size() * 8; ++bit) {
            RankImage image = good;
            (image.*part)[bit / 8] ^= std::byte(1U << (bit % 8));
            RankReader reader;
            const std::string error = reader.update(image);
            if (part == &RankImage::blocks) {
                ++tried;
                silent += error.empty() ? 1 : 0;
            }
            EXPECT_LE(reader.events().size(), 100U);
        }
    }
    // Only the padding is not covered by the checksum.
    EXPECT_LE(silent, 2 * 7 * 8);
    EXPECT_GT(tried, 1000);
}
