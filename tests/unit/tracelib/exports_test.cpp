// What the library shows to the process.
#include "../../../tracelib/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

using namespace stopline::trace;

namespace {

std::string outputOf(const std::string& command) {
    std::string text;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        return text;
    }
    std::array<char, 4096> buffer{};
    std::size_t bytes = 0;
    while ((bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
        text.append(buffer.data(), bytes);
    }
    pclose(pipe);
    return text;
}

std::string lower(std::string text) {
    for (char& c : text) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

std::set<std::string> tracedNames() {
    std::set<std::string> names;
    for (int i = 0; i < static_cast<int>(FunctionId::Count); ++i) {
        names.insert(std::string(functionName(static_cast<FunctionId>(i))));
    }
    return names;
}

} // namespace

TEST(Exports, OnlyWhatIsDocumented) {
    std::set<std::string> allowed = {"exit",
                                     "_exit",
                                     "_Exit",
                                     "quick_exit",
                                     "ompi_mpi_abort",
                                     "ompi_mpi_errors_are_fatal_comm_handler",
                                     "ompi_mpi_errors_are_fatal_win_handler",
                                     "ompi_mpi_errors_are_fatal_file_handler"};
    for (const std::string& name : tracedNames()) {
        allowed.insert(name);
        allowed.insert("P" + name);
        for (const std::string& prefix : {std::string(), std::string("p")}) {
            const std::string base = prefix + lower(name);
            std::string upper = base;
            for (char& c : upper) {
                c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            }
            allowed.insert({base, base + "_", base + "__", base + "_f08_", upper});
        }
    }
    std::istringstream symbols(outputOf("nm -D --defined-only " STOPLINE_PRELOAD));
    std::string address;
    std::string type;
    std::string name;
    std::size_t seen = 0;
    while (symbols >> address >> type >> name) {
        ++seen;
        EXPECT_TRUE(allowed.count(name) == 1 || name.rfind("stopline_", 0) == 0) << name;
    }
    EXPECT_GT(seen, 2 * static_cast<std::size_t>(FunctionId::Count));
}

TEST(Exports, DependsOnLibcAlone) {
    const std::string needed = outputOf("readelf -d " STOPLINE_PRELOAD " | grep NEEDED");
    EXPECT_NE(needed.find("libc.so.6"), std::string::npos) << needed;
    EXPECT_EQ(std::count(needed.begin(), needed.end(), '\n'), 1) << needed;
}

TEST(Exports, SymbolsAndUnwindingButNoLines) {
    const std::string sections = outputOf("readelf -SW " STOPLINE_PRELOAD);
    EXPECT_NE(sections.find(".symtab"), std::string::npos);
    EXPECT_NE(sections.find(".eh_frame"), std::string::npos);
    EXPECT_EQ(sections.find(".debug_line"), std::string::npos);
}

TEST(Exports, StaticMemoryIsBounded) {
    std::istringstream size(outputOf("size " STOPLINE_PRELOAD " | tail -1"));
    std::size_t text = 0;
    std::size_t data = 0;
    std::size_t bss = 0;
    size >> text >> data >> bss;
    ASSERT_GT(bss, 0U);
    EXPECT_LT(data + bss, std::size_t{2} << 20);
}
