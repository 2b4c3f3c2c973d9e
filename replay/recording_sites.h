// Source lines of a recording's calls: found when it is written, and later where the same build is still
// there.
#pragma once

#include "recording_reader.h"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace stopline::replay {

/// Code addresses of all calls in a rank's image, also of those whose details did not fit into the
/// dictionary.
[[nodiscard]] std::set<std::uint64_t> callSitesOf(const trace::RankImage& image);
/// False when the dictionary tells of all calls, and callSitesOf() does not look at the blocks.
[[nodiscard]] bool blocksTellSites(const trace::RankImage& image);

/// Why a file on disk is not the code that was recorded; Same: it is.
enum class BuildMatch { Same, Missing, Rebuilt, Unknown };
/// `notAfter` (ns since 1970): a file without a build id counts as the same if it has not been changed since.
[[nodiscard]] BuildMatch matchBuild(const std::string& path, const std::string& build, std::int64_t notAfter,
                                    std::string* now = nullptr);

/// Lines of the given places, from the debug information of files that are still the recorded ones. Those of
/// other files are left out: nothing is guessed. May take seconds where programs are large.
[[nodiscard]] SiteTable resolveSites(const std::set<SiteKey>& sites, std::int64_t notAfter);

/// Looks up the calls of a recording. Thread-safe.
class CallSites {
  public:
    CallSites() = default;
    /// Takes modules and sites out of the file; finds out which of its programs and libraries, as far as they
    /// make calls themselves, are not the recorded ones any more.
    explicit CallSites(RecordingFile& file);
    CallSites(CallSites&& other) noexcept;
    CallSites& operator=(CallSites&& other) noexcept;

    /// What is known of the call with this return address; from the file, else from debug information of the
    /// same build.
    [[nodiscard]] SiteText of(RankId rank, CodeAddress returnAddress) const;
    /// "app+0x1234" where of() knows neither line nor function; empty when not even the module is known.
    [[nodiscard]] std::string codeText(RankId rank, CodeAddress returnAddress) const;

    /// A file that is another build now than the recorded one, or is gone.
    struct Changed {
        std::string path;
        std::string recorded; ///< build ids
        std::string now;      ///< empty: there is no file, or it has none
        bool resolved = true; ///< the lines of all its calls are in the recording
    };
    [[nodiscard]] const std::vector<Changed>& changed() const { return m_changed; }

    /// A program or library that ranks have loaded.
    struct Code {
        std::string path;
        std::string build;
        std::vector<std::int32_t> ranks; ///< ascending
    };
    /// Those that make calls themselves, by path; and MPI's own library.
    [[nodiscard]] const std::vector<Code>& callers() const { return m_callers; }
    [[nodiscard]] const std::vector<Code>& libraries() const { return m_libraries; }

  private:
    std::vector<std::vector<CodeModule>> m_modules; ///< by rank
    std::int64_t m_notAfter = 0;
    std::vector<Changed> m_changed;
    std::vector<Code> m_callers;
    std::vector<Code> m_libraries;
    mutable std::mutex m_lock;
    mutable SiteTable m_sites; ///< with what has been looked for since
};

} // namespace stopline::replay
