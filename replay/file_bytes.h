// The bytes of a file, in memory or read from the disk piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stopline::replay {

class FileBytes {
  public:
    virtual ~FileBytes() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Up to `bytes` bytes from `from` on: fewer at the end. Valid until the next call.
    [[nodiscard]] virtual std::string_view at(std::uint64_t from, std::uint64_t bytes) = 0;
    /// Where `wanted` (not empty) stands next, at `from` or behind; size() when it does not.
    [[nodiscard]] std::uint64_t find(std::string_view wanted, std::uint64_t from);
};

class MemoryBytes : public FileBytes {
  public:
    explicit MemoryBytes(std::string_view bytes) : m_bytes(bytes) {}
    [[nodiscard]] std::uint64_t size() const override { return m_bytes.size(); }
    [[nodiscard]] std::string_view at(std::uint64_t from, std::uint64_t bytes) override;

  private:
    std::string_view m_bytes;
};

/// Keeps a window of a megabyte, and no more than what was asked for last.
class DiskBytes : public FileBytes {
  public:
    DiskBytes() = default;
    ~DiskBytes() override;
    DiskBytes(const DiskBytes&) = delete;
    DiskBytes& operator=(const DiskBytes&) = delete;

    /// Empty, or why it cannot be read.
    [[nodiscard]] std::string open(const std::string& path);
    [[nodiscard]] bool isRegular() const {
        return m_regular;
    } ///< else it can only be read once, from its begin to its end
    [[nodiscard]] bool failed() const { return m_failed; } ///< the disk has given less than the file has
    [[nodiscard]] std::uint64_t size() const override { return m_size; }
    [[nodiscard]] std::string_view at(std::uint64_t from, std::uint64_t bytes) override;

  private:
    std::uint64_t read(std::string& to, std::uint64_t from, std::uint64_t bytes);

    int m_fd = -1;
    std::uint64_t m_size = 0;
    bool m_regular = false;
    bool m_failed = false;
    std::string m_window;
    std::uint64_t m_windowFrom = 0;
    std::string m_large;
};

/// The contents of a chunk of `codec` (ChunkCodec) that has `rawBytes` of them. False when they are not that.
[[nodiscard]] bool unpackChunk(std::uint32_t codec, std::uint32_t rawBytes, std::string_view stored,
                               std::string& raw);

} // namespace stopline::replay
