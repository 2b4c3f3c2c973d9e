// Shapes that several parts of the painter use.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPointF>

#include <array>
#include <cmath>

namespace stopline::viewer {

/// The head of an arrow that ends in `to`.
inline void drawHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& colour,
                     double size) {
    const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
    if (length < 1) {
        return;
    }
    const double ux = (to.x() - from.x()) / length;
    const double uy = (to.y() - from.y()) / length;
    const std::array<QPointF, 3> tip{
        to, QPointF(to.x() - size * ux - size * 0.42 * uy, to.y() - size * uy + size * 0.42 * ux),
        QPointF(to.x() - size * ux + size * 0.42 * uy, to.y() - size * uy - size * 0.42 * ux)};
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawConvexPolygon(tip.data(), int(tip.size()));
}

inline void drawCross(QPainter& painter, const QPointF& at, double r) {
    painter.drawLine(QPointF(at.x() - r, at.y() - r), QPointF(at.x() + r, at.y() + r));
    painter.drawLine(QPointF(at.x() - r, at.y() + r), QPointF(at.x() + r, at.y() - r));
}

} // namespace stopline::viewer
