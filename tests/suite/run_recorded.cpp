// Runs a program with the recording library and nothing else: no debugger, no process between the launcher
// and it.
//
// usage: run_recorded --library PATH --folder FOLDER program arguments...
//            makes FOLDER/<rank>.<pid>, a mapping as the agent would make it, and becomes the program
//        run_recorded --read FILE...
//            says of each recording how many events it holds and what is wrong with it, nothing if all is
//            well
#include "mapping_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace stopline;
using namespace stopline::trace;

namespace {

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "run_recorded: %s: %s\n", what.c_str(), std::strerror(errno));
    std::_Exit(99);
}

std::string launcherRank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
        if (const char* text = std::getenv(name)) {
            return text;
        }
    }
    return "0";
}

/// Becomes the program; returns only by failing.
void run(const char* library, const std::string& folder, char** program) {
    const std::string path = folder + "/" + launcherRank() + "." + std::to_string(::getpid());
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ::posix_fallocate(fd, 0, kInitialFileBytes) != 0) {
        fail(path);
    }
    void* base = ::mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        fail(path);
    }
    auto* header = new (base) MappingHeader{};
    header->magic = kMappingMagic;
    header->formatVersion = kFormatVersion;
    header->headerBytes = sizeof(MappingHeader);
    header->worldRank = -1;
    header->threshold = kNoThreshold.value();
    header->fileBytes = kInitialFileBytes;
    const char* before = std::getenv("LD_PRELOAD");
    const std::string preload =
        before == nullptr || *before == '\0' ? std::string(library) : std::string(library) + ":" + before;
    ::setenv(kMapVariable, path.c_str(), 1);
    ::setenv("LD_PRELOAD", preload.c_str(), 1);
    ::execvp(program[0], program);
    fail(program[0]);
}

/// Says how many events a recording holds and what is wrong; false when something is.
bool read(const char* path) {
    testing::MappingFile file;
    std::string wrong = testing::readMappingFile(path, file);
    if (!wrong.empty()) {
        std::printf("%s: %s\n", path, wrong.c_str());
        return false;
    }
    RankReader reader;
    wrong = reader.update(file.image);
    if (wrong.empty() && file.off != 0) {
        wrong = std::string("the recording was given up: ") + std::strerror(file.off);
    }
    if (wrong.empty() && reader.events().size() != file.events) {
        wrong = std::to_string(file.events) + " events were counted";
    }
    std::printf("%zu%s%s\n", reader.events().size(), wrong.empty() ? "" : " ", wrong.c_str());
    return wrong.empty();
}

} // namespace

int main(int argc, char** argv) {
    if (argc >= 3 && std::strcmp(argv[1], "--read") == 0) {
        bool good = true;
        for (int i = 2; i < argc; ++i) {
            good = read(argv[i]) && good;
        }
        return good ? 0 : 1;
    }
    if (argc >= 6 && std::strcmp(argv[1], "--library") == 0 && std::strcmp(argv[3], "--folder") == 0) {
        run(argv[2], argv[4], argv + 5);
    }
    std::fprintf(stderr, "usage: run_recorded --library PATH --folder FOLDER program arguments...\n"
                         "       run_recorded --read FILE...\n");
    return 99;
}
