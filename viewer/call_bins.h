// Summaries of equal spans of an axis, each level's spans twice as wide as those of the level below: what a
// wide view is built from without looking at its calls one by one. Pure, no Qt.
#pragma once

#include "aggregate.h"

#include <optional>

namespace stopline::viewer {

/// One rank on one axis. A call belongs to the bin in which it begins. Calls are ordered by their begin, so
/// the calls of a bin follow on those of the bin before it and counts alone say which they are.
class CallBins {
  public:
    using Coordinate = std::int64_t TrackCall::*;
    /// Average calls a bin of the finest level; with fewer, looking at the calls themselves is as quick.
    static constexpr std::size_t kCallsPerBin = 2;

    /// `begin`: the member of a call that is its begin on this axis.
    explicit CallBins(Coordinate begin) : m_begin(begin) {}

    /// Takes in what was appended to `calls` since the last time.
    void extend(std::span<const TrackCall> calls);
    /// Call `index` changed after it had entered, but not its begin.
    void refresh(std::span<const TrackCall> calls, std::size_t index);
    void clear();

    /// Bin b covers the units [b << shift, (b + 1) << shift); the first also what lies before 0.
    struct Level {
        int shift = 0;
        std::span<const Aggregate> bins;
    };
    /// The widest bins that are not wider than `units`; nothing if even the narrowest are.
    [[nodiscard]] std::optional<Level> level(double units) const;
    [[nodiscard]] std::size_t callCount() const { return m_count; }

  private:
    [[nodiscard]] std::size_t binOf(const TrackCall& call) const {
        return std::size_t((call.*m_begin < 0 ? 0 : call.*m_begin) >> m_shift);
    }
    void widen();
    void buildAbove(std::size_t firstBin);

    Coordinate m_begin;
    int m_shift = 0;
    std::size_t m_count = 0;
    std::vector<std::vector<Aggregate>> m_levels; ///< [0] the finest; [k] pairs of [k-1]
};

} // namespace stopline::viewer
