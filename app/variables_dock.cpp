#include "variables_dock.h"

#include "column_share.h"
#include "look.h"
#include "note_view.h"
#include "variables_model.h"
#include "watch_memory.h"
#include "../replay/words.h"

#include <QAction>
#include <QItemSelectionModel>
#include <QPointer>

namespace stopline::app {

namespace {

/// Sooner, "reading…" would flicker at every step.
constexpr int kPatienceMs = 200;
constexpr auto kEditTriggers = QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                               QAbstractItemView::SelectedClicked;

/// What to say of a failure; nothing where the rank has only gone on meanwhile.
QString failureText(const Error& error) {
    const bool gone = error.code == ErrorCode::Cancelled || error.code == ErrorCode::NotStopped ||
                      error.code == ErrorCode::Unavailable;
    return gone ? QString() : error.text;
}

} // namespace

VariablesDock::VariablesDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Variables"), parent), m_look(look), m_model(new VariablesModel(this)),
      m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("variables"));
    setWidget(m_view);
    m_view->setModel(m_model);
    m_view->setRootIsDecorated(true);
    m_view->setIndentation(m_view->fontMetrics().height());
    m_view->setEditTriggers(kEditTriggers);
    new ColumnShare(m_view);
    // In the empty row whatever is typed begins an expression; elsewhere it looks for a name.
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) {
        m_view->setEditTriggers(m_model->isAdd(now) ? kEditTriggers | QAbstractItemView::AnyKeyPressed : kEditTriggers);
    });

    auto* remove = new QAction(tr("Remove watched expression"), this);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    connect(remove, &QAction::triggered, this, [this] { m_model->removeWatch(m_view->currentIndex()); });
    m_view->addAction(remove);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);

    connect(m_model, &VariablesModel::watchesEdited, this, [this] {
        rememberWatches(m_program, m_model->watches());
        evaluateWatches();
    });
    connect(m_model, &VariablesModel::openWanted, this, &VariablesDock::open);
    connect(m_model, &VariablesModel::partsWanted, this, &VariablesDock::list);
    connect(m_model, &VariablesModel::valueDropped, this,
            [this](const QString& handle) { m_look->session()->closeValue(m_rank, handle); });
    connect(m_model, &VariablesModel::rowsInserted, this, &VariablesDock::reopen);
    connect(m_model, &VariablesModel::openableChanged, m_view, &NoteView::scheduleDelayedItemsLayout);
    connect(m_model, &VariablesModel::dataChanged, this, [this](const QModelIndex& first) {
        if (first.isValid() && !m_view->isExpanded(first)) { // may have got something inside
            reopen(first.parent(), first.row(), first.row());
        }
    });
    connect(m_view, &QTreeView::expanded, this,
            [this](const QModelIndex& index) { m_opened[m_function].insert(m_model->path(index)); });
    connect(m_view, &QTreeView::collapsed, this,
            [this](const QModelIndex& index) { m_opened[m_function].remove(m_model->path(index)); });
    connect(m_view, &QTreeView::clicked, this, [this](const QModelIndex& index) {
        followChoice(index);
        if (m_model->isAdd(index)) {
            m_view->edit(index.siblingAtColumn(VariablesModel::Name));
        }
    });
    connect(m_view, &QTreeView::activated, this, &VariablesDock::followChoice);
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    connect(&m_patience, &QTimer::timeout, this, [this] { m_model->setNote(tr("reading…")); });
    connect(look, &Look::frameChanged, this, &VariablesDock::reload);
    connect(look, &Look::readingStarted, this, &VariablesDock::await);
}

void VariablesDock::setProgram(const QString& path) {
    if (path != m_program) {
        m_program = path;
        m_model->setWatches(watchesOf(path));
        evaluateWatches();
    }
}

QTreeView* VariablesDock::view() const {
    return m_view;
}

void VariablesDock::followChoice(const QModelIndex& index) {
    if (m_model->isMore(index)) {
        m_model->fetchRest(index);
    }
}

/// Opens what was open the last time: as rows come, from the top down.
void VariablesDock::reopen(const QModelIndex& parent, int first, int last) {
    const auto paths = m_opened.constFind(m_function);
    if (paths == m_opened.cend() || paths->isEmpty()) {
        return;
    }
    for (int row = first; row <= last; ++row) {
        const QModelIndex index = m_model->index(row, 0, parent);
        if (m_model->hasChildren(index) && paths->contains(m_model->path(index))) {
            // Not from inside the change of the model that told of the row.
            QMetaObject::invokeMethod(
                m_view,
                [this, kept = QPersistentModelIndex(index)] {
                    if (kept.isValid()) {
                        m_view->expand(kept);
                    }
                },
                Qt::QueuedConnection);
        }
    }
}

void VariablesDock::clearValues() {
    m_model->clearVariables();
    m_model->clearWatchValues();
    m_scope.clear();
}

/// Values have been asked for, or the stack that says which.
void VariablesDock::await() {
    if (!m_patience.isActive()) {
        m_patience.start();
    }
}

/// They are there, or none are awaited any more; `note`: why there are none.
void VariablesDock::answered(const QString& note) {
    m_patience.stop();
    m_model->setNote(note);
}

void VariablesDock::reload() {
    const quint64 request = ++m_request;
    const int level = m_look->frame();
    if (!m_look->reading() && (level < 0 || m_look->stale())) {
        answered();
    }
    if (level < 0) {
        setWindowTitle(tr("Variables"));
        clearValues();
        return;
    }
    if (m_look->stale()) {
        m_model->setStale(true);
        return;
    }
    const mi::Frame& frame = m_look->frames().at(level);
    const RankId rank = m_look->rank();
    setWindowTitle(tr("Variables — rank %1, %2").arg(rankText(rank)).arg(frame.function));
    // The depth tells apart the calls of a function that calls itself.
    const QString function = QStringLiteral("%1 %2").arg(frame.function, frame.fullName);
    const QString scope =
        QStringLiteral("%1 %2 %3").arg(rankText(rank)).arg(m_look->frames().size() - level).arg(function);
    const qint64 process = m_look->session()->rank(rank).gdbPid;
    if (scope != m_scope) {
        clearValues(); // under the new title they would be taken for this frame's
    }
    await();
    m_look->session()->variables(
        rank, frame.level,
        [self = QPointer(this), request, rank, function, scope, process](Result<QVector<mi::Variable>> answer) {
            if (!self || self->m_request != request) {
                return;
            }
            self->m_function = function;
            self->answered(answer ? QString() : failureText(answer.error()));
            if (answer) {
                if (rank != self->m_rank) {
                    self->clearValues(); // closes what the other rank's gdb has kept
                    self->m_rank = rank;
                }
                self->m_scope = scope;
                self->m_model->setVariables(scope, answer.value(), process);
                self->update(rank);
            } else {
                self->clearValues();
            }
            self->evaluateWatches();
        });
}

void VariablesDock::update(RankId rank) {
    m_look->session()->updateValues(
        rank, [self = QPointer(this), request = m_request](Result<QVector<mi::ValueChange>> answer) {
            if (self && self->m_request == request && answer) {
                self->m_model->applyChanges(answer.value());
            }
        });
}

void VariablesDock::open(quint64 row, const QString& expression) {
    const int level = m_look->frame();
    if (level < 0 || m_look->stale()) {
        m_model->partsFailed(row, {});
        return;
    }
    m_look->session()->openValue(m_look->rank(), m_look->frames().at(level).level, expression,
                                 [self = QPointer(this), row](Result<mi::ValueTree> answer) {
                                     if (self && answer) {
                                         self->m_model->valueOpened(row, answer.value());
                                     } else if (self) {
                                         self->m_model->partsFailed(row, failureText(answer.error()));
                                     }
                                 });
}

void VariablesDock::list(quint64 row, const QString& handle, int from, int to) {
    m_look->session()->valueParts(m_rank, handle, from, to,
                                  [self = QPointer(this), row, from](Result<QVector<mi::ValueTree>> answer) {
                                      if (self && answer) {
                                          self->m_model->partsListed(row, from, answer.value());
                                      } else if (self) {
                                          self->m_model->partsFailed(row, failureText(answer.error()));
                                      }
                                  });
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
