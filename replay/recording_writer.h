// Writes the file of a recording while the job runs (see recording_file.h for the format).
#pragma once

#include "recording_file.h"

#include <map>
#include <memory>
#include <string>

namespace stopline::replay {

/// Writes to a file of another name beside the target, which gets the target's name at the end: whoever opens
/// the target sees a finished recording, or the one before. A disk that is full ends the writing, not the
/// job: what could not be written is tried again by the next call. Not thread-safe.
class RecordingWriter {
  public:
    RecordingWriter() = default;
    ~RecordingWriter(); ///< a file that was not finished stays, under its other name
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    /// Makes the file. Empty, or why it cannot be made.
    [[nodiscard]] std::string open(const std::string& target);
    /// The name that the file has until finish(): the target's with ".part" behind.
    [[nodiscard]] const std::string& partName() const { return m_part; }

    /// Appends a chunk; false when there was no room for it (see fault()): the file is as before then.
    /// `position`: see ChunkHeader.
    bool add(ChunkType type, std::int32_t rank, std::string_view bytes, std::uint64_t position = 0);

    /// Appends what is new in a rank's image since the last call: whole blocks, and the parts that only grow.
    /// `last`: the rank has ended; the staging area is written as well. False when something did not fit;
    /// nothing is lost then as long as the image is given again.
    bool addImage(std::int32_t rank, const trace::RankImage& image, bool last);

    /// Where the blocks of a rank end that are written, as RankImage::blocksFrom counts: its image may let go of them.
    [[nodiscard]] std::uint64_t blocksWritten(std::int32_t rank) const;

    /// Gives the file the target's name. Empty, or why not: it then stays under its part name.
    [[nodiscard]] std::string finish();
    /// To be called before the last chunks: room that was kept back for them is given free.
    void releaseReserve();
    /// Removes the file; for a job that could not be started.
    void discard();

    /// What the system said when something could not be written, an errno; 0: nothing yet.
    [[nodiscard]] int fault() const { return m_fault; }
    [[nodiscard]] std::uint64_t bytesWritten() const { return m_size; }

  private:
    struct Written {
        std::size_t dictionary = 0;
        std::size_t comms = 0;
        std::size_t stops = 0;
        std::uint64_t nextEvent = 1;  ///< first event of the next block
        std::uint64_t blocks = 0;     ///< where that block was expected, as RankImage::blocksFrom counts
        std::uint64_t blockBytes = 0; ///< of blocks, in the file
        friend bool operator==(const Written&, const Written&) = default;
    };
    bool addPart(ChunkType type, std::int32_t rank, const std::vector<std::byte>& part, std::size_t& from);
    bool addStart(std::int32_t rank, const trace::RankImage& image, Written& written);
    bool addBlocks(std::int32_t rank, const trace::RankImage& image, Written& written, bool last);
    bool write(const void* bytes, std::size_t count);

    std::string m_target;
    std::string m_part;
    int m_fd = -1;
    int m_reserve = -1;    ///< room for the last chunks
    int m_endReserve = -1; ///< for the one that ends the file, and says what is missing
    int m_fault = 0;
    std::uint64_t m_size = 0;
    std::map<std::int32_t, Written> m_written;
};

} // namespace stopline::replay
