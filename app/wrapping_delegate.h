// Cells of a tree whose text takes as many lines as it needs, so that nothing of it is cut off.
#pragma once

#include <QStyledItemDelegate>

class QTreeView;

namespace stopline::app {

/// Wraps the text of the columns that it is given. The view must not have uniform row heights.
class WrappingDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    /// Of these columns of `view`, which owns the delegate; rows grow and shrink with the width of the
    /// columns.
    static void wrap(QTreeView* view, const QList<int>& columns);

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

  private:
    explicit WrappingDelegate(QTreeView* view);

    QTreeView* m_view;
};

} // namespace stopline::app
