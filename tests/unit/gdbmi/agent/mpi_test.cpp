// Which MPI a program is linked with, and what is said of it.
#include "../../../../gdbmi/agent_elf.h"
#include "../../../../gdbmi/agent_mpi.h"
#include "../../../../gdbmi/agent_program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

namespace stopline::agent {
namespace {

/// The variables of a launcher, instead of whatever the test was started with.
class Environment {
  public:
    explicit Environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
        for (const char* name : kNames) {
            ::unsetenv(name);
        }
        for (const auto& [name, value] : variables) {
            ::setenv(name, value, 1);
        }
    }
    ~Environment() {
        for (const char* name : kNames) {
            ::unsetenv(name);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    static constexpr const char* kNames[] = {"OMPI_COMM_WORLD_RANK", "OMPI_MCA_ess_base_jobid", "PMI_RANK",
                                             "PMI_SIZE", "HYDI_CONTROL_FD"};
};

#define OPEN_MPI_4                                                                                           \
    {"OMPI_COMM_WORLD_RANK", "0"}, {                                                                         \
        "OMPI_MCA_ess_base_jobid", "4711"                                                                    \
    }
#define HYDRA                                                                                                \
    {"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {                                                                  \
        "HYDI_CONTROL_FD", "7"                                                                               \
    }

LinkedMpi mpiOf(const std::string& program) {
    const std::string path = std::string(LINKED_PROGRAMS) + "/" + program;
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    return findMpi(FileBytes(path));
}

std::string noticeOf(const std::string& program) {
    const auto notice = mpiNotice(mpiOf(program), program);
    if (!notice) {
        return {};
    }
    EXPECT_FALSE(notice->text.empty());
    EXPECT_FALSE(notice->remedy.empty());
    return notice->code;
}

TEST(AgentMpi, TheNamesOfLibrariesSayWhichItIs) {
    const Environment none{};
    struct Case {
        const char* program;
        const char* dialect;
        const char* library;
    };
    for (const Case& c :
         {Case{"libmpi.so.40", "openmpi", "libmpi.so.40"},
          Case{"libmpi_mpifh.so.40", "openmpi", "libmpi_mpifh.so.40"},
          Case{"libmpich.so.12", "mpich", "libmpich.so.12"}, Case{"libmpi.so.12", "mpich", "libmpi.so.12"},
          Case{"libmpifort.so.12", "mpich", "libmpifort.so.12"},
          Case{"libmpi_abi.so.0", "", "libmpi_abi.so.0"}, Case{"libmpi.so.20", "", "libmpi.so.20"},
          Case{"libmpirun_helper.so.1", "", ""}}) {
        const LinkedMpi mpi = mpiOf(c.program);
        EXPECT_EQ(mpi.dialect, c.dialect) << c.program;
        EXPECT_EQ(mpi.library, c.library) << c.program;
        EXPECT_FALSE(mpi.isStatic) << c.program;
    }
}

TEST(AgentMpi, MpiInsideOfTheProgramIsSeen) {
    EXPECT_TRUE(mpiOf("static").isStatic);
    EXPECT_EQ(mpiOf("static").dialect, "");
    EXPECT_FALSE(mpiOf("without").isStatic);
    EXPECT_FALSE(findMpi(FileBytes("/nonexistent/program")).isStatic);
    EXPECT_FALSE(findMpi(FileBytes(__FILE__)).isStatic); // no binary
}

TEST(AgentMpi, WhereTheProgramShowsNoneTheLauncherDecides) {
    const LinkedMpi none;
    {
        const Environment launcher{OPEN_MPI_4};
        EXPECT_EQ(recordedMpi(none), "openmpi");
        EXPECT_EQ(recordedMpi(mpiOf("libmpich.so.12")), "mpich");
    }
    {
        const Environment launcher{HYDRA};
        EXPECT_EQ(recordedMpi(none), "mpich");
        EXPECT_EQ(recordedMpi(mpiOf("libmpi.so.40")), "openmpi");
        EXPECT_EQ(launcherPlace().rank, 1);
        EXPECT_EQ(launcherPlace().size, 3);
    }
    const Environment nobody{};
    EXPECT_EQ(recordedMpi(none), "openmpi");
}

TEST(AgentMpi, SaysWhatWillNotBeRecordedAndWhy) {
    {
        const Environment launcher{OPEN_MPI_4};
        EXPECT_EQ(noticeOf("libmpi.so.40"), "");
        EXPECT_EQ(noticeOf("without"), "");
        EXPECT_EQ(noticeOf("static"), "mpi-static");
        EXPECT_EQ(noticeOf("libmpi_abi.so.0"), "mpi-unknown");
        EXPECT_EQ(noticeOf("libmpich.so.12"), "mpi-mismatch");
    }
    {
        const Environment launcher{HYDRA};
        EXPECT_EQ(noticeOf("libmpich.so.12"), "");
        EXPECT_EQ(noticeOf("libmpi.so.12"), "");
        EXPECT_EQ(noticeOf("libmpi.so.40"), "mpi-mismatch");
        EXPECT_EQ(noticeOf("static"), "mpi-static");
    }
    {
        const Environment launcher{{"OMPI_COMM_WORLD_RANK", "0"}};
        EXPECT_EQ(noticeOf("libmpi.so.40"), "mpi-newer");
        EXPECT_EQ(noticeOf("without"), "");
    }
    const Environment nobody{}; // Slurm, say
    EXPECT_EQ(noticeOf("libmpi.so.40"), "");
    EXPECT_EQ(noticeOf("libmpich.so.12"), "");
}

} // namespace
} // namespace stopline::agent
