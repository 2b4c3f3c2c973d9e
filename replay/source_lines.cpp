#include "source_lines.h"

#include "debug_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stopline::replay {

namespace {

/// Code of a file as it is mapped into the process.
struct Module {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t fileOffset;
    std::shared_ptr<DebugFile> file;
};

struct MapsLine {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    bool executable = false;
    std::string_view path;
};

/// A line of /proc/<pid>/maps: "begin-end perms offset device inode   path".
bool parse(std::string_view line, MapsLine& result) {
    const auto number = [&line](std::uint64_t& value, char after) {
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
        if (error != std::errc() || end == line.data() + line.size() || *end != after) {
            return false;
        }
        line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
        return true;
    };
    if (!number(result.begin, '-') || !number(result.end, ' ') || line.size() < 5) {
        return false;
    }
    result.executable = line[2] == 'x';
    line.remove_prefix(5);
    if (!number(result.offset, ' ')) {
        return false;
    }
    const std::size_t path = line.find('/');
    result.path = path == std::string_view::npos ? std::string_view() : line.substr(path);
    // The device, such as 08:01, and the inode come before; a path in brackets has no slash where it matters.
    return true;
}

std::shared_ptr<DebugFile> fileOf(std::string_view mapped, const std::string& process) {
    constexpr std::string_view kDeleted = " (deleted)";
    const std::string path(mapped);
    if (path.ends_with(kDeleted)) {
        // Rebuilt while it runs: the process itself still leads to what it runs, as long as it lives.
        const std::string former = path.substr(0, path.size() - kDeleted.size());
        char target[4096];
        const ssize_t length = ::readlink((process + "/exe").c_str(), target, sizeof target);
        if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == mapped) {
            FileDescriptor fd(::open((process + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
            if (fd.valid()) {
                return DebugFile::ofDescriptor(former, std::move(fd));
            }
        }
        return nullptr;
    }
    if (auto file = DebugFile::atPath(path)) {
        return file;
    }
    return DebugFile::atPath(process + "/root" + path); // the process sees other file systems than we do
}

} // namespace

struct SourceLines::Impl {
    mutable std::shared_mutex lock;
    std::vector<Module> modules; ///< by begin
};

SourceLines::SourceLines() : m_impl(std::make_unique<Impl>()) {}

SourceLines::~SourceLines() = default;

QString SourceLines::loadProcess(qint64 pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    std::ifstream maps(process + "/maps");
    if (!maps) {
        return QStringLiteral("Cannot read the modules of process %1: %2")
            .arg(pid)
            .arg(QString::fromLocal8Bit(std::strerror(errno)));
    }
    std::vector<Module> modules;
    std::string line;
    std::string lastPath;
    std::shared_ptr<DebugFile> lastFile;
    while (std::getline(maps, line)) {
        MapsLine mapping;
        if (!parse(line, mapping) || !mapping.executable || mapping.path.empty()) {
            continue;
        }
        if (mapping.path != lastPath) {
            lastPath = mapping.path;
            lastFile = fileOf(mapping.path, process);
        }
        if (lastFile != nullptr) {
            modules.push_back({mapping.begin, mapping.end, mapping.offset, lastFile});
        }
    }
    if (modules.empty()) {
        return QStringLiteral("Process %1 has no modules: it has ended, or may not be looked at").arg(pid);
    }
    std::sort(modules.begin(), modules.end(),
              [](const Module& a, const Module& b) { return a.begin < b.begin; });
    const std::unique_lock writing(m_impl->lock);
    m_impl->modules.swap(modules);
    return {};
}

SourceLine SourceLines::ofReturnAddress(CodeAddress address) const {
    if (address.value() == 0) {
        return {};
    }
    const std::uint64_t call = address.value() - 1;
    std::shared_ptr<DebugFile> file;
    std::uint64_t offset = 0;
    {
        const std::shared_lock reading(m_impl->lock);
        auto next = std::upper_bound(m_impl->modules.begin(), m_impl->modules.end(), call,
                                     [](std::uint64_t value, const Module& m) { return value < m.begin; });
        if (next == m_impl->modules.begin() || (--next)->end <= call) {
            return {};
        }
        file = next->file;
        offset = call - next->begin + next->fileOffset;
    }
    SourceLine found = file->at(offset);
    if (found.line == 0) {
        found.module = file->name();
    }
    return found;
}

bool SourceLines::loaded() const {
    const std::shared_lock reading(m_impl->lock);
    return !m_impl->modules.empty();
}

} // namespace stopline::replay
