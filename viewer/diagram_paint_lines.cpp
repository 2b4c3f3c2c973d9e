// Frontiers, the stopline with its handles, the point.
#include "diagram_painter.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {

/// Rows at least this high have their event numbers on the stopline; lower ones a plain handle.
constexpr int kHandleRow = 34;

} // namespace

void DiagramPainter::drawLine(QPainter& painter, const LineGeometry& line) {
    const bool past = line.kind == LineKind::Past;
    const bool future = line.kind == LineKind::Future;
    const QColor colour = past                              ? m_palette.past
                          : future                          ? m_palette.future
                          : line.kind == LineKind::Stopline ? m_palette.stopline
                                                            : m_palette.weakText;
    QPolygonF path;
    for (const LineStep& step : line.steps) {
        path << QPointF(step.x, step.y0) << QPointF(step.x, step.y1);
    }
    QPen pen(colour, line.kind == LineKind::Stopline ? 3
                     : line.kind == LineKind::Ghost  ? 1
                     : line.weak                     ? 1.2
                                                     : 2.4);
    pen.setJoinStyle(Qt::MiterJoin);
    pen.setCapStyle(Qt::FlatCap);
    if (future) {
        pen.setDashPattern({5, 2.5, 1, 2.5});
    } else if (line.kind == LineKind::Ghost) {
        pen.setDashPattern({2, 2});
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    painter.drawPolyline(path);
    for (const LineStep& step : line.steps) {
        const double height = step.y1 - step.y0;
        const double middle = (step.y0 + step.y1) / 2.0;
        if (line.kind == LineKind::Ghost) {
            // The posts that would stand there, in outline.
            painter.setPen(QPen(colour, 1));
            painter.setBrush(m_palette.background);
            painter.drawRect(QRectF(step.x - 2, step.y0 + 2.5, 4, std::max(2.0, height - 5)));
        } else if (past || future) {
            const double r = std::clamp(height / 5.0, 2.5, 6.0);
            const double tip = past ? -1.6 * r : 1.6 * r;
            painter.setPen(step.hollow ? QPen(colour, 1.5) : QPen(Qt::NoPen));
            painter.setBrush(step.hollow ? m_palette.background : colour);
            painter.drawPolygon(
                QPolygonF({{step.x, middle - r}, {step.x + tip, middle}, {step.x, middle + r}}));
        } else if (line.kind == LineKind::Stopline && height < kHandleRow) {
            const double r = std::clamp(height / 4.0, 1.5, 4.0);
            painter.setPen(QPen(colour, 1.2));
            painter.setBrush(step.hollow ? m_palette.background : colour);
            painter.drawRect(QRectF(step.x - r, middle - r, 2 * r, 2 * r));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void DiagramPainter::paintHandles(QPainter& painter, const Geometry& geometry) {
    m_taken.clear();
    const QFontMetrics metrics(painter.font());
    const double room = geometry.view.width;
    for (const LineGeometry& line : geometry.lines) {
        if (line.kind != LineKind::Stopline || geometry.layout.rowHeight < kHandleRow) {
            continue;
        }
        for (const LineStep& step : line.steps) {
            if (step.x < 0 || step.x > room) {
                continue; // its row's place is out of view
            }
            const QString text = u"@"_s + QString::number(step.place.event.value());
            const double wide = metrics.horizontalAdvance(text) + 8;
            // It hangs from the top of its row: the boxes' labels are in the middle.
            QPointF at(std::clamp(step.x - wide / 2, 1.0, std::max(1.0, room - wide - 1)),
                       step.y0 + metrics.height() / 2.0 + 1);
            if (geometry.point && QRectF(at.x(), at.y() - metrics.height() / 2.0, wide, metrics.height())
                                      .adjusted(-8, -8, 8, 8)
                                      .contains(geometry.point->at)) {
                // The ring of the point would hide the number: beside it, on the side that has room.
                const double aside = geometry.point->radius + 8;
                const bool right = geometry.point->at.x() + aside + wide < room;
                at.setX(right ? geometry.point->at.x() + aside : geometry.point->at.x() - aside - wide);
            }
            drawPill(painter, at, text, m_palette.stopline, !step.hollow);
            m_taken.emplace_back(at.x(), at.y() - metrics.height() / 2.0, wide, metrics.height());
        }
    }
}

void DiagramPainter::paintLines(QPainter& painter, const Geometry& geometry) {
    const int width = geometry.view.width;
    for (const LineGeometry& line : geometry.lines) {
        if (line.kind != LineKind::Past && line.kind != LineKind::Future) {
            continue;
        }
        QColor tint = line.kind == LineKind::Past ? m_palette.past : m_palette.future;
        tint.setAlphaF(0.06F);
        for (const LineStep& step : line.steps) {
            const int x = int(std::lround(step.x));
            if (line.kind == LineKind::Past) {
                painter.fillRect(0, step.y0, std::max(0, x), step.y1 - step.y0, tint);
            } else {
                painter.fillRect(x, step.y0, std::max(0, width - x), step.y1 - step.y0, tint);
            }
        }
    }
    for (const LineGeometry& line : geometry.lines) {
        drawLine(painter, line);
    }
}

void DiagramPainter::drawPoint(QPainter& painter, const Palette& palette, const PointGeometry& point) {
    painter.setRenderHint(QPainter::Antialiasing, true);
    const double r = point.radius;
    const double outer = r + 4.5;
    const QRectF arc(point.at.x() - outer, point.at.y() - outer, 2 * outer, 2 * outer);
    painter.setBrush(Qt::NoBrush);
    // A halo in the ground colour keeps ring and arc readable on any box.
    for (const bool halo : {true, false}) {
        QPen pen(halo ? palette.background : palette.point, halo ? 5 : 2.4);
        pen.setCapStyle(Qt::RoundCap);
        painter.setPen(pen);
        painter.drawEllipse(point.at, r, r);
        painter.drawArc(arc, (point.after ? -55 : 125) * 16, 110 * 16);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace stopline::viewer
