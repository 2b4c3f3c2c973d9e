// The history of a job: events of all ranks, messages matched, collectives as objects, causality, frontiers.
// Standard C++ only; grows incrementally; never throws on incomplete or contradictory traces.
#pragma once

#include "../tracelib/event.h"
#include "jobs.h"
#include "place.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stopline::trace {
struct HistoryStart;
}

namespace stopline::replay {

/// One traced call as the timeline sees it. `end` is 0 while it is unfinished.
struct Call {
    EventIndex begin{0};
    EventIndex end{0};
    DetailsId beginDetails{0};
    DetailsId endDetails{0};
    TimeNs beginTime = 0; ///< execution time, see Timeline::axisTime for the drawing axis
    TimeNs endTime = 0;
    std::uint64_t pollFailures = 0;
};

enum class MessageState : std::uint8_t {
    Matched,    ///< both sides known and the receive has completed
    Posted,     ///< sent and a fitting receive is posted, not known to be complete
    Unreceived, ///< sent, no receive yet
    Unsent,     ///< receive posted, no send yet
    Cancelled,
    Early, ///< the other half lies before where the history of its rank starts, or may do so
};

/// A call that may be unknown: an std::optional<CallRef> in eight bytes.
class MaybeCall {
  public:
    constexpr MaybeCall() = default;
    constexpr MaybeCall(std::nullopt_t /*none*/) {}
    constexpr MaybeCall(CallRef call) : m_call(call) {}
    [[nodiscard]] constexpr bool has_value() const { return m_call.rank.value() >= 0; }
    constexpr explicit operator bool() const { return has_value(); }
    [[nodiscard]] constexpr const CallRef& operator*() const { return m_call; }
    [[nodiscard]] constexpr const CallRef* operator->() const { return &m_call; }
    constexpr operator std::optional<CallRef>() const {
        return has_value() ? std::optional<CallRef>(m_call) : std::nullopt;
    }
    friend bool operator==(const MaybeCall&, const MaybeCall&) = default;

  private:
    CallRef m_call{RankId{-1}, CallIndex{0}};
};

/// A point-to-point message. `send` and `post` are the calls that start it; `done` the call at whose end the
/// receive was seen complete (the receive itself when blocking, the Wait or Test otherwise).
struct Message {
    MessageState state = MessageState::Unreceived;
    bool wildcardSource = false;
    bool wildcardTag = false;
    std::int32_t tag = 0;
    MaybeCall send;
    MaybeCall post;
    MaybeCall done;
    std::uint64_t bytes = 0;
    std::uint64_t commId = 0;
    RankId sender{-1};   ///< -1 while unknown (wildcard receive not complete)
    RankId receiver{-1}; ///< world ranks
    friend bool operator==(const Message&, const Message&) = default;
};
using MessageIndex = Strong<struct MessageIndexTag, std::uint32_t>;

/// A call of each member of a collective, by position in its members; those that are unknown are empty.
class MemberCalls {
  public:
    static constexpr std::uint32_t kUnknown = 0xffffffffU;

    MemberCalls() = default;
    MemberCalls(std::span<const RankId> members, const std::uint32_t* calls)
        : m_members(members), m_calls(calls) {}
    [[nodiscard]] std::size_t size() const { return m_members.size(); }
    [[nodiscard]] MaybeCall operator[](std::size_t position) const {
        return m_calls[position] == kUnknown
                   ? MaybeCall()
                   : MaybeCall(CallRef{m_members[position], CallIndex{m_calls[position]}});
    }
    class Iterator {
      public:
        Iterator(const MemberCalls& calls, std::size_t position) : m_of(&calls), m_position(position) {}
        MaybeCall operator*() const { return (*m_of)[m_position]; }
        Iterator& operator++() {
            ++m_position;
            return *this;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

      private:
        const MemberCalls* m_of;
        std::size_t m_position;
    };
    [[nodiscard]] Iterator begin() const { return {*this, 0}; }
    [[nodiscard]] Iterator end() const { return {*this, size()}; }

  private:
    std::span<const RankId> m_members;
    const std::uint32_t* m_calls = nullptr;
};

/// One instance of a collective: the k-th on its communicator. Lives as long as its timeline.
struct Collective {
    trace::FunctionId function{};
    std::uint64_t commId = 0;
    std::span<const RankId> members; ///< world ranks, local then remote group
    MemberCalls arrived;             ///< by position in members: the starting call
    MemberCalls finished;            ///< the call at whose end it was complete (blocking: the same call)
    std::optional<RankId> root; ///< world rank
    bool mismatch = false;      ///< members called different functions or different roots
    bool early = false; ///< calls of some members lie before where their histories start
};
using CollectiveIndex = Strong<struct CollectiveIndexTag, std::uint32_t>;

/// What opens a target's memory to a transfer, and closes it.
enum class Epoch : std::uint8_t {
    Fence, ///< from one Win_fence to the next
    Group, ///< Win_start to Win_complete of the origin, Win_post to Win_wait of the target
    Lock,  ///< Win_lock to Win_unlock, or the same of all; the target takes no part
};

/// What a one-sided call moves between its rank and the memory of another. Its data are in place at the ends of `local`,
/// `remote` and `seen`, as far as MPI says so; these calls are empty while they are unknown.
struct Transfer {
    CallRef call;               ///< Put, Get, Accumulate and what is like them
    RankId target{-1};          ///< world rank
    std::uint64_t windowId = 0; ///< as Message::commId
    std::uint64_t bytesOut = 0; ///< to the target
    std::uint64_t bytesIn = 0;  ///< from the target
    Epoch epoch = Epoch::Fence;
    MaybeCall exposed; ///< of the target: Win_fence or Win_post that opened its memory; never for locks
    MaybeCall local;   ///< of the origin: it may use its buffers again (fence, complete, flush, unlock, or its request)
    MaybeCall remote;  ///< of the origin: in place at the target (fence, flush, unlock); never for groups
    MaybeCall seen;    ///< of the target: it may rely on it (fence, wait or test); never for locks
};
using TransferIndex = Strong<struct TransferIndexTag, std::uint32_t>;

struct WaitCircle;

/// Settings that decide which sends need a receiver to return.
struct TransportRules {
    /// Bytes; sends above it are taken to wait for the matching receive. The default is what Open MPI 4.1 still sends
    /// through shared memory to a receiver that has posted nothing (4096 with its own header; measured: 4040 do, 4041 do
    /// not). Over tcp it is 65480: there the sends between are taken to wait though they do not.
    std::uint64_t eagerLimit = 4040;
    /// How far the recorded times of a rank may be off. Nothing is shown as received before it was sent only
    /// by that.
    TimeNs timeTolerance = 10'000;
    /// Least number of events that are taken together by questions about frontiers; 0: each on its own. For
    /// tests.
    std::uint64_t digestEvents = 512;
};

/// What addEvents() is told of an event.
struct NewEvent {
    DetailsId details;
    TimeNs execution = 0;
    std::uint64_t pollFailures = 0;
};

class Timeline {
  public:
    explicit Timeline(std::int32_t ranks, TransportRules rules = {});
    ~Timeline();
    Timeline(Timeline&&) noexcept;
    Timeline& operator=(Timeline&&) noexcept;

    // --- Growing. Details and communicators of a rank must be added before events that mention them. ---
    DetailsId addDetails(RankId rank, trace::EventDetails details);
    CommIndex addComm(RankId rank, trace::CommInfo info);
    /// The rank's history starts behind missing events. To be called before its first event, with its communicators added.
    void setStart(RankId rank, const trace::HistoryStart& start);
    /// The events from this one to where the rank's history starts were overwritten before they could be read; those before
    /// had been read. 0: nothing of the kind.
    void setUnread(RankId rank, EventIndex from);
    /// Appends the next event of a rank (numbers are consecutive from 1, or from where its history starts). Cost: amortised constant plus
    /// matching.
    void addEvent(RankId rank, DetailsId details, TimeNs execution, std::uint64_t pollFailures = 0);
    /// The same for many: what a reader has decoded goes in at one call.
    void addEvents(RankId rank, std::span<const NewEvent> events);
    void addStop(RankId rank, trace::StopRecord stop);
    /// Absolute CLOCK_MONOTONIC of execution time 0 of a rank (clock offset between hosts already applied).
    void setOrigin(RankId rank, TimeNs origin);
    /// Times of this rank behind the event are of a later execution, joined to what had been recorded by then: between ranks
    /// they are not exact, so that what is received there is never shown before it was sent.
    void setJoined(RankId rank, EventIndex event);
    /// The rank has done more than has been recorded of it (its recording broke off), or no longer.
    void setBrokenOff(RankId rank, bool brokenOff);
    /// The ranks of another job, behind those there are. Its first row must be rankCount().
    void addJob(const JobRanks& job);

    // --- Looking. ---
    /// Bytes of memory that the events and what has been found out about them take.
    [[nodiscard]] std::size_t memoryBytes() const;
    [[nodiscard]] std::int32_t rankCount() const;
    [[nodiscard]] EventIndex lastEvent(RankId rank) const;
    /// 1, or where the history of the rank starts. Nothing is known of the events before.
    [[nodiscard]] EventIndex firstEvent(RankId rank) const;
    /// As setUnread() has been told.
    [[nodiscard]] EventIndex unreadFrom(RankId rank) const;
    /// The first place at which the rank can be stood together with the others: before firstEvent(), or later where
    /// another rank has done before the start of its history what needs more of this one. {0, false}: anywhere.
    [[nodiscard]] Place reachableFrom(RankId rank) const;
    /// The first rank whose history lacks its first events.
    [[nodiscard]] std::optional<RankId> startsLate() const;
    [[nodiscard]] std::uint32_t callCount(RankId rank) const;
    /// By value; a call that does not exist has begin 0.
    [[nodiscard]] Call call(CallRef ref) const;
    [[nodiscard]] std::optional<CallRef> callAt(RankId rank, EventIndex event) const;
    [[nodiscard]] bool isBegin(RankId rank, EventIndex event) const;
    [[nodiscard]] const trace::EventDetails& details(RankId rank, DetailsId id) const;
    [[nodiscard]] DetailsId eventDetails(RankId rank, EventIndex event) const;
    [[nodiscard]] const trace::CommInfo& comm(RankId rank, CommIndex index) const;
    [[nodiscard]] std::span<const Message> messages() const;
    [[nodiscard]] std::span<const Collective> collectives() const;
    /// Messages that a call sends, posts or completes (a Waitall may complete many).
    [[nodiscard]] std::vector<MessageIndex> messagesOf(CallRef ref) const;
    [[nodiscard]] std::optional<CollectiveIndex> collectiveOf(CallRef ref) const;
    /// What a Wait that has not ended waits for: of each of its requests, in their order, the message or the collective,
    /// or neither where none is known of it. Empty for any other call.
    struct Awaited {
        std::optional<MessageIndex> message;
        std::optional<CollectiveIndex> collective;
        bool done = false; ///< known to be complete
    };
    [[nodiscard]] std::vector<Awaited> awaited(CallRef ref) const;
    /// Transfers in the order in which their calls became known; one that MPI has refused is an empty Transfer.
    [[nodiscard]] std::size_t transferCount() const;
    [[nodiscard]] Transfer transfer(TransferIndex index) const;
    [[nodiscard]] std::optional<TransferIndex> transferOf(CallRef ref) const;
    /// Indices of messages that are not Matched or Cancelled.
    [[nodiscard]] std::vector<MessageIndex> openMessages() const;

    [[nodiscard]] bool brokenOff(RankId rank) const;
    /// The rank whose lost events may hold the half that this message lacks, -1 where all ranks may.
    [[nodiscard]] std::optional<RankId> halfLostBy(const Message& message) const;

    /// Nanoseconds on the drawing axis: wall clock with the spans cut out in which all ranks were held, 0 at
    /// the earliest begin. Monotone in the event number of a rank.
    [[nodiscard]] TimeNs axisTime(RankId rank, EventIndex event) const;
    /// Length of the spans that the axis leaves out, as all ranks were held.
    [[nodiscard]] TimeNs cutOut() const;
    /// Spans in which this rank was held and some other was not, on the drawing axis.
    struct HeldSpan {
        TimeNs begin = 0;
        TimeNs end = 0;
        EventIndex event;
    };
    [[nodiscard]] std::vector<HeldSpan> heldSpans(RankId rank) const;

    /// Calls of a function that have ended, and that may end otherwise in another run though no message races: a
    /// MPI_Waitany or Waitsome with several active requests, tests and probes for something that may come, the cancelling
    /// of what may be complete.
    struct ChanceCalls {
        struct Use {
            trace::FunctionId function{};
            std::uint64_t calls = 0;
        };
        std::vector<Use> uses;
        bool severalThreads = false; ///< then a replay does not repeat what they came to
    };
    /// Of one rank, or of all. Cost: one step for each kind of event there is.
    [[nodiscard]] ChanceCalls chanceCalls(std::optional<RankId> rank = std::nullopt) const;

    // --- Causality (DESIGN section 6). ---
    /// All that happened before the point, each rank as late as needed, closed by moving others later.
    [[nodiscard]] Line pastFrontier(const Point& point) const;
    /// The last places that do not depend on the point, closed by moving others earlier.
    [[nodiscard]] Line futureFrontier(const Point& point) const;
    /// The place of the point's own rank: begin of the call, or its end.
    [[nodiscard]] Place placeOf(const Point& point) const;
    /// True when a rank can really be stopped at every place of the cut while the others stand at theirs.
    [[nodiscard]] bool isClosed(const Cut& cut) const;
    /// The largest closed cut at or below `cut`; places inside a call stay inside.
    [[nodiscard]] Line closeDown(const Cut& cut) const;
    /// The smallest closed cut at or above `cut`; `fixed` never moves, what then cannot close is inside.
    [[nodiscard]] Line closeUp(const Cut& cut, std::optional<RankId> fixed) const;
    /// Rollback by one call of `rank` from `now` (DESIGN and issue: after or inside k -> before k; before k
    /// -> before k-1); the others to the earlier of their place and before their first call that depends on
    /// what is undone. Nothing when there is no earlier call.
    [[nodiscard]] std::optional<Line> rollback(const Cut& now, RankId rank) const;
    /// Forward by one call of `rank`: after the next call, the others to the later of their place and what it
    /// needs. Nothing when the recording has no finished next call.
    [[nodiscard]] std::optional<Line> forward(const Cut& now, RankId rank) const;
    /// If `rank`, standing inside its call, cannot return while the others stand at `cut`: why.
    [[nodiscard]] std::optional<Obstacle> blockedBy(const Cut& cut, RankId rank) const;
    /// Ranks that wait for each other at the end of what is recorded (wait_circles.h), those of one circle once. Of what is not
    /// known for certain nothing is told: what runs, tests, or has several threads may help the others.
    [[nodiscard]] std::vector<WaitCircle> waitCircles() const;
    /// "before 12 MPI_Send", "after 12 …", "inside 11 …", "before MPI_Init": for messages and batch output.
    [[nodiscard]] std::string describe(RankId rank, const Place& place) const;

  private:
    friend class RaceAnalysis; // reads the store
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::replay
