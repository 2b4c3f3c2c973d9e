// Holding at a threshold while MPI goes on (DESIGN section 4), and stopping before a rank ends.
#include "rank.h"
#include "real.h"
#include "sent.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

/// gdb's breakpoint. Must stay a real function with a real call before and behind it.
extern "C" __attribute__((noinline, noipa, used)) void stopline_stop_here() {
    asm volatile("" ::: "memory");
}

namespace stopline::preload {

using trace::MappedStop;
using trace::MappingHeader;
using trace::RankState;
using trace::StopReason;

std::atomic<std::uint32_t> holder;

namespace {

constexpr TimeNs kShortPause = 20'000;
constexpr TimeNs kLongPause = 500'000;
constexpr int kEagerRounds =
    100; ///< rounds with short pauses: peers in the middle of a long message finish soon

/// Enters the stop function and books the time from `begin` on as held.
void stopNow(StopReason reason, std::int32_t code, TimeNs begin, TimeNs heldAtBegin) {
    if (sent.on()) {
        sent.mark();
    }
    MappingHeader& header = *rank.header;
    header.stopReason.store(static_cast<std::uint32_t>(reason), std::memory_order_relaxed);
    header.stopCode.store(code, std::memory_order_relaxed);
    header.inHold.store(1, std::memory_order_relaxed);
    setState(RankState::Stopping);
    stopline_stop_here();
    asm volatile("" ::: "memory");
    bookHeld(begin, heldAtBegin);
    header.stopReason.store(static_cast<std::uint32_t>(StopReason::None), std::memory_order_relaxed);
    header.inHold.store(0, std::memory_order_relaxed);
    setState(RankState::Running);
}

void hold() {
    MappingHeader& header = *rank.header;
    const int savedErrno = errno;
    const TimeNs begin = clockNow();
    const TimeNs heldAtBegin = header.heldNs.load(std::memory_order_relaxed);
    header.stopReason.store(static_cast<std::uint32_t>(StopReason::None), std::memory_order_relaxed);
    holder.store(std::uint32_t{thread.ordinal} + 1, std::memory_order_release);
    header.inHold.store(1, std::memory_order_release);
    header.release.store(0, std::memory_order_release); // one given twice is not for this hold
    setState(RankState::Arrived);
    for (int round = 0; header.release.load(std::memory_order_acquire) == 0; ++round) {
        makeProgress();
        futexWait(header.release, 0, round < kEagerRounds ? kShortPause : kLongPause);
    }
    header.release.store(0, std::memory_order_release);
    stopNow(StopReason::Threshold, 0, begin, heldAtBegin);
    holder.store(0, std::memory_order_release);
    futexWake(holder);
    errno = savedErrno;
}

} // namespace

void makeProgress() {
    if (rank.phase != Phase::Live) {
        return;
    }
    // Any call that looks for a message makes progress unless it finds one: so it looks for what nobody
    // sends.
    int flag = 0;
    real.Iprobe(0, rank.tagUpperBound, predefined.self, &flag, MPI_STATUS_IGNORE);
}

void bookHeld(TimeNs begin, TimeNs heldAtBegin) {
    MappingHeader& header = *rank.header;
    const TimeNs end = clockNow();
    // What the agent added meanwhile is part of this span.
    header.heldNs.store(heldAtBegin + (end - begin), std::memory_order_release);
    const std::uint32_t number = header.stopCount.fetch_add(1, std::memory_order_acq_rel);
    if (number >= trace::kMaxStops) {
        return;
    }
    auto* stops = reinterpret_cast<MappedStop*>(reinterpret_cast<std::byte*>(&header) + trace::kStopOffset);
    stops[number].event = header.eventCount.load(std::memory_order_relaxed);
    stops[number].beginNs = begin;
    stops[number].endNs = end;
    stops[number].ready.store(1, std::memory_order_release);
}

void holdAt(std::uint64_t event) {
    MappingHeader& header = *rank.header;
    if (header.magic != trace::kMappingMagic || header.formatVersion != trace::kFormatVersion) {
        // Overwritten by the program: this threshold is not the debugger's, and nobody would end the hold.
        rank.recorder.switchOff(EUCLEAN);
        header.threshold.store(kNoThreshold.value(), std::memory_order_release);
        return;
    }
    std::uint64_t threshold = rank.header->threshold.load(std::memory_order_acquire);
    // The debugger may move it meanwhile; and of two threads only one holds.
    while (event >= threshold) {
        if (rank.header->threshold.compare_exchange_weak(threshold, kNoThreshold.value(),
                                                         std::memory_order_acq_rel)) {
            hold();
            // A threshold at or below the event, set while the rank stood here, means: hold again, for the
            // peers' sake.
            threshold = rank.header->threshold.load(std::memory_order_acquire);
        }
    }
}

void waitForHolder() {
    std::uint32_t who = holder.load(std::memory_order_acquire);
    const int savedErrno = errno;
    for (; who != 0 && who != std::uint32_t{thread.ordinal} + 1;
         who = holder.load(std::memory_order_acquire)) {
        futexWait(holder, who, 50'000'000);
    }
    errno = savedErrno;
}

bool debuggerIsThere() {
    const int savedErrno = errno;
    char text[4096];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = 0;
    if (fd >= 0) {
        bytes = read(fd, text, sizeof text - 1);
        close(fd);
    }
    errno = savedErrno;
    text[bytes > 0 ? bytes : 0] = '\0';
    const char* tracer = std::strstr(text, "TracerPid:");
    if (tracer == nullptr) {
        return false;
    }
    tracer += std::strlen("TracerPid:");
    while (*tracer == '\t' || *tracer == ' ') {
        ++tracer;
    }
    return *tracer != '0';
}

void stopBeforeEnd(StopReason reason, std::int32_t code) {
    if (thread.stoppedForEnd || rank.header == nullptr || !rank.owner || getpid() != rank.pid) {
        return;
    }
    thread.stoppedForEnd = true;
    const bool gateUsed = rank.header->gateOpen.load(std::memory_order_acquire) != 0 &&
                          rank.header->gate.load(std::memory_order_acquire) != 0;
    if (!gateUsed && !debuggerIsThere()) {
        return;
    }
    const int savedErrno = errno;
    stopNow(reason, code, clockNow(), rank.header->heldNs.load(std::memory_order_relaxed));
    errno = savedErrno;
}

} // namespace stopline::preload
