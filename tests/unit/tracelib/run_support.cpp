#include "run_support.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <sys/wait.h>

namespace stopline::trace::testing {

namespace {

JobRun shell(const std::string& command) {
    JobRun result;
    std::FILE* pipe = popen((command + " 2>&1 < /dev/null").c_str(), "r");
    if (pipe == nullptr) {
        ADD_FAILURE() << "cannot run " << command;
        return result;
    }
    std::array<char, 4096> buffer{};
    std::size_t bytes = 0;
    while ((bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
        result.output.append(buffer.data(), bytes);
    }
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

/// Launchers that start and end at the same time remove the parent of their session directories under each
/// other's hands ("mkdir was unable to create ... File exists").
class SessionFolder {
  public:
    SessionFolder() : m_path((std::filesystem::temp_directory_path() / "stopline-ompi-XXXXXX").string()) {
        if (mkdtemp(m_path.data()) == nullptr) {
            m_path = std::filesystem::temp_directory_path().string();
        } else {
            m_own = true;
        }
    }
    ~SessionFolder() {
        std::error_code ignored;
        if (m_own) {
            std::filesystem::remove_all(m_path, ignored);
        }
    }
    SessionFolder(const SessionFolder&) = delete;
    SessionFolder& operator=(const SessionFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return m_path; }

  private:
    std::string m_path;
    bool m_own = false;
};

#ifdef STOPLINE_MPICH
std::string mpirun(int ranks) {
    return "timeout -k 5 120 " STOPLINE_MPIRUN " -n " + std::to_string(ranks) + " ";
}
#else
std::string mpirun(int ranks) {
    static const SessionFolder sessions;
    return "OMPI_MCA_orte_tmpdir_base=" + sessions.path() +
           " OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 "
           "timeout "
           "-k 5 120 "
           STOPLINE_MPIRUN " --oversubscribe -n " +
           std::to_string(ranks) + " ";
}
#endif

std::string pathOf(const std::string& program) {
    return program[0] == '/' ? program : STOPLINE_PROGRAMS "/" + program;
}

std::vector<std::string> expectedEvents(const std::string& program, int rank) {
    std::vector<std::string> lines;
    const std::string name = "/" + program + "." + std::to_string(rank) + ".txt";
#ifdef STOPLINE_MPICH
    const std::string own = STOPLINE_EXPECTED "/mpich" + name; // where it differs
    std::ifstream in(std::filesystem::exists(own) ? own : STOPLINE_EXPECTED + name);
#else
    std::ifstream in(STOPLINE_EXPECTED + name);
#endif
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// How often a poll failed is a matter of chance, unless the program says how often, and so is which requests behind one
/// that has failed are complete when a Waitall gives up.
std::string withoutChance(const std::string& line) {
    if (line.find("flag=false") != std::string::npos) {
        return line;
    }
    const bool failed = line.find("Waitall error=IN_STATUS") != std::string::npos;
    return failed ? std::regex_replace(line, std::regex("(error=TRUNCATE/[0-9]+) done=.*"), "$1")
                  : std::regex_replace(line, std::regex(" failures=[0-9]+"), "");
}

} // namespace

std::string mapRun() {
    return STOPLINE_BIN "/map_run --library " STOPLINE_PRELOAD;
}

bool RankDump::has(const std::string& fact) const {
    return ("\n" + facts).find("\n" + fact + "\n") != std::string::npos;
}

RankDump readDump(const std::string& path) {
    RankDump rank;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("  at ", 0) == 0) {
            std::istringstream words(line);
            std::string word;
            std::int64_t time = 0;
            std::string site;
            words >> word >> site >> word >> time;
            rank.sites.push_back(std::stoull(site, nullptr, 16));
            rank.times.push_back(time);
        } else if (line.rfind("comm ", 0) == 0) {
            rank.comms.push_back(line);
        } else if (line.rfind("stop ", 0) == 0) {
            rank.stops.push_back(line);
        } else if (!line.empty() && line[0] >= '0' && line[0] <= '9') {
            rank.events.push_back(line);
        } else {
            rank.facts += line + "\n";
        }
    }
    return rank;
}

JobRun run(int ranks, const std::string& options, const std::string& program,
           const std::string& environment) {
    std::string folder = (std::filesystem::temp_directory_path() / "stopline-run-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) {
        ADD_FAILURE() << "no temporary folder";
        return {};
    }
    JobRun result = shell(environment + " " + mpirun(ranks) + mapRun() + " --dump " + folder + "/rank " +
                          options + " " + pathOf(program));
    for (int rank = 0; rank < ranks; ++rank) {
        result.ranks.push_back(readDump(folder + "/rank." + std::to_string(rank)));
    }
    std::filesystem::remove_all(folder);
    return result;
}

JobRun runPlain(int ranks, const std::string& program) {
    return shell(mpirun(ranks) + pathOf(program));
}

JobRun runShell(const std::string& command) {
    return shell(command);
}

void expectEvents(const JobRun& run, const std::string& program, const std::vector<int>& ranks) {
    ASSERT_EQ(run.code, 0) << run.output;
    for (const int rank : ranks) {
        const RankDump& dump = run.ranks[static_cast<std::size_t>(rank)];
        EXPECT_TRUE(dump.has("error ")) << dump.facts;
        EXPECT_TRUE(dump.has("off 0")) << dump.facts;
        EXPECT_TRUE(dump.has("inside 0")) << dump.facts;
        EXPECT_TRUE(dump.has("count " + std::to_string(dump.events.size()))) << dump.facts;
        const std::vector<std::string> expected = expectedEvents(program, rank);
        ASSERT_FALSE(expected.empty());
        ASSERT_EQ(dump.events.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(withoutChance(dump.events[i]), withoutChance(expected[i]))
                << program << " rank " << rank;
        }
    }
}

std::vector<int> beginLines(const RankDump& rank, const std::string& program) {
    std::vector<int> lines;
    for (std::size_t i = 0; i < rank.events.size() && i < rank.sites.size(); ++i) {
        if (rank.events[i].find(" B ") == std::string::npos) {
            continue;
        }
        std::ostringstream command;
        // The return address is behind the call.
        command << "addr2line -e " STOPLINE_PROGRAMS "/" << program << " 0x" << std::hex << rank.sites[i] - 1;
        const std::string text = shell(command.str()).output;
        const std::size_t colon = text.rfind(':');
        lines.push_back(colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1));
    }
    return lines;
}

} // namespace stopline::trace::testing
