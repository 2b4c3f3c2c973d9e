// Which requests a call has completed, in words: events as text, the diagram and the window say the same.
#pragma once

#include "timeline.h"

#include <QString>

#include <functional>
#include <optional>
#include <vector>

namespace stopline::replay {

/// What the words need to know beside the events.
struct CompletionNames {
    /// The begin of the call that made the request which an event names, as madeBy() gives it.
    std::function<std::optional<EventIndex>(EventIndex, trace::RequestRef)> maker;
    /// A rank of a communicator, as it is to be read: "3".
    std::function<QString(CommIndex, std::int32_t)> peer;
    bool errors = true; ///< with the errors of requests that failed
};

/// Looks for the maker backwards from the event, and names ranks by their numbers in the communicator.
[[nodiscard]] CompletionNames completionNames(const Timeline& timeline, RankId rank);

/// The calls of a rank that made requests: for texts of many events, where madeBy() would look through the
/// same events again and again.
class RequestMakers {
  public:
    /// Cost: one step for each event of the rank.
    RequestMakers(const Timeline& timeline, RankId rank);
    [[nodiscard]] std::optional<EventIndex> maker(EventIndex event, trace::RequestRef ref) const;

  private:
    std::vector<EventIndex> m_makers; ///< their begins, ascending
};

/// What the end of a call says of requests: "completed [2] MPI_Irecv of event 7 from 3 tag 1 4 B". Where
/// there are more than four, their places in the list alone, in the order that MPI gave: "completed 64:
/// [0-63]"; those that failed are named in any case. Empty where it says nothing of any.
[[nodiscard]] QString completedText(const Timeline& timeline, RankId rank, EventIndex end,
                                    const CompletionNames& names);

/// " that completed [2]", of the calls that complete some of their requests as MPI decides (MPI_Waitany and
/// its like) and have completed one, behind the place after them. Empty for all others.
[[nodiscard]] QString chosenText(const Timeline& timeline, RankId rank, EventIndex event);

} // namespace stopline::replay
