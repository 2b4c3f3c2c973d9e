// Details of the call selected in the diagram.
#pragma once

#include <QDockWidget>

class QTextBrowser;

namespace stopline::app {

class Look;

class CallDock : public QDockWidget {
    Q_OBJECT
  public:
    CallDock(Look* look, QWidget* parent = nullptr);
    [[nodiscard]] QString text() const; ///< without markup

  signals:
    void callShown(); ///< a link has been followed: the keys of the diagram are wanted next

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void reload();

    Look* m_look;
    QTextBrowser* m_view;
};

} // namespace stopline::app
