// The calls of a row: boxes where they are wide enough, cells of a strip where several share a pixel.
#include "geometry_builder.h"

#include <algorithm>

namespace stopline::viewer {

/// Builds one row. Where many calls share a pixel it goes through the row's bins; elsewhere through the
/// calls.
class GeometryBuilder::RowCalls {
  public:
    RowCalls(GeometryBuilder& builder, int row, const BarLane& lane)
        : m_builder(builder), m_model(builder.m_model), m_view(builder.m_scene.view),
          m_axis(builder.m_scene.axis), m_row(row), m_all(builder.m_model.calls(row)),
          m_right(m_view.width + 1), m_marks(builder.m_scene.layout.level() <= RowLevel::Compact) {
        if (!builder.m_spare.empty()) {
            m_strip.cells = std::move(builder.m_spare.back().cells);
            m_strip.cells.clear();
            builder.m_spare.pop_back();
        }
        m_strip.row = row;
        m_strip.y0 = builder.m_scene.layout.top(row) + lane.top;
        m_strip.y1 = builder.m_scene.layout.top(row) + lane.bottom;
        m_place = builder.executedUnit(row);
    }

    void build() {
        if (m_all.empty()) {
            return;
        }
        m_anyDimmed = m_all.back().eventBegin > m_place;
        // Calls at this and the columns right of it are looked at together where they are this many a pixel.
        constexpr std::size_t kManyPerPixel = 3;
        const std::size_t inside = m_model.lowerCall(m_row, m_view.begin, m_axis);
        const std::size_t stop = m_model.lowerCall(m_row, m_view.end, m_axis);
        const std::size_t first = std::min(firstCall(inside), stop);
        m_strip.cells.reserve(std::min(stop - first + 2, std::size_t(m_right) + 8));
        // Where most calls share their pixel with others, ticks at the few that do not say nothing.
        constexpr std::size_t kPixelsPerTick = 4;
        m_marks = m_marks && (stop - first) * kPixelsPerTick <= std::size_t(m_view.width);
        const bool many = stop > inside && stop - inside > kManyPerPixel * std::size_t(m_view.width);
        const auto level = many ? m_model.bins(m_row, m_axis, m_view.unitsPerPixel()) : std::nullopt;
        if (level) {
            walkCalls(first, inside);
            walkBins(*level, inside, stop);
        } else {
            walkCalls(first, stop);
        }
        if (!m_strip.cells.empty()) {
            m_builder.m_out.strips.push_back(std::move(m_strip));
        }
    }

  private:
    [[nodiscard]] std::int64_t beginOf(std::size_t call) const {
        return DiagramModel::begin(m_all[call], m_axis);
    }
    [[nodiscard]] std::int64_t endOf(std::size_t call) const {
        return m_model.end(m_row, m_all[call], m_axis);
    }
    [[nodiscard]] bool dimmed(std::size_t call) const {
        return m_anyDimmed && m_all[call].eventBegin > m_place;
    }

    /// The call that straddles the left edge; threads can make several overlap, so look back a little.
    [[nodiscard]] std::size_t firstCall(std::size_t inside) const {
        std::size_t i = inside;
        for (std::size_t back = 0; i > 0 && back < CallForest::kBlock; ++back) {
            if (back > 0 && endOf(i - 1) < m_view.begin) {
                break;
            }
            --i;
        }
        while (i < m_all.size() && endOf(i) < m_view.begin && !m_all[i].open()) {
            ++i;
        }
        return i;
    }

    void walkCalls(std::size_t i, std::size_t stop) {
        constexpr std::size_t kScan = 16; // so many are sooner looked at than searched
        int x = i < stop ? m_builder.column(beginOf(i)) : 0;
        while (i < stop) {
            std::size_t j = i + 1;
            int next = j < stop ? m_builder.column(beginOf(j)) : m_right;
            Aggregate sum;
            if (next == x && x >= 0) {
                while (next == x && j < i + kScan) {
                    next = ++j < stop ? m_builder.column(beginOf(j)) : m_right;
                }
                if (next == x) {
                    j = endOfColumn(j, stop, x);
                    next = j < stop ? m_builder.column(beginOf(j)) : m_right;
                }
                sum = m_model.summary(m_row, i, j);
            }
            addRun(i, j, x, sum, next);
            i = j;
            x = next;
        }
    }

    /// The first call from `from` on that lies right of a column.
    [[nodiscard]] std::size_t endOfColumn(std::size_t from, std::size_t stop, int x) const {
        std::size_t jump = 1;
        while (from + jump < stop && m_builder.column(beginOf(from + jump)) == x) {
            jump *= 2;
        }
        const auto at = std::partition_point(
            m_all.begin() + std::ptrdiff_t(from),
            m_all.begin() + std::ptrdiff_t(std::min(stop, from + jump + 1)),
            [&](const TrackCall& call) { return m_builder.column(DiagramModel::begin(call, m_axis)) == x; });
        return std::size_t(at - m_all.begin());
    }

    void walkBins(const CallBins::Level& level, std::size_t i, std::size_t stop) {
        const auto binStart = [&](std::size_t bin) { return std::int64_t(bin) << level.shift; };
        std::size_t bin = std::size_t(std::max<std::int64_t>(0, beginOf(i)) >> level.shift);
        // Of the first bin a part may lie left of the view.
        std::size_t j =
            m_model.lowerCall(m_row, bin == 0 ? INT64_MIN : binStart(bin), m_axis) + level.bins[bin].count;
        j = std::min(j, stop);
        int x = m_builder.column(beginOf(i));
        Aggregate sum = m_model.summary(m_row, i, j);
        for (++bin; j < stop && bin < level.bins.size(); ++bin) {
            const Aggregate& next = level.bins[bin];
            if (next.count == 0) {
                continue;
            }
            const int at = m_builder.column(binStart(bin));
            if (at > x) {
                addRun(i, j, x, sum, at);
                i = j;
                x = at;
                sum = next;
            } else {
                sum = combine(sum, next);
            }
            j = i + sum.count;
        }
        addRun(i, std::min(j, stop), x, j > stop ? m_model.summary(m_row, i, stop) : sum, m_right);
    }

    /// Calls [i, j), which begin in one column; the next begins in column `next`.
    void addRun(std::size_t i, std::size_t j, int x, const Aggregate& sum, int next) {
        if (j - i == 1) {
            x = m_builder.column(beginOf(i));
            addCall(i, x, false);
            if (m_marks && m_all[i].post) {
                addTick(i, x);
            }
            return;
        }
        addCell(x, sum);
        if (next > x + 1 && m_builder.column(endOf(j - 1)) > x + 1) {
            addCall(j - 1, x + 1, true);
        }
    }

    void addTick(std::size_t i, int x) {
        constexpr int kApart = 5; // pixels: ticks that touch say nothing
        std::vector<PostTick>& ticks = m_builder.m_out.ticks;
        if (x >= 0 && x < m_right &&
            (ticks.empty() || ticks.back().row != m_row || ticks.back().x + kApart < x)) {
            const bool down = m_all[i].style != CallStyle::Receive;
            ticks.push_back({x, down ? m_strip.y1 : m_strip.y0, m_row, down, m_all[i].style, dimmed(i)});
        }
    }

    void addCell(int x, const Aggregate& a) {
        if (x < 0 || x >= m_right) {
            return;
        }
        m_builder.m_out.aggregated += a.count > 1 ? a.count : 0;
        // Nearly always at the end; bins and threads that overlap can be a pixel behind it.
        auto at = m_strip.cells.end();
        while (at != m_strip.cells.begin() && (at - 1)->x > x) {
            --at;
        }
        if (at == m_strip.cells.end() && (at == m_strip.cells.begin() || (at - 1)->x != x)) {
            m_strip.cells.push_back({x, a.count, a.worst, a.style, a.severity, dimmed(a.worst)});
            return;
        }
        if (at == m_strip.cells.begin() || (at - 1)->x != x) {
            m_strip.cells.insert(at, {x, a.count, a.worst, a.style, a.severity, dimmed(a.worst)});
            return;
        }
        Cell& cell = *(at - 1);
        if (a.severity > cell.severity) {
            cell.style = a.style;
            cell.severity = a.severity;
            cell.call = a.worst;
            cell.dimmed = dimmed(a.worst);
        }
        cell.count += a.count;
    }

    void addCall(std::size_t i, int from, bool openLeft) {
        const TrackCall& call = m_all[i];
        const std::int64_t end = endOf(i);
        int x1 = std::max(from + 1, m_builder.column(end));
        if (call.open()) {
            x1 = std::max(x1, from + 6); // what is unfinished is never too small to see
        }
        if (x1 - from < kNarrowBox && !call.open()) {
            const Aggregate a = summaryOf(call, std::uint32_t(i));
            for (int x = from; x < x1; ++x) {
                addCell(x, a);
            }
            return;
        }
        Box box;
        box.x0 = from;
        box.x1 = x1;
        box.y0 = m_strip.y0;
        box.y1 = m_strip.y1;
        box.row = m_row;
        box.call = std::uint32_t(i);
        box.style = call.style;
        box.severity = call.severity;
        box.unfinished = call.open();
        box.openLeft = openLeft || m_builder.column(beginOf(i)) < -1;
        box.openRight = m_builder.column(end) > m_view.width + 1;
        box.dimmed = dimmed(i);
        m_builder.m_out.boxes.push_back(box);
    }

    GeometryBuilder& m_builder;
    const DiagramModel& m_model;
    const AxisView& m_view;
    Axis m_axis;
    int m_row;
    std::span<const TrackCall> m_all;
    int m_right; ///< one past the last column that is built
    bool m_marks;
    bool m_anyDimmed = true;
    std::int64_t m_place; ///< unit of the last event that the rank has executed
    Strip m_strip;
};

void GeometryBuilder::buildCalls(int row, const BarLane& lane) {
    RowCalls(*this, row, lane).build();
}

} // namespace stopline::viewer
