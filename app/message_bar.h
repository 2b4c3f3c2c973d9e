// A bar above the source that names a problem and the remedy, instead of a modal box.
#pragma once

#include "../replay/session.h"

#include <QFrame>

#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace stopline::app {

/// Shows the most important of the messages not yet closed: an error is not replaced by a later warning.
/// Notes (Info) only go to the log.
class MessageBar : public QFrame {
    Q_OBJECT
  public:
    explicit MessageBar(QWidget* parent = nullptr);

    void show(replay::Severity severity, const QString& text, const QString& remedy);
    /// With a button that does something about it. The button also closes the bar.
    void offer(const QString& text, const QString& button, std::function<void()> action);
    void clear();
    void withdraw(const QString& text); ///< clears if it is that text which is shown
    [[nodiscard]] QString text() const;

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void present(replay::Severity severity, const QString& html);
    void restyle();

    QLabel* m_icon;
    QLabel* m_text;
    QPushButton* m_action;
    QToolButton* m_close;
    replay::Severity m_severity = replay::Severity::Info;
    std::function<void()> m_do;
    int m_more = 0;
    QString m_html;
};

} // namespace stopline::app
