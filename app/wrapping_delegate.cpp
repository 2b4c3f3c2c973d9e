#include "wrapping_delegate.h"

#include <QHeaderView>
#include <QTreeView>

#include <algorithm>

namespace stopline::app {

WrappingDelegate::WrappingDelegate(QTreeView* view) : QStyledItemDelegate(view), m_view(view) {}

void WrappingDelegate::wrap(QTreeView* view, const QList<int>& columns) {
    auto* delegate = new WrappingDelegate(view);
    for (const int column : columns) {
        view->setItemDelegateForColumn(column, delegate);
    }
    connect(view->header(), &QHeaderView::sectionResized, delegate, [delegate, view, columns](int section) {
        if (columns.contains(section)) {
            emit delegate->sizeHintChanged(view->rootIndex()); // lays the rows out anew
        }
    });
}

void WrappingDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    option->features |= QStyleOptionViewItem::WrapText;
    option->textElideMode = Qt::ElideNone;
}

QSize WrappingDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem full = option;
    initStyleOption(&full, index);
    const QStyle* style = m_view->style();
    const int side =
        style->pixelMetric(QStyle::PM_FocusFrameHMargin, &full, m_view) + 1; // as the style draws text
    const int width = std::max(m_view->columnWidth(index.column()) - 2 * side, 1);
    const QRect text =
        full.fontMetrics.boundingRect(QRect(0, 0, width, 1 << 20), int(Qt::TextWordWrap), full.text);
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    const int least = full.fontMetrics.height();
    size.setHeight(std::max(text.height(), least) +
                   2 * std::max(style->pixelMetric(QStyle::PM_FocusFrameVMargin, &full, m_view), 1));
    return size;
}

} // namespace stopline::app
