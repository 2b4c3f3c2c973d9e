#include "debug_file.h"

#include "dwarf_lines.h"
#include "function_names.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace stopline::replay {

FileDescriptor::~FileDescriptor() {
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

/// What makes two files the same one, unchanged.
struct DebugFile::Identity {
    dev_t device;
    ino_t inode;
    off_t size;
    std::int64_t modified; ///< nanoseconds
    friend auto operator<=>(const Identity&, const Identity&) = default;

    static std::optional<Identity> from(const struct stat& status) {
        if (!S_ISREG(status.st_mode)) {
            return std::nullopt;
        }
        return Identity{status.st_dev, status.st_ino, status.st_size,
                        std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
    }
};

namespace {

struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};
struct DwarfEnd {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// An open ELF file. Member order matters: the handle is closed before the descriptor.
struct ElfFile {
    FileDescriptor fd;
    std::unique_ptr<Elf, ElfEnd> elf;

    explicit ElfFile(FileDescriptor descriptor) : fd(std::move(descriptor)) {
        static const bool ready = elf_version(EV_CURRENT) != EV_NONE;
        if (ready && fd.valid()) {
            elf.reset(elf_begin(fd.get(), ELF_C_READ, nullptr));
            if (elf != nullptr && elf_kind(elf.get()) != ELF_K_ELF) {
                elf.reset();
            }
        }
    }
};

FileDescriptor openFile(const std::string& path) {
    return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::string buildIdOf(Elf* elf) {
    const void* id = nullptr;
    const ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    return size > 0 ? std::string(static_cast<const char*>(id), static_cast<std::size_t>(size))
                    : std::string();
}

std::string hexOf(const std::string& id) {
    std::string hex;
    for (const unsigned char byte : id) {
        constexpr char kDigits[] = "0123456789abcdef";
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

bool hasSection(Elf* elf, std::string_view wanted) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return false;
    }
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char* name =
            gelf_getshdr(section, &header) == nullptr ? nullptr : elf_strptr(elf, names, header.sh_name);
        if (name != nullptr && wanted == name) {
            return true;
        }
    }
    return false;
}

bool hasLines(Elf* elf) {
    return hasSection(elf, ".debug_info") || hasSection(elf, ".zdebug_info");
}

/// Where debug information that was split off may be: by build id, and by the name that the file itself
/// gives.
std::vector<std::string> separatePlaces(const std::string& path, Elf* elf) {
    static const std::string root = "/usr/lib/debug";
    std::vector<std::string> places;
    const std::string id = buildIdOf(elf);
    if (id.size() > 1) {
        const std::string hex = hexOf(id);
        places.push_back(root + "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug");
    }
    GElf_Word checksum = 0;
    if (const char* link = dwelf_elf_gnu_debuglink(elf, &checksum); link != nullptr) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
        places.push_back(folder + "/" + link);
        places.push_back(folder + "/.debug/" + link);
        places.push_back(root + folder + "/" + link);
    }
    return places;
}

struct Symbol {
    std::uint64_t begin;
    std::uint64_t size;
    std::string name;
};

/// Functions of the symbol table, by address; of the dynamic one if there is no other.
std::vector<Symbol> functionsOf(Elf* elf) {
    std::vector<Symbol> result;
    for (const GElf_Word type : {SHT_SYMTAB, SHT_DYNSYM}) {
        for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
             section = elf_nextscn(elf, section)) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type ||
                header.sh_entsize == 0) {
                continue;
            }
            Elf_Data* data = elf_getdata(section, nullptr);
            const std::size_t count = data == nullptr ? 0 : data->d_size / header.sh_entsize;
            for (std::size_t i = 0; i < count && i <= std::size_t{INT32_MAX}; ++i) {
                GElf_Sym symbol;
                if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr ||
                    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) {
                    continue;
                }
                if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name); name != nullptr) {
                    result.push_back({symbol.st_value, symbol.st_size, name});
                }
            }
        }
        if (!result.empty()) {
            break;
        }
    }
    std::sort(result.begin(), result.end(),
              [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
    return result;
}

struct Segment {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t address;
};

std::vector<Segment> segmentsOf(Elf* elf) {
    std::vector<Segment> result;
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) {
        return result;
    }
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD) {
            result.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
        }
    }
    return result;
}

} // namespace

/// Member order matters: what is below uses what is above.
struct DebugFile::Contents {
    ElfFile file;
    std::unique_ptr<ElfFile>
        separate; ///< holds the debug information, and mostly the symbols, when not in `file`
    std::unique_ptr<Dwarf, DwarfEnd> dwarf;
    std::optional<DwarfLines> lines;
    std::vector<Segment> segments;
    std::vector<Symbol> symbols;

    Contents(const std::string& path, FileDescriptor fd) : file(std::move(fd)) {
        Elf* elf = file.elf.get();
        if (elf == nullptr) {
            return;
        }
        segments = segmentsOf(elf);
        Elf* source = elf;
        if (!hasLines(elf)) {
            findSeparate(path, elf);
            if (separate != nullptr) {
                source = separate->elf.get();
            }
        }
        if (hasLines(source)) {
            dwarf.reset(dwarf_begin_elf(source, DWARF_C_READ, nullptr));
            if (dwarf != nullptr) {
                lines.emplace(dwarf.get());
            }
        }
        symbols = functionsOf(source);
        if (symbols.empty() && source != elf) {
            symbols = functionsOf(elf);
        }
    }

    void findSeparate(const std::string& path, Elf* elf) {
        const std::string id = buildIdOf(elf);
        for (const std::string& place : separatePlaces(path, elf)) {
            auto candidate = std::make_unique<ElfFile>(openFile(place));
            // Debug information of another build would give lines that are wrong but look right.
            if (candidate->elf != nullptr && hasLines(candidate->elf.get()) &&
                buildIdOf(candidate->elf.get()) == id) {
                separate = std::move(candidate);
                return;
            }
        }
    }

    [[nodiscard]] std::optional<std::uint64_t> addressOf(std::uint64_t offset) const {
        for (const Segment& segment : segments) {
            if (offset >= segment.offset && offset - segment.offset < segment.size) {
                return segment.address + (offset - segment.offset);
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string symbolAt(std::uint64_t address) const {
        auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                                     [](std::uint64_t value, const Symbol& s) { return value < s.begin; });
        if (next == symbols.begin()) {
            return {};
        }
        --next;
        const bool covered = next->size == 0 || address - next->begin < next->size;
        return covered ? readableFunctionName(next->name) : std::string();
    }
};

std::string buildIdOfFile(const std::string& path) {
    const ElfFile file(openFile(path));
    return file.elf == nullptr ? std::string() : hexOf(buildIdOf(file.elf.get()));
}

DebugFile::DebugFile(std::string path, FileDescriptor fd) : m_path(std::move(path)), m_fd(std::move(fd)) {}

DebugFile::~DebugFile() = default;

std::shared_ptr<DebugFile> DebugFile::atPath(const std::string& path) {
    static std::mutex lock;
    static std::map<Identity, std::weak_ptr<DebugFile>> known;

    struct stat status {};
    const auto identity = ::stat(path.c_str(), &status) == 0 ? Identity::from(status) : std::nullopt;
    if (!identity) {
        return nullptr;
    }
    const std::lock_guard guard(lock);
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<DebugFile> file = known[*identity].lock();
    if (file == nullptr) {
        file.reset(new DebugFile(path, FileDescriptor()));
        file->m_identity = std::make_unique<Identity>(*identity);
        known[*identity] = file;
    }
    return file;
}

std::shared_ptr<DebugFile> DebugFile::ofDescriptor(const std::string& formerPath, FileDescriptor fd) {
    return std::shared_ptr<DebugFile>(new DebugFile(formerPath, std::move(fd)));
}

QString DebugFile::name() const {
    return QString::fromStdString(m_path.substr(m_path.rfind('/') + 1));
}

SourceLine DebugFile::at(std::uint64_t fileOffset) {
    {
        const std::shared_lock reading(m_cacheLock);
        if (const auto known = m_cache.find(fileOffset); known != m_cache.end()) {
            return known->second;
        }
    }
    SourceLine found;
    {
        const std::lock_guard opening(m_openLock);
        if (m_contents == nullptr) {
            FileDescriptor fd = m_identity == nullptr ? std::move(m_fd) : openFile(m_path);
            struct stat status {};
            // A file that has been replaced since the process was looked at is not the process's any more.
            if (m_identity != nullptr && fd.valid() &&
                (::fstat(fd.get(), &status) != 0 || Identity::from(status) != *m_identity)) {
                fd = FileDescriptor();
            }
            m_contents = std::make_unique<Contents>(m_path, std::move(fd));
        }
        if (const auto address = m_contents->addressOf(fileOffset)) {
            if (m_contents->lines) {
                found = m_contents->lines->at(*address).value_or(SourceLine());
            }
            if (found.function.isEmpty()) {
                found.function = QString::fromStdString(m_contents->symbolAt(*address));
            }
        }
    }
    const std::unique_lock writing(m_cacheLock);
    return m_cache.emplace(fileOffset, found).first->second;
}

} // namespace stopline::replay
