// In MPI_Init of Open MPI each rank asks ten thousand times a second whether the last one has come. Under a debugger the last
// one comes late, as its gdb looks at every library that MPI loads; and where ranks share a processor, those that ask take
// from it what the gdbs need (64 ranks on 2 cores: half a minute).
#include "rank.h"

#include <algorithm>
#include <ctime>
#include <unistd.h>

namespace {

/// So long a rank sleeps then between two questions, in microseconds.
constexpr useconds_t kPause = 5000;

} // namespace

/// What libc's does: it is no other function, and so needs none.
extern "C" __attribute__((visibility("default"))) int usleep(useconds_t microseconds) {
    using namespace stopline::preload;
    const bool waits = rank.phase == Phase::Starting && thread.depth > 0 &&
                       rank.header->gate.load(std::memory_order_relaxed) != 0 &&
                       rank.header->gateOpen.load(std::memory_order_relaxed) != 0; // only where there is a debugger
    const useconds_t pause = waits ? std::max(microseconds, kPause) : microseconds;
    const timespec time{static_cast<time_t>(pause / 1'000'000), static_cast<long>(pause % 1'000'000) * 1000};
    return nanosleep(&time, nullptr);
}
