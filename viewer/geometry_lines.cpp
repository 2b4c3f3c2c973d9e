// Collectives, frontiers, the stopline and the point.
#include "geometry_builder.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stopline::viewer {

void GeometryBuilder::buildSpines() {
    constexpr double kApart = 10; // pixels between two spines that are both worth drawing
    const Axis axis = m_scene.axis;
    const auto all = m_model.collectives();
    std::map<std::pair<std::int32_t, std::int32_t>, double>
        lastDrawn; // by first and last member: where the last one is
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const TrackCollective& c = all[i];
        const std::int64_t first = axis == Axis::Time ? c.timeFirst : c.eventFirst;
        const std::int64_t last = axis == Axis::Time ? c.timeLast : c.eventLast;
        if (first <= last && last >= m_scene.view.begin && first <= m_scene.view.end) {
            order.push_back(std::uint32_t(i));
        }
    }
    // Denser than this, those that were drawn would be picked at random: then boxes and cells alone show
    // them, except where something is wrong.
    constexpr std::size_t kPixelsPerSpine = 4;
    const bool crowded = order.size() * kPixelsPerSpine > std::size_t(m_scene.view.width);
    // Where there are very many, of those that are complete the ends say it all: a vertical line between
    // them.
    constexpr std::size_t kMostMembers = 1500;
    const bool endsOnly = axis == Axis::Time && m_scene.layout.level() != RowLevel::Full &&
                          order.size() * std::size_t(m_model.ranks()) > kMostMembers;
    bool anyDimmed = false;
    for (int row = 0; row < m_model.ranks() && !anyDimmed; ++row) {
        anyDimmed = dimFrom(row).has_value();
    }
    for (const std::uint32_t index : order) {
        const TrackCollective& c = all[index];
        const replay::Collective& source = m_model.timeline()->collectives()[index];
        if (crowded && c.complete && !c.mismatch) {
            continue;
        }
        if (source.members.size() < 2 && c.complete) {
            continue; // with itself alone: the box says it all
        }
        const trace::CallClass kind = trace::functionClass(source.function);
        if (c.complete && !c.mismatch &&
            (kind == trace::CallClass::Init || kind == trace::CallClass::Finalize)) {
            continue; // every run has them; only a missing member is news
        }
        const double last = px(axis == Axis::Time ? c.timeLast : c.eventLast);
        if (c.complete && !c.mismatch && !source.members.empty()) {
            const auto [at, fresh] = lastDrawn.try_emplace({c.firstRow, c.lastRow}, last);
            if (!fresh && std::abs(last - at->second) < kApart) {
                continue;
            }
            at->second = last;
        }
        Spine spine;
        spine.collective = index;
        spine.complete = c.complete;
        spine.mismatch = c.mismatch;
        const bool ends = endsOnly && c.complete && !c.mismatch;
        spine.dots.reserve(ends ? 2 : source.members.size());
        for (std::size_t m = 0; m < source.members.size(); ++m) {
            const int row = source.members[m].value();
            if (row < 0 || row >= m_model.ranks()) {
                continue;
            }
            const auto ref = m < source.arrived.size() ? source.arrived[m] : std::nullopt;
            if (ends && row != c.firstRow && row != c.lastRow) {
                spine.dimmed =
                    spine.dimmed || (anyDimmed && ref && ref->call.value() < m_model.calls(row).size() &&
                                     beyondPlace(row, m_model.calls(row)[ref->call.value()].eventBegin));
                continue;
            }
            SpineDot dot;
            dot.row = row;
            double x = last;
            if (ref && ref->call.value() < m_model.calls(row).size()) {
                const TrackCall& call = m_model.calls(row)[ref->call.value()];
                dot.enterX = px(DiagramModel::begin(call, axis));
                dot.kind = source.root == source.members[m] ? DotKind::Root : DotKind::Member;
                // Event numbers of different ranks have no common vertical: there the spine goes through the
                // calls.
                x = axis == Axis::Time ? last : dot.enterX;
                dot.dimmed = beyondPlace(row, call.eventBegin);
                spine.dimmed = spine.dimmed || dot.dimmed;
            } else {
                dot.kind = DotKind::Missing;
                x = axis == Axis::Time ? last : px(m_model.nowEdge(row, axis)) + 6;
                dot.enterX = x;
            }
            dot.at = {std::clamp(x, -50.0, m_scene.view.width + 50.0), double(m_scene.layout.centre(row))};
            dot.enterX = std::clamp(dot.enterX, -50.0, m_scene.view.width + 50.0);
            spine.dots.push_back(dot);
        }
        std::sort(spine.dots.begin(), spine.dots.end(),
                  [](const SpineDot& a, const SpineDot& b) { return a.row < b.row; });
        if (!spine.dots.empty()) {
            m_out.spines.push_back(std::move(spine));
        }
    }
}

void GeometryBuilder::buildLine(LineKind kind, const replay::Cut& cut,
                                std::span<const replay::Obstacle> obstacles) {
    LineGeometry line;
    line.kind = kind;
    line.weak = m_scene.past != nullptr && m_scene.future != nullptr &&
                kind == (m_scene.futureChosen ? LineKind::Past : LineKind::Future);
    const int count = std::min(int(cut.size()), m_model.ranks());
    for (int row = 0; row < count; ++row) {
        if (!visible(row)) {
            continue;
        }
        const replay::Place& place = cut[std::size_t(row)];
        LineStep step;
        step.row = row;
        step.place = place;
        step.hollow = place.inside;
        for (std::size_t i = 0; i < obstacles.size(); ++i) {
            if (obstacles[i].rank == RankId{row}) {
                step.obstacle = int(i);
                step.hollow = true;
            }
        }
        double x = px(m_model.position(row, place, m_scene.axis));
        if (!place.inside && place.event != EventIndex{0}) {
            // Beside the edge of the box rather than on it: before a call on its left, after it on its right.
            x += m_model.timeline()->isBegin(RankId{row}, place.event) ? -2.0 : 2.0;
        }
        step.x = std::clamp(x, -30.0, m_scene.view.width + 30.0);
        step.y0 = m_scene.layout.top(row);
        step.y1 = m_scene.layout.bottom(row);
        line.steps.push_back(step);
    }
    if (!line.steps.empty()) {
        m_out.lines.push_back(std::move(line));
    }
}

void GeometryBuilder::buildPoint() {
    if (!m_scene.point) {
        return;
    }
    const replay::CallRef ref = m_scene.point->call;
    const int row = ref.rank.value();
    if (!visible(row) || ref.call.value() >= m_model.calls(row).size()) {
        return;
    }
    const TrackCall& call = m_model.calls(row)[ref.call.value()];
    const std::int64_t unit =
        m_scene.point->after ? m_model.end(row, call, m_scene.axis) : DiagramModel::begin(call, m_scene.axis);
    const double x = px(unit);
    if (x < -20 || x > m_scene.view.width + 20) {
        return;
    }
    PointGeometry point;
    point.at = {x, double(m_scene.layout.centre(row))};
    point.after = m_scene.point->after;
    point.radius = std::clamp(m_scene.layout.rowHeight / 5.0, 3.0, 7.0);
    m_out.point = point;
}

} // namespace stopline::viewer
