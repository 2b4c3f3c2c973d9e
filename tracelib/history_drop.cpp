// Takes the events of a dropped block, fast for those that only add one to a count.
#include "details_scan.h"
#include "history_calls.h"

#include <zlib.h>

#include <utility>

namespace stopline::trace {

namespace {

// Flags of a Meaning.
constexpr std::uint8_t kLearned = 1;
constexpr std::uint8_t kIsBegin = 2;
constexpr std::uint8_t kPlain = 4;     ///< all that it adds is its count
constexpr std::uint8_t kCreates = 8;   ///< and one request that need not be remembered
constexpr std::uint8_t kEndTells = 16; ///< what it does is known at its end only
constexpr std::uint8_t kPollEnd = 32;  ///< a count of failures follows

struct WorkSpace {
    std::byte* next;
    std::byte* end;
};

void* takeFromWork(void* opaque, unsigned items, unsigned size) {
    auto* work = static_cast<WorkSpace*>(opaque);
    const std::size_t bytes = (std::size_t{items} * size + 15) & ~std::size_t{15};
    if (bytes > static_cast<std::size_t>(work->end - work->next)) {
        return nullptr;
    }
    void* taken = work->next;
    work->next += bytes;
    return taken;
}

void leaveInWork(void*, void*) {}

/// The first `wanted` bytes of a deflated block; false when they are not there.
bool inflateStart(const std::byte* data, std::uint32_t size, std::byte* out, std::uint32_t wanted, WorkSpace work) {
    z_stream stream{};
    stream.zalloc = takeFromWork;
    stream.zfree = leaveInWork;
    stream.opaque = &work;
    if (inflateInit(&stream) != Z_OK) {
        return false;
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data));
    stream.avail_in = size;
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = wanted;
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    return (result == Z_OK || result == Z_STREAM_END) && stream.avail_out == 0;
}

} // namespace

bool HistoryTracker::entryAt(std::uint32_t signature, std::uint64_t dictionaryBytes, std::span<const std::byte>& bytes) {
    HistoryMemory& memory = *m_memory;
    while (memory.known <= signature) {
        const std::uint32_t from = memory.offsets[memory.known];
        if (from >= dictionaryBytes || memory.known == SignatureMemory::kMaxSignatures) {
            return false;
        }
        ByteReader in({m_dictionary + from, static_cast<std::size_t>(dictionaryBytes - from)});
        DetailsView skipped;
        if (!scanDetails(in, skipped, NoLists{})) {
            return false;
        }
        memory.offsets[++memory.known] = from + static_cast<std::uint32_t>(in.used());
    }
    bytes = {m_dictionary + memory.offsets[signature], memory.offsets[signature + 1] - memory.offsets[signature]};
    return true;
}

bool HistoryTracker::learn(std::uint32_t signature, std::uint64_t dictionaryBytes) {
    std::span<const std::byte> bytes;
    if (signature >= SignatureMemory::kMaxSignatures || !entryAt(signature, dictionaryBytes, bytes)) {
        return false;
    }
    ByteReader in(bytes);
    DetailsView d;
    struct AnyCompletion {
        bool any = false;
        void request(RequestRef) {}
        void completion(const Completion&) { any = true; }
        void peer(std::int32_t) {}
    } lists;
    if (!scanDetails(in, d, lists)) {
        return false;
    }
    HistoryMemory::Meaning& meaning = m_memory->meanings[signature];
    meaning.flags = kLearned;
    const CallClass c = functionClass(d.function);
    if (d.kind == EventKind::End) {
        meaning.flags |= isPoll(c) ? kPollEnd : 0;
        meaning.flags |= d.thread == 0 && !lists.any && !isRefusal(d.error) && d.newComm == kNoComm ? kPlain : 0;
        return true;
    }
    meaning.flags |= kIsBegin;
    const bool wildcard = isWildcard(d.recvPeer, d.recvTag);
    const bool once = c == CallClass::Send || c == CallClass::Isend || (c == CallClass::Recv && !wildcard) ||
                      (isCollective(c) && !isGroupConstructor(d.function));
    const bool nothing = c == CallClass::Wait || c == CallClass::Test || c == CallClass::Probe ||
                         c == CallClass::Iprobe || takesMessage(c) || c == CallClass::Imrecv ||
                         c == CallClass::Mrecv || (c == CallClass::Recv && wildcard);
    if (d.thread != 0 || (!once && !nothing)) {
        return true;
    }
    if (once) {
        meaning.count = c == CallClass::Recv   ? d.recvPeer < 0 ? 0 : countOf(Counted::Receive, d.comm.value(), d.recvPeer, d.recvTag)
                        : sends(c)             ? d.sendPeer < 0 ? 0 : countOf(Counted::Send, d.comm.value(), d.sendPeer, d.sendTag)
                                               : countOf(Counted::Collective, d.comm.value(), kNoPeer, kNoTag);
    }
    meaning.flags |= kPlain;
    meaning.flags |= createsRequest(c) ? kCreates : 0;
    meaning.flags |=
        wildcard || takesMessage(c) || c == CallClass::Probe || c == CallClass::Iprobe ? kEndTells : 0;
    return true;
}

/// The begun call of thread 0 gets its entry among the calls.
void HistoryTracker::settleOpen() {
    const std::uint32_t signature = std::exchange(m_memory->openSignature, 0U);
    if (signature == 0) {
        return;
    }
    const std::uint32_t from = m_memory->offsets[signature - 1];
    ByteReader in({m_dictionary + from, m_memory->offsets[signature] - from});
    DetailsView d;
    HistoryStart& start = m_memory->start;
    if (scanDetails(in, d, NoLists{}) && start.callCount < HistoryStart::kMaxCalls) {
        start.calls[start.callCount++] = callOf(d);
    }
}

bool HistoryTracker::take(std::uint32_t id, ByteReader& ids, std::uint64_t dictionaryBytes) {
    std::span<const std::byte> bytes;
    std::uint8_t flags = 0;
    if (id != 0) {
        if (id > SignatureMemory::kMaxSignatures) {
            return false;
        }
        HistoryMemory::Meaning& meaning = m_memory->meanings[id - 1];
        if ((meaning.flags & kLearned) == 0 && !learn(id - 1, dictionaryBytes)) {
            return false;
        }
        flags = meaning.flags;
        if ((flags & (kPlain | kIsBegin)) == (kPlain | kIsBegin) && m_memory->start.callCount == 0) {
            if (meaning.count != 0) {
                ++m_memory->start.counts[meaning.count - 1].count;
            }
            m_memory->start.requests += (flags & kCreates) != 0 ? 1 : 0;
            m_memory->openSignature = id;
            return true;
        }
        if ((flags & (kPlain | kIsBegin)) == kPlain && m_memory->openSignature != 0 &&
            (m_memory->meanings[m_memory->openSignature - 1].flags & kEndTells) == 0) {
            m_memory->openSignature = 0;
            if ((flags & kPollEnd) != 0) {
                (void)ids.varint();
            }
            return ids.ok();
        }
        if (!entryAt(id - 1, dictionaryBytes, bytes)) {
            return false;
        }
    } else {
        bytes = ids.rest();
    }
    settleOpen();
    ByteReader in(bytes);
    DetailsView d;
    if (!scanDetails(in, d, NoLists{})) {
        return false;
    }
    if (id == 0) {
        bytes = bytes.first(in.used());
        ids.skip(in.used());
    }
    if (d.kind == EventKind::End && isPoll(functionClass(d.function))) {
        (void)ids.varint();
    }
    event(d, bytes);
    return ids.ok();
}

bool HistoryTracker::add(std::span<const std::byte> details) {
    settleOpen();
    ByteReader in(details);
    DetailsView d;
    if (!scanDetails(in, d, NoLists{})) {
        return false;
    }
    event(d, details);
    HistoryStart& start = m_memory->start;
    start.firstEvent = start.firstEvent == 0 ? 2 : start.firstEvent + 1;
    return true;
}

std::uint64_t HistoryTracker::drop(const std::byte* block, std::uint64_t left, std::uint64_t dictionaryBytes,
                                   std::byte* work) {
    BlockHeader header{};
    if (left < sizeof header) {
        return 0;
    }
    std::memcpy(&header, block, sizeof header);
    const std::uint64_t bytes = sizeof header + ((std::uint64_t{header.compressedBytes} + 7) & ~std::uint64_t{7});
    const std::uint64_t wanted = std::uint64_t{header.tokenBytes} + header.idBytes;
    const HistoryStart& start = m_memory->start;
    if (header.magic != kBlockMagic || header.codec > 1 || bytes > left || wanted > 2 * kStagingBytes ||
        header.eventCount == 0 || (start.firstEvent != 0 && start.firstEvent != header.firstEvent) ||
        (header.codec == 0 && header.compressedBytes < wanted)) {
        return 0;
    }
    const std::byte* streams = block + sizeof header;
    if (header.codec == 1) {
        if (!inflateStart(streams, header.compressedBytes, work, static_cast<std::uint32_t>(wanted),
                          {work + 2 * kStagingBytes, work + kWorkBytes})) {
            return 0;
        }
        streams = work;
    }
    ByteReader tokens({streams, header.tokenBytes});
    ByteReader ids({streams + header.tokenBytes, header.idBytes});
    Predictor& predictor = m_memory->predictor;
    predictor.reset();
    IdCodes codes;
    std::uint32_t events = 0;
    while (events < header.eventCount && tokens.ok()) {
        const std::uint64_t token = tokens.varint();
        for (std::uint64_t hits = token / 4; hits != 0; --hits) {
            const std::uint32_t id = predictor.guess();
            predictor.learn(id);
            if (id == 0 || ++events > header.eventCount || !take(id, ids, dictionaryBytes)) {
                return 0;
            }
        }
        if (token % 4 != 0) {
            const bool missed = (token & kMissedId) != 0;
            const std::uint64_t code = missed ? ids.varintUpTo(2 * SignatureMemory::kMaxSignatures) : 0;
            const std::uint64_t id = missed ? codes.idOf(static_cast<std::uint32_t>(code)) : predictor.guess();
            predictor.learn(static_cast<std::uint32_t>(id));
            if (id > SignatureMemory::kMaxSignatures || (id == 0 && !missed) || ++events > header.eventCount ||
                !ids.ok() || !take(static_cast<std::uint32_t>(id), ids, dictionaryBytes)) {
                return 0;
            }
        }
    }
    if (!tokens.ok() || !ids.ok()) {
        return 0;
    }
    settleOpen();
    m_memory->start.firstEvent = header.firstEvent + header.eventCount;
    m_memory->start.position += bytes;
    return bytes;
}

} // namespace stopline::trace
