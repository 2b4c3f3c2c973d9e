#include "functions.h"

#include <array>

namespace stopline::trace {

namespace {

struct Row {
    std::string_view name;
    CallClass callClass;
};

constexpr std::array kRows = {
#define STOPLINE_FUNCTION(name, class_, ...) Row{"MPI_" #name, CallClass::class_},
#include "functions.def"
#include "functions_mpi4.def"
#undef STOPLINE_FUNCTION
};
static_assert(kRows.size() == static_cast<std::size_t>(FunctionId::Count));

} // namespace

std::string_view functionName(FunctionId function) {
    const auto row = static_cast<std::size_t>(function);
    return row < kRows.size() ? kRows[row].name : std::string_view("MPI_?");
}

CallClass functionClass(FunctionId function) {
    const auto row = static_cast<std::size_t>(function);
    return row < kRows.size() ? kRows[row].callClass : CallClass::Collective;
}

} // namespace stopline::trace
