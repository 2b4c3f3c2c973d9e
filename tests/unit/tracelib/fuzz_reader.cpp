// libFuzzer target: -DSTOPLINE_FUZZ=ON with clang; then
//   mkdir corpus; STOPLINE_FUZZ_SEEDS=corpus fuzz_reader -runs=0; fuzz_reader -max_total_time=600 corpus
// Reads hostile recordings and builds the history of the events that they hold.
//
// Input: a byte of flags, five lengths (4 bytes each: staging, dictionary, communicators, stops, blocks),
// words for the header (64 bytes), then the parts. With the first flag the blocks are raw streams, which get
// a header with a right checksum here: otherwise hardly any would come as far as the decoder.
#include "../../../replay/timeline.h"
#include "../../../tracelib/packer.h"
#include "image.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace stopline;
using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kRawBlocks = 1;
constexpr std::uint8_t kInPieces = 2;
constexpr std::size_t kHeaderWords = 64;
constexpr std::size_t kPrefix = 1 + 5 * sizeof(std::uint32_t) + kHeaderWords;

Bytes bytesOf(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    return {bytes, bytes + size};
}

/// A header whose words that the reader uses are the input's.
Bytes header(const std::uint8_t* words) {
    Bytes bytes(sizeof(trace::MappingHeader));
    const auto put = [&bytes](std::size_t offset, const void* value, std::size_t size) {
        std::memcpy(bytes.data() + offset, value, size);
    };
    put(offsetof(trace::MappingHeader, magic), &trace::kMappingMagic, sizeof trace::kMappingMagic);
    put(offsetof(trace::MappingHeader, formatVersion), &trace::kFormatVersion, sizeof trace::kFormatVersion);
    put(offsetof(trace::MappingHeader, originNs), words, 8);
    put(offsetof(trace::MappingHeader, stagingSequence), words + 8, 4);
    put(offsetof(trace::MappingHeader, stagedIds), words + 12, 4);
    put(offsetof(trace::MappingHeader, stagedTimes), words + 16, 4);
    put(offsetof(trace::MappingHeader, stagedFirst), words + 20, 8);
    put(offsetof(trace::MappingHeader, stagedTime), words + 28, 8);
    return bytes;
}

/// Streams, each list of them behind a block's header, with checksum.
Bytes sealed(const Bytes& raw) {
    Bytes blocks;
    std::size_t at = 0;
    while (raw.size() - at >= sizeof(trace::BlockHeader)) {
        trace::BlockHeader block{};
        std::memcpy(&block, raw.data() + at, sizeof block);
        at += sizeof block;
        const std::size_t size =
            std::min<std::size_t>({std::size_t{block.tokenBytes} + block.idBytes + block.timeBytes,
                                   raw.size() - at, trace::kMaxPackedBytes});
        block.magic = trace::kBlockMagic;
        block.codec = 0;
        block.tokenBytes = std::min<std::uint32_t>(block.tokenBytes, static_cast<std::uint32_t>(size));
        block.idBytes =
            std::min<std::uint32_t>(block.idBytes, static_cast<std::uint32_t>(size) - block.tokenBytes);
        block.timeBytes = static_cast<std::uint32_t>(size) - block.tokenBytes - block.idBytes;
        block.compressedBytes = static_cast<std::uint32_t>(size);
        block.checksum = 0;
        uLong sum = adler32(1, reinterpret_cast<const Bytef*>(&block), sizeof block);
        sum = adler32(sum, reinterpret_cast<const Bytef*>(raw.data() + at), static_cast<uInt>(size));
        block.checksum = static_cast<std::uint32_t>(sum);
        const auto* bytes = reinterpret_cast<const std::byte*>(&block);
        blocks.insert(blocks.end(), bytes, bytes + sizeof block);
        blocks.insert(blocks.end(), raw.begin() + static_cast<std::ptrdiff_t>(at),
                      raw.begin() + static_cast<std::ptrdiff_t>(at + size));
        blocks.resize((blocks.size() + 7) / 8 * 8);
        at += size;
    }
    return blocks;
}

/// What the reader has found as rank 0's history; ranks 1 and 2 do the same, so that messages have two ends.
void build(const trace::RankReader& reader) {
    constexpr int kRanks = 3;
    constexpr std::size_t kMost = 3000;
    replay::Timeline timeline(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
        const RankId id(rank);
        for (const trace::CommInfo& comm : reader.comms()) {
            timeline.addComm(id, comm);
        }
        for (std::uint32_t i = 0; i < reader.detailsCount(); ++i) {
            timeline.addDetails(id, reader.details(DetailsId(i)));
        }
        timeline.setOrigin(id, reader.originNs());
        for (std::size_t i = 0; i < std::min(kMost, reader.events().size()); ++i) {
            const trace::DecodedEvent& event = reader.events()[i];
            timeline.addEvent(id, event.details, event.execution, event.pollFailures);
        }
        for (std::size_t i = 0; i < std::min(kMost, reader.stops().size()); ++i) {
            timeline.addStop(id, reader.stops()[i]);
        }
    }
    const std::uint32_t calls = timeline.callCount(RankId(0));
    if (calls > 0) {
        const replay::Point point{{RankId(0), replay::CallIndex(calls / 2)}, false};
        if (!timeline.isClosed(timeline.closeDown(timeline.pastFrontier(point).cut).cut)) {
            std::abort();
        }
        (void)timeline.futureFrontier(point);
        (void)timeline.axisTime(RankId(0), timeline.lastEvent(RankId(0)));
        (void)timeline.heldSpans(RankId(1));
        (void)timeline.openMessages();
    }
}

/// A true recording of a small exchange, in the form of the input; with `raw` its blocks unpacked.
std::string seed(bool raw) {
    trace::testing::Mapping mapping(1000);
    trace::Recorder& recorder = mapping.recorder;
    const std::int32_t members[] = {0, 1, 2};
    trace::CommView world;
    world.id = 1;
    world.members = members;
    world.memberCount = 3;
    recorder.addComm(world);
    for (int i = 0; i < 40; ++i) {
        trace::EventDetails begin;
        begin.kind = trace::EventKind::Begin;
        begin.function = i % 3 == 0   ? trace::FunctionId::Isend
                         : i % 3 == 1 ? trace::FunctionId::Recv
                                      : trace::FunctionId::Waitall;
        begin.comm = CommIndex(0);
        begin.sendPeer = begin.recvPeer = i % 2;
        begin.sendBytes = 8;
        trace::EventDetails end = begin;
        end.kind = trace::EventKind::End;
        if (i % 3 == 2) {
            begin.requests.push_back({0});
            end.completions.push_back({{0}, 0, {}});
        }
        recorder.append(trace::viewOf(begin), i * 1000);
        recorder.append(trace::viewOf(end), i * 1000 + 500);
        if (i == 20) {
            recorder.flush();
        }
    }
    const trace::RankImage image = mapping.image();
    const trace::MappingHeader* head = &mapping.header();
    const auto text = [](const Bytes& bytes) {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    std::string blocks = text(image.blocks);
    if (raw) {
        trace::BlockHeader block{};
        std::memcpy(&block, blocks.data(), sizeof block);
        std::string streams(block.tokenBytes + block.idBytes + block.timeBytes, '\0');
        uLongf size = streams.size();
        uncompress(reinterpret_cast<Bytef*>(streams.data()), &size,
                   reinterpret_cast<const Bytef*>(blocks.data() + sizeof block), block.compressedBytes);
        blocks = blocks.substr(0, sizeof block) + streams;
    }
    const std::string parts[] = {text(image.staging), text(image.dictionary), text(image.comms),
                                 std::string(), blocks};
    std::string out(1, static_cast<char>(raw ? kRawBlocks : 0));
    for (const std::string& one : parts) {
        const auto size = static_cast<std::uint32_t>(one.size());
        out.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    std::string words(kHeaderWords, '\0');
    const auto put = [&words](std::size_t at, auto value) {
        std::memcpy(words.data() + at, &value, sizeof value);
    };
    put(8, head->stagingSequence.load());
    put(12, head->stagedIds.load());
    put(16, head->stagedTimes.load());
    put(20, head->stagedFirst.load());
    put(28, head->stagedTime.load());
    out += words;
    for (const std::string& one : parts) {
        out += one;
    }
    return out;
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    if (const char* folder = std::getenv("STOPLINE_FUZZ_SEEDS"); folder != nullptr) {
        for (const bool raw : {false, true}) {
            std::ofstream(std::string(folder) + (raw ? "/raw" : "/packed"), std::ios::binary) << seed(raw);
        }
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < kPrefix) {
        return 0;
    }
    const std::uint8_t flags = data[0];
    std::uint32_t lengths[5];
    std::memcpy(lengths, data + 1, sizeof lengths);
    trace::RankImage image;
    image.header = header(data + 1 + sizeof lengths);
    std::size_t at = kPrefix;
    Bytes* parts[] = {&image.staging, &image.dictionary, &image.comms, &image.stops, &image.blocks};
    for (std::size_t i = 0; i < 5; ++i) {
        const std::size_t length = std::min<std::size_t>(lengths[i], size - at);
        *parts[i] = bytesOf(data + at, length);
        at += length;
    }
    if ((flags & kRawBlocks) != 0) {
        image.blocks = sealed(image.blocks);
    }
    trace::RankReader whole;
    const std::string said = whole.update(image);
    if ((flags & kInPieces) != 0) {
        // The result may not depend on how much is decoded at once.
        trace::RankReader pieces;
        std::string saidThen;
        do {
            saidThen = pieces.update(image, 1);
        } while (pieces.behind());
        if (saidThen != said || pieces.events().size() != whole.events().size()) {
            std::abort();
        }
    }
    build(whole);
    return 0;
}
