// What is not the same of two events that read the same in detailsText(), in words.
#pragma once

#include "timeline.h"

#include <QString>

#include <functional>

namespace stopline::replay {

/// What the words need to know beside the two events.
struct DifferenceNames {
    std::function<QString(trace::RequestRef)> request; ///< see requestText()
    std::function<QString(CodeAddress)> recordedSite;  ///< "rows.c:12"; empty where that is not known
    std::function<QString(CodeAddress)> executedSite;
    bool sitesMayBeOne = false; ///< code is elsewhere now: other addresses say nothing
};

/// "the request of MPI_Isend to 1 tag 3 4 B (event 12)": what an event of the rank names by `ref`.
[[nodiscard]] QString requestText(const Timeline& timeline, RankId rank, EventIndex event,
                                  trace::RequestRef ref);

/// All that differs of what detailsText() does not say, the most telling first; begins with a blank: " on
/// communicator 3 instead of MPI_COMM_WORLD, from rows.c:14 instead of rows.c:12".
[[nodiscard]] QString whatDiffers(const trace::EventDetails& recorded, const trace::EventDetails& executed,
                                  const DifferenceNames& names);

} // namespace stopline::replay
