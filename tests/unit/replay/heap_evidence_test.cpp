// What two logs of values say of where a program's memory was, and the words for it.
#include "../../../replay/heap_evidence.h"
#include "../../../tracelib/values.h"

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::replay;
using trace::ValueKind;

namespace {

class Log {
  public:
    Log& put(ValueKind kind, std::uint64_t event, std::int64_t value) {
        std::byte item[trace::ValueWriter::kItemBytes + 2] = {};
        const std::byte random[2] = {};
        const std::size_t used = m_writer.put(item, kind, event, value, random);
        bytes.append(reinterpret_cast<const char*>(item), qsizetype(used));
        return *this;
    }
    Log& base(std::int64_t value) { return put(ValueKind::Base, 2, value); }
    Log& heap(std::uint64_t event, std::int64_t value) { return put(ValueKind::Heap, event, value); }
    Log& buffer(std::uint64_t event, std::int64_t value) { return put(ValueKind::Buffer, event, value); }

    QByteArray bytes;

  private:
    trace::ValueWriter m_writer;
};

std::string causes(const HeapEvidence& evidence) {
    return causesText(evidence, QStringLiteral("So %1a file decides."), QStringLiteral("an address"))
        .toStdString();
}

} // namespace

TEST(HeapEvidence, TheFirstBufferThatIsElsewhereIsNamed) {
    const HeapEvidence found =
        heapEvidence(Log().heap(2, 1).buffer(3, 0x5000).buffer(5, 0x6000).heap(6, 1).buffer(7, 0x8000).bytes,
                     Log().heap(2, 1).buffer(3, 0x5000).buffer(5, 0x6010).heap(6, 4).buffer(7, 0x9000).bytes,
                     EventIndex(9));
    EXPECT_EQ(found.buffer, EventIndex(5));
    EXPECT_EQ(found.recorded, 0x6000U);
    EXPECT_EQ(found.executed, 0x6010U);
    EXPECT_EQ(found.same, EventIndex(2));
    EXPECT_EQ(found.differs, EventIndex(6));
    EXPECT_EQ(movedText(found).toStdString(), "the heap is not where it was: the buffer of event 5 was at "
                                              "0x6000 in the recording and is at 0x6010 now");
    EXPECT_EQ(causes(found), "So an address (where the program sorts or hashes by address, or prints or "
                             "sends a pointer), a file decides. Numbers "
                             "of one's own instead of addresses, or memory that is allocated before "
                             "MPI_Init, are the same each time.");
}

TEST(HeapEvidence, WhatIsFoundWhereTheyPartSaysNothing) {
    const HeapEvidence found =
        heapEvidence(Log().heap(8, 1).heap(9, 1).buffer(9, 0x5000).bytes,
                     Log().heap(8, 1).heap(9, 2).buffer(9, 0x7000).bytes, EventIndex(9));
    EXPECT_EQ(found.same, EventIndex(8));
    EXPECT_EQ(found.differs, EventIndex(0));
    EXPECT_EQ(found.buffer, EventIndex(0));
    EXPECT_TRUE(movedText(found).isEmpty());
    EXPECT_EQ(causes(found), "So a file decides. Up to event 8 the heap was as in the recording.");
}

TEST(HeapEvidence, WhereTheSystemHasChosenAddressesAllAreElsewhere) {
    const HeapEvidence found =
        heapEvidence(Log().base(0x7000).heap(2, 1).buffer(3, 0x5000).bytes,
                     Log().base(0x8000).heap(2, 1).buffer(3, 0x6000).bytes, EventIndex(4));
    EXPECT_TRUE(found.elsewhere);
    EXPECT_EQ(found.same, EventIndex(2));
    EXPECT_EQ(movedText(found).toStdString(), "the heap is not where it was: the buffer of event 3 was at "
                                              "0x5000 in the recording and is at 0x6000 now");
    EXPECT_EQ(causes(found), "So an address (all are others than in the recording, as the system has chosen "
                             "them), a file decides. Numbers of "
                             "one's own instead of addresses are the same each time; in a run that is recorded with "
                             "--fixed-addresses most addresses are, too.");
    const HeapEvidence hidden =
        heapEvidence(Log().base(0x7000).heap(2, 1).bytes, Log().base(0x8000).heap(2, 1).bytes, EventIndex(3));
    EXPECT_FALSE(hidden.nothingMoved()) << "though the heap is in the same state";
    EXPECT_FALSE(heapEvidence(Log().base(0x7000).bytes, Log().base(0x7000).bytes, EventIndex(3)).elsewhere);
}

TEST(HeapEvidence, AHeapInAnotherStateIsACauseAmongOthers) {
    const HeapEvidence found =
        heapEvidence(Log().heap(2, 1).heap(4, 1).buffer(5, 0x5000).heap(8, 3).bytes,
                     Log().heap(2, 1).heap(4, 2).buffer(5, 0x5000).heap(8, 3).bytes, EventIndex(9));
    EXPECT_EQ(found.same, EventIndex(2)) << "what is the same again later tells nothing";
    EXPECT_EQ(found.differs, EventIndex(4));
    EXPECT_EQ(
        causes(found),
        "So an address (since event 4 at the latest the heap is not as in the recording), a file decides.");
}

TEST(HeapEvidence, OnlyWhatIsSaidOfTheSameEventsIsCompared) {
    // As the state of the heap is no longer asked for where that takes long, which may be in one of them
    // alone.
    const Log then = Log()
                         .heap(2, 1)
                         .buffer(3, 0x5000)
                         .put(ValueKind::Random, 3, 2)
                         .heap(4, 1)
                         .buffer(4, 0x5000)
                         .buffer(7, 0x5000);
    const Log now = Log()
                        .heap(2, 1)
                        .put(ValueKind::Random, 3, 2)
                        .put(ValueKind::Sent, 3, 9)
                        .buffer(4, 0x5000)
                        .heap(5, 7)
                        .buffer(7, 0x5000);
    for (const HeapEvidence& found : {heapEvidence(then.bytes, now.bytes, EventIndex(8)),
                                      heapEvidence(now.bytes, then.bytes, EventIndex(8))}) {
        EXPECT_EQ(found.same, EventIndex(2));
        EXPECT_EQ(found.differs, EventIndex(0));
        EXPECT_EQ(found.buffer, EventIndex(0));
        EXPECT_FALSE(found.nothingMoved()) << "event 2 is too long ago";
        EXPECT_EQ(causes(found), "So an address (behind MPI_Init they differ), a file decides.");
    }
}

TEST(HeapEvidence, RecordingsOfOldSayNothing) {
    const HeapEvidence found = heapEvidence(Log().put(ValueKind::Time, 2, 5).bytes,
                                            Log().put(ValueKind::Time, 2, 5).heap(2, 1).bytes, EventIndex(3));
    EXPECT_FALSE(found.nothingMoved());
    EXPECT_EQ(causes(found), "So an address (behind MPI_Init they differ), a file decides.");
    EXPECT_EQ(causes(heapEvidence({}, {}, EventIndex(3))), causes(found));
}
