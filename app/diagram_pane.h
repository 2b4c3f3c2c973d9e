// The diagram with its own tool bar, fed from the session.
#pragma once

#include "../replay/session.h"

#include <QWidget>

class QToolBar;

namespace stopline::viewer {
class DiagramWidget;
}

namespace stopline::app {

class Actions;
class Look;

class DiagramPane : public QWidget {
    Q_OBJECT
  public:
    DiagramPane(Look* look, Actions* actions, QWidget* parent = nullptr);

    [[nodiscard]] viewer::DiagramWidget* diagram() const { return m_diagram; }
    /// Places drawn as a ghost until the next call; what undo and roll back would do is shown while the mouse
    /// is over their buttons.
    void preview(const std::optional<replay::Cut>& places);
    [[nodiscard]] replay::Frontier chosenFrontier() const { return m_chosen; }

  signals:
    void hovered(const QString& text);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void buildToolBar();
    void setPoint(bool after);
    void chooseFrontier(replay::Frontier which, bool shown);
    void setStopline();
    void updateLines();
    void updateRaces();
    void scheduleRows();
    void updateRows();
    void updateStops();
    void perform(replay::Verb verb, void (replay::Session::*method)());

    Look* m_look;
    replay::Session* m_session;
    Actions* m_actions;
    viewer::DiagramWidget* m_diagram;
    QToolBar* m_bar;
    bool m_rowsDue = false;
    replay::Frontier m_chosen = replay::Frontier::Past;
};

} // namespace stopline::app
