// A table that says what to do while it is empty.
#pragma once

#include <QTreeView>

namespace stopline::app {

/// Flat tree view (rows only) with the looks shared by all panels. The note is drawn over an empty model.
class NoteView : public QTreeView {
    Q_OBJECT
  public:
    explicit NoteView(QWidget* parent = nullptr);
    void setNote(const QString& note);
    [[nodiscard]] QString note() const { return m_note; }
    /// For a model whose rows have got something inside, or nothing any more: QTreeView would not notice.
    using QTreeView::scheduleDelayedItemsLayout;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString m_note;
};

} // namespace stopline::app
