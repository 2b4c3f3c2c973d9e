// Collectives as spines through their members.
#include "diagram_painter.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace stopline::viewer {

namespace {

constexpr int kRoomyBar = 12; ///< pixels: in a lower bar wedges and dots are squares and bars

} // namespace

void DiagramPainter::paintSpines(QPainter& painter, const Geometry& geometry) {
    const BarLane lane = geometry.layout.lane();
    // Members are marked one by one as long as that is not all there is to see (and to paint).
    constexpr std::size_t kMostDots = 1500;
    std::size_t members = 0;
    for (const Spine& spine : geometry.spines) {
        members += spine.dots.size();
    }
    const bool dots = members <= kMostDots;
    for (const Spine& spine : geometry.spines) {
        drawSpine(painter, spine, lane.bottom - lane.top, dots);
    }
}

void DiagramPainter::drawSpineLine(QPainter& painter, const Spine& spine, const QColor& colour,
                                   double width) {
    const auto missing = [&](std::size_t i) { return spine.dots[i].kind == DotKind::Missing; };
    // Vertical and slanting parts of one kind are one stroke each: there may be hundreds of members.
    for (std::size_t from = 0; from + 1 < spine.dots.size();) {
        const bool gap = missing(from) || missing(from + 1);
        const double x = spine.dots[from].at.x();
        const bool upright = spine.dots[from + 1].at.x() == x;
        std::size_t to = from + 1;
        while (to + 1 < spine.dots.size() && (missing(to) || missing(to + 1)) == gap &&
               (spine.dots[to + 1].at.x() == spine.dots[to].at.x()) == upright) {
            ++to;
        }
        if (upright && !gap) {
            const double left = std::floor(x - width / 2 + 0.5);
            painter.fillRect(
                QRectF(left, spine.dots[from].at.y(), width, spine.dots[to].at.y() - spine.dots[from].at.y()),
                colour);
        } else {
            QPolygonF path;
            for (std::size_t i = from; i <= to; ++i) {
                path << spine.dots[i].at;
            }
            QPen pen(colour, gap ? 1.5 : width);
            if (gap) {
                pen.setDashPattern({2, 2});
            }
            painter.setPen(pen);
            painter.setBrush(Qt::NoBrush);
            painter.setRenderHint(QPainter::Antialiasing, true);
            painter.drawPolyline(path);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        from = to;
    }
}

void DiagramPainter::drawSpine(QPainter& painter, const Spine& spine, int barHeight, bool dots) {
    QColor colour =
        spine.mismatch ? m_palette.style(CallStyle::Error) : m_palette.style(CallStyle::Collective);
    colour = m_palette.theme() == Palette::Theme::Light ? colour.darker(125) : colour.lighter(110);
    const QColor full = colour;
    const QColor faded = m_palette.faded(colour, kDimStrength);
    if (spine.dimmed) {
        colour = faded;
    }
    const bool roomy = barHeight >= kRoomyBar;
    if (!dots && spine.complete && !spine.mismatch) {
        drawSpineLine(painter, spine, colour, roomy ? 2 : 1);
        return;
    }
    const double half = barHeight / 2.0;
    for (const SpineDot& dot : spine.dots) {
        constexpr double kLeastWedge = 6;
        if (dot.kind == DotKind::Missing || dot.at.x() - dot.enterX <= kLeastWedge) {
            continue;
        }
        QColor wedge = dot.dimmed ? faded : full;
        wedge.setAlphaF(0.28F);
        if (roomy) {
            const std::array<QPointF, 3> shape{QPointF(dot.enterX, dot.at.y() + half),
                                               QPointF(dot.at.x(), dot.at.y() + half),
                                               QPointF(dot.at.x(), dot.at.y() + half * 0.25)};
            painter.setRenderHint(QPainter::Antialiasing, true);
            painter.setPen(Qt::NoPen);
            painter.setBrush(wedge);
            painter.drawConvexPolygon(shape.data(), int(shape.size()));
            painter.setRenderHint(QPainter::Antialiasing, false);
        } else if (barHeight >= 6) {
            const int x = int(dot.enterX);
            painter.fillRect(x, int(dot.at.y() + half) - 2, int(dot.at.x()) - x, 2, wedge);
        }
    }
    drawSpineLine(painter, spine, colour, barHeight >= 6 ? 2 : 1);
    for (const SpineDot& dot : spine.dots) {
        drawSpineDot(painter, dot,
                     dot.kind == DotKind::Missing ? colour
                     : dot.dimmed                 ? faded
                                                  : full,
                     barHeight);
    }
}

void DiagramPainter::drawSpineDot(QPainter& painter, const SpineDot& dot, const QColor& colour,
                                  int barHeight) {
    const double r = std::clamp(barHeight / 5.0, 2.0, 3.5);
    const QColor ground = m_palette.background;
    const int reach = int(std::ceil(r)) + 2;
    if (dot.kind == DotKind::Missing) {
        m_stamps.put(painter, Stamps::Kind::Missing, colour, r, reach, dot.at, [&](QPainter& brush) {
            brush.setPen(QPen(colour, 1.6));
            brush.setBrush(ground);
            brush.drawEllipse(QPointF(0, 0), r + 1, r + 1);
        });
    } else if (barHeight < kRoomyBar) {
        const int x = int(std::floor(dot.at.x()));
        const int y = int(std::floor(dot.at.y()));
        const int root = dot.kind == DotKind::Root ? 1 : 0;
        painter.fillRect(x - 1 - root, y - 1 - root, 3 + 2 * root, 3 + 2 * root, colour);
    } else if (dot.kind == DotKind::Root) {
        m_stamps.put(painter, Stamps::Kind::Root, colour, r, reach, dot.at, [&](QPainter& brush) {
            brush.setPen(QPen(ground, 1));
            brush.setBrush(colour);
            brush.drawRect(QRectF(-r - 0.5, -r - 0.5, 2 * r + 1, 2 * r + 1));
        });
    } else {
        m_stamps.put(painter, Stamps::Kind::Member, colour, r, reach, dot.at, [&](QPainter& brush) {
            brush.setPen(QPen(ground, 1));
            brush.setBrush(colour);
            brush.drawEllipse(QPointF(0, 0), r, r);
        });
    }
}

} // namespace stopline::viewer
