#include "recording_writer.h"

#include "../tracelib/history_start.h"

#include <zlib.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stopline::replay {

namespace {

/// Below this, compression gains nothing.
constexpr std::size_t kWorthCompressing = 64;
/// Kept back on the disk for the last chunks: staging areas, exits, call sites.
constexpr off_t kReserveBytes = 256 * 1024;
constexpr off_t kEndBytes = 8 * 1024; // two pages: the chunk that ends a file takes less than one, and may lie across
/// Pieces of blocks are at most this long, or one block.
constexpr std::size_t kBlockPiece = 1u << 20;

std::uint32_t crc(const void* bytes, std::size_t count) {
    return static_cast<std::uint32_t>(
        crc32_z(crc32_z(0, nullptr, 0), static_cast<const Bytef*>(bytes), count));
}

std::string folderOf(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The staging area without what is left in it of earlier events: that only takes room.
std::string usedStaging(const trace::RankImage& image) {
    const auto word = [&image](std::size_t offset) {
        std::uint32_t value = 0;
        std::memcpy(&value, image.header.data() + offset, sizeof value);
        return std::size_t{value};
    };
    std::string bytes(reinterpret_cast<const char*>(image.staging.data()), image.staging.size());
    const std::size_t ids = word(offsetof(trace::MappingHeader, stagedIds));
    const std::size_t times = word(offsetof(trace::MappingHeader, stagedTimes));
    if (ids + times <= bytes.size()) {
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(ids),
                  bytes.end() - static_cast<std::ptrdiff_t>(times), '\0');
    }
    return bytes;
}

std::string_view view(const std::vector<std::byte>& bytes, std::size_t from, std::size_t to) {
    return {reinterpret_cast<const char*>(bytes.data()) + from, to - from};
}

/// A file without a name, gone when we are, that takes so much room. Where there is none of it, or no such thing, -1.
int reserve(const std::string& folder, off_t bytes) {
    const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 && ::posix_fallocate(file, 0, bytes) != 0) {
        ::close(file);
        return -1;
    }
    return file;
}

void release(int& reserve) {
    if (reserve >= 0) {
        ::close(reserve);
        reserve = -1;
    }
}

} // namespace

RecordingWriter::~RecordingWriter() {
    releaseReserve();
    release(m_endReserve);
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

std::string RecordingWriter::open(const std::string& target) {
    struct stat info {};
    if (::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
        return target + " is no file";
    }
    m_target = target;
    m_part = target + ".part";
    m_fd = ::open(m_part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (m_fd < 0) {
        return m_part + ": " + std::strerror(errno);
    }
    m_endReserve = reserve(folderOf(target), kEndBytes);
    for (off_t bytes = kReserveBytes; m_reserve < 0 && bytes > kEndBytes; bytes /= 2) {
        m_reserve = reserve(folderOf(target), bytes);
    }
    const FileHeader header;
    if (!write(&header, sizeof header)) {
        const int error = m_fault;
        discard();
        return m_part + ": " + std::strerror(error);
    }
    m_size = sizeof header;
    return {};
}

void RecordingWriter::releaseReserve() {
    release(m_reserve);
}

void RecordingWriter::discard() {
    releaseReserve();
    release(m_endReserve);
    if (m_fd >= 0) {
        ::close(m_fd);
        m_fd = -1;
        ::unlink(m_part.c_str());
    }
}

/// All or nothing: what is left of a chunk that did not fit is cut off again.
bool RecordingWriter::write(const void* bytes, std::size_t count) {
    const char* from = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t done = ::write(m_fd, from, count);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            m_fault = done < 0 ? errno : ENOSPC;
            return false;
        }
        from += done;
        count -= static_cast<std::size_t>(done);
    }
    return true;
}

bool RecordingWriter::add(ChunkType type, std::int32_t rank, std::string_view bytes, std::uint64_t position) {
    if (m_fd < 0 || bytes.size() > kMaxChunkBytes) {
        return false;
    }
    if (type == ChunkType::End) {
        release(m_endReserve);
    }
    ChunkHeader header;
    header.type = static_cast<std::uint32_t>(type);
    header.rank = rank;
    header.position = position;
    header.rawBytes = static_cast<std::uint32_t>(bytes.size());
    std::string packed;
    std::string_view stored = bytes;
    if (type != ChunkType::Blocks && bytes.size() >= kWorthCompressing) {
        uLongf size = compressBound(static_cast<uLong>(bytes.size()));
        packed.resize(size);
        if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                      reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                      6) == Z_OK &&
            size < bytes.size()) {
            header.codec = static_cast<std::uint32_t>(ChunkCodec::Zlib);
            stored = std::string_view(packed.data(), size);
        }
    }
    header.storedBytes = static_cast<std::uint32_t>(stored.size());
    header.contentSum = crc(stored.data(), stored.size());
    header.headerSum = crc(&header, offsetof(ChunkHeader, headerSum));
    if (!write(&header, sizeof header) || !write(stored.data(), stored.size())) {
        if (::ftruncate(m_fd, static_cast<off_t>(m_size)) == 0) {
            ::lseek(m_fd, static_cast<off_t>(m_size), SEEK_SET);
        }
        return false;
    }
    m_size += sizeof header + stored.size();
    return true;
}

bool RecordingWriter::addPart(ChunkType type, std::int32_t rank, const std::vector<std::byte>& part,
                              std::size_t& from) {
    while (from < part.size()) {
        const std::size_t to = std::min<std::size_t>(part.size(), from + kMaxChunkBytes);
        if (!add(type, rank, view(part, from, to), from)) {
            return false;
        }
        from = to;
    }
    return true;
}

/// Blocks are recognised by their first event and not by where they stand: old ones may have been dropped in
/// front. At the end, what is no block is written as it is: whoever reads it says what is wrong.
bool RecordingWriter::addBlocks(std::int32_t rank, const trace::RankImage& image, Written& written, bool last) {
    const std::vector<std::byte>& blocks = image.blocks;
    const auto lengthAt = [&blocks](std::size_t at, trace::BlockHeader& header) -> std::size_t {
        if (at >= blocks.size() || blocks.size() - at < sizeof header) {
            return 0;
        }
        std::memcpy(&header, blocks.data() + at, sizeof header);
        const std::size_t length =
            sizeof header + ((std::size_t{header.compressedBytes} + 7) & ~std::size_t{7});
        return header.magic == trace::kBlockMagic && length <= blocks.size() - at ? length : 0;
    };
    trace::BlockHeader header{};
    const auto behindGap = [&blocks](std::size_t at) {
        const std::uint64_t gap = at < blocks.size() ? trace::gapAt(blocks.data() + at, blocks.size() - at) : 0;
        return at + static_cast<std::size_t>(gap);
    };
    const bool within = written.blocks >= image.blocksFrom && written.blocks - image.blocksFrom <= blocks.size();
    std::size_t at = behindGap(within ? static_cast<std::size_t>(written.blocks - image.blocksFrom) : 0);
    if (lengthAt(at, header) == 0 || header.firstEvent != written.nextEvent) {
        at = behindGap(0);
    }
    for (std::size_t length = 0; (length = lengthAt(at, header)) != 0; at = behindGap(at)) {
        if (header.firstEvent < written.nextEvent) {
            at += length;
            continue;
        }
        std::size_t to = at;
        std::uint64_t next = written.nextEvent;
        while (length != 0 && (to == at || to + length - at <= kBlockPiece)) {
            next = header.firstEvent + header.eventCount;
            to += length;
            length = lengthAt(to, header);
        }
        if (!add(ChunkType::Blocks, rank, view(blocks, at, to), written.blockBytes)) {
            return false;
        }
        written.blockBytes += to - at;
        written.nextEvent = next;
        written.blocks = image.blocksFrom + to;
        at = to;
    }
    for (std::size_t to = at; last && at < blocks.size(); at = to) {
        to = std::min<std::size_t>(blocks.size(), at + kMaxChunkBytes);
        if (!add(ChunkType::Blocks, rank, view(blocks, at, to), written.blockBytes)) {
            return false;
        }
        written.blockBytes += to - at;
    }
    return true;
}

/// The image begins behind what is written: the stream of blocks begins anew, unless nothing is missing between.
bool RecordingWriter::addStart(std::int32_t rank, const trace::RankImage& image, Written& written) {
    if (image.start.size() < sizeof(trace::HistoryStart::position) * 2) {
        return true;
    }
    std::uint64_t first = 0;
    std::memcpy(&first, image.start.data() + offsetof(trace::HistoryStart, firstEvent), sizeof first);
    if (first > written.nextEvent) {
        if (!add(ChunkType::Start, rank, view(image.start, 0, image.start.size()))) {
            return false;
        }
        written.nextEvent = first;
        written.blockBytes = 0;
        written.blocks = image.blocksFrom;
    }
    return true;
}

std::uint64_t RecordingWriter::blocksWritten(std::int32_t rank) const {
    const auto written = m_written.find(rank);
    return written != m_written.end() ? written->second.blocks : 0;
}

bool RecordingWriter::addImage(std::int32_t rank, const trace::RankImage& image, bool last) {
    Written& written = m_written[rank];
    const Written before = written;
    // What blocks refer to first.
    bool all = addPart(ChunkType::Dictionary, rank, image.dictionary, written.dictionary) &&
               addPart(ChunkType::Comms, rank, image.comms, written.comms) &&
               addStart(rank, image, written) && addBlocks(rank, image, written, last);
    all = addPart(ChunkType::Stops, rank, image.stops, written.stops) && all;
    if ((last || !(written == before)) && image.header.size() >= sizeof(trace::MappingHeader)) {
        all = add(ChunkType::Header, rank, view(image.header, 0, image.header.size())) && all;
        if (last && image.staging.size() == trace::kStagingBytes) {
            all = add(ChunkType::Staging, rank, usedStaging(image)) && all;
        }
    }
    return all;
}

std::string RecordingWriter::finish() {
    if (m_fd < 0) {
        return "it is not open";
    }
    const int fd = m_fd;
    m_fd = -1;
    // The name must not be on the disk before what it stands for.
    const bool synced = ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
    const int error = errno;
    ::close(fd);
    if (!synced) {
        return std::strerror(error);
    }
    if (std::rename(m_part.c_str(), m_target.c_str()) != 0) {
        return std::strerror(errno);
    }
    return {};
}

} // namespace stopline::replay
