# Tests of the timeline.
add_library(stopline_timeline_testing STATIC
    trace.h trace.cpp
    script.h script.cpp window_job.h
    program.h program.cpp program_generator.h program_calls.cpp
    simulator.h simulator.cpp simulator_state.h simulator_calls.cpp
    brute.h brute.cpp brute_read.cpp brute_match.cpp
)
target_link_libraries(stopline_timeline_testing PUBLIC stopline_timeline PRIVATE stopline_warnings stopline_sanitizers)

add_executable(timeline_test
    axis_test.cpp
    frontier_test.cpp
    hostile_test.cpp
    jobs_test.cpp
    matching_test.cpp
    mpi4_test.cpp
    one_sided_test.cpp
    found_races_test.cpp
    order_controls_test.cpp order_log_test.cpp order_marks_test.cpp order_text.h
    refused_test.cpp
    requests_test.cpp
    standstill_test.cpp
    wait_circles_test.cpp wait_circles_window_test.cpp wait_mismatches_test.cpp wait_texts.h
)
target_link_libraries(timeline_test PRIVATE stopline_timeline_testing GTest::gtest_main stopline_warnings stopline_sanitizers)
gtest_discover_tests(timeline_test DISCOVERY_TIMEOUT 60)

add_executable(timeline_twin_test start_test.cpp twin_test.cpp)
target_link_libraries(timeline_twin_test PRIVATE stopline_timeline_testing GTest::gtest_main stopline_warnings stopline_sanitizers)
gtest_discover_tests(timeline_twin_test DISCOVERY_TIMEOUT 60)

add_executable(recording_test difference_words_test.cpp execution_comparison_test.cpp heap_evidence_test.cpp recording_test.cpp recording_freed_test.cpp recording_gap_test.cpp request_names_test.cpp visits_test.cpp)
target_link_libraries(recording_test PRIVATE stopline_replay GTest::gtest_main stopline_warnings stopline_sanitizers)
gtest_discover_tests(recording_test DISCOVERY_TIMEOUT 60)

add_executable(recording_file_test recording_file_test.cpp recording_damage_test.cpp recording_fixture.h
    chance_words_test.cpp completion_words_test.cpp open_requests_test.cpp recording_races_test.cpp)
target_link_libraries(recording_file_test PRIVATE stopline_recordings stopline_timeline_testing ZLIB::ZLIB GTest::gtest_main
    stopline_warnings stopline_sanitizers stopline_qt)
gtest_discover_tests(recording_file_test DISCOVERY_TIMEOUT 60)

add_executable(races_test race_choice_test.cpp race_choice_freed_test.cpp race_choice_start_test.cpp race_choice_text.h
    races_test.cpp races_freed_test.cpp races_papers_test.cpp races_text.h
    races_oracle.h races_oracle.cpp races_oracle_program.cpp races_oracle_replay.cpp races_oracle_test.cpp races_random_test.cpp)
target_link_libraries(races_test PRIVATE stopline_timeline_testing GTest::gtest_main stopline_warnings stopline_sanitizers)
gtest_discover_tests(races_test DISCOVERY_TIMEOUT 60)
