// Names of functions as their authors wrote them, from the names that linkers see.
#pragma once

#include <string>
#include <string_view>

namespace stopline::replay {

/// Demangles C++ names and gfortran's module procedures (`__heat_MOD_step` becomes `heat::step`). Parameters
/// and, for templates, the return type are left out, as gdb does in a stack. Other names come back unchanged.
[[nodiscard]] std::string readableFunctionName(std::string_view linkageName);

/// What is left of a demangled C++ function without its parameters, qualifiers and return type.
[[nodiscard]] std::string withoutParameters(std::string_view demangled);

} // namespace stopline::replay
