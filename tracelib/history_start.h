// What has to be known of the events that a rank did before the ones that are kept: how many requests it had made, how
// many messages it had sent and received in each order that matters, what it had under way. With this the kept events
// mean what they would mean with the others before them.
#pragma once

#include "mapping.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::trace {

/// What a StartCount counts; `comm`, `peer` and `tag` as the rank itself names them.
enum class Counted : std::uint32_t {
    Send,       ///< messages sent to `peer`
    Receive,    ///< receives from `peer` whose place in the order is settled; wildcards by what they got
    Collective, ///< collectives on `comm`, files and windows too; without peer and tag
    Init,
    Finalize,
    Epoch, ///< calls that open or close an epoch of a group on the window `comm`
    Seen,  ///< messages from `peer` that were received before the one that a probe saw last, and that one
};

struct StartCount {
    std::uint64_t count;
    Counted what;
    std::uint32_t comm;
    std::int32_t peer;
    std::int32_t tag;
};

/// A receive that was posted and not seen complete, or a persistent request.
struct StartRequest {
    std::uint64_t serial;
    std::uint64_t bytes;
    std::uint32_t comm;
    std::int32_t peer; ///< as posted; the root of a collective
    std::int32_t tag;
    std::uint16_t function; ///< FunctionId that made it
    std::uint8_t active;    ///< of persistent ones: 1 between Start and completion; of others: 1
    std::uint8_t freed;     ///< a persistent one that goes with its completion
};

/// A call that had begun and not ended.
struct StartCall {
    std::uint32_t thread;
    std::uint32_t function; ///< FunctionId
    std::uint32_t comm;
    std::int32_t sendPeer;
    std::int32_t sendTag;
    std::int32_t recvPeer;
    std::int32_t recvTag;
    std::uint32_t reserved;
};

/// Written into the mapping as it is. The used parts of the arrays are what packStart() writes.
struct HistoryStart {
    static constexpr std::uint32_t kMaxCalls = 64;
    static constexpr std::uint32_t kMaxRequests = 1024;
    static constexpr std::uint32_t kMaxCounts = 4096;

    std::uint64_t position;   ///< of the first kept block, see MappingHeader::blockLength
    std::uint64_t firstEvent; ///< number of the first kept event; 0 and 1: nothing is missing
    std::uint64_t requests;   ///< requests made
    std::uint64_t messages;   ///< taken by matched probes
    std::uint32_t comms;      ///< communicators, windows and files made: those with a lower CommIndex
    std::uint32_t incomplete; ///< 1: there was no room for all; counts and requests say nothing then
    std::uint32_t callCount;
    std::uint32_t requestCount;
    std::uint32_t countCount;
    std::uint32_t reserved;
    StartCall calls[kMaxCalls];
    StartRequest open[kMaxRequests];
    StartCount counts[kMaxCounts];
};
static_assert(sizeof(HistoryStart) <= kStartBytes);

/// Bytes of the fixed part, then the used parts of the arrays one behind the other.
[[nodiscard]] std::size_t packedStartBytes(const HistoryStart& start);
void packStart(const HistoryStart& start, std::byte* out);
/// False when the bytes are no such thing; `start` is then undefined.
[[nodiscard]] bool unpackStart(std::span<const std::byte> bytes, HistoryStart& start);

/// What a begin of these details takes part in, the same for whoever counts and whoever matches.
[[nodiscard]] constexpr bool isWildcard(std::int32_t peer, std::int32_t tag) {
    return peer == kAnySource || (peer >= 0 && tag == kAnyTag);
}

} // namespace stopline::trace
