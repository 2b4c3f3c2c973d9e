// Stops: posts and their caps.
#include "diagram_painter.h"
#include "paint_shapes.h"

#include <QPainter>

namespace stopline::viewer {

void DiagramPainter::drawStopCap(QPainter& painter, const Palette& palette, StopMark mark, QPointF at,
                                 double size) {
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QColor colour = mark == StopMark::Error || mark == StopMark::Signal
                              ? palette.style(CallStyle::Error)
                          : mark == StopMark::Stopline ? palette.stopline
                                                       : palette.stop;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const double x = at.x();
    const double y = at.y();
    const double r = size;
    switch (mark) {
    case StopMark::None:
        break;
    case StopMark::Breakpoint:
        painter.drawEllipse(at, r, r);
        break;
    case StopMark::Pause:
        painter.drawRect(QRectF(x - r, y - r, 2 * r, 2 * r));
        break;
    case StopMark::Signal:
        painter.drawPolygon(QPolygonF({{x - r - 1, y + r}, {x, y - r - 1}, {x + r + 1, y + r}}));
        break;
    case StopMark::Step:
        painter.setPen(QPen(colour, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(QPolygonF({{x - r / 2, y - r}, {x + r, y}, {x - r / 2, y + r}}));
        break;
    case StopMark::Stopline:
        painter.drawPolygon(QPolygonF({{x - 1, y - r}, {x + 2 * r, y - r / 4}, {x - 1, y + r / 2}}));
        break;
    case StopMark::Error:
        painter.setPen(QPen(colour, 2.2));
        drawCross(painter, at, r);
        break;
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void DiagramPainter::paintStops(QPainter& painter, const Geometry& geometry) {
    const bool caps = geometry.layout.rowHeight >= 12;
    for (const StopGeometry& stop : geometry.stops) {
        const bool current = !stop.posts.empty() && stop.posts.front().current;
        QColor faint = m_palette.stop;
        if (!current) {
            faint.setAlphaF(0.22F);
            painter.setRenderHint(QPainter::Antialiasing, true);
            painter.setPen(QPen(faint, 1));
            for (std::size_t i = 1; i < stop.posts.size(); ++i) {
                painter.drawLine(QPointF(stop.posts[i - 1].x, stop.posts[i - 1].y1),
                                 QPointF(stop.posts[i].x, stop.posts[i].y0));
            }
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        for (const StopMarkGeometry& post : stop.posts) {
            QColor colour = m_palette.stop;
            colour.setAlphaF(current ? 1.0F : 0.5F);
            const int width = geometry.layout.level() >= RowLevel::Strip ? 1 : 2;
            painter.fillRect(post.x - width / 2, post.y0, width, post.y1 - post.y0, colour);
            if (caps && (current || geometry.layout.level() == RowLevel::Full)) {
                painter.setOpacity(current ? 1.0 : 0.5);
                const bool roomy = geometry.layout.level() == RowLevel::Full;
                drawStopCap(painter, m_palette, post.mark, {double(post.x), post.y0 + 4.0},
                            current && roomy ? 4.0 : 3.0);
                painter.setOpacity(1.0);
            }
        }
    }
}

} // namespace stopline::viewer
