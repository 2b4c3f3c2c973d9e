// Summaries of runs of calls: what one pixel shows when many calls fall on it. Pure, no Qt.
#pragma once

#include "call_style.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stopline::viewer {

/// One call of a rank in both coordinates, compact: the builder walks millions of them.
struct TrackCall {
    static constexpr std::int64_t kOpen = INT64_MAX;
    std::int64_t timeBegin = 0;
    std::int64_t timeEnd = kOpen; ///< kOpen while unfinished
    std::int64_t eventBegin = 0;  ///< in units of the event axis
    std::int64_t eventEnd = kOpen;
    CallStyle style = CallStyle::Other;
    Severity severity = Severity::Compute;
    bool post = false; ///< starts a request

    [[nodiscard]] bool open() const { return eventEnd == kOpen; }
};

/// What a run of calls is reduced to. The worst severity wins, then the longest call: both are associative,
/// so any bracketing gives the same. `worst` is an index of a real call, so that clicking a pixel selects
/// one.
struct Aggregate {
    std::uint32_t count = 0;
    std::uint32_t worst = 0;
    std::uint16_t styles = 0; ///< bit per CallStyle
    Severity severity = Severity::Compute;
    CallStyle style = CallStyle::Compute;
    std::uint8_t log2Duration = 0; ///< of the worst call: floor(log2(ns)) + 1

    friend bool operator==(const Aggregate&, const Aggregate&) = default;
};

/// a covers calls before those of b.
[[nodiscard]] Aggregate combine(const Aggregate& a, const Aggregate& b);
[[nodiscard]] Aggregate summaryOf(const TrackCall& call, std::uint32_t index);

/// Blocked forest: 64 calls to a leaf, then binary levels; append is amortised constant, a query touches at
/// most two partial blocks and O(log n) nodes.
class CallForest {
  public:
    static constexpr std::size_t kBlock = 64;

    /// Takes in what was appended to `calls` since the last time: only full blocks enter the forest.
    void extend(std::span<const TrackCall> calls);
    /// Call `index` changed after it had entered.
    void refresh(std::span<const TrackCall> calls, std::size_t index);
    [[nodiscard]] Aggregate query(std::span<const TrackCall> calls, std::size_t from, std::size_t to) const;
    void clear() { m_levels.clear(); }

  private:
    std::vector<std::vector<Aggregate>> m_levels; ///< [0] full blocks of 64; [k] pairs of [k-1]
};

} // namespace stopline::viewer
