// CLOCK_MONOTONIC, read through the processor's time stamp counter where that is safe: 12 ns instead of 27.
//
// Safe means: the kernel itself uses the counter as its clock, or its host does for it and the counter never stops or changes
// its rate, and only one thread calls MPI (the state below has no lock). The rate is measured anew every few milliseconds from the kernel's clock, so that a
// correction of that clock is followed, and the counter is given up for good when it disagrees.
#include "rank.h"
#include "values.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace stopline::preload {

namespace {

TimeNs kernelNow() {
    timespec now{};
    realClock(CLOCK_MONOTONIC, &now);
    return TimeNs{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#ifdef __x86_64__

__extension__ using Wide = unsigned __int128;

constexpr TimeNs kShortestInterval = 10'000'000; ///< between two anchors, for the rate to be good to some ppm
constexpr TimeNs kLongestTrust = 40'000'000;     ///< after that the kernel is asked again
constexpr TimeNs kGreatestError = 20'000;

struct Counter {
    enum class Use : std::uint8_t { Unknown, Never, Measuring, Running } use;
    std::uint64_t anchorTicks;
    TimeNs anchorNs;
    std::uint64_t scale;      ///< ns a tick, times 2^32
    std::uint64_t trustTicks; ///< how far from the anchor the scale is good
};
Counter counter;

/// Both clocks at one moment; a pair with an interruption between is read again.
void readBoth(std::uint64_t& ticks, TimeNs& ns) {
    for (int i = 0; i < 8; ++i) {
        const std::uint64_t before = __rdtsc();
        ns = kernelNow();
        const std::uint64_t after = __rdtsc();
        ticks = before + (after - before) / 2;
        if (after - before < 5'000) {
            return;
        }
    }
}

/// Runs at one rate whatever the processor does (CPUID 0x80000007, bit 8 of EDX).
bool counterIsInvariant() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

/// Clocks of virtual machines that are the counter, with a scale and an offset from the host.
bool isCounterOfHost(const char* name) {
    return std::strcmp(name, "kvm-clock\n") == 0 || std::strcmp(name, "hyperv_clocksource_tsc_page\n") == 0;
}

bool kernelTrustsCounter() {
    const int savedErrno = errno;
    char name[32] = {};
    const int fd =
        open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    bool trusts = false;
    if (fd >= 0) {
        trusts = read(fd, name, sizeof name - 1) > 0 &&
                 (std::strcmp(name, "tsc\n") == 0 || (isCounterOfHost(name) && counterIsInvariant()));
        close(fd);
    }
    errno = savedErrno;
    return trusts;
}

TimeNs scaled(std::uint64_t ticks) {
    return static_cast<TimeNs>((static_cast<Wide>(ticks) * counter.scale) >> 32);
}

/// Reads the kernel's clock and takes a new anchor when the last one is old enough.
TimeNs anchor() {
    if (counter.use == Counter::Use::Unknown) {
        counter.use = kernelTrustsCounter() ? Counter::Use::Measuring : Counter::Use::Never;
        readBoth(counter.anchorTicks, counter.anchorNs);
        return counter.anchorNs;
    }
    if (counter.use == Counter::Use::Never) {
        return kernelNow();
    }
    std::uint64_t ticks = 0;
    TimeNs ns = 0;
    readBoth(ticks, ns);
    const TimeNs elapsed = ns - counter.anchorNs;
    if (elapsed < kShortestInterval) {
        return ns;
    }
    const std::uint64_t passed = ticks - counter.anchorTicks;
    if (counter.use == Counter::Use::Running && elapsed < 2 * kLongestTrust) {
        const TimeNs error = counter.anchorNs + scaled(passed) - ns;
        if (error > kGreatestError || error < -kGreatestError) {
            counter.use = Counter::Use::Never;
            return ns;
        }
    }
    counter.scale = static_cast<std::uint64_t>((static_cast<Wide>(elapsed) << 32) / passed);
    counter.trustTicks = static_cast<std::uint64_t>((static_cast<Wide>(kLongestTrust) << 32) / counter.scale);
    counter.anchorTicks = ticks;
    counter.anchorNs = ns;
    counter.use = Counter::Use::Running;
    return ns;
}

#endif

} // namespace

TimeNs clockNow() {
#ifdef __x86_64__
    if (rank.multiple) {
        return kernelNow();
    }
    if (counter.use == Counter::Use::Running) [[likely]] {
        const std::uint64_t passed = __rdtsc() - counter.anchorTicks;
        if (passed < counter.trustTicks) [[likely]] {
            return counter.anchorNs + scaled(passed);
        }
    }
    return anchor();
#else
    return kernelNow();
#endif
}

} // namespace stopline::preload
