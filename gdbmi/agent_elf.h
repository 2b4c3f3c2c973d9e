// A file that is read piece by piece, as binaries are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace stopline::agent {

/// Never reads beyond the end of the file. Not copyable.
class FileBytes {
  public:
    explicit FileBytes(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~FileBytes() {
        if (m_fd >= 0) {
            ::close(m_fd);
        }
    }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    [[nodiscard]] bool isOpen() const { return m_fd >= 0; }
    template <typename T>
    bool read(std::uint64_t offset, T& value) const {
        return ::pread(m_fd, &value, sizeof value, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(sizeof value);
    }
    [[nodiscard]] std::string text(std::uint64_t offset) const {
        char buffer[256];
        const ssize_t got = ::pread(m_fd, buffer, sizeof buffer, static_cast<off_t>(offset));
        return got > 0 ? std::string(buffer, ::strnlen(buffer, static_cast<std::size_t>(got)))
                       : std::string();
    }

    /// Reads as much of `bytes` bytes as there is; returns how many that is.
    std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const {
        std::size_t done = 0;
        while (done < bytes) {
            const ssize_t got =
                ::pread(m_fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
            if (got <= 0) {
                break;
            }
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

  private:
    int m_fd;
};

} // namespace stopline::agent
