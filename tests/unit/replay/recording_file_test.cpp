// The file of a recording: what is written is read back, and of what is damaged the rest.
#include "../../bench/timeline/halo.h" // before Qt, which takes a word of it for its own

#include "../../../replay/loaded_recording.h"
#include "../../../replay/recording_writer.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/resource.h>
#include <zlib.h>

namespace stopline::replay {
namespace {

constexpr std::int32_t kRanks = 4;
constexpr std::uint64_t kIterations = 3000; // 36,000 events a rank: several blocks
constexpr const char* kModules = "1000 2000 0 ab12 /bin/app one\n7f00 8000 100 - /lib/x.so\n";

std::string contentsOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return std::move(out).str();
}

const trace::RankImage& imageOf(std::int32_t rank) {
    static const std::vector<trace::RankImage> images = [] {
        std::vector<trace::RankImage> made;
        for (std::int32_t i = 0; i < kRanks; ++i) {
            made.push_back(bench::recording(i, kRanks, kIterations));
        }
        return made;
    }();
    return images[static_cast<std::size_t>(rank)];
}

void writeEnd(RecordingWriter& writer) {
    SiteTable sites;
    sites[{"/bin/app one", "ab12", 0x42}] = {"/src/app.c", 7, "main"};
    EXPECT_TRUE(writer.add(ChunkType::Sites, -1, encodeSites(sites)));
    EXPECT_TRUE(writer.add(ChunkType::End, -1, encodeFileFields({{"took", "1500"}, {"code", "3"}, {"lost", ""}})));
}

/// Four ranks of a halo exchange, as a recorder writes them.
class RecordingFileTest : public testing::Test {
  protected:
    RecordingFileTest() : m_path((m_folder.path() + QStringLiteral("/run.stopline")).toStdString()) {}

    void write() {
        RecordingWriter writer;
        ASSERT_EQ(writer.open(m_path), "");
        EXPECT_TRUE(writer.add(ChunkType::Job, -1,
                               encodeFileFields({{"stopline", "9.9"},
                                                 {"command", "mpirun\n-n\n4\n./a b"},
                                                 {"directory", "/home"},
                                                 {"started", "1700000000000000000"},
                                                 {"recorder", "here"},
                                                 {"ranks", "4"}})));
        for (std::int32_t rank = 0; rank < kRanks; ++rank) {
            EXPECT_TRUE(writer.add(ChunkType::Rank, rank,
                                   encodeFileFields({{"host", "node"}, {"program", "./a"}, {"clock", "0"}})));
            EXPECT_TRUE(writer.add(ChunkType::Modules, rank, kModules));
            EXPECT_TRUE(writer.addImage(rank, imageOf(rank), true));
            EXPECT_TRUE(writer.add(ChunkType::Exit, rank, encodeFileFields({{"status", "256"}, {"faults", "a\nb"}})));
        }
        writeEnd(writer);
        ASSERT_EQ(writer.finish(), "");
        m_bytes = contentsOf(m_path);
        for (std::size_t at = sizeof(FileHeader); at < m_bytes.size();) {
            ChunkHeader header;
            std::memcpy(&header, m_bytes.data() + at, sizeof header);
            m_chunks.push_back({at, header});
            at += sizeof header + header.storedBytes;
        }
    }

    struct Chunk {
        std::size_t at;
        ChunkHeader header;
        [[nodiscard]] std::size_t end() const { return at + sizeof header + header.storedBytes; }
    };
    [[nodiscard]] std::size_t wholeBefore(std::size_t end) const {
        return static_cast<std::size_t>(
            std::count_if(m_chunks.begin(), m_chunks.end(), [end](const Chunk& chunk) { return chunk.end() <= end; }));
    }

    QTemporaryDir m_folder;
    std::string m_path;
    std::string m_bytes;
    std::vector<Chunk> m_chunks;
};

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
        EXPECT_EQ(endText(loaded.file.ranks[static_cast<std::size_t>(i)]), QStringLiteral("exited with code 1"));
    }
    EXPECT_EQ(timeline.messages().size(), std::size_t{2 * kIterations * kRanks});
    EXPECT_TRUE(timeline.openMessages().empty());
}

/// As it is while a rank runs: its parts grow, and the staging area is there only at the end.
TEST_F(RecordingFileTest, PiecesMakeTheSameStreams) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(m_path), "");
    const trace::RankImage& whole = imageOf(1);
    trace::RankImage growing = whole;
    const auto part = [](const std::vector<std::byte>& from, std::size_t of, std::size_t all) {
        return std::vector<std::byte>(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(from.size() * of / all));
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

TEST_F(RecordingFileTest, CutOffAtEveryChunkAllBeforeIsThere) {
    write();
    ASSERT_GT(m_chunks.size(), 30U);
    for (std::size_t i = 0; i < m_chunks.size(); ++i) {
        RecordingFile file;
        ASSERT_EQ(parseRecordingFile(std::string_view(m_bytes).substr(0, m_chunks[i].at), file), "");
        EXPECT_EQ(file.chunks, i);
        EXPECT_FALSE(file.finished);
        ASSERT_EQ(file.problems.size(), 1U);
        EXPECT_EQ(file.problems[0].text,
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
        const std::size_t at = std::uniform_int_distribution<std::size_t>(sizeof(FileHeader), m_bytes.size() - 1)(random);
        const auto hit = static_cast<std::size_t>(
            std::find_if(m_chunks.begin(), m_chunks.end(), [at](const Chunk& chunk) { return at < chunk.end(); }) -
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
                EXPECT_TRUE(std::equal(image.blocks.begin(), image.blocks.end(), imageOf(other).blocks.begin()));
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
    EXPECT_EQ(loaded.problems[0],
              QStringLiteral("run.stopline: rank 2, chunk %1 (blocks, byte %2): its checksum is wrong; what rank 2 did from "
                             "there on is missing")
                  .arg(blocks - m_chunks.begin() + 1)
                  .arg(blocks->at));
    EXPECT_EQ(loaded.problems[1],
              QStringLiteral("run.stopline: rank 2: its last %1 events are missing, behind event 0").arg(12 * kIterations));
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

TEST_F(RecordingFileTest, OtherFilesAreRefused) {
    write();
    RecordingFile file;
    std::string other = m_bytes;
    other[8] = 7; // the version
    EXPECT_EQ(parseRecordingFile(other, file), "it has format version 7; this Stopline reads version 1: open it with the "
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
    header.contentSum =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(stored.data()), static_cast<uInt>(stored.size())));
    header.headerSum = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(&header), static_cast<uInt>(offsetof(ChunkHeader, headerSum))));
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
    ASSERT_EQ(parseRecordingFile(begin + chunk(bomb, "abcd") + chunk(far, "") + chunk(codec, "ab"), file), "");
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
    EXPECT_EQ(writer.open("/nonexistent/run.stopline"), "/nonexistent/run.stopline.part: No such file or directory");
    RecordingWriter folder;
    EXPECT_EQ(folder.open(m_folder.path().toStdString()), m_folder.path().toStdString() + " is no file");
    RecordingWriter discarded;
    ASSERT_EQ(discarded.open(m_path), "");
    discarded.discard();
    EXPECT_FALSE(QFile::exists(QString::fromStdString(m_path + ".part")));
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
        EXPECT_TRUE(std::all_of(part.begin(), part.end(), [&](const auto& one) { return sites.at(one.first) == one.second; }));
    }
}

TEST(RecordingSites, ReturnAddressesBelongToTheCallBefore) {
    const std::vector<CodeModule> modules = parseModules("2000 3000 500 b /two\n1000 2000 0 a /one\nnonsense\n5 4 0 c /x\n");
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
