#include "../../../replay/source_lines.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace stopline::replay {
namespace {

const std::string kPrograms = STOPLINE_LOOKUP_PROGRAMS;
const std::string kSources = STOPLINE_LOOKUP_SOURCES;

struct Mark {
    int line;
    CodeAddress address;
    std::string function;
};

/// A program that has printed its marks and waits until this goes.
class Waiting {
  public:
    explicit Waiting(const std::string& path) {
        int input[2];
        int output[2];
        if (pipe(input) != 0 || pipe(output) != 0) {
            return;
        }
        m_pid = fork();
        if (m_pid == 0) {
            dup2(input[0], 0);
            dup2(output[1], 1);
            for (const int fd : {input[0], input[1], output[0], output[1]}) {
                close(fd);
            }
            execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
            _exit(127);
        }
        close(input[0]);
        close(output[1]);
        m_input = input[1];
        readMarks(output[0]);
        close(output[0]);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() {
        close(m_input);
        if (m_pid > 0) {
            kill(m_pid, SIGKILL);
            waitpid(m_pid, nullptr, 0);
        }
    }
    [[nodiscard]] pid_t pid() const { return m_pid; }
    [[nodiscard]] const std::vector<Mark>& marks() const { return m_marks; }

  private:
    void readMarks(int fd) {
        std::string text;
        char buffer[4096];
        pollfd waiting{fd, POLLIN, 0};
        while (text.find("end\n") == std::string::npos && poll(&waiting, 1, 60'000) > 0) {
            const ssize_t count = read(fd, buffer, sizeof buffer);
            if (count <= 0) {
                break;
            }
            text.append(buffer, static_cast<std::size_t>(count));
        }
        std::istringstream lines(text);
        std::string line;
        while (std::getline(lines, line) && line != "end") {
            std::istringstream fields(line);
            int number = 0;
            std::uint64_t address = 0;
            fields >> number >> std::hex >> address >> std::ws;
            std::string function;
            std::getline(fields, function);
            m_marks.push_back({number, CodeAddress(address), function});
        }
    }

    pid_t m_pid = -1;
    int m_input = -1;
    std::vector<Mark> m_marks;
};

void expectAllFound(const std::string& program, const std::string& source, std::size_t marks) {
    const Waiting process(kPrograms + "/" + program);
    ASSERT_EQ(process.marks().size(), marks);
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    EXPECT_TRUE(lines.loaded());
    for (const Mark& mark : process.marks()) {
        const SourceLine found = lines.ofReturnAddress(mark.address);
        EXPECT_EQ(found.line, mark.line);
        EXPECT_EQ(found.function.toStdString(), mark.function);
        EXPECT_EQ(found.file.toStdString(), kSources + "/" + source) << mark.function;
    }
}

class PlainC : public testing::TestWithParam<const char*> {};

TEST_P(PlainC, EveryCallSiteIsFound) {
    expectAllFound(GetParam(), "plain.c", 5);
}

INSTANTIATE_TEST_SUITE_P(SourceLines, PlainC,
                         testing::Values("pie", "no_pie", "dwarf4", "compressed", "split", "optimised",
                                         "no_aranges", "separate"),
                         [](const auto& program) { return std::string(program.param); });

TEST(SourceLines, FindsClassesTemplatesAndLambdas) {
    expectAllFound("classes", "classes.cpp", 12);
}

TEST(SourceLines, GivesTheInnermostLineOfTheUserWhereFunctionsAreInlined) {
    expectAllFound("inlined", "inlined.cpp", 5);
}

TEST(SourceLines, NamesFortranProceduresAsTheirAuthorDoes) {
    if (!std::filesystem::exists(kPrograms + "/fortran")) {
        GTEST_SKIP() << "gfortran was not found";
    }
    expectAllFound("fortran", "fortran.F90", 6);
}

TEST(SourceLines, FindsCallsInASharedLibrary) {
    const Waiting process(kPrograms + "/uses_library");
    ASSERT_EQ(process.marks().size(), 2U);
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    const SourceLine library = lines.ofReturnAddress(process.marks()[1].address);
    EXPECT_EQ(library.function.toStdString(), "library_function");
    EXPECT_EQ(library.line, process.marks()[1].line);
    EXPECT_TRUE(library.file.endsWith(QStringLiteral("/library.c")));
    EXPECT_TRUE(library.module.isEmpty());
    EXPECT_EQ(lines.ofReturnAddress(process.marks()[0].address).function.toStdString(), "main");
}

TEST(SourceLines, KnowsTheFunctionWithoutDebugInformation) {
    for (const char* program : {"no_debug_info", "mismatched"}) {
        const Waiting process(kPrograms + "/" + program);
        ASSERT_EQ(process.marks().size(), 5U) << program;
        SourceLines lines;
        ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
        for (const Mark& mark : process.marks()) {
            const SourceLine found = lines.ofReturnAddress(mark.address);
            EXPECT_EQ(found.line, 0) << program;
            EXPECT_TRUE(found.file.isEmpty()) << program;
            EXPECT_EQ(found.function.toStdString(), mark.function) << program;
            EXPECT_EQ(found.module.toStdString(), program);
        }
    }
}

TEST(SourceLines, KnowsNothingOfAStrippedProgram) {
    const Waiting process(kPrograms + "/stripped");
    ASSERT_EQ(process.marks().size(), 5U);
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    for (const Mark& mark : process.marks()) {
        const SourceLine found = lines.ofReturnAddress(mark.address);
        EXPECT_EQ(found.line, 0);
        EXPECT_EQ(found.function.toStdString(), "");
        EXPECT_EQ(found.module.toStdString(), "stripped");
    }
}

TEST(SourceLines, AddressesOutsideEveryModuleAreUnknown) {
    const Waiting process(kPrograms + "/pie");
    SourceLines lines;
    EXPECT_FALSE(lines.loaded());
    EXPECT_EQ(lines.ofReturnAddress(CodeAddress(0x1000)).line, 0);
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        const SourceLine found = lines.ofReturnAddress(CodeAddress(address));
        EXPECT_EQ(found.line, 0);
        EXPECT_TRUE(found.function.isEmpty());
    }
}

TEST(SourceLines, SaysWhyAProcessCannotBeLookedAtAndKeepsWhatItKnows) {
    SourceLines lines;
    pid_t gone = fork();
    if (gone == 0) {
        _exit(0);
    }
    // A zombie has no modules; when it has been waited for, there is no process.
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(gone), &info, WEXITED | WNOWAIT), 0);
    EXPECT_NE(lines.loadProcess(gone).toStdString(), "");
    EXPECT_FALSE(lines.loaded());
    waitpid(gone, nullptr, 0);
    EXPECT_NE(lines.loadProcess(gone).toStdString(), "");

    const Waiting process(kPrograms + "/pie");
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    EXPECT_NE(lines.loadProcess(gone).toStdString(), "");
    EXPECT_EQ(lines.ofReturnAddress(process.marks().at(0).address).line, process.marks().at(0).line);
}

TEST(SourceLines, FindsLinesAfterTheProcessHasEnded) {
    SourceLines lines;
    std::vector<Mark> marks;
    {
        const Waiting process(kPrograms + "/pie");
        ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
        marks = process.marks();
    }
    ASSERT_EQ(marks.size(), 5U);
    EXPECT_EQ(lines.ofReturnAddress(marks[0].address).line, marks[0].line);
}

class Replaced : public testing::Test {
  protected:
    void SetUp() override {
        m_copy = std::filesystem::temp_directory_path() / ("stopline_lookup_" + std::to_string(getpid()));
        std::filesystem::copy_file(kPrograms + "/pie", m_copy,
                                   std::filesystem::copy_options::overwrite_existing);
    }
    void TearDown() override { std::filesystem::remove(m_copy); }
    /// As a linker does it: the old file loses its name.
    void replaceBy(const std::string& program) {
        std::filesystem::remove(m_copy);
        std::filesystem::copy_file(kPrograms + "/" + program, m_copy);
    }
    std::filesystem::path m_copy;
};

TEST_F(Replaced, AProgramThatWasRebuiltBeforeLoadingIsStillKnownByWhatRuns) {
    const Waiting process(m_copy);
    ASSERT_EQ(process.marks().size(), 5U);
    replaceBy("classes");
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    EXPECT_EQ(lines.ofReturnAddress(process.marks()[0].address).line, process.marks()[0].line);
}

TEST_F(Replaced, AProgramThatWasRebuiltAfterLoadingGivesNoWrongLines) {
    const Waiting process(m_copy);
    ASSERT_EQ(process.marks().size(), 5U);
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    replaceBy("classes");
    const SourceLine found = lines.ofReturnAddress(process.marks()[0].address);
    EXPECT_EQ(found.line, 0);
    EXPECT_TRUE(found.function.isEmpty());
}

TEST(SourceLines, TwoProcessesAtDifferentAddressesShareTheirFile) {
    const Waiting first(kPrograms + "/pie");
    const Waiting second(kPrograms + "/pie");
    SourceLines firstLines;
    SourceLines secondLines;
    ASSERT_EQ(firstLines.loadProcess(first.pid()).toStdString(), "");
    ASSERT_EQ(secondLines.loadProcess(second.pid()).toStdString(), "");
    for (std::size_t i = 0; i < first.marks().size(); ++i) {
        const SourceLine one = firstLines.ofReturnAddress(first.marks()[i].address);
        const SourceLine other = secondLines.ofReturnAddress(second.marks()[i].address);
        EXPECT_EQ(one.line, first.marks()[i].line);
        EXPECT_EQ(other.line, second.marks()[i].line);
        // One text in memory for both: it came from one cache.
        EXPECT_EQ(one.file.constData(), other.file.constData());
    }
}

TEST(SourceLines, ManyThreadsMayAskWhileModulesAreLoadedAgain) {
    const Waiting process(kPrograms + "/classes");
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                const Mark& mark = process.marks()[static_cast<std::size_t>(i) % process.marks().size()];
                wrong += lines.ofReturnAddress(mark.address).line == mark.line ? 0 : 1;
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(SourceLines, CachedLookUpsAreCounted) {
    const Waiting process(kPrograms + "/classes");
    SourceLines lines;
    ASSERT_EQ(lines.loadProcess(process.pid()).toStdString(), "");
    const auto cold = std::chrono::steady_clock::now();
    for (const Mark& mark : process.marks()) {
        EXPECT_EQ(lines.ofReturnAddress(mark.address).line, mark.line);
    }
    const auto start = std::chrono::steady_clock::now();
    constexpr int kTurns = 100'000;
    long sum = 0;
    for (int i = 0; i < kTurns; ++i) {
        sum += lines
                   .ofReturnAddress(
                       process.marks()[static_cast<std::size_t>(i) % process.marks().size()].address)
                   .line;
    }
    const auto end = std::chrono::steady_clock::now();
    EXPECT_GT(sum, 0);
    using Microseconds = std::chrono::duration<double, std::micro>;
    std::printf("first look-ups in a module: %.0f us, cached ones: %.3f us each\n",
                Microseconds(start - cold).count(), Microseconds(end - start).count() / kTurns);
}

} // namespace
} // namespace stopline::replay
