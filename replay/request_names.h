// Which request of a recording is which of an execution that repeats it. Where MPI gives one handle to
// several requests the library knows only that it is one of them (trace::EventDetails::shared). Which sends
// share one is chance, so another one may have been named than in the recording, and then each of the two has
// the other one's name until both are complete.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stopline::replay {

/// The begin of the call that has made the request which an event of the rank names by `ref`; nothing: the
/// recording does not reach back to it, or it names none. The event itself may be of an execution that
/// repeats the recording. Cost: one step for each event since then.
[[nodiscard]] std::optional<EventIndex> madeBy(const Timeline& timeline, RankId rank, EventIndex event,
                                               trace::RequestRef ref);

/// False for requests that always have handles of their own: receives from somebody, and persistent ones.
/// `begin`: of the call that makes it.
[[nodiscard]] bool mayShareHandle(const trace::EventDetails& begin);

/// Of one rank. References count from the latest request backwards; both executions have made the same ones.
class RequestNames {
  public:
    void clear();
    /// All requests have the names of the recording.
    [[nodiscard]] bool empty() const { return m_recorded.empty(); }
    /// The next event of both, to be told before anything is asked of it; may be left out while empty().
    void pass(const trace::EventDetails& event);
    /// What the event says in the names of the recording.
    [[nodiscard]] trace::EventDetails named(trace::EventDetails executed) const;
    /// The same, and requests that the event has completed or freed are forgotten: for one that is not
    /// compared.
    [[nodiscard]] trace::EventDetails told(trace::EventDetails executed);
    /// Whether the event is the recorded one (sameEvent()); where it may be by other names, it has them from
    /// here on. `shares(ref)`: whether a request that the event names may share its handle.
    [[nodiscard]] bool same(const trace::EventDetails& executed, const trace::EventDetails& recorded,
                            const std::function<bool(trace::RequestRef)>& shares);

  private:
    using Serial = std::int64_t; ///< counted from when there was a first other name
    [[nodiscard]] Serial serialOf(trace::RequestRef ref) const { return m_made - std::int64_t{ref.back}; }
    [[nodiscard]] Serial recordedOf(Serial executed) const;
    [[nodiscard]] trace::RequestRef named(trace::RequestRef executed) const;
    void set(Serial executed, Serial recorded);
    /// Two executed requests have each other's names.
    void exchange(Serial one, Serial other);
    void forgetEnded(const trace::EventDetails& executed);

    std::unordered_map<Serial, Serial> m_recorded; ///< by the executed one, where it is another
    std::unordered_map<Serial, Serial> m_executed; ///< the other way round
    Serial m_made = 0;
};

} // namespace stopline::replay
