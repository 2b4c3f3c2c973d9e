// Output of the ranks, tagged and filtered, and a line of input.
#pragma once

#include "output_log.h"

#include <QDockWidget>
#include <QSet>

#include <optional>

class QLineEdit;
class QPlainTextEdit;
class QCheckBox;

namespace stopline::replay {
class Session;
}

namespace stopline::app {

class OutputDock : public QDockWidget {
    Q_OBJECT
  public:
    OutputDock(replay::Session* session, QWidget* parent = nullptr);
    [[nodiscard]] OutputLog* log() const { return m_log; }
    [[nodiscard]] QString shownText() const;
    /// As typed into the fields: ranks "0-3,7" (empty: all) and a text that lines must contain.
    void setFilter(const QString& ranks, const QString& text);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void append(int from);
    void rebuild();
    void readFilter();
    [[nodiscard]] bool matches(const OutputLine& line) const;
    void appendLine(const OutputLine& line);

    replay::Session* m_session;
    OutputLog* m_log;
    QPlainTextEdit* m_view;
    QLineEdit* m_ranks;
    QLineEdit* m_text;
    QCheckBox* m_stdout;
    QCheckBox* m_stderr;
    QLineEdit* m_input;
    std::optional<QSet<int>> m_wanted; ///< nullopt: all ranks
};

} // namespace stopline::app
