#include "agent_mpi.h"

#include "agent_elf.h"

#include <algorithm>
#include <cstdlib>
#include <elf.h>
#include <link.h>
#include <vector>

namespace stopline::agent {
namespace {

/// The version behind a name such as "libmpi.so.40"; empty when there is none.
std::string versionOf(const std::string& name) {
    const std::size_t at = name.find(".so.");
    return at == std::string::npos ? std::string() : name.substr(at + 4);
}

/// MPI by the name of a library; nothing for any other library.
std::optional<LinkedMpi> mpiOfLibrary(const std::string& name) {
    if (!name.starts_with("libmpi") && !name.starts_with("libpmpi")) {
        return std::nullopt;
    }
    const std::string version = versionOf(name);
    // Open MPI 3 to 5 have libmpi.so.40; MPICH has libmpich.so.12 in Debian, elsewhere, as those that keep
    // its ABI, libmpi.so.12; their Fortran and C++ libraries have the same versions.
    if (name.starts_with("libmpich") || (version == "12" && !name.starts_with("libmpi_abi"))) {
        return LinkedMpi{"mpich", name, false};
    }
    if (version == "40" && (name.starts_with("libmpi.so") || name.starts_with("libmpi_"))) {
        return LinkedMpi{"openmpi", name, false};
    }
    if (name.starts_with("libmpi.so") || name.starts_with("libmpi_") || name.starts_with("libmpifort")) {
        return LinkedMpi{{}, name, false};
    }
    return std::nullopt; // libmpirun_helper.so and the like
}

std::vector<ElfW(Phdr)> segmentsOf(const FileBytes& file, const ElfW(Ehdr) & header) {
    std::vector<ElfW(Phdr)> segments;
    for (unsigned i = 0; i < header.e_phnum && i < 256; ++i) {
        ElfW(Phdr) segment{};
        if (!file.read(header.e_phoff + std::uint64_t{i} * sizeof segment, segment)) {
            return {};
        }
        segments.push_back(segment);
    }
    return segments;
}

/// The names of the libraries that a binary needs.
std::vector<std::string> neededLibraries(const FileBytes& file, const ElfW(Ehdr) & header) {
    const std::vector<ElfW(Phdr)> segments = segmentsOf(file, header);
    std::vector<std::uint64_t> names;
    std::uint64_t strings = 0;
    for (const ElfW(Phdr) & dynamic : segments) {
        for (std::uint64_t at = 0;
             dynamic.p_type == PT_DYNAMIC && at + sizeof(ElfW(Dyn)) <= dynamic.p_filesz && at < 65536;
             at += sizeof(ElfW(Dyn))) {
            ElfW(Dyn) entry{};
            if (!file.read(dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) {
                break;
            }
            if (entry.d_tag == DT_NEEDED) {
                names.push_back(entry.d_un.d_val);
            } else if (entry.d_tag == DT_STRTAB) {
                strings = entry.d_un.d_ptr;
            }
        }
    }
    std::vector<std::string> result;
    for (const ElfW(Phdr) & load : segments) {
        if (load.p_type == PT_LOAD && strings >= load.p_vaddr && strings < load.p_vaddr + load.p_filesz) {
            for (const std::uint64_t name : names) {
                result.push_back(file.text(strings - load.p_vaddr + load.p_offset + name));
            }
            break;
        }
    }
    return result;
}

/// Whether a table of symbols has MPI_Init, in C or Fortran, as a function of the binary's own.
bool definesInit(const FileBytes& file, const ElfW(Shdr) & table, const ElfW(Shdr) & strings) {
    constexpr std::size_t kAtOnce = 4096;
    std::vector<ElfW(Sym)> symbols(kAtOnce);
    for (std::uint64_t at = 0; at < table.sh_size; at += kAtOnce * sizeof(ElfW(Sym))) {
        const std::size_t wanted = std::min<std::uint64_t>(kAtOnce * sizeof(ElfW(Sym)), table.sh_size - at);
        const std::size_t count = file.read(table.sh_offset + at, symbols.data(), wanted) / sizeof(ElfW(Sym));
        for (std::size_t i = 0; i < count; ++i) {
            const ElfW(Sym)& symbol = symbols[i];
            if (symbol.st_shndx == SHN_UNDEF || (symbol.st_info & 0xfU) != STT_FUNC) {
                continue;
            }
            // Most are told apart by their first letters, which are read with one call.
            std::uint64_t begin = 0;
            if (!file.read(strings.sh_offset + symbol.st_name, begin) ||
                std::memcmp(&begin, "PMPI_Ini", 8) != 0) {
                continue;
            }
            if (file.text(strings.sh_offset + symbol.st_name) == "PMPI_Init") {
                return true;
            }
        }
        if (count * sizeof(ElfW(Sym)) < wanted) {
            break;
        }
    }
    return false;
}

bool hasMpiInside(const FileBytes& file, const ElfW(Ehdr) & header) {
    if (header.e_shentsize != sizeof(ElfW(Shdr))) {
        return false;
    }
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        ElfW(Shdr) table{};
        ElfW(Shdr) strings{};
        if (!file.read(header.e_shoff + std::uint64_t{i} * sizeof table, table)) {
            return false;
        }
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && table.sh_link < header.e_shnum &&
            file.read(header.e_shoff + std::uint64_t{table.sh_link} * sizeof strings, strings) &&
            definesInit(file, table, strings)) {
            return true;
        }
    }
    return false;
}

bool isSet(const char* name) {
    return std::getenv(name) != nullptr;
}

std::string displayName(const std::string& dialect) {
    return dialect == "mpich" ? "MPICH" : "Open MPI";
}

} // namespace

LinkedMpi findMpi(const FileBytes& file) {
    ElfW(Ehdr) header{};
    if (!file.read(0, header) || header.e_phentsize != sizeof(ElfW(Phdr))) {
        return {};
    }
    for (const std::string& name : neededLibraries(file, header)) {
        if (const std::optional<LinkedMpi> mpi = mpiOfLibrary(name)) {
            return *mpi;
        }
    }
    LinkedMpi none;
    none.isStatic = hasMpiInside(file, header);
    return none;
}

std::string recordedMpi(const LinkedMpi& mpi) {
    if (!mpi.dialect.empty()) {
        return mpi.dialect;
    }
    if (isSet("OMPI_COMM_WORLD_RANK")) {
        return "openmpi";
    }
    return isSet("PMI_RANK") ? "mpich" : "openmpi";
}

std::optional<FaultText> mpiNotice(const LinkedMpi& mpi, const std::string& program) {
    if (mpi.isStatic) {
        return FaultText{
            "mpi-static",
            "MPI is linked into \"" + program +
                "\" statically: its MPI calls cannot be recorded, so there is no diagram, no stopline and no "
                "stop at the start of main. Pause stops it where it is.",
            "Link it with the shared MPI library (no -static)."};
    }
    if (mpi.dialect.empty() && !mpi.library.empty()) {
        return FaultText{
            "mpi-unknown",
            "\"" + program + "\" is linked with " + mpi.library +
                ", an MPI that Stopline has no recording library for: its MPI calls are not recorded, so "
                "there is no diagram and no stopline; breakpoints, steps and pause work.",
            "Stopline records Open MPI (libmpi.so.40) and MPICH (libmpich.so.12 or libmpi.so.12)."};
    }
    const bool byOpenMpi = isSet("OMPI_COMM_WORLD_RANK");
    const bool byHydra = isSet("HYDI_CONTROL_FD");
    if ((mpi.dialect == "mpich" && byOpenMpi) || (mpi.dialect == "openmpi" && byHydra && !byOpenMpi)) {
        const bool mpich = mpi.dialect == "mpich";
        return FaultText{"mpi-mismatch",
                         "\"" + program + "\" is linked with " + displayName(mpi.dialect) + " (" +
                             mpi.library + "), but " + (mpich ? "Open MPI" : "MPICH") +
                             "'s launcher starts it: each process will be a job of one rank.",
                         mpich ? "Start it with MPICH's launcher (Debian: --launcher mpirun.mpich)."
                               : "Start it with Open MPI's launcher (Debian: --launcher mpirun.openmpi)."};
    }
    // Up to version 4 Open MPI's launcher tells a rank its job this way.
    if (mpi.dialect == "openmpi" && byOpenMpi && !isSet("OMPI_MCA_ess_base_jobid")) {
        return FaultText{
            "mpi-newer",
            "Open MPI 5 or later starts this job. Stopline's recording library is made for Open MPI 4: calls "
            "that it does not have are not recorded.",
            "These are persistent collectives (MPI_Bcast_init ...), messages in parts (MPI_Psend_init ...) "
            "and sessions; a program that uses none of them needs nothing."};
    }
    return std::nullopt;
}

} // namespace stopline::agent
