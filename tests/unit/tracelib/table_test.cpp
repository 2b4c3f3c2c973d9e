// The table of functions against mpi.h, of each MPI: a row with another signature does not compile (those
// that generate_entries.py derives: in the library), a missing one fails.
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0 // those that MPI 3.0 has removed are still in the library
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <mpi.h>

#include "../../../tracelib/functions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>

using namespace stopline::trace;

namespace {

#define STOPLINE_FUNCTION(name, class_, ...)                                                                 \
    static_assert(std::is_same_v<decltype(MPI_##name), int(__VA_ARGS__)>, #name);                            \
    static_assert(std::is_same_v<decltype(PMPI_##name), int(__VA_ARGS__)>, #name);
#include "../../../tracelib/functions.def"
#ifdef STOPLINE_MPICH
#define STOPLINE_PERSISTENT(name, class_)
#define STOPLINE_LARGE(name, class_)
#include "../../../tracelib/functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
#define STOPLINE_LOCAL(result, name, ...)                                                                    \
    static_assert(std::is_same_v<decltype(MPI_##name), result(__VA_ARGS__)>, #name);
#include "../../../tracelib/functions_local.def"
#ifdef STOPLINE_MPICH
#include "../../../tracelib/functions_local_mpi4.def"
#else
#include "../../../tracelib/functions_handles.def"
#endif
#undef STOPLINE_LOCAL

const std::set<std::string> kTracedNames = {
#define STOPLINE_FUNCTION(name, class_, ...) "MPI_" #name,
#include "../../../tracelib/functions.def"
#ifdef STOPLINE_MPICH
#include "../../../tracelib/functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
};

const std::set<std::string> kLocalNames = {
#define STOPLINE_LOCAL(result, name, ...) "MPI_" #name,
#include "../../../tracelib/functions_local.def"
#ifdef STOPLINE_MPICH
#include "../../../tracelib/functions_local_mpi4.def"
#else
#include "../../../tracelib/functions_handles.def"
#endif
#undef STOPLINE_LOCAL
};

/// How mpi.h declares a function, at the begin of a line.
#ifdef STOPLINE_MPICH
constexpr const char* kHeaders[] = {"mpi_proto.h", "mpio.h"};
// Not the callbacks such as MPI_DUP_FN, types, and what mpio.h has for MPIs that lack it.
const std::regex kDeclaration(R"((?:^|\n)(?!typedef)\w+\s+(MPI_(?!Info_[cf]2[cf])[A-Z][a-z_]\w*)\s*\()");
#else
constexpr const char* kHeaders[] = {"mpi.h"};
const std::regex kDeclaration(R"(OMPI_DECLSPEC\s+\w+\s+(MPI_\w+)\s*\()");
#endif

} // namespace

TEST(Table, EveryFunctionOfMpiHasItsClass) {
    std::string header;
    std::istringstream dirs(STOPLINE_MPI_HEADER_DIRS);
    for (std::string dir; std::getline(dirs, dir, ':');) {
        for (const char* name : kHeaders) {
            std::ifstream in(dir + "/" + name);
            std::ostringstream text;
            text << in.rdbuf();
            header += text.str();
        }
    }
    std::set<std::string> declared;
    for (std::sregex_iterator it(header.begin(), header.end(), kDeclaration), end; it != end; ++it) {
        declared.insert((*it)[1].str());
    }
    ASSERT_GT(declared.size(), 400U);
    for (const std::string& name : declared) {
        EXPECT_NE(kTracedNames.count(name), kLocalNames.count(name))
            << name << " is in both tables or in none";
    }
    for (const std::set<std::string>& table : {kTracedNames, kLocalNames}) {
        for (const std::string& name : table) {
            EXPECT_EQ(declared.count(name), 1U) << name;
        }
    }
}

TEST(Table, WhatMovesDataOrWaitsIsTraced) {
    // Nothing that can wait for another process may hide among the local functions.
    const std::regex remote(
        "MPI_(I?neighbor|Put|R?[Gg]et(_accumulate)?$|R?accumulate|Win_(create$|allocate|free$|fence|lock|"
        "unlock|flush|"
        "sync|post|start|complete|wait|test)|File_(open|close|i?read|i?write|set|sync|preallocate|seek_"
        "shared)|"
        "Comm_(spawn|accept|connect|join|dup|split|create$|create_group|idup|free$|disconnect)|.*send|.*recv|"
        "I?bcast|"
        "I?barrier|Wait|Test[a-z]*$|.*[Pp]robe|Request_(free|get_status)|Grequest|Start).*",
        std::regex::icase);
    for (const std::string& name : kLocalNames) {
        if (name != "MPI_File_set_errhandler" && name != "MPI_Comm_free_keyval") {
            EXPECT_FALSE(std::regex_match(name, remote)) << name;
        }
    }
}
