# The same window, started with MPICH's launcher on programs that are linked to MPICH: nothing else is said to it. The
# scripts, and what they must print, are those for Open MPI unless they have a name of their own.
include(${CMAKE_SOURCE_DIR}/resources/mpich.cmake)
if(NOT TARGET stopline_mpi_mpich OR NOT TARGET stopline_test_programs_mpich)
    message(STATUS "No MPICH: its end-to-end tests are left out")
    return()
endif()
set(programs_mpich ${CMAKE_BINARY_DIR}/tests/programs_mpich)

# stopline_mpich_test(NAME SCRIPT RANKS PROGRAM [words...])
function(stopline_mpich_test name script ranks program)
    stopline_script_test(mpich.${name} ${script}
        LAUNCH --launcher ${STOPLINE_MPIRUN_MPICH} -n ${ranks} ${programs_mpich}/${program} ${ARGN})
endfunction()

stopline_mpich_test(whole whole 4 barrier)
stopline_mpich_test(story story 4 rows 8 8)
stopline_mpich_test(frontiers frontiers 4 rows)
stopline_mpich_test(leave leave 4 rows 8 8)
stopline_mpich_test(rollback rollback 4 barrier)
stopline_mpich_test(breakpoint breakpoint 4 barrier)
stopline_mpich_test(exec.before exec_before 3 reexec before)
stopline_mpich_test(freed freed 3 freed)
stopline_mpich_test(gives_up.freed_persistent gives_up 3 givesup freed_persistent)
stopline_mpich_test(cut.both cut 3 cut both)
stopline_mpich_test(inside_call inside_call 2 reduce)
stopline_mpich_test(input input 2 stdin)
stopline_mpich_test(cxx cxx 4 cxx)
stopline_mpich_test(fortran fortran 4 ftn)
stopline_mpich_test(fortran08 fortran08 4 ftn08)
stopline_mpich_test(segv segv 4 segv)
stopline_script_test(mpich.exit_without_finalize exit_without_finalize
    LAUNCH --launcher ${STOPLINE_MPIRUN_MPICH} -n 4 ${programs_mpich}/exitnofinalize
    ERRORS "Rank 1 exited with code 3 without MPI_Finalize")
foreach(name tasks particles table nobody)
    stopline_script_test(mpich.${name}.tag ${name}
        LAUNCH --replay-by tag-bounded --launcher ${STOPLINE_MPIRUN_MPICH} -n 4 ${programs_mpich}/${name})
endforeach()
stopline_mpich_test(mpi_error mpich_mpi_error 4 mpierror)
stopline_mpich_test(abort mpich_abort 4 abort)
# The launcher's own form of the command line, with options of its own.
stopline_script_test(mpich.launcher_line whole
    LAUNCH ${STOPLINE_MPIRUN_MPICH} -bind-to none -genv STOPLINE_UNUSED 1 -n 2 ${programs_mpich}/barrier : -n 2
        ${programs_mpich}/barrier)
# Which library it is depends on the program, not on the launcher; and that they do not fit is said.
stopline_script_test(mpich.under_open_mpi mpich_mismatch LAUNCH --launcher ${MPIRUN_OPENMPI} -n 2 ${programs_mpich}/barrier
    ERRORS "is linked with MPICH .libmpich.so.12., but Open MPI's launcher starts it: each process will be a job of one rank")
foreach(victim agent mpirun job)
    add_test(NAME e2e.mpich.kill.${victim}.last
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/kill_test.py --stopline $<TARGET_FILE:stopline>
            --program ${programs_mpich}/longrun --victim ${victim} --last --launcher ${STOPLINE_MPIRUN_MPICH})
    set_tests_properties(e2e.mpich.kill.${victim}.last PROPERTIES RESOURCE_LOCK mpi TIMEOUT 200 LABELS e2e)
endforeach()
foreach(victim window agent gdb mpirun rank)
    add_test(NAME e2e.mpich.kill.${victim}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/kill_test.py --stopline $<TARGET_FILE:stopline>
            --program ${programs_mpich}/longrun --victim ${victim} --launcher ${STOPLINE_MPIRUN_MPICH})
    set_tests_properties(e2e.mpich.kill.${victim} PROPERTIES RESOURCE_LOCK mpi TIMEOUT 200 LABELS e2e)
endforeach()
# Sends that are complete at once, and messages that race.
add_test(NAME e2e.mpich.copies COMMAND copies ${programs_mpich}/copies ${STOPLINE_MPIRUN_MPICH})
add_test(NAME e2e.mpich.racing_replay COMMAND racing_replay ${programs_mpich}/racing 1 20 2 4 10 ${STOPLINE_MPIRUN_MPICH})
set_tests_properties(e2e.mpich.copies e2e.mpich.racing_replay PROPERTIES TIMEOUT 600 LABELS e2e)
add_test(NAME e2e.mpich.racing_replay.long COMMAND racing_replay ${programs_mpich}/racing 1000 500 5 4 25 ${STOPLINE_MPIRUN_MPICH})
set_tests_properties(e2e.mpich.racing_replay.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 7200 LABELS long)
# What MPICH has allocated when MPI_Init returns is the same each time; Open MPI's is not.
foreach(how shown hidden sent plain)
    add_test(NAME e2e.mpich.byaddress.${how} COMMAND byaddress ${programs_mpich}/byaddress ${how} ${STOPLINE_MPIRUN_MPICH})
    set_tests_properties(e2e.mpich.byaddress.${how} PROPERTIES TIMEOUT 300 LABELS e2e)
endforeach()
# Races found while a job runs.
foreach(case races_limits races_online races_replayed races_seeds races_unfinished)
    add_test(NAME e2e.mpich.record.${case}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/record_test.py --stopline $<TARGET_FILE:stopline>
            --demo ${demo} --programs ${programs_mpich} --scripts ${CMAKE_CURRENT_SOURCE_DIR}/scripts
            --launcher ${STOPLINE_MPIRUN_MPICH} ${case})
    set_tests_properties(e2e.mpich.record.${case} PROPERTIES TIMEOUT 600 LABELS "e2e;record")
endforeach()
