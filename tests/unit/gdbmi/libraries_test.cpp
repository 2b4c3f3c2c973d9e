// Which libraries are the user's, and the patterns given to gdb.
#include "../../../gdbmi/gdb_libraries.h"

#include "../../../gdbmi/mi_parser.h"

#include <gtest/gtest.h>

#include <regex.h>

#include <string>

namespace stopline::mi {
namespace {

Record loadedRecord(const std::string& path, bool symbols = false) {
    return parseLine("=library-loaded,id=\"x\",target-name=" + quote(path) + ",host-name=" + quote(path) +
                     ",symbols-loaded=\"" + (symbols ? "1" : "0") + "\"");
}

/// As gdb matches: basic regular expressions.
bool matches(const QByteArray& pattern, const std::string& path) {
    regex_t compiled;
    EXPECT_EQ(regcomp(&compiled, pattern.constData(), REG_NOSUB), 0) << pattern.constData();
    const bool result = regexec(&compiled, path.c_str(), 0, nullptr, 0) == 0;
    regfree(&compiled);
    return result;
}

TEST(Libraries, SystemMpiAndOursAreNotTheUsers) {
    LibraryList list;
    for (const char* path : {"/opt/ompi/lib/libmpi.so.40", "/home/u/mpich/lib/libmpich.so.12"}) {
        list.loaded(loadedRecord(path));
    }
    for (const char* path :
         {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/libz.so",
          "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_pml_ob1.so", "[vdso]",
          "/opt/ompi/lib/libmpi.so.40", "/opt/ompi/lib/openmpi/mca_btl_tcp.so",
          "/opt/ompi/lib/libhwloc.so.15", "/somewhere/libopen-pal.so.40",
          "/home/u/stopline/lib/libstopline-mpi-openmpi.so"}) {
        EXPECT_FALSE(list.isUsers(QString::fromUtf8(path))) << path;
    }
    for (const char* path : {"/home/u/lib/libphysics.so", "/usr/local/lib/libmine.so", "/library/x.so",
                             "./y.so", "/opt/ompi-tools/libt.so"}) {
        EXPECT_TRUE(list.isUsers(QString::fromUtf8(path))) << path;
    }
}

TEST(Libraries, KnowsWhatIsLoaded) {
    LibraryList list;
    list.loaded(loadedRecord("/home/u/a.so"));
    list.loaded(loadedRecord("/home/u/b.so", true));
    list.loaded(loadedRecord("/usr/lib/c.so"));
    EXPECT_EQ(list.usersWithoutSymbols(), QStringList{QStringLiteral("/home/u/a.so")});
    list.setSymbolsLoaded(QStringLiteral("/home/u/a.so"));
    EXPECT_TRUE(list.usersWithoutSymbols().isEmpty());
    list.unloaded(parseLine("=library-unloaded,id=\"x\",host-name=\"/home/u/a.so\""));
    EXPECT_FALSE(list.knows(QStringLiteral("/home/u/a.so")));
    list.loaded(loadedRecord("/home/u/a.so"));
    EXPECT_EQ(list.usersWithoutSymbols().size(), 1) << "loaded again at another place, without symbols";
    EXPECT_EQ(list.all().size(), 3);
}

TEST(Libraries, PatternMatchesItsPathOnly) {
    for (const char* path :
         {"/a/libstdc++.so.6", "/a b/[x]*.so", "/caf\xc3\xa9/l.so", "/p/$HOME\\q/(1).so"}) {
        EXPECT_TRUE(matches(libraryPattern(QString::fromUtf8(path)), path)) << path;
    }
    EXPECT_FALSE(matches(libraryPattern(QStringLiteral("/a/lib.so")), "/a/lib.so.1"));
    EXPECT_FALSE(matches(libraryPattern(QStringLiteral("/a/lib.so")), "/b/a/lib.so"));
}

TEST(Libraries, CatchpointSparesTheSystem) {
    const QByteArray pattern = notSystemPattern();
    for (const char* path :
         {"/lib/x.so", "/lib64/x.so", "/usr/lib/x.so", "/usr/lib/openmpi/mca_a.so", "[vdso]"}) {
        EXPECT_FALSE(matches(pattern, path)) << path;
    }
    for (const char* path : {"/home/x.so", "/usr/local/lib/x.so", "/opt/x.so", "/l/x.so", "/lab/x.so",
                             "/user/x.so", "/us/x.so", "./x.so", "x.so"}) {
        EXPECT_TRUE(matches(pattern, path)) << path;
    }
}

} // namespace
} // namespace stopline::mi
