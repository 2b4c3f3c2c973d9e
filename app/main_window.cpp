#include "main_window.h"

#include "actions.h"
#include "breakpoints_dock.h"
#include "call_dock.h"
#include "diagram_pane.h"
#include "executions_dock.h"
#include "history_dock.h"
#include "icons.h"
#include "journey_words.h"
#include "key_bindings.h"
#include "launch_dialog.h"
#include "launch_memory.h"
#include "live_ranks.h"
#include "log_dock.h"
#include "log_model.h"
#include "look.h"
#include "message_bar.h"
#include "open_messages_dock.h"
#include "output_dock.h"
#include "program_source.h"
#include "races_dock.h"
#include "rank_strip.h"
#include "source_view.h"
#include "stack_dock.h"
#include "status_line.h"
#include "text.h"
#include "theme.h"
#include "variables_dock.h"

#include "../viewer/diagram_widget.h"
#include "../replay/words.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QSplitter>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>

namespace stopline::app {

using namespace replay;

namespace {
constexpr int kEndPatienceMs = 10'000; ///< then the window closes anyway; the agents end what is left
} // namespace

MainWindow::MainWindow(Session* session, Memory memory, QWidget* parent)
    : QMainWindow(parent), m_session(session), m_look(new Look(session, this)),
      m_actions(new Actions(session, this)), m_programSource(new ProgramSource(this)), m_memory(memory) {
    setWindowIcon(programIcon());
    setDockOptions(AnimatedDocks | AllowTabbedDocks | AllowNestedDocks);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    buildCentre();
    buildDocks();
    buildToolBars();
    m_status = new StatusLine(session, statusBar(), m_actions->cancel);
    m_journey = new JourneyWords(session, this);
    buildMenus();
    connectSession();
    resize(1440, 900);
    m_pristineState = saveState(kLayoutVersion);
    if (memory == Memory::Keep) {
        restoreLayout();
    }
    updateStrip();
    updateTitle();
}

MainWindow::~MainWindow() {
    m_session->disconnect(this);
}

void MainWindow::buildCentre() {
    auto* centre = new QWidget(this);
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_bar = new MessageBar(centre);
    m_splitter = new QSplitter(Qt::Vertical, centre);
    m_splitter->setObjectName(QStringLiteral("centre"));
    m_source = new SourceView(m_look, m_splitter);
    m_diagram = new DiagramPane(m_look, m_actions, m_splitter);
    m_splitter->addWidget(m_source);
    m_splitter->addWidget(m_diagram);
    m_splitter->setSizes({460, 540});
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 1);
    layout->addWidget(m_bar);
    layout->addWidget(m_splitter, 1);
    setCentralWidget(centre);
    connect(m_diagram, &DiagramPane::hovered, this,
            [this](const QString& text) { statusBar()->showMessage(text); });
    connect(m_source, &SourceView::problem, this, [this](const QString& text, const QString& remedy) {
        m_bar->show(Severity::Warning, text, remedy);
        m_logDock->model()->add(Severity::Warning, text, remedy);
    });
    connect(m_source, &SourceView::problemGone, m_bar, &MessageBar::withdraw);
}

void MainWindow::buildDocks() {
    m_variablesDock = new VariablesDock(m_look, this);
    m_stackDock = new StackDock(m_look, this);
    m_callDock = new CallDock(m_look, this);
    m_outputDock = new OutputDock(m_session, this);
    m_openMessagesDock = new OpenMessagesDock(m_look, this);
    m_breakpointsDock = new BreakpointsDock(m_session, this);
    m_logDock = new LogDock(m_session, this);
    m_historyDock = new HistoryDock(m_session, this);
    m_racesDock = new RacesDock(m_look, m_actions, this);
    m_executionsDock = new ExecutionsDock(m_look, this);
    for (QDockWidget* dock :
         {static_cast<QDockWidget*>(m_variablesDock), static_cast<QDockWidget*>(m_stackDock),
          static_cast<QDockWidget*>(m_callDock)}) {
        addDockWidget(Qt::RightDockWidgetArea, dock);
    }
    QDockWidget* first = nullptr;
    for (QDockWidget* dock :
         {static_cast<QDockWidget*>(m_outputDock), static_cast<QDockWidget*>(m_openMessagesDock),
          static_cast<QDockWidget*>(m_racesDock), static_cast<QDockWidget*>(m_breakpointsDock),
          static_cast<QDockWidget*>(m_historyDock), static_cast<QDockWidget*>(m_executionsDock),
          static_cast<QDockWidget*>(m_logDock)}) {
        addDockWidget(Qt::BottomDockWidgetArea, dock);
        if (first != nullptr) {
            tabifyDockWidget(first, dock);
        } else {
            first = dock;
        }
    }
    m_outputDock->raise();
    resizeDocks({m_variablesDock, m_stackDock, m_callDock}, {360, 240, 300}, Qt::Vertical);
    resizeDocks({m_variablesDock}, {360}, Qt::Horizontal);
    resizeDocks({m_outputDock}, {170}, Qt::Vertical);
    connect(m_breakpointsDock, &BreakpointsDock::sourceWanted, this, [this](const SourceLocation& location) {
        m_source->showLocation(location, SourceEditor::LineKind::Call);
    });
    const auto toDiagram = [this] { m_diagram->diagram()->setFocus(Qt::OtherFocusReason); };
    connect(m_openMessagesDock, &OpenMessagesDock::callShown, this, toDiagram);
    connect(m_callDock, &CallDock::callShown, this, toDiagram);
    connect(m_executionsDock, &ExecutionsDock::callShown, this, toDiagram);
    connect(m_racesDock, &RacesDock::callShown, this, toDiagram);
    connect(m_historyDock, &HistoryDock::previewed, m_diagram, &DiagramPane::preview);
}

void MainWindow::connectSession() {
    for (const auto signal : {&Session::ranksChanged, &Session::focusChanged, &Session::timelineChanged}) {
        connect(m_session, signal, this, &MainWindow::scheduleStrip);
    }
    connect(m_session, &Session::rankChanged, this, &MainWindow::scheduleStrip);
    auto* live = new LiveRanks(m_session, this);
    connect(live, &LiveRanks::changed, this, &MainWindow::updateStrip);
    connect(live, &LiveRanks::changed, m_status, &StatusLine::update);
    connect(m_session, &Session::message, this, &MainWindow::showMessage);
    connect(m_session, &Session::messageGone, m_bar, &MessageBar::withdraw);
    // What was said of the last command is in the log; the next one begins without it.
    connect(m_actions, &Actions::commandGiven, m_bar, &MessageBar::clear);
    connect(m_actions, &Actions::commandGiven, statusBar(), &QStatusBar::clearMessage); // of the job before
    connect(m_actions, &Actions::commandGiven, m_journey, &JourneyWords::begin);
    connect(m_actions->keys(), &KeyBindings::keysChanged, this, &MainWindow::updateStrip); // notices name keys
    connect(m_session, &Session::operationFinished, this, [this](bool ok, const QString& text) {
        const QString words = m_journey->end();
        if (ok && !words.isEmpty()) {
            statusBar()->showMessage(words);
            m_logDock->model()->add(Severity::Info, words, text);
        } else if (ok) {
            statusBar()->showMessage(text);
        } else if (!text.isEmpty()) {
            m_bar->show(Severity::Warning, text, {});
        }
    });
    connect(m_session, &Session::timelineReplaced, this, &MainWindow::onRecordingOpened);
    connect(m_executionsDock, &ExecutionsDock::oneMore, this, [this] {
        m_executionsDock->show();
        m_executionsDock->raise();
    });
    connect(m_session, &Session::jobEnded, this, [this](const QString& summary) {
        const Session::Comparison now = m_session->comparison();
        const bool identical = now.again && now.equal && now.live.isEmpty();
        statusBar()->showMessage((identical ? tr("The job has ended: %1; identical to the recording")
                                            : tr("The job has ended: %1"))
                                     .arg(summary));
        updateStrip();
    });
    connect(m_look, &Look::otherRankStopped, this, [this](RankId rank) {
        const RankView view = m_session->rank(rank);
        m_bar->offer(
            tr("Rank %1: %2 %3").arg(rankText(rank)).arg(fullStateText(view), locationText(view.location)),
            tr("Show rank %1").arg(rankText(rank)), [this, rank] { m_look->showRank(rank); });
    });
    connect(m_programSource, &ProgramSource::found, this, [this](const QString& file, int line) {
        if (m_source->openCount() == 0) {
            m_source->openFile(file, line);
        }
    });
}

void MainWindow::setLaunch(const LaunchSpec& spec) {
    m_bar->clear(); // what was wrong with another launch
    m_session->setLaunch(spec);
    const QString program =
        spec.command.isEmpty() ? spec.program : programOfCommand(spec.command, spec.workingDirectory);
    const QString directory = spec.workingDirectory.isEmpty() ? QDir::currentPath() : spec.workingDirectory;
    const QFileInfo file(QDir(directory).filePath(program));
    m_source->setSearchDirectories({directory, file.absolutePath()});
    const QString path = !program.isEmpty() && file.isFile() ? file.absoluteFilePath() : QString();
    m_source->setProgram(path);
    m_variablesDock->setProgram(path);
    m_programSource->find(program, spec.workingDirectory);
    if (m_memory == Memory::Keep && (!spec.program.isEmpty() || !spec.command.isEmpty())) {
        rememberLaunch(spec);
    }
    updateStrip();
    updateTitle();
}

QString MainWindow::emptyNotice() const {
    const LaunchSpec& spec = m_session->launch();
    if (spec.program.isEmpty() && spec.command.isEmpty()) {
        return tr("No program yet. Session > New launch%1 chooses one, or start Stopline as: "
                  "stopline -n 4 ./my_app")
            .arg(keyNote(QStringLiteral("launch")));
    }
    return tr("Ready: %1\nRun%2 starts it.").arg(launchText(spec), keyNote(QStringLiteral("runOrContinue")));
}

void MainWindow::showMessage(Severity severity, const QString& text, const QString& remedy) {
    m_bar->show(severity, text, remedy);
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        if (m_session->rank(RankId{rank}).silent && text.contains(tr("rank %1 does not answer").arg(rankText(RankId{rank})))) {
            m_silenceSaid.insert(rank, text);
        }
    }
}

/// A debugger that was said not to answer and does so again is no trouble any more.
void MainWindow::withdrawSilence() {
    for (auto it = m_silenceSaid.begin(); it != m_silenceSaid.end();) {
        if (m_session->rank(RankId{it.key()}).silent) {
            ++it;
        } else {
            m_bar->withdraw(it.value());
            it = m_silenceSaid.erase(it);
        }
    }
}

void MainWindow::scheduleStrip() {
    if (!m_stripDue) {
        m_stripDue = true;
        QTimer::singleShot(0, this, &MainWindow::updateStrip);
    }
}

void MainWindow::updateStrip() {
    m_stripDue = false;
    withdrawSilence();
    RankStrip::Content content;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        content.ranks << m_session->live(RankId{rank});
    }
    content.shown = m_session->shownRank();
    content.focus = m_session->focus();
    if (!content.ranks.isEmpty()) {
        content.place = placeText(m_session->timeline(), m_session->live(content.shown));
    }
    content.notice = emptyNotice();
    m_strip->setContent(std::move(content));
    const bool program = !m_session->launch().program.isEmpty() || !m_session->launch().command.isEmpty();
    m_source->setNotice(
        !m_session->openedRecording().isEmpty()
            ? tr("<p><b>Select a call in the diagram: its source line appears here.</b></p>"
                 "<p>%1 is a recording. Replay run%2 executes it again, as it was; so do Go to stopline and "
                 "Roll back, as far as to their place.</p>")
                  .arg(QFileInfo(m_session->openedRecording()).fileName().toHtmlEscaped(),
                       keyNote(QStringLiteral("replay")))
        : program
            ? tr("<p><b>Press Run%1 to start the job.</b></p>"
                     "<p>Pause%2 stops it wherever it is. The source of the shown rank "
                     "appears here; a click in its "
                     "left margin sets a breakpoint on all ranks.</p>")
                      .arg(keyNote(QStringLiteral("runOrContinue")), keyNote(QStringLiteral("pause")))
                : tr("<p><b>Choose a program to debug.</b></p><p>Session &gt; New launch%1, or from "
                     "the shell: <code>stopline -n 4 ./my_app</code></p><p>Compile it with <code>mpicc "
                     "-g</code>; nothing has to be linked in.</p>")
                      .arg(keyNote(QStringLiteral("launch"))));
}

void MainWindow::updateTitle() {
    const LaunchSpec& spec = m_session->launch();
    const QString opened = m_session->openedRecording();
    const QString program = !opened.isEmpty()        ? opened
                            : spec.command.isEmpty() ? spec.program
                                                     : programOfCommand(spec.command, spec.workingDirectory);
    const QString name = QFileInfo(program).fileName();
    setWindowTitle(name.isEmpty() ? tr("Stopline") : tr("%1 — Stopline").arg(name));
}

void MainWindow::showLaunchDialog() {
    auto* dialog = new LaunchDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const LaunchSpec& now = m_session->launch();
    if (!now.program.isEmpty() || !now.command.isEmpty()) {
        dialog->setSpec(now);
    }
    dialog->setStopAtStart(m_actions->stopAtStart->isChecked());
    dialog->setJobExists(m_session->jobExists());
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        m_actions->stopAtStart->setChecked(dialog->stopAtStart());
        setLaunch(dialog->spec());
        if (dialog->runWanted()) {
            m_session->jobExists() ? m_session->restart() : m_session->run();
        } else if (m_session->jobExists()) {
            m_bar->offer(tr("The new launch is used by the next Run or Restart."), tr("Restart now"),
                         [this] { m_session->restart(); });
        }
    });
    dialog->open();
}

void MainWindow::chooseRank() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Go to rank"));
    dialog->setLabelText(tr("Rank:"));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(0, qMax(0, m_session->rankCount() - 1));
    dialog->setIntValue(m_session->shownRank().value());
    connect(dialog, &QInputDialog::intValueSelected, this,
            [this](int rank) { m_look->showRank(RankId{rank}); });
    dialog->open();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_closing || !m_session->jobExists()) {
        if (m_memory == Memory::Keep) {
            saveLayout();
        }
        emit closing();
        event->accept();
        return;
    }
    event->ignore();
    if (!m_askBeforeClose) {
        endJobThenClose();
        return;
    }
    auto* box = new QMessageBox(QMessageBox::Question, tr("Close Stopline"),
                                tr("The job is still there. End it and close?"), QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* end = box->addButton(tr("End the job"), QMessageBox::AcceptRole);
    connect(box, &QMessageBox::buttonClicked, this, [this, end](QAbstractButton* clicked) {
        if (clicked == static_cast<QAbstractButton*>(end)) {
            endJobThenClose();
        }
    });
    box->open();
}

void MainWindow::endJobThenClose() {
    if (m_closing) {
        return;
    }
    m_closing = true;
    statusBar()->showMessage(tr("Ending the job…"));
    connect(m_session, &Session::jobEnded, this, &QWidget::close, Qt::QueuedConnection);
    QTimer::singleShot(kEndPatienceMs, this, &QWidget::close);
    m_session->kill();
}

} // namespace stopline::app
