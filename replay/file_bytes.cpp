#include "file_bytes.h"

#include "recording_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::replay {

std::uint64_t FileBytes::find(std::string_view wanted, std::uint64_t from) {
    constexpr std::uint64_t kPiece = 1 << 16;
    while (from < size()) {
        const std::string_view piece = at(from, kPiece);
        const std::size_t found = piece.find(wanted);
        if (found != std::string_view::npos) {
            return from + found;
        }
        if (piece.size() < wanted.size() || from + piece.size() >= size()) {
            break;
        }
        from += piece.size() - wanted.size() + 1; // it may stand across the end of the piece
    }
    return size();
}

std::string_view MemoryBytes::at(std::uint64_t from, std::uint64_t bytes) {
    return from > m_bytes.size() ? std::string_view() : m_bytes.substr(from, bytes);
}

DiskBytes::~DiskBytes() {
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

std::string DiskBytes::open(const std::string& path) {
    struct stat info {};
    m_fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_fd < 0 || ::fstat(m_fd, &info) != 0) {
        return std::strerror(errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return std::strerror(EISDIR);
    }
    m_regular = S_ISREG(info.st_mode);
    m_size = static_cast<std::uint64_t>(info.st_size);
    return {};
}

/// Returns how many could be read.
std::uint64_t DiskBytes::read(std::string& to, std::uint64_t from, std::uint64_t bytes) {
    to.resize(bytes);
    std::uint64_t have = 0;
    while (have < bytes) {
        const ssize_t got = ::pread(m_fd, to.data() + have, bytes - have, static_cast<off_t>(from + have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            m_failed = true;
            break;
        }
        have += static_cast<std::uint64_t>(got);
    }
    to.resize(have);
    return have;
}

std::string_view DiskBytes::at(std::uint64_t from, std::uint64_t bytes) {
    constexpr std::uint64_t kWindow = 1 << 20;
    bytes = from > m_size ? 0 : std::min(bytes, m_size - from);
    if (bytes > kWindow / 2) {
        read(m_large, from, bytes);
        return m_large;
    }
    if (m_large.capacity() > 4 * kWindow) {
        std::string().swap(m_large);
    }
    if (from < m_windowFrom || from + bytes > m_windowFrom + m_window.size()) {
        m_windowFrom = from;
        read(m_window, from, std::min(kWindow, m_size - std::min(from, m_size)));
    }
    const std::uint64_t skip = std::min<std::uint64_t>(from - m_windowFrom, m_window.size());
    return std::string_view(m_window).substr(skip, bytes);
}

bool unpackChunk(std::uint32_t codec, std::uint32_t rawBytes, std::string_view stored, std::string& raw) {
    if (codec == static_cast<std::uint32_t>(ChunkCodec::Stored)) {
        return stored.size() == rawBytes;
    }
    if (codec != static_cast<std::uint32_t>(ChunkCodec::Zlib)) {
        return false;
    }
    // zlib makes at most 1032 bytes of one: a small chunk is not worth the memory that it asks for.
    if (rawBytes / 1032 > stored.size()) {
        return false;
    }
    raw.resize(rawBytes);
    uLongf size = rawBytes;
    return uncompress(reinterpret_cast<Bytef*>(raw.data()), &size,
                      reinterpret_cast<const Bytef*>(stored.data()),
                      static_cast<uLong>(stored.size())) == Z_OK &&
           size == rawBytes;
}

} // namespace stopline::replay
