// From the constructor to the claim: which process is the rank, and where it waits for its debugger.
#include "forced.h"
#include "rank.h"
#include "real.h"
#include "values.h"

#include <cerrno>
#include <climits>
#include <cstddef>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stopline::preload {

using trace::Gate;
using trace::MappingHeader;
using trace::RankState;

__thread ThreadState thread;
constinit Rank rank{}; // no constructor may run after load()

namespace {

trace::RecorderMemory recorderMemory;
char mapPath[PATH_MAX];
std::size_t mapBytes;
std::atomic<bool> spinLock;

constexpr const char* kVersionString = "stopline-mpi 0.1.0";

TimeNs toleranceWanted() {
    const char* text = std::getenv(trace::kToleranceVariable);
    if (text == nullptr || *text == '\0') {
        return trace::kDefaultToleranceNs;
    }
    char* end = nullptr;
    const long long value = std::strtoll(text, &end, 10);
    return *end != '\0' || value < 0 ? trace::kDefaultToleranceNs : value;
}

/// A child has our memory but is not the rank.
void forget() {
    rank.recording.store(false, std::memory_order_relaxed);
    rank.owner = false;
}

bool isFit(const MappingHeader& header) {
    if (header.magic != trace::kMappingMagic) {
        complain("STOPLINE_MAP names no recording", 0);
        return false;
    }
    if (header.formatVersion != trace::kFormatVersion || header.headerBytes != sizeof(MappingHeader)) {
        complain("the debugger and this library are of different versions", 0);
        return false;
    }
    return true;
}

/// Notes where the mapping is, at the start: the program may change its environment before it comes to MPI. False: there
/// is none.
bool notePath() {
    const char* path = std::getenv(trace::kMapVariable);
    if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof mapPath) {
        return false;
    }
    std::strcpy(mapPath, path);
    rank.comms.setSpawned(std::getenv(trace::kSpawnedVariable));
    return true;
}

MappingHeader* openMapping() {
    if (mapPath[0] == '\0') {
        return nullptr;
    }
    const int fd = open(mapPath, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        // The agent is gone: a program that outlived its session must run on undisturbed.
        return nullptr;
    }
    void* base = MAP_FAILED;
    std::uint64_t blockBytes = 0;
    if (lseek(fd, 0, SEEK_END) >= static_cast<off_t>(trace::kBlockOffset) &&
        pread(fd, &blockBytes, sizeof blockBytes, offsetof(MappingHeader, blockBytes)) == sizeof blockBytes) {
        mapBytes = trace::mappedBytes(trace::blockBytesFor(blockBytes));
        base = mmap(nullptr, mapBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    }
    const int error = errno;
    close(fd);
    if (base == MAP_FAILED) {
        complain("the recording cannot be mapped", error);
        return nullptr;
    }
    auto* header = static_cast<MappingHeader*>(base);
    if (!isFit(*header)) {
        munmap(base, mapBytes);
        return nullptr;
    }
    return header;
}

/// Opens another file of the agent: its mappings' path with another number. -1: it cannot be.
int openOfAgent(std::int32_t number, int flags) {
    char path[PATH_MAX];
    const char* last = std::strrchr(mapPath, '/');
    const int length = last == nullptr ? -1
                                       : std::snprintf(path, sizeof path, "%.*s/%d", static_cast<int>(last - mapPath),
                                                       mapPath, number);
    return length > 0 && static_cast<std::size_t>(length) < sizeof path ? open(path, flags | O_CLOEXEC) : -1;
}

/// Follows the order log that the agent has put beside the mapping, if there is one.
void openOrder(const MappingHeader& header) {
    const std::uint64_t bytes = header.orderBytes.load(std::memory_order_acquire);
    if (bytes == 0) {
        return;
    }
    const int fd = openOfAgent(header.orderDescriptor.load(std::memory_order_relaxed), O_RDONLY);
    void* log = fd < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    const int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (log == MAP_FAILED) {
        complain("the order of the recorded execution cannot be read, and is not followed", error);
        return;
    }
    forced.follow(static_cast<const std::byte*>(log), bytes);
}

/// True when the process that claimed the mapping is gone and never recorded anything: a helper program of a
/// script.
bool isAbandoned(const MappingHeader& header, std::int32_t owner) {
    return header.eventCount.load(std::memory_order_acquire) == 0 &&
           (owner == rank.pid || (kill(owner, 0) != 0 && errno == ESRCH));
}

} // namespace

bool findAgent(char* path, std::size_t bytes) {
    constexpr const char* kProc = "/proc/";
    if (std::strncmp(mapPath, kProc, std::strlen(kProc)) != 0) {
        return false;
    }
    const char* number = mapPath + std::strlen(kProc);
    number += std::strspn(number, "/"); // there may be some that mean nothing
    char link[64];
    std::snprintf(link, sizeof link, "%s%ld/exe", kProc, std::strtol(number, nullptr, 10));
    const int savedErrno = errno;
    const ssize_t length = readlink(link, path, bytes);
    errno = savedErrno;
    if (length <= 0 || static_cast<std::size_t>(length) >= bytes) {
        return false;
    }
    path[length] = '\0';
    const char* name = std::strrchr(path, '/');
    return name != nullptr && std::strcmp(name + 1, trace::kAgentName) == 0;
}

void RankLock::take() {
    for (unsigned spins = 0; spinLock.exchange(true, std::memory_order_acquire); ++spins) {
        while (spinLock.load(std::memory_order_relaxed)) {
            if (++spins > 100) {
                sched_yield();
            }
        }
    }
}

void RankLock::give() {
    spinLock.store(false, std::memory_order_release);
}

void complain(const char* what, int error) {
    static const char* last = nullptr;
    if (last == what) {
        return;
    }
    last = what;
    char line[512];
    const int length =
        error == 0 ? std::snprintf(line, sizeof line, "stopline: %s; this process is not traced\n", what)
                   : std::snprintf(line, sizeof line, "stopline: %s (error %d: %s)\n", what, error,
                                   strerrordesc_np(error) == nullptr ? "?" : strerrordesc_np(error));
    if (length > 0 && write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) {
        return; // nobody to tell
    }
}

void futexWake(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t value, TimeNs timeoutNs) {
    const timespec timeout{static_cast<time_t>(timeoutNs / 1'000'000'000),
                           static_cast<long>(timeoutNs % 1'000'000'000)};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

void setState(RankState state) {
    const int savedErrno = errno;
    rank.header->state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
    rank.header->stateSequence.fetch_add(1, std::memory_order_acq_rel);
    futexWake(rank.header->stateSequence);
    errno = savedErrno;
}

void waitAtGate(Gate gate) {
    MappingHeader& header = *rank.header;
    const auto wanted = static_cast<Gate>(header.gate.load(std::memory_order_acquire));
    // What is not linked with MPI has not waited in the constructor: MPI_Init is where it is first known.
    const bool late = gate == Gate::Init && wanted == Gate::Constructor &&
                      header.gateOpen.load(std::memory_order_acquire) == 0;
    if (wanted != gate && !late) {
        return;
    }
    const int savedErrno = errno;
    const TimeNs begin = clockNow();
    const TimeNs heldAtBegin = header.heldNs.load(std::memory_order_relaxed);
    setState(RankState::AtGate);
    while (header.gateOpen.load(std::memory_order_acquire) == 0) {
        // With a limit: an agent that only stores the word is heard as well.
        futexWait(header.gateOpen, 0, 50'000'000);
    }
    bookHeld(begin, heldAtBegin);
    setState(RankState::Running);
    errno = savedErrno;
}

int growFile(void*, std::uint64_t bytes) {
    const int savedErrno = errno;
    const int fd = open(mapPath, O_RDWR | O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
        close(fd);
    }
    if (error != 0) {
        complain("the recording stops here: no room for it; the program and the debugger go on", error);
    }
    errno = savedErrno;
    return error;
}

bool claim() {
    if (rank.owner) {
        return true;
    }
    if (rank.header == nullptr) {
        rank.header = openMapping();
    }
    if (rank.header == nullptr) {
        return false;
    }
    MappingHeader& header = *rank.header;
    rank.pid = getpid();
    std::int32_t owner = 0;
    while (!header.pid.compare_exchange_strong(owner, rank.pid, std::memory_order_acq_rel)) {
        if (!isAbandoned(header, owner)) {
            munmap(rank.header, mapBytes);
            rank.header = nullptr;
            return false;
        }
        if (owner == rank.pid) {
            // The same process after an exec. Its debugger has to learn where the stop function is now.
            header.gateOpen.store(0, std::memory_order_release);
            break;
        }
    }
    rank.owner = true;
    pthread_atfork(nullptr, nullptr, forget);
    header.libraryBuild =
        trace::hashBytes(reinterpret_cast<const std::byte*>(kVersionString), std::strlen(kVersionString));
    header.callerTid.store(static_cast<std::int32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
    header.worldRank.store(-1, std::memory_order_relaxed);
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&stopline_stop_here), &info) != 0) {
        header.libraryBase.store(reinterpret_cast<std::uintptr_t>(info.dli_fbase), std::memory_order_relaxed);
    }
    header.stopFunction.store(reinterpret_cast<std::uintptr_t>(&stopline_stop_here),
                              std::memory_order_release);
    header.originNs.store(clockNow(), std::memory_order_relaxed);
    header.heldNs.store(0, std::memory_order_relaxed);
    rank.recorder.open(reinterpret_cast<std::byte*>(&header), &recorderMemory, growFile, nullptr,
                       toleranceWanted());
    openOrder(header);
    openValues(header, openOfAgent);
    rank.jitter = header.jitter.load(std::memory_order_relaxed);
    setState(RankState::Running);
    return true;
}

__attribute__((constructor)) static void load() {
    const int savedErrno = errno;
    findClocks();
    // A process that is not linked with MPI may come to it later, as python does; until then it is left alone.
    if (notePath() && mpiIsLinked() && claim()) {
        rank.header->mpiLinked.store(1, std::memory_order_release);
        waitAtGate(Gate::Constructor);
    }
    errno = savedErrno;
}

__attribute__((destructor)) static void unload() {
    if (rank.header != nullptr && rank.owner && getpid() == rank.pid) {
        setState(RankState::Exiting);
    }
}

} // namespace stopline::preload
