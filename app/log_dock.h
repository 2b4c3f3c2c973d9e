// Panel of the debugger's own messages.
#pragma once

#include "../replay/session.h"

#include <QDockWidget>

namespace stopline::app {

class LogModel;
class NoteView;

class LogDock : public QDockWidget {
    Q_OBJECT
  public:
    LogDock(replay::Session* session, QWidget* parent = nullptr);
    [[nodiscard]] LogModel* model() const { return m_model; }

  private:
    LogModel* m_model;
    NoteView* m_view;
};

} // namespace stopline::app
