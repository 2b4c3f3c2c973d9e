#include "real.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace stopline::preload {

RealTable real;
Predefined predefined;

namespace {

bool found = false;
bool rightDialect = false;
void* library = nullptr; // only where MPI was loaded late

/// Path of a loaded MPI library with an unusual soname.
int notePath(dl_phdr_info* info, std::size_t, void* result) {
    const char* name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    const char* base = std::strrchr(name, '/');
    if (isMpiLibrary(base == nullptr ? name : base + 1)) {
        *static_cast<const char**>(result) = name;
        return 1;
    }
    return 0;
}

/// A program may load MPI late and for itself only (python does): then RTLD_NEXT does not see it.
void findLibrary() {
    if (library != nullptr || dlsym(RTLD_NEXT, "PMPI_Init") != nullptr) {
        return;
    }
    for (const char* name : kMpiLibraries) {
        library = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
        if (library != nullptr) {
            return;
        }
    }
    const char* path = nullptr;
    if (dl_iterate_phdr(notePath, &path) != 0) {
        library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    }
}

/// Other MPIs may have all the names, but other constants behind them.
bool isOfDialect(decltype(real.Init) init) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(init), &info) == 0 || info.dli_fname == nullptr) {
        return true;
    }
    const char* base = std::strrchr(info.dli_fname, '/');
    return !isForeignLibrary(base == nullptr ? info.dli_fname : base + 1);
}

void* findData(const char* name) {
    // The program may hold its own copy of the library's data: the default order finds the one in use.
    void* address = dlsym(RTLD_DEFAULT, name);
    return address == nullptr && library != nullptr ? dlsym(library, name) : address;
}

} // namespace

void* nextDefinition(const char* name) {
    void* address = dlsym(RTLD_NEXT, name);
    if (address == nullptr) {
        findLibrary();
        address = library == nullptr ? nullptr : dlsym(library, name);
    }
    return address;
}

bool mpiIsLinked() {
    return dlsym(RTLD_NEXT, "PMPI_Init") != nullptr;
}

bool findReal() {
    if (found) {
        return rightDialect;
    }
    const int savedErrno = errno;
    findLibrary();
#define STOPLINE_FUNCTION(name, class_, ...)                                                                 \
    real.name = reinterpret_cast<decltype(real.name)>(nextDefinition("PMPI_" #name));
#include "../functions.def"
#if STOPLINE_HAS_MPI4
#include "../functions_mpi4.def"
#endif
#undef STOPLINE_FUNCTION
#define STOPLINE_HELPER(name)                                                                                \
    real.name = reinterpret_cast<decltype(real.name)>(nextDefinition("PMPI_" #name));
    STOPLINE_HELPERS(STOPLINE_HELPER)
#undef STOPLINE_HELPER
    rightDialect = real.Init != nullptr && isOfDialect(real.Init) && findPredefined(predefined, findData);
    // Before MPI is there nothing is settled: a later call looks again.
    found = real.Init != nullptr;
    errno = savedErrno;
    return rightDialect;
}

} // namespace stopline::preload
