# Small MPI programs, built as a user would build them: by the MPI compiler wrappers with -g -O0 and nothing of ours.
# The options of this project's own targets (build type, sanitizers) must not reach them.
include_guard(GLOBAL)

# With several MPIs installed the names alone may be another one's.
find_program(STOPLINE_MPICC NAMES mpicc.openmpi mpicc)
find_program(STOPLINE_MPICXX NAMES mpicxx.openmpi mpicxx mpic++)
find_program(STOPLINE_MPIFORT NAMES mpifort.openmpi mpifort mpif90)

# stopline_mpi_program(<output file> COMPILER <wrapper> SOURCES <file>... [DEPENDS <file>...] [OPTIONS <option>...]
#                      [LIBRARIES <option>...])
# Adds the rule that makes the output file. The caller collects the outputs in a target.
function(stopline_mpi_program output)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPILER" "SOURCES;DEPENDS;OPTIONS;LIBRARIES")
    set(sources)
    foreach(source IN LISTS arg_SOURCES)
        list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    endforeach()
    set(warnings -Wall -Wextra)
    if(STOPLINE_WARNINGS_AS_ERRORS)
        list(APPEND warnings -Werror)
    endif()
    cmake_path(GET output PARENT_PATH folder)
    cmake_path(GET output FILENAME name)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${output}
        COMMAND ${arg_COMPILER} -g -O0 ${warnings} ${arg_OPTIONS} -o ${output} ${sources} ${arg_LIBRARIES}
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
        DEPENDS ${sources} ${arg_DEPENDS}
        COMMENT "Building MPI program ${name}"
        VERBATIM)
endfunction()
