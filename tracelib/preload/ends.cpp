// Ways in which a rank ends without MPI_Finalize: they stop first, if a debugger is there, and then go on as
// always. Those after a fatal MPI error are each MPI's own: ends_openmpi.cpp, ends_mpich.cpp.
#include "rank.h"
#include "real.h"

#include <cstdlib>
#include <unistd.h>

namespace stopline::preload {

namespace {

using Exit = void (*)(int);

/// Where an interposed function goes on.
template <typename Function>
Function nextOf(const char* name) {
    return reinterpret_cast<Function>(nextDefinition(name));
}

void stopAtExit(int code) {
    if (rank.owner && rank.phase == Phase::Live) {
        stopBeforeEnd(trace::StopReason::ExitNoFinalize, code);
    }
}

} // namespace

} // namespace stopline::preload

#define STOPLINE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace stopline::preload;

STOPLINE_EXPORT void exit(int code) {
    stopAtExit(code);
    nextOf<Exit>("exit")(code);
    __builtin_unreachable();
}

STOPLINE_EXPORT void _exit(int code) {
    stopAtExit(code);
    nextOf<Exit>("_exit")(code);
    __builtin_unreachable();
}

STOPLINE_EXPORT void _Exit(int code) {
    stopAtExit(code);
    nextOf<Exit>("_Exit")(code);
    __builtin_unreachable();
}

STOPLINE_EXPORT void quick_exit(int code) {
    stopAtExit(code);
    nextOf<Exit>("quick_exit")(code);
    __builtin_unreachable();
}
