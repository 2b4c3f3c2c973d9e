// What a re-execution does where MPI alone would decide: it follows the order log of the recorded execution (order.h).
// Receives from any source and probes get the source that they had, Waitany and its like deliver the same requests in
// the same order, polls fail as often as they did and then succeed, what was cancelled gets no message.
#pragma once

#include "dialect.h"
#include "pool.h"
#include "rank.h"
#include "scratch.h"

#include "../codec.h"
#include "../order.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stopline::preload {

struct Args;

/// How a Wait or Test names requests and says which are complete.
enum class Shape : std::uint8_t { One, All, Any, Some };

/// What a poll is to say.
enum class PollAnswer : std::uint8_t {
    Real, ///< what MPI says
    No,   ///< not yet
    Yes,  ///< yes, as soon as it is so
};

/// One instance, in static memory, without constructor. Only the first thread that calls MPI is forced, and only until a second
/// one does: from there on the numbers of events are not the same each time. What outlives that, the receives that stand for
/// the user's, is under the rank's lock.
class Forced {
  public:
    struct Poll {
        bool on = false; ///< the open poll is one of the log
        trace::PollOutcome outcome = trace::PollOutcome::Broken;
        std::uint64_t failures = 0; ///< still to come
        trace::OrderReader entry; ///< behind the outcome
    };

    /// Follows the log in `bytes`, which stay.
    void follow(const std::byte* bytes, std::size_t size);
    /// Leaves everything to MPI from here on.
    void stop();
    /// The call with this begin has an entry, or the program has passed one. As cheap as it can be: every call that may
    /// have one asks.
    [[nodiscard]] bool concerns(std::uint64_t event) const { return on && event >= m_next && thread.ordinal == 0; }
    /// This try of a poll is one of the log's.
    [[nodiscard]] bool concernsPoll() const { return poll.on && thread.ordinal == 0; }

    /// MPI is to decide from here on, as the debugger wants it (what was recorded cannot come any more), or as a second thread
    /// has called MPI.
    [[nodiscard]] bool left() const;
    /// A second thread calls MPI. From that thread.
    void foundThread() { m_severalThreads.store(true, std::memory_order_relaxed); }
    /// One has, also where nothing is forced.
    [[nodiscard]] bool severalThreads() const { return m_severalThreads.load(std::memory_order_relaxed); }

    // For calls that concerns() has named.
    /// `place` now names the source that the receive or probe had, `comm` the communicator that its message travels on, and
    /// `out` (of a call that sends, too) that of what it sends. False: MPI is to decide, and nothing is changed.
    bool source(std::uint64_t event, int* place, MPI_Comm* comm, MPI_Comm* out = nullptr);
    /// A blocking receive whose source has been forced. Where the debugger lets go of it meanwhile it takes what comes.
    int receive(const Args& a, MPI_Status* status);
    /// The same for Sendrecv, which sends on `out`.
    int exchange(const Args& a, MPI_Comm out, MPI_Status* status);
    /// A send.
    void send(std::uint64_t event, MPI_Comm* comm);
    /// MPI_Init or a constructor: the communicator that it makes is to have a twin.
    bool makesTwin(std::uint64_t event);
    /// A posted receive (`place` is where its source comes from) or send (null) on `comm` (null: it cannot be marked). True:
    /// it has been posted as what nothing can come of, and `request` is that.
    bool post(std::uint64_t event, int* place, MPI_Request* request, MPI_Comm* comm);
    /// Waitany and Waitsome, and a Waitall that failed; nothing: MPI is to decide. `refs`: of the requests of the call.
    std::optional<int> wait(std::uint64_t event, Shape shape, const Args& a, MPI_Status* statuses, const trace::RequestRef* refs);
    std::optional<int> start(std::uint64_t event, const Args& a);
    /// A Cancel that is not to be done.
    bool keeps(std::uint64_t event);
    /// An end: waits there for the request that the log may name.
    void await(std::uint64_t event);

    // Polls.
    void beginPoll(std::uint64_t event);
    PollAnswer pollAnswer();
    /// Source that a probe which succeeds is to name. The twin takes the place of its communicator if it is to look there.
    int probed(int asked, MPI_Comm* comm);
    /// Testany and Testsome that succeed, Testall that failed.
    std::optional<int> deliver(Shape shape, const Args& a, MPI_Status* statuses, const trace::RequestRef* refs);

    // Persistent receives get their messages through receives of ours, since their own source cannot be changed. From any
    // thread.
    [[nodiscard]] bool remembersReceives() const { return m_receiveCount.load(std::memory_order_relaxed) != 0; }
    void rememberReceive(const Args& a);
    /// The user frees a request: one of ours that stands for it goes its own way; `followed`: it is kept instead of the user's
    /// (FreedRequests), and true is returned.
    bool forget(MPI_Request request, bool followed);
    [[nodiscard]] bool anyShadow() const { return m_shadows.load(std::memory_order_relaxed) != 0; }
    /// What stands for a request of the user; requestNull where nothing does.
    [[nodiscard]] MPI_Request shadowOf(MPI_Request request);
    /// `now` stands for a request: requestNull when that is complete.
    void shadowIs(MPI_Request request, MPI_Request now);

    bool on = false;
    Poll poll;

  private:
    struct Receive {
        MPI_Request handle; ///< the user's, persistent; requestNull: free
        MPI_Request shadow; ///< stands for it while it is active; requestNull: nothing does
        void* buffer;
        int count;
        int tag;
        MPI_Datatype datatype; ///< ours: the user may free his
        MPI_Comm comm;
    };
    /// The entry of a call, to be read; the log goes on behind it.
    trace::OrderReader take(std::uint64_t event);
    Receive* find(MPI_Request handle);          ///< under the lock
    std::optional<Receive> copyOf(MPI_Request handle);
    void renamed(MPI_Request handle, MPI_Request now);
    static int withhold(MPI_Request* request);
    [[nodiscard]] bool isComplete(std::uint32_t serial);
    static bool undo(MPI_Request* request, MPI_Status* status, int* code);
    static std::optional<int> completeThese(trace::OrderReader& entry, Shape shape, const Args& a,
                                            MPI_Status* statuses, const trace::RequestRef* refs);
    static int completePart(trace::OrderReader& entry, std::uint64_t count, const Args& a, MPI_Status* statuses,
                            const trace::RequestRef* refs);

    std::uint64_t m_next = 0; ///< begin of the call of the next entry
    trace::OrderReader m_log;
    std::atomic<bool> m_severalThreads{false};
    std::atomic<std::size_t> m_shadows{0}; ///< receives that one of ours stands for; changed under the lock
    std::atomic<std::size_t> m_receiveCount{0}; ///< changed under the lock
    Pool<Receive, 16> m_receives;
};
extern Forced forced;

/// Asks again until a poll says yes, or fails, or the debugger lets go of it.
class Patience {
  public:
    /// Before it is asked again; false: it is not to be.
    bool again();

  private:
    unsigned m_rounds = 0;
};
template <typename Call>
int untilYes(Call call, const int* flag) {
    int code = call();
    for (Patience patience; code == MPI_SUCCESS && *flag == 0 && patience.again();) {
        code = call();
    }
    return code;
}

/// While it lives, MPI is given ours where they stand for the user's requests.
class Shadows {
  public:
    Shadows(MPI_Request* requests, std::int64_t count)
        : m_requests(requests), m_count(forced.anyShadow() && requests != nullptr && count > 0 ? static_cast<std::size_t>(count) : 0),
          m_users(m_count) {
        if (m_count != 0) [[unlikely]] {
            substitute();
        }
    }
    ~Shadows() {
        if (m_count != 0) [[unlikely]] {
            restore();
        }
    }
    Shadows(const Shadows&) = delete;
    Shadows& operator=(const Shadows&) = delete;

  private:
    void substitute();
    void restore();

    MPI_Request* m_requests;
    std::size_t m_count;
    Scratch<MPI_Request, 16, 5> m_users;
};

} // namespace stopline::preload
