// Stands in for the recording library: claims the mapping, waits at the gate, and leaves a few bytes to pull.
#include "../../../../tracelib/mapping.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace stopline::trace;

std::byte* g_base = nullptr;

MappingHeader& header() {
    return *reinterpret_cast<MappingHeader*>(g_base);
}

void setState(RankState state) {
    header().state.store(static_cast<std::uint32_t>(state));
    header().stateSequence.fetch_add(1);
    ::syscall(SYS_futex, &header().stateSequence, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

__attribute__((constructor)) void begin() {
    const char* path = std::getenv(kMapVariable);
    if (path == nullptr || ::dlsym(RTLD_DEFAULT, "PMPI_Init") == nullptr) {
        return;
    }
    const int fd = ::open(path, O_RDWR | O_CLOEXEC);
    void* base =
        fd < 0 ? MAP_FAILED : ::mmap(nullptr, mappedBytes(kDefaultBlockBytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        return;
    }
    g_base = static_cast<std::byte*>(base);
    header().mpiLinked.store(1);
    header().pid.store(::getpid());
    header().callerTid.store(::getpid());
    std::memcpy(g_base + kDictionaryOffset, "dictionary", 10);
    header().dictionaryLength.store(10, std::memory_order_release);
    std::memset(g_base + kStagingOffset, 0x5a, 100);
    header().stagedIds.store(100, std::memory_order_release);
    // Larger than one Trace frame may be, to see the window ask again.
    const std::size_t blocks = std::getenv("FAKE_LARGE") != nullptr ? std::size_t{80} << 20 : 1000;
    if (::posix_fallocate(fd, 0, static_cast<off_t>(kBlockOffset + blocks)) == 0) {
        for (std::size_t i = 0; i < blocks; ++i) {
            g_base[kBlockOffset + i] = static_cast<std::byte>(i * 7);
        }
        header().blockLength.store(blocks, std::memory_order_release);
    }
    header().eventCount.store(42, std::memory_order_release);
    if (header().gate.load() == static_cast<std::uint32_t>(Gate::Constructor)) {
        setState(RankState::AtGate);
        while (header().gateOpen.load() == 0) {
            ::syscall(SYS_futex, &header().gateOpen, FUTEX_WAIT, 0, nullptr, nullptr, 0);
        }
    }
    setState(RankState::Running);
}

} // namespace
