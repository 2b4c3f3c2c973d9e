// Which receives and probes raced, with which other messages, and why.
//
// Definitions. A receive or probe of any source (a *window*) raced with a message that it did not get when
// another run of the same program could have given it that message, everything else up to there being as it
// was. That is a *frontier race* of R. Netzer and B. Miller, "Optimal Tracing and Replay for Debugging
// Message-Passing Parallel Programs" (Supercomputing 1992), definitions 3.1 and 3.2, by the test of their
// Figure 3: a frontier can be drawn before the receive r that leaves the send c before it, or just after it.
// So c is an alternative of r when
//
//  (1) c could be meant by r: same communicator and receiver, and a tag that fits;
//  (2) r does not happen before c. The window of a non-blocking receive ends where it was seen complete, not
//  where it was
//      posted (Vo et al. 2011), or earlier where a younger one got a message that it would have got had it
//      still been open. Where its request was freed while it was active that alone ends it, so maybe nothing: no call waits for
//      it, and what is seen of its completion is chance. That of a blocking one ends where its message matched. When the message
//      was sent synchronously, the end of its send tells of that, and who knows of that end comes after it. Whether c knows of the *send* of the message that r got is no matter, as messages of different
//      senders overtake each other (Meehan's implementation compares with that send, and so misses them);
//  (3) the receives posted before r are as recorded: none of them got c, and none of them was still open, and
//  would have
//      taken c instead of r, because what it got or its cancellation came only after r was decided;
//  (4) MPI's order holds (M. Meehan, "Race-Condition Detection in Multicomputer Programs", CSCS TN-94-12,
//  1994: the FIFO
//      rule): c is the first message of its sender that fits r and that the receives before r have left. So
//      the messages of one sender never race with each other, except those of different threads of it.
//
// A *block race* (Meehan, Figures 2 and 6) is a message that is an alternative of several receives in a row:
// of all those between the receive that got the message before it from the same sender, and the one that got
// it. It needs no rule of its own here, as each receive is compared with all messages, not each message with
// the receive before it alone.
//
// Happened before is the relation of data alone (data_order.h). Orders that only the choices of further
// receives would tell are not followed: that a younger receive got a message which an older open one of any
// source would have taken shows that what that one got had been sent by then; that a younger receive of any
// tag got a later message of a sender shows that an earlier one, of another tag, had been taken. Leaving them
// out can name a message too many. While an older receive of any source is not complete, what is said of
// younger ones is provisional: that one is taken to have got nothing.
//
// A probe of any source is a window of its own, also when the receive behind it names the source. One that
// failed counts as well when a message could have been there. So does a receive of any source that was
// cancelled.
#pragma once

#include "timeline.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stopline::replay {

struct OrderMarks;

enum class RaceKind : std::uint8_t {
    Receive,          ///< got a message, could have got another
    Probe,            ///< saw a message, could have seen another
    FailedProbe,      ///< saw none to its last try, could have seen one
    CancelledReceive, ///< got none, could have got one
};

/// A receive or probe of any source that could have got another message than it did.
struct Race {
    RaceKind kind = RaceKind::Receive;
    CallRef call;      ///< posts the receive, or probes
    /// At whose end the outcome was known; the call itself when it blocks. Of a receive whose request was freed while it was
    /// active: at whose end it was seen, by chance.
    MaybeCall done;
    MaybeCall send;    ///< of the message that it got; empty if it got none, or the send is not recorded
    RankId sender{-1}; ///< of that message, world rank; -1: none
    std::uint64_t commId = 0;       ///< as Message::commId
    std::int32_t tag = kAnyTag;     ///< as asked for
    std::uint32_t alternatives = 0; ///< other messages that it could have got, at least 1
    std::uint32_t place = 0;        ///< among the receives of any source that `call` posts (several only by MPI_Startall), from 0
    std::uint64_t pollFailures = 0; ///< how often a probe said no
    std::uint32_t window = 0;       ///< by which RaceAnalysis finds it again
    friend bool operator==(const Race&, const Race&) = default;
};

/// The call at whose end the outcome of a race was known.
[[nodiscard]] inline CallRef decidingCall(const Race& race) {
    return race.done ? *race.done : race.call;
}

/// A message that a race could have had instead.
struct Alternative {
    CallRef send;
    RankId sender{-1};
    std::int32_t source = -1; ///< the same as a rank in the communicator; -1: the receiver's view of it is not known
    std::int32_t tag = 0;
    MaybeCall receive; ///< posts the receive that got it; empty if none has
    /// Why: by this event of the receiver it was decided what the race got, and nothing makes the send come
    /// after it ...
    EventIndex windowEnd{0}; ///< 0: it never was, as its request was freed while it was active
    /// ... as this is the latest event of the receiver that is certain to have come before the send (0:
    /// none).
    EventIndex knows{0};
};

/// What has to be recorded so that a re-execution is the same.
struct MinimalTrace {
    std::uint64_t messages = 0; ///< sent in all (cancelled ones are not)
    /// Sends of the messages that Netzer and Miller's algorithm traces, by rank and call: those that an
    /// earlier receive (or probe) could have got. In a re-execution they are marked with the receive that
    /// they are for, and receives take no message that is marked for another. A marked message does not keep
    /// later ones of its sender back, so under MPI's order these are traced too where an earlier receive
    /// could then get them.
    std::vector<CallRef> traced;
    /// Receives and probes whose source Meehan's algorithm traces (critical receives), by rank and call.
    std::vector<CallRef> critical;
    /// No trace that marks messages can do with fewer: pairs of messages that race, none of them in two
    /// pairs. Of each pair one has to be traced (Netzer and Miller's vertex cover and their lower bound from
    /// a matching).
    std::uint64_t lowerBound = 0;
    /// Of all messages those that are traced, 0 to 1.
    [[nodiscard]] double share() const {
        return messages == 0 ? 0 : static_cast<double>(traced.size()) / static_cast<double>(messages);
    }
};

/// Which orders between ranks are known.
enum class Orders : std::uint8_t {
    All,        ///< those of data_order.h
    OfMessages, ///< those alone that timestamps tell which go with messages and through collectives, as they do while a job
                ///< runs (tracelib/preload/online.h): not that a synchronous send waits for its receive, nor one-sided ones
};

/// Finds the races of a timeline and keeps up with it as it grows.
///
/// Cost: constant for each event, plus the number of ranks for each end that receives something, plus one for
/// each pair of a receive and its alternative. A receive that completes after younger ones have been analysed
/// costs what is behind it again; one that shifts the matching of what was analysed before, or a cancelled
/// message, all of it.
///
/// The timeline must outlive its last update() and may be moved, not replaced. Where update() finds another
/// or a shorter timeline it begins anew.
class RaceAnalysis {
  public:
    explicit RaceAnalysis(Orders orders = Orders::All);
    ~RaceAnalysis();
    RaceAnalysis(RaceAnalysis&&) noexcept;
    RaceAnalysis& operator=(RaceAnalysis&&) noexcept;

    /// Takes in what the timeline has got since the last time. All else tells of the timeline as it was then.
    void update(const Timeline& timeline);
    /// The same in pieces: about so many events of it. Returns whether that was all.
    bool update(const Timeline& timeline, std::uint64_t mostEvents);

    /// Number of windows that raced.
    [[nodiscard]] std::size_t count() const;
    /// All races, by rank and call.
    [[nodiscard]] std::vector<Race> races() const;
    /// Those that a call posted, probed for or completed.
    [[nodiscard]] std::vector<Race> racesOf(CallRef call) const;
    /// The other messages, by sender and call. Empty for what is no race (any more).
    [[nodiscard]] std::vector<Alternative> alternatives(const Race& race) const;
    /// Receives and probes of any source that did not race, but only by rule (3): by the call that posted or probed, in order.
    /// Where the receives that raced get their sources and all others are left to MPI these need theirs, too, since
    /// what an older receive would have taken it takes no more when it has a source of its own.
    [[nodiscard]] std::vector<CallRef> guarded() const;
    [[nodiscard]] MinimalTrace minimalTrace() const;
    /// What of that a re-execution can do, see order_marks.h. With the timeline: also which control messages keep a
    /// re-execution from having more buffered than this one had, by its times. Once it is `cancelled`, what is returned is
    /// not whole.
    [[nodiscard]] OrderMarks orderMarks(const Timeline* times = nullptr, const std::atomic<bool>* cancelled = nullptr) const;

    /// Receives and probes of any source that have been looked at, whether they raced or not.
    [[nodiscard]] std::size_t windows() const;
    /// How far a rank's events have been looked at: its last event, unless a message or collective that it
    /// got there is not recorded at the other side yet.
    [[nodiscard]] EventIndex analysed(RankId rank) const;
    /// Bytes of memory in use.
    [[nodiscard]] std::size_t memoryBytes() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// "rank 2's MPI_Send at event 7 (tag 5, same communicator) need not come after the receive, which is decided
/// by event 12: no event of rank 1 is certain to have come before it"
[[nodiscard]] std::string reasonText(const Timeline& timeline, const Race& race,
                                     const Alternative& alternative);

} // namespace stopline::replay
