// The executions that are kept beside the one on show, and where they differ from it.
#pragma once

#include "../replay/session.h"

#include <QDockWidget>
#include <QTimer>

class QAction;
class QTreeWidget;

namespace stopline::app {

class Look;
class NoteView;

class ExecutionsDock : public QDockWidget {
    Q_OBJECT
  public:
    ExecutionsDock(Look* look, QWidget* parent = nullptr);
    /// By number, as listed.
    [[nodiscard]] QVector<int> numbers() const;
    void choose(int number);
    [[nodiscard]] QVector<replay::Session::ExecutionDifference> differences() const { return m_differences; }
    [[nodiscard]] QAction* showAction() const { return m_show; }

  signals:
    void callShown();
    void oneMore(); ///< another execution has begun beside those there were

  protected:
    bool event(QEvent* event) override;

  private:
    void reload();
    void compare();
    [[nodiscard]] int chosen() const;

    Look* m_look;
    QTreeWidget* m_list;
    QTreeWidget* m_ranks;
    QAction* m_show;
    QTimer m_soon; ///< comparing goes over all events
    QVector<replay::Session::ExecutionDifference> m_differences;
};

} // namespace stopline::app
