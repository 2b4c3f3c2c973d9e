#include "agent_modules.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace stopline::agent {
namespace {

constexpr std::size_t kMaxNoteBytes = 64 * 1024;
constexpr std::size_t kMaxHeaders = 256;

class File {
  public:
    explicit File(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (m_fd >= 0) {
            ::close(m_fd);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] bool readAt(std::uint64_t offset, void* to, std::size_t bytes) const {
        return m_fd >= 0 &&
               ::pread(m_fd, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
    }
    [[nodiscard]] std::string all() const {
        std::string text;
        std::array<char, 16384> buffer{};
        ssize_t got = 0;
        while (m_fd >= 0 &&
               ((got = ::read(m_fd, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR))) {
            if (got > 0) {
                text.append(buffer.data(), static_cast<std::size_t>(got));
            }
        }
        return text;
    }

  private:
    int m_fd;
};

std::string hex(const unsigned char* bytes, std::size_t count) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

/// The build id among the notes of a segment.
std::string buildIdIn(const std::vector<unsigned char>& notes, std::size_t alignment) {
    const auto padded = [alignment](std::size_t size) { return (size + alignment - 1) & ~(alignment - 1); };
    std::size_t at = 0;
    while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
        Elf64_Nhdr note{};
        std::memcpy(&note, notes.data() + at, sizeof note);
        const std::size_t name = at + sizeof note;
        const std::size_t content = name + padded(note.n_namesz);
        if (content > notes.size() || note.n_descsz > notes.size() - content) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(notes.data() + name, "GNU", 4) == 0) {
            return hex(notes.data() + content, note.n_descsz);
        }
        at = content + padded(note.n_descsz);
    }
    return {};
}

/// The fields of a line of /proc/<pid>/maps up to the path.
struct Fields {
    std::string_view range, permissions, offset, path;
};

bool split(std::string_view line, Fields& fields) {
    const auto take = [&line](std::string_view& field) {
        const std::size_t end = line.find(' ');
        if (end == std::string_view::npos) {
            return false;
        }
        field = line.substr(0, end);
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ', end)));
        return true;
    };
    std::string_view device;
    std::string_view inode;
    if (!take(fields.range) || !take(fields.permissions) || !take(fields.offset) || !take(device) ||
        !take(inode)) {
        return false;
    }
    fields.path = line;
    return true;
}

/// The line is of executable code of a file.
bool isCode(std::string_view line, Fields& fields) {
    return split(line, fields) && fields.permissions.size() >= 3 && fields.permissions[2] == 'x' && fields.path.starts_with('/');
}

/// Those lines of a process's map. The kernel gives it out in pieces: one that ends meanwhile breaks off between them.
std::string codeLines(const std::string& process) {
    const std::string maps = File(process + "/maps").all();
    std::string lines;
    std::string_view rest = maps;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (Fields fields; isCode(line, fields)) {
            lines.append(line) += '\n';
        }
    }
    return lines;
}

/// What two looks in a row have seen; empty when the process is ending, or maps code all the time.
std::string steadyCodeLines(const std::string& process) {
    constexpr int kLooks = 4;
    std::string lines = codeLines(process);
    for (int look = 1; look < kLooks; ++look) {
        std::string again = codeLines(process);
        if (again == lines) {
            return lines;
        }
        lines = std::move(again);
    }
    return {};
}

} // namespace

std::string readBuildId(const std::string& path) {
    const File file(path);
    Elf64_Ehdr header{};
    if (!file.readAt(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > kMaxHeaders) {
        return {};
    }
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!file.readAt(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) {
            return {};
        }
        if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) {
            continue;
        }
        std::vector<unsigned char> notes(segment.p_filesz);
        if (file.readAt(segment.p_offset, notes.data(), notes.size())) {
            if (std::string id = buildIdIn(notes, segment.p_align == 8 ? 8 : 4); !id.empty()) {
                return id;
            }
        }
    }
    return {};
}

std::optional<std::string> ModuleReader::buildIdAt(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        return std::nullopt;
    }
    std::string key;
    for (const auto number :
         {static_cast<long long>(info.st_dev), static_cast<long long>(info.st_ino),
          static_cast<long long>(info.st_size), static_cast<long long>(info.st_mtim.tv_sec),
          static_cast<long long>(info.st_mtim.tv_nsec)}) {
        key += '\n' + std::to_string(number);
    }
    if (const auto known = m_known.find(key); known != m_known.end()) {
        return known->second;
    }
    std::string build = readBuildId(path);
    if (build.empty() && ::stat(path.c_str(), &info) != 0) {
        return std::nullopt; // gone in between
    }
    return m_known.emplace(key, build).first->second;
}

std::string ModuleReader::read(pid_t pid) {
    constexpr std::string_view kDeleted = " (deleted)";
    const std::string process = "/proc/" + std::to_string(pid);
    const std::string maps = steadyCodeLines(process);
    std::string text;
    std::string_view rest = maps;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        Fields fields;
        if (!isCode(line, fields)) {
            continue;
        }
        std::string build;
        if (fields.path.ends_with(kDeleted)) {
            // Built anew while it runs: the process itself still leads to the program that it runs.
            std::array<char, 4096> target{};
            const std::string program = process + "/exe";
            const ssize_t length = ::readlink(program.c_str(), target.data(), target.size());
            if (length > 0 &&
                std::string_view(target.data(), static_cast<std::size_t>(length)) == fields.path) {
                build = readBuildId(program);
            }
            fields.path.remove_suffix(kDeleted.size());
        } else {
            // The way through a process that is just ending leads nowhere: what was seen of it before stays.
            const auto found = buildIdAt(process + "/root" + std::string(fields.path));
            if (!found) {
                return {};
            }
            build = *found;
        }
        std::string range(fields.range);
        if (const std::size_t dash = range.find('-'); dash != std::string::npos) {
            range[dash] = ' ';
        }
        text += range + ' ' + std::string(fields.offset) + ' ' + (build.empty() ? "-" : build) + ' ' +
                std::string(fields.path) + '\n';
    }
    return text;
}

} // namespace stopline::agent
