#include "diagram_painter.h"

#include "paint_shapes.h"

#include <QFontMetrics>
#include <QPaintEngine>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace stopline::viewer {

void TextCache::draw(QPainter& painter, double x, double y, const QString& text) {
    auto found = m_texts.find(text);
    if (found == m_texts.end()) {
        constexpr qsizetype kMost = 4000;
        if (m_texts.size() >= kMost) {
            m_texts.clear();
        }
        QStaticText laid(text);
        laid.setTextFormat(Qt::PlainText);
        laid.prepare(QTransform(), painter.font());
        found = m_texts.insert(text, laid);
    }
    painter.drawStaticText(QPointF(x, y), *found);
}

void DiagramPainter::setFont(const QFont& font) {
    if (font != m_font) {
        m_font = font;
        m_texts.clear();
    }
}

void DiagramPainter::paint(QPainter& painter, const Geometry& geometry) {
    painter.save();
    painter.setFont(m_font);
    painter.setClipRect(0, 0, geometry.view.width, geometry.layout.viewportHeight);
    paintRows(painter, geometry);
    paintHatches(painter, geometry);
    paintBoxes(painter, geometry);
    paintSpines(painter, geometry);
    paintMessages(painter, geometry);
    paintRaces(painter, geometry);
    paintLines(painter, geometry);
    paintStops(painter, geometry);
    for (const MessageLine& line : geometry.pending) {
        drawMessage(painter, line);
    }
    paintStarts(painter, geometry);
    paintBoxLabels(painter, geometry);
    paintHandles(painter, geometry);
    paintSelection(painter, geometry);
    if (geometry.point) {
        drawPoint(painter, m_palette, *geometry.point);
    }
    painter.restore();
}

void DiagramPainter::paintRows(QPainter& painter, const Geometry& geometry) {
    const int width = geometry.view.width;
    int below = 0;
    for (const RowMarks& row : geometry.rows) {
        const QColor ground = row.zebra ? m_palette.zebra : m_palette.background;
        constexpr double kFocusWash = 0.05;
        painter.fillRect(0, row.top, width, row.height,
                         row.focused ? Palette::mixed(m_palette.selection, ground, kFocusWash) : ground);
        below = row.top + row.height;
    }
    painter.fillRect(0, below, width, std::max(0, geometry.layout.viewportHeight - below),
                     m_palette.background);
    for (const double x : geometry.grid) {
        painter.fillRect(int(x), 0, 1, geometry.layout.viewportHeight, m_palette.grid);
    }
    QColor fresh = m_palette.fresh;
    for (const RowMarks& row : geometry.rows) {
        // The centre line says where the rank was alive; it stops where its recording does.
        const int y = (row.barTop + row.barBottom) / 2;
        const int thick = geometry.layout.level() <= RowLevel::Compact ? 2 : 1;
        const QColor compute = m_palette.theme() == Palette::Theme::Light
                                   ? m_palette.style(CallStyle::Compute).darker(112)
                                   : m_palette.style(CallStyle::Compute).lighter(150);
        const int end = row.dimX.value_or(row.lastX);
        if (end > row.firstX) {
            painter.fillRect(row.firstX, y - thick / 2, end - row.firstX, thick, compute);
        }
        if (row.freshX0 && row.freshX1 > *row.freshX0) {
            fresh.setAlphaF(0.10F);
            painter.fillRect(*row.freshX0, row.top, row.freshX1 - *row.freshX0, row.height, fresh);
            fresh.setAlphaF(0.65F);
            painter.fillRect(*row.freshX0, row.top, 1, row.height, fresh);
        }
    }
}

void DiagramPainter::paintHatches(QPainter& painter, const Geometry& geometry) {
    QColor weak = m_palette.hatch;
    weak.setAlphaF(0.16F); // lines cover about a third: 6 % in all
    const QBrush notExecuted(weak, Qt::BDiagPattern);
    QColor heldColour = m_palette.hatch;
    heldColour.setAlphaF(0.55F);
    for (const RowMarks& row : geometry.rows) {
        if (!row.open && row.lastX < geometry.view.width) {
            painter.fillRect(row.lastX, row.top, geometry.view.width - row.lastX, row.height, notExecuted);
        }
        if (row.startEvent != 0 && row.firstX > 0) {
            // The other way round: not what is to come but what is gone.
            painter.fillRect(0, row.top, std::min(row.firstX, geometry.view.width), row.height,
                             QBrush(heldColour, Qt::FDiagPattern));
        }
    }
    for (const HeldBand& band : geometry.held) {
        const QRect area(band.x0, band.y0, band.x1 - band.x0, band.y1 - band.y0);
        painter.fillRect(area, m_palette.frame);
        painter.fillRect(area.adjusted(1, 0, -1, 0), QBrush(heldColour, Qt::Dense6Pattern));
        painter.fillRect(band.x0, band.y0, 1, area.height(), heldColour);
        painter.fillRect(band.x1 - 1, band.y0, 1, area.height(), heldColour);
    }
}

void DiagramPainter::drawBox(QPainter& painter, const Box& box) {
    drawBoxBody(painter, box);
    drawGlyphs(painter, box);
}

void DiagramPainter::drawBoxBody(QPainter& painter, const Box& box) const {
    const int width = box.x1 - box.x0;
    const int height = box.y1 - box.y0;
    const QRect area(box.x0, box.y0, width, height);
    const QColor colour = colourOf(box);
    if (box.unfinished) {
        QLinearGradient fade(box.x0, 0, box.x1, 0);
        QColor end = colour;
        end.setAlphaF(0.12F);
        fade.setColorAt(0, colour);
        fade.setColorAt(0.35, colour);
        fade.setColorAt(1, end);
        painter.fillRect(area, fade);
    } else {
        painter.fillRect(area, colour);
    }
    if (box.style == CallStyle::Wait && width >= kLeastHatched) {
        painter.fillRect(area, QBrush(m_palette.hatchOn(colour, box.dimmed), Qt::BDiagPattern));
    }
    const QColor edge = m_palette.edgeOf(colour);
    if (width >= kEdged && !box.openLeft) {
        painter.fillRect(box.x0, box.y0, 1, height, edge);
    }
    if (width >= kEdged && !box.unfinished && !box.openRight) {
        painter.fillRect(box.x1 - 1, box.y0, 1, height, edge);
    }
}

QColor DiagramPainter::colourOf(const Box& box) const {
    const QColor colour = m_palette.style(box.severity == Severity::Error ? CallStyle::Error : box.style);
    return box.dimmed ? m_palette.faded(colour, kDimStrength) : colour;
}

void DiagramPainter::drawGlyphs(QPainter& painter, const Box& box) {
    const int width = box.x1 - box.x0;
    const int height = box.y1 - box.y0;
    if (width < 10 || height < 8) {
        return;
    }
    const QColor colour = colourOf(box);
    if (box.style == CallStyle::Collective && !box.dimmed) {
        const QColor edge = m_palette.edgeOf(colour);
        if (!box.openLeft) {
            painter.fillRect(box.x0, box.y0 - 2, 3, height + 4, edge);
        }
        if (!box.unfinished && !box.openRight) {
            painter.fillRect(box.x1 - 3, box.y0 - 2, 3, height + 4, edge);
        }
    } else if (box.style == CallStyle::Management) {
        painter.setPen(QPen(m_palette.textOn(colour), 1, Qt::DotLine));
        painter.drawLine(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y0 + 1);
    }
    const double middle = (box.y0 + box.y1) / 2.0;
    const double notch = std::min(4.0, height / 4.0);
    const QColor ink = Palette::textOn(colour);
    const int radius = int(std::ceil(notch)) + 1;
    if (box.style == CallStyle::Send && !box.unfinished && !box.openRight && width >= 16) {
        m_stamps.put(
            painter, Stamps::Kind::SendNotch, ink, notch, radius, {box.x1 - 3.0 - notch / 2, middle},
            [&](QPainter& brush) {
                brush.setPen(Qt::NoPen);
                brush.setBrush(ink);
                brush.drawPolygon(QPolygonF({{-notch / 2, -notch}, {notch / 2, 0}, {-notch / 2, notch}}));
            });
    } else if (box.style == CallStyle::Receive && !box.openLeft && width >= 16) {
        m_stamps.put(
            painter, Stamps::Kind::ReceiveNotch, ink, notch, radius, {box.x0 + 3.0 + notch / 2, middle},
            [&](QPainter& brush) {
                brush.setPen(QPen(ink, 1));
                brush.setBrush(Qt::NoBrush);
                brush.drawPolygon(QPolygonF({{notch / 2, -notch}, {-notch / 2, 0}, {notch / 2, notch}}));
            });
    }
    if (box.severity == Severity::Error) {
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setPen(QPen(m_palette.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(box.x0, box.y0, width, height).adjusted(1, 1, -1, -1));
        const double r = notch + 1;
        drawCross(painter, {box.x1 - 6 - r, middle}, r);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
}

void DiagramPainter::paintBoxes(QPainter& painter, const Geometry& geometry) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    // A drawing keeps its boxes as shapes; on screen a picture of them is many times as quick.
    const QPaintEngine* engine = painter.paintEngine();
    const bool picture = engine == nullptr || engine->type() == QPaintEngine::Raster;
    const bool glyphs = geometry.layout.level() == RowLevel::Full;
    m_bars.paint(painter, m_palette, geometry, picture);
    for (const Box& box : geometry.boxes) {
        if (box.x0 > geometry.view.width || (picture && !glyphs)) {
            continue;
        }
        if (!picture) {
            drawBoxBody(painter, box);
        }
        if (glyphs) {
            drawGlyphs(painter, box);
        }
    }
}

} // namespace stopline::viewer
