// What a replay cannot make the ranks of a program do again.
#pragma once

#include "timeline.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace stopline::replay {

/// Why the execution of a rank cannot be made to go the same way, and from which call on.
struct Unforced {
    enum class Why : std::uint8_t {
        Threads,   ///< several threads call MPI: in which order is not forced
        OneSided,  ///< what a one-sided call reads depends on when others write
        Processes, ///< processes that are no ranks here are others the next time
        Unknown,   ///< MPI does not say what the call received
        Missing,   ///< the history does not start with the first event
        TooLong,   ///< more requests than one event of the recording can list
    };
    Why why{};
    EventIndex event{0}; ///< begin of the first such call
};

/// What is wrong with one call, by what is recorded of it; nothing: it is forced, or has no choice.
[[nodiscard]] std::optional<Unforced::Why> whyUnforced(const Timeline& timeline, CallRef call);

/// The first of the calls of a rank from which on not all is forced: OrderLog::unforced. Walks all of them.
[[nodiscard]] std::optional<Unforced> unforcedOf(const Timeline& timeline, RankId rank);

/// "several threads call MPI, and in which order they do is not replayed"
[[nodiscard]] std::string_view unforcedReason(Unforced::Why why);

/// The call told which of its requests had completed: Waitany, Waitsome and their tests.
[[nodiscard]] bool deliversSome(trace::FunctionId function);

/// The end of a call about a list of which some requests have failed: MPI may leave at any time then, with others
/// still on.
[[nodiscard]] bool failsInPart(const trace::EventDetails& end);

} // namespace stopline::replay
