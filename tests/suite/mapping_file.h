// A mapping that has been left behind as a file, read as the agent would read it.
#pragma once

#include "../../tracelib/mapping.h"
#include "../../tracelib/reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::trace::testing {

/// What is in the file, and what its header says of it.
struct MappingFile {
    RankImage image;
    std::uint64_t events = 0;      ///< counted
    std::uint64_t blockBytes = 0;  ///< compressed
    std::uint32_t stagedIds = 0;   ///< bytes at the begin of staging
    std::uint32_t stagedTimes = 0; ///< bytes at its end
    std::uint64_t dictionaryBytes = 0;
    std::uint64_t commBytes = 0;
    int off = 0; ///< errno for which the recording was given up, 0: it was not
};

/// Empty, or why `path` cannot be read.
inline std::string readMappingFile(const char* path, MappingFile& file) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
        return std::strerror(errno);
    }
    const auto size = static_cast<std::size_t>(info.st_size);
    void* base = size < kInitialFileBytes ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
    if (base == MAP_FAILED) {
        return "no recording";
    }
    const auto* bytes = static_cast<const std::byte*>(base);
    const auto* header = reinterpret_cast<const MappingHeader*>(base);
    const auto copy = [&](std::vector<std::byte>& to, std::size_t offset, std::uint64_t length) {
        const std::size_t there = offset < size ? size - offset : 0;
        to.assign(bytes + offset, bytes + offset + std::min<std::uint64_t>(length, there));
    };
    RankImage& image = file.image;
    copy(image.header, 0, sizeof(MappingHeader));
    copy(image.dictionary, kDictionaryOffset, header->dictionaryLength);
    copy(image.comms, kCommOffset, header->commLength);
    copy(image.stops, kStopOffset,
         std::min<std::uint64_t>(header->stopCount, kMaxStops) * sizeof(MappedStop));
    copy(image.blocks, kBlockOffset, header->blockLength);
    copy(image.staging, kStagingOffset + (header->stagingSequence & 1U) * kStagingBytes, kStagingBytes);
    file.events = header->eventCount;
    file.blockBytes = image.blocks.size();
    file.stagedIds = header->stagedIds;
    file.stagedTimes = header->stagedTimes;
    file.dictionaryBytes = image.dictionary.size();
    file.commBytes = image.comms.size();
    file.off = static_cast<int>(header->recordingOff);
    ::munmap(base, size);
    return {};
}

} // namespace stopline::trace::testing
