// What stands in the boxes of calls: beside whatever crosses them.
#include "diagram_painter.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace stopline::viewer {

namespace {

struct Span {
    double from = 0;
    double to = 0;
    [[nodiscard]] double width() const { return to - from; }
};

/// What crosses the texts of one row, by x.
struct Crossings {
    double top = 0; ///< of the texts
    double bottom = 0;
    std::vector<Span> marks; ///< spines, their dots, stops: a text beneath one cannot be read
    std::vector<Span> lines; ///< messages and frontiers: better avoided
};

/// Where a line is between two heights.
std::optional<Span> spanWithin(const QPointF& a, const QPointF& b, double top, double bottom) {
    const bool down = a.y() <= b.y();
    const QPointF& upper = down ? a : b;
    const QPointF& lower = down ? b : a;
    if (lower.y() < top || upper.y() > bottom) {
        return std::nullopt;
    }
    const double height = lower.y() - upper.y();
    const auto at = [&](double y) {
        const double share = height <= 0 ? 0 : std::clamp((y - upper.y()) / height, 0.0, 1.0);
        return upper.x() + share * (lower.x() - upper.x());
    };
    const double x0 = height <= 0 ? upper.x() : at(top);
    const double x1 = height <= 0 ? lower.x() : at(bottom);
    return Span{std::min(x0, x1) - 2, std::max(x0, x1) + 2};
}

/// The crossings of all rows in view, by their order there.
std::vector<Crossings> crossingsOf(const Geometry& geometry, double textHeight) {
    std::vector<Crossings> rows;
    rows.reserve(geometry.rows.size());
    for (const RowMarks& row : geometry.rows) {
        const double middle = (row.barTop + row.barBottom) / 2.0;
        rows.push_back({middle - textHeight / 2, middle + textHeight / 2, {}, {}});
    }
    const auto cross = [&rows](const QPointF& a, const QPointF& b, std::vector<Span> Crossings::*kind) {
        const double upper = std::min(a.y(), b.y());
        const double lower = std::max(a.y(), b.y());
        auto row = std::partition_point(rows.begin(), rows.end(),
                                        [upper](const Crossings& r) { return r.bottom < upper; });
        for (; row != rows.end() && row->top <= lower; ++row) {
            if (const auto span = spanWithin(a, b, row->top, row->bottom)) {
                ((*row).*kind).push_back(*span);
            }
        }
    };
    for (const Spine& spine : geometry.spines) {
        constexpr double kDot = 6;
        for (std::size_t i = 0; i < spine.dots.size(); ++i) {
            const QPointF& at = spine.dots[i].at;
            cross(at - QPointF(kDot, 0), at + QPointF(kDot, 0), &Crossings::marks);
            if (i > 0) {
                cross(spine.dots[i - 1].at, at, &Crossings::marks);
            }
        }
    }
    for (const StopGeometry& stop : geometry.stops) {
        for (const StopMarkGeometry& post : stop.posts) {
            cross(QPointF(post.x, post.y0), QPointF(post.x, post.y1), &Crossings::marks);
        }
    }
    for (const RaceRing& ring : geometry.races) {
        const QPointF half(ring.radius, 0);
        cross(ring.at - half, ring.at + half, &Crossings::marks);
    }
    for (const LineGeometry& line : geometry.lines) {
        for (const LineStep& step : line.steps) {
            cross(QPointF(step.x, step.y0), QPointF(step.x, step.y1), &Crossings::lines);
        }
    }
    for (const auto* messages : {&geometry.messages, &geometry.pending}) {
        for (const MessageLine& line : *messages) {
            if (!line.self) {
                cross(line.from, line.to, &Crossings::lines);
            }
        }
    }
    return rows;
}

/// What is left of `all` between the spans, from the left.
std::vector<Span> gaps(const Span& all, std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
    std::vector<Span> free;
    double from = all.from;
    for (const Span& span : spans) {
        if (span.to <= from || span.from >= all.to) {
            continue;
        }
        if (span.from > from) {
            free.push_back({from, span.from});
        }
        from = span.to;
    }
    if (from < all.to) {
        free.push_back({from, all.to});
    }
    return free;
}

} // namespace

/// Where the history of a rank starts, beside that place or, without room there, over it.
void DiagramPainter::paintStarts(QPainter& painter, const Geometry& geometry) {
    const QFontMetrics metrics(painter.font());
    for (const RowMarks& row : geometry.rows) {
        if (row.startEvent == 0 || row.firstX < 0 || row.firstX > geometry.view.width) {
            continue;
        }
        const QString text = row.unreadFrom == 0
                                 ? QStringLiteral("history starts at event %1").arg(row.startEvent)
                                 : QStringLiteral("events %1 to %2 were not read").arg(row.unreadFrom).arg(row.startEvent - 1);
        const int width = metrics.horizontalAdvance(text);
        const bool before = row.firstX >= width + 8;
        const double x = before ? row.firstX - width - 6 : row.firstX + 4;
        const double y = before ? (row.barTop + row.barBottom - metrics.height()) / 2.0 : row.top;
        painter.fillRect(QRectF(row.firstX - 1, row.top, 2, row.height), m_palette.hatch);
        painter.fillRect(QRectF(x - 2, y, width + 4, metrics.height()), m_palette.frame);
        painter.setPen(m_palette.weakText);
        m_texts.draw(painter, std::ceil(x), y, text);
    }
}

void DiagramPainter::paintBoxLabels(QPainter& painter, const Geometry& geometry) {
    const QFontMetrics metrics(m_font);
    if (!m_boxLabel || geometry.layout.level() != RowLevel::Full || geometry.rows.empty()) {
        return;
    }
    constexpr int kLeastWidth = 40;
    const std::vector<Crossings> rows = crossingsOf(geometry, metrics.height());
    for (const Box& box : geometry.boxes) {
        const int left = std::max(box.x0, 0);
        const int right = std::min(box.x1, geometry.view.width);
        if (right - left < kLeastWidth || box.y1 - box.y0 < metrics.height() - 2) {
            continue;
        }
        const int pad = box.style == CallStyle::Receive && box.x0 >= 0 ? 11 : 6;
        const Span all{double(left + pad), double(right - (box.style == CallStyle::Send ? 9 : 4))};
        const replay::CallRef call{RankId{box.row}, replay::CallIndex{box.call}};
        QString text = m_boxLabel(call, int(all.width()));
        if (text.isEmpty()) {
            continue;
        }
        const double middle = (box.y0 + box.y1) / 2.0;
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [middle](const Crossings& r) { return r.bottom >= middle; });
        double x = all.from;
        if (row != rows.end()) {
            std::vector<Span> everything = row->marks;
            everything.insert(everything.end(), row->lines.begin(), row->lines.end());
            const auto widest = [](const Span& a, const Span& b) { return a.width() < b.width(); };
            const double wide = metrics.horizontalAdvance(text);
            const auto fits = [wide](const Span& gap) { return gap.width() >= wide; };
            const std::vector<Span> clear = gaps(all, std::move(everything));
            const std::vector<Span> unmarked = gaps(all, row->marks);
            if (const auto gap = std::find_if(clear.begin(), clear.end(), fits); gap != clear.end()) {
                x = gap->from;
            } else if (const auto other = std::find_if(unmarked.begin(), unmarked.end(), fits);
                       other != unmarked.end()) {
                x = other->from;
            } else if (!unmarked.empty()) {
                // In short, where there is most room.
                const auto room = std::max_element(unmarked.begin(), unmarked.end(), widest);
                text = m_boxLabel(call, int(room->width()));
                x = room->from;
            } else {
                continue;
            }
            if (text.isEmpty()) {
                continue;
            }
        }
        const QColor colour = colourOf(box);
        const double y = (box.y0 + box.y1 - metrics.height()) / 2.0;
        if (box.style == CallStyle::Wait && !box.dimmed) {
            // Text on a hatch needs a quiet ground.
            painter.fillRect(QRectF(x - 2, y + 1, metrics.horizontalAdvance(text) + 4, metrics.height() - 2),
                             colour);
        }
        painter.setPen(box.dimmed ? m_palette.weakText : Palette::textOn(colour));
        m_texts.draw(painter, std::ceil(x), y, text);
    }
}

} // namespace stopline::viewer
