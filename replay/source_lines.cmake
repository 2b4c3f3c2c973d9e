# Code addresses to source lines: a library of its own, so that it can be tested without the rest of replay.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw libelf)

add_library(stopline_source_lines STATIC
    ${CMAKE_CURRENT_LIST_DIR}/debug_file.cpp
    ${CMAKE_CURRENT_LIST_DIR}/debug_file.h
    ${CMAKE_CURRENT_LIST_DIR}/dwarf_lines.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dwarf_lines.h
    ${CMAKE_CURRENT_LIST_DIR}/function_names.cpp
    ${CMAKE_CURRENT_LIST_DIR}/function_names.h
    ${CMAKE_CURRENT_LIST_DIR}/source_lines.cpp
    ${CMAKE_CURRENT_LIST_DIR}/source_lines.h
)
target_link_libraries(stopline_source_lines
    PUBLIC Qt6::Core
    PRIVATE PkgConfig::LIBDW stopline_warnings stopline_sanitizers stopline_qt
)
