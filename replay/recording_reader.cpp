#include "recording_reader.h"

#include "../tracelib/history_start.h"
#include "file_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace stopline::replay {

namespace {

std::uint32_t crc(std::string_view bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        all.push_back(line);
    }
    return all;
}

void append(std::vector<std::byte>& to, std::string_view bytes) {
    const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
    to.insert(to.end(), from, from + bytes.size());
}

void assign(std::vector<std::byte>& to, std::string_view bytes) {
    to.clear();
    append(to, bytes);
}

/// Parts that are streams: behind a damaged piece nothing fits any more.
constexpr bool continues(ChunkType type) {
    return type == ChunkType::Dictionary || type == ChunkType::Comms || type == ChunkType::Stops ||
           type == ChunkType::Blocks;
}

/// Where the blocks behind a start stood; not 0, which is the start of all.
std::uint64_t positionOf(std::vector<std::byte>& start) {
    std::uint64_t position = 1;
    static_assert(offsetof(trace::HistoryStart, position) == 0);
    if (start.size() >= sizeof position) {
        std::memcpy(&position, start.data(), sizeof position);
        position = std::max<std::uint64_t>(position, 1);
        std::memcpy(start.data(), &position, sizeof position);
    }
    return position;
}

class Parser {
  public:
    Parser(FileBytes& bytes, RecordingFile& file, BlocksIn blocks) : m_bytes(bytes), m_file(file), m_blocks(blocks) {}

    std::string run() {
        FileHeader header;
        const std::string_view first = m_bytes.at(0, sizeof header);
        if (first.size() < sizeof header) {
            return first.empty() ? "it is empty" : "it is too short to be a recording";
        }
        std::memcpy(&header, first.data(), sizeof header);
        if (header.magic != kFileMagic) {
            return "it is no recording of Stopline's";
        }
        m_file.version = header.version;
        if (header.version != kFileVersion || header.chunkHeaderBytes != sizeof(ChunkHeader)) {
            return "it has format version " + std::to_string(header.version) +
                   "; this Stopline reads version " + std::to_string(kFileVersion) +
                   ": open it with the Stopline that wrote it, or record anew";
        }
        m_at = sizeof header;
        while (m_at < m_bytes.size() && chunk()) {
        }
        // Behind missing blocks, or with missing words, the events of the staging area mean nothing.
        for (const auto& [number, type] : m_lost) {
            if (number >= 0 && type != static_cast<std::uint32_t>(ChunkType::Stops)) {
                rank(number).ended = false;
                rank(number).image.staging.clear();
            }
        }
        if (!m_file.finished) {
            problem(-1, 0,
                    "the file does not have its last chunk: the recording was cut off, and what came behind "
                    "chunk " +
                        std::to_string(m_number) + " is missing");
        }
        return {};
    }

  private:
    void problem(std::int32_t rank, std::uint64_t number, const std::string& text) {
        m_file.problems.push_back({rank, number, text});
    }

    [[nodiscard]] std::string name(const ChunkHeader& header) const {
        return (header.rank >= 0 ? "rank " + std::to_string(header.rank) + ", " : std::string()) + "chunk " +
               std::to_string(m_number) + " (" + chunkName(header.type) + ", byte " + std::to_string(m_at) +
               ")";
    }

    [[nodiscard]] bool headerAt(std::uint64_t at, ChunkHeader& header) const {
        const std::string_view bytes = m_bytes.at(at, sizeof header);
        if (bytes.size() < sizeof header) {
            return false;
        }
        std::memcpy(&header, bytes.data(), sizeof header);
        return header.magic == kChunkMagic &&
               header.headerSum == crc(bytes.substr(0, offsetof(ChunkHeader, headerSum))) &&
               header.rawBytes <= kMaxChunkBytes && header.rank >= -1 && header.rank <= kMaxFileRank;
    }

    /// One chunk, and what lies damaged before it; false at the end.
    bool chunk() {
        ++m_number;
        ChunkHeader header;
        if (!headerAt(m_at, header)) {
            return findNext();
        }
        const std::uint64_t begin = m_at + sizeof header;
        const std::string_view stored = m_bytes.at(begin, header.storedBytes);
        if (stored.size() < header.storedBytes) {
            problem(header.rank, m_number, name(header) + ": it is cut off" + consequence(header));
            lose(header);
            return false;
        }
        std::string raw;
        if (crc(stored) != header.contentSum) {
            problem(header.rank, m_number, name(header) + ": its checksum is wrong" + consequence(header));
            lose(header);
        } else if (!unpackChunk(header.codec, header.rawBytes, stored, raw)) {
            problem(header.rank, m_number,
                    name(header) + ": it cannot be decompressed" + consequence(header));
            lose(header);
        } else if (!m_lost.contains({header.rank, header.type})) {
            ++m_file.chunks;
            m_piece = {begin, header.storedBytes, header.rawBytes, header.codec};
            take(header, header.codec == 0 ? stored : std::string_view(raw));
        }
        m_at = begin + header.storedBytes;
        return true;
    }

    /// Behind a damaged header: the next sound one.
    bool findNext() {
        std::array<char, sizeof(kChunkMagic)> magic{};
        std::memcpy(magic.data(), &kChunkMagic, sizeof kChunkMagic);
        const std::string_view wanted(magic.data(), magic.size());
        ChunkHeader header;
        std::uint64_t next = m_at;
        do {
            next = m_bytes.find(wanted, next + 1);
        } while (next < m_bytes.size() && !headerAt(next, header));
        const bool found = next < m_bytes.size();
        const std::uint64_t end = next;
        problem(-1, m_number,
                "chunk " + std::to_string(m_number) + " (byte " + std::to_string(m_at) +
                    "): its header is damaged; " + std::to_string(end - m_at) +
                    " bytes are left out, of an unknown rank");
        // Whose stream it was a part of cannot be told: the next piece of that stream finds the gap.
        m_at = end;
        return found;
    }

    [[nodiscard]] std::string consequence(const ChunkHeader& header) const {
        const auto type = static_cast<ChunkType>(header.type);
        return continues(type) && header.rank >= 0
                   ? "; what rank " + std::to_string(header.rank) + " did from there on is missing"
                   : "";
    }

    void lose(const ChunkHeader& header) {
        if (continues(static_cast<ChunkType>(header.type))) {
            m_lost.insert({header.rank, header.type});
        }
    }

    RecordedRank& rank(std::int32_t number) {
        const auto index = static_cast<std::size_t>(number);
        if (m_file.ranks.size() <= index) {
            m_file.ranks.resize(index + 1);
        }
        m_file.ranks[index].present = true;
        return m_file.ranks[index];
    }

    void take(const ChunkHeader& header, std::string_view bytes) {
        const auto type = static_cast<ChunkType>(header.type);
        if (header.rank < 0) {
            takeJob(type, header, bytes);
            return;
        }
        if ((header.type < static_cast<std::uint32_t>(ChunkType::Rank) ||
             header.type > static_cast<std::uint32_t>(ChunkType::Exit)) &&
            type != ChunkType::Values && type != ChunkType::Start) {
            return; // of a later version
        }
        RecordedRank& one = rank(header.rank);
        switch (type) {
        case ChunkType::Rank: {
            const FileFields fields = decodeFileFields(bytes);
            one.host = fileField(fields, "host");
            one.program = fileField(fields, "program");
            one.directory = fileField(fields, "directory");
            one.job = std::strtoull(fileField(fields, "job").c_str(), nullptr, 16);
            one.rank = static_cast<std::int32_t>(std::clamp<std::int64_t>(fileNumber(fields, "rank", header.rank), 0, kMaxFileRank));
            one.jobSize = static_cast<std::int32_t>(std::clamp<std::int64_t>(fileNumber(fields, "size", 0), 0, kMaxFileRank));
            one.spawner = fileField(fields, "spawner");
            one.clockOffset = fileNumber(fields, "clock", 0);
            break;
        }
        case ChunkType::Modules:
            one.modules = parseModules(bytes);
            break;
        case ChunkType::Header:
            assign(one.image.header, bytes);
            // Behind it, staging areas of other moments say nothing.
            one.image.staging.clear();
            break;
        case ChunkType::Staging:
            if (bytes.size() == trace::kStagingBytes) {
                assign(one.image.staging, bytes);
                one.ended = true;
            }
            break;
        case ChunkType::Dictionary:
            goOn(header, one.image.dictionary, bytes);
            break;
        case ChunkType::Comms:
            goOn(header, one.image.comms, bytes);
            break;
        case ChunkType::Stops:
            goOn(header, one.image.stops, bytes);
            break;
        case ChunkType::Start:
            assign(one.image.start, bytes);
            one.image.blocks.clear();
            one.pieces.clear();
            m_taken[header.rank] = 0;
            one.image.blocksFrom = positionOf(one.image.start);
            m_lost.erase({header.rank, static_cast<std::uint32_t>(ChunkType::Blocks)});
            break;
        case ChunkType::Blocks:
            if (m_blocks == BlocksIn::Image) {
                goOn(header, one.image.blocks, bytes);
            } else if (isNext(header, m_taken[header.rank])) {
                m_taken[header.rank] += bytes.size();
                one.pieces.push_back(m_piece);
            }
            break;
        case ChunkType::Values:
            one.values = bytes;
            break;
        case ChunkType::Exit: {
            const FileFields fields = decodeFileFields(bytes);
            one.waitStatus = static_cast<int>(fileNumber(fields, "status", -1));
            one.endedBy = fileField(fields, "by");
            one.faults = fileField(fields, "faults");
            break;
        }
        default:
            break;
        }
    }

    /// A piece of a stream, if the one before it is there.
    void goOn(const ChunkHeader& header, std::vector<std::byte>& stream, std::string_view bytes) {
        if (isNext(header, stream.size())) {
            append(stream, bytes);
        }
    }

    bool isNext(const ChunkHeader& header, std::uint64_t position) {
        if (header.position == position) {
            return true;
        }
        problem(header.rank, m_number,
                name(header) + ": the piece before it is missing" + consequence(header));
        lose(header);
        return false;
    }

    void takeJob(ChunkType type, const ChunkHeader& header, std::string_view bytes) {
        if (type == ChunkType::Sites) {
            if (!decodeSites(bytes, m_file.sites)) {
                problem(-1, m_number,
                        name(header) + ": it contradicts itself; some calls have no source line");
            }
            return;
        }
        if (type == ChunkType::Input && !bytes.empty()) {
            m_file.inputKnown = true;
            m_file.inputEnded = bytes.front() == 'e';
            m_file.input = bytes.substr(1);
            return;
        }
        if (type != ChunkType::Job && type != ChunkType::End) {
            return;
        }
        const FileFields fields = decodeFileFields(bytes);
        if (type == ChunkType::End) {
            m_file.finished = true;
            m_file.took = fileNumber(fields, "took", 0);
            m_file.exitCode = static_cast<int>(fileNumber(fields, "code", -1));
            m_file.lost = fileField(fields, "lost");
            return;
        }
        m_file.stopline = fileField(fields, "stopline");
        m_file.command = lines(fileField(fields, "command"));
        m_file.directory = fileField(fields, "directory");
        m_file.recorder = fileField(fields, "recorder");
        m_file.noted = static_cast<std::uint32_t>(std::clamp<std::int64_t>(fileNumber(fields, "noted", 0), 0, 0xff));
        m_file.started = fileNumber(fields, "started", 0);
        const auto count = fileNumber(fields, "ranks", 0);
        if (count > 0 && count <= kMaxFileRank && m_file.ranks.size() < static_cast<std::size_t>(count)) {
            m_file.ranks.resize(static_cast<std::size_t>(count));
        }
    }

    FileBytes& m_bytes;
    RecordingFile& m_file;
    BlocksIn m_blocks;
    BlockPiece m_piece;                           ///< the chunk that is taken
    std::map<std::int32_t, std::uint64_t> m_taken; ///< by rank: bytes of blocks that are left in the file
    std::uint64_t m_at = 0;
    std::uint64_t m_number = 0;
    std::set<std::pair<std::int32_t, std::uint32_t>> m_lost; ///< streams with a damaged piece
};

} // namespace

std::string parseRecordingFile(std::string_view bytes, RecordingFile& file) {
    MemoryBytes memory(bytes);
    return Parser(memory, file, BlocksIn::Image).run();
}

std::string readRecordingFile(const std::string& path, RecordingFile& file, BlocksIn blocks) {
    DiskBytes disk;
    if (std::string wrong = disk.open(path); !wrong.empty()) {
        return wrong;
    }
    if (!disk.isRegular()) { // a pipe
        std::ifstream in(path, std::ios::binary);
        std::ostringstream all;
        all << in.rdbuf();
        return in.bad() ? "it cannot be read" : parseRecordingFile(std::move(all).str(), file);
    }
    std::string wrong = Parser(disk, file, blocks).run();
    return disk.failed() ? "it cannot be read" : wrong;
}

void rebaseClocks(RecordingFile& file) {
    const auto move = [](std::vector<std::byte>& bytes, std::size_t at, TimeNs by) {
        if (at + sizeof(TimeNs) <= bytes.size()) {
            std::uint64_t value = 0; // may wrap where the file is hostile
            std::memcpy(&value, bytes.data() + at, sizeof value);
            value += static_cast<std::uint64_t>(by);
            std::memcpy(bytes.data() + at, &value, sizeof value);
        }
    };
    for (RecordedRank& rank : file.ranks) {
        if (rank.clockOffset == 0) {
            continue;
        }
        move(rank.image.header, offsetof(trace::MappingHeader, originNs), rank.clockOffset);
        for (std::size_t at = 0; at < rank.image.stops.size(); at += sizeof(trace::MappedStop)) {
            move(rank.image.stops, at + offsetof(trace::MappedStop, beginNs), rank.clockOffset);
            move(rank.image.stops, at + offsetof(trace::MappedStop, endNs), rank.clockOffset);
        }
        rank.clockOffset = 0;
    }
}

} // namespace stopline::replay
