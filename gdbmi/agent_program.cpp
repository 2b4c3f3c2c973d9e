#include "agent_program.h"

#include "agent_elf.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// The first of the variables that holds a whole number.
int firstNumber(std::initializer_list<const char*> names, int fallback) {
    for (const char* name : names) {
        if (const char* text = std::getenv(name)) {
            int value = 0;
            const char* end = text + std::strlen(text);
            if (const auto result = std::from_chars(text, end, value);
                result.ec == std::errc{} && result.ptr == end) {
                return value;
            }
        }
    }
    return fallback;
}

bool isExecutableFile(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::string machineName(unsigned machine) {
    switch (machine) {
    case EM_386:
        return "32-bit x86";
    case EM_X86_64:
        return "x86-64";
    case EM_ARM:
        return "32-bit ARM";
    case EM_AARCH64:
        return "AArch64";
    case EM_PPC64:
        return "PowerPC 64";
    case EM_RISCV:
        return "RISC-V";
    case EM_S390:
        return "S/390";
    default:
        return "machine type " + std::to_string(machine);
    }
}

} // namespace

LauncherPlace launcherPlace() {
    LauncherPlace place;
    place.rank = firstNumber({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, -1);
    place.size = firstNumber({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, 0);
    place.local = firstNumber({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, -1);
    return place;
}

std::string findExecutable(const std::string& name) {
    if (name.empty()) {
        return {};
    }
    if (name.find('/') != std::string::npos) {
        return isExecutableFile(name) ? name : std::string();
    }
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
    while (true) {
        const std::size_t colon = rest.find(':');
        std::string candidate(rest.substr(0, colon));
        candidate = candidate.empty() ? "./" + name : candidate + "/" + name;
        if (isExecutableFile(candidate)) {
            return candidate;
        }
        if (colon == std::string_view::npos) {
            return {};
        }
        rest.remove_prefix(colon + 1);
    }
}

std::optional<FaultText> checkProgram(const std::string& name, ProgramInfo& info) {
    info = {};
    info.path = findExecutable(name);
    if (info.path.empty()) {
        struct stat found {};
        if (name.find('/') == std::string::npos || ::stat(name.c_str(), &found) != 0) {
            const bool inPath = name.find('/') == std::string::npos;
            return FaultText{
                "program-missing",
                "The program \"" + name + "\" does not exist" + (inPath ? " in any directory of PATH." : "."),
                inPath ? "Give its path, for example ./" + name + ", if it is in the working directory."
                       : "Check the path and the working directory."};
        }
        if (S_ISDIR(found.st_mode)) {
            return FaultText{"program-not-executable", "\"" + name + "\" is a directory, not a program.",
                             "Give the path of the program in it."};
        }
        return FaultText{"program-not-executable", "\"" + name + "\" is not executable.",
                         "Make it executable (chmod +x), or give the program that runs it."};
    }
    const FileBytes file(info.path);
    unsigned char ident[EI_NIDENT] = {};
    if (!file.isOpen() || !file.read(0, ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
        // Unreadable but executable, or a script: whether it runs is for exec to say.
        return std::nullopt;
    }
    info.elf = true;
    ElfW(Half) machine = 0;
    ElfW(Ehdr) own{};
    const FileBytes self("/proc/self/exe");
    if (!file.read(offsetof(ElfW(Ehdr), e_machine), machine) || !self.isOpen() || !self.read(0, own)) {
        return std::nullopt;
    }
    if (ident[EI_CLASS] != own.e_ident[EI_CLASS] || ident[EI_DATA] != own.e_ident[EI_DATA] ||
        machine != own.e_machine) {
        return FaultText{"program-architecture",
                         "\"" + info.path + "\" is built for " + machineName(machine) + ", this host is " +
                             machineName(own.e_machine) + ".",
                         "Build it for this machine."};
    }
    info.mpi = findMpi(file);
    return std::nullopt;
}

} // namespace stopline::agent
