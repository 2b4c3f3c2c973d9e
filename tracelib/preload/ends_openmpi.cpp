// Open MPI's ways out after a fatal error (ends_openmpi_x86_64.S) stop the rank first. And nobody hears of
// errors in what the wrappers ask MPI for their own purposes: the user's own call is to report what is wrong
// with its arguments.
#include "frame.h"
#include "rank.h"
#include "real.h"

#include <cstdlib>

using namespace stopline::preload;

/// Called from the assembly: which of Open MPI's functions (below), and for the handlers where their error
/// code is. Returns where to go on.
extern "C" __attribute__((visibility("hidden"))) void* stoplineBeforeFatal(int which, const int* code,
                                                                           int directCode) {
    static const char* const kNames[] = {"ompi_mpi_errors_are_fatal_comm_handler",
                                         "ompi_mpi_errors_are_fatal_win_handler",
                                         "ompi_mpi_errors_are_fatal_file_handler", "ompi_mpi_abort"};
    constexpr int kAbort = 3;
    if (rank.owner && rank.phase != Phase::Outside) {
        const int known = which == kAbort ? directCode : code == nullptr ? MPI_SUCCESS : *code;
        // Asked for a code that is none, Open MPI would come here again.
        const bool any = which == kAbort && (known < 0 || known > MPI_ERR_LASTCODE);
        stopBeforeEnd(stopline::trace::StopReason::MpiError,
                      static_cast<int>(any ? stopline::trace::ErrorClass::Unlisted : errorClass(known)));
    }
    void* next = nextDefinition(kNames[which]);
    if (next == nullptr) {
        std::abort();
    }
    return next;
}

/// Open MPI calls the error handler of an object through this.
extern "C" __attribute__((visibility("default"))) int
ompi_errhandler_invoke(void* handler, void* object, int type, int code, const char* function) {
    if (thread.asking) {
        return code;
    }
    const auto next =
        reinterpret_cast<decltype(&ompi_errhandler_invoke)>(nextDefinition("ompi_errhandler_invoke"));
    return next == nullptr ? code : next(handler, object, type, code, function);
}
