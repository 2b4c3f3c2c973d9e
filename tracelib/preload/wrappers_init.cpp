#include "wrappers.h"

#include <cerrno>
#include <cstdlib>

namespace stopline::preload {

namespace {

/// Return from main calls exit inside libc, past our own: this runs first of all handlers that are older than
/// MPI_Init.
void onExit(int code, void*) {
    if (rank.phase == Phase::Live) {
        stopBeforeEnd(trace::StopReason::ExitNoFinalize, code);
    }
}

int attributeOf(int keyval, int otherwise) {
    void* value = nullptr;
    int flag = 0;
    if (real.Comm_get_attr(predefined.world, keyval, static_cast<void*>(&value), &flag) != MPI_SUCCESS ||
        flag == 0) {
        return otherwise;
    }
    return *static_cast<int*>(value);
}

} // namespace

bool startRecording() {
    if (rank.phase != Phase::Outside || !findReal()) {
        return false;
    }
    const int savedErrno = errno;
    const bool ours = claim();
    errno = savedErrno;
    if (!ours) {
        return false;
    }
    rank.phase = Phase::Starting;
    rank.recording.store(true, std::memory_order_release);
    return true;
}

void noteSession() {
    if (thread.depth == 0 && rank.phase == Phase::Outside && rank.header != nullptr) {
        complain("MPI was used through MPI_Session_init alone, and calls are recorded from MPI_Init on", 0);
    }
}

void becomeLive() {
    int number = -1;
    int size = 0;
    int level = MPI_THREAD_SINGLE;
    real.Comm_rank(predefined.world, &number);
    real.Comm_size(predefined.world, &size);
    real.Query_thread(&level);
    rank.multiple = level == MPI_THREAD_MULTIPLE;
    rank.tagUpperBound = attributeOf(MPI_TAG_UB, 32767);
    if (rank.header->findRaces.load(std::memory_order_relaxed) != 0) {
        online.start(number, size);
    }
    rank.comms.addPredefined(rank.recorder);
    rank.header->worldSize.store(size, std::memory_order_relaxed);
    rank.header->worldRank.store(number, std::memory_order_release);
    const int savedErrno = errno;
    on_exit(onExit, nullptr);
    errno = savedErrno;
    rank.phase = Phase::Live;
}

} // namespace stopline::preload
