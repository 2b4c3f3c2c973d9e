// The byte formats of the recording, writing side: works on memory of the caller, allocates nothing, no
// exceptions. The one encoder of the preloaded libraries and of every test.
#pragma once

#include "event.h"
#include "mapping.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stopline::trace {

/// Most requests, completions or peers that one event may list. Longer ones are cut and marked `truncated`.
inline constexpr std::uint32_t kMaxListed = 1U << 17;

/// EventDetails without ownership: what a wrapper fills in. Fields as there.
struct DetailsView {
    EventKind kind = EventKind::Begin;
    bool flag = true;
    bool truncated = false;
    bool shared = false;
    FunctionId function = FunctionId::Init;
    std::uint16_t thread = 0;
    CodeAddress site{0};
    CommIndex comm = kNoComm;
    std::int32_t sendPeer = kNoPeer;
    std::int32_t sendTag = kNoTag;
    std::uint64_t sendBytes = 0;
    std::int32_t recvPeer = kNoPeer;
    std::int32_t recvTag = kNoTag;
    std::uint64_t recvBytes = 0;
    std::int32_t root = kNoPeer;
    ErrorClass error = ErrorClass::Success;
    std::int32_t errorCode = 0;
    std::int32_t mode = 0;
    Status status;
    CommIndex newComm = kNoComm;
    RequestRef message;
    const RequestRef* requests = nullptr;
    std::uint32_t requestCount = 0;
    const Completion* completions = nullptr;
    std::uint32_t completionCount = 0;
    const std::int32_t* peers = nullptr;
    std::uint32_t peerCount = 0;
};

/// CommInfo without ownership.
struct CommView {
    std::uint64_t id = 0;
    CommKind kind = CommKind::World;
    CommIndex parent = kNoComm;
    std::uint32_t ordinal = 0;
    const std::int32_t* members = nullptr;
    std::uint32_t memberCount = 0;
    const std::int32_t* remote = nullptr;
    std::uint32_t remoteCount = 0;
    const JobRun* jobs = nullptr;
    std::uint32_t jobCount = 0;
};

/// Presence bits of serialised details: a field equal to its default is not written.
enum DetailsField : std::uint32_t {
    kHasThread = 1U << 0,
    kHasSite = 1U << 1,
    kHasComm = 1U << 2,
    kHasSendPeer = 1U << 3,
    kHasSendTag = 1U << 4,
    kHasSendBytes = 1U << 5,
    kHasRecvPeer = 1U << 6,
    kHasRecvTag = 1U << 7,
    kHasRecvBytes = 1U << 8,
    kHasRoot = 1U << 9,
    kHasRequests = 1U << 10,
    kHasError = 1U << 11,
    kHasStatus = 1U << 12,
    kHasCompletions = 1U << 13,
    kHasNewComm = 1U << 14,
    kHasMessage = 1U << 15,
    kHasMode = 1U << 16,
    kHasPeers = 1U << 17,
    kAllFields = (1U << 18) - 1,
};
/// First byte of a step between completions.
enum CompletionFlag : std::uint8_t { kIsCancelled = 1, kHasFailed = 2, kAllCompletionFlags = 3 };
/// First byte of serialised details.
enum DetailsFlag : std::uint8_t { kIsEnd = 1, kFlagFalse = 2, kIsTruncated = 4, kIsShared = 8, kAllFlags = 15 };

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t v) {
    return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t v) {
    return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

/// Appends to a buffer of fixed size; remembers when something did not fit.
class ByteWriter {
  public:
    ByteWriter(std::byte* out, std::size_t capacity) : m_out(out), m_capacity(capacity) {}
    void byte(std::uint8_t v) {
        if (m_used < m_capacity) {
            m_out[m_used++] = static_cast<std::byte>(v);
        } else {
            m_ok = false;
        }
    }
    void varint(std::uint64_t v) {
        while (v >= 0x80) {
            byte(static_cast<std::uint8_t>(v | 0x80));
            v >>= 7;
        }
        byte(static_cast<std::uint8_t>(v));
    }
    void signedVarint(std::int64_t v) { varint(zigzag(v)); }
    [[nodiscard]] std::size_t used() const { return m_used; }
    [[nodiscard]] bool ok() const { return m_ok; }

  private:
    std::byte* m_out;
    std::size_t m_capacity;
    std::size_t m_used = 0;
    bool m_ok = true;
};

/// Serialises details. Returns the bytes written, 0 when they do not fit.
[[nodiscard]] std::size_t encodeDetails(const DetailsView& details, std::byte* out, std::size_t capacity);
/// Serialises a communicator. Returns the bytes written, 0 when they do not fit.
[[nodiscard]] std::size_t encodeComm(const CommView& comm, std::byte* out, std::size_t capacity);

inline constexpr int kCodeStepBits = 2; ///< four codes an octave

[[nodiscard]] constexpr TimeNs deltaOfCode(std::uint8_t code) {
    if (code == 0 || code == kExactTime) {
        return 0;
    }
    const int step = code - 1;
    const int octave = step >> kCodeStepBits;
    if (octave > 62) {
        return std::numeric_limits<TimeNs>::max();
    }
    const std::uint64_t mantissa = (1U << kCodeStepBits) + (static_cast<unsigned>(step) & 3U);
    // The last octaves would overflow if shifted up first.
    const int shift = octave - kCodeStepBits;
    return static_cast<TimeNs>(shift >= 0 ? mantissa << shift : mantissa >> -shift);
}
inline constexpr std::array<TimeNs, 256> kDeltaOfCode = [] {
    std::array<TimeNs, 256> table{};
    for (int code = 0; code < 256; ++code) {
        table[static_cast<std::size_t>(code)] = deltaOfCode(static_cast<std::uint8_t>(code));
    }
    return table;
}();

/// The code whose value is nearest to `delta`; 0 for no time or less.
[[nodiscard]] constexpr std::uint8_t codeOfDelta(TimeNs delta) {
    if (delta <= 0) {
        return 0;
    }
    const auto value = static_cast<std::uint64_t>(delta);
    const int octave = 63 - std::countl_zero(value);
    const int shift = octave - kCodeStepBits;
    const auto step = static_cast<unsigned>(shift >= 0 ? value >> shift : value << -shift) & 3U;
    const auto code = static_cast<std::uint8_t>((octave << kCodeStepBits) + static_cast<int>(step) + 1);
    // Below 4 ns neighbouring codes mean the same time: the exact one is already found.
    if (shift < 0 || code >= 252) {
        return code;
    }
    const auto up = static_cast<std::uint8_t>(code + 1);
    return kDeltaOfCode[up] - delta < delta - kDeltaOfCode[code] ? up : code;
}

/// FNV-like mixing in steps of eight bytes: good enough for tables, the same on every machine of one byte
/// order.
[[nodiscard]] inline std::uint64_t hashBytes(const std::byte* bytes, std::size_t size,
                                             std::uint64_t seed = 0x9e3779b97f4a7c15ULL) {
    std::uint64_t h = seed ^ (size * 0xff51afd7ed558ccdULL);
    const auto mix = [&h](std::uint64_t word) {
        h = (h ^ word) * 0xd6e8feb86659fd93ULL;
        h ^= h >> 32;
    };
    for (; size >= 8; size -= 8, bytes += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, 8);
        mix(word);
    }
    if (size != 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, size);
        mix(word);
    }
    return h;
}

} // namespace stopline::trace
