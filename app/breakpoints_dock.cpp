#include "breakpoints_dock.h"

#include "breakpoints_model.h"
#include "key_bindings.h"
#include "note_view.h"

#include <QAction>
#include <QHeaderView>
#include <QLineEdit>
#include <QVBoxLayout>

namespace stopline::app {

using namespace replay;

BreakpointsDock::BreakpointsDock(Session* session, QWidget* parent)
    : QDockWidget(tr("Breakpoints"), parent), m_session(session),
      m_model(new BreakpointsModel(session, this)), m_view(new NoteView(this)), m_entry(new QLineEdit(this)) {
    setObjectName(QStringLiteral("breakpoints"));
    m_view->setModel(m_model);
    m_view->setNote(
        tr("Click the margin of the source, or toggle one at its cursor%1, or type a place below.")
            .arg(keyNote(QStringLiteral("toggleBreakpoint"))));
    m_view->header()->resizeSection(BreakpointsModel::Location, 220);
    m_entry->setPlaceholderText(tr("solver.c:118, or a function; then: if n > 3"));
    auto* body = new QWidget(this);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_view, 1);
    layout->addWidget(m_entry);
    setWidget(body);

    auto* remove = new QAction(tr("Remove"), this);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    connect(remove, &QAction::triggered, this, [this] {
        if (const UserBreakpoint* b = m_model->at(m_view->currentIndex().row())) {
            m_session->removeBreakpoint(b->id);
        }
    });
    m_view->addAction(remove);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(m_view, &QTreeView::activated, this, [this](const QModelIndex& index) {
        const UserBreakpoint* b = m_model->at(index.row());
        if (b != nullptr && b->line > 0) {
            emit sourceWanted({b->file, b->line, {}, {}});
        }
    });
    connect(m_entry, &QLineEdit::returnPressed, this, &BreakpointsDock::addTyped);
}

void BreakpointsDock::addTyped() {
    QString location = m_entry->text().trimmed();
    QString condition;
    if (const qsizetype at = location.indexOf(QLatin1StringView(" if ")); at > 0) {
        condition = location.mid(at + 4).trimmed();
        location = location.left(at).trimmed();
    }
    if (!location.isEmpty()) {
        m_session->addBreakpoint(location, condition);
        m_entry->clear();
    }
}

} // namespace stopline::app
