#include "agent_guard.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stopline::agent {
namespace {

using trace::MappingHeader;

/// A running rank may change the header while it is copied: so often the copy is made anew.
constexpr int kCopyAttempts = 8;
constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 60;
constexpr std::uint32_t kMostThreads = 1U << 20;
constexpr std::uint32_t kMostErrno = 4095;

template <typename T>
T word(const std::atomic<T>& from) {
    return from.load(std::memory_order_relaxed);
}

/// What of `now` the library cannot have written, given that it has written `before`; null: nothing.
const char* faultOf(const MappingHeader& now, const MappingHeader& before) {
    if (now.magic != before.magic || now.formatVersion != before.formatVersion ||
        now.headerBytes != before.headerBytes) {
        return "its header does not start as one";
    }
    if (word(now.state) > static_cast<std::uint32_t>(trace::RankState::Exiting) ||
        word(now.gate) > static_cast<std::uint32_t>(trace::Gate::InitEnd) ||
        word(now.stopReason) > static_cast<std::uint32_t>(trace::StopReason::ExitNoFinalize) ||
        word(now.gateOpen) > 1 || word(now.release) > 1 || word(now.mpiLinked) > 1 || word(now.inHold) > 1 ||
        word(now.pollOpen) > 1 || word(now.busy) > 1 || word(now.insideCall) > kMostThreads ||
        word(now.recordingOff) > kMostErrno) {
        return "its state is none";
    }
    if (word(now.recordingOff) == kOverwritten) {
        return "the library has found it so";
    }
    if (word(now.pid) < 0 || word(now.callerTid) < 0 || word(now.worldRank) < -1 || word(now.worldSize) < 0) {
        return "it names no process";
    }
    if (word(now.eventCount) < word(before.eventCount) || word(now.eventCount) > kMostEvents) {
        return "its number of events is none";
    }
    // Who records does not change any more.
    if (word(before.eventCount) > 0 &&
        (now.libraryBuild != before.libraryBuild || word(now.pid) != word(before.pid) ||
         word(now.originNs) != word(before.originNs) || word(now.stopFunction) != word(before.stopFunction) ||
         word(now.libraryBase) != word(before.libraryBase))) {
        return "it names another recorder";
    }
    if (word(now.dictionaryLength) < word(before.dictionaryLength) ||
        word(now.dictionaryLength) > trace::kDictionaryBytes ||
        word(now.commLength) < word(before.commLength) || word(now.commLength) > trace::kCommBytes ||
        word(now.blockLength) < word(before.blockLength) ||
        word(now.blockLength) > kMostEvents || word(now.blockTail) < word(before.blockTail) ||
        word(now.blockTail) > kMostEvents || now.blockBytes != before.blockBytes ||
        word(now.stopCount) < word(before.stopCount) || word(now.fileBytes) < word(before.fileBytes) ||
        word(now.fileBytes) > std::max(trace::kInitialFileBytes, trace::mappedBytes(trace::blockBytesFor(before.blockBytes)))) {
        return "its lengths are none";
    }
    if (word(now.stagedIds) > trace::kStagingBytes || word(now.stagedTimes) > trace::kStagingBytes ||
        word(now.stagedFirst) > kMostEvents || word(now.stagedTime) < 0) {
        return "its staging area is none";
    }
    return nullptr;
}

bool turning(const MappingHeader& header) {
    return (word(header.stagingSequence) & trace::kStagingTurning) != 0;
}

/// A buffer is turned when a block has been made of it, and only for a moment. `now` is of one moment.
bool turnsWithoutBlock(const MappingHeader& now, const MappingHeader& before) {
    return turning(now) && !turning(before) && word(now.recordingOff) == 0 && word(now.eventCount) > 0 &&
           (word(now.stagingSequence) & ~trace::kStagingTurning) == word(before.stagingSequence) &&
           word(now.blockLength) == word(before.blockLength);
}

template <typename T>
void assign(std::atomic<T>& to, const std::atomic<T>& from) {
    to.store(word(from), std::memory_order_relaxed);
}

} // namespace

const MappingHeader& MappingGuard::live() const {
    return *reinterpret_cast<const MappingHeader*>(m_base);
}

void MappingGuard::watch(const std::byte* base) {
    m_base = base;
    m_seen = copyHeader();
    m_recorded = m_seen;
    // What a rank that is on its way has staged by now has not been copied, so nothing can be compared with it.
    MappingHeader& recorded = header(m_recorded);
    recorded.stagedIds.store(0);
    recorded.stagedTimes.store(0);
    recorded.stagedFirst.store(0);
    m_staging.assign(trace::kStagingBytes, '\0');
}

MappingGuard::Words MappingGuard::copyHeader() const {
    Words words{};
    const auto* from = reinterpret_cast<const std::uint64_t*>(m_base);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
    }
    return words;
}

/// Takes the header as seen, or, with a fault, lets what was copied before stand for ever.
bool MappingGuard::accept(const char* fault, const Words& words) {
    if (fault == nullptr) {
        m_seen = words;
        return true;
    }
    m_overwritten = true;
    m_what = fault;
    MappingHeader& seen = header(m_seen);
    const MappingHeader& recorded = recordedHeader();
    assign(seen.eventCount, recorded.eventCount);
    assign(seen.dictionaryLength, recorded.dictionaryLength);
    assign(seen.commLength, recorded.commLength);
    assign(seen.blockLength, recorded.blockLength);
    assign(seen.blockTail, recorded.blockTail);
    assign(seen.stagingSequence, recorded.stagingSequence);
    assign(seen.stagedIds, recorded.stagedIds);
    assign(seen.stagedTimes, recorded.stagedTimes);
    assign(seen.stagedFirst, recorded.stagedFirst);
    assign(seen.stagedTime, recorded.stagedTime);
    seen.stopCount.store(static_cast<std::uint32_t>(m_stops.size() / sizeof(trace::MappedStop)));
    seen.recordingOff.store(kOverwritten);
    seen.insideCall.store(0);
    seen.inHold.store(0);
    seen.pollOpen.store(0);
    seen.pollFailures.store(0);
    seen.busy.store(0);
    seen.stopReason.store(static_cast<std::uint32_t>(trace::StopReason::None));
    if (word(seen.state) < static_cast<std::uint32_t>(trace::RankState::Finalized)) {
        seen.state.store(static_cast<std::uint32_t>(trace::RankState::Running));
    }
    m_recorded = m_seen;
    return false;
}

bool MappingGuard::look() {
    if (m_overwritten) {
        return false;
    }
    const Words words = copyHeader();
    return accept(faultOf(header(words), header(m_seen)), words);
}

/// Adds what is new from `offset`, if what was there before is still the same.
bool MappingGuard::grow(std::string& copy, std::size_t offset, std::uint64_t length) const {
    const auto* from = reinterpret_cast<const char*>(m_base) + offset;
    if (std::memcmp(from, copy.data(), copy.size()) != 0) {
        return false;
    }
    if (length > copy.size()) {
        copy.append(from + copy.size(), length - copy.size());
    }
    return true;
}

bool MappingGuard::growStops(std::uint32_t count) {
    const auto* stops = reinterpret_cast<const trace::MappedStop*>(m_base + trace::kStopOffset);
    const std::size_t before = m_stops.size() / sizeof(trace::MappedStop);
    std::size_t ready = before;
    // Library and agent both append: one that is not ready yet may be followed by one that is.
    while (ready < std::min(count, trace::kMaxStops) &&
           stops[ready].ready.load(std::memory_order_acquire) == 1) {
        const trace::MappedStop& stop = stops[ready];
        if (stop.event > kMostEvents || stop.beginNs < 0 || stop.endNs < stop.beginNs) {
            return false;
        }
        ++ready;
    }
    return grow(m_stops, trace::kStopOffset, ready * sizeof(trace::MappedStop));
}

/// `whole`: header and staging are of one moment. What was staged in this buffer before must still be there.
bool MappingGuard::takeStaging(const Words& words, std::string&& staging, bool whole) {
    const MappingHeader& now = header(words);
    const MappingHeader& before = header(m_recorded);
    const bool known = word(now.stagedFirst) > 0 && word(now.recordingOff) == 0;
    if (whole && known && !turning(now) &&
        (word(now.eventCount) + 1 < word(now.stagedFirst) ||
         word(now.eventCount) + 1 - word(now.stagedFirst) > trace::kStagingBytes ||
         word(now.stagedIds) + word(now.stagedTimes) > trace::kStagingBytes)) {
        return false;
    }
    if (!turning(now) && !turning(before) && word(now.stagingSequence) == word(before.stagingSequence)) {
        const std::uint32_t ids = word(before.stagedIds);
        const std::uint32_t times = word(before.stagedTimes);
        if (word(now.stagedIds) < ids || word(now.stagedTimes) < times ||
            word(now.stagedFirst) < word(before.stagedFirst) ||
            std::memcmp(staging.data(), m_staging.data(), ids) != 0 ||
            std::memcmp(staging.data() + trace::kStagingBytes - times,
                        m_staging.data() + trace::kStagingBytes - times, times) != 0) {
            return false;
        }
    }
    m_staging = std::move(staging);
    return true;
}

bool MappingGuard::lookAtAll() {
    if (m_overwritten) {
        return false;
    }
    Words words{};
    std::string staging(trace::kStagingBytes, '\0');
    bool sameBuffer = false;
    bool whole = false;
    for (int attempt = 0; attempt < kCopyAttempts && !whole; ++attempt) {
        const std::uint32_t sequence = live().stagingSequence.load(std::memory_order_acquire);
        words = copyHeader();
        std::memcpy(staging.data(), m_base + trace::kStagingOffset + (sequence & 1) * trace::kStagingBytes,
                    trace::kStagingBytes);
        std::atomic_thread_fence(std::memory_order_acquire);
        // The same event count as well: otherwise an event was added half-way and its parts may not fit.
        sameBuffer = live().stagingSequence.load(std::memory_order_acquire) == sequence &&
                     word(header(words).stagingSequence) == sequence;
        whole =
            sameBuffer && live().eventCount.load(std::memory_order_relaxed) == word(header(words).eventCount);
    }
    const char* fault = faultOf(header(words), header(m_seen));
    if (fault == nullptr &&
        !grow(m_dictionary, trace::kDictionaryOffset, word(header(words).dictionaryLength))) {
        fault = "its dictionary has changed";
    }
    if (fault == nullptr && !grow(m_comms, trace::kCommOffset, word(header(words).commLength))) {
        fault = "its communicators have changed";
    }
    if (fault == nullptr && !growStops(word(header(words).stopCount))) {
        fault = "its stops have changed";
    }
    if (fault == nullptr && sameBuffer && turnsWithoutBlock(header(words), recordedHeader())) {
        fault = "its staging area is none";
    }
    // A rank that turns its buffers faster than they can be copied is looked at again.
    if (fault == nullptr && sameBuffer) {
        if (takeStaging(words, std::move(staging), whole)) {
            m_recorded = words;
        } else {
            fault = "its latest events have changed";
        }
    }
    return accept(fault, words);
}

} // namespace stopline::agent
