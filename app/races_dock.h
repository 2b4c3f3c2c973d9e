// What raced, by source line, and what could have come instead.
#pragma once

#include <QDockWidget>
#include <QSet>

class QAction;

namespace stopline::app {

class Actions;
class Look;
class NoteView;
class RacesModel;

class RacesDock : public QDockWidget {
    Q_OBJECT
  public:
    RacesDock(Look* look, Actions* actions, QWidget* parent = nullptr);
    [[nodiscard]] RacesModel* model() const { return m_model; }
    [[nodiscard]] NoteView* view() const { return m_view; }

  signals:
    /// A call has been chosen by mouse or Return: it is selected, the keys of the diagram are wanted next.
    void callShown();

  private:
    void show();
    void restore();
    void updateNote();
    void updateTake();

    Look* m_look;
    Actions* m_actions;
    RacesModel* m_model;
    NoteView* m_view;
    QSet<QString> m_open; ///< lines and races that are expanded
    QString m_current;
};

} // namespace stopline::app
