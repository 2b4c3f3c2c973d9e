#include "recorder.h"

#include <zlib.h>

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

/// Most bytes that a time takes.
constexpr std::uint32_t kMostTimeBytes = 1 + 10;

/// The streams of a block, in their order.
struct Streams {
    explicit Streams(const Packer& packer)
        : data{packer.tokens(), packer.ids(), packer.times()},
          size{packer.tokenBytes(), packer.idBytes(), packer.timeBytes()} {}
    [[nodiscard]] std::uint32_t total() const { return size[0] + size[1] + size[2]; }
    static constexpr int kCount = 3;
    const std::byte* data[kCount];
    std::uint32_t size[kCount];
};

/// Deflates the streams into `out`; 0 when it fails or the result is not smaller.
std::uint32_t deflateStreams(RecorderMemory& memory, const Streams& streams, std::byte* out) {
    // A new state each time: its 268 kB are cleared by zlib itself only where it needs them.
    Arena arena{memory.arena, memory.arena + sizeof memory.arena};
    z_stream stream{};
    stream.zalloc = takeFromArena;
    stream.zfree = leaveInArena;
    stream.opaque = &arena;
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return 0;
    }
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = streams.total();
    int result = Z_OK;
    for (int i = 0; i < Streams::kCount && result == Z_OK; ++i) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(streams.data[i]));
        stream.avail_in = streams.size[i];
        result = deflate(&stream, i + 1 == Streams::kCount ? Z_FINISH : Z_NO_FLUSH);
        // An empty stream is no progress, and no fault.
        result = result == Z_BUF_ERROR && streams.size[i] == 0 ? Z_OK : result;
    }
    return result == Z_STREAM_END ? static_cast<std::uint32_t>(stream.total_out) : 0;
}

std::uint32_t checksumOf(const BlockHeader& header, const Streams& streams) {
    uLong sum = adler32(1, reinterpret_cast<const Bytef*>(&header), sizeof header);
    for (int i = 0; i < Streams::kCount; ++i) {
        sum = adler32(sum, reinterpret_cast<const Bytef*>(streams.data[i]), streams.size[i]);
    }
    return static_cast<std::uint32_t>(sum);
}

} // namespace

void Recorder::open(std::byte* base, RecorderMemory* memory, GrowFunction grow, void* growContext,
                    TimeNs tolerance) {
    m_base = base;
    m_header = reinterpret_cast<MappingHeader*>(base);
    m_memory = memory;
    m_signatures.open(base, &memory->signatures);
    m_ring.open(base, &memory->history, grow, growContext);
    m_tolerance = tolerance < 0 ? 0 : tolerance;
    constexpr TimeNs exactError = TimeNs{1} << (kExactShift - 1);
    m_exactFrom = m_tolerance > exactError ? m_tolerance : exactError;
    m_commLength = m_header->commLength.load(std::memory_order_relaxed);
    startBuffer(0);
}

void Recorder::startBuffer(std::uint32_t sequence) {
    // Whoever copies the header meanwhile sees by the mark, or by the changed sequence, that the words do not
    // belong together.
    m_header->stagingSequence.store(m_sequence | kStagingTurning, std::memory_order_relaxed);
    m_sequence = sequence;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    m_staging = m_base + kStagingOffset + (sequence & 1) * kStagingBytes;
    m_ids = 0;
    m_times = 0;
    m_memory->packer.reset();
    std::memset(m_memory->lastCode, 0, sizeof m_memory->lastCode);
    m_firstStaged = m_lastEvent + 1;
    m_header->stagedIds.store(0, std::memory_order_release);
    m_header->stagedTimes.store(0, std::memory_order_release);
    m_header->stagedFirst.store(m_firstStaged, std::memory_order_release);
    m_stagedTime = m_time;
    m_header->stagedTime.store(m_time, std::memory_order_release);
    m_header->stagingSequence.store(sequence, std::memory_order_release);
}

void Recorder::switchOff(int error) {
    if (!m_off) {
        m_off = true;
        m_header->recordingOff.store(static_cast<std::uint32_t>(error), std::memory_order_release);
    }
}

inline std::uint32_t Recorder::codeTime(std::uint8_t& lastCode, TimeNs delta, std::byte* out) {
    const auto distance = [delta](std::uint8_t code) {
        const TimeNs error = delta - kDeltaOfCode[code];
        return error < 0 ? -error : error;
    };
    std::uint8_t code = static_cast<std::uint8_t>(~lastCode);
    if (code != kExactTime && distance(code) <= m_tolerance) [[likely]] {
        m_time += kDeltaOfCode[code];
        out[0] = static_cast<std::byte>(code);
        return 0;
    }
    code = codeOfDelta(delta);
    if (distance(code) <= m_exactFrom) {
        lastCode = static_cast<std::uint8_t>(~code);
        m_time += kDeltaOfCode[code];
        out[0] = static_cast<std::byte>(code);
        return 1;
    }
    const auto units = static_cast<std::uint64_t>(delta + (TimeNs{1} << (kExactShift - 1))) >> kExactShift;
    m_time += static_cast<TimeNs>(units << kExactShift);
    ByteWriter exact(out, kMostTimeBytes);
    exact.byte(kExactTime);
    exact.varint(units);
    return static_cast<std::uint32_t>(exact.used());
}

inline bool Recorder::makeRoom(std::size_t size) {
    if (m_ids + m_times + kPlainEventBytes + size > kStagingBytes) [[unlikely]] {
        flush();
    }
    return !m_off;
}

/// Writes an event but for failures of a poll: those go behind it.
inline void Recorder::put(std::uint32_t id, std::size_t size, TimeNs execution) {
    std::byte* ids = m_staging + m_ids;
    if (id - 1 < 0x7f) [[likely]] {
        *ids = static_cast<std::byte>(id);
        ++m_ids;
    } else {
        ByteWriter out(ids, 5);
        out.varint(id);
        m_ids += static_cast<std::uint32_t>(out.used());
        if (id == 0) {
            std::memcpy(m_staging + m_ids, m_signatures.scratch(), size);
            m_ids += static_cast<std::uint32_t>(size);
        }
    }
    // Held time is subtracted by two parties: never let it turn the clock back.
    m_lastExecution = execution > m_lastExecution ? execution : m_lastExecution;
    std::byte time[kMostTimeBytes];
    const std::uint32_t timeSize =
        codeTime(m_memory->lastCode[id == 0 ? SignatureMemory::kMaxSignatures : id - 1],
                 m_lastExecution - m_time, time);
    std::byte* times = m_staging + kStagingBytes - 1 - m_times;
    *times = time[0];
    for (std::uint32_t i = 1; i < timeSize; ++i) {
        *--times = time[i];
    }
    m_times += timeSize > 1 ? timeSize : 1;
    m_memory->packer.add(id, m_signatures.scratch(), size, time, timeSize);
}

void Recorder::putFailures(std::uint64_t failures) {
    ByteWriter out(m_staging + m_ids, 10);
    out.varint(failures);
    m_ids += static_cast<std::uint32_t>(out.used());
    m_memory->packer.addFailures(failures);
}

inline std::uint64_t Recorder::publish() {
    m_header->stagedIds.store(m_ids, std::memory_order_release);
    m_header->stagedTimes.store(m_times, std::memory_order_release);
    const std::uint64_t number = ++m_lastEvent;
    m_header->eventCount.store(number, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    m_header->busy.store(0, std::memory_order_relaxed);
    return number;
}

std::uint64_t Recorder::appendKnown(std::uint32_t id, TimeNs execution) {
    m_header->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (makeRoom(0)) [[likely]] {
        put(id, 0, execution);
    }
    return publish();
}

std::uint64_t Recorder::appendKeyed(const QuickKey& key, const DetailsView& details, TimeNs execution) {
    return appendDetails(&key, details, execution, 0);
}

void Recorder::setFillAlways(bool always) {
    m_fillAlways = always;
    if (always) {
        m_signatures.forgetKeys();
    }
}

std::uint64_t Recorder::append(const DetailsView& details, TimeNs execution, std::uint64_t pollFailures) {
    return appendDetails(nullptr, details, execution, pollFailures);
}

inline std::uint64_t Recorder::appendDetails(const QuickKey* key, const DetailsView& details, TimeNs execution,
                                             std::uint64_t pollFailures) {
    m_header->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!m_off) {
        std::size_t size = 0;
        const std::uint32_t id = m_signatures.numberOf(details, size);
        if (key != nullptr && id != 0 && !m_fillAlways) {
            m_signatures.remember(*key, id);
        }
        if (makeRoom(id == 0 ? size : 0)) {
            put(id, size, execution);
            if (details.kind == EventKind::End && isPoll(functionClass(details.function))) {
                putFailures(pollFailures);
            }
        }
    }
    return publish();
}

CommIndex Recorder::addComm(const CommView& comm) {
    const std::size_t size = encodeComm(comm, m_base + kCommOffset + m_commLength, kCommBytes - m_commLength);
    if (size == 0) {
        return kNoComm;
    }
    m_commLength += size;
    m_header->commLength.store(m_commLength, std::memory_order_release);
    return CommIndex{m_comms++};
}

void Recorder::flush() {
    if (m_off || m_ids == 0) {
        return;
    }
    m_memory->packer.finish();
    const Streams streams(m_memory->packer);
    std::byte* at = m_ring.makeRoom(sizeof(BlockHeader) + streams.total(), m_memory->arena);
    if (at == nullptr) {
        switchOff(m_ring.error());
        return;
    }
    std::byte* data = at + sizeof(BlockHeader);
    BlockHeader block{};
    block.magic = kBlockMagic;
    block.firstEvent = m_firstStaged;
    block.startTime = m_stagedTime;
    block.eventCount = static_cast<std::uint32_t>(m_lastEvent - m_firstStaged + 1);
    block.tokenBytes = streams.size[0];
    block.idBytes = streams.size[1];
    block.timeBytes = streams.size[2];
    block.codec = 1;
    block.compressedBytes = deflateStreams(*m_memory, streams, data);
    if (block.compressedBytes == 0) {
        block.codec = 0;
        block.compressedBytes = streams.total();
        for (int i = 0, used = 0; i < Streams::kCount; used += static_cast<int>(streams.size[i++])) {
            std::memcpy(data + used, streams.data[i], streams.size[i]);
        }
    }
    block.checksum = checksumOf(block, streams);
    std::memcpy(at, &block, sizeof block);
    m_ring.written(sizeof block + block.compressedBytes);

    startBuffer((m_sequence + 1) & ~kStagingTurning);
}

} // namespace stopline::trace
