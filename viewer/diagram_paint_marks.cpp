// Messages, collectives, lines, stops, point and selection.
#include "diagram_painter.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {

void drawHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& colour, double size) {
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

/// Rows at least this high have their event numbers on the stopline; lower ones a plain handle.
constexpr int kHandleRow = 34;

void drawCross(QPainter& painter, const QPointF& at, double r) {
    painter.drawLine(QPointF(at.x() - r, at.y() - r), QPointF(at.x() + r, at.y() + r));
    painter.drawLine(QPointF(at.x() - r, at.y() + r), QPointF(at.x() + r, at.y() - r));
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
        painter.setPen(solid);
        painter.drawLine(line.from, middle);
        painter.setPen(dashed);
        painter.drawLine(middle, line.to);
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
        painter.setPen(dashed);
        painter.drawLine(line.from, middle);
        painter.setPen(solid);
        painter.drawLine(middle, line.to);
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

void DiagramPainter::drawSpine(QPainter& painter, const Spine& spine, int barHeight, bool dots) {
    QColor colour =
        spine.mismatch ? m_palette.style(CallStyle::Error) : m_palette.style(CallStyle::Collective);
    colour = m_palette.theme() == Palette::Theme::Light ? colour.darker(125) : colour.lighter(110);
    if (spine.dimmed) {
        colour = m_palette.faded(colour, kDimStrength);
    }
    if (!dots && spine.complete && !spine.mismatch) {
        // One stroke for all members: there may be hundreds of spines of hundreds of members.
        const int width = barHeight >= 12 ? 2 : 1;
        const QPointF first = spine.dots.front().at;
        const QPointF last = spine.dots.back().at;
        if (first.x() == last.x()) {
            painter.fillRect(QRectF(int(first.x()), first.y(), width, last.y() - first.y()), colour);
            return;
        }
        QPolygonF path;
        for (const SpineDot& dot : spine.dots) {
            path << dot.at;
        }
        painter.setPen(QPen(colour, 1));
        painter.drawPolyline(path);
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    const double half = barHeight / 2.0;
    QColor wedge = colour;
    wedge.setAlphaF(0.28F);
    if (barHeight >= 6) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(wedge);
        for (const SpineDot& dot : spine.dots) {
            if (dot.kind != DotKind::Missing && dot.at.x() - dot.enterX > 6) {
                const std::array<QPointF, 3> shape{QPointF(dot.enterX, dot.at.y() + half),
                                                   QPointF(dot.at.x(), dot.at.y() + half),
                                                   QPointF(dot.at.x(), dot.at.y() + half * 0.25)};
                painter.drawConvexPolygon(shape.data(), int(shape.size()));
            }
        }
    }
    QPen pen(colour, barHeight >= 6 ? 2 : 1);
    QPen gap(colour, 1.5);
    gap.setDashPattern({2, 2});
    for (std::size_t i = 1; i < spine.dots.size(); ++i) {
        const bool missing =
            spine.dots[i].kind == DotKind::Missing || spine.dots[i - 1].kind == DotKind::Missing;
        painter.setPen(missing ? gap : pen);
        painter.drawLine(spine.dots[i - 1].at, spine.dots[i].at);
    }
    const double r = std::clamp(barHeight / 5.0, 1.5, 3.5);
    for (const SpineDot& dot : spine.dots) {
        painter.setPen(QPen(colour, 1.6));
        if (dot.kind == DotKind::Missing) {
            painter.setBrush(m_palette.background);
            painter.drawEllipse(dot.at, r + 1, r + 1);
        } else {
            painter.setPen(QPen(m_palette.background, 1));
            painter.setBrush(colour);
            if (dot.kind == DotKind::Root) {
                painter.drawRect(QRectF(dot.at.x() - r - 0.5, dot.at.y() - r - 0.5, 2 * r + 1, 2 * r + 1));
            } else if (barHeight >= 6) {
                painter.drawEllipse(dot.at, r, r);
            }
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void DiagramPainter::paintMessages(QPainter& painter, const Geometry& geometry) {
    painter.setRenderHint(QPainter::Antialiasing, true);
    // Quads without smoothing: ribbons are wide and many, and smooth strokes cost several times as much.
    QColor ribbonColour = m_palette.message;
    ribbonColour.setAlphaF(0.22F);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ribbonColour);
    for (const Ribbon& ribbon : geometry.ribbons) {
        const QPointF half(ribbon.width / 2, 0);
        const std::array<QPointF, 4> quad{ribbon.from - half, ribbon.from + half, ribbon.to + half,
                                          ribbon.to - half};
        painter.drawConvexPolygon(quad.data(), int(quad.size()));
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    // The plain ones in one go: most of a picture's lines are of this kind.
    std::vector<QLineF> plain;
    plain.reserve(geometry.messages.size());
    for (const MessageLine& line : geometry.messages) {
        if (line.shape == MessageShape::Matched && !line.self && line.dim == Dim::None) {
            plain.emplace_back(line.from, line.to);
        } else {
            drawMessage(painter, line);
        }
    }
    painter.setPen(QPen(m_palette.message, 1));
    painter.drawLines(plain.data(), int(plain.size()));
    for (const MessageLine& line : geometry.messages) {
        if (line.head && line.shape == MessageShape::Matched && line.dim == Dim::None) {
            drawHead(painter, line.from, line.to, m_palette.message, 6.5);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    QColor amber = m_palette.style(CallStyle::Wait);
    for (const WaitMark& wait : geometry.waits) {
        painter.fillRect(wait.x0 + 1, wait.y1 - 4, wait.x1 - wait.x0 - 1, 4, amber);
        painter.fillRect(wait.x0 + 1, wait.y1 - 4, wait.x1 - wait.x0 - 1, 4,
                         QBrush(QColor(0, 0, 0, 110), Qt::BDiagPattern));
    }
}

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
    QPen pen(colour, line.kind == LineKind::Stopline ? 3 : line.kind == LineKind::Ghost ? 1.5 : 2);
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
        if (past || future) {
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
            const QPointF at(std::clamp(step.x - wide / 2, 1.0, std::max(1.0, room - wide - 1)),
                             step.y0 + metrics.height() / 2.0 + 1);
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
                drawStopCap(painter, m_palette, post.mark, {double(post.x), post.y0 + 4.0},
                            current ? 4.0 : 3.0);
                painter.setOpacity(1.0);
            }
        }
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
