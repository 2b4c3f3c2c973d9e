// The file that `stopline record` writes: what all ranks of a job have recorded, and what is needed to read
// it without the job. Standard C++ only.
//
// Layout. All numbers are little-endian. The file starts with a FileHeader; chunks follow, each a ChunkHeader
// and its stored bytes, without padding. A chunk belongs to one rank, or to the job (rank -1). Chunks may
// come in any order but for those that continue others: the Blocks (Dictionary, Comms, Stops) of a rank are
// parts of one stream and stand in its order. A chunk of an unknown type is skipped: new types need no new
// version. `kFileVersion` changes when old programs would misread a file; they refuse it then.
//
// Two checksums (crc32 of zlib) a chunk: one of its header, so that the next chunk is found behind a damaged
// one, and one of its stored bytes. Behind a damaged header the reader looks for the next sound one. A file
// that was finished ends with an End chunk; without it the recording was cut off (the recorder was killed,
// the disk was full).
//
// Chunk types and what they hold, before compression:
//   Job        fields: stopline (version), command (one word a line), directory, started (ns since 1970),
//              recorder (host that ran `stopline record`), ranks (as the launcher said, 0 unknown), noted
//              (trace::AlsoNoted bits)
//   Rank       fields: job, host, program, directory, clock (ns to be added to the
//              rank's CLOCK_MONOTONIC to get the recorder's)
//   Modules    text: the rank's code, one module a line as agent_modules.h says; the last one of a rank
//   counts Header     trace::MappingHeader of the rank, as it was when the chunks before had been copied; the
//   last one counts Staging    the current staging buffer, kStagingBytes, of the same moment as the Header
//   before it Dictionary, Comms, Stops, Blocks
//              the parts of the rank's mapping of these names (see tracelib/mapping.h), in pieces. A piece of
//              Blocks holds whole blocks and is stored as it is: they are compressed already
//   Start      trace::packStart() of what the rank did before the Blocks behind it: older ones were gone before they could
//              be copied. Their stream begins anew, and the ones in front of it count no more
//   Exit       fields: status (of the rank's process as waitpid gives it; -1 unknown), faults (what was said
//   of the rank), by (what ended it, where that was not the program) Sites      resolved call sites: see encodeSites() End        fields: took (ns from the
//   launcher's start to its end), code (exit code of the job), lost (what could not
//              be written; empty: nothing)
// Fields are lines "name value\n"; in values newline is \n and backslash is \\.
#pragma once

#include "../tracelib/reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stopline::replay {

inline constexpr std::uint64_t kFileMagic =
    0x0a1a0d43454c5453ULL; ///< "STLEC\r\x1a\n": no text file, and no copy as text
inline constexpr std::uint32_t kFileVersion = 1;
inline constexpr std::uint32_t kChunkMagic = 0x4b434c53; ///< "SLCK"
/// Largest chunk before compression; a larger one is damaged.
inline constexpr std::uint32_t kMaxChunkBytes = 64u << 20;
/// Ranks above it are damage.
inline constexpr std::int32_t kMaxFileRank = 1 << 16;

struct FileHeader {
    std::uint64_t magic = kFileMagic;
    std::uint32_t version = kFileVersion;
    std::uint32_t chunkHeaderBytes = 40;
};
static_assert(sizeof(FileHeader) == 16);

enum class ChunkType : std::uint32_t {
    Job = 1,
    Rank = 2,
    Modules = 3,
    Header = 4,
    Staging = 5,
    Dictionary = 6,
    Comms = 7,
    Stops = 8,
    Blocks = 9,
    Exit = 10,
    Sites = 11,
    End = 12,
    Values = 13, ///< times and random bytes that the rank asked for (tracelib/values.h), whole
    Start = 14,
    Input = 15, ///< of the job: 'e' where its standard input had ended, else '-', then what it held
};
/// "blocks", "call sites": for messages; "type 99" for an unknown one.
[[nodiscard]] std::string chunkName(std::uint32_t type);

enum class ChunkCodec : std::uint32_t { Stored = 0, Zlib = 1 };

struct ChunkHeader {
    std::uint32_t magic = kChunkMagic;
    std::uint32_t type = 0;
    std::int32_t rank = -1;
    std::uint32_t codec = 0;
    std::uint32_t rawBytes = 0;
    std::uint32_t storedBytes = 0;
    std::uint64_t position = 0;   ///< of a piece of a stream: bytes of the stream before it; else 0
    std::uint32_t contentSum = 0; ///< crc32 of the stored bytes
    std::uint32_t headerSum = 0;  ///< crc32 of this header up to here
};
static_assert(sizeof(ChunkHeader) == 40);

/// Lines of "name value\n", see above. What is no such line is left out.
using FileFields = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::string encodeFileFields(const FileFields& fields);
[[nodiscard]] FileFields decodeFileFields(std::string_view text);
[[nodiscard]] std::string fileField(const FileFields& fields, std::string_view name);
/// `fallback` where the field is missing or no number that fits.
[[nodiscard]] std::int64_t fileNumber(const FileFields& fields, std::string_view name, std::int64_t fallback);

/// A piece of a file's code in a rank's memory.
struct CodeModule {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0; ///< in the file, of `begin`
    std::string build;        ///< GNU build id in hexadecimal; empty: none known
    std::string path;
    friend bool operator==(const CodeModule&, const CodeModule&) = default;
};
/// From the text of a Modules chunk, by address. Lines that are none are left out.
[[nodiscard]] std::vector<CodeModule> parseModules(std::string_view text);
/// The module that holds the call whose return address this is; null where none does. Points into `modules`.
[[nodiscard]] const CodeModule* moduleOf(const std::vector<CodeModule>& modules, CodeAddress returnAddress);

/// A place in a file, independent of where a rank has loaded it: the byte before a return address.
struct SiteKey {
    std::string path;
    std::string build;
    std::uint64_t offset = 0;
    friend auto operator<=>(const SiteKey&, const SiteKey&) = default;
};
[[nodiscard]] SiteKey siteKey(const CodeModule& module, CodeAddress returnAddress);

/// What debug information says of it, in UTF-8.
struct SiteText {
    std::string file;
    std::int32_t line = 0; ///< 0: unknown
    std::string function;
    friend bool operator==(const SiteText&, const SiteText&) = default;
};
using SiteTable = std::map<SiteKey, SiteText>;
/// Count of modules, then of each path and build; count of sites, then of each the module's number, offset,
/// line, file, function. Numbers are varints, texts a varint length and the bytes.
[[nodiscard]] std::string encodeSites(const SiteTable& sites);
/// Adds to `sites`; false when the bytes are damaged, what came before is added then.
[[nodiscard]] bool decodeSites(std::string_view bytes, SiteTable& sites);

} // namespace stopline::replay
