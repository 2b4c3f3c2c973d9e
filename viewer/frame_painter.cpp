#include "frame_painter.h"

#include "diagram_painter.h"
#include "../replay/words.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cstdlib>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

FrameLayout FrameLayout::of(const QSize& size, const QFont& font, bool stops) {
    const QFontMetrics metrics(font);
    const int line = metrics.height();
    const int width = std::max(1, size.width());
    const int height = std::max(1, size.height());
    FrameLayout frame;
    const int wanted = metrics.horizontalAdvance(u"0000  X  MPI_Sendrecv_r"_s);
    const int slim = metrics.horizontalAdvance(u"000 X "_s) + 8;
    const int labels = width >= 4 * wanted ? wanted : width >= 3 * slim ? slim : 0;
    int y = 0;
    if (height >= 10 * line) {
        const int overview = std::clamp(height / 14, 24, 48);
        frame.overview = QRect(labels, y, width - labels, overview);
        y += overview;
    }
    if (height >= 4 * line) {
        frame.ruler = QRect(labels, y, width - labels, line + 6);
        y += frame.ruler.height();
        if (stops) {
            frame.stopNumbers = QRect(labels, y, width - labels, line + 1);
            y += frame.stopNumbers.height();
        }
    }
    int bottom = height;
    if (height >= 7 * line) {
        bottom -= line + 6;
        const int button = metrics.horizontalAdvance(u"Legend"_s) + 16;
        frame.corner = QRect(0, bottom, width, line + 6);
        frame.legendButton = QRect(width - button, bottom, button, line + 6);
    }
    frame.plot = QRect(labels, y, std::max(1, width - labels), std::max(1, bottom - y));
    frame.labels = QRect(0, y, labels, frame.plot.height());
    return frame;
}

void FramePainter::paint(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
                         const Geometry& geometry, const QImage& overview) const {
    painter.setFont(m_font);
    paintLabels(painter, frame, content, geometry);
    paintOverview(painter, frame, geometry, overview);
    paintRuler(painter, frame, content, geometry);
    if (!frame.corner.isEmpty()) {
        painter.fillRect(frame.corner, m_palette.frame);
        painter.fillRect(frame.corner.left(), frame.corner.top(), frame.corner.width(), 1,
                         m_palette.separator);
        const QFontMetrics metrics(m_font);
        const int room = frame.legendButton.left() - frame.corner.left() - 16;
        painter.setPen(m_palette.weakText);
        painter.drawText(frame.corner.adjusted(8, 1, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(content.cornerText, Qt::ElideRight, room));
        painter.fillRect(frame.legendButton.left(), frame.corner.top() + 1, 1, frame.corner.height() - 1,
                         m_palette.separator);
        painter.setPen(m_palette.text);
        painter.drawText(frame.legendButton, Qt::AlignCenter, u"Legend"_s);
    }
    if (content.overflow && geometry.layout.contentHeight() > 0) {
        const double share = double(geometry.layout.viewportHeight) / geometry.layout.contentHeight();
        const double from = double(geometry.layout.scroll) / geometry.layout.contentHeight();
        const int height = frame.plot.height();
        QColor bar = m_palette.weakText;
        bar.setAlphaF(0.5F);
        painter.fillRect(QRectF(frame.plot.right() - 3, frame.plot.top() + from * height, 3,
                                std::max(12.0, share * height)),
                         bar);
    }
}

void FramePainter::paintLabels(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
                               const Geometry& geometry) const {
    if (frame.labels.width() <= 0) {
        return;
    }
    const QFontMetrics metrics(m_font);
    painter.fillRect(QRect(0, 0, frame.labels.width(), frame.labels.bottom() + 1), m_palette.frame);
    painter.save();
    painter.setClipRect(frame.labels);
    const int height = geometry.layout.rowHeight;
    const int every = std::max(1, (metrics.height() + height - 1) / height);
    QFont widest = m_font; // as the focused ones are written
    widest.setBold(true);
    const int number = std::max(metrics.horizontalAdvance(u"99"_s),
                                QFontMetrics(widest).horizontalAdvance(rankText(RankId{std::max(0, geometry.layout.rows - 1)})));
    const int letter = metrics.horizontalAdvance(u'W');
    QFont bold = m_font;
    bold.setBold(true);
    int focused = -1;
    for (const RowMarks& row : geometry.rows) {
        focused = row.focused ? row.row : focused;
    }
    for (const RowMarks& row : geometry.rows) {
        const int top = frame.labels.top() + row.top;
        if (row.focused) {
            painter.fillRect(0, top, frame.labels.width(), height,
                             m_palette.faded(m_palette.selection, 0.14));
            painter.fillRect(0, top, 3, height, m_palette.selection);
        }
        if (every == 1) {
            painter.fillRect(0, top + height - 1, frame.labels.width(), 1,
                             m_palette.faded(m_palette.separator, 0.5));
        }
        const bool crowded = focused >= 0 && !row.focused && std::abs(row.row - focused) < every;
        if ((row.row % every != 0 && !row.focused) || crowded) {
            continue;
        }
        // A text higher than its row stands out of it, but not out of the labels.
        const int raised = std::max(frame.labels.top(), top + height / 2 - metrics.height() / 2);
        const QRect line(0, every == 1 ? top : raised, frame.labels.width(),
                         every == 1 ? height : metrics.height());
        painter.setFont(row.focused ? bold : m_font);
        painter.setPen(m_palette.text);
        painter.drawText(QRect(8, line.top(), number, line.height()), Qt::AlignRight | Qt::AlignVCenter,
                         rankText(RankId{row.row}));
        if (std::size_t(row.row) >= content.rows.size()) {
            continue;
        }
        const RowState& state = content.rows[std::size_t(row.row)];
        int x = 8 + number + 8;
        if (!state.stateLetter.isEmpty()) {
            const QRect badge(x, line.center().y() - metrics.height() / 2 + 1, letter + 6,
                              metrics.height() - 1);
            const bool wrong = state.mark == StopMark::Error || state.mark == StopMark::Signal;
            const QColor colour = wrong           ? m_palette.style(CallStyle::Error)
                                  : state.running ? m_palette.style(CallStyle::Collective)
                                                  : m_palette.faded(m_palette.text, 0.16);
            if (height >= metrics.height() - 2) {
                painter.setRenderHint(QPainter::Antialiasing, true);
                painter.setPen(Qt::NoPen);
                painter.setBrush(colour);
                painter.drawRoundedRect(badge, 3, 3);
                painter.setRenderHint(QPainter::Antialiasing, false);
                painter.setPen(Palette::textOn(colour));
            }
            painter.drawText(badge, Qt::AlignCenter, state.stateLetter);
        }
        x += letter + 14;
        painter.setFont(row.focused ? bold : m_font);
        painter.setPen(row.focused ? m_palette.text : m_palette.weakText);
        const QFontMetrics used(painter.font());
        const int room = frame.labels.width() - x - 6;
        if (room > used.averageCharWidth() * 4) {
            painter.drawText(QRect(x, line.top(), room, line.height()), Qt::AlignLeft | Qt::AlignVCenter,
                             used.elidedText(state.label, Qt::ElideRight, room));
        }
    }
    painter.restore();
    painter.fillRect(frame.labels.right(), 0, 1, frame.labels.bottom() + 1, m_palette.separator);
}

void FramePainter::paintRuler(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
                              const Geometry& geometry) const {
    if (frame.ruler.isEmpty()) {
        return;
    }
    const QFontMetrics metrics(m_font);
    painter.setFont(m_font);
    painter.fillRect(frame.ruler, m_palette.frame);
    painter.save();
    painter.setClipRect(frame.ruler);
    for (const RulerTick& tick : content.ticks) {
        const int x = frame.ruler.left() + int(tick.pixel);
        painter.fillRect(x, frame.ruler.bottom() - 4, 1, 5, m_palette.weakText);
        painter.setPen(m_palette.weakText);
        if (x + 4 + metrics.horizontalAdvance(tick.label) <= frame.ruler.right()) { // never half a number
            painter.drawText(QPointF(x + 4, frame.ruler.top() + 3 + metrics.ascent()), tick.label);
        }
    }
    painter.restore();
    // The axis' own name sits over the labels: it never hides a number.
    if (frame.labels.width() > 0) {
        const QString name = content.axis == Axis::Time ? u"time (approx.)"_s : u"event number"_s;
        painter.setPen(m_palette.weakText);
        painter.drawText(QRect(8, frame.ruler.top(), frame.labels.width() - 14, frame.ruler.height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(name, Qt::ElideRight, frame.labels.width() - 14));
    }
    if (!frame.stopNumbers.isEmpty()) {
        painter.fillRect(frame.stopNumbers, m_palette.frame);
        painter.save();
        painter.setClipRect(frame.stopNumbers);
        int taken = frame.stopNumbers.right() + 100;
        // From the newest: where there is no room the older numbers give way.
        for (auto stop = geometry.stops.rbegin(); stop != geometry.stops.rend(); ++stop) {
            if (!stop->rulerX) {
                continue;
            }
            const int x = frame.stopNumbers.left() + *stop->rulerX;
            const QString text = u'#' + QString::number(stop->number);
            const int width = metrics.horizontalAdvance(text);
            const int left =
                std::clamp(x - width / 2, frame.stopNumbers.left() + 2,
                           std::max(frame.stopNumbers.left() + 2, frame.stopNumbers.right() - width - 2));
            painter.fillRect(x, frame.stopNumbers.bottom() - 2, 1, 3, m_palette.stop);
            if (left + width + 4 <= taken) {
                painter.setPen(m_palette.text);
                painter.drawText(QPointF(left, frame.stopNumbers.top() + metrics.ascent() - 1), text);
                taken = left;
            }
        }
        painter.restore();
        if (frame.labels.width() > 0) {
            painter.setPen(m_palette.weakText);
            painter.drawText(
                QRect(8, frame.stopNumbers.top() - 1, frame.labels.width() - 14, frame.stopNumbers.height()),
                Qt::AlignLeft | Qt::AlignVCenter, u"stops"_s);
        }
    }
    const int bottom = frame.plot.top() - 1;
    painter.fillRect(0, bottom, frame.plot.right() + 1, 1, m_palette.separator);
}

void FramePainter::paintOverview(QPainter& painter, const FrameLayout& frame, const Geometry& geometry,
                                 const QImage& overview) const {
    if (frame.overview.isEmpty()) {
        return;
    }
    const QRect inner = frame.overview.adjusted(0, 0, 0, -1);
    painter.fillRect(frame.overview, m_palette.frame);
    painter.drawImage(inner.topLeft(), overview);
    painter.fillRect(frame.overview.left(), frame.overview.bottom(), frame.overview.width(), 1,
                     m_palette.separator);
    if (frame.labels.width() > 0) {
        painter.setFont(m_font);
        painter.setPen(m_palette.weakText);
        painter.drawText(QRect(8, frame.overview.top(), frame.labels.width() - 14, frame.overview.height()),
                         Qt::AlignLeft | Qt::AlignVCenter, u"whole run"_s);
    }
    Q_UNUSED(geometry)
}

void FramePainter::paintLens(QPainter& painter, const QRect& area, const Lens& lens) const {
    QColor shade = m_palette.background;
    shade.setAlphaF(0.62F);
    const QRectF left(area.left(), area.top(), lens.left, area.height() - 1);
    const QRectF right(area.left() + lens.right, area.top(), area.width() - lens.right, area.height() - 1);
    painter.fillRect(left, shade);
    painter.fillRect(right, shade);
    painter.setPen(QPen(m_palette.selection, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(area.left() + lens.left + 0.75, area.top() + 0.75,
                            std::max(1.0, lens.right - lens.left - 1.5), area.height() - 2.5));
}

} // namespace stopline::viewer
