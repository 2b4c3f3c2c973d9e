// Size of recordings, and what other tolerances make of the same events.
//
// usage: bench_recording_size FILE...           sizes of the mappings as they are
//        bench_recording_size --again FILE...   also records their events again with every tolerance
//
// Prints one line of words for each rank: what, then name=value. Again: times are those that the file holds,
// so that an error is the difference to them; for a truth as good as can be, record with a tolerance of 0.
#include "../../../tracelib/recorder.h"
#include "../../suite/mapping_file.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>
#include <zlib.h>

using namespace stopline;
using namespace stopline::trace;

namespace {

constexpr std::size_t kParts = 10; ///< of the run, each with an error of its own

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bench_recording_size: %s\n", what);
    std::exit(1);
}

/// A mapping in memory with a recorder on it.
class Memory {
  public:
    explicit Memory(TimeNs tolerance)
        : m_bytes(static_cast<std::byte*>(::mmap(nullptr, mappedBytes(kDefaultBlockBytes), PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
          m_memory(static_cast<RecorderMemory*>(std::calloc(1, sizeof(RecorderMemory)))) {
        if (m_bytes == MAP_FAILED || m_memory == nullptr) {
            fail("no memory");
        }
        auto& h = *new (m_bytes) MappingHeader();
        h.fileBytes = mappedBytes(kDefaultBlockBytes);
        recorder.open(
            m_bytes, m_memory, [](void*, std::uint64_t) { return 0; }, nullptr, tolerance);
    }
    ~Memory() {
        ::munmap(m_bytes, mappedBytes(kDefaultBlockBytes));
        std::free(m_memory);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    [[nodiscard]] std::uint64_t blockBytes() const {
        return reinterpret_cast<const MappingHeader*>(m_bytes)->blockLength;
    }

    Recorder recorder;

  private:
    std::byte* m_bytes;
    RecorderMemory* m_memory;
};

struct Errors {
    double sum = 0;   ///< of their sizes, ns
    double drift = 0; ///< of the signed ones, ns
    TimeNs largest = 0;
    std::uint64_t count = 0;
    std::array<double, kParts> partSum{};
    std::array<std::uint64_t, kParts> partCount{};
};

void again(const RankReader& reader, const std::vector<DetailsView>& views, const char* name,
           TimeNs tolerance, bool withTime) {
    Memory memory(tolerance);
    Errors errors;
    const auto& events = reader.events();
    for (std::size_t i = 0; i < events.size(); ++i) {
        const DecodedEvent& event = events[i];
        const TimeNs time = withTime ? event.execution : 0;
        memory.recorder.append(views[event.details.value()], time, event.pollFailures);
        const TimeNs error = memory.recorder.reconstructedTime() - time;
        const TimeNs size = error < 0 ? -error : error;
        const std::size_t part = i * kParts / events.size();
        errors.sum += static_cast<double>(size);
        errors.drift += static_cast<double>(error);
        errors.largest = std::max(errors.largest, size);
        errors.partSum[part] += static_cast<double>(size);
        ++errors.partCount[part];
    }
    memory.recorder.flush();
    if (memory.recorder.isOff()) {
        fail("the recording was given up");
    }
    const auto count = static_cast<double>(events.size());
    std::printf("again tolerance=%s calls=%zu blocks=%llu mean=%.1f signed=%.1f largest=%lld parts=", name,
                events.size() / 2, static_cast<unsigned long long>(memory.blockBytes()), errors.sum / count,
                errors.drift / count, static_cast<long long>(errors.largest));
    for (std::size_t part = 0; part < kParts; ++part) {
        std::printf("%s%.1f", part == 0 ? "" : ",",
                    errors.partSum[part] /
                        static_cast<double>(std::max<std::uint64_t>(errors.partCount[part], 1)));
    }
    std::printf("\n");
}

/// What is not in a block yet, as a file of it would hold it.
std::size_t deflatedStaging(const testing::MappingFile& file) {
    const std::vector<std::byte>& staging = file.image.staging;
    std::vector<std::byte> bytes(staging.begin(), staging.begin() + file.stagedIds);
    bytes.insert(bytes.end(), staging.end() - file.stagedTimes, staging.end());
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    std::vector<Bytef> packed(size);
    if (compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uLong>(bytes.size()), 6) != Z_OK) {
        fail("zlib");
    }
    return size;
}

void look(const char* path, bool recordAgain) {
    testing::MappingFile file;
    std::string wrong = testing::readMappingFile(path, file);
    RankReader reader;
    if (wrong.empty()) {
        wrong = reader.update(file.image);
    }
    if (wrong.empty() && (file.off != 0 || reader.events().size() != file.events || file.events == 0)) {
        wrong = "it is not whole";
    }
    if (!wrong.empty()) {
        fail((std::string(path) + ": " + wrong).c_str());
    }
    std::printf("file calls=%llu blocks=%llu staged=%llu dictionary=%llu entries=%u comms=%llu span=%lld\n",
                static_cast<unsigned long long>(file.events / 2),
                static_cast<unsigned long long>(file.blockBytes),
                static_cast<unsigned long long>(deflatedStaging(file)),
                static_cast<unsigned long long>(file.dictionaryBytes), reader.detailsCount(),
                static_cast<unsigned long long>(file.commBytes),
                static_cast<long long>(reader.events().back().execution));
    if (!recordAgain) {
        return;
    }
    std::vector<DetailsView> views;
    for (std::uint32_t i = 0; i < reader.detailsCount(); ++i) {
        views.push_back(viewOf(reader.details(DetailsId{i})));
    }
    again(reader, views, "1000000", 1'000'000, true);
    again(reader, views, "100000", 100'000, true);
    again(reader, views, "10000", 10'000, true);
    again(reader, views, "none", 1'000'000, false);
}

} // namespace

int main(int argc, char** argv) {
    const bool recordAgain = argc > 1 && std::strcmp(argv[1], "--again") == 0;
    if (argc < (recordAgain ? 3 : 2)) {
        std::fprintf(stderr, "usage: bench_recording_size [--again] FILE...\n");
        return 2;
    }
    for (int i = recordAgain ? 2 : 1; i < argc; ++i) {
        look(argv[i], recordAgain);
    }
    return 0;
}
