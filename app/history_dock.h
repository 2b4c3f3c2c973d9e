// The control history: what undo would take back.
#pragma once

#include "../replay/session.h"

#include <QDockWidget>

namespace stopline::app {

class HistoryModel;
class NoteView;

class HistoryDock : public QDockWidget {
    Q_OBJECT
  public:
    HistoryDock(replay::Session* session, QWidget* parent = nullptr);
    [[nodiscard]] HistoryModel* model() const { return m_model; }

  signals:
    /// The mouse is over a command: places before it, to be shown as a ghost; nullopt when it has left.
    void previewed(const std::optional<stopline::replay::Cut>& places);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    HistoryModel* m_model;
    NoteView* m_view;
};

} // namespace stopline::app
