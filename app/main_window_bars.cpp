// Tool bars and menus of the window.
#include "main_window.h"

#include "../viewer/diagram_widget.h"
#include "actions.h"
#include "diagram_pane.h"
#include "focus_selector.h"
#include "keys_dialog.h"
#include "look.h"
#include "message_bar.h"
#include "rank_strip.h"
#include "source_view.h"
#include "theme.h"

#include <QActionGroup>
#include <QDockWidget>
#include <QFileDialog>
#include <QLayout>
#include <QMenuBar>
#include <QSplitter>
#include <QStatusBar>
#include <QToolBar>

namespace stopline::app {

using namespace replay;

void MainWindow::buildToolBars() {
    auto* run = addToolBar(tr("Run control"));
    run->setObjectName(QStringLiteral("runBar"));
    run->setMovable(false);
    run->setIconSize(QSize(20, 20));
    run->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    run->addWidget(new FocusSelector(m_look, m_actions, run));
    run->addAction(m_actions->runOrContinue);
    run->addAction(m_actions->pause);
    run->addSeparator();
    const auto add = [run](QAction* action, const QString& shortText) {
        action->setIconText(shortText);
        run->addAction(action);
    };
    add(m_actions->stepOver, tr("Over"));
    add(m_actions->stepInto, tr("Into"));
    add(m_actions->stepOut, tr("Out"));
    add(m_actions->runToCursor, tr("To cursor"));
    run->addSeparator();
    add(m_actions->undo, tr("Undo"));
    add(m_actions->rollback, tr("Roll back"));
    add(m_actions->go, tr("Go"));
    run->addSeparator();
    add(m_actions->replay, tr("Replay"));
    add(m_actions->restart, tr("Restart"));
    add(m_actions->kill, tr("Kill"));

    addToolBarBreak();
    auto* ranks = addToolBar(tr("Ranks"));
    ranks->setObjectName(QStringLiteral("rankBar"));
    ranks->setMovable(false);
    ranks->toggleViewAction()->setEnabled(false); // never hidden
    ranks->setContextMenuPolicy(Qt::PreventContextMenu);
    ranks->layout()->setContentsMargins(0, 0, 0, 0);
    m_strip = new RankStrip(ranks);
    ranks->addWidget(m_strip);
    connect(m_strip, &RankStrip::rankChosen, m_look, &Look::showRank);
    connect(m_strip, &RankStrip::rankFocused, this, [this](RankId rank) {
        m_session->setFocus({rank});
        m_session->setShownRank(rank);
    });
    connect(m_strip, &RankStrip::focusWanted, m_session, &Session::setFocus);
}

/// In the source, or among the calls when the diagram has the keyboard.
void MainWindow::findInView() {
    viewer::DiagramWidget* diagram = m_diagram->diagram();
    const QWidget* focus = focusWidget();
    if (focus != nullptr && (focus == diagram || diagram->isAncestorOf(focus))) {
        if (auto* search = diagram->findChild<QAction*>(QStringLiteral("diagram.search"))) {
            search->trigger();
        }
        return;
    }
    if (m_source->openCount() > 0 && m_splitter->sizes().value(0) == 0) {
        m_splitter->setSizes({500, 500}); // the diagram had all the room
    }
    if (!m_source->find()) {
        statusBar()->showMessage(tr("No source file is open."));
    }
}

void MainWindow::buildMenus() {
    const auto fill = [this](const QString& title, const QList<QAction*>& actions) {
        QMenu* menu = menuBar()->addMenu(title);
        menu->setToolTipsVisible(true);
        for (QAction* action : actions) {
            if (action != nullptr) {
                menu->addAction(action);
            } else {
                menu->addSeparator();
            }
        }
        return menu;
    };
    Actions& a = *m_actions;
    fill(tr("&Session"),
         {a.launch, a.openRecording, a.openSource, nullptr, a.stopAtStart, a.restart, a.replay, a.kill, nullptr, a.quit});
    fill(tr("&Run"), {a.runOrContinue, a.pause, nullptr, a.stepOver, a.stepInto, a.stepOut, a.runToCursor,
                      nullptr, a.toggleBreakpoint});
    fill(tr("Re&play"), {a.undo, a.redo, nullptr, a.rollback, a.forward, nullptr, a.pointBefore, a.pointAfter,
                         a.pastFrontier, a.futureFrontier, nullptr, a.stoplineHere, a.go, nullptr, a.nextRace, a.takeInstead, nullptr, a.cancel});
    fill(tr("R&anks"), {a.scopeAll, a.scopeGroup, a.scopeRank, nullptr, a.nextRank, a.previousRank, a.chooseRank});
    QMenu* view = fill(tr("&View"), {a.find, a.findNext, a.findPrevious, nullptr, a.cycleSplitter, nullptr, a.axisTime, a.axisEvents, nullptr, a.fitAll,
                                     a.lastStop, a.zoomIn, a.zoomOut, nullptr, a.refresh, a.follow, nullptr});
    QMenu* panels = view->addMenu(tr("&Panels"));
    for (auto* dock : findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly)) {
        QAction* toggle = dock->toggleViewAction();
        toggle->setText(dock->windowTitle());
        panels->addAction(toggle);
    }
    QMenu* style = view->addMenu(tr("&Colours"));
    m_styles = new QActionGroup(this);
    for (const auto& [text, value] : {std::pair{tr("As the &system"), ColourStyle::System},
                                      std::pair{tr("&Light"), ColourStyle::Light},
                                      std::pair{tr("&Dark"), ColourStyle::Dark}}) {
        QAction* action =
            style->addAction(text, this, [this, value = value] { setColourStyle(value, true); });
        action->setCheckable(true);
        action->setData(static_cast<int>(value));
        m_styles->addAction(action);
    }
    tickStyle();
    view->addAction(tr("&Keys…"), this, [this] {
        auto* dialog = new KeysDialog(m_actions->keys(), this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    view->addAction(tr("&Reset layout"), this, &MainWindow::resetLayout);
    buildHelpMenu();

    connect(a.launch, &QAction::triggered, this, &MainWindow::showLaunchDialog);
    connect(a.openRecording, &QAction::triggered, this, &MainWindow::chooseRecording);
    connect(a.quit, &QAction::triggered, this, &QWidget::close);
    connect(a.openSource, &QAction::triggered, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Open source file"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
            if (const QString wrong = m_source->openFile(file); !wrong.isEmpty()) {
                m_bar->show(Severity::Warning, wrong, {});
            }
        });
        dialog->open();
    });
    connect(a.toggleBreakpoint, &QAction::triggered, m_source, &SourceView::toggleBreakpointAtCursor);
    connect(a.runToCursor, &QAction::triggered, m_bar, &MessageBar::clear);
    connect(a.runToCursor, &QAction::triggered, m_source, &SourceView::runToCursor);
    connect(a.find, &QAction::triggered, this, &MainWindow::findInView);
    connect(a.findNext, &QAction::triggered, m_source, [this] { m_source->findAgain(true); });
    connect(a.findPrevious, &QAction::triggered, m_source, [this] { m_source->findAgain(false); });
    connect(a.cycleSplitter, &QAction::triggered, this, &MainWindow::cycleSplitter);
    connect(a.chooseRank, &QAction::triggered, this, &MainWindow::chooseRank);
    connect(&a, &Actions::rankStepRequested, this, [this](int by) {
        const int count = m_session->rankCount();
        if (count > 0) {
            m_look->showRank(RankId{(m_session->shownRank().value() + by + count) % count});
        }
    });
}

} // namespace stopline::app
