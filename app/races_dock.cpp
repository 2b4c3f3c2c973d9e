#include "races_dock.h"

#include "actions.h"
#include "key_bindings.h"
#include "look.h"
#include "note_view.h"
#include "races_model.h"
#include "../replay/chance_words.h"

#include <QHeaderView>
#include <QToolBar>
#include <QVBoxLayout>

namespace stopline::app {

using namespace replay;

RacesDock::RacesDock(Look* look, Actions* actions, QWidget* parent)
    : QDockWidget(tr("Races"), parent), m_look(look), m_actions(actions), m_model(new RacesModel(look->session(), this)),
      m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("races"));
    m_view->setModel(m_model);
    m_view->setRootIsDecorated(true);
    m_view->header()->setStretchLastSection(true);
    m_view->header()->resizeSection(RacesModel::Where, 330);
    m_view->header()->resizeSection(RacesModel::Got, 300);
    auto* bar = new QToolBar(this);
    bar->setIconSize(QSize(18, 18));
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->addAction(actions->nextRace);
    bar->addAction(actions->takeInstead);
    auto* body = new QWidget(this);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(bar);
    layout->addWidget(m_view, 1);
    setWidget(body);
    m_view->addAction(actions->takeInstead);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);

    const auto chosen = [this] {
        show();
        emit callShown();
    };
    connect(m_view, &QTreeView::clicked, this, chosen);
    connect(m_view, &QTreeView::activated, this, chosen);
    // The arrow keys walk through the list, and the diagram follows.
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        if (m_view->hasFocus()) {
            show();
        }
        updateTake();
    });
    connect(m_view, &QTreeView::expanded, this, [this](const QModelIndex& index) { m_open.insert(m_model->keyOf(index)); });
    connect(m_view, &QTreeView::collapsed, this, [this](const QModelIndex& index) { m_open.remove(m_model->keyOf(index)); });
    connect(m_model, &RacesModel::modelAboutToBeReset, this, [this] {
        if (const QString key = m_model->keyOf(m_view->currentIndex()); !key.isEmpty()) {
            m_current = key;
        }
    });
    connect(m_model, &RacesModel::modelReset, this, &RacesDock::restore);
    connect(look->session(), &Session::racesChanged, this, &RacesDock::updateNote);
    connect(look->session(), &Session::timelineReplaced, this, &RacesDock::updateNote);
    connect(look->session(), &Session::raceReached, this, [this](const CallRef& call) {
        m_look->selectCall(call, true);
        if (const QModelIndex index = m_model->find(call); index.isValid()) {
            m_view->setCurrentIndex(index);
            m_view->expand(index);
            m_view->scrollTo(index);
        }
    });
    connect(actions->takeInstead, &QAction::triggered, this, [this] {
        if (const auto it = m_model->chosenAt(m_view->currentIndex())) {
            emit m_actions->commandGiven(Verb::Replay);
            m_look->session()->takeInstead(it->race, it->send, it->insteadOf);
        }
    });
    restore();
    updateNote();
}

void RacesDock::show() {
    if (const auto call = m_model->callAt(m_view->currentIndex())) {
        m_look->selectCall(call, true);
    }
}

/// What was open and current before the list was made anew is so again.
void RacesDock::restore() {
    const bool only = m_model->rowCount() == 1; // one line: its races are what there is to see
    for (int line = 0; line < m_model->rowCount(); ++line) {
        const QModelIndex lineIndex = m_model->index(line, 0);
        if (only || m_open.contains(m_model->keyOf(lineIndex))) {
            m_view->expand(lineIndex);
            for (int row = 0; row < m_model->rowCount(lineIndex); ++row) {
                const QModelIndex race = m_model->index(row, 0, lineIndex);
                const QString key = m_model->keyOf(race);
                if (m_open.contains(key)) {
                    m_view->expand(race);
                }
                if (key == m_current) {
                    m_view->setCurrentIndex(race);
                }
            }
        }
        if (m_model->keyOf(lineIndex) == m_current) {
            m_view->setCurrentIndex(lineIndex);
        }
    }
    const std::size_t count = m_model->count();
    setWindowTitle(count > 0 ? tr("Races (%1)").arg(count) : tr("Races"));
    updateTake();
}

void RacesDock::updateNote() {
    const Session& session = *m_look->session();
    bool recorded = false;
    for (int i = 0; i < session.timeline().rankCount() && !recorded; ++i) {
        recorded = session.timeline().lastEvent(RankId(i)).value() > 0;
    }
    QString note = tr("Receives and probes of any source that could have got another message than they did are listed here.");
    if (recorded) {
        note = session.noRacesText();
        note[0] = note[0].toUpper();
        note += u'.';
        if (QString chance = chanceText(session.timeline()); !chance.isEmpty()) {
            chance[0] = chance[0].toUpper();
            note += QStringLiteral("\n\n%1.").arg(chance);
        }
    }
    m_view->setNote(note);
    updateTake();
}

void RacesDock::updateTake() {
    const auto it = m_model->chosenAt(m_view->currentIndex());
    m_actions->setAlternativeAvailable(it.has_value());
}

} // namespace stopline::app
