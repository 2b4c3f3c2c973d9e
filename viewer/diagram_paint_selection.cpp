// The selected call, what belongs to it, and their labels.
#include "diagram_painter.h"
#include "paint_shapes.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace stopline::viewer {

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
    constexpr std::size_t kMostLabels = 6;
    if (m_messageLabel && selection.messages.size() <= kMostLabels) {
        for (const MessageLine& line : selection.messages) {
            const QString text = m_messageLabel(line.message);
            const QFontMetrics metrics(painter.font());
            const double wide = metrics.horizontalAdvance(text) + 8;
            const QPointF middle = (line.from + line.to) / 2;
            const double half = metrics.height() / 2.0 + 1;
            // Right of the line, else left of it, else further down: never over a handle of the stopline.
            QPointF at;
            for (const QPointF& offset : {QPointF(8, 0), QPointF(-8 - wide, 0), QPointF(8, 2 * half + 2),
                                          QPointF(-8 - wide, 2 * half + 2), QPointF(8, 0)}) {
                at = middle + offset;
                at.setX(std::clamp(at.x(), 2.0, std::max(2.0, geometry.view.width - wide - 2)));
                at.setY(std::clamp(at.y(), half, std::max(half, geometry.layout.viewportHeight - half)));
                const QRectF area(at.x(), at.y() - half, wide, 2 * half);
                if (std::none_of(m_taken.begin(), m_taken.end(),
                                 [&](const QRectF& r) { return r.intersects(area); })) {
                    break;
                }
            }
            drawPill(painter, at, text, m_palette.selection, false);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace stopline::viewer
