// The shared mapping of one rank: made by the agent, written by the preloaded library, read by the agent at any
// time, also after the rank has died. All offsets are bytes from the start of the mapping.
#pragma once

#include "types.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stopline::trace {

/// Raised whenever this layout or the block format changes. Reader and library refuse any other.
inline constexpr std::uint32_t kFormatVersion = 9;
/// Recordings of this format and later ones are read as well: 7 did not say which handles are shared, 8 not where memory is.
inline constexpr std::uint32_t kOldestReadVersion = 7;
inline constexpr std::uint64_t kMappingMagic = 0x31454e494c504f54ULL; // "TOPLINE1"

/// Environment of the rank, set by the agent; the library changes no variable.
/// STOPLINE_MAP holds a path that can be opened while the agent lives: "/proc/<agent pid>/fd/<n>".
inline constexpr const char* kMapVariable = "STOPLINE_MAP";
/// Of a rank that was spawned, three words. Its job's key, which is the id of the intercommunicator with its parents; where
/// it was spawned as "job:rank:event", the begin of the root's call; the parents in the order of their group as
/// "job:first-last,...". Keys are hexadecimal.
inline constexpr const char* kSpawnedVariable = "STOPLINE_SPAWNED";
/// First argument of the agent where a spawn starts it; the value of kSpawnedVariable and the program's words follow.
inline constexpr const char* kSpawnedOption = "--spawned";
inline constexpr const char* kAgentName = "stopline-agent";
/// How far reconstructed times may be off, in nanoseconds; optional, for the user. Default kDefaultToleranceNs.
inline constexpr const char* kToleranceVariable = "STOPLINE_TIME_TOLERANCE_NS";
inline constexpr TimeNs kDefaultToleranceNs = 10'000;

/// The file behind the mapping starts at kInitialFileBytes and grows in kGrowBytes steps, each reserved by
/// posix_fallocate before it is touched, until the region of the blocks has its size (MappingHeader::blockBytes).
inline constexpr std::size_t kInitialFileBytes = std::size_t{2} << 20;
inline constexpr std::size_t kGrowBytes = std::size_t{4} << 20;

inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kStagingBytes = 64 * 1024;
inline constexpr std::size_t kDictionaryBytes = 512 * 1024;
inline constexpr std::size_t kCommBytes = 256 * 1024;
inline constexpr std::size_t kStopBytes = 64 * 1024; ///< array of StopRecord
inline constexpr std::size_t kStagingOffset = kHeaderBytes;
inline constexpr std::size_t kDictionaryOffset = kStagingOffset + 2 * kStagingBytes; // two staging buffers
inline constexpr std::size_t kCommOffset = kDictionaryOffset + kDictionaryBytes;
inline constexpr std::size_t kStopOffset = kCommOffset + kCommBytes;
inline constexpr std::size_t kStartOffset = kStopOffset + kStopBytes; ///< two HistoryStart, see history_start.h
inline constexpr std::size_t kStartBytes = 144 * 1024;                ///< of each
inline constexpr std::size_t kBlockOffset = kStartOffset + 2 * kStartBytes; ///< compressed blocks, to the end of the file

/// How much of compressed blocks is kept: a ring, in which new blocks take the place of the oldest ones.
inline constexpr std::uint64_t kDefaultBlockBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kLeastBlockBytes = std::uint64_t{256} << 10; ///< any block fits into it
inline constexpr std::uint64_t kMostBlockBytes = std::uint64_t{1} << 40;
/// Virtual size of the mapping of a rank that keeps so much.
[[nodiscard]] constexpr std::size_t mappedBytes(std::uint64_t blockBytes) {
    return kBlockOffset + static_cast<std::size_t>(blockBytes);
}
/// A wish as it can be: 0 is the default, the rest is brought within the limits and rounded down to whole pages.
[[nodiscard]] constexpr std::uint64_t blockBytesFor(std::uint64_t wanted) {
    if (wanted == 0) {
        return kDefaultBlockBytes;
    }
    const std::uint64_t some = wanted < kLeastBlockBytes  ? kLeastBlockBytes
                               : wanted > kMostBlockBytes ? kMostBlockBytes
                                                          : wanted;
    return some / 4096 * 4096;
}

/// What the library does at the moment. Every change is followed by a futex wake of `stateSequence`.
enum class RankState : std::uint32_t {
    Absent = 0,     ///< no process with MPI has been seen: what is no MPI program leaves the mapping alone
    AtGate = 2,     ///< waits for `gateOpen`, so that gdb can attach
    Running = 3,    ///< user code or MPI
    Arrived = 4,    ///< reached its threshold; keeps MPI progressing until `release`
    Stopping = 5,   ///< in the stop function (see StopReason)
    Finalized = 6,  ///< MPI_Finalize has returned
    Exiting = 7,    ///< exit or destructor has begun
};

/// Where a rank waits for its gdb.
enum class Gate : std::uint32_t {
    None = 0,
    Constructor = 1, ///< before main, when the program is linked with MPI; otherwise as Init
    Init = 2,        ///< at the begin of MPI_Init, event 1 already recorded
    InitEnd = 3,     ///< at the end of MPI_Init, event 2 already recorded
};

/// What else is noted with the times and random bytes, if it is wanted (MappingHeader::alsoNoted).
enum AlsoNoted : std::uint32_t {
    kNotePid = 1,  ///< what getpid answers
    kNoteSent = 2, ///< a running hash of what is sent
};

/// Why the library called stopline_stop_here().
enum class StopReason : std::uint32_t {
    None = 0,
    Threshold = 1,
    Abort = 2,          ///< MPI_Abort, call not performed
    MpiError = 3,       ///< an error that would be fatal; `stopCode` is its ErrorClass, Success when that is not known
    ExitNoFinalize = 4, ///< exit, _exit or return from main after MPI_Init without MPI_Finalize; `stopCode` exit code
};

/// Header at offset 0. Written by: L the library, A the agent (on the window's behalf), both with atomic stores.
struct MappingHeader {
    std::uint64_t magic;         // A, before the rank starts
    std::uint32_t formatVersion; // A
    std::uint32_t headerBytes;   // A, sizeof(MappingHeader)
    std::uint64_t libraryBuild;  // L, hash of the library's own version string
    std::uint64_t blockBytes;    // A: size of the region of the blocks; 0 is kDefaultBlockBytes

    // Identity.
    std::atomic<std::int32_t> pid;       // L: process that claimed the mapping (the one that calls MPI)
    std::atomic<std::int32_t> callerTid; // L: thread inside a wrapper, or the one that called MPI_Init
    std::atomic<std::int32_t> worldRank; // L: -1 before MPI_Init has returned
    std::atomic<std::int32_t> worldSize; // L
    std::atomic<std::uint32_t> mpiLinked; // L: 1 when PMPI_Init was found at load

    // Run control.
    std::atomic<std::uint32_t> state;         // L: RankState
    std::atomic<std::uint32_t> stateSequence; // L: futex word, grows with each change of state
    std::atomic<std::uint32_t> gate;          // A: Gate
    std::atomic<std::uint32_t> gateOpen;      // A: futex word, 1 lets the rank through the gate
    std::atomic<std::uint64_t> threshold;     // A: event number to hold at; kNoThreshold. L resets it on arrival
    std::atomic<std::uint32_t> release;       // A: 1 lets an arrived rank into the stop function. L resets it
    std::atomic<std::uint32_t> stopReason;    // L: StopReason
    std::atomic<std::int32_t> stopCode;       // L
    std::atomic<std::uint64_t> stopFunction;  // L: address of stopline_stop_here, published before the gate
    std::atomic<std::uint64_t> libraryBase;   // L: load address of the preloaded library

    // Progress of the recording.
    std::atomic<std::uint64_t> eventCount;   // L: number of the last event recorded
    std::atomic<std::uint32_t> insideCall;   // L: 1 while the user's thread is inside a traced MPI call
    std::atomic<std::uint32_t> inHold;       // L: 1 between arrival and return from the stop function
    std::atomic<std::uint32_t> pollOpen;     // L: 1 while a poll call is open (its begin recorded, not its end)
    std::atomic<std::uint64_t> pollFailures; // L: failures so far of the open poll
    std::atomic<std::uint32_t> busy;         // L: 1 while the library writes its own structures
    std::atomic<std::uint32_t> recordingOff; // L: 0, or an errno: the recording has stopped and why

    // Time. Codes count execution time: now - originNs - heldNs.
    std::atomic<std::int64_t> originNs; // L: CLOCK_MONOTONIC at load
    std::atomic<std::int64_t> heldNs;   // A while gdb holds the rank, L for its own hold

    // Regions: bytes valid from the region's offset. Data first, then a release-store of the length.
    std::atomic<std::uint64_t> dictionaryLength; // L
    std::atomic<std::uint64_t> commLength;       // L
    std::atomic<std::uint32_t> stopCount;        // L and A: fetch_add, then the record, then its `ready` word
    std::atomic<std::uint64_t> blockLength;      // L: of all blocks ever made. Byte p of them stands at
                                                 // kBlockOffset + p % blockBytes while blockTail <= p
    std::atomic<std::uint64_t> blockTail;        // L: where the oldest kept block starts. Grows before what is below
                                                 // it is overwritten: whoever has copied from p on, and then still
                                                 // finds it at or below p, has got blocks
    std::atomic<std::uint32_t> startSequence;    // L: 0: nothing has been dropped; else HistoryStart number
                                                 // startSequence % 2 says what was. The other one may be being written
    std::atomic<std::uint64_t> fileBytes;        // A, then L when it grows the file

    // The order log that this execution is to follow (order.h): another file of the agent, beside the mapping's.
    std::atomic<std::int32_t> orderDescriptor; // A: of the agent; means nothing while orderBytes is 0
    std::atomic<std::uint32_t> findRaces;      // A, before the rank starts: 1: races are to be found while it runs, and noted
                                               // among the values (values.h)
    std::atomic<std::uint64_t> orderBytes;     // A, before the rank starts: 0, or the length of the log
    std::atomic<std::uint32_t> orderLeft;      // A: 1: the log is followed no further, MPI decides from here on
    // Times and random bytes (values.h), in files of the agent: what the rank notes, and what it is to be given.
    std::atomic<std::uint32_t> valuesWanted;    // A, before the rank starts: 1: there is a file to note them in. L: 2: no room
                                                // for more, so that none is noted any more
    std::atomic<std::int32_t> valueDescriptor;  // A
    std::atomic<std::uint64_t> valueLength;     // L: bytes noted
    std::atomic<std::int32_t> givenDescriptor;  // A; means nothing while givenBytes is 0
    std::atomic<std::uint64_t> givenBytes;      // A
    std::atomic<std::uint32_t> alsoNoted;       // A, before the rank starts: AlsoNoted bits
    // Of kNoteSent. The words belong together where the upper bits of the first are the lower ones of the second.
    std::atomic<std::uint64_t> sentCount;       // L: messages and contributions so far, in kSentCountBits bits
    std::atomic<std::uint64_t> sentHash;        // L: of all their data
    std::atomic<std::uint64_t> sentDiffers;     // L: 0, or the event by which what had been sent was not what was recorded
    std::atomic<std::uint64_t> jitter;         // A, before the rank starts: seed of delays before calls; 0: none

    // Staging: two buffers; `stagingSequence` & 1 names the current one. Reader: read sequence, copy, read again.
    std::atomic<std::uint32_t> stagingSequence; // L: grows when a buffer has been turned into a block; kStagingTurning
                                                // is set while the words below change: a copy then has no staging
    std::atomic<std::uint32_t> stagedIds;       // L: bytes of the id stream (from the start of the buffer)
    std::atomic<std::uint32_t> stagedTimes;     // L: bytes of the time stream (from the end of the buffer, downwards)
    std::atomic<std::uint64_t> stagedFirst;     // L: number of the first event in staging
    std::atomic<std::int64_t> stagedTime;       // L: reconstructed execution time before that event
};
static_assert(sizeof(MappingHeader) <= kHeaderBytes);
inline constexpr std::uint32_t kStagingTurning = 0x80000000U;
inline constexpr unsigned kSentCountBits = 40;
inline constexpr std::uint64_t kSentCount = (std::uint64_t{1} << kSentCountBits) - 1;

// The streams of staging. Both hold one item an event, in order of event numbers.
// Ids: varint; 0: serialised details follow (reader.h), n > 0: entry n - 1 of the dictionary. After the end of a poll
//   (its details say so): varint, number of failures.
// Times: the log2 code of the execution time since the reconstructed time of the previous event, or kExactTime and
//   a varint in units of 2^kExactShift ns where no code is within the tolerance (p2d2 paper section 2.2). This stream
//   grows downwards.
// Dictionary: serialised details, one after the other. Communicators: serialised CommInfo, by CommIndex.
inline constexpr std::uint8_t kExactTime = 255;
inline constexpr unsigned kExactShift = 14;

/// A stop in the mapping's stop region. `ready` is set last.
struct MappedStop {
    std::uint64_t event;
    std::int64_t beginNs;
    std::int64_t endNs;
    std::atomic<std::uint64_t> ready;
};
inline constexpr std::uint32_t kMaxStops = kStopBytes / sizeof(MappedStop);

/// Header of one compressed block; followed by `compressedBytes` bytes (tokens, ids and times as packer.h says,
/// stored or deflated), padded to 8.
struct BlockHeader {
    std::uint32_t magic; // kBlockMagic
    std::uint32_t codec; // 0: stored, 1: zlib
    std::uint64_t firstEvent;
    std::int64_t startTime; // reconstructed execution time before firstEvent
    std::uint32_t eventCount;
    std::uint32_t tokenBytes; // raw, as the next two
    std::uint32_t idBytes;
    std::uint32_t timeBytes;
    std::uint32_t compressedBytes;
    std::uint32_t checksum; // adler32 of this header with checksum 0, then of the raw bytes
};
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4253; // "SBLK"

/// Stands where the next block would not fit before the end of the ring: the rest of it is empty.
struct BlockGap {
    std::uint32_t magic; // kGapMagic
    std::uint32_t words; // its length with this header, in steps of eight bytes
};
inline constexpr std::uint32_t kGapMagic = 0x50414753; // "SGAP"

/// Bytes of the gap that starts at `at`, of which `left` bytes are there; 0: none does.
[[nodiscard]] inline std::uint64_t gapAt(const std::byte* at, std::uint64_t left) {
    BlockGap gap{};
    if (left < sizeof gap) {
        return 0;
    }
    std::memcpy(&gap, at, sizeof gap);
    const std::uint64_t bytes = std::uint64_t{gap.words} * 8;
    return gap.magic == kGapMagic && bytes <= left ? bytes : 0;
}

} // namespace stopline::trace
