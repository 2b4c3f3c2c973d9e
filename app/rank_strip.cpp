#include "rank_strip.h"

#include "text.h"
#include "theme.h"
#include "../replay/words.h"

#include <QHelpEvent>
#include <QMap>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {
constexpr int kMargin = 8;
constexpr int kSmallestLettered = 11; ///< pixels; below, a letter cannot be read

/// Of a rank whose debugger says nothing, the state is as old as its last word.
QString letterOf(const RankView& view) {
    return view.silent ? QStringLiteral("?") : QString(stateLetter(view));
}

} // namespace

RankStrip::RankStrip(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMouseTracking(false);
    setAccessibleName(tr("Ranks"));
}

QSize RankStrip::sizeHint() const {
    return {800, fontMetrics().height() * 4 + 8};
}

QSize RankStrip::minimumSizeHint() const {
    return {360, sizeHint().height()};
}

void RankStrip::setContent(Content content) {
    const bool sameCount = content.ranks.size() == m_content.ranks.size();
    m_content = std::move(content);
    if (!sameCount) {
        layoutTiles();
    }
    const QString state = summary();
    setAccessibleDescription(state);
    update();
}

QString RankStrip::summary() const {
    QMap<QString, int> counts;
    for (const RankView& view : m_content.ranks) {
        const bool inCall = view.phase == RankPhase::Stopped && view.why == StopWhy::Paused &&
                            view.insideMpi && !view.callName.isEmpty();
        ++counts[view.phase == RankPhase::Running || view.silent ? liveStateText(view)
                 : inCall                                        ? tr("paused in %1").arg(view.callName)
                                                                 : stateText(view)];
    }
    QVector<QPair<int, QString>> sorted;
    for (auto it = counts.cbegin(); it != counts.cend(); ++it) {
        sorted.append({it.value(), it.key()});
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    QStringList parts;
    for (const auto& [count, state] : sorted) {
        parts << QStringLiteral("%1 %2").arg(count).arg(state);
    }
    return parts.join(QStringLiteral("   "));
}

void RankStrip::resizeEvent(QResizeEvent*) {
    layoutTiles();
}

/// The largest tiles with which all ranks fit into the space right of the shown rank's block.
void RankStrip::layoutTiles() {
    const int left = std::clamp(width() * 2 / 5, 250, 520);
    const int line = fontMetrics().height();
    m_tileArea = QRect(left, kMargin, qMax(60, width() - left - kMargin), height() - 2 * kMargin);
    const int count = static_cast<int>(m_content.ranks.size());
    if (count == 0) {
        return;
    }
    if (count <= kDetailedRanks) {
        m_gap = 4;
        const int rows = count > 16 || count * (line * 2 + m_gap) > m_tileArea.width() ? 2 : 1;
        m_columns = (count + rows - 1) / rows;
        const int width = qMin(line * 5, (m_tileArea.width() + m_gap) / m_columns - m_gap);
        m_tile = QSize(qMax(8, width), (m_tileArea.height() + m_gap) / rows - m_gap);
        return;
    }
    m_tileArea.setTop(kMargin + line + 2); // the counts stand above
    m_gap = 2;
    for (int size = line + 6; size >= 3; --size) {
        m_gap = size > 8 ? 2 : 1;
        m_columns = qMax(1, (m_tileArea.width() + m_gap) / (size + m_gap));
        const int rows = (count + m_columns - 1) / m_columns;
        m_columns = (count + rows - 1) / rows; // rows of the same length, not one with a few left over
        m_tile = QSize(size, size);
        if (rows * (size + m_gap) - m_gap <= m_tileArea.height()) {
            return;
        }
    }
}

QRect RankStrip::tileRect(int index) const {
    if (index < 0 || index >= m_content.ranks.size()) {
        return {};
    }
    const QPoint at(m_tileArea.left() + (index % m_columns) * (m_tile.width() + m_gap),
                    m_tileArea.top() + (index / m_columns) * (m_tile.height() + m_gap));
    return {at, m_tile};
}

int RankStrip::rankAt(const QPoint& pos) const {
    for (int i = 0; i < m_content.ranks.size(); ++i) {
        if (tileRect(i).contains(pos)) {
            return i;
        }
    }
    return -1;
}

void RankStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QPalette& p = palette();
    painter.fillRect(rect(), p.color(QPalette::Base));
    painter.fillRect(0, height() - 1, width(), 1, p.color(QPalette::Mid));
    if (m_content.ranks.isEmpty()) {
        QFont big = font();
        big.setPointSizeF(big.pointSizeF() * 1.25);
        painter.setFont(big);
        painter.setPen(p.color(QPalette::PlaceholderText));
        painter.drawText(rect().adjusted(2 * kMargin, 0, -kMargin, 0), Qt::AlignVCenter | Qt::TextWordWrap,
                         m_content.notice);
        return;
    }
    paintShownRank(painter, QRect(kMargin, 0, m_tileArea.left() - 2 * kMargin, height() - 1));
    paintTiles(painter);
}

void RankStrip::paintShownRank(QPainter& painter, const QRect& area) const {
    const int shown = m_content.shown.value();
    if (shown < 0 || shown >= m_content.ranks.size()) {
        return;
    }
    const RankView& view = m_content.ranks.at(shown);
    const QPalette& p = palette();
    const QColor colour = stateColour(view, isDark(p));

    QFont big = font();
    big.setPointSizeF(big.pointSizeF() * 2.1);
    big.setBold(true);
    const QString number = rankText(RankId{shown});
    const int badgeWidth = qMax(QFontMetrics(big).horizontalAdvance(number) + 22, area.height() - 14);
    const QRect badge(area.left(), area.top() + 7, badgeWidth, area.height() - 14);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawRoundedRect(badge, 6, 6);
    painter.setPen(textOn(colour));
    painter.setFont(big);
    painter.drawText(badge, Qt::AlignCenter, number);

    const int x = badge.right() + 12;
    const int width = area.right() - x;
    const int line = fontMetrics().height();
    int y = area.top() + (area.height() - 3 * line - 4) / 2;
    QFont bold = font();
    bold.setBold(true);
    const auto text = [&](const QFont& f, const QColor& c, const QString& words) {
        painter.setFont(f);
        painter.setPen(c);
        const QFontMetrics metrics(f);
        painter.drawText(QRect(x, y, width, line + 2), Qt::AlignVCenter | Qt::TextSingleLine,
                         metrics.elidedText(words, Qt::ElideRight, width));
        y += line + 2;
    };
    text(bold, p.color(QPalette::Text), tr("Rank %1  %2").arg(number, liveStateText(view)));
    QString where = locationText(view.location);
    if (const QString function = shortFunction(view.location.function); !function.isEmpty()) {
        where = where.isEmpty() ? function : tr("%1  in %2").arg(where, function);
    }
    text(font(), p.color(QPalette::Text), where);
    text(font(), p.color(QPalette::PlaceholderText), m_content.place);
}

void RankStrip::paintTiles(QPainter& painter) const {
    const QPalette& p = palette();
    const bool dark = isDark(p);
    const bool detailed = m_content.ranks.size() <= kDetailedRanks;
    if (!detailed) {
        painter.setFont(font());
        painter.setPen(p.color(QPalette::Text));
        const QString text = tr("%1 ranks:  %2").arg(m_content.ranks.size()).arg(summary());
        const QRect area(m_tileArea.left(), kMargin - 3, m_tileArea.width(), fontMetrics().height() + 2);
        painter.drawText(area, Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, area.width()));
    }
    QFont bold = font();
    bold.setBold(true);
    for (int i = 0; i < m_content.ranks.size(); ++i) {
        const RankView& view = m_content.ranks.at(i);
        const QRect tile = tileRect(i);
        const QColor colour = stateColour(view, dark);
        const bool shown = m_content.shown.value() == i;
        const bool inFocus = m_content.focus.contains(RankId{i});
        painter.setRenderHint(QPainter::Antialiasing, detailed);
        painter.setPen(Qt::NoPen);
        QColor fill = colour;
        if (!inFocus) {
            fill.setAlphaF(0.38F); // outside the focus: Continue and Step leave it alone
        }
        painter.setBrush(fill);
        if (detailed) {
            painter.drawRoundedRect(tile, 5, 5);
            paintTile(painter, i);
        } else {
            painter.drawRect(tile);
            if (tile.height() >= kSmallestLettered) {
                QFont small = bold;
                small.setPixelSize(tile.height() - 4);
                painter.setFont(small);
                painter.setPen(inFocus ? textOn(colour) : p.color(QPalette::Text));
                painter.drawText(tile, Qt::AlignCenter, letterOf(view));
            }
        }
        if (view.silent) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(accent(Accent::Red, dark), detailed ? 3 : 2));
            painter.drawRect(tile.adjusted(1, 1, -1, -1));
        }
        if (shown) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(p.color(QPalette::Text), 2));
            painter.drawRoundedRect(QRectF(tile).adjusted(-1.5, -1.5, 1.5, 1.5), detailed ? 6 : 2,
                                    detailed ? 6 : 2);
        }
    }
}

/// Number and letter, event number, call: as many lines as there is room for.
void RankStrip::paintTile(QPainter& painter, int rank) const {
    const RankView& view = m_content.ranks.at(rank);
    const QRect tile = tileRect(rank);
    const bool inFocus = m_content.focus.contains(RankId{rank});
    const QPalette& p = palette();
    painter.setPen(inFocus ? textOn(stateColour(view, isDark(p))) : p.color(QPalette::Text));
    const QRect inner = tile.adjusted(5, 2, -5, -2);
    const int line = fontMetrics().height();
    const QString letter = letterOf(view);
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    if (tile.height() <= line * 2) {
        painter.drawText(inner, Qt::AlignCenter, QStringLiteral("%1 %2").arg(rankText(RankId{rank})).arg(letter));
        return;
    }
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop, rankText(RankId{rank}));
    painter.drawText(inner, Qt::AlignRight | Qt::AlignTop, letter);
    painter.setFont(font());
    QString call = view.callName;
    call.remove(QStringLiteral("MPI_"));
    if (call.isEmpty()) {
        call = shortFunction(view.location.function);
    }
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignBottom,
                     fontMetrics().elidedText(call, Qt::ElideRight, inner.width()));
    if (inner.height() >= line * 3 - 2 && view.place.event.value() > 0) {
        painter.drawText(
            inner, Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(eventCountText(view.place.event), Qt::ElideRight, inner.width()));
    }
}

/// Whom the focus is on after a click with Ctrl (adds or takes away) or Shift (from the shown rank to this
/// one).
Focus RankStrip::focusWith(int rank, Qt::KeyboardModifiers modifiers) const {
    const Focus& now = m_content.focus;
    const int shown = m_content.shown.value();
    QVector<RankId> chosen;
    if (modifiers.testFlag(Qt::ShiftModifier)) {
        for (int i = qMin(shown, rank); i <= qMax(shown, rank); ++i) {
            chosen << RankId{i};
        }
    } else {
        // From all ranks, the shown one is the first of the chosen ones.
        chosen = now.rank    ? QVector<RankId>{*now.rank}
                 : now.all() ? QVector<RankId>{m_content.shown}
                             : now.group;
        if (chosen.contains(RankId{rank}) && chosen.size() > 1) {
            chosen.removeAll(RankId{rank});
        } else {
            chosen << RankId{rank};
        }
    }
    const Focus focus = Focus::of(chosen);
    return focus.group.size() == m_content.ranks.size() ? Focus{} : focus;
}

void RankStrip::mousePressEvent(QMouseEvent* event) {
    const int rank = rankAt(event->position().toPoint());
    if (rank < 0 || event->button() != Qt::LeftButton) {
        return;
    }
    if (event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) {
        emit focusWanted(focusWith(rank, event->modifiers()));
    } else {
        emit rankChosen(RankId{rank});
    }
}

void RankStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    const int rank = rankAt(event->position().toPoint());
    if (event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) {
        mousePressEvent(event); // a quick second one adds or takes away like any other
    } else if (rank >= 0 && event->button() == Qt::LeftButton) {
        emit rankFocused(RankId{rank});
    }
}

bool RankStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    auto* help = static_cast<QHelpEvent*>(event);
    // The block of the shown rank, like its tile, has room for short names only.
    const bool block = help->pos().x() < m_tileArea.left() - kMargin;
    const int rank = block ? m_content.shown.value() : rankAt(help->pos());
    if (rank < 0 || rank >= m_content.ranks.size()) {
        QToolTip::hideText();
        return true;
    }
    const RankView& view = m_content.ranks.at(rank);
    QString text = tr("Rank %1: %2").arg(rankText(RankId{rank})).arg(liveStateText(view));
    if (view.place.event.value() > 0) {
        text += tr(", event %1").arg(eventCountText(view.place.event));
    } else if (view.phase == RankPhase::Stopped) {
        text += tr(", before MPI_Init");
    }
    if (view.location.known()) {
        text +=
            QStringLiteral("\n") + locationText(view.location) + QStringLiteral(" ") + view.location.function;
    }
    if (!view.callName.isEmpty()) {
        text += QStringLiteral("\n") + view.callName;
    }
    if (!block) {
        text += QStringLiteral("\n") + tr("Click: show this rank. Double click: give it the focus. Ctrl or Shift and "
                                          "click: choose the ranks of the focus.");
    }
    const QRect area = block ? QRect(0, 0, m_tileArea.left() - kMargin, height()) : tileRect(rank);
    QToolTip::showText(help->globalPos(), text, this, area);
    return true;
}

} // namespace stopline::app
