# Recordings and their files, without jobs: what `stopline info` and `export` need.
option(STOPLINE_OTF2 "Export to OTF2 where libopen-trace-format2-dev is there" ON)
if(STOPLINE_OTF2)
    pkg_check_modules(OTF2 IMPORTED_TARGET otf2)
endif()

add_library(stopline_recordings STATIC
    ${CMAKE_CURRENT_LIST_DIR}/call_words.cpp ${CMAKE_CURRENT_LIST_DIR}/call_words.h
    ${CMAKE_CURRENT_LIST_DIR}/difference_words.cpp ${CMAKE_CURRENT_LIST_DIR}/difference_words.h
    ${CMAKE_CURRENT_LIST_DIR}/export_chrome.cpp ${CMAKE_CURRENT_LIST_DIR}/export_chrome.h
    ${CMAKE_CURRENT_LIST_DIR}/export_otf2.cpp ${CMAKE_CURRENT_LIST_DIR}/export_otf2.h
    ${CMAKE_CURRENT_LIST_DIR}/file_bytes.cpp ${CMAKE_CURRENT_LIST_DIR}/file_bytes.h
    ${CMAKE_CURRENT_LIST_DIR}/heap_evidence.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_evidence.h
    ${CMAKE_CURRENT_LIST_DIR}/loaded_recording.cpp ${CMAKE_CURRENT_LIST_DIR}/loaded_recording.h
    ${CMAKE_CURRENT_LIST_DIR}/open_requests.cpp ${CMAKE_CURRENT_LIST_DIR}/open_requests.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_feed.h ${CMAKE_CURRENT_LIST_DIR}/recording_start.cpp
    ${CMAKE_CURRENT_LIST_DIR}/recording.cpp ${CMAKE_CURRENT_LIST_DIR}/recording.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_file.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_file.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_jobs.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_order.cpp
    ${CMAKE_CURRENT_LIST_DIR}/recording_reader.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_reader.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_order.cpp
    ${CMAKE_CURRENT_LIST_DIR}/recording_sites.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_sites.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_summary.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_summary.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_summary_parts.h ${CMAKE_CURRENT_LIST_DIR}/recording_summary_races.cpp
    ${CMAKE_CURRENT_LIST_DIR}/recording_tally.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_tally.h
    ${CMAKE_CURRENT_LIST_DIR}/recording_writer.cpp ${CMAKE_CURRENT_LIST_DIR}/recording_writer.h
)
target_link_libraries(stopline_recordings
    PUBLIC Qt6::Core stopline_timeline stopline_words stopline_source_lines
    PRIVATE ZLIB::ZLIB stopline_warnings stopline_sanitizers stopline_qt
)
stopline_precompile(stopline_recordings <algorithm> <functional> <map> <memory> <optional> <string> <unordered_map> <vector> <QByteArray> <QString>)
if(OTF2_FOUND)
    target_compile_definitions(stopline_recordings PRIVATE STOPLINE_HAS_OTF2)
    target_sources(stopline_recordings PRIVATE ${CMAKE_CURRENT_LIST_DIR}/otf2_definitions.cpp ${CMAKE_CURRENT_LIST_DIR}/otf2_definitions.h)
    target_link_libraries(stopline_recordings PRIVATE PkgConfig::OTF2)
else()
    message(STATUS "OTF2 not found (libopen-trace-format2-dev): `stopline export --format otf2` says so")
endif()
