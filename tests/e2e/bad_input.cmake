# Bad input: a clear message that names the thing and the remedy, and nothing left behind.
set(bad ${CMAKE_CURRENT_BINARY_DIR}/bad)
add_test(NAME e2e.bad.programs COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/make_bad_programs.py ${programs}/barrier ${bad})
set_tests_properties(e2e.bad.programs PROPERTIES FIXTURES_SETUP bad_programs LABELS e2e)

function(stopline_bad_input name)
    stopline_script_test(bad.${name} bad RANKS 2 ${ARGN})
    set_tests_properties(e2e.bad.${name} PROPERTIES FIXTURES_REQUIRED bad_programs)
endfunction()

stopline_bad_input(missing PROGRAM ${bad}/missing EXIT 1 ERRORS "missing\" does not exist.*Check the path")
stopline_bad_input(not_executable PROGRAM ${bad}/not_executable EXIT 1 ERRORS "is not executable.*chmod")
stopline_bad_input(architecture PROGRAM ${bad}/other_architecture EXIT 1 ERRORS "built for AArch64, this host is")
stopline_bad_input(no_mpi PROGRAM ${programs}/nompi ERRORS "exited with code 0 without calling MPI_Init.*not linked with MPI")
stopline_bad_input(no_calls PROGRAM ${programs}/nocalls ERRORS "exited with code 0 without calling MPI_Init")
stopline_bad_input(no_gdb PROGRAM ${programs}/barrier ENVIRONMENT STOPLINE_GDB=/nonexistent/gdb EXIT 1 ERRORS "gdb\" was not found.*Install")
stopline_bad_input(no_mpirun LAUNCH --launcher /nonexistent/mpirun -n 2 ${programs}/barrier EXIT 1 ERRORS "mpirun\" was not found.*Install an MPI")
stopline_bad_input(slots LAUNCH -n 64 ${programs}/barrier ENVIRONMENT OMPI_MCA_rmaps_base_oversubscribe=
                   EXIT 1 ERRORS "slots.*oversubscribe")
stopline_bad_input(root PROGRAM ${programs}/barrier
                   ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT= EXIT 1 ERRORS "refuses to start a job for the user root.*allow-run-as-root")
# Whatever a script waits for, or if it waits for nothing at all: what never started is a failure.
stopline_script_test(bad.never_started never_started RANKS 2 PROGRAM ${bad}/missing EXIT 1
                     ERRORS "missing\" does not exist" "line 2: wait within 60: no rank has been started")
stopline_script_test(bad.never_started.slots never_started LAUNCH -n 64 ${programs}/barrier
                     ENVIRONMENT OMPI_MCA_rmaps_base_oversubscribe= EXIT 1 ERRORS "slots.*oversubscribe" "line 2: wait within 60: no rank has been started")
stopline_script_test(bad.never_started.root never_started RANKS 2 PROGRAM ${programs}/barrier
                     ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT= EXIT 1 ERRORS "refuses to start a job for the user root" "line 2: wait within 60: no rank has been started")
stopline_script_test(bad.never_started.no_wait never_started_no_wait RANKS 2 PROGRAM ${bad}/missing EXIT 1
                     ERRORS "missing\" does not exist" "error: no rank has been started")
stopline_script_test(bad.never_started.allowed never_started_allowed RANKS 2 PROGRAM ${bad}/missing
                     ERRORS "missing\" does not exist")
foreach(test never_started never_started.no_wait never_started.allowed)
    set_tests_properties(e2e.bad.${test} PROPERTIES FIXTURES_REQUIRED bad_programs)
endforeach()
stopline_script_test(bad.no_symbols no_symbols RANKS 4 PROGRAM ${bad}/without_symbols ERRORS "has no line information.*-g")
set_tests_properties(e2e.bad.no_symbols PROPERTIES FIXTURES_REQUIRED bad_programs)
stopline_script_test(bad.never_init never_init RANKS 4 PROGRAM ${programs}/neverinit)
stopline_script_test(block_sigint block_sigint RANKS 2 PROGRAM ${programs}/blocksigint)
# Behind a shell script, in the launcher's own form.
stopline_script_test(script deadlock LAUNCH mpirun -n 4 --bind-to none ${bad}/script.sh ${programs}/deadlock)
set_tests_properties(e2e.script PROPERTIES FIXTURES_REQUIRED bad_programs)

# A full file system under the mapping: a small one of its own, where the user may mount.
add_test(NAME e2e.bad.full_disk
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_small_disk ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run_script.py
        --stopline $<TARGET_FILE:stopline> --script ${CMAKE_CURRENT_SOURCE_DIR}/scripts/bad.script --exit 1
        --errors "cannot reserve the recording.*No space left on device.*Free space there" -- -n 2 ${programs}/barrier)
set_tests_properties(e2e.bad.full_disk PROPERTIES TIMEOUT 120 LABELS e2e SKIP_RETURN_CODE 77)

# Files for the recordings that cannot grow.
add_test(NAME e2e.recording_full
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_small_disk --size 5m ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run_script.py
        --stopline $<TARGET_FILE:stopline> --script ${CMAKE_CURRENT_SOURCE_DIR}/scripts/recording_full.script
        --errors "The recording of rank 0 has stopped at event [0-9]+: No space left on device. The rank goes on.*Free space in /.*STOPLINE_MAP_DIRECTORY" -- -n 2 ${programs}/noise)
set_tests_properties(e2e.recording_full PROPERTIES TIMEOUT 300 LABELS e2e SKIP_RETURN_CODE 77)

# A system that does not let gdb attach.
add_executable(without_ptrace without_ptrace.c)
target_compile_options(without_ptrace PRIVATE -Wall -Wextra -Werror)
add_test(NAME e2e.bad.no_ptrace
    COMMAND without_ptrace ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run_script.py
        --stopline $<TARGET_FILE:stopline> --script ${CMAKE_CURRENT_SOURCE_DIR}/scripts/bad.script --exit 1
        --errors "gdb was not allowed to attach.*Operation not permitted.*SYS_PTRACE" -- -n 2 ${programs}/barrier)
set_tests_properties(e2e.bad.no_ptrace PROPERTIES TIMEOUT 120 LABELS e2e SKIP_RETURN_CODE 77)
