#include "diagram_painter.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

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
    paintStrips(painter, geometry);
    paintBoxes(painter, geometry);
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
    paintMessages(painter, geometry);
    paintLines(painter, geometry);
    paintStops(painter, geometry);
    for (const MessageLine& line : geometry.pending) {
        drawMessage(painter, line);
    }
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
    painter.fillRect(0, 0, width, geometry.layout.viewportHeight, m_palette.background);
    for (const RowMarks& row : geometry.rows) {
        const QRect area(0, row.top, width, row.height);
        if (row.zebra) {
            painter.fillRect(area, m_palette.zebra);
        }
        if (row.focused) {
            QColor wash = m_palette.selection;
            wash.setAlphaF(0.05F);
            painter.fillRect(area, wash);
        }
    }
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
    }
    for (const HeldBand& band : geometry.held) {
        const QRect area(band.x0, band.y0, band.x1 - band.x0, band.y1 - band.y0);
        painter.fillRect(area, m_palette.frame);
        painter.fillRect(area, QBrush(heldColour, Qt::Dense6Pattern));
        painter.fillRect(band.x0, band.y0, 1, area.height(), heldColour);
        painter.fillRect(band.x1 - 1, band.y0, 1, area.height(), heldColour);
    }
}

void DiagramPainter::paintStrips(QPainter& painter, const Geometry& geometry) {
    const int width = geometry.view.width;
    for (const Strip& strip : geometry.strips) {
        const int height = strip.y1 - strip.y0;
        if (height <= 0 || strip.y1 < 0 || strip.y0 > geometry.layout.viewportHeight) {
            continue;
        }
        if (m_strip.width() < width || m_strip.height() < height) {
            m_strip = QImage(std::max(width, m_strip.width()), std::max(height, m_strip.height()),
                             QImage::Format_ARGB32_Premultiplied);
        }
        std::array<QRgb, 2 * std::size_t(CallStyle::Count)> colours{};
        for (std::size_t s = 0; s < std::size_t(CallStyle::Count); ++s) {
            const QColor full = m_palette.style(CallStyle(s));
            colours[2 * s] = full.rgb();
            colours[2 * s + 1] = m_palette.faded(full, kDimStrength).rgb();
        }
        // A saw-tooth top: what stands for several calls never looks like one. Below the teeth all lines are
        // alike.
        constexpr int kTooth = 3;
        const int teeth = height >= 2 * kTooth ? kTooth : 0;
        for (int y = 0; y <= teeth && y < height; ++y) {
            auto* line = reinterpret_cast<QRgb*>(m_strip.scanLine(y));
            std::fill(line, line + width, 0U);
            for (const Cell& cell : strip.cells) {
                const int tooth = cell.count > 1 ? std::abs(cell.x % (2 * kTooth) - kTooth) : 0;
                if (cell.x < width && (teeth == 0 || y >= tooth)) {
                    line[cell.x] = colours[2 * std::size_t(cell.style) + (cell.dimmed ? 1 : 0)];
                }
            }
        }
        for (int y = teeth + 1; y < height; ++y) {
            std::memcpy(m_strip.scanLine(y), m_strip.constScanLine(teeth), std::size_t(width) * sizeof(QRgb));
        }
        painter.drawImage(QPoint(0, strip.y0), m_strip, QRect(0, 0, width, height));
    }
}

void DiagramPainter::drawBox(QPainter& painter, const Box& box, bool glyphs) {
    const int width = box.x1 - box.x0;
    const int height = box.y1 - box.y0;
    const QRect area(box.x0, box.y0, width, height);
    QColor colour = m_palette.style(box.severity == Severity::Error ? CallStyle::Error : box.style);
    if (box.dimmed) {
        colour = m_palette.faded(colour, kDimStrength);
    }
    const QColor edge = m_palette.theme() == Palette::Theme::Light ? colour.darker(128) : colour.darker(145);
    QColor shade = box.dimmed ? m_palette.background : QColor(0x101214);
    shade.setAlphaF(box.dimmed ? 0.45F : 0.30F);
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
    if (box.style == CallStyle::Wait && width >= 10 && height >= 6) {
        painter.fillRect(area, QBrush(shade, Qt::BDiagPattern));
    }
    if (width >= 6 && !box.openLeft) {
        painter.fillRect(box.x0, box.y0, 1, height, edge);
    }
    if (width >= 8 && !box.unfinished && !box.openRight) {
        painter.fillRect(box.x1 - 1, box.y0, 1, height, edge);
    }
    if (!glyphs || width < 10 || height < 8) {
        return;
    }
    if (box.style == CallStyle::Collective && !box.dimmed) {
        painter.fillRect(box.x0, box.y0 - 2, 3, height + 4, edge);
        if (!box.unfinished && !box.openRight) {
            painter.fillRect(box.x1 - 3, box.y0 - 2, 3, height + 4, edge);
        }
    } else if (box.style == CallStyle::Management) {
        painter.setPen(QPen(m_palette.textOn(colour), 1, Qt::DotLine));
        painter.drawLine(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y0 + 1);
    }
    const double middle = (box.y0 + box.y1) / 2.0;
    const double notch = std::min(4.0, height / 4.0);
    painter.setRenderHint(QPainter::Antialiasing, true);
    if (box.style == CallStyle::Send && !box.unfinished && !box.openRight && width >= 16) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_palette.textOn(colour));
        painter.drawPolygon(QPolygonF({{box.x1 - 2.0 - notch, middle - notch},
                                       {box.x1 - 2.0, middle},
                                       {box.x1 - 2.0 - notch, middle + notch}}));
    } else if (box.style == CallStyle::Receive && !box.openLeft && width >= 16) {
        painter.setPen(QPen(m_palette.textOn(colour), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolygon(QPolygonF({{box.x0 + 3.0 + notch, middle - notch},
                                       {box.x0 + 3.0, middle},
                                       {box.x0 + 3.0 + notch, middle + notch}}));
    }
    if (box.severity == Severity::Error) {
        painter.setPen(QPen(m_palette.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(area).adjusted(1, 1, -1, -1));
        const double r = notch + 1;
        const double x = box.x1 - 6 - r;
        painter.drawLine(QPointF(x - r, middle - r), QPointF(x + r, middle + r));
        painter.drawLine(QPointF(x - r, middle + r), QPointF(x + r, middle - r));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void DiagramPainter::paintBoxes(QPainter& painter, const Geometry& geometry) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    const bool glyphs = geometry.layout.level() == RowLevel::Full;
    for (const Box& box : geometry.boxes) {
        if (box.x0 <= geometry.view.width) {
            drawBox(painter, box, glyphs);
        }
    }
    const int size = geometry.layout.level() == RowLevel::Full ? 5 : 2;
    for (const PostTick& tick : geometry.ticks) {
        const QColor full = m_palette.style(tick.style);
        painter.fillRect(tick.x, tick.down ? tick.y : tick.y - size, 2, size,
                         tick.dimmed ? m_palette.faded(full, kDimStrength) : full);
    }
}

void DiagramPainter::paintBoxLabels(QPainter& painter, const Geometry& geometry) {
    const QFontMetrics metrics(m_font);
    if (!m_boxLabel || geometry.layout.level() != RowLevel::Full) {
        return;
    }
    constexpr int kLeastWidth = 40;
    std::unordered_map<int, std::vector<int>> dots; // by row: where a spine crosses it
    for (const Spine& spine : geometry.spines) {
        for (const SpineDot& dot : spine.dots) {
            dots[dot.row].push_back(int(dot.at.x()));
        }
    }
    for (const Box& box : geometry.boxes) {
        int left = std::max(box.x0, 0);
        int right = std::min(box.x1, geometry.view.width);
        if (box.style == CallStyle::Collective || box.style == CallStyle::Management ||
            box.style == CallStyle::Other) {
            // Beside the dot of its spine, on the side that has more room.
            constexpr int kDot = 7;
            for (const int x : dots[box.row]) {
                if (x > left - kDot && x < right) {
                    const bool before = x - left > right - x;
                    right = before ? x - kDot : right;
                    left = before ? left : x + kDot - 3;
                }
            }
        }
        const int pad = box.style == CallStyle::Receive && box.x0 >= 0 ? 11 : 6;
        const int room = right - left - pad - (box.style == CallStyle::Send ? 9 : 4);
        if (right - left < kLeastWidth || box.y1 - box.y0 < metrics.height() - 2) {
            continue;
        }
        const QString text = m_boxLabel({RankId{box.row}, replay::CallIndex{box.call}}, room);
        if (text.isEmpty()) {
            continue;
        }
        QColor colour = m_palette.style(box.severity == Severity::Error ? CallStyle::Error : box.style);
        if (box.dimmed) {
            colour = m_palette.faded(colour, kDimStrength);
        }
        const double y = (box.y0 + box.y1 - metrics.height()) / 2.0;
        if (box.style == CallStyle::Wait && !box.dimmed) {
            // Text on a hatch needs a quiet ground.
            painter.fillRect(
                QRectF(left + pad - 2, y + 1, metrics.horizontalAdvance(text) + 4, metrics.height() - 2),
                colour);
        }
        painter.setPen(box.dimmed ? m_palette.weakText : Palette::textOn(colour));
        m_texts.draw(painter, left + pad, y, text);
    }
}

} // namespace stopline::viewer
