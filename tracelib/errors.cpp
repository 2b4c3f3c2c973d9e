#include "errors.h"

#include <array>

namespace stopline::trace {

namespace {

constexpr std::array kNames = {
    std::string_view("MPI_SUCCESS"),
#define STOPLINE_ERROR(name, mpiName) std::string_view("MPI_ERR_" #mpiName),
#include "errors.def"
#undef STOPLINE_ERROR
};
static_assert(kNames.size() == static_cast<std::size_t>(ErrorClass::Unlisted));

} // namespace

std::string_view errorName(ErrorClass error) {
    const auto row = static_cast<std::size_t>(error);
    return row < kNames.size() ? kNames[row] : std::string_view("an error class of its own");
}

bool isRefusal(ErrorClass error) {
    switch (error) {
    case ErrorClass::Buffer:
    case ErrorClass::Count:
    case ErrorClass::Type:
    case ErrorClass::Tag:
    case ErrorClass::Comm:
    case ErrorClass::Rank:
    case ErrorClass::Request:
    case ErrorClass::Root:
    case ErrorClass::Group:
    case ErrorClass::Op:
    case ErrorClass::Topology:
    case ErrorClass::Dims:
    case ErrorClass::Arg:
    case ErrorClass::Assert:
    case ErrorClass::Disp:
    case ErrorClass::File:
    case ErrorClass::Info:
    case ErrorClass::Keyval:
    case ErrorClass::Locktype:
    case ErrorClass::RmaSync:
    case ErrorClass::Size:
    case ErrorClass::Win:
        return true;
    default:
        return false;
    }
}

} // namespace stopline::trace
