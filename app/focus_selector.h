// Beside the run buttons: whom they act on.
#pragma once

#include "../replay/session.h"

#include <QWidget>

class QToolButton;

namespace stopline::app {

class Actions;
class Look;

/// "Focus: [All ranks] [2 ranks: 0,3] [Rank 3 ▾]". The arrow lists the ranks; the middle one is there once ranks
/// have been chosen.
class FocusSelector : public QWidget {
    Q_OBJECT
  public:
    FocusSelector(Look* look, Actions* actions, QWidget* parent = nullptr);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void restyle();
    void update();
    void fillMenu();

    Look* m_look;
    Actions* m_actions;
    QToolButton* m_all;
    QToolButton* m_group;
    QToolButton* m_one;
};

} // namespace stopline::app
