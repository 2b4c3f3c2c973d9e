#include "actions.h"

#include "icons.h"
#include "key_bindings.h"
#include "text.h"
#include "../replay/words.h"

#include <QActionGroup>
#include <QWidget>

namespace stopline::app {

using namespace replay;

namespace {

constexpr const char* kHelp = "stoplineHelp"; ///< property: what the action does, without key and reason
constexpr const char* kWhyNot = "stoplineWhyNot";

} // namespace

Actions::Actions(Session* session, QWidget* window) : QObject(window), m_session(session), m_window(window) {
    const auto key = [](const char* text) { return QKeySequence(QString::fromLatin1(text)); };
    launch = add(tr("&New launch…"), QStringLiteral("launch"), key("Ctrl+N"),
                 tr("Choose the program, the number of ranks and how they are started"));
    openRecording = add(tr("Open &recording…"), {}, key("Ctrl+Shift+O"),
                        tr("Show what `stopline record` has written, without a job"));
    openSource = add(tr("&Open source file…"), QStringLiteral("open-source"), key("Ctrl+O"),
                     tr("Show a source file, for example to set breakpoints before the first run"));
    quit = add(tr("&Quit"), {}, key("Ctrl+Q"), tr("End the job and close the window"));

    runOrContinue =
        add(tr("&Run"), QStringLiteral("run"), key("F5"), tr("Start the job, or let the focus run on"));
    pause = add(tr("&Pause"), QStringLiteral("pause"), key("F6"),
                tr("Stop the focus where it is, also inside MPI"));
    stepOver = add(tr("Step &over"), QStringLiteral("step-over"), key("F10"),
                   tr("Run to the next line of this function"));
    stepInto = add(tr("Step &into"), QStringLiteral("step-into"), key("F11"),
                   tr("Run to the next line, also into a function that is called (never into MPI)"));
    stepOut = add(tr("Step o&ut"), QStringLiteral("step-out"), key("Shift+F11"),
                  tr("Run until this function has returned"));
    runToCursor = add(tr("Run to &cursor"), QStringLiteral("run-to"), key("Ctrl+F10"),
                      tr("Run until the line of the cursor in the source view is reached"));
    toggleBreakpoint = add(tr("Toggle &breakpoint"), QStringLiteral("breakpoint"), key("F9"),
                           tr("Set or remove a breakpoint on all ranks at the line of the cursor"));
    kill = add(tr("&Kill"), QStringLiteral("kill"), key("Shift+F5"), tr("End all ranks of the job"));
    restart = add(tr("R&estart"), QStringLiteral("restart"), key("Ctrl+Shift+F5"),
                  tr("Kill the job and run it again; breakpoints stay"));
    replay = add(tr("Replay ru&n"), QStringLiteral("replay"), key("Ctrl+R"),
                 tr("Kill the job and run it again exactly as recorded: every receive, probe and test gets what it got; "
                    "breakpoints as they are now"));
    stopAtStart = add(tr("Stop before &main"), {}, {}, tr("The next Run stops every rank before main"));
    stopAtStart->setCheckable(true);
    connect(stopAtStart, &QAction::toggled, session, &Session::setStopAtStart);

    undo = add(tr("&Undo"), QStringLiteral("undo"), key("Ctrl+Z"),
               tr("Take all ranks back to where they stood before the last command"));
    redo = add(tr("Re&do"), QStringLiteral("redo"), key("Ctrl+Shift+Z"), tr("Do again what was undone"));
    rollback = add(tr("Roll &back one call"), QStringLiteral("rollback"), key("Alt+Left"),
                   tr("Take the shown rank one MPI call back, the others only as far as they must"));
    forward = add(tr("&Forward one call"), QStringLiteral("forward"), key("Alt+Right"),
                  tr("Take the shown rank one recorded MPI call on"));
    pointBefore =
        add(tr("Point &before selected call"), QStringLiteral("point-before"), {},
            tr("Pick the place before the selected call (B in the diagram); shows what had to happen "
               "before it and what depends on it"));
    pointAfter = add(tr("Point &after selected call"), QStringLiteral("point-after"), {},
                     tr("Pick the place after the selected call (Shift+B in the diagram)"));
    pastFrontier =
        add(tr("&Past frontier"), QStringLiteral("past"), {},
            tr("Where the ranks were when all that the point needs had just happened (P in the diagram)"));
    futureFrontier = add(tr("F&uture frontier"), QStringLiteral("future"), {},
                         tr("The last places that do not depend on the point (N in the diagram)"));
    pastFrontier->setCheckable(true);
    futureFrontier->setCheckable(true);
    stoplineHere =
        add(tr("&Set stopline"), QStringLiteral("set-stopline"), key("F4"),
            tr("Make the shown frontier of the point, or of the selected call, the stopline: one place for "
               "every rank to be taken to"));
    go = add(tr("&Go to stopline"), QStringLiteral("go"), key("Ctrl+F5"),
             tr("Run the job again and stop every rank at its place on the stopline"));
    cancel = add(tr("&Cancel"), QStringLiteral("cancel"), key("Shift+Esc"),
                 tr("End the operation; the ranks stay where they are"));
    connect(cancel, &QAction::triggered, session, &Session::cancel);

    nextRace = add(tr("Next ra&ce"), QStringLiteral("next-race"), key("Ctrl+E"),
                   tr("Stop before the next receive or probe that could have got another message: of those recorded, or, where "
                      "there is none, run until one is found"));
    takeInstead = add(tr("&Take this message first"), QStringLiteral("take-instead"), {},
                      tr("Run again with the message that is chosen in the list of races in place of the one that came: what does "
                         "not depend on it is as recorded, the rest runs live. This execution is kept"));
    connect(nextRace, &QAction::triggered, this, [this] {
        emit commandGiven(Verb::Go);
        m_session->stopAtNextRace();
    });

    nextRank = add(tr("&Next rank"), {}, key("Ctrl+PgDown"), tr("Show the next rank"));
    previousRank = add(tr("&Previous rank"), {}, key("Ctrl+PgUp"), tr("Show the previous rank"));
    connect(nextRank, &QAction::triggered, this, [this] { emit rankStepRequested(1); });
    connect(previousRank, &QAction::triggered, this, [this] { emit rankStepRequested(-1); });
    chooseRank = add(tr("&Go to rank…"), {}, key("Ctrl+G"), tr("Show a rank by its number"));
    scopeAll =
        add(tr("Focus: &all ranks"), {}, key("Ctrl+1"), tr("Continue, Pause and Step act on all ranks"));
    scopeRank = add(tr("Focus: &one rank"), {}, key("Ctrl+3"),
                    tr("Continue, Pause and Step act on the shown rank only"));
    scopeGroup = add(tr("Focus: c&hosen ranks"), {}, key("Ctrl+2"),
                     tr("Continue, Pause and Step act on the ranks chosen with Ctrl or Shift and a click in "
                        "the strip of ranks"));
    auto* scope = new QActionGroup(this);
    for (QAction* action : {scopeAll, scopeGroup, scopeRank}) {
        action->setCheckable(true);
        scope->addAction(action);
    }
    connect(scopeAll, &QAction::triggered, session, [session] { session->setFocus({}); });
    connect(scopeGroup, &QAction::triggered, this, [this] { m_session->setFocus(m_group); });
    connect(scopeRank, &QAction::triggered, session,
            [session] { session->setFocus({session->shownRank()}); });

    find = add(tr("Fin&d in source…"), {}, key("Ctrl+F"),
               tr("Search the source file on show; in the diagram: its calls"));
    findNext = add(tr("Find ne&xt"), {}, key("F3"), tr("The next place in the source with what was searched for"));
    findPrevious = add(tr("Find pre&vious"), {}, key("Shift+F3"),
                       tr("The place before with what was searched for"));
    cycleSplitter = add(tr("&Source and diagram sizes"), {}, key("F8"),
                        tr("More diagram, more source, source alone, diagram alone"));
    axisTime = add(tr("&Time axis"), QStringLiteral("axis-time"), {},
                   tr("Draw the diagram over time (approximate)"));
    axisEvents =
        add(tr("&Event axis"), QStringLiteral("axis-events"), {}, tr("Draw the diagram over event numbers"));
    auto* axis = new QActionGroup(this);
    for (QAction* action : {axisTime, axisEvents}) {
        action->setCheckable(true);
        axis->addAction(action);
    }
    axisTime->setChecked(true);
    fitAll = add(tr("&Whole run"), QStringLiteral("fit"), {},
                 tr("Fit the whole run into the diagram (Home there)"));
    lastStop =
        add(tr("&Last stop"), QStringLiteral("last-stop"), {}, tr("Show the end of the run (End there)"));
    zoomIn = add(tr("Zoom &in"), QStringLiteral("zoom-in"), {}, tr("Zoom the diagram in (Ctrl+wheel, W)"));
    zoomOut =
        add(tr("Zoom o&ut"), QStringLiteral("zoom-out"), {}, tr("Zoom the diagram out (Ctrl+wheel, S)"));

    refresh = add(tr("Re&fresh"), QStringLiteral("refresh"), key("Ctrl+Shift+R"),
                  tr("Bring the diagram up to date with ranks that run, without stopping them"));
    follow = add(tr("Follo&w"), QStringLiteral("follow"), {},
                 tr("Keep the diagram up to date while ranks run, twice a second, without stopping them"));
    follow->setCheckable(true);
    connect(refresh, &QAction::triggered, session, [session] { session->refreshTimeline(); });
    connect(follow, &QAction::toggled, session, &Session::setFollowing);

    setCommandName(runOrContinue, tr("Run, Continue"));
    setCommandName(scopeRank, tr("Focus: shown rank only"));
    nameAll();
    m_keys = new KeyBindings(m_all, this);
    connect(m_keys, &KeyBindings::keysChanged, this, [this] {
        for (QAction* action : std::as_const(m_all)) {
            setWhyNot(action, action->property(kWhyNot).toString());
        }
    });
    connect(runOrContinue, &QAction::triggered, this, [this] {
        emit commandGiven(m_session->jobExists() ? Verb::Continue : Verb::Run);
        m_session->jobExists() ? m_session->continueRun() : m_session->run();
    });
    bind(pause, Verb::Pause, &Session::pause);
    bind(stepOver, Verb::StepOver, &Session::stepOver);
    bind(stepInto, Verb::StepInto, &Session::stepInto);
    bind(stepOut, Verb::StepOut, &Session::stepOut);
    bind(kill, Verb::Kill, &Session::kill);
    bind(restart, Verb::Restart, &Session::restart);
    bind(replay, Verb::Replay, &Session::replay);
    bind(undo, Verb::Undo, &Session::undo);
    bind(redo, Verb::Redo, &Session::redo);
    bind(rollback, Verb::Rollback, &Session::rollback);
    bind(forward, Verb::Forward, &Session::forward);
    bind(go, Verb::Go, &Session::go);

    for (const auto signal :
         {&Session::racesChanged, &Session::verbsChanged, &Session::focusChanged, &Session::historyChanged, &Session::ranksChanged,
          &Session::stoplineChanged, &Session::operationChanged}) {
        connect(session, signal, this, &Actions::update);
    }
    update();
}

QAction* Actions::add(const QString& text, const QString& iconName, const QKeySequence& key,
                      const QString& help) {
    auto* action = new QAction(text, m_window);
    if (!iconName.isEmpty()) {
        action->setIcon(icon(iconName));
    }
    action->setShortcut(key);
    action->setProperty(kHelp, help);
    setCommandName(action, QString(text).remove(u'&').remove(u'…'));
    m_window->addAction(action);
    m_all << action;
    setWhyNot(action, {});
    return action;
}

/// By these names the settings know them.
void Actions::nameAll() {
    const std::initializer_list<std::pair<QAction*, const char*>> names{
        {launch, "launch"},
        {openRecording, "openRecording"},
        {openSource, "openSource"},
        {quit, "quit"},
        {runOrContinue, "runOrContinue"},
        {pause, "pause"},
        {stepOver, "stepOver"},
        {stepInto, "stepInto"},
        {stepOut, "stepOut"},
        {runToCursor, "runToCursor"},
        {toggleBreakpoint, "toggleBreakpoint"},
        {kill, "kill"},
        {restart, "restart"},
        {replay, "replay"},
        {stopAtStart, "stopAtStart"},
        {undo, "undo"},
        {redo, "redo"},
        {rollback, "rollback"},
        {forward, "forward"},
        {pointBefore, "pointBefore"},
        {pointAfter, "pointAfter"},
        {pastFrontier, "pastFrontier"},
        {futureFrontier, "futureFrontier"},
        {stoplineHere, "stoplineHere"},
        {go, "go"},
        {cancel, "cancel"},
        {nextRace, "nextRace"},
        {takeInstead, "takeInstead"},
        {nextRank, "nextRank"},
        {previousRank, "previousRank"},
        {chooseRank, "chooseRank"},
        {scopeAll, "scopeAll"},
        {scopeGroup, "scopeGroup"},
        {scopeRank, "scopeRank"},
        {find, "find"},
        {findNext, "findNext"},
        {findPrevious, "findPrevious"},
        {cycleSplitter, "cycleSplitter"},
        {axisTime, "axisTime"},
        {axisEvents, "axisEvents"},
        {fitAll, "fitAll"},
        {lastStop, "lastStop"},
        {zoomIn, "zoomIn"},
        {zoomOut, "zoomOut"},
        {refresh, "refresh"},
        {follow, "follow"}};
    for (const auto& [action, name] : names) {
        action->setObjectName(QString::fromLatin1(name));
    }
}

void Actions::bind(QAction* action, Verb verb, void (Session::*method)()) {
    connect(action, &QAction::triggered, this, [this, verb, method] {
        emit commandGiven(verb);
        (m_session->*method)();
    });
    m_verbs.append({action, verb});
}

void Actions::setWhyNot(QAction* action, const QString& why) {
    QString tip = action->text();
    tip.remove(u'&');
    if (!action->shortcut().isEmpty()) {
        tip += QStringLiteral(" (%1)").arg(action->shortcut().toString(QKeySequence::NativeText));
    }
    tip = QStringLiteral("<p><b>%1</b></p><p>%2</p>")
              .arg(tip.toHtmlEscaped(), action->property(kHelp).toString().toHtmlEscaped());
    if (!why.isEmpty()) {
        tip += QStringLiteral("<p><i>%1 %2</i></p>").arg(tr("Not now:"), why.toHtmlEscaped());
    }
    action->setToolTip(tip);
    action->setStatusTip(why.isEmpty() ? action->property(kHelp).toString() : tr("Not now: %1").arg(why));
    action->setProperty(kWhyNot, why);
    action->setEnabled(why.isEmpty());
}

void Actions::updateVerb(QAction* action, Verb verb, const QString& text) {
    action->setText(text);
    setWhyNot(action, m_session->whyNot(verb));
}

void Actions::setSelectionAvailable(bool callSelected) {
    m_callSelected = callSelected;
    update();
}

void Actions::setAlternativeAvailable(bool chosen) {
    m_alternativeChosen = chosen;
    update();
}

void Actions::update() {
    const Focus focus = m_session->focus();
    const QString who = focusText(focus);
    const bool job = m_session->jobExists();
    runOrContinue->setIcon(icon(job ? QStringLiteral("continue") : QStringLiteral("run")));
    updateVerb(runOrContinue, job ? Verb::Continue : Verb::Run,
               job ? tr("&Continue %1").arg(who) : tr("&Run"));
    for (const auto& [action, verb] : m_verbs) {
        QString text = action->text();
        switch (verb) {
        case Verb::Pause:
            text = tr("&Pause %1").arg(who);
            break;
        case Verb::StepOver:
            text = tr("Step &over, %1").arg(who);
            break;
        case Verb::StepInto:
            text = tr("Step &into, %1").arg(who);
            break;
        case Verb::StepOut:
            text = tr("Step o&ut, %1").arg(who);
            break;
        case Verb::Undo: {
            const auto entry = m_session->nextUndo();
            text = entry ? tr("&Undo %1").arg(verbName(entry->verb)) : tr("&Undo");
            break;
        }
        case Verb::Redo: {
            const auto entry = m_session->nextRedo();
            text = entry ? tr("Re&do %1").arg(verbName(entry->verb)) : tr("Re&do");
            break;
        }
        case Verb::Rollback:
            text = tr("Roll &back rank %1 one call").arg(rankText(m_session->shownRank()));
            break;
        case Verb::Forward:
            text = tr("&Forward rank %1 one call").arg(rankText(m_session->shownRank()));
            break;
        default:
            break;
        }
        updateVerb(action, verb, text);
    }
    const QString noCall = tr("Select a call in the diagram first.");
    const bool point = m_session->point().has_value();
    setWhyNot(runToCursor, m_session->whyNot(Verb::RunTo));
    setWhyNot(openRecording, job ? tr("There is a job: kill it first.") : QString());
    setWhyNot(pointBefore, m_callSelected ? QString() : noCall);
    setWhyNot(pointAfter, m_callSelected ? QString() : noCall);
    setWhyNot(pastFrontier, point || m_callSelected ? QString() : noCall);
    setWhyNot(futureFrontier, point || m_callSelected ? QString() : noCall);
    setWhyNot(stoplineHere, point || m_callSelected ? QString() : noCall);
    setWhyNot(refresh, m_session->allStopped() || !m_session->openedRecording().isEmpty()
                           ? tr("No rank runs: the diagram shows all that has happened.")
                           : QString());
    setWhyNot(nextRace, m_session->whyNotNextRace());
    setWhyNot(takeInstead, !m_alternativeChosen ? tr("Choose a message that could have come, below a race, in the list of races.")
                                                : m_session->whyNot(Verb::Replay));
    setWhyNot(cancel, m_session->operation().isEmpty() ? tr("Nothing is under way.") : QString());
    const QString noRanks =
        m_session->rankCount() > 0 ? QString() : tr("There are no ranks yet: run the program.");
    for (QAction* action : {nextRank, previousRank, chooseRank, scopeRank}) {
        setWhyNot(action, noRanks);
    }
    scopeRank->setText(tr("Focus: rank %1 &only").arg(rankText(m_session->shownRank())));
    if (!focus.group.isEmpty()) {
        m_group = focus;
    } else if (!m_group.all() && m_group.group.last().value() >= m_session->rankCount()) {
        m_group = {}; // of a larger job
    }
    scopeGroup->setText(m_group.all() ? tr("Focus: c&hosen ranks") : tr("Focus: %1").arg(focusText(m_group)));
    setWhyNot(scopeGroup, m_group.all()
                              ? tr("Choose ranks first: Ctrl or Shift and a click in the strip of ranks.")
                              : QString());
    follow->setChecked(m_session->following());
    scopeAll->setChecked(focus.all());
    scopeGroup->setChecked(!focus.group.isEmpty());
    scopeRank->setChecked(focus.rank.has_value());
}

} // namespace stopline::app
