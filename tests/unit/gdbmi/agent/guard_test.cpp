// What the program writes into the mapping is noticed, and changes nothing of what was read before.
#include "../../../../gdbmi/agent_mapping.h"

#include "../../../../tracelib/recorder.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// A Trace frame's body, taken apart.
struct Pulled {
    explicit Pulled(std::string frame) : body(std::move(frame)) {
        std::memcpy(&sizes, body.data(), sizeof sizes);
        std::size_t at = sizeof sizes;
        const auto take = [&](std::uint64_t bytes) {
            at += bytes;
            return std::string_view(body).substr(at - bytes, bytes);
        };
        header = reinterpret_cast<const trace::MappingHeader*>(take(sizes.headerBytes).data());
        staging = take(sizes.stagingBytes);
        dictionary = take(sizes.dictionaryBytes);
        comms = take(sizes.commsBytes);
        stops = take(sizes.stopsBytes);
        blocks = take(sizes.blocksBytes);
    }
    std::string body;
    TraceHeader sizes{};
    const trace::MappingHeader* header = nullptr;
    std::string_view staging, dictionary, comms, stops, blocks;
};

class Guard : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_FALSE(mapping.create("", 0).has_value());
        mapping.header().pid.store(77);
        mapping.header().originNs.store(1000);
        mapping.header().state.store(static_cast<std::uint32_t>(trace::RankState::Running));
        recorder.open(bytes(), memory.get(), grow, &mapping, 0);
    }
    static int grow(void* mapping, std::uint64_t bytes) {
        const int fd = ::open(static_cast<Mapping*>(mapping)->environmentPath().c_str(), O_RDWR | O_CLOEXEC);
        const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
        ::close(fd);
        return error;
    }
    std::byte* bytes() { return reinterpret_cast<std::byte*>(&mapping.header()); }
    /// Records this many events, every one from another place of the program.
    void record(int events) {
        for (int i = 0; i < events; ++i) {
            trace::DetailsView details;
            details.kind = i % 2 == 0 ? trace::EventKind::Begin : trace::EventKind::End;
            details.function = trace::FunctionId::Barrier;
            details.site = CodeAddress(static_cast<std::uint64_t>(++site));
            recorder.append(details, 1000 * site);
        }
    }
    /// What the window gets after the overwriting is what it would have got before.
    void expectKept(const std::function<void()>& overwrite) {
        record(10);
        EXPECT_TRUE(mapping.appendStop(5, 10, 20));
        const Pulled before(mapping.copyForWindow({}));
        EXPECT_EQ(before.header->eventCount.load(), 10U);
        EXPECT_FALSE(mapping.guard().overwritten());
        overwrite();
        const Pulled after(mapping.copyForWindow({}));
        EXPECT_TRUE(mapping.guard().overwritten());
        EXPECT_STRNE(mapping.guard().what(), "");
        EXPECT_EQ(after.header->magic, trace::kMappingMagic);
        EXPECT_EQ(after.header->eventCount.load(), 10U);
        EXPECT_EQ(after.header->stagedIds.load(), before.header->stagedIds.load());
        EXPECT_EQ(after.header->originNs.load(), 1000);
        EXPECT_EQ(after.header->recordingOff.load(), kOverwritten);
        EXPECT_EQ(after.header->insideCall.load(), 0U);
        EXPECT_EQ(after.staging, before.staging);
        EXPECT_EQ(after.dictionary, before.dictionary);
        EXPECT_EQ(after.stops, before.stops);
        EXPECT_EQ(mapping.guard().header().pid.load(), 77);
        EXPECT_EQ(mapping.guard().header().eventCount.load(), 10U);
    }

    struct Free {
        void operator()(void* block) const { std::free(block); }
    };
    Mapping mapping;
    std::unique_ptr<trace::RecorderMemory, Free> memory{
        static_cast<trace::RecorderMemory*>(std::calloc(1, sizeof(trace::RecorderMemory)))};
    trace::Recorder recorder;
    std::int64_t site = 0;
};

TEST_F(Guard, WhoComesLaterThanTheFirstEventsBelievesThemToo) {
    record(5); // in the staging area, where more come behind them
    const std::string path = mapping.environmentPath();
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    Mapping late;
    ASSERT_TRUE(late.attach(path, file.st_dev, file.st_ino));
    record(5);
    const Pulled all(mapping.copyForWindow({}));
    const Pulled same(late.copyForWindow({}));
    EXPECT_FALSE(late.guard().overwritten()) << late.guard().what();
    EXPECT_EQ(same.header->eventCount.load(), 10U);
    EXPECT_EQ(same.staging, all.staging);
    EXPECT_EQ(same.dictionary, all.dictionary);
    EXPECT_EQ(same.comms, all.comms);
}

TEST_F(Guard, WhatTheLibraryWritesIsBelieved) {
    for (int events : {1, 2, 500, 40'000, 3}) { // turns the staging buffers several times
        record(events);
        EXPECT_TRUE(mapping.guard().look());
        EXPECT_TRUE(mapping.guard().lookAtAll()) << mapping.guard().what();
        recorder.flush();
        EXPECT_TRUE(mapping.guard().lookAtAll()) << mapping.guard().what();
    }
    EXPECT_EQ(mapping.guard().header().eventCount.load(), 40'506U);
    recorder.switchOff(ENOSPC);
    record(200'000);
    EXPECT_TRUE(mapping.guard().lookAtAll()) << mapping.guard().what();
}

TEST_F(Guard, HeaderOfZeros) {
    expectKept([this] { std::memset(bytes(), 0, trace::kHeaderBytes); });
}

TEST_F(Guard, HeaderOfOnes) {
    expectKept([this] { std::memset(bytes(), 0xff, trace::kHeaderBytes); });
}

TEST_F(Guard, HeaderOfOnesInTheMidstOfACall) {
    mapping.header().insideCall.store(1);
    expectKept([this] { std::memset(bytes() + 16, 0xff, 200); });
}

TEST_F(Guard, CounterThatGoesDown) {
    expectKept([this] { mapping.header().eventCount.store(9); });
}

TEST_F(Guard, CounterThatLeaps) {
    expectKept([this] { mapping.header().eventCount.store(10'000'000); });
}

TEST_F(Guard, LengthOutOfRange) {
    expectKept([this] { mapping.header().commLength.store(trace::kCommBytes + 1); });
}

TEST_F(Guard, LengthThatShrinks) {
    expectKept([this] { mapping.header().dictionaryLength.fetch_sub(1); });
}

TEST_F(Guard, AnotherProcess) {
    expectKept([this] { mapping.header().pid.store(1); });
}

TEST_F(Guard, Dictionary) {
    expectKept([this] { std::memset(bytes() + trace::kDictionaryOffset, 0, 4); });
}

TEST_F(Guard, LatestEvents) {
    expectKept([this] { std::memset(bytes() + trace::kStagingOffset, 0xff, 2); });
}

TEST_F(Guard, MarkOfABufferThatIsNotTurned) {
    expectKept([this] { mapping.header().stagingSequence.fetch_or(trace::kStagingTurning); });
}

/// A rank that is stopped in that moment.
TEST_F(Guard, BufferThatIsTurnedIsNoFault) {
    record(10);
    const Pulled before(mapping.copyForWindow({}));
    const std::uint32_t sequence = mapping.header().stagingSequence.load();
    recorder.flush();
    ASSERT_EQ(mapping.header().stagingSequence.load(), sequence + 1);
    mapping.header().stagingSequence.store(sequence | trace::kStagingTurning);
    EXPECT_FALSE(mapping.copyForWindow({}).empty());
    EXPECT_FALSE(mapping.guard().overwritten()) << mapping.guard().what();
    mapping.header().stagingSequence.store(sequence + 1);
    EXPECT_FALSE(mapping.copyForWindow({}).empty());
    EXPECT_FALSE(mapping.guard().overwritten()) << mapping.guard().what();
}

TEST_F(Guard, StopThatEndsBeforeItsBegin) {
    expectKept([this] { EXPECT_TRUE(mapping.appendStop(6, 30, 25)); });
}

TEST_F(Guard, EventsUpToTheLastLookAreKeptForAWindowThatHasAskedForNone) {
    record(10);
    EXPECT_TRUE(mapping.guard().lookAtAll());
    record(2);
    EXPECT_TRUE(mapping.guard().look());
    std::memset(bytes(), 0, trace::kStopOffset);
    EXPECT_FALSE(mapping.guard().look());
    const Pulled pulled(mapping.copyForWindow({}));
    EXPECT_EQ(pulled.header->eventCount.load(), 10U);
    EXPECT_EQ(static_cast<std::uint64_t>(pulled.dictionary.size()), pulled.header->dictionaryLength.load());
    EXPECT_GT(pulled.header->stagedIds.load(), 0U);
    EXPECT_NE(pulled.staging[0], 0);
}

TEST_F(Guard, NothingIsReadFromBeyondTheMapping) {
    mapping.header().dictionaryLength.store(UINT64_MAX);
    mapping.header().commLength.store(UINT64_MAX - 5);
    mapping.header().blockLength.store(UINT64_MAX);
    mapping.header().stopCount.store(UINT32_MAX);
    const Pulled pulled(mapping.copyForWindow({{"blocks", "99999999999999"}}));
    EXPECT_TRUE(mapping.guard().overwritten());
    EXPECT_EQ(pulled.dictionary.size(), 0U);
    EXPECT_EQ(pulled.comms.size(), 0U);
    EXPECT_EQ(pulled.stops.size(), 0U);
    EXPECT_EQ(pulled.blocks.size(), 0U);
}

TEST_F(Guard, BlocksEndWithTheFile) {
    mapping.header().blockLength.store(trace::kDefaultBlockBytes); // possible, but the file is shorter
    const Pulled pulled(mapping.copyForWindow({}));
    EXPECT_EQ(pulled.blocks.size(), trace::kInitialFileBytes - trace::kBlockOffset);
}

} // namespace
} // namespace stopline::agent
