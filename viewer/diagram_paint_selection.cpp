// The selected call, what belongs to it, and their labels.
#include "diagram_painter.h"
#include "paint_shapes.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace stopline::viewer {

namespace {

bool crosses(const QLineF& line, const QRectF& area) {
    if (area.contains(line.p1()) || area.contains(line.p2())) {
        return true;
    }
    const std::array<QLineF, 4> sides{
        QLineF{area.topLeft(), area.topRight()}, QLineF{area.topRight(), area.bottomRight()},
        QLineF{area.bottomRight(), area.bottomLeft()}, QLineF{area.bottomLeft(), area.topLeft()}};
    return std::any_of(sides.begin(), sides.end(), [&line](const QLineF& side) {
        return side.intersects(line, nullptr) == QLineF::BoundedIntersection;
    });
}

/// What a label may not hide, and what it had better not hide.
struct Obstacles {
    std::vector<QRectF> hard;
    std::vector<QRectF> soft;
    std::vector<QLineF> lines;

    [[nodiscard]] bool free(const QRectF& area, bool also) const {
        const auto meets = [&area](const QRectF& r) { return r.intersects(area); };
        return std::none_of(hard.begin(), hard.end(), meets) &&
               (!also || (std::none_of(soft.begin(), soft.end(), meets) &&
                          std::none_of(lines.begin(), lines.end(),
                                       [&area](const QLineF& line) { return crosses(line, area); })));
    }
};

/// Blocks and marks that a label of this message could meet.
Obstacles obstaclesNear(const Geometry& geometry, const MessageLine& line, const QSizeF& size) {
    const QRectF reach =
        QRectF(line.from, line.to)
            .normalized()
            .adjusted(-size.width() - 16, -2 * size.height(), size.width() + 16, 2 * size.height());
    Obstacles all;
    for (const Box& box : geometry.boxes) {
        const QRectF area(box.x0, box.y0, std::max(1, box.x1 - box.x0), box.y1 - box.y0);
        if (area.intersects(reach)) {
            all.hard.push_back(area);
        }
    }
    for (const Strip& strip : geometry.strips) {
        const QRectF row(reach.left(), strip.y0, reach.width(), strip.y1 - strip.y0);
        if (!row.intersects(reach)) {
            continue;
        }
        for (const Cell& cell : strip.cells) {
            if (cell.x >= reach.left() && cell.x <= reach.right()) {
                all.hard.emplace_back(cell.x, strip.y0, 1, strip.y1 - strip.y0);
            }
        }
    }
    for (const Spine& spine : geometry.spines) {
        if (!spine.dots.empty()) {
            const double x = spine.dots.front().at.x();
            const double top = spine.dots.front().at.y();
            all.hard.emplace_back(x - 4, top - 4, 8, spine.dots.back().at.y() - top + 8);
        }
    }
    for (const StopGeometry& stop : geometry.stops) {
        for (const StopMarkGeometry& post : stop.posts) {
            all.soft.emplace_back(post.x - 3, post.y0, 6, post.y1 - post.y0);
        }
    }
    for (const LineGeometry& drawn : geometry.lines) {
        for (const LineStep& step : drawn.steps) {
            all.soft.emplace_back(step.x - 2, step.y0, 4, step.y1 - step.y0);
        }
    }
    for (const RaceRing& ring : geometry.races) {
        all.soft.emplace_back(ring.at.x() - ring.radius, ring.at.y() - ring.radius, 2 * ring.radius,
                              2 * ring.radius);
    }
    for (const GhostLine& other : geometry.selection->alternatives) {
        all.lines.emplace_back(other.from, other.to);
    }
    for (const MessageLine& other : geometry.selection->messages) {
        all.lines.emplace_back(other.from, other.to);
    }
    return all;
}

/// Beside the line and as near to its middle as nothing is in the way; nothing where there is no room along
/// all of it.
std::optional<QRectF> roomBeside(const Geometry& geometry, const MessageLine& line, const QSizeF& size,
                                 const std::vector<QRectF>& taken) {
    Obstacles obstacles = obstaclesNear(geometry, line, size);
    obstacles.hard.insert(obstacles.hard.end(), taken.begin(), taken.end());
    const double wide = size.width();
    const double high = size.height();
    const QRectF view(2, 0, geometry.view.width - 4, geometry.layout.viewportHeight);
    constexpr int kSteps = 24;
    for (const bool also : {true, false}) {
        for (int step = 0; step <= kSteps; ++step) {
            // From the middle outwards, to one side and the other.
            const int from = (step + 1) / 2;
            const double along = 0.5 + (step % 2 == 0 ? 0.46 : -0.46) * from / (kSteps / 2.0);
            const QPointF at = line.from + along * (line.to - line.from);
            for (const QPointF& corner : {QPointF(8, -high / 2), QPointF(-8 - wide, -high / 2),
                                          QPointF(-wide / 2, -high - 4), QPointF(-wide / 2, 4)}) {
                const QRectF area(at + corner, size);
                if (view.contains(area) && obstacles.free(area, also)) {
                    return area;
                }
            }
        }
    }
    return std::nullopt;
}

} // namespace

void DiagramPainter::drawPill(QPainter& painter, QPointF leftMiddle, const QString& text,
                              const QColor& colour, bool filled) {
    const QFontMetrics metrics(painter.font());
    const double height = metrics.height();
    const QRectF area(leftMiddle.x(), leftMiddle.y() - height / 2, metrics.horizontalAdvance(text) + 8,
                      height);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(colour, 1.2));
    painter.setBrush(filled ? colour : m_palette.background);
    painter.drawRoundedRect(area, 4, 4);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(filled ? Palette::textOn(colour) : m_palette.text);
    m_texts.draw(painter, area.x() + 4, area.y(), text);
}

void DiagramPainter::paintSelection(QPainter& painter, const Geometry& geometry) {
    if (!geometry.selection) {
        return;
    }
    const SelectionGeometry& selection = *geometry.selection;
    painter.setRenderHint(QPainter::Antialiasing, true);
    const auto outline = [&](const Box& box, double width, Qt::PenStyle style) {
        QPen pen(m_palette.selection, width, style);
        pen.setJoinStyle(Qt::MiterJoin);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        QRectF area(box.x0, box.y0, std::max(6, box.x1 - box.x0), box.y1 - box.y0);
        if (box.x1 - box.x0 < 6) {
            area.translate(-(6 - (box.x1 - box.x0)) / 2.0, 0);
        }
        painter.drawRect(area.adjusted(-1, -1, 1, 1));
    };
    if (selection.requestFrom && selection.box && selection.requestFrom->row == selection.box->row) {
        const double y = selection.box->y1 + 3.5;
        painter.setPen(QPen(m_palette.selection, 1));
        painter.drawLine(QPointF(selection.requestFrom->x0, y), QPointF(selection.box->x0, y));
        outline(*selection.requestFrom, 1, Qt::DashLine);
    }
    for (const MessageLine& line : selection.messages) {
        drawMessage(painter, line);
        painter.setRenderHint(QPainter::Antialiasing, true);
        const bool pending = line.shape != MessageShape::Matched && line.shape != MessageShape::Backwards;
        const QColor colour = pending ? m_palette.style(CallStyle::Error) : m_palette.selection;
        QPen pen(colour, 2.5);
        if (pending) {
            pen.setDashPattern({3, 2});
        }
        painter.setPen(pen);
        painter.drawLine(line.from, line.to);
        if (!pending) {
            drawHead(painter, line.from, line.to, colour, 10);
        }
    }
    for (const Box& box : selection.partners) {
        outline(box, 1.5, Qt::SolidLine);
    }
    if (selection.box) {
        outline(*selection.box, 2, Qt::SolidLine);
    }
    paintAlternatives(painter, selection);
    painter.setRenderHint(QPainter::Antialiasing, true);
    constexpr std::size_t kMostLabels = 6;
    if (m_messageLabel && selection.messages.size() <= kMostLabels) {
        for (const MessageLine& line : selection.messages) {
            const QString text = m_messageLabel(line.message);
            const QFontMetrics metrics(painter.font());
            const double wide = metrics.horizontalAdvance(text) + 8;
            // Without room it is left out: pointer and panel tell the same.
            if (const auto area = roomBeside(geometry, line, QSizeF(wide, metrics.height() + 1), m_taken)) {
                drawPill(painter, {area->left(), area->center().y()}, text, m_palette.selection, false);
                m_taken.push_back(*area);
            }
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace stopline::viewer
