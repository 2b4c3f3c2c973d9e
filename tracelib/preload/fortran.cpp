// Behind the Fortran entry points: the next definition of each, and whose call a C entry point sees.
#include "frame.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

#ifdef __x86_64__
extern "C" {
extern void* stoplineTrampolineNext[];
extern const char* const stoplineTrampolineName[];
}
#endif

namespace stopline::preload {

namespace {

/// The code of a library that holds Fortran entry points of MPI.
struct CodeRange {
    std::uintptr_t begin;
    std::uintptr_t end;
};
constexpr int kMaxRanges = 4;
CodeRange ranges[kMaxRanges];
std::atomic<int> rangeCount;

struct RangeSearch {
    std::uintptr_t address;
    CodeRange found;
};

int findRange(dl_phdr_info* info, std::size_t, void* data) {
    auto& search = *static_cast<RangeSearch*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && search.address >= begin &&
            search.address < begin + part.p_memsz) {
            search.found = {begin, begin + part.p_memsz};
            return 1;
        }
    }
    return 0;
}

bool isFortranLayer(std::uintptr_t address) {
    const int count = rangeCount.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
        if (address >= ranges[i].begin && address < ranges[i].end) {
            return true;
        }
    }
    return false;
}

[[maybe_unused]] void noteLibraryOf(void* function) {
    RangeSearch search{reinterpret_cast<std::uintptr_t>(function), {0, 0}};
    const int count = rangeCount.load(std::memory_order_acquire);
    if (!isFortranLayer(search.address) && count < kMaxRanges && dl_iterate_phdr(findRange, &search) != 0) {
        ranges[count] = search.found;
        rangeCount.store(count + 1, std::memory_order_release);
    }
}

} // namespace

CodeAddress callSiteOfFortran(std::uintptr_t address) {
    const std::uint64_t noted = thread.fortranCaller;
    // A note is only good for the call that the Fortran layer makes for it: some calls never come through to
    // C.
    thread.fortranCaller = 0;
    if (!isFortranLayer(address)) {
        return CodeAddress{address};
    }
    return CodeAddress{isFortranLayer(noted) ? thread.fortranCallerBefore : noted};
}

} // namespace stopline::preload

#ifdef __x86_64__
using stopline::preload::ThreadState;
static_assert(offsetof(ThreadState, fortranCaller) == 16, "trampoline_x86_64.inc stores the caller there");
static_assert(offsetof(ThreadState, fortranCallerBefore) == 24, "and the one before");

/// Called from the assembly with the number of an entry point; returns where to go on.
extern "C" __attribute__((visibility("hidden"))) void* stoplineFindFortran(int number) {
    const int savedErrno = errno;
    void* next = stopline::preload::nextDefinition(stoplineTrampolineName[number]);
    if (next == nullptr) {
        std::fprintf(stderr, "stopline: undefined symbol: %s\n", stoplineTrampolineName[number]);
        std::abort();
    }
    stopline::preload::noteLibraryOf(next);
    // The entry points of mpi_f08 call the older ones in another library, and that one calls C.
    if (void* older = stopline::preload::nextDefinition("mpi_init_"); older != nullptr) {
        stopline::preload::noteLibraryOf(older);
    }
    stoplineTrampolineNext[number] = next;
    errno = savedErrno;
    return next;
}
#endif
