# Messages that race: what is recorded once comes out the same again.
add_executable(racing_replay racing_replay.cpp)
target_link_libraries(racing_replay PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(racing_replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.racing_replay COMMAND racing_replay ${programs}/racing 1 20 2)
set_tests_properties(e2e.racing_replay PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")
add_test(NAME e2e.racing_replay.long COMMAND racing_replay ${programs}/racing 1000 500 5 4 25)
set_tests_properties(e2e.racing_replay.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 7200 LABELS long ENVIRONMENT "${root_environment}")

# The same with the messages that raced marked, instead of forcing all receives of any source.
add_test(NAME e2e.racing_replay.tag COMMAND racing_replay --by-tag ${programs}/racing 1 8 2 4 8)
set_tests_properties(e2e.racing_replay.tag PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")
add_test(NAME e2e.racing_replay.tag-bounded COMMAND racing_replay --by-tag-bounded ${programs}/racing 1 8 2 4 8)
set_tests_properties(e2e.racing_replay.tag-bounded PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")
add_test(NAME e2e.racing_replay.tag.long COMMAND racing_replay --by-tag ${programs}/racing 1000 500 5 4 25)
set_tests_properties(e2e.racing_replay.tag.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 7200 LABELS long ENVIRONMENT "${root_environment}")

# Where several threads may call MPI, and one does, as in most programs in Python.
add_test(NAME e2e.racing_replay.threads COMMAND ${twice} $<TARGET_FILE:racing_replay> ${programs}/racing 1 6 2)
add_test(NAME e2e.racing_replay.tag.threads COMMAND ${twice} $<TARGET_FILE:racing_replay> --by-tag ${programs}/racing 1 6 2 4 6)
foreach(how racing_replay racing_replay.tag)
    set_tests_properties(e2e.${how}.threads PROPERTIES RUN_SERIAL TRUE TIMEOUT 1200 LABELS e2e
        ENVIRONMENT "${root_environment};RACING_THREADS=1")
endforeach()

# Sends that are complete at once share a handle, and which ones are is chance.
add_executable(copies copies.cpp)
target_link_libraries(copies PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(copies PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.copies COMMAND copies ${programs}/copies)
set_tests_properties(e2e.copies PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")

# A replay in which what a receive got cannot come again.
add_executable(awaited awaited.cpp)
target_link_libraries(awaited PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(awaited PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.awaited COMMAND awaited ${programs}/awaits)
set_tests_properties(e2e.awaited PROPERTIES TIMEOUT 300 LABELS e2e ENVIRONMENT "${root_environment}")

# What comes from outside, and what is sent, in an execution and in the next one.
add_executable(again again.cpp)
target_link_libraries(again PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(again PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(what seeds pids data differs killed shot recorded input)
    add_test(NAME e2e.again.${what} COMMAND again ${programs} ${what})
    set_tests_properties(e2e.again.${what} PROPERTIES TIMEOUT 500 LABELS e2e ENVIRONMENT "${root_environment}")
endforeach()

# Going back among racing receives, and what a plain new run does instead.
add_executable(racing_travel racing_travel.cpp)
target_link_libraries(racing_travel PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(racing_travel PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.racing_travel COMMAND racing_travel ${programs}/wildcard 3)
set_tests_properties(e2e.racing_travel PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")
add_test(NAME e2e.racing_travel.long COMMAND racing_travel ${programs}/wildcard 50)
set_tests_properties(e2e.racing_travel.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 3600 LABELS long ENVIRONMENT "${root_environment}")

# Other messages for the races: what does not depend on them is as it was.
add_executable(racing_choice racing_choice.cpp)
target_link_libraries(racing_choice PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(racing_choice PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.racing_choice COMMAND racing_choice ${programs}/racing 1 3 2)
set_tests_properties(e2e.racing_choice PROPERTIES TIMEOUT 600 LABELS e2e ENVIRONMENT "${root_environment}")
add_test(NAME e2e.racing_choice.long COMMAND racing_choice ${programs}/racing 1000 100 4)
set_tests_properties(e2e.racing_choice.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 7200 LABELS long ENVIRONMENT "${root_environment}")

# Readable programs whose receives race: what was found in one of them is found again.
stopline_script_test(tasks tasks RANKS 4 PROGRAM ${programs}/tasks)
stopline_script_test(particles particles RANKS 4 PROGRAM ${programs}/particles)
stopline_script_test(search search RANKS 4 PROGRAM ${programs}/search 9)
stopline_script_test(table table RANKS 4 PROGRAM ${programs}/table)
add_test(NAME e2e.racing_replay.tag-bounded.long COMMAND racing_replay --by-tag-bounded ${programs}/racing 1000 500 5 4 25)
set_tests_properties(e2e.racing_replay.tag-bounded.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 7200 LABELS long ENVIRONMENT "${root_environment}")

# What MPI must buffer of marked messages, without and with control messages.
add_executable(buffered buffered.cpp)
target_link_libraries(buffered PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(buffered PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.buffered COMMAND buffered ${programs}/paced)
set_tests_properties(e2e.buffered PROPERTIES TIMEOUT 300 LABELS e2e ENVIRONMENT "${root_environment}")

# What an execution follows is made before it starts.
add_executable(prepared prepared.cpp)
target_link_libraries(prepared PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(prepared PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_test(NAME e2e.prepared COMMAND prepared ${programs}/wildcard 4)
set_tests_properties(e2e.prepared PROPERTIES TIMEOUT 300 LABELS e2e ENVIRONMENT "${root_environment}")

foreach(name wildcard tasks particles table nobody)
    stopline_script_test(${name}.tag ${name} LAUNCH --replay-by tag -n 4 ${programs}/${name})
endforeach()
stopline_script_test(search.tag search LAUNCH --replay-by tag -n 4 ${programs}/search 9)

# Journeys and other messages for the races, in executions by tag.
foreach(how tag tag-bounded)
    add_test(NAME e2e.racing_travel.${how} COMMAND racing_travel ${programs}/wildcard 2)
    add_test(NAME e2e.racing_choice.${how} COMMAND racing_choice ${programs}/racing 1 1 2)
    add_test(NAME e2e.awaited.${how} COMMAND awaited ${programs}/awaits)
    foreach(name racing_travel racing_choice awaited)
        set_tests_properties(e2e.${name}.${how} PROPERTIES TIMEOUT 600 LABELS e2e
            ENVIRONMENT "${root_environment};STOPLINE_REPLAY_BY=${how}")
    endforeach()
endforeach()

# Races found while a job runs against those found in its recording.
add_executable(race_oracle race_oracle.cpp)
target_link_libraries(race_oracle PRIVATE stopline_recordings stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(race_oracle PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# What a departure says of addresses.
add_executable(byaddress byaddress.cpp)
target_link_libraries(byaddress PRIVATE stopline_replay stopline_qt stopline_warnings stopline_sanitizers)
set_target_properties(byaddress PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(how shown hidden sent)
    add_test(NAME e2e.byaddress.${how} COMMAND byaddress ${programs}/byaddress ${how})
    set_tests_properties(e2e.byaddress.${how} PROPERTIES TIMEOUT 300 LABELS e2e ENVIRONMENT "${root_environment}")
endforeach()
foreach(how shown hidden)
    add_test(NAME e2e.byaddress.${how}.threads COMMAND byaddress ${programs}/byaddress ${how})
    set_tests_properties(e2e.byaddress.${how}.threads PROPERTIES TIMEOUT 300 LABELS e2e
        ENVIRONMENT "${root_environment};BYADDRESS_THREADS=1")
endforeach()
