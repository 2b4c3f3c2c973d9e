// A mapping that keeps a bounded part of the blocks: what is read of it, and what is known of what is gone.
#include "image.h"

#include "../../../tracelib/history_start.h"

#include <gtest/gtest.h>

#include <thread>

namespace stopline::trace {
namespace {

using testing::Mapping;

constexpr std::size_t kLimit = std::size_t{8} << 20;

/// Numbers that compress badly.
class Noise {
  public:
    std::uint32_t next() {
        m_state = m_state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(m_state >> 33U);
    }
    std::uint32_t below(std::uint32_t n) { return next() % n; }

  private:
    std::uint64_t m_state = 7;
};

/// A rank that sends, receives and waits at random: event e of any two of them is the same.
class Program {
  public:
    void step(Recorder& recorder) {
        const std::uint32_t what = m_noise.below(6);
        DetailsView begin;
        DetailsView end;
        end.kind = EventKind::End;
        begin.comm = kCommWorld;
        const auto tag = static_cast<std::int32_t>(m_noise.below(5));
        const auto peer = static_cast<std::int32_t>(m_noise.below(3));
        Completion completion;
        RequestRef operand;
        if (what == 0) {
            begin.function = FunctionId::Send;
            begin.sendPeer = peer;
            begin.sendTag = tag;
            ++sends[peer][tag];
        } else if (what == 1) {
            begin.function = FunctionId::Recv;
            begin.recvPeer = kAnySource;
            begin.recvTag = tag;
            end.status.source = peer;
            end.status.tag = tag;
            ++receives[peer][tag];
        } else if (what == 2 && pending.size() < 40) {
            begin.function = FunctionId::Irecv;
            const bool wildcard = m_noise.below(2) == 0;
            begin.recvPeer = wildcard ? kAnySource : peer;
            begin.recvTag = tag;
            receives[peer][tag] += wildcard ? 0 : 1;
            ++requests;
            pending.push_back({requests, wildcard, peer, tag});
        } else if (what == 3) {
            begin.function = FunctionId::Isend;
            begin.sendPeer = peer;
            begin.sendTag = tag;
            ++sends[peer][tag];
            ++requests;
        } else if (what == 4 && !pending.empty()) {
            begin.function = FunctionId::Wait;
            begin.comm = kNoComm;
            const std::size_t which = m_noise.below(static_cast<std::uint32_t>(pending.size()));
            const Pending done = pending[which];
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(which));
            operand.back = static_cast<std::uint32_t>(requests - done.serial);
            begin.requests = &operand;
            begin.requestCount = 1;
            completion.request = operand;
            completion.status.source = done.peer;
            completion.status.tag = done.tag;
            completion.status.cancelled = m_noise.below(8) == 0;
            if (done.wildcard != completion.status.cancelled) {
                receives[done.peer][done.tag] += done.wildcard ? 1 : -1;
            }
            end.completions = &completion;
            end.completionCount = 1;
        } else {
            begin.function = FunctionId::Barrier;
            ++barriers;
        }
        end.function = begin.function;
        for (const DetailsView* d : {&begin, &end}) {
            m_time += static_cast<TimeNs>(m_noise.below(1U << 20));
            recorder.append(*d, m_time);
        }
    }

    struct Pending {
        std::uint64_t serial;
        bool wildcard;
        std::int32_t peer;
        std::int32_t tag;
    };
    std::vector<Pending> pending;
    std::uint64_t requests = 0;
    std::int64_t barriers = 0;
    std::int64_t sends[3][5] = {};
    std::int64_t receives[3][5] = {};

  private:
    Noise m_noise;
    TimeNs m_time = 0;
};

HistoryStart& startOf(const RankReader& reader) {
    static HistoryStart none{};
    return reader.start() == nullptr ? none : const_cast<HistoryStart&>(*reader.start());
}

std::int64_t countIn(const HistoryStart& start, Counted what, std::int32_t peer, std::int32_t tag) {
    for (std::uint32_t i = 0; i < start.countCount; ++i) {
        const StartCount& c = start.counts[i];
        if (c.what == what && c.comm == 0 && c.peer == peer && c.tag == tag) {
            return static_cast<std::int64_t>(c.count);
        }
    }
    return 0;
}

TEST(Ring, KeepsTheLatestEventsAndCountsTheOthers) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Mapping whole;
    Program program;
    Program twin;
    for (int i = 0; i < 200'000; ++i) {
        program.step(bounded.recorder);
        twin.step(whole.recorder);
    }
    ASSERT_EQ(bounded.header().recordingOff.load(), 0U);
    EXPECT_EQ(bounded.header().eventCount.load(), 400'000U);
    EXPECT_GT(bounded.header().blockLength.load(), 3 * kLeastBlockBytes); // it has come round more than once
    EXPECT_LE(bounded.header().blockLength.load() - bounded.header().blockTail.load(), kLeastBlockBytes);
    EXPECT_LE(bounded.header().fileBytes.load(), mappedBytes(kLeastBlockBytes) + kInitialFileBytes);

    RankReader reader;
    RankReader all;
    ASSERT_EQ(reader.update(bounded.image()), "");
    ASSERT_EQ(all.update(whole.image()), "");
    ASSERT_NE(reader.start(), nullptr);
    EXPECT_EQ(reader.starts(), 1U);
    const std::uint64_t first = reader.firstEvent().value();
    EXPECT_EQ(reader.start()->firstEvent, first);
    EXPECT_GT(first, 100'000U);
    EXPECT_LT(first, 380'000U);
    ASSERT_EQ(reader.lastEvent().value(), 400'000U);
    for (std::uint64_t event = first; event <= 400'000; ++event) {
        const DecodedEvent& a = reader.events()[event - first];
        const DecodedEvent& b = all.events()[event - 1];
        ASSERT_EQ(reader.details(a.details), all.details(b.details)) << event;
        ASSERT_EQ(a.execution, b.execution) << event;
    }

    // The same program up to there has the same counts.
    Mapping again;
    Program before;
    for (std::uint64_t call = 1; 2 * call < first; ++call) {
        before.step(again.recorder);
    }
    const HistoryStart& start = *reader.start();
    EXPECT_EQ(start.incomplete, 0U);
    if (first % 2 == 1) {
        EXPECT_EQ(start.callCount, 0U);
        EXPECT_EQ(start.requests, before.requests);
        for (std::int32_t peer = 0; peer < 3; ++peer) {
            for (std::int32_t tag = 0; tag < 5; ++tag) {
                EXPECT_EQ(countIn(start, Counted::Send, peer, tag), before.sends[peer][tag]);
                EXPECT_EQ(countIn(start, Counted::Receive, peer, tag), before.receives[peer][tag]);
            }
        }
        EXPECT_EQ(countIn(start, Counted::Collective, kNoPeer, kNoTag), before.barriers);
        EXPECT_EQ(start.requestCount, before.pending.size());
    } else {
        EXPECT_EQ(start.callCount, 1U);
    }
}

TEST(Ring, CountsAreRightWhereverTheHistoryStarts) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    Mapping again;
    Program before;
    std::uint64_t calls = 0; // of `before`
    std::uint32_t looks = 0;
    for (int i = 0; i < 120'000; ++i) {
        program.step(bounded.recorder);
        if (i % 1000 != 999) {
            continue;
        }
        RankReader reader;
        ASSERT_EQ(reader.update(bounded.image()), "");
        const HistoryStart& start = startOf(reader);
        if (start.firstEvent % 2 != 1) {
            continue; // none yet, or in the middle of a call
        }
        ++looks;
        for (; 2 * calls + 1 < start.firstEvent; ++calls) {
            before.step(again.recorder);
        }
        ASSERT_EQ(start.requests, before.requests);
        ASSERT_EQ(start.requestCount, before.pending.size());
        for (std::int32_t peer = 0; peer < 3; ++peer) {
            for (std::int32_t tag = 0; tag < 5; ++tag) {
                ASSERT_EQ(countIn(start, Counted::Send, peer, tag), before.sends[peer][tag]);
                ASSERT_EQ(countIn(start, Counted::Receive, peer, tag), before.receives[peer][tag]);
            }
        }
    }
    EXPECT_GT(looks, 5U);
}

TEST(Ring, WhatHasBeenReadStaysWhenItIsOverwritten) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    RankImage image;
    RankReader reader;
    for (int i = 0; i < 200'000; ++i) {
        program.step(bounded.recorder);
        if (i % 500 == 0) {
            bounded.pull(image);
            ASSERT_EQ(reader.update(image), "");
        }
    }
    bounded.pull(image);
    ASSERT_EQ(reader.update(image), "");
    EXPECT_GT(bounded.header().blockTail.load(), 0U);
    EXPECT_EQ(reader.start(), nullptr);
    EXPECT_EQ(reader.starts(), 0U);
    EXPECT_EQ(reader.firstEvent().value(), 1U);
    EXPECT_EQ(reader.events().size(), 400'000U);
}

TEST(Ring, ReaderThatWasOvertakenGoesOnBehindWhatIsGone) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    RankImage image;
    RankReader reader;
    for (int i = 0; i < 1000; ++i) {
        program.step(bounded.recorder);
    }
    bounded.pull(image);
    ASSERT_EQ(reader.update(image), "");
    EXPECT_EQ(reader.lastEvent().value(), 2000U);
    for (int i = 0; i < 200'000; ++i) {
        program.step(bounded.recorder);
    }
    while (image.blocksFrom + image.blocks.size() < bounded.header().blockLength.load()) {
        bounded.pull(image, 50'000); // piece by piece
    }
    ASSERT_EQ(reader.update(image), "");
    EXPECT_EQ(reader.starts(), 1U);
    ASSERT_NE(reader.start(), nullptr);
    EXPECT_EQ(reader.firstEvent().value(), reader.start()->firstEvent);
    EXPECT_GT(reader.firstEvent().value(), 2001U);
    EXPECT_EQ(reader.lastEvent().value(), 402'000U);
    EXPECT_EQ(reader.events().size(), reader.lastEvent().value() - reader.firstEvent().value() + 1);
}

TEST(Ring, ReaderBesideARunningRankNeverTakesWhatIsBeingOverwritten) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    std::atomic<bool> done{false};
    std::thread rank([&] {
        Program program;
        for (int i = 0; i < 400'000; ++i) {
            program.step(bounded.recorder);
        }
        done = true;
    });
    std::uint64_t overtaken = 0;
    std::uint64_t looks = 0;
    while (!done || looks == 0) {
        // Without the staging area, which is copied under a mark of its own.
        RankImage image;
        const auto& header = bounded.header();
        const std::uint64_t length = header.blockLength.load(std::memory_order_acquire);
        const CopiedBlocks copied = copyBlocks(bounded.bytes(), kLeastBlockBytes, kLimit, 0, length, UINT64_MAX);
        const std::uint64_t dictionary = header.dictionaryLength.load(std::memory_order_acquire);
        image.header.assign(bounded.bytes(), bounded.bytes() + sizeof(MappingHeader));
        std::memset(image.header.data() + offsetof(MappingHeader, stagedIds), 0, sizeof(std::uint32_t));
        image.dictionary.assign(bounded.bytes() + kDictionaryOffset, bounded.bytes() + kDictionaryOffset + dictionary);
        const auto bytesOf = [](const std::string& text) {
            const auto* from = reinterpret_cast<const std::byte*>(text.data());
            return std::vector<std::byte>(from, from + text.size());
        };
        image.blocks = bytesOf(copied.blocks);
        image.start = bytesOf(copied.start);
        image.blocksFrom = copied.from;
        RankReader reader;
        ASSERT_EQ(reader.update(image), "") << "look " << looks;
        overtaken += reader.starts();
        ++looks;
    }
    rank.join();
    EXPECT_GT(overtaken, 0U);
}

TEST(Ring, FullDiskStopsTheRecordingAndKeepsWhatItHas) {
    // The file may not grow at all: the ring does not fit.
    Mapping bounded(kDefaultToleranceNs, kInitialFileBytes, std::uint64_t{4} << 20);
    Program program;
    for (int i = 0; i < 600'000; ++i) {
        program.step(bounded.recorder);
    }
    EXPECT_EQ(bounded.header().recordingOff.load(), static_cast<std::uint32_t>(ENOSPC));
    EXPECT_EQ(bounded.header().eventCount.load(), 1'200'000U);
    RankReader reader;
    ASSERT_EQ(reader.update(bounded.image()), "");
    EXPECT_EQ(reader.firstEvent().value(), 1U);
    EXPECT_GT(reader.lastEvent().value(), 100'000U);
    EXPECT_LT(reader.lastEvent().value(), 1'200'000U);
}

TEST(Ring, StartThatWasOverwrittenIsRefused) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    for (int i = 0; i < 100'000; ++i) {
        program.step(bounded.recorder);
    }
    RankImage image = bounded.image();
    ASSERT_GT(image.blocksFrom, 0U);
    image.start[offsetof(HistoryStart, countCount)] ^= std::byte{1};
    RankReader reader;
    EXPECT_EQ(reader.update(image), "what is known of the events before its first block is damaged");
    EXPECT_EQ(reader.events().size(), 0U);
}

TEST(Ring, BlockThatTheProgramHasOverwrittenEndsTheRecording) {
    Mapping bounded(kDefaultToleranceNs, kLimit, kLeastBlockBytes);
    Program program;
    for (int i = 0; i < 50'000; ++i) {
        program.step(bounded.recorder);
    }
    ASSERT_GT(bounded.header().blockLength.load(), 8192U);
    ASSERT_EQ(bounded.header().blockTail.load(), 0U);
    std::memset(bounded.bytes() + kBlockOffset, 0x5a, 4096);
    for (int i = 0; i < 200'000; ++i) {
        program.step(bounded.recorder);
    }
    EXPECT_EQ(bounded.header().recordingOff.load(), static_cast<std::uint32_t>(EUCLEAN));
    EXPECT_EQ(bounded.header().eventCount.load(), 500'000U);
}

} // namespace
} // namespace stopline::trace
