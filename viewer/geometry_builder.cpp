#include "geometry_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stopline::viewer {

using replay::CallRef;

Geometry GeometryBuilder::build(Geometry&& old) {
    // The same thousands of boxes and cells are built again and again: what they lay in is worth keeping.
    m_spare = std::move(old.strips);
    m_out.boxes = std::move(old.boxes);
    m_out.boxes.clear();
    m_out.ticks = std::move(old.ticks);
    m_out.ticks.clear();
    m_out.axis = m_scene.axis;
    m_out.view = m_scene.view;
    m_out.layout = m_scene.layout;
    if (m_model.timeline() == nullptr) {
        return std::move(m_out);
    }
    const int end = std::min(m_scene.layout.endVisible(), m_model.ranks());
    for (int row = m_scene.layout.firstVisible(); row < end; ++row) {
        buildRow(row);
    }
    buildSpines();
    buildMessages();
    buildPending();
    buildRaces();
    buildStops();
    if (m_scene.past != nullptr) {
        buildLine(LineKind::Past, m_scene.past->cut, m_scene.past->obstacles);
    }
    if (m_scene.future != nullptr) {
        buildLine(LineKind::Future, m_scene.future->cut, m_scene.future->obstacles);
    }
    if (m_scene.ghost != nullptr) {
        buildLine(LineKind::Ghost, *m_scene.ghost, {});
    }
    if (m_scene.stopline != nullptr) {
        buildLine(LineKind::Stopline, m_scene.stopline->cut, m_scene.stopline->obstacles);
    }
    buildPoint();
    buildSelection();
    return std::move(m_out);
}

int GeometryBuilder::column(std::int64_t unit) const {
    constexpr double kRounding = 1e-6; // of a pixel: a unit that lies on a column's edge is in that column
    const double pixel = double(unit - m_scene.view.begin) * m_scale + kRounding;
    return int(std::clamp(pixel, -8.0, double(m_scene.view.width) + 8.0) + 8.0) - 8; // rounds down
}

const RowState* GeometryBuilder::rowState(int row) const {
    return std::size_t(row) < m_scene.rows.size() ? &m_scene.rows[std::size_t(row)] : nullptr;
}

std::int64_t GeometryBuilder::executedUnit(int row) const {
    const RowState* state = rowState(row);
    if (state == nullptr) {
        return std::numeric_limits<std::int64_t>::max();
    }
    const replay::Place& place = state->place;
    const bool before = !state->running && !place.inside && place.event.value() > 0 &&
                        m_model.timeline()->isBegin(RankId{row}, place.event);
    return std::int64_t(place.event.value() - (before ? 1 : 0)) * kUnitsPerEvent;
}

bool GeometryBuilder::beyondPlace(int row, std::int64_t eventUnit) const {
    return eventUnit > executedUnit(row);
}

std::optional<std::int64_t> GeometryBuilder::dimFrom(int row) const {
    const RowState* state = rowState(row);
    const std::int64_t last =
        std::int64_t(m_model.timeline()->lastEvent(RankId{row}).value()) * kUnitsPerEvent;
    if (state == nullptr || executedUnit(row) >= last) {
        return std::nullopt;
    }
    return m_model.position(row, state->place, m_scene.axis);
}

bool GeometryBuilder::visible(int row) const {
    return row >= 0 && row < m_model.ranks() && m_scene.layout.bottom(row) > 0 &&
           m_scene.layout.top(row) < m_scene.layout.viewportHeight;
}

double GeometryBuilder::barEdge(int row, bool lower) const {
    const BarLane lane = m_scene.layout.lane();
    return m_scene.layout.top(row) + (lower ? lane.bottom : lane.top);
}

RowMarks GeometryBuilder::rowMarks(int row, const BarLane& lane) const {
    RowMarks marks;
    marks.row = row;
    marks.top = m_scene.layout.top(row);
    marks.height = m_scene.layout.rowHeight;
    marks.barTop = marks.top + lane.top;
    marks.barBottom = marks.top + lane.bottom;
    marks.zebra = row % 2 != 0;
    marks.focused = m_scene.focus == RankId{row};
    const auto all = m_model.calls(row);
    marks.firstX = all.empty() ? column(0) : column(DiagramModel::begin(all.front(), m_scene.axis));
    marks.lastX = all.empty() ? column(0) : column(m_model.nowEdge(row, m_scene.axis));
    if (const EventIndex first = m_model.timeline()->firstEvent(RankId{row}); first > EventIndex{1}) {
        marks.startEvent = first.value();
        marks.unreadFrom = m_model.timeline()->unreadFrom(RankId{row}).value();
    }
    const RowState* state = rowState(row);
    if (state == nullptr) {
        return marks;
    }
    marks.open = state->running;
    if (const auto from = dimFrom(row)) {
        marks.dimX = column(*from);
    }
    const EventIndex last = m_model.timeline()->lastEvent(RankId{row});
    const EventIndex shown = std::min(last, state->place.event);
    if (state->freshFrom > EventIndex{0} && state->freshFrom < shown) {
        marks.freshX0 = column(m_model.position(row, state->freshFrom, m_scene.axis));
        marks.freshX1 = column(m_model.position(row, shown, m_scene.axis));
    }
    return marks;
}

void GeometryBuilder::buildRow(int row) {
    const BarLane lane = m_scene.layout.lane();
    m_out.rows.push_back(rowMarks(row, lane));
    const RowMarks& marks = m_out.rows.back();
    if (m_scene.axis == Axis::Time) {
        for (const replay::Timeline::HeldSpan& span : m_model.timeline()->heldSpans(RankId{row})) {
            if (span.end > m_scene.view.begin && span.begin < m_scene.view.end) {
                const int x0 = column(span.begin);
                m_out.held.push_back({x0, std::max(x0 + 1, column(span.end)), marks.barTop, marks.barBottom});
            }
        }
    }
    buildCalls(row, lane);
}

std::optional<Box> GeometryBuilder::boxOf(CallRef ref) const {
    const int row = ref.rank.value();
    if (!visible(row) || ref.call.value() >= m_model.calls(row).size()) {
        return std::nullopt;
    }
    const TrackCall& call = m_model.calls(row)[ref.call.value()];
    const std::int64_t begin = DiagramModel::begin(call, m_scene.axis);
    const std::int64_t end = m_model.end(row, call, m_scene.axis);
    if (end < m_scene.view.begin || begin > m_scene.view.end) {
        return std::nullopt;
    }
    Box box;
    box.x0 = column(begin);
    box.x1 = std::max(box.x0 + 2, column(end));
    box.y0 = int(barEdge(row, false));
    box.y1 = int(barEdge(row, true));
    box.row = row;
    box.call = ref.call.value();
    box.style = call.style;
    box.severity = call.severity;
    box.unfinished = call.open();
    return box;
}

void GeometryBuilder::buildStops() {
    const auto add = [this](StopGeometry& stop, int row, const replay::Place& place, StopMark mark,
                            bool current) {
        const std::int64_t unit = m_model.position(row, place, m_scene.axis);
        const int x = column(unit);
        if (x >= 0 && x < m_scene.view.width) {
            stop.rulerX = std::max(stop.rulerX.value_or(x), x);
        }
        if (visible(row)) {
            const int top = m_scene.layout.top(row);
            stop.posts.push_back({x, row, top + 1, top + m_scene.layout.rowHeight - 1, mark, current});
        }
    };
    for (const StopPost& post : m_scene.stops) {
        StopGeometry stop;
        stop.number = post.number;
        const std::size_t count =
            std::min({post.places.size(), post.marks.size(), std::size_t(m_model.ranks())});
        for (std::size_t row = 0; row < count; ++row) {
            if (post.marks[row] != StopMark::None) {
                add(stop, int(row), post.places[row], post.marks[row], false);
            }
        }
        m_out.stops.push_back(std::move(stop));
    }
    StopGeometry now;
    for (int row = 0; row < m_model.ranks() && std::size_t(row) < m_scene.rows.size(); ++row) {
        const RowState& state = m_scene.rows[std::size_t(row)];
        if (state.mark != StopMark::None && !state.running) {
            add(now, row, state.place, state.mark, true);
        }
    }
    now.rulerX.reset();
    if (!now.posts.empty()) {
        m_out.stops.push_back(std::move(now));
    }
}

void GeometryBuilder::buildSelection() {
    if (!m_scene.selection) {
        return;
    }
    const CallRef ref = *m_scene.selection;
    if (ref.rank.value() < 0 || ref.rank.value() >= m_model.ranks() ||
        ref.call.value() >= m_model.calls(ref.rank.value()).size()) {
        return;
    }
    SelectionGeometry selection;
    selection.call = ref;
    selection.box = boxOf(ref);
    std::vector<int> crowd(std::size_t(m_model.ranks()), 0);
    constexpr std::size_t kMost = 200; // a Waitall may complete thousands
    for (const replay::MessageIndex index : m_model.timeline()->messagesOf(ref)) {
        if (selection.messages.size() >= kMost || index.value() >= m_model.messages().size()) {
            break;
        }
        const replay::Message& message = m_model.timeline()->messages()[index.value()];
        const bool matched = m_model.messages()[index.value()].matched();
        if (auto line = matched ? lineOf(index.value()) : pendingLineOf(index.value(), crowd)) {
            line->head = true;
            selection.messages.push_back(*line);
        }
        for (const auto& end : {message.send, message.done ? message.done : message.post}) {
            if (end && *end != ref) {
                if (auto box = boxOf(*end)) {
                    selection.partners.push_back(*box);
                }
            }
        }
        if (message.post && message.done && *message.post != *message.done && !selection.requestFrom) {
            if (ref == *message.post) {
                selection.requestFrom = boxOf(*message.done);
            } else if (ref == *message.done) {
                selection.requestFrom = boxOf(*message.post);
            }
        }
    }
    buildAlternatives(selection);
    m_out.selection = std::move(selection);
}

} // namespace stopline::viewer
