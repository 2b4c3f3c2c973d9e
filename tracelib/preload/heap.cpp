#include "heap.h"

#include "forced.h"
#include "rank.h"
#include "sent.h"
#include "values.h"

#include <cerrno>
#include <ctime>
#include <dlfcn.h>
#include <malloc.h>

namespace stopline::preload {

using trace::ValueKind;

constinit Heap heap{};

namespace {

/// Processor time that it may take to ask: malloc goes through all that is free. Longer, and it is asked no
/// more.
constexpr TimeNs kLongest = 1'000'000;

TimeNs processorTime() {
    timespec time{};
    realClock(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// The same for all that is in one file, null for what is in none.
const void* fileOf(const void* address) {
    Dl_info info{};
    return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool mallocIsLibcs() {
    const void* libc = fileOf(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    return libc != nullptr && fileOf(dlsym(RTLD_DEFAULT, "malloc")) == libc &&
           fileOf(dlsym(RTLD_DEFAULT, "mallinfo2")) == libc;
}

/// Allocated, as far as can be told: stacks lie above what is mapped, and that above the heap.
bool isAllocated(const void* buffer) {
    constexpr std::uintptr_t kPage = 4096;
    const auto address = reinterpret_cast<std::uintptr_t>(buffer);
    return address >= kPage && address < reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) &&
           fileOf(buffer) == nullptr;
}

} // namespace

void Heap::look(std::uint64_t event) {
    if (thread.ordinal != 0) {
        return;
    }
    if (forced.severalThreads() || !findingsAreNoted()) {
        m_next.store(kNever, std::memory_order_relaxed);
        return;
    }
    const int savedErrno = errno;
    if (m_next.load(std::memory_order_relaxed) == kFirst) {
        noteFinding(ValueKind::Base,
                    static_cast<std::int64_t>(rank.header->libraryBase.load(std::memory_order_relaxed)));
    }
    m_next.store(event + (event < kShare ? 1 : event / kShare), std::memory_order_relaxed);
    if (sent.hashes) { // malloc follows its lists, and ends the program if that has damaged them: only whoever checks data wants that
        noteState();
    }
    errno = savedErrno;
    m_tries.store(kMostTries, std::memory_order_relaxed);
    sent.setOn(true);
}

/// How large the heap and the free rest at its end are, and how much is in use and free in how many pieces:
/// where that is the same, malloc mostly gives the same, and where it is not, it mostly does not.
void Heap::noteState() {
    if (m_source == Source::Unknown) {
        m_source = mallocIsLibcs() ? Source::Libc : Source::Other;
    }
    if (m_source != Source::Libc) {
        return;
    }
    const TimeNs begin = processorTime();
    const struct mallinfo2 state = mallinfo2();
    if (processorTime() - begin > kLongest) {
        m_source = Source::Other;
    }
    const std::uint64_t words[] = {state.arena,   state.keepcost, state.uordblks, state.fordblks,
                                   state.ordblks, state.fsmblks,  state.hblkhd};
    noteFinding(ValueKind::Heap, static_cast<std::int64_t>(trace::hashBytes(
                                     reinterpret_cast<const std::byte*>(words), sizeof words)));
}

void Heap::seeNow(const void* buffer) {
    if (thread.ordinal != 0) {
        return;
    }
    const int savedErrno = errno;
    if (isAllocated(buffer)) {
        noteFinding(ValueKind::Buffer, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer)));
        m_tries.store(0, std::memory_order_relaxed);
    } else {
        m_tries.store(m_tries.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    if (m_tries.load(std::memory_order_relaxed) == 0) {
        sent.setOn(sent.hashes);
    }
    errno = savedErrno;
}

} // namespace stopline::preload
