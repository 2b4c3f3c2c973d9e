// Pending messages of the whole job; the first place to look at a hang.
#pragma once

#include <QDockWidget>

namespace stopline::app {

class Look;
class NoteView;
class OpenMessagesModel;

class OpenMessagesDock : public QDockWidget {
    Q_OBJECT
  public:
    OpenMessagesDock(Look* look, QWidget* parent = nullptr);
    [[nodiscard]] OpenMessagesModel* model() const { return m_model; }

  private:
    OpenMessagesModel* m_model;
    NoteView* m_view;
};

} // namespace stopline::app
