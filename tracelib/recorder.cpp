#include "recorder.h"

#include <zlib.h>

#include <cerrno>

namespace stopline::trace {

namespace {

/// Bytes that one event with interned details can take at most: an id, a count of failures, an exact time.
constexpr std::uint32_t kPlainEventBytes = 5 + 10 + 1 + 10;

struct Arena {
    std::byte* next;
    std::byte* end;
};

void* takeFromArena(void* opaque, unsigned items, unsigned size) {
    auto* arena = static_cast<Arena*>(opaque);
    const std::size_t bytes = (std::size_t{items} * size + 15) & ~std::size_t{15};
    if (bytes > static_cast<std::size_t>(arena->end - arena->next)) {
        return nullptr;
    }
    void* taken = arena->next;
    arena->next += bytes;
    return taken;
}

void leaveInArena(void*, void*) {}

/// Details as plain words, equal exactly when the details are; 0 when the lists are too long for that.
std::uint32_t wordsOf(const DetailsView& d, std::uint64_t (&words)[RecorderMemory::Recent::kWords]) {
    constexpr std::uint32_t kPlain = 11;
    constexpr std::uint32_t kOfCompletion = 3;
    if (kPlain + (d.requestCount + 1) / 2 + kOfCompletion * d.completionCount >
            RecorderMemory::Recent::kWords ||
        d.requestCount > 8 || d.completionCount > 4) {
        return 0;
    }
    const auto two = [](auto low, auto high) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
               static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
    };
    words[0] = two(static_cast<std::uint32_t>(d.kind) | (d.flag ? 2U : 0U) | (d.truncated ? 4U : 0U) |
                       (d.status.cancelled ? 8U : 0U) | d.requestCount << 8 | d.completionCount << 16,
                   std::uint32_t{static_cast<std::uint16_t>(d.function)} | std::uint32_t{d.thread} << 16);
    words[1] = d.site.value();
    words[2] = two(d.comm.value(), d.newComm.value());
    words[3] = two(d.sendPeer, d.sendTag);
    words[4] = two(d.recvPeer, d.recvTag);
    words[5] = d.sendBytes;
    words[6] = d.recvBytes;
    words[7] = two(d.root, d.error);
    words[8] = two(d.status.source, d.status.tag);
    words[9] = d.status.bytes;
    words[10] = d.message.back;
    std::uint32_t used = kPlain;
    for (std::uint32_t i = 0; i < d.requestCount; i += 2) {
        words[used++] = two(d.requests[i].back, i + 1 < d.requestCount ? d.requests[i + 1].back : 0U);
    }
    for (std::uint32_t i = 0; i < d.completionCount; ++i) {
        const Completion& c = d.completions[i];
        // The index of a completion is below the number of requests, which is small here.
        words[used++] = two(c.request.back, (c.index << 1) | (c.status.cancelled ? 1U : 0U));
        words[used++] = two(c.status.source, c.status.tag);
        words[used++] = c.status.bytes;
    }
    return used;
}

/// Independent products, so that the processor works on them side by side.
std::uint32_t mixWords(const std::uint64_t* words, std::uint32_t count) {
    std::uint64_t sum = count;
    std::uint64_t factor = 0x9e3779b97f4a7c15ULL;
    for (std::uint32_t i = 0; i < count; ++i) {
        sum += words[i] * factor ^ words[i] >> 29;
        factor += 0xd1342543de82ef96ULL;
    }
    return static_cast<std::uint32_t>(sum ^ sum >> 32 ^ sum >> 47);
}

/// Deflates ids and then times into `out`; 0 when it fails or the result is not smaller.
std::uint32_t deflateStreams(RecorderMemory& memory, const std::byte* ids, std::uint32_t idBytes,
                             const std::byte* times, std::uint32_t timeBytes, std::byte* out) {
    // A new state each time: its 268 kB are cleared by zlib itself only where it needs them.
    Arena arena{memory.arena, memory.arena + sizeof memory.arena};
    z_stream stream{};
    stream.zalloc = takeFromArena;
    stream.zfree = leaveInArena;
    stream.opaque = &arena;
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return 0;
    }
    const auto input = [&stream](const std::byte* bytes, std::uint32_t size) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
        stream.avail_in = size;
    };
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = idBytes + timeBytes;
    input(ids, idBytes);
    if (deflate(&stream, Z_NO_FLUSH) != Z_OK) {
        return 0;
    }
    input(times, timeBytes);
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        return 0;
    }
    return static_cast<std::uint32_t>(stream.total_out);
}

std::uint32_t checksumOf(const BlockHeader& header, const std::byte* ids, const std::byte* times) {
    uLong sum = adler32(1, reinterpret_cast<const Bytef*>(&header), sizeof header);
    sum = adler32(sum, reinterpret_cast<const Bytef*>(ids), header.idBytes);
    sum = adler32(sum, reinterpret_cast<const Bytef*>(times), header.timeBytes);
    return static_cast<std::uint32_t>(sum);
}

} // namespace

void Recorder::open(std::byte* base, RecorderMemory* memory, GrowFunction grow, void* growContext,
                    TimeNs tolerance) {
    m_base = base;
    m_header = reinterpret_cast<MappingHeader*>(base);
    m_memory = memory;
    m_grow = grow;
    m_growContext = growContext;
    m_tolerance = tolerance < 0 ? 0 : tolerance;
    constexpr TimeNs exactError = TimeNs{1} << (kExactShift - 1);
    m_exactFrom = m_tolerance > exactError ? m_tolerance : exactError;
    startBuffer(0);
}

void Recorder::startBuffer(std::uint32_t sequence) {
    // Whoever copies the header meanwhile sees by the mark, or by the changed sequence, that the words do not
    // belong together.
    m_header->stagingSequence.store(m_header->stagingSequence.load(std::memory_order_relaxed) |
                                        kStagingTurning,
                                    std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    m_staging = m_base + kStagingOffset + (sequence & 1) * kStagingBytes;
    m_ids = 0;
    m_times = 0;
    m_firstStaged = m_lastEvent + 1;
    m_header->stagedIds.store(0, std::memory_order_release);
    m_header->stagedTimes.store(0, std::memory_order_release);
    m_header->stagedFirst.store(m_firstStaged, std::memory_order_release);
    m_header->stagedTime.store(m_time, std::memory_order_release);
    m_header->stagingSequence.store(sequence, std::memory_order_release);
}

void Recorder::switchOff(int error) {
    if (!m_off) {
        m_off = true;
        m_header->recordingOff.store(static_cast<std::uint32_t>(error), std::memory_order_release);
    }
}

bool Recorder::ensureFile(std::uint64_t bytes) {
    std::uint64_t have = m_header->fileBytes.load(std::memory_order_relaxed);
    if (bytes <= have) {
        return true;
    }
    std::uint64_t want = have;
    while (want < bytes) {
        want += kGrowBytes;
    }
    if (want > kMappedBytes) {
        switchOff(EFBIG);
        return false;
    }
    if (const int error = m_grow(m_growContext, want); error != 0) {
        switchOff(error);
        return false;
    }
    m_header->fileBytes.store(want, std::memory_order_release);
    return true;
}

std::uint32_t Recorder::intern(const std::byte* bytes, std::size_t size) {
    const std::uint64_t full = hashBytes(bytes, size);
    const auto hash = static_cast<std::uint32_t>(full ^ (full >> 32));
    const std::byte* dictionary = m_base + kDictionaryOffset;
    std::uint32_t slot = hash & (RecorderMemory::kSlots - 1);
    for (; m_memory->slots[slot] != 0; slot = (slot + 1) & (RecorderMemory::kSlots - 1)) {
        const std::uint32_t number = m_memory->slots[slot];
        const RecorderMemory::Signature& known = m_memory->signatures[number - 1];
        if (known.hash == hash && known.size == size &&
            std::memcmp(dictionary + known.offset, bytes, size) == 0) {
            return number;
        }
    }
    const std::uint64_t length = m_header->dictionaryLength.load(std::memory_order_relaxed);
    if (m_dictionaryFull || m_signatures == RecorderMemory::kMaxSignatures ||
        length + size > kDictionaryBytes) {
        // For ever, so that the same details do not change their form again and again.
        m_dictionaryFull = true;
        return 0;
    }
    std::memcpy(m_base + kDictionaryOffset + length, bytes, size);
    m_header->dictionaryLength.store(length + size, std::memory_order_release);
    m_memory->signatures[m_signatures] = {hash, static_cast<std::uint32_t>(length),
                                          static_cast<std::uint32_t>(size)};
    m_memory->lastCode[m_signatures] = kExactTime;
    m_memory->slots[slot] = ++m_signatures;
    return m_signatures;
}

/// Signature number + 1, or 0 when the dictionary is full: then scratch holds the details' `size` bytes.
std::uint32_t Recorder::signatureOf(const DetailsView& details, std::size_t& size) {
    std::uint64_t words[RecorderMemory::Recent::kWords];
    const std::uint32_t used = wordsOf(details, words);
    RecorderMemory::Recent* recent = nullptr;
    if (used != 0) {
        recent = &m_memory->recent[mixWords(words, used) & (RecorderMemory::kRecent - 1)];
        if (recent->size == used && std::memcmp(recent->words, words, used * sizeof *words) == 0) [[likely]] {
            return recent->number;
        }
    }
    size = encode(details);
    const std::uint32_t number = intern(m_memory->scratch, size);
    if (recent != nullptr && number != 0) {
        recent->size = used;
        recent->number = number;
        std::memcpy(recent->words, words, used * sizeof *words);
    }
    return number;
}

std::size_t Recorder::encode(const DetailsView& details) {
    std::size_t size = encodeDetails(details, m_memory->scratch, RecorderMemory::kScratchBytes);
    if (size != 0 && details.requestCount <= kMaxListed && details.completionCount <= kMaxListed) {
        return size;
    }
    DetailsView cut = details;
    cut.truncated = true;
    cut.requestCount = cut.requestCount < kMaxListed ? cut.requestCount : kMaxListed;
    cut.completionCount = cut.completionCount < kMaxListed ? cut.completionCount : kMaxListed;
    while ((size = encodeDetails(cut, m_memory->scratch, RecorderMemory::kScratchBytes)) == 0) {
        cut.requestCount -= cut.requestCount / 8 + (cut.requestCount != 0 ? 1 : 0);
        cut.completionCount -= cut.completionCount / 8 + (cut.completionCount != 0 ? 1 : 0);
    }
    return size;
}

void Recorder::writeTime(std::byte* end, std::uint32_t& used, std::uint8_t& lastCode, TimeNs execution) {
    const auto put = [end, &used](std::uint8_t byte) { *(end - ++used) = static_cast<std::byte>(byte); };
    const TimeNs delta = execution - m_time;
    const auto distance = [delta](std::uint8_t code) {
        const TimeNs error = delta - kDeltaOfCode[code];
        return error < 0 ? -error : error;
    };
    std::uint8_t code = lastCode;
    if (code == kExactTime || distance(code) > m_tolerance) {
        code = codeOfDelta(delta);
        if (distance(code) > m_exactFrom) {
            auto units = static_cast<std::uint64_t>(delta + (TimeNs{1} << (kExactShift - 1))) >> kExactShift;
            m_time += static_cast<TimeNs>(units << kExactShift);
            put(kExactTime);
            for (; units >= 0x80; units >>= 7) {
                put(static_cast<std::uint8_t>(units | 0x80));
            }
            put(static_cast<std::uint8_t>(units));
            return;
        }
        lastCode = code;
    }
    m_time += kDeltaOfCode[code];
    put(code);
}

std::uint64_t Recorder::append(const DetailsView& details, TimeNs execution, std::uint64_t pollFailures) {
    const std::uint64_t number = m_lastEvent + 1;
    m_header->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!m_off) {
        std::size_t size = 0;
        const std::uint32_t id = signatureOf(details, size);
        const std::uint32_t need = kPlainEventBytes + (id == 0 ? static_cast<std::uint32_t>(size) : 0);
        if (m_ids + m_times + need > kStagingBytes) {
            flush();
        }
        if (!m_off) {
            ByteWriter out(m_staging + m_ids, need);
            out.varint(id);
            std::uint32_t ids = m_ids + static_cast<std::uint32_t>(out.used());
            if (id == 0) {
                std::memcpy(m_staging + ids, m_memory->scratch, size);
                ids += static_cast<std::uint32_t>(size);
            }
            if (details.kind == EventKind::End && isPoll(functionClass(details.function))) {
                ByteWriter failures(m_staging + ids, 10);
                failures.varint(pollFailures);
                ids += static_cast<std::uint32_t>(failures.used());
            }
            // Held time is subtracted by two parties: never let it turn the clock back.
            m_lastExecution = execution > m_lastExecution ? execution : m_lastExecution;
            const std::uint32_t sticky = id == 0 ? RecorderMemory::kMaxSignatures : id - 1;
            writeTime(m_staging + kStagingBytes, m_times, m_memory->lastCode[sticky], m_lastExecution);
            m_ids = ids;
            m_header->stagedIds.store(m_ids, std::memory_order_release);
            m_header->stagedTimes.store(m_times, std::memory_order_release);
        }
    }
    m_lastEvent = number;
    m_header->eventCount.store(number, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    m_header->busy.store(0, std::memory_order_relaxed);
    return number;
}

CommIndex Recorder::addComm(const CommView& comm) {
    const std::uint64_t length = m_header->commLength.load(std::memory_order_relaxed);
    const std::size_t size = encodeComm(comm, m_base + kCommOffset + length, kCommBytes - length);
    if (size == 0) {
        return kNoComm;
    }
    m_header->commLength.store(length + size, std::memory_order_release);
    return CommIndex{m_comms++};
}

void Recorder::flush() {
    if (m_off || m_ids == 0) {
        return;
    }
    const std::uint64_t length = m_header->blockLength.load(std::memory_order_relaxed);
    const std::uint64_t at = kBlockOffset + length;
    if (!ensureFile(at + sizeof(BlockHeader) + m_ids + m_times + 8)) {
        return;
    }
    // The time stream was written downwards; nobody reads this buffer's times any more once the block is
    // published, but until then a reader may: so they are turned round in the other buffer.
    const std::uint32_t sequence = m_header->stagingSequence.load(std::memory_order_relaxed);
    std::byte* times = m_base + kStagingOffset + ((sequence + 1) & 1) * kStagingBytes;
    for (std::uint32_t i = 0; i < m_times; ++i) {
        times[i] = m_staging[kStagingBytes - 1 - i];
    }
    std::byte* data = m_base + at + sizeof(BlockHeader);
    BlockHeader block{};
    block.magic = kBlockMagic;
    block.firstEvent = m_firstStaged;
    block.startTime = m_header->stagedTime.load(std::memory_order_relaxed);
    block.eventCount = static_cast<std::uint32_t>(m_lastEvent - m_firstStaged + 1);
    block.idBytes = m_ids;
    block.timeBytes = m_times;
    block.codec = 1;
    block.compressedBytes = deflateStreams(*m_memory, m_staging, m_ids, times, m_times, data);
    if (block.compressedBytes == 0) {
        block.codec = 0;
        block.compressedBytes = m_ids + m_times;
        std::memcpy(data, m_staging, m_ids);
        std::memcpy(data + m_ids, times, m_times);
    }
    block.checksum = checksumOf(block, m_staging, times);
    std::memcpy(m_base + at, &block, sizeof block);
    const std::uint64_t stored = (std::uint64_t{block.compressedBytes} + 7) & ~std::uint64_t{7};
    m_header->blockLength.store(length + sizeof block + stored, std::memory_order_release);

    startBuffer((sequence + 1) & ~kStagingTurning);
}

} // namespace stopline::trace
