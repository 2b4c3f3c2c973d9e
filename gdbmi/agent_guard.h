// What the agent believes of a rank's mapping, into which a stray pointer of the rank's program can write as
// well.
#pragma once

#include "../tracelib/mapping.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stopline::agent {

/// "recordingoff" of a State frame when the program has overwritten the mapping: no recording fails with it
/// otherwise.
inline constexpr std::uint32_t kOverwritten = EUCLEAN;

/// Keeps copies of what the library has written and compares every new look with them: the library only adds.
/// From the first look on that finds what it cannot have written, only the copies made before count.
class MappingGuard {
  public:
    /// `base` of the view of a mapping whose header the agent has filled; its rank may be on its way already.
    void watch(const std::byte* base);

    /// Copies the header; cheap. False once the mapping has been overwritten.
    bool look();
    /// The same with staging area, dictionary, communicators and stops.
    bool lookAtAll();

    [[nodiscard]] bool overwritten() const { return m_overwritten; }
    /// What was found, to be put behind "the recording was overwritten": "its number of events is none".
    /// Empty as long as nothing was.
    [[nodiscard]] const char* what() const { return m_what; }

    /// Of the last sound look. After an overwriting it says nothing of what the rank does: it runs.
    [[nodiscard]] const trace::MappingHeader& header() const { return header(m_seen); }
    /// Header, staging area and the parts below, copied at one moment: by the last lookAtAll().
    [[nodiscard]] const trace::MappingHeader& recordedHeader() const { return header(m_recorded); }
    [[nodiscard]] const std::string& staging() const { return m_staging; }
    [[nodiscard]] const std::string& dictionary() const { return m_dictionary; }
    [[nodiscard]] const std::string& comms() const { return m_comms; }
    [[nodiscard]] const std::string& stops() const {
        return m_stops;
    } ///< those that are ready, without a gap

  private:
    using Words = std::array<std::uint64_t, (sizeof(trace::MappingHeader) + 7) / 8>;
    static const trace::MappingHeader& header(const Words& words) {
        return *reinterpret_cast<const trace::MappingHeader*>(words.data());
    }
    static trace::MappingHeader& header(Words& words) {
        return *reinterpret_cast<trace::MappingHeader*>(words.data());
    }
    [[nodiscard]] const trace::MappingHeader& live() const;
    [[nodiscard]] Words copyHeader() const;
    bool accept(const char* fault, const Words& words);
    bool grow(std::string& copy, std::size_t offset, std::uint64_t length) const;
    bool growStops(std::uint32_t count);
    bool takeStaging(const Words& words, std::string&& staging, bool whole);

    const std::byte* m_base = nullptr;
    bool m_overwritten = false;
    const char* m_what = "";
    Words m_seen{};
    Words m_recorded{};
    std::string m_staging, m_dictionary, m_comms, m_stops;
};

} // namespace stopline::agent
