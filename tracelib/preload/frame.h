// One traced call from its begin to its end: what all classes of calls have in common.
#pragma once

#include "controls.h"
#include "forced.h"
#include "heap.h"
#include "online.h"
#include "rank.h"
#include "real.h"

#include <type_traits>

namespace stopline::preload {

using trace::CallClass;
using trace::Completion;
using trace::EventKind;
using trace::RequestRef;
using trace::Status;

/// True when a call is to go straight to MPI: made by MPI itself, or nothing is recorded.
inline bool passesThrough() {
    return thread.depth != 0 || !rank.recording.load(std::memory_order_relaxed);
}

/// Where the user's code called from: past the Fortran layer of MPI where the call came through one.
CodeAddress callSiteOfFortran(std::uintptr_t returnAddress);
inline CodeAddress callSite(const void* returnAddress) {
    const auto address = reinterpret_cast<std::uintptr_t>(returnAddress);
    return thread.fortranCaller == 0 ? CodeAddress{address} : callSiteOfFortran(address);
}

/// Gives the calling thread its ordinal.
void registerThread();
/// Class of a code that a call returned.
trace::ErrorClass errorClass(int code);
inline void setError(DetailsView& d, int code) {
    if (code != MPI_SUCCESS) [[unlikely]] {
        d.error = errorClass(code);
        d.errorCode = lastingCode(code);
    }
}
inline std::uint64_t bytesOf(std::int64_t count, MPI_Datatype type) {
    // Arguments may be wrong: MPI itself is to say so, about the user's call.
    if (count <= 0 || keyOf(type) == 0 || type == predefined.datatypeNull) {
        return 0;
    }
    int size = knownSize(type);
    if (size >= 0) {
        return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
    }
    const Asking asking;
    if (real.Type_size(type, &size) != MPI_SUCCESS || size < 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

/// The message that a status is about. Whether it was cancelled only a request can say: MPICH's probes leave
/// that as it was.
inline Status traceStatus(const MPI_Status& status) {
    Status result;
    if (status.MPI_SOURCE == MPI_ANY_SOURCE) { // the empty status
        return result;
    }
    result.source = traceSource(status.MPI_SOURCE);
    result.tag = traceTag(status.MPI_TAG);
    result.bytes = statusBytes(status);
    return result;
}

/// The same of a request that is complete.
inline Status traceStatusOfRequest(const MPI_Status& status) {
    if (statusCancelled(status)) {
        Status result;
        result.cancelled = true;
        return result;
    }
    return traceStatus(status);
}

/// True where a call that failed has taken its message all the same, so that its status says which one.
inline bool hasReceived(trace::ErrorClass error) {
    return error == trace::ErrorClass::Truncate;
}

/// Words that decide the details of an event, as its wrapper knows them.
struct Facts {
    std::uint64_t words[5] = {};
};
struct Nothing {
    void operator()() const {}
};
inline std::uint64_t bothOf(std::int32_t low, std::int32_t high) {
    return static_cast<std::uint32_t>(low) | std::uint64_t{static_cast<std::uint32_t>(high)} << 32;
}
inline Facts factsOf(const MPI_Status& status) {
    return {{1, bothOf(status.MPI_SOURCE, status.MPI_TAG), statusBytes(status), 0, 0}};
}

void addFreedNow(DetailsView& d);
/// What an event also says: which receives that the user has freed are complete; for one that can have no completions of its
/// own. Which event that is differs from run to run: who compares two runs leaves out the completions of calls that do not
/// complete requests. To be used under the lock.
inline void addFreed(DetailsView& d) {
    if (!rank.freed.empty() && !trace::completesRequests(trace::functionClass(d.function))) [[unlikely]] {
        addFreedNow(d);
    }
}

/// Lives as long as the wrapper: keeps MPI's own calls from being traced, and knows who calls.
class Frame {
  public:
    Frame(FunctionId function, CodeAddress site) : m_function(function), m_site(site) {
        ++thread.depth;
        if (thread.tid == 0) [[unlikely]] {
            registerThread();
        }
        if (rank.jitter != 0) [[unlikely]] {
            delayNowAndThen();
        }
        rank.header->callerTid.store(thread.tid, std::memory_order_relaxed);
    }
    ~Frame() { --thread.depth; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// Details of an event of this call, with what every event says.
    [[nodiscard]] DetailsView details(EventKind kind) const {
        DetailsView d;
        d.kind = kind;
        d.function = m_function;
        d.thread = thread.ordinal;
        d.site = m_site;
        return d;
    }

    /// Key of an event of this call. `facts` and the communicators as they are decide its details.
    [[nodiscard]] trace::QuickKey keyOf(EventKind kind, const Facts& facts) const {
        // Addresses take 47 bits, functions few.
        return {{m_site.value() ^ std::uint64_t{static_cast<std::uint16_t>(m_function)} << 48 ^
                     std::uint64_t{static_cast<std::uint8_t>(kind)} << 63,
                 std::uint64_t{thread.ordinal} | std::uint64_t{rank.comms.generation()} << 32, facts.words[0],
                 facts.words[1], facts.words[2], facts.words[3], facts.words[4]}};
    }

    /// Records the begin, ends an open poll before it, and holds at either if wanted; waits at `gate` before
    /// that. Then the call is on. `fill(DetailsView&)` completes the details under the lock.
    template <typename Fill>
    void begin(Fill fill, trace::Gate gate = trace::Gate::None) {
        waitWhileOtherHolds();
        endOpenPoll();
        std::uint64_t number = 0;
        {
            const RankLock lock;
            DetailsView d = details(EventKind::Begin);
            fill(d);
            number = rank.recorder.append(d, executionTime(clockNow()));
            tell(d, number);
        }
        m_event = number;
        if (gate != trace::Gate::None) {
            waitAtGate(gate);
        }
        holdIfWanted(number);
        enterMpi();
        attend(number);
    }

    /// The same where `facts` are all that `fill` goes by. `before()` comes first under the lock, in any
    /// case.
    template <typename Fill, typename Before = Nothing>
    void begin(const Facts& facts, Fill fill, Before before = {}) {
        waitWhileOtherHolds();
        endOpenPoll();
        std::uint64_t number = 0;
        {
            const RankLock lock;
            before();
            number = rank.recorder.append(keyOf(EventKind::Begin, facts), executionTime(clockNow()),
                                          [&](DetailsView& d) {
                                              d = details(EventKind::Begin);
                                              fill(d);
                                          },
                                          tell);
        }
        m_event = number;
        holdIfWanted(number);
        enterMpi();
        attend(number);
    }
    /// The same for the end of a call that went well.
    template <typename Fill, typename Before = Nothing>
    void endWell(const Facts& facts, Fill fill, Before before = {}) {
        if (!rank.freed.empty()) [[unlikely]] {
            end(MPI_SUCCESS, [&](DetailsView& d) {
                before();
                fill(d);
            });
            return;
        }
        std::uint64_t number = 0;
        {
            const RankLock lock;
            before();
            number = rank.recorder.append(keyOf(EventKind::End, facts), executionTime(m_returned),
                                          [&](DetailsView& d) {
                                              d = details(EventKind::End);
                                              fill(d);
                                          },
                                          tell);
        }
        attend(number);
        leaveMpi();
        holdIfWanted(number);
    }

    /// Records the end and holds there if wanted. To be called after finished().
    template <typename Fill>
    void end(int code, Fill fill, trace::Gate gate = trace::Gate::None) {
        std::uint64_t number = 0;
        {
            const RankLock lock;
            DetailsView d = details(EventKind::End);
            setError(d, code);
            fill(d);
            addFreed(d);
            number = rank.recorder.append(d, executionTime(m_returned));
            tell(d, number);
        }
        attend(number);
        leaveMpi();
        if (gate != trace::Gate::None) {
            waitAtGate(gate);
        }
        holdIfWanted(number);
    }
    void end(int code) {
        if (code == MPI_SUCCESS) [[likely]] {
            endWell({}, [](DetailsView&) {});
        } else {
            end(code, [](DetailsView&) {});
        }
    }
    /// The end of a call with one status.
    void end(int code, const MPI_Status& status) {
        if (code == MPI_SUCCESS) [[likely]] {
            endWell(factsOf(status), [&](DetailsView& d) { d.status = traceStatus(status); });
        } else {
            end(code, [&](DetailsView& d) {
                if (hasReceived(d.error)) {
                    d.status = traceStatus(status);
                }
            });
        }
    }

    /// Records the begin of a poll unless one is open, and holds there if wanted.
    template <typename Fill>
    void beginPoll(Fill fill) {
        waitWhileOtherHolds();
        if (!pollIsOpen()) {
            const std::uint64_t number = [&] {
                const RankLock lock;
                // Another thread may have one by now: then this is one of its tries, as if seen above.
                return pollIsOpen() ? rank.recorder.lastEvent() : openPoll(fill);
            }();
            holdIfWanted(number);
        }
        enterMpi();
    }

    /// A poll that said "not yet": nothing is recorded.
    template <typename Fill>
    void pollFailed(Fill fill) {
        const RankLock lock;
        if (!pollIsOpen()) { // another thread's call has ended it meanwhile
            openPoll(fill);
        }
        rank.header->pollFailures.store(++rank.poll.failures, std::memory_order_relaxed);
        leaveMpi();
    }

    /// Records the end of a poll, holds there if wanted.
    template <typename FillBegin, typename Fill>
    void endPoll(int code, FillBegin fillBegin, Fill fill) {
        std::uint64_t number = 0;
        {
            const RankLock lock;
            if (!pollIsOpen()) {
                openPoll(fillBegin);
            }
            DetailsView d = details(EventKind::End);
            setError(d, code);
            fill(d);
            number = closePoll(d, executionTime(m_returned));
        }
        attend(number);
        leaveMpi();
        holdIfWanted(number);
    }

    /// Number of the begin of this call; of a poll, that of the first of the polls that are one.
    [[nodiscard]] std::uint64_t event() const { return m_event; }

    /// Notes the moment at which MPI returned: the first thing after the call.
    void finished() { m_returned = clockNow(); }

  private:
    /// What is done at few events.
    static void attend(std::uint64_t event) {
        if (controlMessages.concerns(event)) [[unlikely]] {
            controlMessages.exchange(event);
        }
        if (forced.concerns(event)) [[unlikely]] {
            forced.await(event);
        }
        if (heap.concerns(event)) [[unlikely]] {
            heap.look(event);
        }
    }
    /// An event has been recorded, for who looks for races: then all events are filled in (Recorder::setFillAlways).
    static void tell(const DetailsView& d, std::uint64_t number) {
        if (online.on) [[unlikely]] {
            online.event(d, number);
        }
    }

    template <typename Fill>
    std::uint64_t openPoll(Fill fill) {
        DetailsView d = details(EventKind::Begin);
        fill(d);
        rank.poll.function = m_function;
        rank.poll.thread = thread.ordinal;
        rank.poll.site = m_site;
        rank.poll.failures = 0;
        rank.poll.comm = d.comm;
        rank.poll.source = d.recvPeer;
        rank.poll.tag = d.recvTag;
        rank.poll.open.store(true, std::memory_order_relaxed);
        const std::uint64_t number = rank.recorder.append(d, executionTime(clockNow()));
        rank.header->pollFailures.store(0, std::memory_order_relaxed);
        rank.header->pollOpen.store(1, std::memory_order_relaxed);
        tell(d, number);
        if (forced.concerns(number)) [[unlikely]] {
            forced.beginPoll(number);
        }
        return number;
    }
    static std::uint64_t closePoll(const DetailsView& details, TimeNs execution);
    [[nodiscard]] static bool pollIsOpen() { return rank.poll.open.load(std::memory_order_relaxed); }
    static void endOpenPoll() {
        if (pollIsOpen()) [[unlikely]] {
            endOpenPollNow();
        }
    }
    static void endOpenPollNow();
    static void enterMpi() {
        if (rank.multiple) {
            rank.header->insideCall.fetch_add(1, std::memory_order_release);
        } else {
            rank.header->insideCall.store(1, std::memory_order_release);
        }
    }
    static void leaveMpi() {
        if (rank.multiple) {
            rank.header->insideCall.fetch_sub(1, std::memory_order_release);
        } else {
            rank.header->insideCall.store(0, std::memory_order_release);
        }
    }

    FunctionId m_function;
    CodeAddress m_site;
    TimeNs m_returned = 0;
    std::uint64_t m_event = 0;
};

} // namespace stopline::preload
