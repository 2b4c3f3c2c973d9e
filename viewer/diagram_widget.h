// The space-time diagram of a job (visual language: rows are ranks, x runs right).
#pragma once

#ifndef Q_MOC_RUN // moc stumbles over what <compare> includes, and needs none of it
#include "../replay/place.h"
#include "../replay/timeline.h"
#endif

#include <QWidget>

#ifndef Q_MOC_RUN
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>
#endif

namespace stopline::viewer {

struct Geometry;

enum class Axis { Time, Events };

/// Why a rank stands where it stands; decides the cap of its stop post and the letter of its row label.
enum class StopMark { None, Pause, Breakpoint, Step, Signal, Stopline, Error };

/// What a row shows besides its events.
struct RowState {
    replay::Place place; ///< where the rank is now (execution); may be before the end of the recording
    StopMark mark = StopMark::None;
    bool running = false; ///< the row is open to the right
    bool ended = false;
    QString stateLetter;     ///< one letter, as in the rank strip
    QString label;           ///< short, e.g. the function stopped in
    EventIndex freshFrom{0}; ///< events after this one are new since the last stop
};

/// One stop of the job, for the posts.
struct StopPost {
    int number = 0;
    replay::Cut places;
    std::vector<StopMark> marks; ///< by rank; None where this stop did not stop the rank
};

/// A receive or probe that could have got another message than it did.
struct RaceMark {
    replay::CallRef call;   ///< posts the receive (or blocks in it), or probes
    replay::MaybeCall done; ///< at whose end the outcome was known; empty: at the end of `call`
    std::uint32_t alternatives = 0; ///< other messages that it could have had, at least 1
};

/// Viewport-sized widget painted with QPainter. Reads the timeline, never owns it: whoever owns it calls
/// timelineChanged() after it has grown, setTimeline(nullptr) before it goes.
/// Keys and mouse as DESIGN's visual language A3; single letters act only while it has the focus.
class DiagramWidget : public QWidget {
    Q_OBJECT
  public:
    explicit DiagramWidget(QWidget* parent = nullptr);
    ~DiagramWidget() override;

    /// A new timeline keeps zoom and selection where they still mean something, and no races.
    void setTimeline(const replay::Timeline* timeline);
    void timelineChanged();
    void setRowStates(const std::vector<RowState>& rows);
    void setStops(const std::vector<StopPost>& stops);
    void setFocusRank(std::optional<RankId> rank);
    void setAxis(Axis axis);
    [[nodiscard]] Axis axis() const;

    /// The user's point and what belongs to it. Lines are drawn as visual-language E1 says; nullopt removes.
    void setPoint(std::optional<replay::Point> point);
    void setPastFrontier(std::optional<replay::Line> line);
    void setFutureFrontier(std::optional<replay::Line> line);
    /// Which of the two a stopline would be made of: it is drawn stronger.
    void setChosenFrontier(bool future);
    void setStopline(std::optional<replay::Line> line);
    void setGhost(std::optional<replay::Cut> target); ///< where undo or rollback would go

    /// Replaces all, in any order; several may share a call. Those of calls that are not known (yet) are not shown.
    /// setTimeline() drops them; timelineChanged() keeps them.
    void setRaces(std::vector<RaceMark> races);
    /// The sends that the races of a call could have had instead, for the lines of the selected call. Asked once for
    /// each selection, again after setRaces() and timelineChanged().
    void setAlternatives(std::function<std::vector<replay::CallRef>(const replay::CallRef&)> sends);

    void select(std::optional<replay::CallRef> call);
    [[nodiscard]] std::optional<replay::CallRef> selection() const;
    void reveal(replay::CallRef call); ///< moves the view by the minimum needed
    void fitAll();
    void fitLastStop();
    void fitWork(); ///< as a run looks at first: all of it, without MPI_Init, and what comes
    void zoomBy(double factor); ///< around the cursor, or the centre

    /// "file:line" of a call for tooltips; empty text where it is not known.
    void setSiteText(std::function<QString(const replay::CallRef&)> text);
    /// The whole widget as an image file by its suffix (PNG and so on), or as drawing where it is "pdf".
    /// False when it cannot be written.
    bool exportImage(const QString& path);
    /// What is drawn now. Valid until the view, the data or the size changes.
    [[nodiscard]] const Geometry& geometry() const;
    /// Where the rows are drawn, in widget coordinates: geometry() is relative to its top left.
    [[nodiscard]] QRect plotRect() const;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QSize sizeHint() const override;

  signals:
    void selectionChanged(std::optional<stopline::replay::CallRef> call);
    void pointPicked(const stopline::replay::Point& point); ///< B, Shift+B, menu, double-click on the arc
    void frontierRequested(bool future);                    ///< N or P
    void stoplineRequested();                               ///< L
    void goRequested();       ///< G; menu "Go here": after pointPicked, stoplineRequested
    void undoRequested();     ///< U
    void rollbackRequested(); ///< Backspace
    void sourceRequested(const stopline::replay::CallRef& call); ///< Enter, double click
    void focusRequested(stopline::RankId rank);                  ///< Ctrl+Enter, click on the row label
    /// The race of a call is to get this send's message instead; menu "Run again with".
    void otherMessageRequested(const stopline::replay::CallRef& call, const stopline::replay::CallRef& send);
    void hovered(const QString& text);                           ///< for the status bar

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::viewer
