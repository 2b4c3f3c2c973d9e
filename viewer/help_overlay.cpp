#include "help_overlay.h"

#include "diagram_painter.h"

#include <QFontMetrics>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <functional>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {

constexpr int kPad = 14;
constexpr int kSample = 46; ///< width of a drawn sample
constexpr int kMostColumns = 6;
constexpr int kRounding = 1; ///< of a text's width: with less it would be cut off

struct LegendEntry {
    QString text;
    std::function<void(QPainter&, DiagramPainter&, const Palette&, const QRect&)> draw;
};

LegendEntry boxEntry(const QString& text, CallStyle style, bool unfinished = false, bool dimmed = false) {
    return {text, [=](QPainter& painter, DiagramPainter& marks, const Palette&, const QRect& area) {
                Box box;
                box.x0 = area.left();
                box.x1 = area.right();
                box.y0 = area.top() + 2;
                box.y1 = area.bottom() - 1;
                box.style = style;
                box.severity = style == CallStyle::Error ? Severity::Error : Severity::Compute;
                box.unfinished = unfinished;
                box.dimmed = dimmed;
                marks.drawBox(painter, box);
            }};
}

LegendEntry messageEntry(const QString& text, MessageShape shape) {
    return {text, [=](QPainter& painter, DiagramPainter& marks, const Palette&, const QRect& area) {
                MessageLine line;
                line.shape = shape;
                line.from = QPointF(area.left() + 2, area.top() + 3);
                line.to = QPointF(area.right() - 5, area.bottom() - 4);
                if (shape == MessageShape::WildcardStub) {
                    line.from = QPointF(area.center()) - QPointF(0, 2);
                    line.to = QPointF(area.center()) + QPointF(8, 6);
                } else if (shape == MessageShape::Awaited || shape == MessageShape::UnmatchedReceive) {
                    std::swap(line.from, line.to);
                }
                line.head = true;
                marks.drawMessage(painter, line);
            }};
}

LegendEntry lineEntry(const QString& text, LineKind kind) {
    return {text, [=](QPainter& painter, DiagramPainter& marks, const Palette&, const QRect& area) {
                LineGeometry line;
                line.kind = kind;
                LineStep step;
                step.x = area.center().x();
                step.y0 = area.top();
                step.y1 = area.bottom() + 1;
                step.place.event = EventIndex{12};
                line.steps.push_back(step);
                marks.drawLine(painter, line);
            }};
}

LegendEntry stopEntry(const QString& text, StopMark mark) {
    return {text, [=](QPainter& painter, DiagramPainter&, const Palette& palette, const QRect& area) {
                const QPoint at = area.center();
                painter.fillRect(at.x() - 1, area.top() + 1, 2, area.height() - 2, palette.stop);
                DiagramPainter::drawStopCap(painter, palette, mark, {double(at.x()), area.top() + 5.0}, 4);
            }};
}

LegendEntry pointEntry(const QString& text, bool after) {
    return {text, [=](QPainter& painter, DiagramPainter&, const Palette& palette, const QRect& area) {
                DiagramPainter::drawPoint(painter, palette, {QPointF(area.center()), after, 4});
            }};
}

LegendEntry raceEntry(const QString& text, bool merged) {
    return {text, [=](QPainter& painter, DiagramPainter& marks, const Palette&, const QRect& area) {
                RaceRing ring;
                ring.at = area.center();
                ring.radius = std::clamp(area.height() / 2.0 - 1, 4.0, 6.0);
                ring.merged = merged;
                marks.drawRace(painter, ring);
            }};
}

LegendEntry ghostEntry(const QString& text) {
    return {
        text, [](QPainter& painter, DiagramPainter& marks, const Palette&, const QRect& area) {
            const QPointF from(area.left() + 4, area.top() + 4);
            marks.drawGhostLine(painter, {from, QPointF(area.right() - 3, area.bottom() - 3), true, false});
        }};
}

std::vector<LegendEntry> legend() {
    std::vector<LegendEntry> entries;
    entries.push_back(boxEntry(u"send side"_s, CallStyle::Send));
    entries.push_back(boxEntry(u"receive side"_s, CallStyle::Receive));
    entries.push_back(boxEntry(u"wait, test"_s, CallStyle::Wait));
    entries.push_back(boxEntry(u"collective"_s, CallStyle::Collective));
    entries.push_back(boxEntry(u"communicators"_s, CallStyle::Management));
    entries.push_back(boxEntry(u"failed call"_s, CallStyle::Error));
    entries.push_back(boxEntry(u"other MPI"_s, CallStyle::Other));
    entries.push_back(boxEntry(u"not finished"_s, CallStyle::Receive, true));
    entries.push_back(boxEntry(u"recorded, not executed again"_s, CallStyle::Send, false, true));
    entries.push_back(messageEntry(u"message"_s, MessageShape::Matched));
    entries.push_back(messageEntry(u"sent, not received"_s, MessageShape::Sent));
    entries.push_back(messageEntry(u"awaited, not sent"_s, MessageShape::Awaited));
    entries.push_back(messageEntry(u"receive from any source"_s, MessageShape::WildcardStub));
    entries.push_back(messageEntry(u"will never match"_s, MessageShape::UnmatchedSend));
    entries.push_back(messageEntry(u"backwards (clocks differ)"_s, MessageShape::Backwards));
    entries.push_back(raceEntry(u"race: another could have come"_s, false));
    entries.push_back(raceEntry(u"several races"_s, true));
    entries.push_back(ghostEntry(u"could have come instead"_s));
    entries.push_back(pointEntry(u"point before a call"_s, false));
    entries.push_back(pointEntry(u"point after a call"_s, true));
    entries.push_back(lineEntry(u"past frontier"_s, LineKind::Past));
    entries.push_back(lineEntry(u"future frontier"_s, LineKind::Future));
    entries.push_back(lineEntry(u"stopline (hollow: inside a call)"_s, LineKind::Stopline));
    entries.push_back(lineEntry(u"where an undo would go"_s, LineKind::Ghost));
    entries.push_back(stopEntry(u"stopped: breakpoint"_s, StopMark::Breakpoint));
    entries.push_back(stopEntry(u"stopped: pause"_s, StopMark::Pause));
    entries.push_back(stopEntry(u"stopped: step"_s, StopMark::Step));
    entries.push_back(stopEntry(u"stopped: stopline"_s, StopMark::Stopline));
    entries.push_back(stopEntry(u"stopped: signal"_s, StopMark::Signal));
    entries.push_back(stopEntry(u"stopped: error"_s, StopMark::Error));
    return entries;
}

} // namespace

HelpOverlay::HelpOverlay(QWidget* host) : QWidget(host), m_host(host) {
    connect(host, &QObject::destroyed, this, &QObject::deleteLater); // it may lie over the window
    setObjectName(u"diagramHelp"_s);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void HelpOverlay::setPalette(const Palette& palette) {
    m_colours = palette;
    update();
}

void HelpOverlay::toggle(Content content) {
    if (isVisible() && m_content == content) {
        hide();
        return;
    }
    m_content = content;
    place();
    show();
    raise();
}

HelpOverlay::Arrangement HelpOverlay::arrangement() const {
    const bool keys = m_content == Content::Keys;
    const int heading = keys ? 1 : 0;
    const int entries = keys ? int(m_keys.size()) : int(legend().size());
    const int least = QFontMetrics(font()).height();
    const int most = least + (keys ? 5 : 9);
    const int height = parentWidget()->height() - 2 * kPad;
    Arrangement all;
    for (;; ++all.columns) {
        all.rows = (entries + all.columns - 1) / all.columns;
        if ((all.rows + heading) * least <= height || all.columns == kMostColumns) {
            break;
        }
    }
    all.line = std::clamp(height / std::max(1, all.rows + heading), least, most);
    return all;
}

QSize HelpOverlay::wanted() const {
    const QFontMetrics metrics(font());
    const Arrangement all = arrangement();
    int column = 0;
    if (m_content == Content::Keys) {
        int keys = 0;
        int texts = 0;
        for (const auto& [key, text] : m_keys) {
            keys = std::max(keys, metrics.horizontalAdvance(key));
            texts = std::max(texts, metrics.horizontalAdvance(text));
        }
        column = keys + texts + 18 + kRounding;
    } else {
        for (const LegendEntry& entry : legend()) {
            column = std::max(column, kSample + 10 + metrics.horizontalAdvance(entry.text) + kRounding);
        }
    }
    const int lines = all.rows + (m_content == Content::Keys ? 1 : 0);
    return {all.columns * (column + kPad) + kPad, lines * all.line + 2 * kPad};
}

void HelpOverlay::place() {
    setParent(m_host);
    if (const QSize size = wanted();
        m_content == Content::Keys && (size.width() > m_host->width() || size.height() > m_host->height())) {
        setParent(m_host->window());
    }
    const QSize size = wanted().boundedTo(parentWidget()->size());
    const QRect area = parentWidget()->rect();
    if (m_content == Content::Keys) {
        setGeometry(
            QRect(QPoint((area.width() - size.width()) / 2, (area.height() - size.height()) / 2), size));
    } else {
        const int above = QFontMetrics(font()).height() + 10;
        const int y = std::max(0, area.height() - size.height() - above);
        setGeometry(QRect(QPoint(std::max(0, area.width() - size.width() - 6), y), size));
    }
}

void HelpOverlay::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_colours.background);
    painter.setPen(m_colours.separator);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    if (m_content == Content::Keys) {
        paintKeys(painter);
    } else {
        paintLegend(painter);
    }
}

void HelpOverlay::paintKeys(QPainter& painter) const {
    const QFontMetrics metrics(font());
    const auto [columns, rows, line] = arrangement();
    int keys = 0;
    for (const auto& [key, text] : m_keys) {
        keys = std::max(keys, metrics.horizontalAdvance(key));
    }
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(m_colours.text);
    painter.drawText(kPad, kPad + metrics.ascent(), u"Keys and mouse in the diagram"_s);
    painter.setFont(font());
    const int wide = (width() - kPad) / columns - kPad; // of a column
    // Where there is little room the text gives way, as the keys are in it for.
    keys = std::min(keys, wide * 2 / 3);
    for (std::size_t i = 0; i < m_keys.size(); ++i) {
        const int column = int(i) / rows;
        const int x = kPad + column * (wide + kPad);
        const int y = kPad + (int(i) % rows + 1) * line + metrics.ascent();
        painter.setPen(m_colours.text);
        painter.drawText(x, y, metrics.elidedText(m_keys[i].first, Qt::ElideRight, keys));
        painter.setPen(m_colours.weakText);
        painter.drawText(x + keys + 18, y,
                         metrics.elidedText(m_keys[i].second, Qt::ElideRight, wide - keys - 18));
    }
}

void HelpOverlay::paintLegend(QPainter& painter) const {
    DiagramPainter marks(m_colours);
    marks.setFont(font());
    const QFontMetrics metrics(font());
    const std::vector<LegendEntry> entries = legend();
    const auto [columns, rows, line] = arrangement();
    const int wide = (width() - kPad) / columns - kPad; // of a column
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const int x = kPad + (int(i) / rows) * (wide + kPad);
        const int y = kPad + (int(i) % rows) * line;
        const QRect sample(x, y + 1, kSample, line - 3);
        painter.save();
        entries[i].draw(painter, marks, m_colours, sample);
        painter.restore();
        painter.setPen(m_colours.text);
        painter.setFont(font());
        painter.drawText(x + kSample + 10, y + (line - metrics.height()) / 2 + metrics.ascent(),
                         metrics.elidedText(entries[i].text, Qt::ElideRight, wide - kSample - 10));
    }
}

void HelpOverlay::mousePressEvent(QMouseEvent* event) {
    hide();
    event->accept();
}

} // namespace stopline::viewer
