// What part of an axis the diagram shows: 64-bit units on one side, pixels on the other. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stopline::viewer {

/// A half-open span of axis units mapped onto `width` pixels. Units are nanoseconds on the time axis and
/// kUnitsPerEvent-ths of an event on the event axis, so that one event can be wider than a pixel on both.
struct AxisView {
    std::int64_t begin = 0; ///< unit at the left edge of pixel 0
    std::int64_t end = 1;   ///< unit at the right edge of the last pixel; always > begin
    int width = 1;          ///< pixels, at least 1

    friend bool operator==(const AxisView&, const AxisView&) = default;

    [[nodiscard]] std::int64_t span() const { return end - begin; }
    [[nodiscard]] double unitsPerPixel() const { return double(span()) / double(width); }

    /// Position in pixels, not clamped. The difference is taken in integers, so that large times lose
    /// nothing.
    [[nodiscard]] double toPixel(std::int64_t unit) const {
        return double(unit - begin) * double(width) / double(span());
    }

    /// The unit under a pixel position, rounded to the nearest.
    [[nodiscard]] std::int64_t unitAt(double pixel) const {
        return begin + std::llround(pixel * double(span()) / double(width));
    }

    /// The smallest unit that lies at or right of the left edge of `pixel`: calls that begin before it are
    /// drawn in an earlier column.
    [[nodiscard]] std::int64_t columnBegin(int pixel) const {
        std::int64_t unit = begin + std::int64_t(std::ceil(double(pixel) * double(span()) / double(width)));
        // The division above and the one in toPixel round differently; the column is what toPixel says.
        while (std::floor(toPixel(unit)) < double(pixel)) {
            ++unit;
        }
        while (std::floor(toPixel(unit - 1)) >= double(pixel)) {
            --unit;
        }
        return unit;
    }

    /// Zooms in (factor > 1) or out around a pixel; the unit under it stays there, to the nearest unit.
    /// `anchor` is that unit: callers keep it over a series of steps so that roundings do not add up.
    [[nodiscard]] AxisView zoomed(double factor, double pixel, std::int64_t anchor, std::int64_t minSpan,
                                  std::int64_t maxSpan) const {
        const double wanted = double(span()) / factor;
        const double bounded = std::clamp(wanted, double(minSpan), double(std::max(minSpan, maxSpan)));
        const std::int64_t newSpan = std::max<std::int64_t>(1, std::llround(bounded));
        const std::int64_t newBegin = anchor - std::llround(pixel * double(newSpan) / double(width));
        return {newBegin, newBegin + newSpan, width};
    }

    /// Moves the content by `pixels` to the left, that is the view to the right.
    [[nodiscard]] AxisView panned(double pixels) const {
        const std::int64_t by = std::llround(pixels * double(span()) / double(width));
        return {begin + by, end + by, width};
    }

    /// Moves the view by the least that keeps some of [low, high] in sight: at least half of it shows
    /// content.
    [[nodiscard]] AxisView keptNear(std::int64_t low, std::int64_t high) const {
        const std::int64_t half = span() / 2;
        std::int64_t b = begin;
        b = std::min(b, std::max(low, high - half));
        b = std::max(b, std::min(low - half, high - span()));
        return {b, b + span(), width};
    }

    /// The same view on another width in pixels: the left edge and the scale stay.
    [[nodiscard]] AxisView resized(int newWidth) const {
        const int w = std::max(1, newWidth);
        const std::int64_t newSpan =
            std::max<std::int64_t>(1, std::llround(double(span()) * double(w) / double(width)));
        return {begin, begin + newSpan, w};
    }
};

/// Units of the event axis: event e lies at e * kUnitsPerEvent.
inline constexpr std::int64_t kUnitsPerEvent = 1024;

} // namespace stopline::viewer
