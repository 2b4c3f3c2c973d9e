#include "open_messages_dock.h"

#include "look.h"
#include "note_view.h"
#include "open_messages_model.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>

namespace stopline::app {

OpenMessagesDock::OpenMessagesDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Open messages"), parent), m_model(new OpenMessagesModel(look->session(), this)),
      m_order(new QSortFilterProxyModel(this)), m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("openMessages"));
    setWidget(m_view);
    m_order->setSourceModel(m_model);
    m_order->setSortRole(OpenMessagesModel::kSortRole);
    m_view->setModel(m_order);
    m_view->setSortingEnabled(true);
    m_view->header()->setSortIndicatorClearable(true); // back to the model's own order
    m_view->sortByColumn(-1, Qt::AscendingOrder);
    m_view->setNote(tr("No open messages: all that was sent has been received, and no receive waits."));
    for (const int column : {OpenMessagesModel::From, OpenMessagesModel::To, OpenMessagesModel::Tag}) {
        m_view->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    }
    m_view->header()->resizeSection(OpenMessagesModel::Size, 70);
    m_view->header()->resizeSection(OpenMessagesModel::State, 190);
    const auto show = [this, look](const QModelIndex& index) {
        look->selectCall(m_model->callAt(m_order->mapToSource(index).row()), true);
        emit callShown();
    };
    connect(m_view, &QTreeView::clicked, this, show);
    connect(m_view, &QTreeView::activated, this, show);
    // The arrow keys walk through the list, and the diagram follows.
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, look](const QModelIndex& index) {
                if (m_view->hasFocus() && index.isValid()) {
                    look->selectCall(m_model->callAt(m_order->mapToSource(index).row()), true);
                }
            });
    connect(m_model, &OpenMessagesModel::modelReset, this, [this] {
        const int count = m_model->rowCount();
        setWindowTitle(count > 0 ? tr("Open messages (%1)").arg(count) : tr("Open messages"));
    });
}

} // namespace stopline::app
