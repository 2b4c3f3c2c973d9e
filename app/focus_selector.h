// Beside the run buttons: whom they act on.
#pragma once

#include "../replay/session.h"

#include <QWidget>

class QToolButton;

namespace stopline::app {

class Actions;
class Look;

/// "Focus: [All ranks] [Rank 3 ▾]". The arrow lists the ranks.
class FocusSelector : public QWidget {
    Q_OBJECT
  public:
    FocusSelector(Look* look, Actions* actions, QWidget* parent = nullptr);

  private:
    void update();
    void fillMenu();

    Look* m_look;
    Actions* m_actions;
    QToolButton* m_all;
    QToolButton* m_one;
};

} // namespace stopline::app
