#include "stack_dock.h"

#include "key_bindings.h"
#include "look.h"
#include "note_view.h"
#include "stack_model.h"
#include "text.h"
#include "../replay/words.h"

#include <QAction>
#include <QHeaderView>
#include <QSettings>

namespace stopline::app {

StackDock::StackDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Stack"), parent), m_look(look), m_model(new StackModel(this)),
      m_view(new NoteView(this)),
      m_showInternal(new QAction(tr("Show frames of MPI and the debugger"), this)) {
    setObjectName(QStringLiteral("stack"));
    setWidget(m_view);
    m_view->setModel(m_model);
    m_view->header()->setSectionResizeMode(StackModel::Level, QHeaderView::ResizeToContents);
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(StackModel::Function, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(StackModel::Location, QHeaderView::ResizeToContents);
    m_showInternal->setCheckable(true);
    m_showInternal->setChecked(QSettings().value(QStringLiteral("stack/showInternal"), false).toBool());
    m_model->setShowInternal(m_showInternal->isChecked());
    connect(m_showInternal, &QAction::toggled, this, [this](bool on) {
        m_model->setShowInternal(on);
        QSettings().setValue(QStringLiteral("stack/showInternal"), on);
        markSelected();
    });
    m_view->addAction(m_showInternal);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto choose = [this](const QModelIndex& index) {
        m_look->selectFrame(m_model->levelAt(index.row()));
    };
    connect(m_view, &QTreeView::clicked, this, choose);
    connect(m_view, &QTreeView::activated, this, choose);
    connect(look, &Look::stackChanged, this, &StackDock::reload);
    connect(look, &Look::frameChanged, this, &StackDock::markSelected);
    // The note names the state of the rank while there is no stack.
    connect(look->session(), &replay::Session::rankChanged, this, [this](RankId rank) {
        if (rank == m_look->rank() && m_look->frames().isEmpty()) {
            reload();
        }
    });
    for (const auto signal : {&replay::Session::ranksChanged, &replay::Session::verbsChanged}) {
        connect(look->session(), signal, this, [this] {
            if (m_look->frames().isEmpty()) {
                reload();
            }
        });
    }
    reload();
}

void StackDock::reload() {
    const RankId rank = m_look->rank();
    setWindowTitle(m_look->session()->rankCount() > 0 ? tr("Stack — rank %1").arg(rankText(rank))
                                                      : tr("Stack"));
    m_model->setFrames(m_look->frames(), m_look->frame(), m_look->stale());
    const replay::RankView view = m_look->session()->rank(rank);
    if (!m_look->problem().isEmpty()) {
        m_view->setNote(m_look->problem());
    } else if (m_look->session()->rankCount() == 0) {
        m_view->setNote(tr("The stack of the shown rank appears here when it has stopped."));
    } else if (view.phase == replay::RankPhase::Stopped) {
        m_view->setNote(tr("Reading the stack…"));
    } else {
        const bool runs =
            view.phase == replay::RankPhase::Running || view.phase == replay::RankPhase::Holding;
        m_view->setNote(
            tr("Rank %1: %2.").arg(rankText(rank)).arg(fullStateText(view)) +
            (runs ? tr("\nPause%1 shows its stack.").arg(keyNote(QStringLiteral("pause"))) : QString()));
    }
}

void StackDock::markSelected() {
    m_model->setSelected(m_look->frame());
    const int row = m_model->rowOf(m_look->frame());
    if (row >= 0) {
        m_view->setCurrentIndex(m_model->index(row, 0));
    }
}

} // namespace stopline::app
