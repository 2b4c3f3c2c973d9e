#include "reader.h"

#include "codec.h"
#include "history_start.h"
#include "unpacker.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

namespace stopline::trace {

namespace {

/// Details may expand (runs): more than this in all is no recording but an attack.
constexpr std::size_t kMaxListedInAll = std::size_t{1} << 26;
constexpr TimeNs kMaxTime = std::numeric_limits<TimeNs>::max() / 2;

/// The words of the header that decoding needs, copied without atomics.
struct HeaderWords {
    std::int64_t originNs = 0;
    std::uint32_t stagingSequence = 0;
    std::uint32_t stagedIds = 0;
    std::uint32_t stagedTimes = 0;
    std::uint64_t stagedFirst = 0;
    std::int64_t stagedTime = 0;
};

template <typename T>
T wordAt(const std::vector<std::byte>& bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

} // namespace

struct RankReader::Impl {
    std::vector<DecodedEvent> events;
    std::uint64_t first = 0;
    std::uint64_t next = 0; // number of the event behind the last one read; 0: none has been
    TimeNs lastExecution = 0;
    std::vector<EventDetails> details;
    std::vector<DetailsId> dictionary;                        // by position in the dictionary
    std::unordered_map<std::string, DetailsId> inlineDetails; // by their bytes
    std::vector<CommInfo> comms;
    std::vector<StopRecord> stops;
    TimeNs origin = 0;
    std::size_t dictionaryUsed = 0;
    std::size_t commsUsed = 0;
    std::uint64_t blocksRead = 0; // position, see RankImage::blocksFrom
    std::size_t blockNumber = 0;
    std::unique_ptr<HistoryStart> start;
    std::uint32_t starts = 0;
    std::size_t listed = 0;
    bool behind = false;

    [[nodiscard]] std::uint64_t last() const { return next == 0 ? 0 : next - 1; }

    std::string readHeader(const RankImage& image, HeaderWords& words);
    std::string readDictionary(const std::vector<std::byte>& bytes);
    std::string readComms(const std::vector<std::byte>& bytes);
    void readStops(const std::vector<std::byte>& bytes);
    std::string readStart(const RankImage& image);
    std::string readBlocks(const RankImage& image, std::size_t most);
    std::string readBlock(std::span<const std::byte> bytes, std::uint64_t& used);
    std::string readStaging(const RankImage& image, const HeaderWords& words);
    bool addDetails(EventDetails&& added);
    template <typename Events>
    std::string decodeBatch(Events& from, std::uint64_t firstEvent, TimeNs startTime, std::uint64_t expected);
    std::string detailsInline(ByteReader& ids, std::uint64_t number, DetailsId& id);
};

std::string RankReader::Impl::readHeader(const RankImage& image, HeaderWords& words) {
    if (image.header.size() < sizeof(MappingHeader)) {
        return "the header of the recording is cut off";
    }
    if (wordAt<std::uint64_t>(image.header, offsetof(MappingHeader, magic)) != kMappingMagic) {
        return "this is no recording: the header does not start as one";
    }
    const auto version = wordAt<std::uint32_t>(image.header, offsetof(MappingHeader, formatVersion));
    if (version < kOldestReadVersion || version > kFormatVersion) {
        return "the recording has format version " + std::to_string(version) + ", this program reads versions " +
               std::to_string(kOldestReadVersion) + " to " + std::to_string(kFormatVersion);
    }
    words.originNs = wordAt<std::int64_t>(image.header, offsetof(MappingHeader, originNs));
    words.stagingSequence = wordAt<std::uint32_t>(image.header, offsetof(MappingHeader, stagingSequence));
    words.stagedIds = wordAt<std::uint32_t>(image.header, offsetof(MappingHeader, stagedIds));
    words.stagedTimes = wordAt<std::uint32_t>(image.header, offsetof(MappingHeader, stagedTimes));
    words.stagedFirst = wordAt<std::uint64_t>(image.header, offsetof(MappingHeader, stagedFirst));
    words.stagedTime = wordAt<std::int64_t>(image.header, offsetof(MappingHeader, stagedTime));
    return {};
}

bool RankReader::Impl::addDetails(EventDetails&& added) {
    listed += added.requests.size() + added.completions.size();
    if (listed > kMaxListedInAll) {
        return false;
    }
    details.push_back(std::move(added));
    return true;
}

std::string RankReader::Impl::readDictionary(const std::vector<std::byte>& bytes) {
    while (dictionaryUsed < bytes.size()) {
        ByteReader in(std::span<const std::byte>(bytes).subspan(dictionaryUsed));
        EventDetails entry;
        if (!readDetails(in, entry) || !addDetails(std::move(entry))) {
            return "entry " + std::to_string(dictionary.size()) + " of the dictionary is damaged";
        }
        dictionary.push_back(DetailsId{static_cast<std::uint32_t>(details.size() - 1)});
        dictionaryUsed += in.used();
    }
    return {};
}

std::string RankReader::Impl::readComms(const std::vector<std::byte>& bytes) {
    while (commsUsed < bytes.size()) {
        ByteReader in(std::span<const std::byte>(bytes).subspan(commsUsed));
        CommInfo comm;
        if (readComm(in, comm)) {
            listed += comm.members.size() + comm.remote.size();
        }
        if (!in.ok() || listed > kMaxListedInAll) {
            return "communicator " + std::to_string(comms.size()) + " is damaged";
        }
        comms.push_back(std::move(comm));
        commsUsed += in.used();
    }
    return {};
}

void RankReader::Impl::readStops(const std::vector<std::byte>& bytes) {
    // Library and agent both append, so one that is not ready yet may be followed by one that is: all are read anew.
    stops.clear();
    for (std::size_t at = 0; at + sizeof(MappedStop) <= bytes.size(); at += sizeof(MappedStop)) {
        if (wordAt<std::uint64_t>(bytes, at + offsetof(MappedStop, ready)) != 1) {
            continue;
        }
        stops.push_back({EventIndex{wordAt<std::uint64_t>(bytes, at + offsetof(MappedStop, event))},
                         wordAt<std::int64_t>(bytes, at + offsetof(MappedStop, beginNs)),
                         wordAt<std::int64_t>(bytes, at + offsetof(MappedStop, endNs))});
    }
}

std::string RankReader::Impl::detailsInline(ByteReader& ids, std::uint64_t number, DetailsId& id) {
    const std::span<const std::byte> from = ids.rest();
    EventDetails entry;
    if (!readDetails(ids, entry)) {
        return "the details of event " + std::to_string(number) + " are damaged";
    }
    const std::string key(reinterpret_cast<const char*>(from.data()), from.size() - ids.rest().size());
    const auto known = inlineDetails.find(key);
    if (known != inlineDetails.end()) {
        id = known->second;
        return {};
    }
    if (!addDetails(std::move(entry))) {
        return "the details of event " + std::to_string(number) + " are too long";
    }
    id = DetailsId{static_cast<std::uint32_t>(details.size() - 1)};
    inlineDetails.emplace(key, id);
    return {};
}

/// Appends the events of a batch that are new. `expected` 0 takes as many as the streams hold.
template <typename Events>
std::string RankReader::Impl::decodeBatch(Events& from, std::uint64_t firstEvent, TimeNs startTime,
                                          std::uint64_t expected) {
    TimeNs now = std::clamp(startTime, TimeNs{0}, kMaxTime);
    std::uint64_t number = firstEvent;
    std::uint64_t count = 0;
    for (; !from.atEnd() && (expected == 0 || count < expected); ++count, ++number) {
        DecodedEvent event{};
        StreamEvent read;
        read.id = from.nextId();
        if (!from.ok()) {
            return "event " + std::to_string(number) + " is cut off";
        }
        if (read.id == 0) {
            if (std::string error = detailsInline(from.ids(), number, event.details); !error.empty()) {
                return error;
            }
        } else if (read.id <= dictionary.size()) {
            event.details = dictionary[read.id - 1];
        } else {
            return "event " + std::to_string(number) + " names entry " + std::to_string(read.id - 1) +
                   " of a dictionary of " + std::to_string(dictionary.size());
        }
        const EventDetails& what = details[event.details.value()];
        if (what.kind == EventKind::End && isPoll(functionClass(what.function))) {
            event.pollFailures = from.ids().varint();
        }
        from.nextTime(read);
        if (!from.ok()) {
            return "event " + std::to_string(number) + " is cut off";
        }
        const TimeNs delta = read.code == kExactTime ? static_cast<TimeNs>(read.exact << kExactShift)
                                                     : kDeltaOfCode[read.code];
        now = delta < kMaxTime - now ? now + delta : kMaxTime;
        if (number <= last()) {
            continue;
        }
        event.execution = next == 0 ? now : std::max(now, lastExecution);
        lastExecution = event.execution;
        if (next == 0) {
            first = number;
        }
        next = number + 1;
        events.push_back(event);
    }
    if (expected != 0 && (count != expected || !from.atEnd())) {
        return "it does not hold the " + std::to_string(expected) + " events that its header says";
    }
    return {};
}

/// The image begins behind what has been read: goes on where it begins.
std::string RankReader::Impl::readStart(const RankImage& image) {
    auto from = std::make_unique<HistoryStart>();
    if (!unpackStart(image.start, *from) || from->position != image.blocksFrom || from->firstEvent == 0) {
        return "what is known of the events before its first block is damaged";
    }
    blocksRead = image.blocksFrom;
    if (from->firstEvent <= std::max<std::uint64_t>(next, 1)) {
        return {}; // they had been staged when they were read
    }
    events.clear();
    first = next = from->firstEvent;
    start = std::move(from);
    ++starts;
    return {};
}

/// One block or gap at the start of `bytes`; `used` gets its length.
std::string RankReader::Impl::readBlock(std::span<const std::byte> bytes, std::uint64_t& used) {
    used = gapAt(bytes.data(), bytes.size());
    if (used != 0) {
        return {};
    }
    if (bytes.size() < sizeof(BlockHeader)) {
        return "its header is cut off";
    }
    BlockHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != kBlockMagic) {
        return "it does not start as a block";
    }
    const std::size_t raw = std::size_t{header.tokenBytes} + header.idBytes + header.timeBytes;
    const std::size_t stored = (std::size_t{header.compressedBytes} + 7) & ~std::size_t{7};
    if (header.codec > 1) {
        return "unknown codec " + std::to_string(header.codec);
    }
    if (raw > kMaxPackedBytes || header.eventCount == 0 || header.eventCount > kStagingBytes ||
        header.firstEvent == 0 || header.firstEvent > std::numeric_limits<std::uint64_t>::max() / 2) {
        return "its header contradicts itself";
    }
    if (stored > bytes.size() - sizeof(BlockHeader)) {
        return "its data are cut off";
    }
    if (next != 0 && header.firstEvent > next) {
        return "events " + std::to_string(last() + 1) + " to " + std::to_string(header.firstEvent - 1) +
               " are missing before it";
    }
    used = sizeof(BlockHeader) + stored;
    if (header.firstEvent + header.eventCount - 1 <= last()) {
        return {};
    }
    std::vector<std::byte> buffer(kMaxPackedBytes);
    if (std::string error = unpackBlock(header, bytes.subspan(sizeof header), buffer); !error.empty()) {
        return error;
    }
    const std::span<const std::byte> all(buffer.data(), raw);
    PackedEvents packed(all.first(header.tokenBytes), all.subspan(header.tokenBytes, header.idBytes),
                        all.last(header.timeBytes));
    return decodeBatch(packed, header.firstEvent, header.startTime, header.eventCount);
}

std::string RankReader::Impl::readBlocks(const RankImage& image, std::size_t most) {
    if (blocksRead < image.blocksFrom) {
        if (std::string error = readStart(image); !error.empty()) {
            return error;
        }
    }
    const std::size_t before = events.size();
    const std::span<const std::byte> bytes(image.blocks);
    const std::uint64_t end = image.blocksFrom + bytes.size();
    while (blocksRead < end) {
        if (events.size() - before >= most) {
            behind = true;
            return {};
        }
        std::uint64_t used = 0;
        if (const std::string error = readBlock(bytes.subspan(blocksRead - image.blocksFrom), used); !error.empty()) {
            return "block " + std::to_string(blockNumber) + " (byte " + std::to_string(blocksRead) + "): " + error;
        }
        blocksRead += used;
        ++blockNumber;
    }
    return {};
}

std::string RankReader::Impl::readStaging(const RankImage& image, const HeaderWords& words) {
    if ((words.stagingSequence & kStagingTurning) != 0 || words.stagedIds == 0) {
        return {};
    }
    const std::size_t used = std::size_t{words.stagedIds} + words.stagedTimes;
    if (used > kStagingBytes || image.staging.size() < kStagingBytes || words.stagedFirst == 0 ||
        words.stagedFirst > std::numeric_limits<std::uint64_t>::max() / 2) {
        return "the staging area contradicts the header";
    }
    if (next != 0 && words.stagedFirst > next) {
        return "the staging area starts with event " + std::to_string(words.stagedFirst) +
               " but the blocks end with " + std::to_string(last());
    }
    const auto last = image.staging.rbegin() + static_cast<std::ptrdiff_t>(image.staging.size() - kStagingBytes);
    std::vector<std::byte> times(last, last + static_cast<std::ptrdiff_t>(words.stagedTimes));
    StagedEvents staged(std::span(image.staging).first(words.stagedIds), times);
    std::string error = decodeBatch(staged, words.stagedFirst, words.stagedTime, 0);
    return error.empty() ? error : "staging area: " + error;
}

RankReader::RankReader() : m_impl(std::make_unique<Impl>()) {}
RankReader::~RankReader() = default;
RankReader::RankReader(RankReader&&) noexcept = default;
RankReader& RankReader::operator=(RankReader&&) noexcept = default;

std::string RankReader::update(const RankImage& image, std::size_t most) {
    HeaderWords words;
    m_impl->behind = false;
    if (std::string error = m_impl->readHeader(image, words); !error.empty()) {
        return error;
    }
    m_impl->origin = words.originNs;
    m_impl->readStops(image.stops);
    // A fault in one part does not hide what the others still say.
    std::string error = m_impl->readComms(image.comms);
    const auto note = [&error](std::string next) {
        if (error.empty()) {
            error = std::move(next);
        }
        return error.empty();
    };
    note(m_impl->readDictionary(image.dictionary));
    const std::string blocks = m_impl->readBlocks(image, most);
    note(blocks);
    // Behind a broken block the staged events are no continuation.
    if (blocks.empty() && !m_impl->behind) {
        note(m_impl->readStaging(image, words));
    }
    return error;
}

bool RankReader::behind() const {
    return m_impl->behind;
}
std::uint64_t RankReader::blocksRead() const {
    return m_impl->blocksRead;
}
const std::vector<DecodedEvent>& RankReader::events() const {
    return m_impl->events;
}
EventIndex RankReader::firstEvent() const {
    return EventIndex{m_impl->first};
}
void RankReader::discard(std::size_t count) {
    auto& events = m_impl->events;
    count = std::min(count, events.size());
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
    m_impl->first += count;
}
EventIndex RankReader::lastEvent() const {
    return EventIndex{m_impl->last()};
}
const HistoryStart* RankReader::start() const {
    return m_impl->start.get();
}
std::uint32_t RankReader::starts() const {
    return m_impl->starts;
}
const EventDetails& RankReader::details(DetailsId id) const {
    return m_impl->details.at(id.value());
}
std::uint32_t RankReader::detailsCount() const {
    return static_cast<std::uint32_t>(m_impl->details.size());
}
const std::vector<CommInfo>& RankReader::comms() const {
    return m_impl->comms;
}
const std::vector<StopRecord>& RankReader::stops() const {
    return m_impl->stops;
}
TimeNs RankReader::originNs() const {
    return m_impl->origin;
}

} // namespace stopline::trace
