// Reads the file of a recording (see recording_file.h); every input is taken as hostile.
#pragma once

#include "jobs.h"
#include "recording_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace stopline::replay {

/// Where a piece of a rank's blocks is in a file.
struct BlockPiece {
    std::uint64_t at = 0; ///< byte of the file
    std::uint32_t storedBytes = 0;
    std::uint32_t rawBytes = 0;
    std::uint32_t codec = 0; ///< ChunkCodec
};

/// What a file says of one rank.
struct RecordedRank {
    std::string host;
    std::string program;
    std::string directory;
    JobKey job = kFirstJob;
    std::int32_t rank = 0; ///< in its job
    std::int32_t jobSize = 0;
    std::string spawner; ///< where its job was spawned, as spawnerOf() reads it; empty: the first job
    TimeNs clockOffset = 0; ///< to be added to its CLOCK_MONOTONIC; rebase() does
    std::vector<CodeModule> modules;
    trace::RankImage image; ///< header empty when nothing has been recorded
    std::vector<BlockPiece> pieces; ///< of its blocks, one behind the other, where they have been left in the file
    bool present = false;   ///< the file names it
    bool ended = false;     ///< all that it has recorded is in the file, up to its last event
    int waitStatus = -1;    ///< as waitpid gives it; -1 unknown
    std::string values;     ///< times and random bytes that it asked for (tracelib/values.h)
    std::string endedBy;    ///< "killed by stopline after 60 s without a new call": who ended it is not the program; empty otherwise
    std::string faults;     ///< what was said of it while it was recorded, lines
};

/// Something in a file that is wrong.
struct FileProblem {
    std::int32_t rank = -1;  ///< -1: of the job, or unknown
    std::uint64_t chunk = 0; ///< counted from 1; 0: none in particular
    std::string text;        ///< names rank, chunk and what is missing by it; without the file's name
};

struct RecordingFile {
    std::uint32_t version = 0; ///< of the file's format
    std::string stopline;      ///< version of the program that wrote it
    std::vector<std::string> command;
    std::string directory;
    std::string recorder;
    std::int64_t started = 0; ///< ns since 1970
    std::int64_t took = 0;    ///< ns; 0 unknown
    int exitCode = -1;        ///< of the job; -1 unknown
    std::uint32_t noted = 0;  ///< trace::AlsoNoted bits
    std::string input;        ///< standard input that the job was given
    bool inputKnown = false;  ///< false: it was not recorded
    bool inputEnded = false;  ///< the job has seen its end
    std::string lost;         ///< what could not be written; empty: nothing
    bool finished = false;    ///< it has its last chunk
    std::uint64_t chunks = 0; ///< sound ones
    std::vector<RecordedRank> ranks;
    SiteTable sites;
    std::vector<FileProblem> problems;

    [[nodiscard]] std::int32_t rankCount() const { return static_cast<std::int32_t>(ranks.size()); }
    /// Which job each rank is of. Ranks that a file does not place are taken to be of the first job.
    [[nodiscard]] JobTable jobs() const;
};

/// Whether the blocks, which are most of a file, are read into the images or left in the file.
enum class BlocksIn { Image, File };

/// Reads all that is sound in the file into `file`. Empty, or why there is nothing to be read at all: it does
/// not exist, is none of ours, or is of another version (both versions are named). Damage is in
/// `file.problems`.
[[nodiscard]] std::string readRecordingFile(const std::string& path, RecordingFile& file, BlocksIn blocks = BlocksIn::Image);
/// The same of bytes in memory.
[[nodiscard]] std::string parseRecordingFile(std::string_view bytes, RecordingFile& file);

/// Turns the clocks of all ranks into that of the recorder: origins and stops of the images are moved.
void rebaseClocks(RecordingFile& file);

} // namespace stopline::replay
