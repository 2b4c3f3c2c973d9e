// Variables of the selected frame of the shown rank, with expressions evaluated in place.
#pragma once

#include <QDockWidget>

namespace stopline::app {

class Look;
class NoteView;
class VariablesModel;

/// Watched expressions are remembered in the settings.
class VariablesDock : public QDockWidget {
    Q_OBJECT
  public:
    VariablesDock(Look* look, QWidget* parent = nullptr);
    [[nodiscard]] VariablesModel* model() const { return m_model; }

  private:
    void reload();
    void evaluateWatches();

    Look* m_look;
    VariablesModel* m_model;
    NoteView* m_view;
    quint64 m_request = 0; ///< answers to an earlier one are dropped
};

} // namespace stopline::app
