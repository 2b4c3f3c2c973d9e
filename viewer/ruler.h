// Ticks and numbers of the ruler, and times and sizes in words. Pure.
#pragma once

#include "axis_view.h"

#include <QString>

#include <vector>

namespace stopline::viewer {

struct RulerTick {
    std::int64_t unit = 0;
    double pixel = 0;
    QString label;
    friend bool operator==(const RulerTick&, const RulerTick&) = default;
};

/// The smallest of 1, 2, 5 times a power of ten that is at least `wanted`; at least 1.
[[nodiscard]] std::int64_t niceStep(double wanted);

/// Ticks at least `spacing` pixels apart, the first at or right of the left edge, none at negative times.
[[nodiscard]] std::vector<RulerTick> timeTicks(const AxisView& view, double spacing);
/// The same for event numbers, never closer than one event, none below event 1.
[[nodiscard]] std::vector<RulerTick> eventTicks(const AxisView& view, double spacing);

/// "3.2 ms": three significant digits, unit chosen by size.
[[nodiscard]] QString durationText(std::int64_t nanoseconds);
/// A time with the precision that `step` needs: "5.20 s" for a step of 10 ms.
[[nodiscard]] QString timeLabel(std::int64_t nanoseconds, std::int64_t step, std::int64_t largest);
/// "41 000" with thin groups, as the corner text shows counts.
[[nodiscard]] QString countText(std::uint64_t count);

} // namespace stopline::viewer
