// Messages singly and as ribbons.
#include "diagram_painter.h"
#include "paint_shapes.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {

void drawHalves(QPainter& painter, const MessageLine& line, const QPen& sender, const QPen& receiver) {
    const QPointF middle = (line.from + line.to) / 2;
    painter.setPen(sender);
    painter.drawLine(line.from, middle);
    painter.setPen(receiver);
    painter.drawLine(middle, line.to);
}

} // namespace

void DiagramPainter::drawMessage(QPainter& painter, const MessageLine& line) {
    painter.setRenderHint(QPainter::Antialiasing, true);
    const bool wrong =
        line.shape == MessageShape::UnmatchedSend || line.shape == MessageShape::UnmatchedReceive;
    QColor colour = wrong ? m_palette.style(CallStyle::Error) : m_palette.message;
    if (line.dim == Dim::All) {
        colour = m_palette.weakMessage;
    }
    const QPointF middle = (line.from + line.to) / 2;
    const double width = wrong ? 1.6 : line.shape == MessageShape::Matched ? 1.0 : 1.3;
    QPen solid(colour, width);
    QPen dashed(colour, width);
    dashed.setDashPattern({5, 4});
    painter.setBrush(Qt::NoBrush);
    switch (line.shape) {
    case MessageShape::Matched:
        if (line.self) {
            QPainterPath bow(line.from);
            bow.cubicTo(line.from + QPointF(0, 9), line.to + QPointF(0, 9), line.to);
            painter.setPen(solid);
            painter.drawPath(bow);
            return;
        }
        painter.setPen(solid);
        if (line.dim == Dim::SecondHalf) {
            painter.drawLine(line.from, middle);
            painter.setPen(QPen(m_palette.weakMessage, width));
            painter.drawLine(middle, line.to);
            colour = m_palette.weakMessage;
        } else {
            painter.drawLine(line.from, line.to);
        }
        if (line.head) {
            drawHead(painter, line.from, line.to, colour, 7);
        }
        return;
    case MessageShape::Backwards: {
        QPen dotted(m_palette.weakMessage, 1.2);
        dotted.setDashPattern({1, 3});
        painter.setPen(dotted);
        painter.drawLine(line.from, line.to);
        painter.setPen(QPen(m_palette.weakMessage, 1));
        painter.drawEllipse(middle, 2.5, 2.5);
        return;
    }
    case MessageShape::Sent:
    case MessageShape::UnmatchedSend:
        drawHalves(painter, line, solid, dashed);
        painter.setPen(QPen(colour, 1.6));
        if (wrong) {
            drawCross(painter, line.to, 4);
        } else {
            painter.setBrush(m_palette.background);
            painter.drawEllipse(line.to, 3.5, 3.5);
        }
        return;
    case MessageShape::Awaited:
    case MessageShape::UnmatchedReceive:
        drawHalves(painter, line, dashed, solid);
        painter.setPen(QPen(colour, 1.6));
        if (wrong) {
            drawCross(painter, line.from, 4);
        } else {
            // Open where the send should be, so that it is not taken for the circle of a message in flight.
            painter.setBrush(m_palette.background);
            painter.drawRect(QRectF(line.from - QPointF(3, 3), QSizeF(6, 6)));
        }
        drawHead(painter, line.from, line.to, colour, 7);
        return;
    case MessageShape::WildcardStub:
        dashed.setDashPattern({2, 2});
        painter.setPen(dashed);
        painter.drawLine(line.from, line.to);
        painter.setPen(colour);
        m_texts.draw(painter, line.from.x() - 7, line.from.y() - QFontMetrics(m_font).height() / 2.0, u"?"_s);
        return;
    }
}

namespace {

/// Lines up to which those over boxes have a seam.
constexpr std::size_t kSeamCap = 600;

/// A ribbon from its upper to its lower end.
struct Slanted {
    double top = 0;
    double bottom = 0;
    double left = 0; ///< at the top
    double slope = 0;
    double width = 0;

    explicit Slanted(const Ribbon& ribbon) : width(ribbon.width) {
        const bool down = ribbon.to.y() >= ribbon.from.y();
        const QPointF upper = down ? ribbon.from : ribbon.to;
        const QPointF lower = down ? ribbon.to : ribbon.from;
        top = upper.y();
        bottom = std::max(lower.y(), top + 1);
        left = upper.x() - width / 2;
        slope = (lower.x() - upper.x()) / (bottom - top);
    }
};

} // namespace

void DiagramPainter::paintRibbons(QPainter& painter, const Geometry& geometry) {
    if (geometry.ribbons.empty()) {
        return;
    }
    // Polygons cost several times as much. Bands of lines stay in the processor's cache; a ribbon at a time
    // would touch another part of memory with each of its lines.
    constexpr int kBand = 16;
    const int width = geometry.view.width;
    const int height = geometry.layout.viewportHeight;
    if (m_ribbons.width() < width) {
        m_ribbons = QImage(width, kBand, QImage::Format_ARGB32_Premultiplied);
    }
    std::vector<Slanted> ribbons(geometry.ribbons.begin(), geometry.ribbons.end());
    std::sort(ribbons.begin(), ribbons.end(),
              [](const Slanted& a, const Slanted& b) { return a.top < b.top; });
    // All have one colour, so a pixel's opacity says what it is: one more ribbon over it makes it denser.
    constexpr double kOpacity = 0.22;
    std::array<QRgb, 256> denser{};
    for (std::size_t alpha = 0; alpha < denser.size(); ++alpha) {
        const int next = int(std::lround(double(alpha) + (255 - double(alpha)) * kOpacity));
        denser[alpha] = qPremultiply(
            qRgba(m_palette.message.red(), m_palette.message.green(), m_palette.message.blue(), next));
    }
    std::vector<const Slanted*> active;
    auto next = ribbons.begin();
    for (int band = 0; band < height; band += kBand) {
        const int lines = std::min(kBand, height - band);
        std::erase_if(active, [&](const Slanted* ribbon) { return ribbon->bottom <= band; });
        for (; next != ribbons.end() && next->top < band + lines; ++next) {
            if (next->bottom > band) {
                active.push_back(&*next);
            }
        }
        if (active.empty()) {
            continue;
        }
        for (int y = 0; y < lines; ++y) {
            auto* line = reinterpret_cast<QRgb*>(m_ribbons.scanLine(y));
            std::fill(line, line + width, 0U);
            const double middle = band + y + 0.5;
            for (const Slanted* ribbon : active) {
                if (middle < ribbon->top || middle >= ribbon->bottom) {
                    continue;
                }
                const double left = ribbon->left + (middle - ribbon->top) * ribbon->slope + 0.5;
                const int x0 = int(std::clamp(left, 0.0, double(width)));
                const int x1 = int(std::clamp(left + ribbon->width, 0.0, double(width)));
                for (int x = x0; x < x1; ++x) {
                    line[x] = denser[std::size_t(qAlpha(line[x]))];
                }
            }
        }
        painter.drawImage(QPoint(0, band), m_ribbons, QRect(0, 0, width, lines));
    }
}

void DiagramPainter::paintMessages(QPainter& painter, const Geometry& geometry) {
    paintRibbons(painter, geometry);
    painter.setRenderHint(QPainter::Antialiasing, true);
    // The plain ones in one go: most of a picture's lines are of this kind.
    std::vector<QLineF> plain;
    std::vector<QLineF> overBoxes; // those that cross other rows: a seam tells them from the boxes under them
    plain.reserve(geometry.messages.size());
    const double across = 1.5 * geometry.layout.rowHeight;
    for (const MessageLine& line : geometry.messages) {
        if (line.shape == MessageShape::Matched && !line.self && line.dim == Dim::None) {
            plain.emplace_back(line.from, line.to);
            if (std::abs(line.to.y() - line.from.y()) > across) {
                overBoxes.emplace_back(line.from, line.to);
            }
        } else {
            drawMessage(painter, line);
        }
    }
    if (geometry.messages.size() <= kSeamCap && !overBoxes.empty()) {
        QColor seam = m_palette.background;
        seam.setAlphaF(0.6F);
        painter.setPen(QPen(seam, 3));
        painter.drawLines(overBoxes.data(), int(overBoxes.size()));
    }
    painter.setPen(QPen(m_palette.message, 1));
    painter.drawLines(plain.data(), int(plain.size()));
    for (const MessageLine& line : geometry.messages) {
        if (line.head && line.shape == MessageShape::Matched && line.dim == Dim::None) {
            drawHead(painter, line.from, line.to, m_palette.message, 6.5);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (const WaitMark& wait : geometry.waits) {
        const QColor full = m_palette.style(CallStyle::Wait);
        const QColor amber = wait.dimmed ? m_palette.faded(full, kDimStrength) : full;
        const QRect area(wait.x0 + 1, wait.y1 - 4, wait.x1 - wait.x0 - 1, 4);
        painter.fillRect(area, amber);
        painter.fillRect(area, QBrush(m_palette.hatchOn(amber, wait.dimmed), Qt::BDiagPattern));
    }
}

} // namespace stopline::viewer
