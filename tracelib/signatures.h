// Which entry of the dictionary the details of an event are. Details repeat: finding the entry again takes no
// encoding, and for a call that does the same as the time before no hashing of them either.
#pragma once

#include "codec.h"
#include "mapping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stopline::trace {

[[nodiscard]] bool hasSameLists(const DetailsView& a, const DetailsView& b);

/// Field by field as they were stored a moment ago: wider loads would have to wait for those stores.
[[nodiscard]] inline bool isSame(const DetailsView& a, const DetailsView& b) {
    const auto differs = [](auto x, auto y) { return static_cast<std::uint64_t>(x ^ y); };
    const auto wide = [](std::int32_t x, std::int32_t y) { return static_cast<std::uint32_t>(x ^ y); };
    const std::uint64_t difference =
        differs(static_cast<unsigned>(a.kind), static_cast<unsigned>(b.kind)) |
        differs(static_cast<unsigned>(a.flag), static_cast<unsigned>(b.flag)) |
        differs(static_cast<unsigned>(a.truncated), static_cast<unsigned>(b.truncated)) |
        differs(static_cast<unsigned>(a.shared), static_cast<unsigned>(b.shared)) |
        differs(static_cast<unsigned>(a.function), static_cast<unsigned>(b.function)) |
        differs(unsigned{a.thread}, unsigned{b.thread}) | differs(a.site.value(), b.site.value()) |
        differs(a.comm.value(), b.comm.value()) | differs(a.newComm.value(), b.newComm.value()) |
        wide(a.sendPeer, b.sendPeer) | wide(a.sendTag, b.sendTag) | wide(a.recvPeer, b.recvPeer) |
        wide(a.recvTag, b.recvTag) | differs(a.sendBytes, b.sendBytes) | differs(a.recvBytes, b.recvBytes) |
        wide(a.root, b.root) | wide(static_cast<std::int32_t>(a.error), static_cast<std::int32_t>(b.error)) |
        wide(a.errorCode, b.errorCode) | wide(a.mode, b.mode) |
        wide(a.status.source, b.status.source) | wide(a.status.tag, b.status.tag) |
        differs(a.status.bytes, b.status.bytes) |
        differs(static_cast<unsigned>(a.status.cancelled), static_cast<unsigned>(b.status.cancelled)) |
        differs(a.message.back, b.message.back) | differs(a.requestCount, b.requestCount) |
        differs(a.completionCount, b.completionCount) | differs(a.peerCount, b.peerCount);
    return difference == 0 &&
           ((a.requestCount | a.completionCount | a.peerCount) == 0 || hasSameLists(a, b));
}

/// What the details of an event are made from, where that is less than the details: equal keys, equal details.
/// The first word tells call sites apart.
struct QuickKey {
    static constexpr int kWords = 7;
    std::uint64_t words[kWords];
};

/// Tables of fixed size in zeroed memory of the caller; pages that are never touched cost nothing.
struct SignatureMemory {
    static constexpr std::uint32_t kMaxSignatures = 40'000;
    static constexpr std::uint32_t kCells = 1U << 16;
    static constexpr std::uint32_t kRecent = 1024;
    static constexpr unsigned kHintBits = 9;
    static constexpr std::uint32_t kHints = 1U << kHintBits;
    static constexpr std::size_t kScratchBytes = 60 * 1024;

    struct Signature {
        std::uint32_t hash;
        std::uint32_t offset; ///< in the dictionary
        std::uint32_t size;
    };
    /// Details seen lately, if their lists are short. Bytes, because zeroed memory has to be a valid free
    /// one.
    struct Recent {
        static constexpr std::uint32_t kRequests = 8;
        static constexpr std::uint32_t kCompletions = 4;
        static constexpr std::uint32_t kPeers = 8;
        std::uint32_t number;                                     ///< signature number + 1, 0: free
        alignas(DetailsView) std::byte view[sizeof(DetailsView)]; ///< its lists are those below
        alignas(RequestRef) std::byte requests[kRequests * sizeof(RequestRef)];
        alignas(Completion) std::byte completions[kCompletions * sizeof(Completion)];
        alignas(std::int32_t) std::byte peers[kPeers * sizeof(std::int32_t)];

        [[nodiscard]] bool holds(const DetailsView& details) const {
            return isSame(*reinterpret_cast<const DetailsView*>(view), details) && number != 0;
        }
        void keep(const DetailsView& details, std::uint32_t itsNumber);
    };

    /// The last key of a call site and its signature.
    struct Quick {
        QuickKey key;
        std::uint32_t number; ///< signature number + 1, 0: free
    };

    Quick quick[kHints];
    std::uint16_t hints[kHints]; ///< by call site: where in `recent` its last details are
    Recent recent[kRecent];
    std::uint32_t cells[kCells]; ///< signature number + 1
    Signature signatures[kMaxSignatures];
    std::byte scratch[kScratchBytes];
};

/// Numbers details and writes the dictionary of a mapping. Not thread-safe.
class Signatures {
  public:
    void open(std::byte* base, SignatureMemory* memory);

    /// Number + 1, or 0 when the dictionary is full: then scratch() holds the `size` bytes of the details.
    [[nodiscard]] std::uint32_t numberOf(const DetailsView& details, std::size_t& size) {
        std::uint16_t& hint = m_memory->hints[hintOf(details)];
        const SignatureMemory::Recent& last = m_memory->recent[hint];
        if (last.holds(details)) [[likely]] {
            return last.number;
        }
        return search(details, hint, size);
    }
    /// The number that `key` had the last time, 0 when its call site has had another key since. Inlined always: a call of it
    /// costs a traced call 2 ns.
    [[nodiscard, gnu::always_inline]] std::uint32_t numberOf(const QuickKey& key) const {
        const SignatureMemory::Quick& last = m_memory->quick[slotOf(key.words[0])];
        const std::uint64_t(&a)[QuickKey::kWords] = last.key.words;
        const std::uint64_t(&b)[QuickKey::kWords] = key.words;
        const std::uint64_t difference = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) |
                                         (a[4] ^ b[4]) | (a[5] ^ b[5]) | (a[6] ^ b[6]);
        return difference == 0 ? last.number : 0;
    }
    void remember(const QuickKey& key, std::uint32_t number) {
        m_memory->quick[slotOf(key.words[0])] = {key, number};
    }
    /// No key has had a number yet.
    void forgetKeys() { std::fill_n(m_memory->quick, SignatureMemory::kHints, SignatureMemory::Quick{}); }
    [[nodiscard]] const std::byte* scratch() const { return m_memory->scratch; }

  private:
    [[nodiscard]] static std::uint32_t slotOf(std::uint64_t word) {
        // The highest bits of the product: all bits of the word take part in them.
        return static_cast<std::uint32_t>(word * 0x9e3779b97f4a7c15ULL >> (64 - SignatureMemory::kHintBits));
    }
    [[nodiscard]] static std::uint32_t hintOf(const DetailsView& d) {
        const std::uint64_t what = d.site.value() ^
                                   std::uint64_t{static_cast<std::uint16_t>(d.function)} << 48 ^
                                   std::uint64_t{static_cast<std::uint8_t>(d.kind)} << 63;
        return slotOf(what);
    }
    [[nodiscard]] std::uint32_t search(const DetailsView& details, std::uint16_t& hint, std::size_t& size);
    [[nodiscard]] std::uint32_t intern(const std::byte* bytes, std::size_t size);
    [[nodiscard]] std::size_t encode(const DetailsView& details);

    MappingHeader* m_header = nullptr;
    std::uint64_t m_length = 0; ///< of the dictionary; the header's may be overwritten by the program
    std::byte* m_dictionary = nullptr;
    SignatureMemory* m_memory = nullptr;
    std::uint32_t m_count = 0;
    bool m_full = false;
};

} // namespace stopline::trace
