// The bar below the source that searches the file on show.
#pragma once

#include <QFrame>
#include <QPointer>

class QLabel;
class QLineEdit;
class QToolButton;

namespace stopline::app {

class SourceEditor;

/// All hits are marked in the text, the current one is selected. Searching goes on at the other end when one
/// end of the file is reached, and says so.
class FindBar : public QFrame {
    Q_OBJECT
  public:
    explicit FindBar(QWidget* parent);

    /// What is searched from now on, not owned; null: nothing.
    void setEditor(SourceEditor* editor);
    /// Shows the bar, ready for typing. One line of selected text becomes what is searched for.
    void open();
    /// To the next hit, or the one before; opens the bar when there is nothing to search for yet.
    void again(bool forward);
    void close();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void look();
    void collect();
    void typed();
    void goTo(qsizetype hit, const QString& note);

    QPointer<SourceEditor> m_editor;
    QLineEdit* m_text;
    QToolButton* m_case;
    QLabel* m_note;
    QVector<long> m_hits; ///< byte positions in the editor's text, ascending
    long m_length = 0;    ///< bytes of a hit
    long m_origin = 0;    ///< where the cursor was when the typing began
};

} // namespace stopline::app
