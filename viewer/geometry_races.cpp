// Races: rings where their messages arrive, and what could have come instead.
#include "geometry_builder.h"

#include <algorithm>
#include <cmath>

namespace stopline::viewer {

using replay::CallIndex;
using replay::CallRef;

namespace {

double ringRadius(const RowLayout& layout) {
    switch (layout.level()) {
    case RowLevel::Full:
        return std::clamp(layout.rowHeight / 5.0, 4.0, 7.0);
    case RowLevel::Compact:
        return std::clamp((layout.rowHeight - 4) / 2.0, 2.5, 4.0);
    case RowLevel::Strip:
    case RowLevel::Heat:
        break;
    }
    return kRaceMark;
}

/// Of an axis' cells, each of which has one ring at most.
double cellWidth(double radius) {
    return radius > kRaceMark ? 2 * radius + 3 : 12;
}

/// Rows that have their marks together: so low that these would run into each other.
int rowsTogether(int rowHeight) {
    constexpr int kLeastHeight = 7;
    return (kLeastHeight + rowHeight - 1) / rowHeight;
}

} // namespace

/// Builds the rings of the rows in view. A row is divided into cells a ring wide, from the start of the run,
/// so that moving the view does not divide it anew.
class GeometryBuilder::Rings {
  public:
    explicit Rings(GeometryBuilder& builder)
        : m_builder(builder), m_model(builder.m_model), m_layout(builder.m_scene.layout),
          m_axis(builder.m_scene.axis), m_radius(ringRadius(m_layout)), m_width(cellWidth(m_radius)),
          m_first(cellOf(builder.m_scene.view.begin) - 1), m_last(cellOf(builder.m_scene.view.end) + 1),
          m_cells(std::size_t(std::max<std::int64_t>(0, m_last - m_first + 1))) {}

    void build() {
        const int together = rowsTogether(m_layout.rowHeight);
        const int end = std::min(m_layout.endVisible(), m_model.ranks());
        for (int row = m_layout.firstVisible() / together * together; row < end; row += together) {
            m_used = false;
            for (int of = row; of < std::min(row + together, end); ++of) {
                addRow(of);
            }
            if (m_used) {
                take(row, together);
            }
        }
    }

  private:
    struct Cell {
        RaceRing ring; ///< races 0: none
        double low = 0;
        double high = 0;
        double x = 0;
    };

    [[nodiscard]] std::int64_t cellOf(std::int64_t unit) const {
        return std::int64_t(std::floor(double(unit) * m_builder.m_scale / m_width));
    }

    void addRow(int row) {
        const auto entries = m_model.races().arrivals(row);
        const auto calls = m_model.calls(row);
        const auto unitOf = [&](const RaceIndex::Entry& entry) {
            return m_model.end(row, calls[entry.done], m_axis);
        };
        const auto firstFrom = [&](std::size_t from, std::int64_t cell) {
            const auto at = std::partition_point(
                entries.begin() + std::ptrdiff_t(from), entries.end(),
                [&](const RaceIndex::Entry& entry) { return cellOf(unitOf(entry)) < cell; });
            return std::size_t(at - entries.begin());
        };
        for (std::size_t i = firstFrom(0, m_first); i < entries.size();) {
            const std::int64_t at = cellOf(unitOf(entries[i]));
            if (at > m_last) {
                break;
            }
            const std::size_t next = firstFrom(i + 1, at + 1);
            const RaceIndex::Entry& worst = entries[m_model.races().worst(row, i, next)];
            Cell& cell = m_cells[std::size_t(at - m_first)];
            const double low = m_builder.px(unitOf(entries[i]));
            const double high = m_builder.px(unitOf(entries[next - 1]));
            // They are in order: if the first has not been executed again, none has.
            const bool dimmed = m_builder.dimmedRace(row, calls[entries[i].done]);
            RaceRing& ring = cell.ring;
            const bool other = ring.races > 0;
            cell.low = other ? std::min(cell.low, low) : low;
            cell.high = other ? std::max(cell.high, high) : high;
            ring.merged = other || low < high;
            ring.dimmed = dimmed && (!other || ring.dimmed);
            ring.races += std::uint32_t(next - i);
            if (worst.alternatives > ring.alternatives) {
                ring.row = row;
                ring.call = worst.call;
                ring.alternatives = worst.alternatives;
            }
            m_used = true;
            i = next;
        }
    }

    /// Moves those that would touch each other apart, no further than needed and each within its cell: there
    /// is always room for all.
    void moveApart() {
        const double half = std::max(m_radius, 2.0) + 0.5; // marks of several are five pixels wide
        const std::size_t count = m_cells.size();
        for (std::size_t i = 0; i < count; ++i) {
            m_cells[i].x = (m_cells[i].low + m_cells[i].high) / 2;
        }
        // Who gives way may touch the next one then. Each does so once on either side, so this ends.
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t i = 0; i + 1 < count; ++i) {
                Cell& left = m_cells[i];
                Cell& right = m_cells[i + 1];
                if (left.ring.races == 0 || right.ring.races == 0 || right.x - left.x >= 2 * half) {
                    continue;
                }
                const double border = double(m_first + std::int64_t(i) + 1) * m_width + m_builder.px(0);
                left.x = std::min(left.x, border - half);
                right.x = std::max(right.x, border + half);
                moved = true;
            }
        }
    }

    void take(int firstRow, int together) {
        const std::size_t before = m_builder.m_out.races.size();
        moveApart();
        for (const Cell& cell : m_cells) {
            const double x = cell.x;
            if (cell.ring.races == 0 || x + m_radius < 0 || x - m_radius > m_builder.m_scene.view.width) {
                continue;
            }
            RaceRing ring = cell.ring;
            double y = m_layout.centre(ring.row);
            if (together > 1) {
                y = std::clamp(y, m_layout.top(firstRow) + 2.0, m_layout.top(firstRow + together) - 3.0);
            }
            ring.at = {x, y};
            ring.radius = m_radius;
            m_builder.m_out.races.push_back(ring);
        }
        std::fill(m_cells.begin(), m_cells.end(), Cell{});
        if (m_layout.level() == RowLevel::Full) {
            measureRoom(firstRow, before);
        }
    }

    /// What is free right of the rings of a row, from `before` on.
    void measureRoom(int row, std::size_t before) {
        struct Taken {
            int from;
            int to;
        };
        const Geometry& out = m_builder.m_out;
        std::vector<Taken> taken;
        const auto boxes = std::equal_range(out.boxes.begin(), out.boxes.end(), Box{.row = row},
                                            [](const Box& a, const Box& b) { return a.row < b.row; });
        for (auto box = boxes.first; box != boxes.second; ++box) {
            taken.push_back({box->x0, box->x1});
        }
        const auto strip = std::lower_bound(out.strips.begin(), out.strips.end(), row,
                                            [](const Strip& s, int r) { return s.row < r; });
        if (strip != out.strips.end() && strip->row == row) {
            for (const viewer::Cell& cell : strip->cells) {
                taken.push_back({cell.x, cell.x + 1});
            }
        }
        std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.from < b.from; });
        std::size_t next = 0;
        int reach = 0; // of what begins left of the ring's right edge
        std::vector<RaceRing>& rings = m_builder.m_out.races;
        for (std::size_t i = before; i < rings.size(); ++i) {
            const int from = int(std::ceil(rings[i].at.x() + m_radius));
            for (; next < taken.size() && taken[next].from <= from; ++next) {
                reach = std::max(reach, taken[next].to);
            }
            int to = m_builder.m_scene.view.width;
            to = next < taken.size() ? std::min(to, taken[next].from) : to;
            to = i + 1 < rings.size() ? std::min(to, int(rings[i + 1].at.x() - m_radius) - 1) : to;
            rings[i].room = reach > from ? 0 : std::max(0, to - from);
        }
    }

    GeometryBuilder& m_builder;
    const DiagramModel& m_model;
    const RowLayout& m_layout;
    Axis m_axis;
    double m_radius;
    double m_width;
    std::int64_t m_first; ///< cell
    std::int64_t m_last;
    std::vector<Cell> m_cells;
    bool m_used = false;
};

bool GeometryBuilder::dimmedRace(int row, const TrackCall& done) const {
    return beyondPlace(row, done.open() ? done.eventBegin : done.eventEnd);
}

void GeometryBuilder::buildRaces() {
    if (!m_model.races().empty()) {
        Rings(*this).build();
    }
}

void GeometryBuilder::buildAlternatives(SelectionGeometry& selection) const {
    const auto race = m_model.races().worstOf(selection.call);
    const auto sum = m_model.races().of(selection.call);
    if (!race || !sum) {
        return;
    }
    const int row = selection.call.rank.value();
    const TrackCall& done = m_model.calls(row)[race->done];
    RaceRing ring;
    ring.at = {px(m_model.end(row, done, m_scene.axis)), double(m_scene.layout.centre(row))};
    ring.radius = std::max(kLeastChosenRing, ringRadius(m_scene.layout));
    ring.row = row;
    ring.call = race->call;
    ring.alternatives = sum->alternatives;
    ring.races = sum->races;
    ring.dimmed = dimmedRace(row, done);
    const double x = ring.at.x();
    if (visible(row) && x + ring.radius >= 0 && x - ring.radius <= m_scene.view.width) {
        selection.race = ring;
    }
    for (const CallRef& send : m_scene.alternatives) {
        const int from = send.rank.value();
        if (from < 0 || from >= m_model.ranks() || send.call.value() >= m_model.calls(from).size()) {
            continue;
        }
        const TrackCall& call = m_model.calls(from)[send.call.value()];
        GhostLine line;
        line.from = {px(DiagramModel::begin(call, m_scene.axis)), barEdge(from, row >= from)};
        const QPointF way = ring.at - line.from;
        const double length = std::hypot(way.x(), way.y());
        line.to = length > ring.radius ? ring.at - way * (ring.radius / length) : ring.at;
        line.dimmed = ring.dimmed || beyondPlace(from, call.eventBegin);
        const QPointF start = line.from;
        constexpr double kMargin = 40; // pixels around the view, as other lines
        if (!clipLine(line.from, line.to, -kMargin, -kMargin, m_scene.view.width + kMargin,
                      m_scene.layout.viewportHeight + kMargin)) {
            continue;
        }
        line.begins = line.from == start;
        if (selection.alternatives.size() < kGhostCap) {
            selection.alternatives.push_back(line);
        } else {
            ++selection.moreAlternatives;
        }
    }
}

} // namespace stopline::viewer
