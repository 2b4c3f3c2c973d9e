# The agent, its protocol and the launchers' command lines. Included by CMakeLists.txt of this folder.
target_sources(stopline_gdbmi PRIVATE
    agent_frames.h agent_guard.cpp agent_guard.h agent_link.cpp agent_link.h agent_link_impl.h agent_mapping.cpp
    agent_mapping.h agent_process.cpp agent_process.h agent_protocol.cpp agent_protocol.h agent_server.cpp
    launcher.cpp launcher.h launcher_check.cpp launcher_check.h launcher_options.cpp launcher_options.h)

add_executable(stopline-agent
    agent_connection.cpp agent_connection.h agent_frames.h agent_guard.cpp agent_guard.h agent_hold.cpp
    agent_elf.h agent_hold.h agent_main.cpp
    agent_mapping.cpp agent_mapping.h agent_modules.cpp agent_modules.h agent_mpi.cpp agent_mpi.h
    agent_process.cpp agent_process.h agent_program.cpp agent_program.h
    agent_protocol.cpp agent_protocol.h agent_session.cpp agent_session.h agent_session_rank.cpp
    agent_session_record.cpp agent_session_window.cpp
    agent_spawn.cpp agent_spawn.h)
target_link_libraries(stopline-agent PRIVATE stopline_warnings stopline_sanitizers Threads::Threads)
# It runs on compute nodes too: ask for as little as possible there.
if(NOT STOPLINE_SANITIZE)
    target_link_options(stopline-agent PRIVATE -static-libstdc++ -static-libgcc)
endif()
