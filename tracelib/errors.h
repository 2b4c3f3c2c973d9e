// The error classes that calls end with, with the same numbers for every MPI implementation.
#pragma once

#include <cstdint>
#include <string_view>

namespace stopline::trace {

/// Class of the error that a call returned. Values are part of the trace format only within one version of it.
enum class ErrorClass : std::int32_t {
    Success = 0,
#define STOPLINE_ERROR(name, mpiName) name,
#include "errors.def"
#undef STOPLINE_ERROR
    Unlisted, ///< a class that MPI-3.1 does not name: of a later version, or made by MPI_Add_error_class
};

/// "MPI_ERR_TRUNCATE" and so on; "MPI_SUCCESS" and "an error class of its own" for the two others, also for values out
/// of range.
[[nodiscard]] std::string_view errorName(ErrorClass error);

/// True when MPI refused the arguments, so that nothing was done: no message sent or received, no part in a collective
/// taken. False for errors that turned up while something was done, and for those of which that is not known.
[[nodiscard]] bool isRefusal(ErrorClass error);

} // namespace stopline::trace
