// Windows: what is moved through them, and which calls on them wait for which.
//
// Edges that are taken (start of one call -> end of another):
//  - Win_post -> Win_start. The k-th Win_post of a target that names an origin belongs to the k-th Win_start of that
//    origin that names the target. MPI lets Win_start return before, and Win_complete wait instead; windows in shared
//    memory wait in Win_start, so that is where a rank may really be held up.
//  - Win_complete -> Win_wait, or the Win_test that succeeds, paired in the same way.
//  - Win_fence, and what makes and frees windows, are collectives (matcher_collectives.h): all -> all, also where an
//    assertion would allow less.
// Transfers add none: the start of a Put comes before the start of the fence or Win_complete that ends its epoch, and so
// before the end of the target's fence or Win_wait; of a Get the same holds the other way round.
//
// Not taken: locks. In which order ranks got a lock is not recorded, and Win_flush and Win_unlock wait for no call of the
// target. So nothing of what is done under a lock is shown to have happened before anything of another rank. Where
// a rank waits for a lock, the ranks that hold one are known all the same (holderOf()).
#pragma once

#include "timeline_data.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace stopline::replay {

class OneSided {
  public:
    explicit OneSided(TimelineData& data) : m_data(data) {}

    /// A call moves data. Returns the transfer, or kNone when it goes nowhere.
    std::uint32_t move(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin);
    /// The request of a transfer is complete at the end of `call`.
    void moved(std::uint32_t transfer, std::uint32_t call);
    /// A call that synchronises has begun.
    void begin(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin);
    /// It has ended: what waits for others has an end now.
    void ended(std::int32_t rank, std::uint32_t call);
    /// It has ended well; for Win_test: and said yes.
    void end(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin);
    /// A fence, which is `collective`, has ended well.
    void fenced(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin, std::uint32_t collective);
    /// MPI has refused a call: takes back what its begin made.
    void withdraw(std::int32_t rank, std::uint32_t call);

  private:
    /// What one rank does with one window.
    struct State {
        std::uint32_t fence = kNone;     ///< the last one's collective
        std::vector<std::uint32_t> open; ///< transfers that are not complete at the target
        std::vector<std::int32_t> access; ///< world ranks that the last Win_start named; empty outside of such an epoch
        std::vector<std::uint32_t> edges; ///< from their Win_post
        std::vector<std::int32_t> exposure; ///< world ranks that the last Win_post named
        std::vector<std::int32_t> locked;   ///< world ranks; -1 for all
    };
    /// What an origin and a target have done with each other in one window.
    struct Pair {
        std::vector<std::uint32_t> opens;  ///< edges, k-th Win_post to k-th Win_start
        std::vector<std::uint32_t> closes; ///< edges, k-th Win_complete to k-th Win_wait
        std::uint32_t posts = 0;
        std::uint32_t starts = 0;
        std::uint32_t completes = 0;
        std::uint32_t waits = 0;
    };
    State& state(std::int32_t rank, CommIndex window) { return m_states[{rank, window.value()}]; }
    Pair& pair(std::uint32_t window, std::int32_t origin, std::int32_t target) {
        return m_pairs[{window, origin, target}];
    }
    /// World ranks of a group.
    [[nodiscard]] std::vector<std::int32_t> group(std::int32_t rank, const trace::EventDetails& begin) const;
    /// One end of the edge number `count` of a list, which then counts one more.
    std::uint32_t meet(std::vector<std::uint32_t>& edges, std::uint32_t& count, const SyncEdge& ends);
    /// Calls of some member that belong to epochs of groups lie before the start of its history.
    [[nodiscard]] bool epochsMissing(std::int32_t rank, CommIndex window) const;
    void complete(std::int32_t rank, std::uint32_t call, CommIndex window);
    void waitFor(std::int32_t rank, std::uint32_t call, CommIndex window);
    /// Transfers of the state under locks to `target` (-1: all) are complete, at the target too if `remote`.
    void flush(State& state, std::int32_t target, std::uint32_t call, bool remote);
    void unlockBegins(std::int32_t rank, std::uint32_t call, std::uint32_t window, std::int32_t target);

    TimelineData& m_data;
    std::map<std::pair<std::int32_t, std::uint32_t>, State> m_states; ///< by rank and its index of the window
    std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, Pair> m_pairs; ///< by window, origin, target
};

/// The public face of a transfer; empty when MPI has refused it.
[[nodiscard]] Transfer transferOfHalf(const TimelineData& data, std::uint32_t transfer);

/// The calls by which the rank of `call` has asked for the locks that `call` needs: itself, or those before an unlock or flush.
[[nodiscard]] std::vector<CallRef> locksOf(const TimelineData& data, CallRef call);

/// The call by which another rank has got a lock that keeps `call`, which asks for one, from returning while
/// the ranks stand at `positions`: an exclusive one, or any where `call` asks for an exclusive one. `positions` as in
/// causality.h.
[[nodiscard]] std::optional<CallRef> holderOf(const TimelineData& data, CallRef call,
                                              const std::vector<std::uint64_t>& positions);

} // namespace stopline::replay
