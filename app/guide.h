// The user guide in a window of its own: the README that the program was built with.
#pragma once

#include <QDialog>

class QTextBrowser;

namespace stopline::app {

class Guide : public QDialog {
    Q_OBJECT
  public:
    explicit Guide(QWidget* parent = nullptr);
    [[nodiscard]] QTextBrowser* view() const { return m_view; }

  private:
    QTextBrowser* m_view;
};

/// The guide as Markdown; its pictures are named in words, as they are not part of the program.
[[nodiscard]] QString guideText();

} // namespace stopline::app
