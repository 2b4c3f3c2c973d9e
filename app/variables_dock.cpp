#include "variables_dock.h"

#include "look.h"
#include "note_view.h"
#include "variables_model.h"

#include <QAction>
#include <QHeaderView>
#include <QPointer>
#include <QSettings>

namespace stopline::app {

namespace {
const QString kWatchesKey = QStringLiteral("variables/watches");
}

VariablesDock::VariablesDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Variables"), parent), m_look(look), m_model(new VariablesModel(this)),
      m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("variables"));
    setWidget(m_view);
    m_view->setModel(m_model);
    m_view->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                            QAbstractItemView::SelectedClicked);
    m_view->header()->resizeSection(VariablesModel::Name, 110);
    m_view->header()->resizeSection(VariablesModel::Value, 140);
    m_model->setWatches(QSettings().value(kWatchesKey).toStringList());

    auto* remove = new QAction(tr("Remove watched expression"), this);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    connect(remove, &QAction::triggered, this,
            [this] { m_model->removeWatch(m_view->currentIndex().row()); });
    m_view->addAction(remove);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);

    connect(m_model, &VariablesModel::watchesEdited, this, [this] {
        QSettings().setValue(kWatchesKey, m_model->watches());
        evaluateWatches();
    });
    connect(look, &Look::frameChanged, this, &VariablesDock::reload);
}

void VariablesDock::reload() {
    const quint64 request = ++m_request;
    const int level = m_look->frame();
    if (level < 0) {
        setWindowTitle(tr("Variables"));
        m_model->clearVariables();
        m_model->clearWatchValues();
        return;
    }
    if (m_look->stale()) {
        m_model->setStale(true);
        return;
    }
    const mi::Frame& frame = m_look->frames().at(level);
    const RankId rank = m_look->rank();
    setWindowTitle(tr("Variables — rank %1, %2").arg(rank.value()).arg(frame.function));
    const QString scope = QStringLiteral("%1 %2 %3").arg(rank.value()).arg(frame.function, frame.fullName);
    m_look->session()->variables(
        rank, frame.level, [self = QPointer(this), request, scope](Result<QVector<mi::Variable>> answer) {
            if (!self || self->m_request != request) {
                return;
            }
            if (answer) {
                self->m_model->setVariables(scope, answer.value());
            } else {
                self->m_model->clearVariables();
            }
        });
    evaluateWatches();
}

void VariablesDock::evaluateWatches() {
    const int level = m_look->frame();
    if (level < 0 || m_look->stale()) {
        return;
    }
    const int frame = m_look->frames().at(level).level;
    const quint64 request = m_request;
    for (const QString& expression : m_model->watches()) {
        m_look->session()->evaluate(m_look->rank(), frame, expression,
                                    [self = QPointer(this), request, expression](Result<QString> answer) {
                                        if (!self || self->m_request != request) {
                                            return;
                                        }
                                        self->m_model->setWatchValue(
                                            expression, answer ? answer.value() : answer.error().text,
                                            !answer);
                                    });
    }
}

} // namespace stopline::app
