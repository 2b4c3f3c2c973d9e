// Shows and changes the keys of the window's commands.
#pragma once

#include <QDialog>

class QComboBox;
class QKeySequenceEdit;
class QLabel;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace stopline::app {

class KeyBindings;

/// What is changed holds at once.
class KeysDialog : public QDialog {
    Q_OBJECT
  public:
    /// Does not own the bindings, which must outlive it.
    explicit KeysDialog(KeyBindings* bindings, QWidget* parent = nullptr);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fill();
    void showChosen();
    void take(const QKeySequence& key);

    KeyBindings* m_bindings;
    QComboBox* m_scheme;
    QTreeWidget* m_list;
    QKeySequenceEdit* m_edit;
    QPushButton* m_none;
    QPushButton* m_reset;
    QLabel* m_note;
};

} // namespace stopline::app
