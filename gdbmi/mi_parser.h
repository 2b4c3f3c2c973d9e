// Bytes of GDB/MI to records: one linear pass, no regular expressions, no recursion without a bound.
#pragma once

#include "mi_record.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace stopline::mi {

/// Tuples and lists within each other; deeper ones make the line Malformed. gdb 13 stays below 10.
inline constexpr int kMaxDepth = 200;
/// A longer line is reported as Malformed once and its rest dropped.
inline constexpr std::size_t kMaxLineBytes = std::size_t{256} << 20;

/// Parses one line without its end. Never throws for what the line holds; a bad line gives a Malformed
/// record.
[[nodiscard]] Record parseLine(std::string_view line);

/// `text` as the inside of a C string, with quotes around it: an argument for an MI command. Bytes from 0x80
/// on pass as they are.
[[nodiscard]] std::string quote(std::string_view text);

/// Cuts a stream of chunks into lines. Each byte is looked at once, however the stream is cut.
class LineReader {
  public:
    explicit LineReader(std::size_t maxLineBytes = kMaxLineBytes) : m_maxLineBytes(maxLineBytes) {}

    /// Calls `sink(Record&&)` for every line that this chunk ends; LF and CR LF both end one. Empty lines
    /// give none. The sink may not feed this reader.
    template <typename Sink>
    void feed(std::string_view chunk, Sink&& sink) {
        while (!chunk.empty()) {
            const std::size_t end = chunk.find('\n');
            const std::string_view part = chunk.substr(0, end);
            if (end == std::string_view::npos) {
                keep(part);
                return;
            }
            chunk.remove_prefix(end + 1);
            if (m_kept.empty() && !m_tooLong && part.size() <= m_maxLineBytes) {
                deliver(part, sink);
                continue;
            }
            keep(part);
            std::string line;
            line.swap(m_kept);
            if (m_tooLong) {
                m_tooLong = false;
                sink(tooLong(line));
            } else {
                deliver(line, sink);
            }
        }
    }

    /// The stream has ended: gdb's last line (`^exit`) has no line end.
    template <typename Sink>
    void finish(Sink&& sink) {
        feed("\n", sink);
    }

  private:
    template <typename Sink>
    static void deliver(std::string_view line, Sink& sink) {
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        if (!line.empty()) {
            sink(parseLine(line));
        }
    }
    void keep(std::string_view part);
    [[nodiscard]] Record tooLong(std::string_view line) const;

    std::size_t m_maxLineBytes;
    std::string m_kept;
    bool m_tooLong = false;
};

} // namespace stopline::mi
