// Pending messages of the whole job; the first place to look at a hang.
#pragma once

#include <QDockWidget>

class QLabel;
class QTimer;
class QSortFilterProxyModel;

namespace stopline::app {

class Look;
class NoteView;
class OpenMessagesModel;

class OpenMessagesDock : public QDockWidget {
    Q_OBJECT
  public:
    OpenMessagesDock(Look* look, QWidget* parent = nullptr);
    [[nodiscard]] OpenMessagesModel* model() const { return m_model; }

  signals:
    /// A message has been chosen by mouse or Return: its call is selected, the keys of the diagram are wanted next.
    void callShown();

  private:
    OpenMessagesModel* m_model;
    QSortFilterProxyModel* m_order;
    NoteView* m_view;
    QLabel* m_deadlocks; ///< ranks that wait for each other; hidden where there are none
    bool m_seen = false;
    QTimer* m_naming;    ///< runs out when these are to be looked for
    int m_stateWidth = 190; ///< pixels that the states have needed so far
};

} // namespace stopline::app
