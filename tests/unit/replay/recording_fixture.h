// A recording file of four ranks, as a recorder writes it, for the tests of its reader and writer.
#pragma once

#include "../../bench/timeline/halo.h" // before Qt, which takes a word of it for its own

#include "../../../replay/loaded_recording.h"
#include "../../../replay/recording_writer.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace stopline::replay::test {

inline constexpr std::int32_t kRanks = 4;
inline constexpr std::uint64_t kIterations = 30000; // 360,000 events a rank: several blocks
inline constexpr const char* kModules = "1000 2000 0 ab12 /bin/app one\n7f00 8000 100 - /lib/x.so\n";

inline std::string contentsOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return std::move(out).str();
}

inline const trace::RankImage& imageOf(std::int32_t rank) {
    static const std::vector<trace::RankImage> images = [] {
        std::vector<trace::RankImage> made;
        for (std::int32_t i = 0; i < kRanks; ++i) {
            made.push_back(bench::recording(i, kRanks, kIterations));
        }
        return made;
    }();
    return images[static_cast<std::size_t>(rank)];
}

inline void writeEnd(RecordingWriter& writer) {
    SiteTable sites;
    sites[{"/bin/app one", "ab12", 0x42}] = {"/src/app.c", 7, "main"};
    EXPECT_TRUE(writer.add(ChunkType::Sites, -1, encodeSites(sites)));
    EXPECT_TRUE(
        writer.add(ChunkType::End, -1, encodeFileFields({{"took", "1500"}, {"code", "3"}, {"lost", ""}})));
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
            EXPECT_TRUE(
                writer.add(ChunkType::Exit, rank, encodeFileFields({{"status", "256"}, {"faults", "a\nb"}})));
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
        return static_cast<std::size_t>(std::count_if(
            m_chunks.begin(), m_chunks.end(), [end](const Chunk& chunk) { return chunk.end() <= end; }));
    }

    QTemporaryDir m_folder;
    std::string m_path;
    std::string m_bytes;
    std::vector<Chunk> m_chunks;
};

} // namespace stopline::replay::test
