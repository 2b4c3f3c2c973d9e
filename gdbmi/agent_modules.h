// The code that a process has mapped: which addresses belong to which file, and which build of the file that
// is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>

namespace stopline::agent {

/// Reads the modules of processes as text, one line for each piece of executable code of a file:
/// "BEGIN END OFFSET BUILD PATH", the numbers hexadecimal without 0x, BUILD the GNU build id in hexadecimal
/// or "-" where the file has none or cannot be read. PATH is the rest of the line, as the process sees it.
class ModuleReader {
  public:
    /// Empty when there is no such process, it is ending, or it may not be looked at. Build ids are kept, so that another
    /// look costs a read of /proc/<pid>/maps.
    [[nodiscard]] std::string read(pid_t pid);

  private:
    [[nodiscard]] std::optional<std::string> buildIdAt(const std::string& path);

    std::map<std::string, std::string> m_known; ///< by path, device, inode, size and time
};

/// GNU build id of an ELF file of this machine's word size, in hexadecimal; empty when it has none or is no
/// such file.
[[nodiscard]] std::string readBuildId(const std::string& path);

} // namespace stopline::agent
