#include "unpacker.h"

#include <zlib.h>

#include <cstring>

namespace stopline::trace {

namespace {

constexpr std::uint64_t kMaxExact = (std::numeric_limits<std::uint64_t>::max() >> 2) >> kExactShift;
constexpr std::uint64_t kMaxId = 1U << 24; ///< far above what a dictionary can hold

} // namespace

std::string unpackBlock(const BlockHeader& header, std::span<const std::byte> stored, std::span<std::byte> raw) {
    const uLong size = uLong{header.tokenBytes} + header.idBytes + header.timeBytes;
    const auto* data = reinterpret_cast<const Bytef*>(stored.data());
    auto* out = reinterpret_cast<Bytef*>(raw.data());
    if (header.codec == 0) {
        if (header.compressedBytes != size) {
            return "its header contradicts itself";
        }
        std::memcpy(out, data, size);
    } else {
        uLongf got = raw.size();
        if (uncompress(out, &got, data, header.compressedBytes) != Z_OK || got != size) {
            return "its data cannot be decompressed";
        }
    }
    BlockHeader unsummed = header;
    unsummed.checksum = 0;
    const uLong sum = adler32(1, reinterpret_cast<const Bytef*>(&unsummed), sizeof unsummed);
    return adler32(sum, out, static_cast<uInt>(size)) == header.checksum ? std::string() : "its checksum is wrong";
}

void readCode(ByteReader& in, StreamEvent& event) {
    event.code = in.byte();
    event.exact = event.code == kExactTime ? in.varintUpTo(kMaxExact) : 0;
}

std::uint32_t StagedEvents::nextId() {
    return static_cast<std::uint32_t>(m_ids.varintUpTo(kMaxId));
}

PackedEvents::PackedEvents(std::span<const std::byte> tokens, std::span<const std::byte> ids,
                           std::span<const std::byte> times)
    : m_tokens(tokens), m_ids(ids), m_times(times), m_predictor(std::make_unique<Predictor>()) {
    m_predictor->reset();
    nextToken();
}

void PackedEvents::nextToken() {
    if (m_tokens.atEnd()) {
        return;
    }
    const std::uint64_t token = m_tokens.varint();
    m_hits = token / 4;
    m_misses = static_cast<std::uint32_t>(token % 4);
    m_missed = m_misses != 0;
    m_ok = m_ok && token != 0;
}

std::uint32_t PackedEvents::nextId() {
    std::uint32_t id = m_predictor->guess();
    m_timeMissed = false;
    if (m_hits != 0) {
        --m_hits;
        m_ok = m_ok && id != 0;
    } else if (m_missed) {
        m_missed = false;
        m_timeMissed = (m_misses & kMissedTime) != 0;
        if ((m_misses & kMissedId) != 0) {
            id = m_codes.idOf(static_cast<std::uint32_t>(m_ids.varintUpTo(kMaxId)));
        } else {
            m_ok = m_ok && id != 0;
        }
    } else {
        m_ok = false;
    }
    m_predictor->learn(id);
    if (m_lastCode.size() <= id && ok()) {
        m_lastCode.resize(std::size_t{id} + 1, kExactTime);
    }
    return ok() ? id : 0;
}

void PackedEvents::nextTime(StreamEvent& event) {
    if (m_timeMissed) {
        readCode(m_times, event);
        if (event.code != kExactTime && ok()) {
            m_lastCode[event.id] = event.code;
        }
    } else if (ok()) {
        event.code = m_lastCode[event.id];
        m_ok = event.code != kExactTime;
    }
    if (m_hits == 0 && !m_missed) {
        nextToken();
    }
}

} // namespace stopline::trace
