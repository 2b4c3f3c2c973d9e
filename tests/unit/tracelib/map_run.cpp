// Runs one rank with the preloaded library and without a debugger: plays the agent as far as the mapping
// goes, and writes what was recorded as text.
//
// usage: mpirun -n N map_run [options] program arguments...
//   --dump PREFIX        events to PREFIX.<rank>
//   --gate G             constructor, init or initend; opened as soon as the rank is there
//   --threshold RANK:N   hold at event N of this rank (repeatable); released when all with a threshold are
//   there
//   --release-ms N       release this long after the arrival
//   --facts-only         no events in the dump, only how many and how large
//   --no-growth          the file behind the mapping cannot grow
//   --library PATH       default: the one for Open MPI
//   --values PREFIX      what the rank takes from outside to PREFIX.<rank>
//   --given PREFIX       and this, of another run, is given to it
//   --also BITS          AlsoNoted
#include "event_text.h"

#include "../../../tracelib/codec.h"
#include "../../../tracelib/reader.h"
#include "../../../tracelib/values.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace stopline;
using namespace stopline::trace;

namespace {

struct Options {
    std::string dump;
    std::string library = STOPLINE_PRELOAD;
    std::string values;
    std::string given;
    unsigned also = 0;
    int valuesFd = -1;
    Gate gate = Gate::None;
    std::uint64_t threshold = kNoThreshold.value();
    int releaseMs = 0;
    bool noGrowth = false;
    bool factsOnly = false;
};

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "map_run: %s: %s\n", what, std::strerror(errno));
    std::_Exit(99);
}

int worldRank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
        if (const char* text = std::getenv(name)) {
            return std::atoi(text);
        }
    }
    return 0;
}

int parse(int argc, char** argv, Options& options) {
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; ++at) {
        const std::string option = argv[at];
        if (option == "--no-growth") {
            options.noGrowth = true;
            continue;
        }
        if (option == "--facts-only") {
            options.factsOnly = true;
            continue;
        }
        if (++at == argc) {
            break;
        }
        const std::string value = argv[at];
        if (option == "--dump") {
            options.dump = value;
        } else if (option == "--library") {
            options.library = value;
        } else if (option == "--values") {
            options.values = value;
        } else if (option == "--given") {
            options.given = value;
        } else if (option == "--also") {
            options.also = static_cast<unsigned>(std::stoul(value));
        } else if (option == "--gate") {
            options.gate = value == "constructor" ? Gate::Constructor
                           : value == "init"      ? Gate::Init
                                                  : Gate::InitEnd;
        } else if (option == "--threshold") {
            const std::size_t colon = value.find(':');
            if (std::stoi(value.substr(0, colon)) == worldRank()) {
                options.threshold = std::stoull(value.substr(colon + 1));
            }
        } else if (option == "--release-ms") {
            options.releaseMs = std::stoi(value);
        } else {
            std::fprintf(stderr, "map_run: unknown option %s\n", option.c_str());
            std::_Exit(99);
        }
    }
    return at;
}

/// One copy of the mapping, as the agent makes it: sequence, copy, sequence.
bool copyImage(const std::byte* base, RankImage& image) {
    const auto* header = reinterpret_cast<const MappingHeader*>(base);
    const std::uint32_t before = header->stagingSequence.load(std::memory_order_acquire);
    const auto copy = [base](std::vector<std::byte>& to, std::size_t offset, std::size_t bytes) {
        to.assign(base + offset, base + offset + bytes);
    };
    copy(image.header, 0, sizeof(MappingHeader));
    copy(image.dictionary, kDictionaryOffset, header->dictionaryLength.load(std::memory_order_acquire));
    copy(image.comms, kCommOffset, header->commLength.load(std::memory_order_acquire));
    copy(image.stops, kStopOffset,
         std::min<std::size_t>(header->stopCount.load(std::memory_order_acquire), kMaxStops) *
             sizeof(MappedStop));
    copy(image.blocks, kBlockOffset, header->blockLength.load(std::memory_order_acquire));
    copy(image.staging, kStagingOffset + (before & 1) * kStagingBytes, kStagingBytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    return header->stagingSequence.load(std::memory_order_acquire) == before;
}

void dump(const std::byte* base, const std::string& path, int exitCode, bool factsOnly) {
    RankImage image;
    while (!copyImage(base, image)) {
    }
    RankReader reader;
    const std::string error = reader.update(image);
    // Spawned programs that write at the same time have the same name: the file is always that of one of them.
    const std::string part = path + ".part" + std::to_string(::getpid());
    std::FILE* out = std::fopen(part.c_str(), "w");
    if (out == nullptr) {
        fail("fopen");
    }
    const auto* header = reinterpret_cast<const MappingHeader*>(base);
    std::fprintf(
        out,
        "exit %d\nerror %s\nstate %u\nworld %d/%d\ncount %llu\ninside %u\npoll %u/%llu\noff %u\nlinked %u\n",
        exitCode, error.c_str(), header->state.load(), header->worldRank.load(), header->worldSize.load(),
        static_cast<unsigned long long>(header->eventCount.load()), header->insideCall.load(),
        header->pollOpen.load(), static_cast<unsigned long long>(header->pollFailures.load()),
        header->recordingOff.load(), header->mpiLinked.load());
    std::fprintf(out, "blocks %llu\nstaged %u\ndictionary %llu\n",
                 static_cast<unsigned long long>(header->blockLength.load()),
                 header->stagedIds.load() + header->stagedTimes.load(),
                 static_cast<unsigned long long>(header->dictionaryLength.load()));
    for (std::size_t i = 0; i < reader.comms().size(); ++i) {
        const CommInfo& c = reader.comms()[i];
        std::fprintf(out, "comm %zu %016llx kind=%d parent=%d ordinal=%u %s%s\n", i,
                     static_cast<unsigned long long>(c.id), static_cast<int>(c.kind),
                     static_cast<int>(c.parent.value()), c.ordinal, listText(c.members).c_str(),
                     c.remote.empty() ? "" : listText(c.remote).c_str());
    }
    for (const StopRecord& stop : reader.stops()) {
        std::fprintf(out, "stop %llu %lld\n", static_cast<unsigned long long>(stop.event.value()),
                     static_cast<long long>(stop.end - stop.begin));
    }
    std::uint32_t created = 0;
    std::uint32_t matched = 0;
    for (std::size_t i = 0; i < (factsOnly ? 0 : reader.events().size()); ++i) {
        const DecodedEvent& event = reader.events()[i];
        const EventDetails& d = reader.details(event.details);
        const CallClass c = functionClass(d.function);
        created += d.kind == EventKind::Begin && createsRequest(c) ? 1 : 0;
        matched +=
            d.kind == EventKind::End && (c == CallClass::Mprobe || c == CallClass::Improbe) && d.flag ? 1 : 0;
        std::fprintf(out, "%s\n",
                     eventText(reader.firstEvent().value() + i, d, event, created, matched).c_str());
        std::fprintf(out, "  at %llx time %lld\n", static_cast<unsigned long long>(d.site.value()),
                     static_cast<long long>(event.execution));
    }
    if (std::fclose(out) != 0 || std::rename(part.c_str(), path.c_str()) != 0) {
        fail("rename");
    }
}

std::string fileOf(const std::string& prefix) {
    return prefix + "." + std::to_string(worldRank());
}

/// The log that the rank is to write, and the one that it is to follow.
void openLogs(MappingHeader& header, Options& options) {
    header.alsoNoted = options.also;
    if (options.values.empty()) {
        return;
    }
    options.valuesFd = memfd_create("stopline-test-values", MFD_CLOEXEC);
    if (options.valuesFd < 0 || posix_fallocate(options.valuesFd, 0, kInitialValueBytes) != 0) {
        fail("values");
    }
    header.valueDescriptor = options.valuesFd;
    header.valuesWanted = 1;
    if (!options.given.empty()) {
        const int given = open(fileOf(options.given).c_str(), O_RDONLY | O_CLOEXEC);
        const off_t bytes = given < 0 ? -1 : lseek(given, 0, SEEK_END);
        if (bytes < 0) {
            fail(options.given.c_str());
        }
        header.givenDescriptor = given;
        header.givenBytes = static_cast<std::uint64_t>(bytes);
    }
}

void keepValues(const MappingHeader& header, const Options& options) {
    std::string bytes(header.valueLength.load(std::memory_order_acquire), '\0');
    std::FILE* out = std::fopen(fileOf(options.values).c_str(), "w");
    if (out == nullptr || pread(options.valuesFd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
        std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size() || std::fclose(out) != 0) {
        fail("values");
    }
    std::fprintf(stdout, "values %d differ %llu sent %llu\n", worldRank(), static_cast<unsigned long long>(header.sentDiffers.load()),
                 static_cast<unsigned long long>(header.sentCount.load() & kSentCount));
    std::fflush(stdout);
}

/// What the agent and the window do for a rank, as far as these tests go.
void serve(MappingHeader& header, const Options& options, pid_t child) {
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) {
            const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (!options.dump.empty()) {
                dump(reinterpret_cast<const std::byte*>(&header),
                     options.dump + "." + std::to_string(worldRank()), code, options.factsOnly);
            }
            if (options.valuesFd >= 0) {
                keepValues(header, options);
            }
            std::_Exit(code);
        }
        const auto state = static_cast<RankState>(header.state.load(std::memory_order_acquire));
        if (state == RankState::AtGate && header.gateOpen.load() == 0) {
            if (header.stopFunction.load() == 0 || header.libraryBase.load() == 0) {
                std::fprintf(stderr, "map_run: at the gate without a stop function\n");
            }
            std::printf("gate %d events %llu\n", worldRank(),
                        static_cast<unsigned long long>(header.eventCount.load()));
            std::fflush(stdout);
            header.gateOpen.store(1, std::memory_order_release);
        } else if (state == RankState::Arrived && header.release.load() == 0) {
            std::printf("arrived %d events %llu inside %u hold %u\n", worldRank(),
                        static_cast<unsigned long long>(header.eventCount.load()), header.insideCall.load(),
                        header.inHold.load());
            std::fflush(stdout);
            std::this_thread::sleep_for(std::chrono::milliseconds(options.releaseMs));
            header.release.store(1, std::memory_order_release);
            while (static_cast<RankState>(header.state.load()) == RankState::Arrived) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    const int program = parse(argc, argv, options);
    if (program >= argc) {
        std::fprintf(stderr, "map_run: no program\n");
        return 99;
    }
    const int fd = memfd_create("stopline-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || posix_fallocate(fd, 0, kInitialFileBytes) != 0) {
        fail("memfd");
    }
    if (options.noGrowth && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0) {
        fail("seal");
    }
    void* base = mmap(nullptr, mappedBytes(kDefaultBlockBytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        fail("mmap");
    }
    auto* header = static_cast<MappingHeader*>(base);
    header->magic = kMappingMagic;
    header->formatVersion = kFormatVersion;
    header->headerBytes = sizeof(MappingHeader);
    header->worldRank = -1;
    header->gate = static_cast<std::uint32_t>(options.gate);
    header->threshold = options.threshold;
    header->fileBytes = kInitialFileBytes;
    openLogs(*header, options);
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            std::_Exit(99);
        }
        setenv(kMapVariable, path.c_str(), 1);
        setenv("LD_PRELOAD", options.library.c_str(), 1);
        execvp(argv[program], argv + program);
        fail(argv[program]);
    }
    serve(*header, options, child);
}
