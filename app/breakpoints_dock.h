// List of breakpoints, and a field to add one by function or line.
#pragma once

#include "../replay/session.h"

#include <QDockWidget>

class QLineEdit;

namespace stopline::app {

class BreakpointsModel;
class NoteView;

class BreakpointsDock : public QDockWidget {
    Q_OBJECT
  public:
    BreakpointsDock(replay::Session* session, QWidget* parent = nullptr);
    [[nodiscard]] BreakpointsModel* model() const { return m_model; }

  signals:
    void sourceWanted(const stopline::replay::SourceLocation& location);

  private:
    void addTyped();

    replay::Session* m_session;
    BreakpointsModel* m_model;
    NoteView* m_view;
    QLineEdit* m_entry;
};

} // namespace stopline::app
