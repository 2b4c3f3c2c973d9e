# The same program, started by MPICH's launcher on programs that are linked to MPICH: nothing else is said to it. What is
# expected is what is expected with Open MPI unless the script has an own file.
include(${CMAKE_SOURCE_DIR}/resources/mpich.cmake)
if(NOT TARGET stopline_mpi_mpich OR NOT TARGET stopline_test_programs_mpich)
    return()
endif()
set(programs_mpich ${CMAKE_BINARY_DIR}/tests/programs_mpich)

function(stopline_mpich_test name script ranks program)
    stopline_script_test(mpich.${name} ${script} LAUNCH --launcher ${STOPLINE_MPIRUN_MPICH} -n ${ranks}
        ${programs_mpich}/${program} ${ARGN})
endfunction()

stopline_mpich_test(story story 4 rows 8 8)
