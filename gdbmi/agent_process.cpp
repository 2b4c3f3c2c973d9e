#include "agent_process.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>

namespace stopline::agent {
namespace {

std::string readFile(const std::string& path) {
    std::string text;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return text;
    }
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(fd);
    return text;
}

std::string procPath(pid_t pid, const char* file) {
    return "/proc/" + std::to_string(pid) + "/" + file;
}

/// Fields of a stat file after the command's name, which may hold anything.
std::string_view afterName(const std::string& stat) {
    const std::size_t end = stat.rfind(')');
    return end == std::string::npos || end + 2 > stat.size() ? std::string_view()
                                                             : std::string_view(stat).substr(end + 2);
}

/// 0 when there is no such process.
pid_t parentOf(pid_t pid) {
    const std::string stat = readFile(procPath(pid, "stat"));
    const std::string_view fields = afterName(stat);
    pid_t parent = 0;
    if (fields.size() > 2) {
        std::from_chars(fields.data() + 2, fields.data() + fields.size(), parent);
    }
    return parent;
}

bool isEndedState(char state) {
    return state == 'Z' || state == 'X' || state == 'x';
}

/// Calls `handler` with each name in the directory that is a number; false when there is no such directory.
template <typename Handler>
bool forEachNumber(const std::string& directory, Handler handler) {
    DIR* listing = ::opendir(directory.c_str());
    if (listing == nullptr) {
        return false;
    }
    while (const dirent* entry = ::readdir(listing)) {
        pid_t number = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        if (const auto result = std::from_chars(entry->d_name, end, number);
            result.ec == std::errc{} && result.ptr == end) {
            handler(number);
        }
    }
    ::closedir(listing);
    return true;
}

/// The kernel's struct pidfd_info in its first version, and the request for the exit code.
struct PidfdInfo {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    std::int32_t exitCode;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kPidfdInfoExit = 1U << 3;

constexpr std::array<std::string_view, 5> kSharedFilePrefixes = {"vader_segment.", "sm_segment.", "osc_rdma.",
                                                                 "osc_sm.", "coll_sm."};

bool isMpiSharedFile(std::string_view path) {
    constexpr std::string_view directory = "/dev/shm/";
    if (!path.starts_with(directory)) {
        return false;
    }
    const std::string_view name = path.substr(directory.size());
    for (const std::string_view prefix : kSharedFilePrefixes) {
        if (name.starts_with(prefix)) {
            return true;
        }
    }
    return false;
}

/// ".<job in hex>.<rank on this node>", the end of the names of this rank's segments; empty when the launcher
/// says neither.
std::string ownSegmentEnding() {
    const char* job = std::getenv("OMPI_MCA_ess_base_jobid");
    const char* rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    if (job == nullptr || rank == nullptr) {
        return {};
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), ".%lx.%s", std::strtoul(job, nullptr, 10), rank);
    return text.data();
}

void removeSessionDirectory(bool last) {
    const char* name = std::getenv("PMIX_SERVER_TMPDIR");
    if (name == nullptr || name[0] != '/') {
        return;
    }
    // "/tmp/ompi.HOST.UID/pid.N" or "/tmp/prte.HOST.UID/dvm.N": anything else is not known well enough to
    // remove.
    const std::filesystem::path directory = name;
    const std::string parent = directory.parent_path().filename().string();
    const std::string leaf = directory.filename().string();
    struct stat info {};
    if ((!parent.starts_with("ompi.") && !parent.starts_with("prte.")) ||
        leaf.find('.') == std::string::npos || leaf.starts_with(".")) {
        return;
    }
    // One that is gone already, by the launcher's own hand, may have left the directory of all jobs behind.
    if (::lstat(name, &info) == 0 && (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())) {
        return;
    }
    // Other agents of the job and its dying ranks remove the same files at this moment, and each may be put
    // off by what another has taken away under its hands: again, until there is nothing.
    constexpr int kTries = 40;
    constexpr int kStepMs = 5;
    std::error_code ignored;
    for (int i = 0; i < kTries && std::filesystem::exists(directory, ignored); ++i) {
        if (i > 0) {
            ::usleep(kStepMs * 1000);
        }
        std::filesystem::remove_all(directory, ignored);
    }
    // What ranks make for themselves when the launcher dies while they start.
    if (const char* job = std::getenv("OMPI_MCA_ess_base_jobid"); job != nullptr) {
        const unsigned long family = std::strtoul(job, nullptr, 10) >> 16U;
        std::filesystem::remove_all(directory.parent_path() / ("jf." + std::to_string(family)), ignored);
    }
    if (last) {
        ::rmdir(directory.parent_path().c_str());
    }
}

} // namespace

int openPidfd(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

void killByPidfd(int pidfd) {
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

bool hasEnded(pid_t pid) {
    bool alive = false;
    const std::string tasks = procPath(pid, "task");
    const bool exists = forEachNumber(tasks, [&](pid_t thread) {
        const std::string stat = readFile(tasks + "/" + std::to_string(thread) + "/stat");
        const std::string_view fields = afterName(stat);
        alive = alive || (!fields.empty() && !isEndedState(fields[0]));
    });
    return !exists || !alive;
}

int zombieStatus(pid_t pid) {
    const std::string stat = readFile(procPath(pid, "stat"));
    const std::string_view fields = afterName(stat);
    if (fields.empty() || !isEndedState(fields[0])) {
        return -1;
    }
    // exit_code is the last field.
    std::size_t end = fields.find_last_not_of(" \n");
    if (end == std::string_view::npos) {
        return -1;
    }
    const std::size_t begin = fields.find_last_of(' ', end);
    int status = -1;
    std::from_chars(fields.data() + begin + 1, fields.data() + end + 1, status);
    return status;
}

int pidfdStatus(int pidfd) {
    PidfdInfo info{};
    info.mask = kPidfdInfoExit;
    const unsigned long request = _IOWR(0xFF, 11, PidfdInfo);
    if (::ioctl(pidfd, request, &info) != 0 || (info.mask & kPidfdInfoExit) == 0) {
        return -1;
    }
    return info.exitCode;
}

pid_t tracerOf(pid_t pid) {
    const std::string status = readFile(procPath(pid, "status"));
    const std::size_t at = status.find("TracerPid:");
    return at == std::string::npos ? 0
                                   : static_cast<pid_t>(std::strtol(status.c_str() + at + 10, nullptr, 10));
}

bool isDescendant(pid_t pid) {
    const pid_t own = ::getpid();
    constexpr int kDeepest = 1000; // numbers may be given anew meanwhile
    for (int i = 0; i < kDeepest && pid > 1; ++i) {
        pid = parentOf(pid);
        if (pid == own) {
            return true;
        }
    }
    return false;
}

void killOwnGroup() {
    const pid_t own = ::getpid();
    if (::getpgrp() != own) {
        return;
    }
    forEachNumber("/proc", [own](pid_t pid) {
        if (pid != own && ::getpgid(pid) == own) {
            ::kill(pid, SIGKILL);
        }
    });
}

void killDescendants() {
    const pid_t own = ::getpid();
    constexpr int kRounds = 50;
    constexpr int kStepMs = 2;
    for (int i = 0; i < kRounds; ++i) {
        std::unordered_map<pid_t, pid_t> parents;
        forEachNumber("/proc", [&parents](pid_t pid) { parents[pid] = parentOf(pid); });
        bool found = false;
        for (const auto& [pid, parent] : parents) {
            pid_t above = parent;
            for (std::size_t steps = 0; above > 1 && above != own && steps < parents.size(); ++steps) {
                const auto next = parents.find(above);
                above = next == parents.end() ? 0 : next->second;
            }
            if (above == own && !hasEnded(pid)) {
                found = ::kill(pid, SIGKILL) == 0 || found;
            }
        }
        if (!found) {
            break;
        }
        ::usleep(kStepMs * 1000);
    }
}

std::vector<std::string> mappedSharedFiles(pid_t pid) {
    std::vector<std::string> files;
    const std::string maps = readFile(procPath(pid, "maps"));
    std::string_view rest = maps;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        const std::size_t slash = line.find('/');
        if (slash != std::string_view::npos && isMpiSharedFile(line.substr(slash)) &&
            (files.empty() || files.back() != line.substr(slash))) {
            files.emplace_back(line.substr(slash));
        }
    }
    return files;
}

void removeSegments(const std::vector<std::string>& sharedFiles) {
    for (const std::string& file : sharedFiles) {
        ::unlink(file.c_str());
    }
    const std::string ending = ownSegmentEnding();
    if (!ending.empty()) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
            if (const std::string path = entry.path().string();
                isMpiSharedFile(path) && path.ends_with(ending)) {
                ::unlink(path.c_str());
            }
        }
    }
}

void removeLauncherFiles(const std::vector<std::string>& sharedFiles, bool last) {
    removeSegments(sharedFiles);
    removeSessionDirectory(last);
}

void removeLauncherFilesLater(pid_t launcher, bool last) {
    constexpr int kLongestMs = 3000;
    constexpr int kStepMs = 10;
    if (::fork() != 0) {
        return;
    }
    ::setsid();               // the launcher ends what is in the agent's group
    ::close_range(0, ~0U, 0); // nobody is to wait for the end of an output of the job
    for (int waited = 0; waited < kLongestMs; waited += kStepMs) {
        if (hasEnded(launcher)) {
            removeLauncherFiles({}, last);
            break;
        }
        ::usleep(kStepMs * 1000);
    }
    ::_exit(0);
}

} // namespace stopline::agent
