// The bars of rows, painted by scan line: cells, boxes and ticks of a row become one picture instead of
// thousands of primitives of QPainter.
#pragma once

#include "geometry.h"
#include "palette.h"

#include <QImage>

#include <array>
#include <span>
#include <vector>

class QPainter;

namespace stopline::viewer {

/// Pixels: a narrower box has no border of its own.
inline constexpr int kEdged = 6;
/// In a narrower box a hatch is noise.
inline constexpr int kLeastHatched = 10;

class RowRaster {
  public:
    /// Strips, ticks and, if wanted, bodies of boxes of all rows, which the geometry has in the order of
    /// rows.
    void paint(QPainter& painter, const Palette& palette, const Geometry& geometry, bool withBoxes);

  private:
    struct Row {
        std::span<const Cell> cells;
        std::span<const Box> boxes;
        std::span<const PostTick> ticks;
        int barHeight = 0;
    };
    void setColours(const Palette& palette);
    /// A line of the bar; the teeth of cells leave out its upper ones.
    void composeLine(QRgb* line, int width, const Row& row, int y) const;
    void composeBox(QRgb* line, int width, const Box& box) const;
    static void hatchBox(QRgb* line, int width, const Box& box, QRgb colour, int y);
    void composeTicks(QRgb* line, int width, const Row& row, bool down) const;

    struct Shade {
        QRgb body = 0;
        QRgb edge = 0;
        QRgb hatch = 0;
    };
    [[nodiscard]] const Shade& shade(CallStyle style, bool dimmed) const {
        return m_shades[2 * std::size_t(style) + (dimmed ? 1 : 0)];
    }

    std::array<Shade, 2 * std::size_t(CallStyle::Count)> m_shades{};
    QImage m_image; ///< kept from row to row
};

} // namespace stopline::viewer
