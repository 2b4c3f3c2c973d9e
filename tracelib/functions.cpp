#include "functions.h"

#include <array>

namespace stopline::trace {

namespace {

struct Row {
    std::string_view name;
    CallClass callClass;
};

constexpr std::array<Row, static_cast<std::size_t>(FunctionId::Count)> kRows = {{ // its length not deduced: clang allows 256 at most
#define STOPLINE_FUNCTION(name, class_, ...) Row{"MPI_" #name, CallClass::class_},
#include "functions.def"
#include "functions_mpi4.def"
#undef STOPLINE_FUNCTION
}};
static_assert(!kRows.back().name.empty()); // a row for each

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
