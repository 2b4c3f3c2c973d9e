# Jobs without a debugger: recorded, looked at, exported, killed.
foreach(case ring halo heat segv abort random mpmd stdin exits kill_rank kill_agent kill_mpirun kill_recorder interrupt terminate full_disk window
             rebuilt chrome otf2 damaged again again_addresses again_clocks again_data again_ended again_input again_seeds again_rebuilt again_threads until_fail until_fail_interrupted until_fail_well
             races_freed races_guarded races_limits races_online races_replayed races_seeds races_threads races_unfinished)
    set(tries)
    if(case STREQUAL races_threads)
        set(tries ${twice})
    endif()
    add_test(NAME e2e.record.${case}
        COMMAND ${tries} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/record_test.py --stopline $<TARGET_FILE:stopline>
            --demo ${demo} --programs ${programs} --scripts ${CMAKE_CURRENT_SOURCE_DIR}/scripts ${case})
    set_tests_properties(e2e.record.${case} PROPERTIES TIMEOUT 600 LABELS "e2e;record" SKIP_RETURN_CODE 77)
endforeach()
add_test(NAME e2e.record.races_seeds.long
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/record_test.py --stopline $<TARGET_FILE:stopline>
        --demo ${demo} --programs ${programs} --scripts ${CMAKE_CURRENT_SOURCE_DIR}/scripts races_seeds_long)
set_tests_properties(e2e.record.races_seeds.long PROPERTIES RESOURCE_LOCK mpi TIMEOUT 3600 LABELS long)
