// The window with no job, with 4 and with 64 ranks; keys, reasons, margins, memory.
#include "../../../app/actions.h"
#include "../../../app/breakpoints_dock.h"
#include "../../../app/call_dock.h"
#include "../../../app/diagram_pane.h"
#include "../../../app/look.h"
#include "../../../app/main_window.h"
#include "../../../app/message_bar.h"
#include "../../../app/open_messages_dock.h"
#include "../../../app/output_dock.h"
#include "../../../app/source_view.h"
#include "../../../app/stack_dock.h"
#include "../../../app/stack_model.h"
#include "../../../app/status_line.h"
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/help_overlay.h"
#include "window_fixture.h"

#include <QFile>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QSplitter>
#include <QTest>
#include <QTreeView>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class WindowTest : public WindowFixture {
    Q_OBJECT

  private slots:
    void emptyWindowSaysWhatToDo() {
        open();
        QVERIFY(m_window->rankStrip()->content().notice.contains(QStringLiteral("stopline -n 4")));
        QCOMPARE(m_window->sourceView()->openCount(), 0);
        LaunchSpec spec;
        spec.program = QStringLiteral("./rows");
        m_window->setLaunch(spec);
        QVERIFY(m_window->rankStrip()->content().notice.contains(QStringLiteral("F5")));
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("rows")));
    }

    void fourRanksStopped() {
        open();
        stop({118, 118, 118, 120});
        QTRY_COMPARE(m_window->sourceView()->openCount(), 1);
        SourceEditor* editor = m_window->sourceView()->currentEditor();
        QVERIFY(editor != nullptr);
        QTRY_COMPARE(editor->cursorLine(), 118);
        QCOMPARE(editor->text(117).trimmed(), QStringLiteral("int line_118;"));
        QTRY_COMPARE(m_window->look()->frames().size(), 2);
        QCOMPARE(m_window->look()->frame(), 0);
        // The outer frame shows its own line.
        m_window->look()->selectFrame(1);
        QCOMPARE(editor->cursorLine(), 123);
        QVERIFY(m_window->statusLine()->text().contains(QStringLiteral("rank 0")));
    }

    void keys_data() {
        QTest::addColumn<int>("key");
        QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
        QTest::addColumn<QString>("call");
        const Qt::KeyboardModifiers none;
        QTest::newRow("F5") << int(Qt::Key_F5) << none << "continue all";
        QTest::newRow("F6") << int(Qt::Key_F6) << none << "pause all";
        QTest::newRow("F10") << int(Qt::Key_F10) << none << "stepOver all";
        QTest::newRow("F11") << int(Qt::Key_F11) << none << "stepInto all";
        QTest::newRow("Shift+F11") << int(Qt::Key_F11) << Qt::KeyboardModifiers(Qt::ShiftModifier)
                                   << "stepOut all";
        QTest::newRow("Ctrl+F10") << int(Qt::Key_F10) << Qt::KeyboardModifiers(Qt::ControlModifier)
                                  << "runTo solver.c 118";
        QTest::newRow("Shift+F5") << int(Qt::Key_F5) << Qt::KeyboardModifiers(Qt::ShiftModifier) << "kill";
        QTest::newRow("Ctrl+Shift+F5")
            << int(Qt::Key_F5) << Qt::KeyboardModifiers(Qt::ControlModifier | Qt::ShiftModifier) << "restart";
        QTest::newRow("Ctrl+F5") << int(Qt::Key_F5) << Qt::KeyboardModifiers(Qt::ControlModifier) << "go";
        QTest::newRow("Ctrl+Z") << int(Qt::Key_Z) << Qt::KeyboardModifiers(Qt::ControlModifier) << "undo";
        QTest::newRow("Ctrl+Shift+Z")
            << int(Qt::Key_Z) << Qt::KeyboardModifiers(Qt::ControlModifier | Qt::ShiftModifier) << "redo";
        QTest::newRow("Alt+Left") << int(Qt::Key_Left) << Qt::KeyboardModifiers(Qt::AltModifier)
                                  << "rollback";
        QTest::newRow("Alt+Right") << int(Qt::Key_Right) << Qt::KeyboardModifiers(Qt::AltModifier)
                                   << "forward";
    }

    void keys() {
        QFETCH(int, key);
        QFETCH(Qt::KeyboardModifiers, modifiers);
        QFETCH(QString, call);
        open();
        stop({118, 120});
        QTRY_VERIFY(m_window->sourceView()->currentEditor() != nullptr);
        m_window->sourceView()->currentEditor()->setFocus(); // where the user's hands are
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        scriptOf(*m_session).calls.clear();
        QTest::keyClick(m_window->sourceView()->currentEditor(), static_cast<Qt::Key>(key), modifiers);
        QCOMPARE(calls(), QStringList{call});
    }

    void noTwoActionsShareAKey() {
        open();
        QMap<QString, QString> seen;
        for (const QAction* action : m_window->actions()->all()) {
            const QString key = action->shortcut().toString();
            if (!key.isEmpty()) {
                QVERIFY2(!seen.contains(key), qPrintable(key));
                seen.insert(key, action->text());
            }
        }
        QVERIFY(seen.size() > 20);
    }

    void disabledActionsSayWhy() {
        scriptOf(*m_session).whyNot[Verb::Continue] = QStringLiteral("Rank 1 runs already.");
        scriptOf(*m_session).whyNot[Verb::Undo] = QStringLiteral("Nothing has been done yet.");
        open();
        stop({1, 2});
        const Actions& a = *m_window->actions();
        QVERIFY(!a.runOrContinue->isEnabled());
        QVERIFY(a.runOrContinue->toolTip().contains(QStringLiteral("Rank 1 runs already.")));
        QVERIFY(!a.undo->isEnabled());
        QVERIFY(a.undo->toolTip().contains(QStringLiteral("Nothing has been done yet.")));
        QVERIFY(!a.stoplineHere->isEnabled());
        QVERIFY(a.stoplineHere->toolTip().contains(QStringLiteral("Select a call")));
        scriptOf(*m_session).whyNot.clear();
        HistoryEntry entry;
        entry.verb = Verb::Continue;
        scriptOf(*m_session).undo = entry;
        emit m_session->verbsChanged();
        QVERIFY(a.undo->isEnabled());
        QVERIFY(a.undo->text().contains(QStringLiteral("Continue")));
        QVERIFY(!a.undo->toolTip().contains(QStringLiteral("Not now")));
    }

    void marginClickTogglesABreakpoint() {
        open();
        QVERIFY(m_window->sourceView()->openFile(m_source, 10).isEmpty());
        SourceEditor* editor = m_window->sourceView()->currentEditor();
        const int height = static_cast<int>(editor->SendScintilla(QsciScintilla::SCI_TEXTHEIGHT, 0UL));
        const int first = static_cast<int>(editor->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE));
        const QPoint inMargin(editor->marginWidth(SourceEditor::kNumberMargin) + 4, height * 2 + height / 2);
        QTest::mouseClick(editor->viewport(), Qt::LeftButton, {}, inMargin);
        QCOMPARE(m_session->breakpoints().size(), 1);
        QCOMPARE(m_session->breakpoints().first().location,
                 QStringLiteral("%1:%2").arg(m_source).arg(first + 3));
        QVERIFY(!m_session->breakpoints().first().onlyRank); // all ranks
        QVERIFY(editor->markersAtLine(first + 2) != 0);
        QTest::mouseClick(editor->viewport(), Qt::LeftButton, {}, inMargin);
        QVERIFY(m_session->breakpoints().isEmpty());
        QCOMPARE(editor->markersAtLine(first + 2), 0U);
    }

    void lineMarksNameTheRanks() {
        open();
        stop({118, 118, 118, 120, 118});
        QTRY_VERIFY(m_window->sourceView()->currentEditor() != nullptr);
        SourceEditor* editor = m_window->sourceView()->currentEditor();
        const auto margin = [editor](int line) {
            QByteArray text(64, '\0');
            const long length = editor->SendScintilla(QsciScintilla::SCI_MARGINGETTEXT,
                                                      static_cast<unsigned long>(line - 1), text.data());
            return QString::fromUtf8(text.left(length)).trimmed();
        };
        QTRY_COMPARE(margin(118), QStringLiteral("0-2,4"));
        QCOMPARE(margin(120), QStringLiteral("3"));
        QCOMPARE(margin(119), QString());
    }

    void missingSourceSaysWhichPath() {
        open();
        standAt(*m_session, QStringLiteral("/no/such/place/exchange.f90"), {12});
        emit m_session->ranksChanged();
        emit m_session->stopped();
        bool said = false;
        for (const QLabel* label : m_window->sourceView()->findChildren<QLabel*>()) {
            said = said || (label->isVisible() &&
                            label->text().contains(QStringLiteral("/no/such/place/exchange.f90")));
        }
        QVERIFY(said);
    }

    void errorsGoToTheBarWithTheRemedy() {
        open();
        emit m_session->message(Severity::Error, QStringLiteral("gdb of rank 3 has died."),
                                QStringLiteral("Restart."));
        QVERIFY(m_window->messageBar()->isVisible());
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("Restart.")));
        emit m_session->message(Severity::Warning, QStringLiteral("Later."), {});
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("rank 3"))); // the cause stays
        emit m_session->message(Severity::Info, QStringLiteral("By the way."), {});
        m_window->actions()->runOrContinue->trigger(); // the next command begins without it
        QVERIFY(!m_window->messageBar()->isVisible());
    }

    void selectingACallShowsAllOfIt() {
        open();
        recordMessages(*m_session, 4);
        emit m_session->ranksChanged();
        const CallRef call{RankId{0}, CallIndex{1}};
        m_window->look()->selectCall(call, true);
        QCOMPARE(*m_window->diagramPane()->diagram()->selection(), call);
        auto* dock = m_window->findChild<CallDock*>();
        QVERIFY(dock->text().contains(QStringLiteral("MPI_Send")));
        QVERIFY(m_window->actions()->stoplineHere->isEnabled());
        m_window->actions()->stoplineHere->trigger();
        QVERIFY(m_session->point());
        QCOMPARE(m_session->point()->call, call);
        QVERIFY(m_session->stopline());
        QVERIFY(calls().contains(QStringLiteral("stopline past")));
        m_window->actions()->pastFrontier->trigger(); // hide it: the other is meant from now on
        m_window->actions()->stoplineHere->trigger();
        QVERIFY(calls().contains(QStringLiteral("stopline future")));
    }

    void outputIsFiltered() {
        open();
        auto* dock = m_window->findChild<OutputDock*>();
        emit m_session->outputAdded(RankId{0}, 1, "zero\n");
        emit m_session->outputAdded(RankId{2}, 2, "two\n");
        QCOMPARE(dock->shownText(), QStringLiteral("[0] zero\n[2] two"));
        dock->setFilter(QStringLiteral("2-3"), {});
        QCOMPARE(dock->shownText(), QStringLiteral("[2] two"));
        emit m_session->outputAdded(RankId{0}, 1, "more\n");
        QCOMPARE(dock->shownText(), QStringLiteral("[2] two"));
        dock->setFilter({}, QStringLiteral("OR"));
        QCOMPARE(dock->shownText(), QStringLiteral("[0] more"));
    }

    void splitterCycles() {
        open();
        auto* splitter = m_window->findChild<QSplitter*>(QStringLiteral("centre"));
        QSet<int> shares;
        for (int i = 0; i < 4; ++i) {
            m_window->cycleSplitter();
            const QList<int> sizes = splitter->sizes();
            shares.insert(sizes[0] * 100 / (sizes[0] + sizes[1]));
        }
        QCOMPARE(shares.size(), 4);
        QVERIFY(shares.contains(0));
        QVERIFY(shares.contains(100));
    }

    void layoutIsKeptAndReset() {
        open();
        auto* stack = m_window->findChild<StackDock*>();
        stack->hide();
        m_window->close();
        open();
        QVERIFY(!m_window->findChild<StackDock*>()->isVisible());
        m_window->resetLayout();
        QVERIFY(m_window->findChild<StackDock*>()->isVisible());
    }

    void closingEndsTheJob() {
        open();
        stop({1, 2});
        QVERIFY(!m_window->close()); // not before the job has ended
        QCOMPARE(calls().count(QStringLiteral("kill")), 1);
        QTRY_VERIFY(!m_window->isVisible());
    }

    void theAxisKeyMovesButtonAndMenu() {
        open();
        recordMessages(*m_session, 4);
        emit m_session->ranksChanged();
        auto* diagram = m_window->diagramPane()->diagram();
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        diagram->setFocus();
        QTest::keyClick(diagram, Qt::Key_T);
        QCOMPARE(diagram->axis(), viewer::Axis::Events);
        QVERIFY(m_window->actions()->axisEvents->isChecked());
        QVERIFY(!m_window->actions()->axisTime->isChecked());
        QTest::keyClick(diagram, Qt::Key_T);
        QVERIFY(m_window->actions()->axisTime->isChecked());
    }

    void theKeysAreReadableInALowDiagram() {
        open();
        auto* diagram = m_window->diagramPane()->diagram();
        auto* overlay = diagram->findChild<viewer::HelpOverlay*>();
        for (const int height : {180, 260, 420}) {
            m_window->findChild<QSplitter*>(QStringLiteral("centre"))->setSizes({900 - height, height});
            for (const auto content : {viewer::HelpOverlay::Content::Keys, viewer::HelpOverlay::Content::Legend}) {
                overlay->hide();
                overlay->toggle(content);
                const auto all = overlay->arrangement();
                QVERIFY(all.line >= overlay->fontMetrics().height()); // no line into the next
                QVERIFY(all.rows * all.line <= overlay->height());    // and none cut off
                QVERIFY(overlay->parentWidget()->rect().contains(overlay->geometry()));
                // Nor is a text: over the window there is room for all of them.
                QVERIFY(content == viewer::HelpOverlay::Content::Legend || overlay->isWhole());
                QCOMPARE(overlay->window(), m_window->window());
            }
        }
    }

    void ranksThatWaitForEachOtherAreNamedAboveTheOpenMessages() {
        open();
        const auto* named = m_window->findChild<QLabel*>(QStringLiteral("deadlocks"));
        QVERIFY(named->isHidden());
        auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("openMessages"));
        bool seen = false;
        const QObject here; // what is listened to ends with the variable
        connect(dock, &QDockWidget::visibilityChanged, &here, [&seen](bool visible) { seen = visible; });
        dock->raise();
        QTRY_VERIFY(seen);
        scriptOf(*m_session).deadlocks = {QStringLiteral("rank 0 waits in MPI_Send (a.c:1) for itself: a deadlock"),
                                          QStringLiteral("rank 1 waits")};
        emit m_session->timelineChanged();
        QTRY_COMPARE(named->text(), QStringLiteral("Rank 0 waits in MPI_Send (a.c:1) for itself: a deadlock.\nRank 1 waits."));
        QVERIFY(!named->isHidden());
        scriptOf(*m_session).deadlocks.clear();
        emit m_session->timelineReplaced();
        QTRY_VERIFY(named->isHidden());
        // Nor is it looked for where nobody sees it, but as soon as somebody does.
        m_window->findChild<QDockWidget*>(QStringLiteral("races"))->raise();
        QTRY_VERIFY(!seen);
        scriptOf(*m_session).deadlocks = {QStringLiteral("rank 1 waits")};
        emit m_session->timelineChanged();
        QTest::qWait(1);
        QVERIFY(named->isHidden());
        dock->raise();
        QTRY_COMPARE(named->text(), QStringLiteral("Rank 1 waits."));
    }

    void cancelHasAKey() {
        open();
        const QAction* cancel = m_window->actions()->cancel;
        QVERIFY(!cancel->isEnabled()); // nothing is under way
        scriptOf(*m_session).operation = QStringLiteral("going to the stopline");
        emit m_session->operationChanged();
        QVERIFY(cancel->isEnabled());
        QVERIFY2(cancel->toolTip().contains(QStringLiteral("Shift+Esc")), qPrintable(cancel->toolTip()));
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        scriptOf(*m_session).calls.clear();
        QTest::keyClick(m_window.get(), Qt::Key_Escape, Qt::ShiftModifier);
        QCOMPARE(calls(), QStringList{QStringLiteral("cancel")});
    }

    void anOpenMessageLeavesTheKeysToTheDiagram() {
        open();
        recordMessages(*m_session, 4);
        emit m_session->timelineChanged();
        emit m_session->ranksChanged();
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        auto* dock = m_window->findChild<OpenMessagesDock*>();
        dock->show();
        dock->raise();
        auto* view = dock->findChild<QTreeView*>();
        QCOMPARE(view->model()->rowCount(), 1);
        QTRY_VERIFY(view->isVisible());
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {},
                          view->visualRect(view->model()->index(0, 0)).center());
        auto* diagram = m_window->diagramPane()->diagram();
        QVERIFY(diagram->selection());
        QVERIFY(diagram->hasFocus());
        QTest::keyClick(diagram, Qt::Key_B); // the point before what has just been selected
        QVERIFY(m_session->point());
        QCOMPARE(m_session->point()->call, *diagram->selection());
    }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
