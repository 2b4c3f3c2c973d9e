// The status bar: where the shown rank is, which stop, how much is recorded, whether the gdbs are well.
#pragma once

#include "../replay/session.h"

#include <QObject>

class QAction;
class QLabel;
class QStatusBar;
class QToolButton;

namespace stopline::app {

class StatusLine : public QObject {
    Q_OBJECT
  public:
    /// Puts its widgets into `bar`, which owns them. `cancel` is offered while an operation is under way.
    StatusLine(replay::Session* session, QStatusBar* bar, QAction* cancel);
    [[nodiscard]] QString text() const; ///< all fields, for tests

  public slots:
    void update(); ///< also to be called when running ranks have got further

  private:
    replay::Session* m_session;
    QLabel* m_operation;
    QToolButton* m_cancel;
    QLabel* m_rank;
    QLabel* m_stop;
    QLabel* m_events;
    QLabel* m_gdb;
};

} // namespace stopline::app
