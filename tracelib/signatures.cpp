#include "signatures.h"

#include <new>

namespace stopline::trace {

namespace {

using Recent = SignatureMemory::Recent;

/// Independent products, so that the processor works on them side by side.
class Mixer {
  public:
    void add(std::uint64_t word) {
        m_sum += word * m_factor ^ word >> 29;
        m_factor += 0xd1342543de82ef96ULL;
    }
    void add(std::uint32_t low, std::uint32_t high) { add(low | std::uint64_t{high} << 32); }
    void add(std::int32_t low, std::int32_t high) {
        add(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high));
    }
    [[nodiscard]] std::uint32_t sum() const {
        return static_cast<std::uint32_t>(m_sum ^ m_sum >> 32 ^ m_sum >> 47);
    }

  private:
    std::uint64_t m_sum = 0;
    std::uint64_t m_factor = 0x9e3779b97f4a7c15ULL;
};

std::uint32_t hashOf(const DetailsView& d) {
    Mixer mixer;
    mixer.add(static_cast<std::uint32_t>(d.kind) | (d.flag ? 2U : 0U) | d.requestCount << 8 |
                  d.completionCount << 16,
              static_cast<std::uint32_t>(d.function) | std::uint32_t{d.thread} << 16);
    mixer.add(d.site.value());
    mixer.add(d.comm.value(), d.newComm.value());
    mixer.add(d.sendPeer, d.sendTag);
    mixer.add(d.recvPeer, d.recvTag);
    mixer.add(d.sendBytes);
    mixer.add(d.recvBytes);
    mixer.add(d.root, d.errorCode ^ d.mode);
    mixer.add(d.status.source, d.status.tag);
    mixer.add(d.status.bytes);
    mixer.add(d.message.back, 0U);
    for (std::uint32_t i = 0; i < d.requestCount; ++i) {
        mixer.add(d.requests[i].back, i);
    }
    for (std::uint32_t i = 0; i < d.completionCount; ++i) {
        const Completion& c = d.completions[i];
        mixer.add(c.request.back, c.index);
        mixer.add(c.status.source, c.status.tag);
        mixer.add(c.status.bytes);
    }
    for (std::uint32_t i = 0; i < d.peerCount; ++i) {
        mixer.add(d.peers[i], static_cast<std::int32_t>(i));
    }
    return mixer.sum();
}

} // namespace

void Recent::keep(const DetailsView& details, std::uint32_t itsNumber) {
    number = itsNumber;
    if (details.requestCount != 0) {
        std::memcpy(requests, details.requests, details.requestCount * sizeof(RequestRef));
    }
    if (details.completionCount != 0) {
        std::memcpy(completions, details.completions, details.completionCount * sizeof(Completion));
    }
    if (details.peerCount != 0) {
        std::memcpy(peers, details.peers, details.peerCount * sizeof(std::int32_t));
    }
    auto* kept = new (view) DetailsView(details);
    kept->requests = reinterpret_cast<const RequestRef*>(requests);
    kept->completions = reinterpret_cast<const Completion*>(completions);
    kept->peers = reinterpret_cast<const std::int32_t*>(peers);
}

void Signatures::open(std::byte* base, SignatureMemory* memory) {
    m_header = reinterpret_cast<MappingHeader*>(base);
    m_dictionary = base + kDictionaryOffset;
    m_memory = memory;
    m_length = m_header->dictionaryLength.load(std::memory_order_relaxed);
}

bool hasSameLists(const DetailsView& a, const DetailsView& b) {
    for (std::uint32_t i = 0; i < a.requestCount; ++i) {
        if (a.requests[i] != b.requests[i]) {
            return false;
        }
    }
    for (std::uint32_t i = 0; i < a.completionCount; ++i) {
        if (a.completions[i] != b.completions[i]) {
            return false;
        }
    }
    for (std::uint32_t i = 0; i < a.peerCount; ++i) {
        if (a.peers[i] != b.peers[i]) {
            return false;
        }
    }
    return true;
}

std::uint32_t Signatures::search(const DetailsView& details, std::uint16_t& hint, std::size_t& size) {
    Recent* recent = nullptr;
    if (details.requestCount <= Recent::kRequests && details.completionCount <= Recent::kCompletions &&
        details.peerCount <= Recent::kPeers) {
        const std::uint32_t at = hashOf(details) % SignatureMemory::kRecent;
        hint = static_cast<std::uint16_t>(at);
        recent = &m_memory->recent[at];
        if (recent->holds(details)) {
            return recent->number;
        }
    }
    size = encode(details);
    const std::uint32_t number = intern(m_memory->scratch, size);
    if (recent != nullptr && number != 0) {
        recent->keep(details, number);
    }
    return number;
}

std::uint32_t Signatures::intern(const std::byte* bytes, std::size_t size) {
    // The high half: folding the halves once more would leave the low bits of a product, which tell little apart.
    const auto hash = static_cast<std::uint32_t>(hashBytes(bytes, size) >> 32);
    std::uint32_t cell = hash & (SignatureMemory::kCells - 1);
    for (; m_memory->cells[cell] != 0; cell = (cell + 1) & (SignatureMemory::kCells - 1)) {
        const std::uint32_t number = m_memory->cells[cell];
        const SignatureMemory::Signature& known = m_memory->signatures[number - 1];
        if (known.hash == hash && known.size == size &&
            std::memcmp(m_dictionary + known.offset, bytes, size) == 0) {
            return number;
        }
    }
    if (m_full || m_count == SignatureMemory::kMaxSignatures || m_length + size > kDictionaryBytes) {
        // For ever, so that the same details do not change their form again and again.
        m_full = true;
        return 0;
    }
    std::memcpy(m_dictionary + m_length, bytes, size);
    m_memory->signatures[m_count] = {hash, static_cast<std::uint32_t>(m_length),
                                     static_cast<std::uint32_t>(size)};
    m_length += size;
    m_header->dictionaryLength.store(m_length, std::memory_order_release);
    m_memory->cells[cell] = ++m_count;
    return m_count;
}

std::size_t Signatures::encode(const DetailsView& details) {
    std::size_t size = encodeDetails(details, m_memory->scratch, SignatureMemory::kScratchBytes);
    if (size != 0 && details.requestCount <= kMaxListed && details.completionCount <= kMaxListed &&
        details.peerCount <= kMaxListed) {
        return size;
    }
    DetailsView cut = details;
    cut.truncated = true;
    cut.requestCount = cut.requestCount < kMaxListed ? cut.requestCount : kMaxListed;
    cut.completionCount = cut.completionCount < kMaxListed ? cut.completionCount : kMaxListed;
    cut.peerCount = cut.peerCount < kMaxListed ? cut.peerCount : kMaxListed;
    while ((size = encodeDetails(cut, m_memory->scratch, SignatureMemory::kScratchBytes)) == 0) {
        cut.requestCount -= cut.requestCount / 8 + (cut.requestCount != 0 ? 1 : 0);
        cut.completionCount -= cut.completionCount / 8 + (cut.completionCount != 0 ? 1 : 0);
        cut.peerCount -= cut.peerCount / 8 + (cut.peerCount != 0 ? 1 : 0);
    }
    return size;
}

} // namespace stopline::trace
