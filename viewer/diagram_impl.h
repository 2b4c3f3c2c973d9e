// The state of the widget. Split from diagram_widget.cpp so that input and actions can live in files of their
// own.
#pragma once

#include "diagram_model.h"
#include "diagram_painter.h"
#include "diagram_widget.h"
#include "frame_painter.h"
#include "geometry.h"
#include "help_overlay.h"
#include "palette.h"

#include <QElapsedTimer>
#include <QPixmap>
#include <QTimer>

#include <vector>

class QAction;
class QFrame;
class QLabel;
class QLineEdit;
class QMenu;

namespace stopline::viewer {

/// What the user sees of the axes: an entry of the view stack.
struct ViewState {
    Axis axis = Axis::Time;
    AxisView view;
    RowLayout layout;
    bool fit = false;
    bool autoRows = false;
};

/// Of the scale, by one step of the wheel or one key press.
inline constexpr double kZoomStep = 1.25;

enum class DragMode { None, Pending, Range, Pan, Measure, Lens };

struct DiagramWidget::Impl {
    explicit Impl(DiagramWidget& widget);

    // --- data
    DiagramWidget& q;
    DiagramModel model;
    std::vector<RowState> rows;
    std::vector<StopPost> stops;
    std::optional<RankId> focus;
    std::optional<replay::Point> point;
    std::optional<replay::Line> past;
    std::optional<replay::Line> future;
    bool futureChosen = false;
    std::optional<replay::Line> stopline;
    std::optional<replay::Cut> ghost;
    std::optional<replay::CallRef> selected;
    std::function<QString(const replay::CallRef&)> siteText;
    std::function<std::vector<replay::CallRef>(const replay::CallRef&)> alternatives;
    std::optional<std::vector<replay::CallRef>> selectedAlternatives; ///< of the selected call, once asked for

    // --- view
    Axis axis = Axis::Time;
    AxisView view;
    RowLayout layout;
    bool fit = true;      ///< keep showing everything as it grows
    bool fitInit = false; ///< MPI_Init too, asked for by Home
    bool autoRows = true; ///< rows share the height
    FrameLayout frame;
    std::vector<ViewState> undoViews;
    std::vector<ViewState> redoViews;
    QElapsedTimer lastViewChange;

    // --- drawing
    Palette colours{Palette::Theme::Light};
    DiagramPainter painter{colours};
    Geometry geometry;
    FrameContent content;
    QImage overview;
    QPixmap layer; ///< everything but hover, range and lens
    bool geometryStale = true;
    bool layerStale = true;
    bool overviewStale = true;

    // --- pointer
    QPointF pointer{-1, -1};
    bool pointerInside = false;
    std::optional<replay::CallRef> hoveredCall;
    int hoveredStep = -1; ///< row of the stopline handle under the pointer
    QTimer tooltipTimer;
    DragMode drag = DragMode::None;
    QPointF dragFrom;
    AxisView dragView;
    RowLayout dragLayout;
    bool spaceHeld = false;
    std::int64_t zoomAnchor = 0;
    QPointF zoomAnchorAt{-1, -1};
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        int firstRow = 0;
        int lastRow = 0;
    };
    std::optional<Range> range;
    std::int64_t measureFrom = 0;
    std::int64_t measureTo = 0;
    int wheelRest = 0;
    QElapsedTimer lastCentre;

    // --- children
    HelpOverlay* help = nullptr;
    QFrame* searchBar = nullptr;
    QLineEdit* searchEdit = nullptr;
    QLabel* searchResult = nullptr;
    std::vector<QAction*> actions;

    // diagram_impl.cpp
    void relayout();
    void ensureGeometry();
    void invalidate();
    void applyFit();
    void setView(const AxisView& wanted, bool remember);
    void setLayout(const RowLayout& wanted, bool remember);
    void rememberView();
    void restoreView(std::vector<ViewState>& from, std::vector<ViewState>& to);
    void switchAxis(Axis wanted);
    [[nodiscard]] std::int64_t leastSpan() const { return axis == Axis::Time ? 100 : 4 * kUnitsPerEvent; }
    [[nodiscard]] QString cornerText() const;
    [[nodiscard]] bool known(replay::CallRef ref) const;
    void themeChanged();
    void selectionText();
    /// What the races of a call come to, or nothing.
    [[nodiscard]] QString raceLine(replay::CallRef call) const;

    // diagram_layers.cpp
    void ensureOverview();
    void ensureLayer();
    void paintLayer(QPainter& painter); ///< everything but hover, range and lens
    void paintOverlay(QPainter& painter);
    void paintRange(QPainter& painter) const;
    void paintEmpty(QPainter& painter) const;

    // diagram_input.cpp
    void zoomAt(double factor, QPointF at);
    void pan(double pixels);
    void finishDrag(QPointF at);
    [[nodiscard]] QPointF inPlot(QPointF at) const { return at - QPointF(frame.plot.topLeft()); }

    // diagram_hover.cpp
    /// The call under a point of the widget; where a ring lies over it, the call that it stands for.
    [[nodiscard]] std::optional<replay::CallRef> callAt(QPointF at);
    /// Of the geometry as it is.
    [[nodiscard]] const RaceRing* raceAt(QPointF at) const;
    [[nodiscard]] std::int64_t snapped(QPointF plotAt) const;
    /// How many calls the pixel under the pointer stands for, if it shows more than a single call; else 0.
    [[nodiscard]] std::uint32_t callsAtPixel(replay::CallRef shown) const;
    void updateHover();
    void showTooltip();

    // diagram_menu.cpp
    void fillMenu(QMenu& menu, QPointF at);

    // diagram_keys.cpp
    [[nodiscard]] QAction* plainAction(const QKeyEvent& event) const; ///< of a key without Ctrl or Alt
    [[nodiscard]] bool hasPlainKey(const QKeyEvent& event) const;

    // diagram_actions.cpp
    void makeActions();
    QAction* add(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                 std::function<void()> what);
    void go(std::optional<replay::CallRef> to);
    void step(bool forward, bool site);
    void moveRow(int by);
    void stepRace(bool forward);
    void centreOrFit();
    void enter();
    void pick(bool after);
    void openSearch();
    void search(bool forward);
    void clearTransient();
    std::vector<std::pair<QString, QString>> helpLines() const;
};

} // namespace stopline::viewer
