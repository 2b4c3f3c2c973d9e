// Where the rows of ranks lie. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stopline::viewer {

/// How much a row shows, by its height in pixels.
enum class RowLevel : std::uint8_t {
    Full,    ///< 18 and more: boxes, labels, ticks, marker lane, glyphs
    Compact, ///< 8-17: boxes, ticks, stops
    Strip,   ///< 3-7: boxes per pixel run, stops as 1-px posts
    Heat,    ///< 1-2: one colour per pixel
};

[[nodiscard]] constexpr RowLevel rowLevel(int height) {
    return height >= 18  ? RowLevel::Full
           : height >= 8 ? RowLevel::Compact
           : height >= 3 ? RowLevel::Strip
                         : RowLevel::Heat;
}

inline constexpr int kMinRowHeight = 1;
inline constexpr int kMaxRowHeight = 160;

/// The vertical extent of the bar in which boxes are drawn, relative to the top of its row.
struct BarLane {
    int top = 0;
    int bottom = 1; ///< exclusive
};

struct RowLayout {
    int rows = 0;
    int rowHeight = 24;
    int scroll = 0;         ///< pixels by which the rows are moved up
    int viewportHeight = 1; ///< pixels

    friend bool operator==(const RowLayout&, const RowLayout&) = default;

    [[nodiscard]] int contentHeight() const { return rows * rowHeight; }
    [[nodiscard]] int maxScroll() const { return std::max(0, contentHeight() - viewportHeight); }
    [[nodiscard]] int top(int row) const { return row * rowHeight - scroll; }
    [[nodiscard]] int bottom(int row) const { return top(row) + rowHeight; }
    [[nodiscard]] int centre(int row) const { return top(row) + (lane().top + lane().bottom) / 2; }
    /// The row at a height, or -1 above the first and below the last.
    [[nodiscard]] int at(int y) const {
        const int content = y + scroll;
        return content < 0 || content >= contentHeight() ? -1 : content / rowHeight;
    }
    [[nodiscard]] int firstVisible() const {
        return std::clamp(scroll / rowHeight, 0, std::max(0, rows - 1));
    }
    /// One past the last row of which a pixel shows.
    [[nodiscard]] int endVisible() const {
        return std::clamp((scroll + viewportHeight + rowHeight - 1) / rowHeight, 0, rows);
    }
    [[nodiscard]] RowLevel level() const { return rowLevel(rowHeight); }

    [[nodiscard]] BarLane lane() const {
        switch (level()) {
        case RowLevel::Full: { // room above for stop caps, below for the marker lane
            const int above = std::max(3, rowHeight / 5);
            const int below = std::max(4, rowHeight / 5);
            return {above, std::max(above + 1, rowHeight - below)};
        }
        case RowLevel::Compact:
            return {2, rowHeight - 2};
        case RowLevel::Strip:
            return {0, rowHeight - 1};
        case RowLevel::Heat:
            break;
        }
        return {0, rowHeight};
    }

    [[nodiscard]] RowLayout scrolledTo(int wanted) const {
        RowLayout other = *this;
        other.scroll = std::clamp(wanted, 0, other.maxScroll());
        return other;
    }
    /// Another row height; the content under `y` stays under it as far as the ends allow.
    [[nodiscard]] RowLayout withRowHeight(int height, int y) const {
        RowLayout other = *this;
        other.rowHeight = std::clamp(height, kMinRowHeight, kMaxRowHeight);
        const std::int64_t content = std::int64_t(y + scroll) * other.rowHeight / rowHeight;
        return other.scrolledTo(int(content - y));
    }
    /// The height that shows all rows where that leaves them readable.
    [[nodiscard]] static int fittingRowHeight(int rows, int viewportHeight) {
        if (rows <= 0) {
            return 24;
        }
        return std::clamp(viewportHeight / rows, rows > 128 ? 3 : 8, 96);
    }
};

} // namespace stopline::viewer
