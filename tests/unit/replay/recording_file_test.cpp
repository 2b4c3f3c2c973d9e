// The file of a recording: what is written is read back.
#include "recording_fixture.h"

#include "../../../replay/recording_summary.h"

#include <QFile>

#include <tuple>

namespace stopline::replay {
namespace {

using namespace test;

TEST_F(RecordingFileTest, WhatIsWrittenIsRead) {
    write();
    EXPECT_FALSE(QFile::exists(QString::fromStdString(m_path + ".part")));
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    EXPECT_TRUE(file.problems.empty());
    EXPECT_TRUE(file.finished);
    EXPECT_EQ(file.chunks, m_chunks.size());
    EXPECT_EQ(file.stopline, "9.9");
    EXPECT_EQ(file.command, (std::vector<std::string>{"mpirun", "-n", "4", "./a b"}));
    EXPECT_EQ(file.directory, "/home");
    EXPECT_EQ(file.started, 1'700'000'000'000'000'000);
    EXPECT_EQ(file.took, 1500);
    EXPECT_EQ(file.exitCode, 3);
    ASSERT_EQ(file.rankCount(), kRanks);
    for (std::int32_t i = 0; i < kRanks; ++i) {
        const RecordedRank& rank = file.ranks[static_cast<std::size_t>(i)];
        const trace::RankImage& image = imageOf(i);
        EXPECT_TRUE(rank.present);
        EXPECT_TRUE(rank.ended);
        EXPECT_EQ(rank.host, "node");
        EXPECT_EQ(rank.waitStatus, 256);
        EXPECT_EQ(rank.faults, "a\nb");
        ASSERT_EQ(rank.modules.size(), 2U);
        EXPECT_EQ(rank.modules[0], (CodeModule{0x1000, 0x2000, 0, "ab12", "/bin/app one"}));
        EXPECT_EQ(rank.modules[1], (CodeModule{0x7f00, 0x8000, 0x100, "", "/lib/x.so"}));
        EXPECT_EQ(rank.image.header, image.header);
        EXPECT_EQ(rank.image.dictionary, image.dictionary);
        EXPECT_EQ(rank.image.comms, image.comms);
        EXPECT_EQ(rank.image.stops, image.stops);
        EXPECT_EQ(rank.image.blocks, image.blocks);
    }
    ASSERT_EQ(file.sites.size(), 1U);
    EXPECT_EQ(file.sites.begin()->second, (SiteText{"/src/app.c", 7, "main"}));
}

TEST_F(RecordingFileTest, TheTimelineIsThatOfTheImages) {
    write();
    LoadedRecording loaded;
    ASSERT_EQ(loadRecording(QString::fromStdString(m_path), loaded), QString());
    EXPECT_EQ(loaded.problems, QStringList());
    const Timeline& timeline = loaded.recording->timeline();
    ASSERT_EQ(timeline.rankCount(), kRanks);
    for (std::int32_t i = 0; i < kRanks; ++i) {
        EXPECT_EQ(timeline.lastEvent(RankId{i}), EventIndex{12 * kIterations});
        EXPECT_EQ(endText(loaded.file.ranks[static_cast<std::size_t>(i)]),
                  QStringLiteral("exited with code 1"));
    }
    EXPECT_EQ(timeline.messages().size(), std::size_t{2 * kIterations * kRanks});
    EXPECT_TRUE(timeline.openMessages().empty());
}

TEST_F(RecordingFileTest, MoreEventsThanAreToBeShownAreToldInOneLine) {
    constexpr std::uint64_t kAll = 12 * std::uint64_t{kIterations} * std::uint64_t{kRanks};
    write();
    LoadedRecording whole;
    ASSERT_EQ(loadRecording(QString::fromStdString(m_path), whole, nullptr, kAll), QString());
    EXPECT_EQ(whole.notes.filter(QStringLiteral("history")), QStringList());
    LoadedRecording loaded;
    ASSERT_EQ(loadRecording(QString::fromStdString(m_path), loaded, nullptr, kAll / 4), QString());
    const Timeline& timeline = loaded.recording->timeline();
    for (std::int32_t i = 0; i < kRanks; ++i) {
        EXPECT_EQ(timeline.lastEvent(RankId{i}), EventIndex{12 * kIterations});
        EXPECT_GT(timeline.firstEvent(RankId{i}), EventIndex{1});
        EXPECT_GE(12 * kIterations - timeline.firstEvent(RankId{i}).value() + 1, kAll / 4 / kRanks);
    }
    EXPECT_EQ(loaded.notes.filter(QStringLiteral("history")),
              QStringList{QStringLiteral("The ranks have more than %1 events together, of which the latest are shown "
                                         "(--history-events): the history of rank 0 starts at event %2, and 3 other ranks "
                                         "start late, too.")
                              .arg(kAll / 4)
                              .arg(timeline.firstEvent(RankId{0}).value())});
}

/// As it is while a rank runs: its parts grow, and the staging area is there only at the end.
TEST_F(RecordingFileTest, PiecesMakeTheSameStreams) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    const trace::RankImage& whole = imageOf(1);
    trace::RankImage growing = whole;
    const auto part = [](const std::vector<std::byte>& from, std::size_t of, std::size_t all) {
        return std::vector<std::byte>(from.begin(),
                                      from.begin() + static_cast<std::ptrdiff_t>(from.size() * of / all));
    };
    for (std::size_t step = 0; step <= 50; ++step) {
        growing.dictionary = part(whole.dictionary, step, 50);
        growing.comms = part(whole.comms, step, 50);
        growing.blocks = part(whole.blocks, step, 50); // mostly in the middle of a block
        EXPECT_TRUE(writer.addImage(1, growing, false));
        EXPECT_TRUE(writer.addImage(1, growing, false)); // nothing new
    }
    // An agent that has dropped the old blocks of a rank: they are in the file already.
    growing.blocks.clear();
    EXPECT_TRUE(writer.addImage(1, whole, true));
    writeEnd(writer);
    ASSERT_EQ(writer.finish(), "");
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    EXPECT_TRUE(file.problems.empty());
    EXPECT_EQ(file.ranks[1].image.dictionary, whole.dictionary);
    EXPECT_EQ(file.ranks[1].image.comms, whole.comms);
    EXPECT_EQ(file.ranks[1].image.blocks, whole.blocks);
}

/// An image that lets go of what is written gives the same file.
TEST_F(RecordingFileTest, BlocksThatAreWrittenNeedNotBeKept) {
    const trace::RankImage& whole = imageOf(3);
    const auto contents = [&](bool released) {
        RecordingWriter writer;
        EXPECT_EQ(writer.open(m_path), "");
        EXPECT_EQ(writer.blocksWritten(3), 0U);
        trace::RankImage image = whole;
        image.blocks.clear();
        constexpr std::size_t kSteps = 40;
        for (std::size_t step = 1; step <= kSteps; ++step) {
            const auto at = [&](std::size_t of) {
                return whole.blocks.begin() + static_cast<std::ptrdiff_t>(whole.blocks.size() * of / kSteps);
            };
            image.blocks.insert(image.blocks.end(), at(step - 1), at(step)); // mostly in the middle of a block
            EXPECT_TRUE(writer.addImage(3, image, step == kSteps));
            if (released) {
                trace::releaseBlocks(image, writer.blocksWritten(3));
                EXPECT_LE(image.blocks.size(), whole.blocks.size() / 4);
            }
        }
        EXPECT_EQ(writer.blocksWritten(3), whole.blocks.size());
        writeEnd(writer);
        EXPECT_EQ(writer.finish(), "");
        return contentsOf(m_path);
    };
    const std::string kept = contents(false);
    EXPECT_EQ(contents(true), kept);
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    EXPECT_EQ(file.ranks[3].image.blocks, whole.blocks);
}

/// What counting a recording holds at once does not depend on how long it is.
TEST_F(RecordingFileTest, AllEventsAreCountedPieceByPiece) {
    constexpr std::uint64_t kLatest = 100'000;
    constexpr std::size_t kMostDecoded = (std::size_t{1} << 16) + trace::kStagingBytes; // and the rest of a block
    for (const std::uint64_t iterations : {5'000U, 100'000U}) {
        RecordingWriter writer;
        ASSERT_EQ(writer.open(m_path), "");
        EXPECT_TRUE(writer.add(ChunkType::Job, -1, encodeFileFields({{"stopline", "9.9"}, {"command", "./a"}, {"ranks", "4"}})));
        std::vector<std::uint64_t> bytes;
        std::size_t longest = 0;
        for (std::int32_t rank = 0; rank < kRanks; ++rank) {
            const trace::RankImage image = bench::recording(rank, kRanks, iterations);
            EXPECT_TRUE(writer.add(ChunkType::Rank, rank, encodeFileFields({{"host", "node"}, {"program", "./a"}})));
            trace::RankImage growing = image;
            growing.blocks.clear();
            for (std::size_t step = 1; step < 20; ++step) { // as it comes while a rank runs: in many pieces
                growing.blocks.assign(image.blocks.begin(), image.blocks.begin() + std::ptrdiff_t(image.blocks.size() * step / 20));
                EXPECT_TRUE(writer.addImage(rank, growing, false));
            }
            EXPECT_TRUE(writer.addImage(rank, image, true));
            longest = image.blocks.size();
            bytes.push_back(image.dictionary.size() + image.comms.size() + image.blocks.size());
        }
        writeEnd(writer);
        ASSERT_EQ(writer.finish(), "");

        RecordingFile file;
        ASSERT_EQ(readRecordingFile(m_path, file, BlocksIn::File), "");
        EXPECT_TRUE(file.problems.empty());
        std::string wrong;
        const std::vector<RankTally> tallies = tallyRecording(m_path, file, wrong);
        EXPECT_EQ(wrong, "");
        ASSERT_EQ(tallies.size(), std::size_t(kRanks));
        LoadedRecording whole;
        ASSERT_EQ(loadRecording(QString::fromStdString(m_path), whole), QString());
        LoadedRecording latest;
        ASSERT_EQ(loadRecording(QString::fromStdString(m_path), latest, nullptr, kLatest, Tallied::Yes), QString());
        std::uint64_t kept = 0;
        for (std::int32_t rank = 0; rank < kRanks; ++rank) {
            const auto index = static_cast<std::size_t>(rank);
            const RankTally& tally = tallies[index];
            EXPECT_TRUE(file.ranks[index].image.blocks.empty());
            if (iterations == 100'000U) {
                EXPECT_LE(tally.largestImage * 4, longest);
            }
            EXPECT_LE(tally.mostEvents, kMostDecoded);
            const Timeline& timeline = whole.recording->timeline();
            const RankTally expected = tallyTimeline(timeline, RankId{rank});
            EXPECT_EQ(tally.firstEvent, 1U);
            EXPECT_EQ(tally.lastEvent, timeline.lastEvent(RankId{rank}).value());
            EXPECT_EQ(tally.lastEvent, iterations * 12);
            EXPECT_EQ(tally.calls, timeline.callCount(RankId{rank}));
            EXPECT_EQ(tally.bytes, bytes[index]);
            ASSERT_EQ(tally.uses.size(), expected.uses.size());
            for (const auto& [function, use] : tally.uses) {
                const RankTally::Use& other = expected.uses.at(function);
                EXPECT_EQ(std::tie(use.calls, use.sent, use.received), std::tie(other.calls, other.sent, other.received));
            }
            EXPECT_EQ(latest.tallies[index].calls, tally.calls);
            const Timeline& some = latest.recording->timeline();
            kept += some.lastEvent(RankId{rank}).value() + 1 - some.firstEvent(RankId{rank}).value();
        }
        EXPECT_LE(kept, kLatest + kRanks * trace::kStagingBytes); // blocks are taken whole
        const bool more = kept < 4 * tallies[0].lastEvent;
        EXPECT_EQ(more, iterations == 100'000U);
        EXPECT_EQ(latest.latest, more ? kLatest : 0);
        const QStringList lines = summaryLines(latest);
        const QStringList all = summaryLines(whole);
        EXPECT_EQ(lines.contains(QStringLiteral("Unmatched messages (of the latest 100000 events; --history-events 0: of all)")), more);
        EXPECT_EQ(lines.contains(QStringLiteral("Unmatched messages")), !more);
        const auto section = [](const QStringList& from, const QString& name) {
            const qsizetype at = from.indexOf(name);
            return from.mid(at, from.indexOf(QString(), at) - at);
        };
        for (const char* name : {"Ranks", "Calls", "Open requests"}) {
            EXPECT_EQ(section(lines, QString::fromLatin1(name)), section(all, QString::fromLatin1(name)));
            EXPECT_GT(section(lines, QString::fromLatin1(name)).size(), 1);
        }
    }
}

TEST_F(RecordingFileTest, BlocksDroppedInFrontAreNotMissed) {
    const trace::RankImage& whole = imageOf(2);
    trace::BlockHeader first{};
    std::memcpy(&first, whole.blocks.data(), sizeof first);
    const std::size_t length = sizeof first + ((std::size_t{first.compressedBytes} + 7) & ~std::size_t{7});
    ASSERT_LT(length, whole.blocks.size());
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    trace::RankImage image = whole;
    image.blocks.resize(length);
    EXPECT_TRUE(writer.addImage(0, image, false));
    image.blocks.assign(whole.blocks.begin() + static_cast<std::ptrdiff_t>(length), whole.blocks.end());
    EXPECT_TRUE(writer.addImage(0, image, true));
    writeEnd(writer);
    ASSERT_EQ(writer.finish(), "");
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    EXPECT_EQ(file.ranks[0].image.blocks, whole.blocks);
}

TEST_F(RecordingFileTest, UnknownChunksAreSkipped) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    EXPECT_TRUE(writer.add(static_cast<ChunkType>(99), -1, "of the future"));
    EXPECT_TRUE(writer.add(static_cast<ChunkType>(99), 3, std::string(5000, 'x')));
    writeEnd(writer);
    ASSERT_EQ(writer.finish(), "");
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    EXPECT_TRUE(file.problems.empty());
    EXPECT_TRUE(file.finished);
    EXPECT_EQ(file.rankCount(), 0);
    EXPECT_EQ(file.sites.size(), 1U);
}

TEST(RecordingSites, DamagedTablesGiveWhatCameBefore) {
    SiteTable sites;
    for (int i = 0; i < 40; ++i) {
        sites[{"/bin/" + std::to_string(i % 3), "id", static_cast<std::uint64_t>(i) * 300}] = {"f.c", i, "f"};
    }
    const std::string bytes = encodeSites(sites);
    SiteTable read;
    ASSERT_TRUE(decodeSites(bytes, read));
    EXPECT_EQ(read, sites);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        SiteTable part;
        EXPECT_FALSE(decodeSites(std::string_view(bytes).substr(0, size), part));
        EXPECT_LE(part.size(), sites.size());
        EXPECT_TRUE(std::all_of(part.begin(), part.end(),
                                [&](const auto& one) { return sites.at(one.first) == one.second; }));
    }
}

TEST(RecordingSites, ReturnAddressesBelongToTheCallBefore) {
    const std::vector<CodeModule> modules =
        parseModules("2000 3000 500 b /two\n1000 2000 0 a /one\nnonsense\n5 4 0 c /x\n");
    ASSERT_EQ(modules.size(), 2U);
    EXPECT_EQ(moduleOf(modules, CodeAddress{0}), nullptr);
    EXPECT_EQ(moduleOf(modules, CodeAddress{0x1000}), nullptr);
    EXPECT_EQ(moduleOf(modules, CodeAddress{0x1001}), &modules[0]);
    EXPECT_EQ(moduleOf(modules, CodeAddress{0x2000}), &modules[0]); // a call that is the last of its module
    EXPECT_EQ(moduleOf(modules, CodeAddress{0x2001}), &modules[1]);
    EXPECT_EQ(moduleOf(modules, CodeAddress{0x3001}), nullptr);
    EXPECT_EQ(siteKey(modules[1], CodeAddress{0x2011}), (SiteKey{"/two", "b", 0x510}));
}

} // namespace
} // namespace stopline::replay
