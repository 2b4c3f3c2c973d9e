// Stack of the shown rank.
#pragma once

#include <QDockWidget>

class QAction;

namespace stopline::app {

class Look;
class NoteView;
class StackModel;

class StackDock : public QDockWidget {
    Q_OBJECT
  public:
    StackDock(Look* look, QWidget* parent = nullptr);
    [[nodiscard]] StackModel* model() const { return m_model; }

  private:
    void reload();
    void markSelected();

    Look* m_look;
    StackModel* m_model;
    NoteView* m_view;
    QAction* m_showInternal;
};

} // namespace stopline::app
