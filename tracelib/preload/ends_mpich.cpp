// MPICH's way out after an error, through its function that calls the error handler of a communicator or
// window: where that handler is to end the job, the rank stops first. And nobody hears of errors in what the
// wrappers ask MPI for their own purposes: the user's own call is to report what is wrong with its arguments.
#include "frame.h"

using namespace stopline::preload;

namespace {

/// Both kinds of object begin with their handle.
struct ObjectHead {
    int handle;
};

constexpr int kFatalBit = 0x80; ///< of an error code: no handler may go on

template <typename Handle>
bool endsJob(Handle handle, int code, int (*ask)(Handle, MPI_Errhandler*)) {
    const Asking asking;
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    if ((code & kFatalBit) != 0 || ask(handle, &handler) != MPI_SUCCESS) {
        return true;
    }
    const bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
    if (handler != MPI_ERRHANDLER_NULL) {
        real.Errhandler_free(&handler); // what was asked for has been counted; a predefined one bears it
    }
    return fatal;
}

void stopAtError(bool fatal, int code) {
    if (fatal) {
        stopBeforeEnd(stopline::trace::StopReason::MpiError, static_cast<int>(errorClass(code)));
    }
}

bool isOurs() {
    return rank.owner && rank.phase != Phase::Outside;
}

} // namespace

#define STOPLINE_EXPORT extern "C" __attribute__((visibility("default")))

STOPLINE_EXPORT int MPIR_Err_return_comm(ObjectHead* comm, const char* function, int code) {
    if (thread.asking) {
        return code;
    }
    if (isOurs() && rank.phase != Phase::Finalized) {
        // Errors without a communicator go to the world's handler.
        stopAtError(endsJob(comm != nullptr ? comm->handle : MPI_COMM_WORLD, code, real.Comm_get_errhandler),
                    code);
    }
    const auto next =
        reinterpret_cast<decltype(&MPIR_Err_return_comm)>(nextDefinition("MPIR_Err_return_comm"));
    return next == nullptr ? code : next(comm, function, code);
}

STOPLINE_EXPORT int MPIR_Err_return_win(ObjectHead* win, const char* function, int code) {
    if (thread.asking) {
        return code;
    }
    if (isOurs() && win != nullptr) {
        stopAtError(endsJob(win->handle, code, real.Win_get_errhandler), code);
    }
    const auto next = reinterpret_cast<decltype(&MPIR_Err_return_win)>(nextDefinition("MPIR_Err_return_win"));
    return next == nullptr ? code : next(win, function, code);
}
