// Races found while the program runs, by the algorithms of R. Netzer and B. Miller (Supercomputing 1992,
// Figure 3) and M. Meehan (CSCS TN-94-12, 1994), under the definitions that the analysis of a recording has
// (replay/races.h): each is the oracle of the other. Sends carry the sender's vector timestamp
// (online_shared.h); when a message has been received, the receiver looks which of its earlier receives and
// probes of any source could have got it: those from which, or from something behind which, the send does not
// know. They raced, and are noted at once (values.h), and so are those that did not only as an older one was open
// (Guarded); nothing of the others is.
//
// What differs from that analysis: a synchronous send does not get to know here what its receive's rank had
// done, so a receive can be named that the analysis clears (RaceAnalysis(Orders::OfMessages) says the same as
// this does). What cannot be done at all ends the search in all ranks and is noted with its reason
// (trace::RaceLimit).
//
// It goes by the events as they are recorded, with their details, and asks MPI only how a receive has ended
// that the program has not waited for yet and that must have got a message before the one at hand. One
// instance, in static memory, guarded by RankLock. When a second thread of any rank calls MPI it gives up.
#pragma once

#include "online_shared.h"
#include "pool.h"

#include "../codec.h"
#include "../values.h"

namespace stopline::preload {

using trace::CommView;
using trace::DetailsView;
using trace::RaceLimit;

class Online {
  public:
    bool on = false;

    /// In MPI_Init, by all ranks of the job. Not when MPI_Init has failed.
    void start(std::int32_t number, std::int32_t ranks);
    /// The next communicator, in the order of their indices.
    void addComm(const CommView& comm);
    /// An event that has been recorded: a begin before the call is performed, an end after it.
    void event(const DetailsView& d, std::uint64_t number);
    /// All messages have been received that will be: after MPI_Finalize.
    void finish();

  private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    struct Comm {
        std::uint64_t id;
        std::uint32_t
            first; ///< of its members in m_members: world ranks of the local group, then of the remote one
        std::uint32_t size;
        std::uint32_t remote;      ///< 0 unless between groups
        std::uint32_t position;    ///< own one in the local group
        std::uint64_t collectives; ///< begun so far
    };
    /// A receive that is not complete. Keys count receives in the order of their posting, as
    /// replay/race_windows.h has them.
    struct Receive {
        std::uint32_t key;
        std::uint32_t serial; ///< of its request; 0: blocking
        std::uint32_t comm;
        std::int32_t source; ///< world rank, kAnySource
        std::int32_t tag;    ///< or kAnyTag
        std::uint64_t event; ///< begin of the call that posted it
        std::uint32_t position;
        Tick early;         ///< not 0: decided by then
        std::int32_t from;  ///< sender of the message that it has got; kUnknown, kWithdrawn
        std::uint64_t slot; ///< number of that message in its queue
        bool cancelling;    ///< the program has asked for its end
        bool told;          ///< the event at hand says how it has ended: so
        trace::Status status;
    };
    static constexpr std::int32_t kUnknown = -1;
    static constexpr std::int32_t kWithdrawn = -2; ///< it was cancelled, and the program does not know yet
    struct Persistent {
        std::uint32_t serial;
        bool sends;
        CommIndex comm;
        std::int32_t peer;
        std::int32_t tag;
    };
    /// What a rank waits for in a collective that has begun.
    struct Awaited {
        std::uint32_t serial; ///< of its request; 0: blocking
        std::uint32_t comm;
        std::uint64_t number;
        std::uint32_t from, to; ///< positions among the members
    };
    /// A receive or probe of any source that has been decided.
    struct Window {
        std::uint32_t key;
        Tick decided;
        Tick latest; ///< greatest `decided` of it and those before it in its class
        std::uint64_t event;
        std::uint64_t seen;  ///< of a probe: number in its queue of the message that it saw; kNoSlot
        std::int32_t seenOf; ///< its sender
        std::uint32_t position;
        bool nothing; ///< it got, or saw, none
        bool pending; ///< not complete yet
        bool raced;
        bool guarded; ///< it did not race with some message, but only as an older receive was open
    };
    /// See replay/race_windows.h.
    struct Shadow {
        std::uint32_t key;
        Tick until;
        std::uint32_t comm;
        std::int32_t source;
        std::int32_t tag;
    };
    /// Of one sender: greatest key of the receives that got its messages that fit a class, and of those alone
    /// that are not traced.
    struct Lane {
        std::uint32_t after;
        std::uint32_t untraced;
        bool closed; ///< a message that nobody got keeps back what is behind it
    };
    struct WindowClass {
        std::uint32_t comm;
        std::int32_t tag;
        std::uint32_t lanes; ///< first of its lanes in m_lanes
        std::uint32_t count;
        std::uint32_t endless; ///< windows that were never decided
        Pool<Window, 4> windows; ///< by key
    };
    /// A message that a receive has got whose request was freed: nothing tells what older receives have got by then, so which
    /// of them could have had it is seen when they are decided.
    struct Late {
        std::uint32_t key; ///< of the receive
        std::uint32_t comm;
        std::int32_t source;
        std::int32_t tag;
        std::uint64_t slot; ///< number in its queue
    };
    /// The poll that has begun.
    struct Poll {
        bool on;
        bool probes; ///< it may end without having seen a message
        CommIndex comm;
        std::int32_t source;
        std::int32_t tag;
        std::uint64_t event;
    };
    static constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};

    // online.cpp
    RaceLimit share(std::int32_t number, std::int32_t ranks);
    void tellAll(RaceLimit limit);
    void giveUp(RaceLimit limit);
    void end(RaceLimit limit);
    void begin(const DetailsView& d, std::uint64_t number);
    void ended(const DetailsView& d, std::uint64_t number);
    void started(const DetailsView& d, std::uint64_t number);
    [[nodiscard]] Comm* commOf(CommIndex index);
    [[nodiscard]] std::int32_t worldRank(const Comm& comm, std::int32_t peer);
    [[nodiscard]] std::atomic<Tick>& own() { return m_clock[m_rank]; }
    void joinClock(const Tick* from);
    void send(CommIndex comm, std::int32_t peer, std::int32_t tag, Tick now);
    // online_match.cpp
    void post(CommIndex comm, std::int32_t peer, std::int32_t tag, std::uint32_t serial, std::uint64_t event,
              std::uint32_t position);
    void completions(const DetailsView& d, std::uint64_t number);
    /// `freed`: at a call by chance, see replay/data_order.h.
    void received(std::size_t at, const trace::Status& status, std::uint64_t number, bool freed);
    void cancelled(std::size_t at, std::uint64_t number, bool freed);
    bool forgetTold(std::uint32_t serial);
    void remove(std::size_t at);
    [[nodiscard]] std::size_t openOf(std::uint32_t serial) const;
    bool matchOlder(std::uint32_t key, std::uint32_t comm, std::int32_t source, std::int32_t tag);
    bool match(Receive& receive, std::int32_t source, std::int32_t tag);
    enum class Answer : std::uint8_t { Got, Withdrawn, NotTold };
    Answer ask(const Receive& receive, std::int32_t& source, std::int32_t& tag);
    [[nodiscard]] std::uint64_t waiting(std::int32_t source, std::uint64_t comm, std::int32_t tag);
    [[nodiscard]] MessageSlot& slot(std::int32_t source, std::uint64_t number);
    void decideOlder(std::uint32_t comm, std::int32_t tag, std::uint32_t key, Tick by);
    /// Something older than the receive with this key may still take a message of this tag.
    [[nodiscard]] bool hasOlder(std::uint32_t comm, std::int32_t tag, std::uint32_t key);
    void lookAtLate();
    void probed(const DetailsView& d, std::uint64_t number);
    void takeLast();
    // online_collectives.cpp
    void arrive(const DetailsView& d, std::uint64_t number, std::uint32_t serial);
    void leave(std::uint32_t serial);
    bool joinArrival(std::uint32_t member, std::uint64_t comm, std::uint64_t number);
    // online_check.cpp
    [[nodiscard]] WindowClass* classOf(std::uint32_t comm, std::int32_t tag, bool make);
    /// Of a receive.
    void addWindow(const Receive& receive, Tick decided, bool nothing, bool pending);
    void addWindow(std::uint32_t comm, std::int32_t tag, const Window& window);
    void addShadow(const Shadow& shadow);
    void completeWindow(const Receive& receive, bool nothing);
    /// Windows that were never decided and would have got a message which one with this key has got or seen.
    void endEndless(std::uint32_t comm, std::int32_t tag, std::uint32_t key, Tick by);
    void settle(std::int32_t source, bool last);
    void check(std::int32_t source, std::uint64_t number, std::uint32_t key, bool last);
    /// A receive before the window was open when it was decided, and would have taken the message.
    [[nodiscard]] bool isKept(const WindowClass& of, const Window& window, std::int32_t source,
                              std::int32_t tag, bool last);
    bool forgetOld(WindowClass& of);
    static void noteLatest(WindowClass& of, std::uint32_t from);
    [[nodiscard]] Tick knownToAll();
    void race(Window& window);
    void guard(Window& window);
    static void note(const Window& window);

    std::uint32_t m_rank = 0;
    std::uint32_t m_ranks = 0;
    SharedClocks m_shared;
    std::atomic<Tick>* m_clock = nullptr;
    std::uint64_t m_traced = 0;
    std::uint32_t m_posted = 0; ///< receives
    std::size_t m_commCount = 0;
    std::size_t m_memberCount = 0;
    std::size_t m_openCount = 0;
    std::size_t m_persistentCount = 0;
    std::size_t m_awaitedCount = 0;
    std::size_t m_toldCount = 0;
    std::size_t m_classCount = 0;
    std::size_t m_shadowCount = 0;
    std::size_t m_endlessCount = 0; ///< WindowClass::endless of all
    std::size_t m_lateCount = 0;
    std::size_t m_indexed = 0; ///< slots of m_classIndex
    Poll m_poll{};
    std::uint64_t m_fresh[SharedClocks::kMostRanks] =
        {}; ///< by sender: no message before this one is waiting
    Pool<Comm, 16> m_comms;
    Pool<std::int32_t, 256> m_members;
    Pool<Receive, 64> m_open; ///< by key
    Pool<Persistent, 16> m_persistent;
    Pool<Awaited, 16> m_awaited;
    Pool<std::uint32_t, 8>
        m_told; ///< serials of receives whose cancellation Request_get_status has told: a Wait will, too
    Pool<WindowClass, 8> m_classes;
    Pool<Lane, 256> m_lanes;
    Pool<std::uint32_t, 32> m_classIndex; ///< number of the class + 1, by hash
    Pool<Shadow, 16> m_shadows;
    Pool<Late, 8> m_late;
};
extern Online online;

} // namespace stopline::preload
