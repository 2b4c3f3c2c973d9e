// Images that let go of the blocks that have been read.
#include "image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace stopline::trace {
namespace {

using testing::Mapping;

constexpr std::size_t kLimit = std::size_t{8} << 20;

/// A rank that sends at random times, which compress badly.
class Program {
  public:
    void step(Recorder& recorder) {
        DetailsView begin;
        begin.function = FunctionId::Send;
        begin.comm = kCommWorld;
        begin.sendPeer = static_cast<std::int32_t>(noise(3));
        begin.sendTag = static_cast<std::int32_t>(noise(50));
        DetailsView end;
        end.kind = EventKind::End;
        end.function = FunctionId::Send;
        for (const DetailsView* d : {&begin, &end}) {
            m_time += static_cast<TimeNs>(noise(1U << 20));
            recorder.append(*d, m_time);
        }
    }

  private:
    std::uint32_t noise(std::uint32_t below) {
        m_state = m_state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(m_state >> 33U) % below;
    }

    std::uint64_t m_state = 7;
    TimeNs m_time = 0;
};

TEST(Ring, ImageThatLetsGoOfWhatWasReadStaysSmallAndTellsTheSame) {
    Mapping whole(kDefaultToleranceNs, std::size_t{64} << 20);
    Program program;
    RankImage kept;
    RankImage image;
    RankReader reader;
    std::size_t largest = 0;
    for (int i = 1; i <= 400'000; ++i) {
        program.step(whole.recorder);
        if (i % 500 == 0) {
            whole.pull(image);
            ASSERT_EQ(reader.update(image, 300), "");
            releaseBlocks(image, reader.blocksRead());
            largest = std::max(largest, image.blocks.size());
        }
    }
    whole.pull(image);
    whole.pull(kept);
    ASSERT_EQ(reader.update(image), "");
    releaseBlocks(image, reader.blocksRead());
    EXPECT_EQ(reader.blocksRead(), whole.header().blockLength.load());
    EXPECT_TRUE(image.blocks.empty());
    EXPECT_EQ(image.blocksFrom, kept.blocks.size());
    EXPECT_LT(largest * 8, kept.blocks.size());

    RankReader other;
    ASSERT_EQ(other.update(kept), "");
    ASSERT_EQ(reader.events().size(), 800'000U);
    ASSERT_EQ(other.events().size(), 800'000U);
    for (std::size_t i = 0; i < reader.events().size(); ++i) {
        const DecodedEvent& a = reader.events()[i];
        const DecodedEvent& b = other.events()[i];
        ASSERT_TRUE(a.execution == b.execution && reader.details(a.details) == other.details(b.details)) << i;
    }
    // Who has not read what is gone says so, and shows nothing wrong.
    RankReader late;
    EXPECT_EQ(late.update(image), "what is known of the events before its first block is damaged");
    EXPECT_TRUE(late.events().empty());
}

TEST(Ring, OvertakenReaderOfAnImageThatLetsGoStartsAnew) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    RankImage image;
    RankReader reader;
    const auto read = [&] {
        bounded.pull(image);
        ASSERT_EQ(reader.update(image), "");
        releaseBlocks(image, reader.blocksRead());
        EXPECT_TRUE(image.blocks.empty());
    };
    for (int i = 0; i < 5000; ++i) {
        program.step(bounded.recorder);
    }
    read();
    EXPECT_EQ(reader.starts(), 0U);
    EXPECT_EQ(reader.events().size(), 10'000U);
    for (int round = 1; round <= 3; ++round) {
        for (int i = 0; i < 200'000; ++i) {
            program.step(bounded.recorder);
        }
        read();
        EXPECT_EQ(reader.starts(), static_cast<std::uint32_t>(round));
        EXPECT_EQ(reader.lastEvent().value(), 10'000U + 400'000U * static_cast<std::uint64_t>(round));
    }
}

} // namespace
} // namespace stopline::trace
