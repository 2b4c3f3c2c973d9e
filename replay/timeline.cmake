# The timeline: standard C++ only, so that the viewer and the tests use it without Qt.
add_library(stopline_timeline STATIC
    place.h
    request_names.h request_names.cpp recording_compare.h
    jobs.h jobs.cpp
    timeline.h timeline_impl.h timeline.cpp timeline_of_call.cpp
    timeline_axis.h timeline_axis.cpp
    timeline_array.h timeline_array.cpp timeline_chance.cpp
    call_place.h wait_circles.h wait_circles.cpp wait_mismatches.h wait_mismatches.cpp waits.h waits.cpp
    timeline_data.h one_sided_data.h timeline_data.cpp
    timeline_events.h timeline_early.cpp timeline_events.cpp
    timeline_reason.h timeline_reason.cpp
    timeline_recorder.h timeline_recorder.cpp timeline_refusal.cpp
    matcher.h matcher.cpp matcher_early.cpp matcher_pairs.cpp
    matcher_collectives.h matcher_collectives.cpp
    one_sided.h one_sided.cpp
    found_races.h found_races.cpp
    chosen_order.h chosen_order.cpp order_controls.h order_controls.cpp order_log.h order_log.cpp order_log_entries.h order_log_entries.cpp
    order_marks.h order_marks.cpp unforced.h unforced.cpp
    standstill.h standstill.cpp
    causality.h causality.cpp causality_edges.h causality_walk.cpp
    causality_digest.h causality_digest.cpp
    closure.h closure.cpp
    data_order.h data_order.cpp data_order_ends.cpp data_order_collectives.cpp
    race_windows.h race_windows.cpp race_windows_count.cpp
    race_choice.h race_choice.cpp
    races.h races_impl.h races.cpp races_trace.cpp races_words.cpp
)
target_link_libraries(stopline_timeline PUBLIC stopline_trace_reader PRIVATE stopline_warnings stopline_sanitizers)
stopline_precompile(stopline_timeline <algorithm> <functional> <map> <memory> <optional> <string> <unordered_map> <vector>)
