#include "row_raster.h"

#include <QPainter>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stopline::viewer {

namespace {

/// A saw-tooth top: what stands for several calls never looks like one.
constexpr int kTooth = 3;
constexpr int kHatchPeriod = 8;

CallStyle shownStyle(const Box& box) {
    return box.severity == Severity::Error ? CallStyle::Error : box.style;
}

/// The part of a list, ordered by row, that belongs to `row`; the list is walked along.
template <class T>
std::span<const T> takeRow(std::span<const T>& rest, int row) {
    std::size_t from = 0;
    while (from < rest.size() && rest[from].row < row) {
        ++from;
    }
    std::size_t to = from;
    while (to < rest.size() && rest[to].row == row) {
        ++to;
    }
    const std::span<const T> taken = rest.subspan(from, to - from);
    rest = rest.subspan(to);
    return taken;
}

} // namespace

void RowRaster::setColours(const Palette& palette) {
    for (std::size_t style = 0; style < std::size_t(CallStyle::Count); ++style) {
        for (const bool dimmed : {false, true}) {
            QColor colour = palette.style(CallStyle(style));
            if (dimmed) {
                colour = palette.faded(colour, kDimStrength);
            }
            const QColor edge = palette.edgeOf(colour);
            const QColor line = palette.hatchOn(colour, dimmed);
            m_shades[2 * style + (dimmed ? 1 : 0)] = {colour.rgb(), edge.rgb(), line.rgb()};
        }
    }
}

void RowRaster::composeBox(QRgb* line, int width, const Box& box) const {
    const int x0 = std::max(box.x0, 0);
    const int x1 = std::min(box.x1, width);
    if (x0 >= x1) {
        return;
    }
    const Shade& colours = shade(shownStyle(box), box.dimmed);
    const int length = box.x1 - box.x0;
    if (box.unfinished) {
        // Solid for a third, then fading to the right: there is no end yet.
        constexpr double kSolid = 0.35;
        constexpr double kLast = 0.12;
        for (int x = x0; x < x1; ++x) {
            const double at = std::clamp((double(x - box.x0) / length - kSolid) / (1 - kSolid), 0.0, 1.0);
            const auto alpha = int(255 * (1 - at * (1 - kLast)));
            line[x] =
                qPremultiply(qRgba(qRed(colours.body), qGreen(colours.body), qBlue(colours.body), alpha));
        }
    } else {
        std::fill(line + x0, line + x1, colours.body);
    }
    if (length >= kEdged && !box.openLeft && box.x0 >= 0) {
        line[box.x0] = colours.edge;
    }
    if (length >= kEdged && !box.unfinished && !box.openRight && box.x1 <= width) {
        line[box.x1 - 1] = colours.edge;
    }
}

void RowRaster::hatchBox(QRgb* line, int width, const Box& box, QRgb colour, int y) {
    const int x0 = std::max(box.x0 + 1, 0);
    const int x1 = std::min(box.x1 - 1, width);
    int x = x0 + (kHatchPeriod - (x0 - box.x0 + y) % kHatchPeriod) % kHatchPeriod;
    for (; x < x1; x += kHatchPeriod) {
        line[x] = colour;
    }
}

void RowRaster::composeLine(QRgb* line, int width, const Row& row, int y) const {
    std::fill(line, line + width, 0U);
    const bool teeth = row.barHeight >= 2 * kTooth && y < kTooth;
    for (const Cell& cell : row.cells) {
        const int tooth = teeth && cell.count > 1 ? std::abs(cell.x % (2 * kTooth) - kTooth) : 0;
        if (cell.x >= 0 && cell.x < width && y >= tooth) {
            line[cell.x] = shade(cell.style, cell.dimmed).body;
        }
    }
    for (const Box& box : row.boxes) {
        composeBox(line, width, box);
    }
}

void RowRaster::composeTicks(QRgb* line, int width, const Row& row, bool down) const {
    std::fill(line, line + width, 0U);
    for (const PostTick& tick : row.ticks) {
        if (tick.down == down && tick.x >= 0) {
            for (int x = tick.x; x < std::min(tick.x + 2, width); ++x) {
                line[x] = shade(tick.style, tick.dimmed).body;
            }
        }
    }
}

void RowRaster::paint(QPainter& painter, const Palette& palette, const Geometry& geometry, bool withBoxes) {
    const int width = geometry.view.width;
    const RowLevel level = geometry.layout.level();
    const int tickHeight = level == RowLevel::Full ? 5 : level == RowLevel::Compact ? 2 : 0;
    setColours(palette);
    std::span<const Strip> strips = geometry.strips;
    std::span<const Box> boxes = withBoxes ? std::span<const Box>(geometry.boxes) : std::span<const Box>();
    std::span<const PostTick> ticks = geometry.ticks;
    for (const RowMarks& marks : geometry.rows) {
        Row row;
        row.barHeight = marks.barBottom - marks.barTop;
        const std::span<const Strip> strip = takeRow(strips, marks.row);
        row.cells = strip.empty() ? std::span<const Cell>() : std::span<const Cell>(strip.front().cells);
        row.boxes = takeRow(boxes, marks.row);
        row.ticks = takeRow(ticks, marks.row);
        if (row.barHeight <= 0 || (row.cells.empty() && row.boxes.empty() && row.ticks.empty())) {
            continue;
        }
        const int above = row.ticks.empty() ? 0 : tickHeight;
        const int height = row.barHeight + 2 * above;
        if (m_image.width() < width || m_image.height() < height) {
            m_image = QImage(std::max(width, m_image.width()), std::max(height, m_image.height()),
                             QImage::Format_ARGB32_Premultiplied);
        }
        const auto lineAt = [&](int y) { return reinterpret_cast<QRgb*>(m_image.scanLine(y)); };
        const auto repeat = [&](int from, int first, int last) {
            for (int y = first; y < last; ++y) {
                std::memcpy(lineAt(y), lineAt(from), std::size_t(width) * sizeof(QRgb));
            }
        };
        if (above > 0) {
            composeTicks(lineAt(0), width, row, false);
            repeat(0, 1, above);
            composeTicks(lineAt(height - 1), width, row, true);
            repeat(height - 1, height - above, height - 1);
        }
        // Below the teeth all lines are alike.
        const int teeth = row.cells.empty() || row.barHeight < 2 * kTooth ? 0 : kTooth;
        for (int y = 0; y <= teeth; ++y) {
            composeLine(lineAt(above + y), width, row, y);
        }
        repeat(above + teeth, above + teeth + 1, above + row.barHeight);
        for (const Box& box : row.boxes) {
            if (box.style == CallStyle::Wait && box.x1 - box.x0 >= kLeastHatched && row.barHeight >= 6) {
                const QRgb colour = shade(shownStyle(box), box.dimmed).hatch;
                for (int y = 0; y < row.barHeight; ++y) {
                    hatchBox(lineAt(above + y), width, box, colour, y);
                }
            }
        }
        painter.drawImage(QPoint(0, marks.barTop - above), m_image, QRect(0, 0, width, height));
    }
}

} // namespace stopline::viewer
