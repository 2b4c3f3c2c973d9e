// Files that are cut off, damaged, hostile or cannot be written: what is sound stays, what is wrong is named.
#include "recording_fixture.h"

#include <QFile>

#include <csignal>
#include <random>
#include <sys/resource.h>
#include <zlib.h>

namespace stopline::replay {
namespace {

using namespace test;

TEST_F(RecordingFileTest, CutOffAtEveryChunkAllBeforeIsThere) {
    write();
    ASSERT_GT(m_chunks.size(), 30U);
    for (std::size_t i = 0; i < m_chunks.size(); ++i) {
        RecordingFile file;
        ASSERT_EQ(parseRecordingFile(std::string_view(m_bytes).substr(0, m_chunks[i].at), file), "");
        EXPECT_EQ(file.chunks, i);
        EXPECT_FALSE(file.finished);
        ASSERT_EQ(file.problems.size(), 1U);
        EXPECT_EQ(
            file.problems[0].text,
            "the file does not have its last chunk: the recording was cut off, and what came behind chunk " +
                std::to_string(i) + " is missing");
    }
}

TEST_F(RecordingFileTest, CutOffAnywhereTheWholeChunksAreThere) {
    write();
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t size = std::uniform_int_distribution<std::size_t>(0, m_bytes.size() - 1)(random);
        RecordingFile file;
        const std::string wrong = parseRecordingFile(std::string_view(m_bytes).substr(0, size), file);
        if (size < sizeof(FileHeader)) {
            EXPECT_NE(wrong, "");
            continue;
        }
        ASSERT_EQ(wrong, "");
        EXPECT_EQ(file.chunks, wholeBefore(size));
        EXPECT_FALSE(file.problems.empty());
    }
}

TEST_F(RecordingFileTest, AFlippedBitIsNamedAndTheOtherRanksAreWhole) {
    write();
    std::mt19937 random(2);
    for (int i = 0; i < 3000; ++i) {
        const std::size_t at =
            std::uniform_int_distribution<std::size_t>(sizeof(FileHeader), m_bytes.size() - 1)(random);
        const auto hit =
            static_cast<std::size_t>(std::find_if(m_chunks.begin(), m_chunks.end(),
                                                  [at](const Chunk& chunk) { return at < chunk.end(); }) -
                                     m_chunks.begin());
        std::string damaged = m_bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
        RecordingFile file;
        ASSERT_EQ(parseRecordingFile(damaged, file), "");
        ASSERT_FALSE(file.problems.empty());
        EXPECT_EQ(file.problems[0].chunk, hit + 1);
        EXPECT_NE(file.problems[0].text.find("chunk " + std::to_string(hit + 1) + " ("), std::string::npos);
        const std::int32_t rank = m_chunks[hit].header.rank;
        const bool inHeader = at - m_chunks[hit].at < sizeof(ChunkHeader);
        if (rank >= 0 && !inHeader) {
            EXPECT_EQ(file.problems[0].rank, rank);
            EXPECT_NE(file.problems[0].text.find("rank " + std::to_string(rank)), std::string::npos);
        }
        ASSERT_EQ(file.rankCount(), kRanks);
        for (std::int32_t other = 0; other < kRanks; ++other) {
            const trace::RankImage& image = file.ranks[static_cast<std::size_t>(other)].image;
            if (other != rank) {
                EXPECT_EQ(image.blocks, imageOf(other).blocks);
                EXPECT_EQ(image.dictionary, imageOf(other).dictionary);
            } else {
                // A prefix, never something else.
                ASSERT_LE(image.blocks.size(), imageOf(other).blocks.size());
                EXPECT_TRUE(
                    std::equal(image.blocks.begin(), image.blocks.end(), imageOf(other).blocks.begin()));
            }
        }
    }
}

TEST_F(RecordingFileTest, OfADamagedRankTheTimelineHasWhatCameBefore) {
    write();
    const auto blocks = std::find_if(m_chunks.begin(), m_chunks.end(), [](const Chunk& chunk) {
        return chunk.header.rank == 2 && chunk.header.type == static_cast<std::uint32_t>(ChunkType::Blocks);
    });
    ASSERT_NE(blocks, m_chunks.end());
    std::string damaged = m_bytes;
    damaged[blocks->at + sizeof(ChunkHeader) + 200] ^= 1;
    std::ofstream(m_path, std::ios::binary) << damaged;
    LoadedRecording loaded;
    ASSERT_EQ(loadRecording(QString::fromStdString(m_path), loaded), QString());
    const Timeline& timeline = loaded.recording->timeline();
    EXPECT_EQ(timeline.lastEvent(RankId{2}), EventIndex{0}); // all its blocks are one chunk
    EXPECT_EQ(timeline.lastEvent(RankId{1}), EventIndex{12 * kIterations});
    ASSERT_EQ(loaded.problems.size(), 2);
    EXPECT_EQ(
        loaded.problems[0],
        QStringLiteral(
            "run.stopline: rank 2, chunk %1 (blocks, byte %2): its checksum is wrong; what rank 2 did from "
            "there on is missing")
            .arg(blocks - m_chunks.begin() + 1)
            .arg(blocks->at));
    EXPECT_EQ(loaded.problems[1],
              QStringLiteral("run.stopline: rank 2: its last %1 events are missing, behind event 0")
                  .arg(12 * kIterations));
}

TEST_F(RecordingFileTest, APieceThatIsMissingIsNoticed) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    EXPECT_TRUE(writer.add(ChunkType::Dictionary, 0, "abc", 0));
    EXPECT_TRUE(writer.add(ChunkType::Dictionary, 0, "ghi", 6));
    EXPECT_TRUE(writer.add(ChunkType::Dictionary, 0, "def", 3)); // too late
    writeEnd(writer);
    ASSERT_EQ(writer.finish(), "");
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(m_path, file), "");
    ASSERT_EQ(file.problems.size(), 1U);
    EXPECT_EQ(file.problems[0].chunk, 2U);
    EXPECT_NE(file.problems[0].text.find("the piece before it is missing"), std::string::npos);
    EXPECT_EQ(file.ranks[0].image.dictionary.size(), 3U);
}

TEST_F(RecordingFileTest, OtherFilesAreRefused) {
    write();
    RecordingFile file;
    std::string other = m_bytes;
    other[8] = 7; // the version
    EXPECT_EQ(parseRecordingFile(other, file),
              "it has format version 7; this Stopline reads version 1: open it with the "
              "Stopline that wrote it, or record anew");
    EXPECT_EQ(parseRecordingFile("", file), "it is empty");
    EXPECT_EQ(parseRecordingFile("#!/bin/sh", file), "it is too short to be a recording");
    EXPECT_EQ(parseRecordingFile(std::string(100, 'x'), file), "it is no recording of Stopline's");
    EXPECT_EQ(readRecordingFile(m_path + ".none", file), "No such file or directory");
    LoadedRecording loaded;
    EXPECT_EQ(loadRecording(QString::fromStdString(m_path + ".none"), loaded),
              QString::fromStdString(m_path + ".none cannot be opened: No such file or directory."));
}

/// A chunk header with a right checksum.
std::string chunk(ChunkHeader header, const std::string& stored) {
    header.storedBytes = static_cast<std::uint32_t>(stored.size());
    header.contentSum = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(stored.size())));
    header.headerSum = static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(&header),
                                                        static_cast<uInt>(offsetof(ChunkHeader, headerSum))));
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + stored;
}

TEST_F(RecordingFileTest, HostileHeadersTakeNoMemory) {
    const FileHeader start;
    const std::string begin(reinterpret_cast<const char*>(&start), sizeof start);
    ChunkHeader bomb;
    bomb.type = static_cast<std::uint32_t>(ChunkType::Dictionary);
    bomb.rank = 0;
    bomb.codec = 1;
    bomb.rawBytes = kMaxChunkBytes;
    ChunkHeader far;
    far.type = static_cast<std::uint32_t>(ChunkType::Rank);
    far.rank = kMaxFileRank + 1;
    ChunkHeader codec;
    codec.type = static_cast<std::uint32_t>(ChunkType::Rank);
    codec.rank = 1;
    codec.codec = 7;
    codec.rawBytes = 2;
    RecordingFile file;
    ASSERT_EQ(parseRecordingFile(begin + chunk(bomb, "abcd") + chunk(far, "") + chunk(codec, "ab"), file),
              "");
    ASSERT_EQ(file.problems.size(), 4U); // and no last chunk
    EXPECT_NE(file.problems[0].text.find("cannot be decompressed"), std::string::npos);
    EXPECT_NE(file.problems[1].text.find("its header is damaged"), std::string::npos);
    EXPECT_NE(file.problems[2].text.find("cannot be decompressed"), std::string::npos);
    EXPECT_LE(file.rankCount(), 2);
}

TEST_F(RecordingFileTest, AFullDiskKeepsWholeChunksAndIsTriedAgain) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    EXPECT_TRUE(writer.addImage(0, imageOf(0), false));
    const std::uint64_t before = writer.bytesWritten();
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{before + 2000, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_FALSE(writer.addImage(1, imageOf(1), true));
    EXPECT_EQ(writer.fault(), EFBIG);
    RecordingFile file;
    ASSERT_EQ(readRecordingFile(writer.partName(), file), "");
    ASSERT_EQ(file.problems.size(), 1U); // no last chunk; nothing else
    EXPECT_EQ(file.ranks[0].image.blocks, imageOf(0).blocks);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(writer.addImage(1, imageOf(1), true));
    writeEnd(writer);
    ASSERT_EQ(writer.finish(), "");
    RecordingFile again;
    ASSERT_EQ(readRecordingFile(m_path, again), "");
    EXPECT_TRUE(again.problems.empty());
    EXPECT_EQ(again.ranks[1].image.blocks, imageOf(1).blocks);
    EXPECT_EQ(again.ranks[1].image.dictionary, imageOf(1).dictionary);
}

TEST_F(RecordingFileTest, WhatCannotBeWrittenIsSaid) {
    RecordingWriter writer;
    EXPECT_EQ(writer.open("/nonexistent/run.stopline"),
              "/nonexistent/run.stopline.part: No such file or directory");
    RecordingWriter folder;
    EXPECT_EQ(folder.open(m_folder.path().toStdString()), m_folder.path().toStdString() + " is no file");
    RecordingWriter discarded;
    ASSERT_EQ(discarded.open(m_path), "");
    discarded.discard();
    EXPECT_FALSE(QFile::exists(QString::fromStdString(m_path + ".part")));
}

} // namespace
} // namespace stopline::replay
