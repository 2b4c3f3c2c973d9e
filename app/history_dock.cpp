#include "history_dock.h"

#include "history_model.h"
#include "key_bindings.h"
#include "note_view.h"

#include <QEvent>
#include <QHeaderView>

namespace stopline::app {

HistoryDock::HistoryDock(replay::Session* session, QWidget* parent)
    : QDockWidget(tr("History"), parent), m_model(new HistoryModel(session, this)),
      m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("history"));
    setWidget(m_view);
    m_view->setModel(m_model);
    m_view->setNote(tr("Run, Continue, Step, Go … are listed here. Undo%1 takes the last one back.")
                        .arg(keyNote(QStringLiteral("undo"))));
    m_view->header()->setSectionResizeMode(HistoryModel::Number, QHeaderView::ResizeToContents);
    m_view->header()->resizeSection(HistoryModel::Command, 150);
    m_view->header()->resizeSection(HistoryModel::Places, 320);
    m_view->setMouseTracking(true);
    m_view->viewport()->installEventFilter(this);
    connect(m_view, &QTreeView::entered, this,
            [this](const QModelIndex& index) { emit previewed(m_model->before(index.row())); });
    connect(m_model, &HistoryModel::modelReset, this, [this] {
        m_view->scrollToBottom();
        emit previewed(std::nullopt);
    });
}

bool HistoryDock::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave) {
        emit previewed(std::nullopt);
    }
    return QDockWidget::eventFilter(watched, event);
}

} // namespace stopline::app
