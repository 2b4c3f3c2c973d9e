// What the library shows to the process.
#include "../../../tracelib/functions.h"
#include "../../../tracelib/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
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

const std::set<std::string> kTracedNames = {
#define STOPLINE_FUNCTION(name, class_, ...) "MPI_" #name,
#include "../../../tracelib/functions.def"
#ifdef STOPLINE_MPICH
#include "../../../tracelib/functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
};

#ifdef STOPLINE_MPICH
const std::set<std::string> kOfThisMpi = {"MPIR_Err_return_comm", "MPIR_Err_return_win"};
// Prefix and what follows the lower-case name in Fortran.
const std::multimap<std::string, std::string> kFortran = {{"mpi_", ""},
                                                          {"mpi_", "_"},
                                                          {"mpi_", "__"},
                                                          {"mpi_", "_f08_"},
                                                          {"mpi_", "_f08ts_"},
                                                          {"mpi_", "_f08_large_"},
                                                          {"mpi_", "_f08ts_large_"},
                                                          {"pmpi_", ""},
                                                          {"pmpi_", "_"},
                                                          {"pmpi_", "__"},
                                                          {"pmpir_", "_f08_"},
                                                          {"pmpir_", "_f08ts_"},
                                                          {"pmpir_", "_f08_large_"},
                                                          {"pmpir_", "_f08ts_large_"}};
constexpr const char* kFortranLayers = "libmpichfort.so.12";
#else
const std::set<std::string> kOfThisMpi = {
    "usleep", "ompi_errhandler_invoke", "ompi_mpi_abort", "ompi_mpi_errors_are_fatal_comm_handler",
    "ompi_mpi_errors_are_fatal_win_handler", "ompi_mpi_errors_are_fatal_file_handler"};
const std::multimap<std::string, std::string> kFortran = {
    {"mpi_", ""},  {"mpi_", "_"},  {"mpi_", "__"},  {"mpi_", "_f08_"},
    {"pmpi_", ""}, {"pmpi_", "_"}, {"pmpi_", "__"}, {"pmpi_", "_f08_"}};
constexpr const char* kFortranLayers = "libmpi_mpifh.so.40 libmpi_usempif08.so.40";
#endif

std::set<std::string> definedIn(const std::string& file) {
    std::set<std::string> names;
    std::istringstream symbols(outputOf("nm -D --defined-only " + file));
    for (std::string address, type, name; symbols >> address >> type >> name;) {
        names.insert(name);
    }
    return names;
}

/// All names of a function in Fortran.
std::set<std::string> fortranNames(const std::string& function) {
    std::set<std::string> names;
    for (const auto& [prefix, suffix] : kFortran) {
        std::string name = prefix + lower(function).substr(4) + suffix;
        names.insert(name);
        if (suffix.empty()) {
            for (char& c : name) {
                c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            }
            names.insert(name);
        }
    }
    return names;
}

} // namespace

TEST(Exports, OnlyWhatIsDocumented) {
    std::set<std::string> allowed = {"exit", "_exit", "_Exit", "quick_exit", "clock", "clock_gettime", "getrandom",
                                     "gettimeofday", "time", "MPI_Wtime", "PMPI_Wtime", "getentropy", "arc4random",
                                     "arc4random_buf", "arc4random_uniform", "getpid", "open", "open64", "openat",
                                     "openat64", "__open_2", "__open64_2", "read", "__read_chk", "close", "fopen",
                                     "fopen64", "fdopen", "fileno", "_ZNSt13random_device9_M_getvalEv"};
    allowed.insert(kOfThisMpi.begin(), kOfThisMpi.end());
    for (const std::string& name : kTracedNames) {
        allowed.insert(name);
        allowed.insert("P" + name);
        allowed.merge(fortranNames(name));
    }
    const std::set<std::string> defined = definedIn(STOPLINE_PRELOAD);
    for (const std::string& name : defined) {
        EXPECT_TRUE(allowed.count(name) == 1 || name.rfind("stopline_", 0) == 0) << name;
    }
    EXPECT_GT(defined.size(), 2 * kTracedNames.size());
}

TEST(Exports, EveryTracedFunctionUnderAllItsNamesInC) {
    const std::set<std::string> defined = definedIn(STOPLINE_PRELOAD);
    for (const std::string& name : kTracedNames) {
        EXPECT_EQ(defined.count(name), 1U) << name;
        EXPECT_EQ(defined.count("P" + name), 1U) << name;
    }
}

TEST(Exports, EveryTracedFunctionUnderTheNamesThatTheFortranLayersHave) {
    const std::set<std::string> ours = definedIn(STOPLINE_PRELOAD);
    std::set<std::string> layers;
    std::istringstream files(kFortranLayers);
    for (std::string file; files >> file;) {
        layers.merge(definedIn("$(ldconfig -p | awk '$1 == \"" + file + "\" {print $NF; exit}')"));
    }
    ASSERT_GT(layers.size(), 1000U);
    std::size_t found = 0;
    for (const std::string& function : kTracedNames) {
        const std::string start = "_" + lower(function).substr(4);
        for (const std::string& name : layers) {
            // mpi_send_f08ts_ is MPI_Send's, mpi_send_init_ is not. No compiler makes names in both cases.
            const std::string low = lower(name);
            const std::size_t at = low.find(start);
            const std::string rest = at == std::string::npos ? "?" : low.substr(at + start.size());
            const bool prefixed = low.rfind("mpi", 0) == 0 || low.rfind("pmpi", 0) == 0;
            const bool oneCase = name == low || std::none_of(name.begin(), name.end(),
                                                             [](char c) { return c >= 'a' && c <= 'z'; });
            if (prefixed && oneCase && low.find('_') == at &&
                (rest.find_first_not_of('_') == std::string::npos || rest.rfind("_f08", 0) == 0)) {
                ++found;
                EXPECT_EQ(ours.count(name), 1U) << name;
            }
        }
    }
    EXPECT_GT(found, 5 * std::size_t{180});
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
    // Without what is touched only when the oldest blocks have to go.
    EXPECT_LT(data + bss - sizeof(HistoryMemory), std::size_t{2} << 20);
    EXPECT_LT(sizeof(HistoryMemory), std::size_t{704} << 10);
}
