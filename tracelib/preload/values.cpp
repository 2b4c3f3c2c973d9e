#include "values_impl.h"

#include "heap.h"
#include "rank.h"
#include "real.h"
#include "sent.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace stopline::preload {

using trace::ValueKind;

namespace {

using ClockGettime = int (*)(clockid_t, timespec*);
using Gettimeofday = int (*)(timeval*, void*);
ClockGettime nextClock;
Gettimeofday nextDay;
std::clock_t (*nextProcessor)();

struct Values {
    bool pids; ///< getpid is noted, as the user wants
    std::byte* out;
    std::uint64_t used;
    std::uint64_t fileBytes;
    std::int32_t file; ///< number of the agent's descriptor
    int (*openFile)(std::int32_t number, int flags);
};
Values values;
trace::ValueWriter writer;

enum class Thread : std::uint8_t { Unknown, Main, Other };
__thread Thread which __attribute__((tls_model("initial-exec")));

/// What MPI and its helpers ask for by themselves is none of the program's.
bool isMpisOwn(const char* path) {
    const char* base = std::strrchr(path, '/');
    base = base == nullptr ? path : base + 1;
    for (const char* prefix : {"libmpi", "libopen-", "mca_", "libpmi", "libprrte", "libuc", "libfabric", "libevent",
                               "libhwloc", "libstopline-", "libibverbs", "librdmacm", "libromio"}) {
        if (std::strncmp(base, prefix, std::strlen(prefix)) == 0) {
            return true;
        }
    }
    return false;
}

/// Whether the code at this return address is the program's, its libraries included.
bool isPrograms(const void* address) {
    struct Known {
        const void* address;
        bool programs;
    };
    static Known known[256];
    Known& entry = known[(reinterpret_cast<std::uintptr_t>(address) >> 2U) % 256];
    if (entry.address != address) {
        const int savedErrno = errno;
        Dl_info info{};
        entry.programs = dladdr(const_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr || !isMpisOwn(info.dli_fname);
        entry.address = address;
        errno = savedErrno;
    }
    return entry.programs;
}

void stopNoting() {
    valueState.noting = false;
    following.on = false;
    following.header->valuesWanted.store(2, std::memory_order_relaxed);
}

bool makeRoom(std::size_t bytes) {
    const std::uint64_t wanted = values.used + bytes;
    if (wanted <= values.fileBytes) {
        return true;
    }
    const std::uint64_t larger = values.fileBytes + trace::kValueGrowBytes;
    if (wanted > larger || larger > trace::kValueBytes) {
        return false;
    }
    const int savedErrno = errno;
    const int fd = values.openFile(values.file, O_RDWR);
    const bool done = fd >= 0 && posix_fallocate(fd, 0, static_cast<off_t>(larger)) == 0;
    if (fd >= 0) {
        close(fd);
    }
    errno = savedErrno;
    if (done) {
        values.fileBytes = larger;
    }
    return done;
}

} // namespace

constinit ValueState valueState{};
constinit Following following{};

/// What an earlier execution has found out about itself is not for this one.
void Following::passFindings() {
    while (log.kind() == ValueKind::Raced || log.kind() == ValueKind::Guarded || log.kind() == ValueKind::RacesEnd ||
           trace::isWrittenWhole(log.kind())) {
        log.next();
    }
}

bool isMainThread() {
    if (which == Thread::Unknown) [[unlikely]] {
        const int savedErrno = errno;
        which = syscall(SYS_gettid) == syscall(SYS_getpid) ? Thread::Main : Thread::Other;
        errno = savedErrno;
    }
    return which == Thread::Main;
}

bool valuesConcernHere() {
    return valueState.noting && !valueState.busy && thread.depth == 0 && rank.owner && isMainThread();
}

bool valuesConcern(const void* caller) {
    return valuesConcernHere() && isPrograms(caller);
}

void noteValue(ValueKind kind, std::int64_t value, const std::byte* random) {
    const std::size_t extra = kind == ValueKind::Random && value > 0 ? static_cast<std::size_t>(value) : 0;
    if (extra > trace::kMaxRandomBytes || !makeRoom(trace::ValueWriter::kItemBytes + extra)) {
        stopNoting();
        return;
    }
    values.used += writer.put(values.out + values.used, kind, rank.recorder.lastEvent(), value, random);
    following.header->valueLength.store(values.used, std::memory_order_release);
}

bool isGiven(ValueKind kind) {
    if (!following.on) {
        return false;
    }
    passHashes();
    if (following.log.kind() != kind || following.log.event() != rank.recorder.lastEvent()) {
        following.on = false;
        return false;
    }
    return true;
}

std::int64_t takeGiven() {
    const std::int64_t value = following.log.value();
    following.next();
    return value;
}

ssize_t randomBytes(void* buffer, std::size_t length, ssize_t (*ask)(void* context, void* buffer, std::size_t length), void* context) {
    ssize_t got = 0;
    valueState.busy = true;
    if (isGiven(ValueKind::Random) && following.log.value() <= static_cast<std::int64_t>(length)) {
        const std::byte* bytes = following.log.bytes();
        got = static_cast<ssize_t>(takeGiven());
        if (got > 0) {
            std::memcpy(buffer, bytes, static_cast<std::size_t>(got));
        }
    } else {
        got = ask(context, buffer, length);
    }
    noteValue(ValueKind::Random, got, static_cast<const std::byte*>(buffer));
    valueState.busy = false;
    return got;
}

bool pidsConcern(const void* caller) {
    if (!valuesConcern(caller)) {
        return false;
    }
    if (values.pids) {
        return true;
    }
    // The recording has them: then this execution gets them.
    if (following.on) {
        passHashes();
    }
    return following.on && following.log.kind() == ValueKind::Pid && following.log.event() == rank.recorder.lastEvent();
}

namespace {
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
} // namespace

void findClocks() {
    const int savedErrno = errno;
    nextClock = reinterpret_cast<ClockGettime>(dlsym(RTLD_NEXT, "clock_gettime"));
    nextDay = reinterpret_cast<Gettimeofday>(dlsym(RTLD_NEXT, "gettimeofday"));
    nextProcessor = reinterpret_cast<std::clock_t (*)()>(dlsym(RTLD_NEXT, "clock"));
    findRandom();
    errno = savedErrno;
}

int realClock(clockid_t clock, timespec* time) {
    return nextClock != nullptr ? nextClock(clock, time) : static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

void openValues(trace::MappingHeader& header, int (*openFile)(std::int32_t number, int flags)) {
    if (header.valuesWanted.load(std::memory_order_acquire) == 0) {
        return;
    }
    const int savedErrno = errno;
    const std::uint32_t also = header.alsoNoted.load(std::memory_order_relaxed);
    values.pids = (also & trace::kNotePid) != 0;
    const bool hashes = (also & trace::kNoteSent) != 0;
    following.header = &header;
    values.openFile = openFile;
    values.file = header.valueDescriptor.load(std::memory_order_relaxed);
    values.fileBytes = trace::kInitialValueBytes;
    const int fd = openFile(values.file, O_RDWR);
    if (fd >= 0) {
        void* base = mmap(nullptr, trace::kValueBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        close(fd);
        if (base != MAP_FAILED) {
            values.out = static_cast<std::byte*>(base);
            valueState.noting = true;
            sent.setOn(hashes);
            sent.hashes = hashes;
            heap.start();
        }
    }
    const std::uint64_t bytes = header.givenBytes.load(std::memory_order_acquire);
    const int from = bytes != 0 && valueState.noting ? openFile(header.givenDescriptor.load(std::memory_order_relaxed), O_RDONLY) : -1;
    if (from >= 0) {
        void* log = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, from, 0);
        close(from);
        if (log != MAP_FAILED) {
            following.log = trace::ValueReader(static_cast<const std::byte*>(log), bytes);
            following.passFindings();
            following.on = true;
        }
    }
    errno = savedErrno;
}

void noteFinding(ValueKind kind, std::int64_t value) {
    if (valueState.noting && rank.owner && isMainThread()) {
        valueState.busy = true;
        noteValue(kind, value);
        valueState.busy = false;
    }
}

bool findingsAreNoted() {
    return valueState.noting;
}

double valueOfWtime(double (*now)()) {
    if (!valuesConcernHere()) {
        return now();
    }
    return std::bit_cast<double>(valueOf(ValueKind::Wtime, [now] { return std::bit_cast<std::int64_t>(now()); }));
}

} // namespace stopline::preload

using namespace stopline::preload;
using stopline::trace::ValueKind;

STOPLINE_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (time == nullptr || clock < 0 || clock > 7 || !valuesConcern(__builtin_return_address(0))) {
        return realClock(clock, time);
    }
    const auto kind = static_cast<ValueKind>(static_cast<int>(ValueKind::Clock) + clock);
    int result = 0;
    const std::int64_t ns = valueOf(kind, [&] {
        result = realClock(clock, time);
        return result == 0 ? time->tv_sec * kNsPerSecond + time->tv_nsec : -1;
    });
    if (ns == -1) {
        return result != 0 ? result : realClock(clock, time); // it failed, and does so again
    }
    time->tv_sec = ns / kNsPerSecond;
    time->tv_nsec = ns % kNsPerSecond;
    return 0;
}

STOPLINE_EXPORT time_t time(time_t* result) noexcept {
    const auto now = [] {
        timespec time{};
        realClock(CLOCK_REALTIME_COARSE, &time); // as libc's own: it must not be ahead of what files are stamped with
        return static_cast<std::int64_t>(time.tv_sec);
    };
    const std::int64_t seconds = valuesConcern(__builtin_return_address(0)) ? valueOf(ValueKind::Time, now) : now();
    if (result != nullptr) {
        *result = static_cast<time_t>(seconds);
    }
    return static_cast<time_t>(seconds);
}

STOPLINE_EXPORT int gettimeofday(timeval* time, void* zone) noexcept {
    const auto ask = [&] {
        return nextDay != nullptr ? nextDay(time, zone) : static_cast<int>(syscall(SYS_gettimeofday, time, zone));
    };
    if (time == nullptr || !valuesConcern(__builtin_return_address(0))) {
        return ask();
    }
    const std::int64_t us = valueOf(ValueKind::Day, [&] {
        ask();
        return time->tv_sec * std::int64_t{1'000'000} + time->tv_usec;
    });
    if (zone != nullptr) {
        timeval unused{};
        if (nextDay != nullptr) {
            nextDay(&unused, zone);
        }
    }
    time->tv_sec = us / 1'000'000;
    time->tv_usec = us % 1'000'000;
    return 0;
}

STOPLINE_EXPORT std::clock_t clock() noexcept {
    const auto now = [] {
        if (nextProcessor != nullptr) {
            return static_cast<std::int64_t>(nextProcessor());
        }
        timespec time{};
        return realClock(CLOCK_PROCESS_CPUTIME_ID, &time) == 0
                   ? static_cast<std::int64_t>(time.tv_sec) * CLOCKS_PER_SEC + time.tv_nsec / (kNsPerSecond / CLOCKS_PER_SEC)
                   : -1;
    };
    return static_cast<std::clock_t>(valuesConcern(__builtin_return_address(0)) ? valueOf(ValueKind::Processor, now) : now());
}

STOPLINE_EXPORT double MPI_Wtime() {
    using Wtime = double (*)();
    static Wtime next = nullptr;
    if (next == nullptr) {
        next = reinterpret_cast<Wtime>(nextDefinition("PMPI_Wtime"));
        if (next == nullptr) {
            return 0;
        }
    }
    return valueOfWtime(next);
}
STOPLINE_EXPORT double PMPI_Wtime() __attribute__((alias("MPI_Wtime")));
