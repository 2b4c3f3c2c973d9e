#include "agent_mapping.h"

#include "../tracelib/values.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// Largest part of the blocks in one Trace frame; the window asks again for the rest.
constexpr std::uint64_t kMaxBlockBytesPerFrame = 32u << 20;
std::string sizeText(std::size_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

int openUnnamedFile(const std::string& directory) {
    const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) {
        return fd;
    }
    std::string name = directory + "/stopline-map-XXXXXX";
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) {
        ::unlink(name.c_str());
    }
    return named;
}

} // namespace

Mapping::~Mapping() {
    if (m_base != nullptr) {
        ::munmap(m_base, trace::mappedBytes(m_ring));
    }
    for (const int fd : {m_fd, m_orderFd, m_givenFd, m_notedFd}) {
        if (fd >= 0) {
            ::close(fd);
        }
    }
}

std::optional<FaultText> Mapping::addLogs(std::string_view order, std::string_view values, int rank) {
    const auto keep = [&](const char* what, std::string_view log, int& fd) {
        fd = ::memfd_create(("stopline-" + std::string(what) + "-" + std::to_string(rank)).c_str(), MFD_CLOEXEC);
        ssize_t written = 0;
        for (; fd >= 0 && !log.empty() && written >= 0; log.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)))) {
            written = ::write(fd, log.data(), log.size());
        }
        return fd >= 0 && written >= 0;
    };
    if ((!order.empty() && !keep("order", order, m_orderFd)) || (!values.empty() && !keep("given", values, m_givenFd))) {
        return FaultText{"order",
                         "Rank " + std::to_string(rank) + ": cannot keep what the recorded execution got (" +
                             std::to_string(order.size() + values.size()) + " bytes) in memory: " + std::strerror(errno) + ".",
                         "Free memory on this host."};
    }
    header().orderDescriptor.store(m_orderFd, std::memory_order_relaxed);
    header().orderBytes.store(order.size(), std::memory_order_release);
    header().givenDescriptor.store(m_givenFd, std::memory_order_relaxed);
    header().givenBytes.store(values.size(), std::memory_order_release);
    // Without room for it nothing is noted, and all else goes on.
    if (keep("values", {}, m_notedFd) && ::posix_fallocate(m_notedFd, 0, static_cast<off_t>(trace::kInitialValueBytes)) == 0) {
        header().valueDescriptor.store(m_notedFd, std::memory_order_relaxed);
        header().valuesWanted.store(1, std::memory_order_release);
    }
    return std::nullopt;
}

std::string Mapping::noted(std::uint64_t from) const {
    constexpr std::uint64_t kPart = 8U << 20;
    const std::uint64_t length = std::min<std::uint64_t>(
        m_guard.header().valueLength.load(std::memory_order_acquire), trace::kValueBytes);
    if (m_notedFd < 0 || from >= length) {
        return {};
    }
    std::string part(std::min(length - from, kPart), '\0');
    const ssize_t got = ::pread(m_notedFd, part.data(), part.size(), static_cast<off_t>(from));
    part.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return part;
}

std::optional<FaultText> Mapping::create(const std::string& directory, int rank, std::uint64_t blockBytes) {
    m_ring = trace::blockBytesFor(blockBytes);
    const std::string place = directory.empty() ? "memory" : "\"" + directory + "\"";
    const auto fault = [&](const std::string& what, int error) {
        const std::string remedy =
            directory.empty() ? "Free memory, or choose a directory for the recordings that has space."
                              : "Free space there, or choose another directory for the recordings.";
        return FaultText{"mapping",
                         "Rank " + std::to_string(rank) + ": cannot " + what + " (" +
                             sizeText(trace::kInitialFileBytes) + ") in " + place + ": " +
                             std::strerror(error) + ".",
                         remedy};
    };
    const std::string name = "stopline-rank-" + std::to_string(rank);
    m_fd = directory.empty() ? ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)
                             : openUnnamedFile(directory);
    if (m_fd < 0) {
        return fault("make the recording's file", errno);
    }
    const int error = ::posix_fallocate(m_fd, 0, static_cast<off_t>(trace::kInitialFileBytes));
    if (error != 0) {
        return fault("reserve the recording", error);
    }
    if (directory.empty()) {
        // A file that shrank under the agent would kill it when it reads; growing is all anybody needs.
        ::fcntl(m_fd, F_ADD_SEALS, F_SEAL_SHRINK);
    }
    void* base =
        ::mmap(nullptr, trace::mappedBytes(m_ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m_fd, 0);
    if (base == MAP_FAILED) {
        return fault("map the recording", errno);
    }
    m_base = static_cast<std::byte*>(base);

    trace::MappingHeader& header = this->header();
    header.formatVersion = trace::kFormatVersion;
    header.headerBytes = sizeof(trace::MappingHeader);
    header.worldRank.store(-1, std::memory_order_relaxed);
    header.threshold.store(kNoThreshold.value(), std::memory_order_relaxed);
    header.fileBytes.store(trace::kInitialFileBytes, std::memory_order_relaxed);
    header.blockBytes = m_ring;
    __atomic_store_n(&header.magic, trace::kMappingMagic, __ATOMIC_RELEASE);
    m_guard.watch(m_base);
    return std::nullopt;
}

bool Mapping::attach(const std::string& path, std::uint64_t device, std::uint64_t inode) {
    m_fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (m_fd < 0 || ::fstat(m_fd, &info) != 0 || info.st_dev != device || info.st_ino != inode ||
        info.st_size < static_cast<off_t>(trace::kBlockOffset)) {
        return false;
    }
    std::uint64_t blockBytes = 0;
    if (::pread(m_fd, &blockBytes, sizeof blockBytes, offsetof(trace::MappingHeader, blockBytes)) != sizeof blockBytes) {
        return false;
    }
    m_ring = trace::blockBytesFor(blockBytes);
    void* base = ::mmap(nullptr, trace::mappedBytes(m_ring), PROT_READ, MAP_SHARED | MAP_NORESERVE, m_fd, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    m_base = static_cast<std::byte*>(base);
    m_guard.watch(m_base);
    // What it notes of values stands in another file of the agent's. Without it those are all that is not to be had.
    const trace::MappingHeader& header = m_guard.header();
    if (header.valuesWanted.load(std::memory_order_acquire) != 0) {
        const std::string noted = path.substr(0, path.rfind('/') + 1) + std::to_string(header.valueDescriptor.load(std::memory_order_relaxed));
        m_notedFd = ::open(noted.c_str(), O_RDONLY | O_CLOEXEC);
    }
    return true;
}

std::string Mapping::environmentPath() const {
    // Extra slashes mean nothing in a path, but keep its length.
    std::string pid = std::to_string(::getpid());
    pid.insert(0, pid.size() < 10 ? 10 - pid.size() : 0, '/');
    return "/proc/" + pid + "/fd/" + std::to_string(m_fd);
}

std::size_t Mapping::fileBytes() const {
    struct stat info {};
    return ::fstat(m_fd, &info) == 0
               ? std::min<std::size_t>(static_cast<std::size_t>(info.st_size), trace::mappedBytes(m_ring))
               : 0;
}

std::string Mapping::copyForWindow(const Fields& pull) {
    m_guard.lookAtAll();
    const trace::MappingHeader& copied = m_guard.recordedHeader();

    TraceHeader out{};
    out.id = unsignedField(pull, "id", 0);
    out.headerBytes = sizeof(trace::MappingHeader);
    out.stagingBytes = trace::kStagingBytes;
    const std::size_t size = fileBytes();
    const auto part = [&](const char* name, std::uint64_t valid, std::uint64_t capacity, std::uint64_t& from,
                          std::uint64_t& bytes) {
        valid = std::min(valid, capacity);
        from = std::min(unsignedField(pull, name, 0), valid);
        bytes = valid - from;
    };
    part("dictionary", copied.dictionaryLength.load(std::memory_order_relaxed), m_guard.dictionary().size(),
         out.dictionaryFrom, out.dictionaryBytes);
    part("comms", copied.commLength.load(std::memory_order_relaxed), m_guard.comms().size(), out.commsFrom,
         out.commsBytes);
    part("stops", m_guard.stops().size(), m_guard.stops().size(), out.stopsFrom, out.stopsBytes);
    const trace::CopiedBlocks blocks = newBlocks(unsignedField(pull, "blocks", 0), copied, size);
    out.blocksFrom = blocks.from;
    out.blocksBytes = blocks.blocks.size();
    out.startBytes = blocks.start.size();

    std::string body;
    body.reserve(sizeof out + sizeof(trace::MappingHeader) + trace::kStagingBytes + out.dictionaryBytes +
                 out.commsBytes + out.stopsBytes + out.blocksBytes + out.startBytes);
    body.append(reinterpret_cast<const char*>(&out), sizeof out);
    body.append(reinterpret_cast<const char*>(&copied), sizeof(trace::MappingHeader));
    body.append(m_guard.staging());
    body.append(m_guard.dictionary(), out.dictionaryFrom, out.dictionaryBytes);
    body.append(m_guard.comms(), out.commsFrom, out.commsBytes);
    body.append(m_guard.stops(), out.stopsFrom, out.stopsBytes);
    body.append(blocks.blocks);
    body.append(blocks.start);
    return body;
}

/// What there is behind the blocks that the window has, or, when the rank has overwritten those, what there is.
trace::CopiedBlocks Mapping::newBlocks(std::uint64_t have, const trace::MappingHeader& recorded, std::size_t size) const {
    const std::uint64_t length = recorded.blockLength.load(std::memory_order_relaxed);
    if (!m_guard.overwritten()) {
        return trace::copyBlocks(m_base, m_ring, size, have, length, kMaxBlockBytesPerFrame);
    }
    // Nothing is taken from the mapping any more that says what stands where.
    trace::CopiedBlocks kept;
    kept.from = have;
    const std::uint64_t tail = recorded.blockTail.load(std::memory_order_relaxed);
    const std::uint64_t there = std::min<std::uint64_t>(size - trace::kBlockOffset, m_ring);
    const std::uint64_t end = there < m_ring ? std::min(length, there) : length;
    if (have >= tail && have < end && end - have <= m_ring) {
        kept.blocks = trace::detail::copyRing(m_base, m_ring, have, std::min(end - have, kMaxBlockBytesPerFrame));
    }
    return kept;
}

bool Mapping::appendStop(std::uint64_t event, std::int64_t beginNs, std::int64_t endNs) {
    const std::uint32_t index = header().stopCount.fetch_add(1, std::memory_order_acq_rel);
    if (index >= trace::kMaxStops) {
        return false;
    }
    auto& stop = reinterpret_cast<trace::MappedStop*>(m_base + trace::kStopOffset)[index];
    stop.event = event;
    stop.beginNs = beginNs;
    stop.endNs = endNs;
    stop.ready.store(1, std::memory_order_release);
    return true;
}

} // namespace stopline::agent
