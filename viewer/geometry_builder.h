// Builds the geometry of a view from the model. One builder per build; no state survives.
#pragma once

#include "diagram_model.h"
#include "geometry.h"

#include <span>

namespace stopline::viewer {

/// Single lines drawn before messages are bundled into ribbons (painting budget, A5).
inline constexpr std::size_t kMessageCap = 2000;
/// Ribbons drawn before ranks are bundled into fewer groups (painting budget, A5).
inline constexpr std::size_t kRibbonCap = 1500;
/// Lines up to which arrow heads are drawn.
inline constexpr std::size_t kHeadCap = 600;
/// Boxes narrower than this go into the row's strip.
inline constexpr int kNarrowBox = 3;

/// Lines from the sends that a selected race could have had.
inline constexpr std::size_t kGhostCap = 200;
/// Radius in pixels that the ring of a selected race has at least.
inline constexpr double kLeastChosenRing = 4;

/// Everything that decides what is drawn besides the model. Pointers may be null; the builder keeps none.
struct Scene {
    Axis axis = Axis::Time;
    AxisView view;
    RowLayout layout;
    std::span<const RowState> rows;
    std::span<const StopPost> stops;
    std::optional<RankId> focus;
    std::optional<replay::Point> point;
    const replay::Line* past = nullptr;
    const replay::Line* future = nullptr;
    bool futureChosen = false; ///< of two frontiers the one that a stopline would be made of
    const replay::Line* stopline = nullptr;
    const replay::Cut* ghost = nullptr;
    std::optional<replay::CallRef> selection;
    std::span<const replay::CallRef> alternatives; ///< sends that the selection's races could have had
};

class GeometryBuilder {
  public:
    GeometryBuilder(const DiagramModel& model, const Scene& scene)
        : m_model(model), m_scene(scene), m_scale(double(scene.view.width) / double(scene.view.span())) {}
    /// `old`: a geometry that is not needed any more, for its memory.
    [[nodiscard]] Geometry build(Geometry&& old = {});

  private:
    // geometry_calls.cpp: boxes, cells and ticks of a row
    class RowCalls;
    void buildCalls(int row, const BarLane& lane);
    // geometry_builder.cpp: rows
    void buildRow(int row);
    [[nodiscard]] RowMarks rowMarks(int row, const BarLane& lane) const;
    [[nodiscard]] std::optional<Box> boxOf(replay::CallRef ref) const;
    void buildStops();
    void buildSelection();
    // geometry_messages.cpp
    void buildMessages();
    template <class Visit>
    void visitCrossing(const Visit& visit) const;
    void buildRibbons();
    void buildPending();
    [[nodiscard]] std::optional<MessageLine> lineOf(std::uint32_t index) const;
    [[nodiscard]] std::optional<MessageLine> pendingLineOf(std::uint32_t index,
                                                           std::vector<int>& crowd) const;
    void addWait(const TrackMessage& message);
    // geometry_races.cpp
    class Rings;
    void buildRaces();
    void buildAlternatives(SelectionGeometry& selection) const;
    [[nodiscard]] bool dimmedRace(int row, const TrackCall& done) const;
    // geometry_lines.cpp
    void buildSpines();
    void buildLine(LineKind kind, const replay::Cut& cut, std::span<const replay::Obstacle> obstacles);
    void buildPoint();

    [[nodiscard]] double px(std::int64_t unit) const { return m_scene.view.toPixel(unit); }
    /// Pixel of a unit, bounded to a little outside the view so that it fits an int.
    [[nodiscard]] int column(std::int64_t unit) const;
    [[nodiscard]] const RowState* rowState(int row) const;
    /// First unit of a row that is recorded but not executed; nothing when all is executed.
    [[nodiscard]] std::optional<std::int64_t> dimFrom(int row) const;
    /// Unit of the last event that the rank of a row has executed. One that stands before a call has recorded
    /// its begin without having made it.
    [[nodiscard]] std::int64_t executedUnit(int row) const;
    [[nodiscard]] bool beyondPlace(int row, std::int64_t eventUnit) const;
    [[nodiscard]] bool visible(int row) const;
    [[nodiscard]] double barEdge(int row, bool lower) const;

    const DiagramModel& m_model;
    const Scene& m_scene;
    double m_scale; ///< pixels per unit
    Geometry m_out;
    std::vector<Strip> m_spare; ///< memory for strips
};

/// Cuts a line to a rectangle (Liang and Barsky 1984); nothing when it misses it.
[[nodiscard]] bool clipLine(QPointF& a, QPointF& b, double x0, double y0, double x1, double y1);

} // namespace stopline::viewer
