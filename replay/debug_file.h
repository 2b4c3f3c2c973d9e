// An executable or shared library on disk with its symbols and debug information, shared by all processes
// that run it.
#pragma once

#include "source_lines.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace stopline::replay {

/// Closed on destruction.
class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : m_fd(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    ~FileDescriptor();
    [[nodiscard]] int get() const { return m_fd; }
    [[nodiscard]] bool valid() const { return m_fd >= 0; }

  private:
    int m_fd = -1;
};

/// GNU build id of an ELF file in hexadecimal; empty when it has none, or is no such file. Reads no debug information.
[[nodiscard]] std::string buildIdOfFile(const std::string& path);

/// Thread-safe. The file is opened at the first look-up. It is read, not mapped: a file that is overwritten
/// in place then gives wrong answers at worst, not a bus error. So its debug information takes its own size
/// in memory, once.
class DebugFile {
  public:
    /// The file at `path`, the same object for all who ask while somebody has it. Null when there is none.
    [[nodiscard]] static std::shared_ptr<DebugFile> atPath(const std::string& path);
    /// A file that has no name any more; never shared.
    [[nodiscard]] static std::shared_ptr<DebugFile> ofDescriptor(const std::string& formerPath,
                                                                 FileDescriptor fd);
    ~DebugFile();

    /// Its name without folders.
    [[nodiscard]] QString name() const;
    /// What is known about the code at an offset in the file. The first call for an offset may take long.
    [[nodiscard]] SourceLine at(std::uint64_t fileOffset);

  private:
    struct Identity;
    struct Contents;
    DebugFile(std::string path, FileDescriptor fd);

    std::string m_path;
    FileDescriptor m_fd; ///< valid only before opening, when the file has no name
    std::unique_ptr<Identity> m_identity;
    std::mutex m_openLock; ///< for m_contents
    std::unique_ptr<Contents> m_contents;
    std::shared_mutex m_cacheLock;
    std::unordered_map<std::uint64_t, SourceLine> m_cache;
};

} // namespace stopline::replay
