#include "diagram_pane.h"

#include "../viewer/diagram_widget.h"
#include "actions.h"
#include "look.h"
#include "text.h"

#include <QEvent>
#include <QLabel>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace stopline::app {

using namespace replay;

namespace {

viewer::StopMark markOf(StopWhy why) {
    switch (why) {
    case StopWhy::None:
        return viewer::StopMark::None;
    case StopWhy::Paused:
    case StopWhy::Start:
        return viewer::StopMark::Pause;
    case StopWhy::Breakpoint:
    case StopWhy::Watchpoint:
        return viewer::StopMark::Breakpoint;
    case StopWhy::Step:
        return viewer::StopMark::Step;
    case StopWhy::Signal:
        return viewer::StopMark::Signal;
    case StopWhy::Stopline:
    case StopWhy::RolledBack:
    case StopWhy::Forwarded:
        return viewer::StopMark::Stopline;
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
    case StopWhy::Departure:
        return viewer::StopMark::Error;
    }
    return viewer::StopMark::None;
}

} // namespace

DiagramPane::DiagramPane(Look* look, Actions* actions, QWidget* parent)
    : QWidget(parent), m_look(look), m_session(look->session()), m_actions(actions),
      m_diagram(new viewer::DiagramWidget(this)), m_bar(new QToolBar(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_diagram, 1);
    buildToolBar();

    connect(m_diagram, &viewer::DiagramWidget::selectionChanged, this,
            [this](const std::optional<CallRef>& call) { m_look->selectCall(call, call.has_value()); });
    connect(m_diagram, &viewer::DiagramWidget::pointPicked, this,
            [this](const Point& point) { m_session->setPoint(point); });
    connect(m_diagram, &viewer::DiagramWidget::frontierRequested, this, [this](bool future) {
        // The key shows a frontier and chooses it for the stopline; only the button hides it again.
        if (!m_session->point()) {
            setPoint(false);
        }
        (future ? m_actions->futureFrontier : m_actions->pastFrontier)->setChecked(true);
        chooseFrontier(future ? Frontier::Future : Frontier::Past, true);
        emit hovered(future ? tr("The future frontier is chosen: L makes it the stopline.")
                            : tr("The past frontier is chosen: L makes it the stopline."));
    });
    connect(m_diagram, &viewer::DiagramWidget::stoplineRequested, this, [this] {
        // There the point is meant, which its menu has just set; F4 means the selected call.
        if (m_session->point()) {
            m_session->setStopline(m_chosen);
        } else {
            setStopline();
        }
    });
    m_diagram->setSiteText([this](const CallRef& call) { return locationText(m_session->sourceOf(call)); });
    connect(m_diagram, &viewer::DiagramWidget::goRequested, this,
            [this] { perform(Verb::Go, &Session::go); });
    connect(m_diagram, &viewer::DiagramWidget::undoRequested, this,
            [this] { perform(Verb::Undo, &Session::undo); });
    connect(m_diagram, &viewer::DiagramWidget::rollbackRequested, this,
            [this] { perform(Verb::Rollback, &Session::rollback); });
    connect(m_diagram, &viewer::DiagramWidget::sourceRequested, this,
            [this](const CallRef& call) { m_look->selectCall(call, true); });
    connect(m_diagram, &viewer::DiagramWidget::focusRequested, this,
            [this](RankId rank) { m_look->showRank(rank); });
    connect(m_diagram, &viewer::DiagramWidget::hovered, this, &DiagramPane::hovered);

    connect(look, &Look::callChanged, this, [this] {
        if (m_diagram->selection() != m_look->call()) {
            m_diagram->select(m_look->call());
            if (m_look->call()) {
                m_diagram->reveal(*m_look->call());
            }
        }
        m_actions->setSelectionAvailable(m_look->call().has_value());
    });
    connect(m_session, &Session::timelineReplaced, this,
            [this] { m_diagram->setTimeline(&m_session->timeline()); });
    // Another execution: places on the axis of the one before mean nothing.
    connect(m_session, &Session::executionsChanged, m_diagram, &viewer::DiagramWidget::fitWork);
    connect(m_session, &Session::racesChanged, this, &DiagramPane::updateRaces);
    m_diagram->setAlternatives([this](const CallRef& call) {
        std::vector<CallRef> sends;
        for (const Race& race : m_session->races().racesOf(call)) {
            for (const Alternative& one : m_session->races().alternatives(race)) {
                sends.push_back(one.send);
            }
        }
        return sends;
    });
    connect(m_diagram, &viewer::DiagramWidget::otherMessageRequested, this, [this](const CallRef& call, const CallRef& send) {
        emit m_actions->commandGiven(Verb::Replay);
        m_session->takeInstead(call, send);
    });
    connect(m_session, &Session::timelineChanged, m_diagram, &viewer::DiagramWidget::timelineChanged);
    connect(m_session, &Session::stoplineChanged, this, &DiagramPane::updateLines);
    connect(m_session, &Session::ranksChanged, this, &DiagramPane::scheduleRows);
    connect(m_session, &Session::rankChanged, this, &DiagramPane::scheduleRows);
    connect(m_session, &Session::stopped, this, &DiagramPane::updateStops);
    connect(m_session, &Session::historyChanged, this, &DiagramPane::updateStops);
    connect(m_session, &Session::operationFinished, this, &DiagramPane::updateStops);
    connect(m_session, &Session::focusChanged, this,
            [this] { m_diagram->setFocusRank(m_session->shownRank()); });
    m_diagram->setTimeline(&m_session->timeline());
    updateRows();
    updateLines();
}

void DiagramPane::buildToolBar() {
    m_bar->setIconSize(QSize(18, 18));
    m_bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    const auto add = [this](QAction* action, const QString& shortText) {
        m_bar->addAction(action);
        auto* button = qobject_cast<QToolButton*>(m_bar->widgetForAction(action));
        if (button == nullptr) {
            return;
        }
        if (shortText.isEmpty()) {
            button->setToolButtonStyle(Qt::ToolButtonIconOnly);
        } else {
            action->setIconText(shortText);
        }
        button->installEventFilter(this);
    };
    add(m_actions->pointBefore, {});
    add(m_actions->pointAfter, {});
    add(m_actions->pastFrontier, tr("Past"));
    add(m_actions->futureFrontier, tr("Future"));
    m_bar->addSeparator();
    add(m_actions->stoplineHere, tr("Stopline"));
    add(m_actions->go, tr("Go"));
    m_bar->addSeparator();
    add(m_actions->undo, {});
    add(m_actions->redo, {});
    add(m_actions->rollback, {});
    add(m_actions->forward, {});
    m_bar->addSeparator();
    add(m_actions->axisTime, tr("Time"));
    add(m_actions->axisEvents, tr("Events"));
    m_bar->addSeparator();
    add(m_actions->zoomOut, {});
    add(m_actions->zoomIn, {});
    add(m_actions->fitAll, {});
    add(m_actions->lastStop, {});
    m_bar->addSeparator();
    add(m_actions->refresh, {});
    add(m_actions->follow, {});

    connect(m_actions->pointBefore, &QAction::triggered, this, [this] { setPoint(false); });
    connect(m_actions->pointAfter, &QAction::triggered, this, [this] { setPoint(true); });
    connect(m_actions->pastFrontier, &QAction::triggered, this,
            [this](bool on) { chooseFrontier(Frontier::Past, on); });
    connect(m_actions->futureFrontier, &QAction::triggered, this,
            [this](bool on) { chooseFrontier(Frontier::Future, on); });
    connect(m_actions->stoplineHere, &QAction::triggered, this, &DiagramPane::setStopline);
    connect(m_actions->axisTime, &QAction::triggered, this,
            [this] { m_diagram->setAxis(viewer::Axis::Time); });
    connect(m_actions->axisEvents, &QAction::triggered, this,
            [this] { m_diagram->setAxis(viewer::Axis::Events); });
    // The diagram's own key changes the axis as well; buttons and menu follow.
    if (auto* key = m_diagram->findChild<QAction*>(QStringLiteral("diagram.axis"))) {
        connect(key, &QAction::triggered, this, [this] {
            const bool time = m_diagram->axis() == viewer::Axis::Time;
            (time ? m_actions->axisTime : m_actions->axisEvents)->setChecked(true);
        });
    }
    connect(m_actions->fitAll, &QAction::triggered, m_diagram, &viewer::DiagramWidget::fitAll);
    connect(m_actions->lastStop, &QAction::triggered, m_diagram, &viewer::DiagramWidget::fitLastStop);
    connect(m_actions->zoomIn, &QAction::triggered, this, [this] { m_diagram->zoomBy(1.25); });
    connect(m_actions->zoomOut, &QAction::triggered, this, [this] { m_diagram->zoomBy(0.8); });
    m_actions->pastFrontier->setChecked(true);
    m_actions->futureFrontier->setChecked(true);
}

void DiagramPane::perform(Verb verb, void (Session::*method)()) {
    const QString why = m_session->whyNot(verb);
    if (why.isEmpty()) {
        emit m_actions->commandGiven(verb);
        (m_session->*method)();
    } else {
        emit hovered(tr("%1: not now. %2").arg(verbName(verb), why));
    }
}

void DiagramPane::setPoint(bool after) {
    const auto call = m_look->call();
    if (!call || !hasCall(m_session->timeline(), *call)) {
        emit hovered(tr("Select a call first."));
        return;
    }
    if (after && m_session->timeline().call(*call).end.value() == 0) {
        emit hovered(tr("The call has not ended: there is no place after it yet."));
        return;
    }
    m_session->setPoint(Point{*call, after});
}

void DiagramPane::chooseFrontier(Frontier which, bool shown) {
    if (!m_session->point() && m_look->call()) {
        setPoint(false);
    }
    const bool otherShown = which == Frontier::Past ? m_actions->futureFrontier->isChecked()
                                                    : m_actions->pastFrontier->isChecked();
    if (shown || otherShown) {
        m_chosen = shown ? which : (which == Frontier::Past ? Frontier::Future : Frontier::Past);
    }
    updateLines();
}

/// The selected call wins over a point set earlier: that is what the user looks at.
void DiagramPane::setStopline() {
    const auto call = m_look->call();
    const auto point = m_session->point();
    if (call && (!point || point->call != *call)) {
        setPoint(false);
    }
    if (!m_session->point()) {
        emit hovered(tr("Select a call first: the stopline goes through it."));
        return;
    }
    m_session->setStopline(m_chosen);
}

void DiagramPane::preview(const std::optional<Cut>& places) {
    m_diagram->setGhost(places);
}

bool DiagramPane::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Enter || event->type() == QEvent::Leave) {
        const auto* button = qobject_cast<QToolButton*>(watched);
        const QAction* action = button != nullptr ? button->defaultAction() : nullptr;
        const bool enter = event->type() == QEvent::Enter;
        if (action == m_actions->undo) {
            preview(enter ? m_session->undoTarget() : std::nullopt);
        } else if (action == m_actions->rollback) {
            preview(enter ? m_session->rollbackTarget() : std::nullopt);
        }
    }
    return QWidget::eventFilter(watched, event);
}

void DiagramPane::updateLines() {
    m_diagram->setPoint(m_session->point());
    const auto shown = [this](QAction* action, Frontier which) {
        return action->isChecked() ? m_session->frontier(which) : std::nullopt;
    };
    m_diagram->setPastFrontier(shown(m_actions->pastFrontier, Frontier::Past));
    m_diagram->setFutureFrontier(shown(m_actions->futureFrontier, Frontier::Future));
    m_diagram->setChosenFrontier(m_chosen == Frontier::Future);
    m_diagram->setStopline(m_session->stopline());
    m_actions->stoplineHere->setText(m_chosen == Frontier::Past ? tr("&Set stopline (past frontier)")
                                                                : tr("&Set stopline (future frontier)"));
    m_actions->stoplineHere->setIconText(tr("Stopline"));
}

void DiagramPane::updateRaces() {
    std::vector<viewer::RaceMark> marks;
    for (const Race& race : m_session->foundRaces()) {
        marks.push_back({race.call, race.done, race.alternatives});
    }
    m_diagram->setRaces(std::move(marks));
}

/// Many ranks change at once; one repaint serves them all.
void DiagramPane::scheduleRows() {
    if (!m_rowsDue) {
        m_rowsDue = true;
        QTimer::singleShot(0, this, &DiagramPane::updateRows);
    }
}

void DiagramPane::updateRows() {
    m_rowsDue = false;
    const auto& stops = m_session->stops();
    std::vector<viewer::RowState> rows;
    for (int i = 0; i < m_session->rankCount(); ++i) {
        const RankView view = m_session->rank(RankId{i});
        viewer::RowState row;
        row.place = view.place;
        row.mark = view.phase == RankPhase::Stopped ? markOf(view.why) : viewer::StopMark::None;
        row.running = view.phase == RankPhase::Running || view.phase == RankPhase::Holding ||
                      view.phase == RankPhase::Starting;
        row.ended = view.phase == RankPhase::Exited || view.phase == RankPhase::Failed ||
                    view.phase == RankPhase::Lost;
        row.stateLetter = QString(stateLetter(view));
        row.label = view.location.function.isEmpty() ? view.callName : shortFunction(view.location.function);
        if (stops.size() >= 2) {
            const Cut& before = stops.at(stops.size() - 2).places;
            if (static_cast<std::size_t>(i) < before.size()) {
                row.freshFrom = before[static_cast<std::size_t>(i)].event;
            }
        }
        rows.push_back(std::move(row));
    }
    m_diagram->setRowStates(rows);
    m_diagram->setFocusRank(m_session->shownRank());
}

void DiagramPane::updateStops() {
    std::vector<viewer::StopPost> posts;
    for (const Session::StopSummary& stop : m_session->stops()) {
        viewer::StopPost post;
        post.number = stop.number;
        post.places = stop.places;
        for (const StopWhy why : stop.why) {
            post.marks.push_back(markOf(why));
        }
        posts.push_back(std::move(post));
    }
    m_diagram->setStops(posts);
    updateRows();
}

} // namespace stopline::app
