// What agents of one job remove at the same moment.
#include "../../../../gdbmi/agent_process.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

namespace fs = std::filesystem;

TEST(AgentProcess, ManyAgentsLeaveNothingOfTheSessionDirectory) {
    std::array<char, 64> pattern{"/tmp/stopline-session-XXXXXX"};
    const fs::path top = ::mkdtemp(pattern.data());
    const fs::path session = top / "ompi.host.0" / "pid.1";
    ::setenv("OMPI_MCA_ess_base_jobid", std::to_string(4711U << 16U | 1U).c_str(), 1);
    for (int round = 0; round < 50; ++round) {
        for (int rank = 0; rank < 16; ++rank) {
            const fs::path folder = session / "0" / std::to_string(rank);
            fs::create_directories(folder);
            std::ofstream(folder / "file") << rank;
        }
        fs::create_directories(top / "ompi.host.0" / "jf.4711");
        fs::create_directories(top / "ompi.host.0" / "jf.1"); // of another job
        std::array<int, 2> gate{};
        ASSERT_EQ(::pipe(gate.data()), 0);
        for (int agent = 0; agent < 8; ++agent) {
            if (::fork() == 0) {
                ::setenv("PMIX_SERVER_TMPDIR", session.c_str(), 1);
                ::close(gate[1]);
                char unused = 0;
                (void)!::read(gate[0], &unused, 1); // all begin when the other end is closed
                removeLauncherFiles({}, true);
                ::_exit(0);
            }
        }
        ::close(gate[0]);
        ::close(gate[1]);
        while (::wait(nullptr) > 0) {
        }
        ASSERT_FALSE(fs::exists(session)) << "round " << round;
        ASSERT_FALSE(fs::exists(top / "ompi.host.0" / "jf.4711")) << "round " << round;
        ASSERT_TRUE(fs::exists(top / "ompi.host.0" / "jf.1"));
    }
    ::unsetenv("OMPI_MCA_ess_base_jobid");
    fs::remove_all(top);
}

} // namespace
} // namespace stopline::agent
