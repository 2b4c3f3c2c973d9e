// The window with no job, with 4 and with 64 ranks; keys, reasons, margins, memory.
#include "../../../app/actions.h"
#include "../../../app/breakpoints_dock.h"
#include "../../../app/call_dock.h"
#include "../../../app/diagram_pane.h"
#include "../../../app/icons.h"
#include "../../../app/launch_dialog.h"
#include "../../../app/launch_memory.h"
#include "../../../app/look.h"
#include "../../../app/main_window.h"
#include "../../../app/message_bar.h"
#include "../../../app/output_dock.h"
#include "../../../app/rank_strip.h"
#include "../../../app/source_view.h"
#include "../../../app/stack_dock.h"
#include "../../../app/stack_model.h"
#include "../../../app/status_line.h"
#include "../../../app/theme.h"
#include "../../../viewer/diagram_widget.h"
#include "scripted_session.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QSplitter>
#include <QTemporaryDir>
#include <QTest>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class WindowTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_directory;
    QString m_source;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;

    void open() {
        m_window = std::make_unique<MainWindow>(m_session.get());
        m_window->setAskBeforeClose(false);
        m_window->resize(1400, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }

    void stop(const std::vector<int>& lines) {
        standAt(*m_session, m_source, lines);
        emit m_session->ranksChanged();
        emit m_session->verbsChanged();
        emit m_session->stopped();
        QCoreApplication::processEvents(); // strip and rows are drawn once for all ranks
    }

    [[nodiscard]] const QStringList& calls() const { return scriptOf(*m_session).calls; }

  private slots:
    void initTestCase() {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_directory.path());
        QCoreApplication::setOrganizationName(QStringLiteral("stopline-test"));
        QCoreApplication::setApplicationName(QStringLiteral("window"));
        m_source = m_directory.filePath(QStringLiteral("solver.c"));
        QFile file(m_source);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int line = 1; line <= 200; ++line) {
            file.write("int line_" + QByteArray::number(line) + ";\n");
        }
    }

    void init() {
        QSettings().clear();
        applyStyle(ColourStyle::Light);
        m_session = std::make_unique<Session>();
    }

    void cleanup() {
        m_window.reset();
        m_session.reset();
    }

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

    void everyIconIsThere() {
        open();
        for (QAction* action : m_window->actions()->all()) {
            if (!action->icon().isNull()) {
                const QImage image = action->icon().pixmap(24, 24).toImage();
                bool drawn = false;
                for (int y = 0; y < image.height() && !drawn; ++y) {
                    for (int x = 0; x < image.width() && !drawn; ++x) {
                        drawn = qAlpha(image.pixel(x, y)) > 0;
                    }
                }
                QVERIFY2(drawn, qPrintable(action->text()));
            }
        }
        QVERIFY(icon(QStringLiteral("no-such-icon")).isNull());
        QVERIFY(!programIcon().isNull());
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

    void sixtyFourRanks() {
        open();
        stop(std::vector<int>(64, 50));
        RankStrip* strip = m_window->rankStrip();
        QCOMPARE(strip->content().ranks.size(), 64);
        QRegion covered;
        for (int rank = 0; rank < 64; ++rank) {
            const QRect tile = strip->tileRect(rank);
            QVERIFY(strip->rect().contains(tile));
            QVERIFY(!covered.intersects(tile));
            covered += tile;
        }
        QVERIFY(strip->summary().startsWith(QStringLiteral("64 ")));
        QSignalSpy chosen(strip, &RankStrip::rankChosen);
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->tileRect(63).center());
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(m_session->shownRank(), RankId{63});
        QVERIFY(!m_session->focus().rank); // looking does not change whom Continue acts on
    }

    void doubleClickGivesTheFocus() {
        open();
        stop({1, 2, 3, 4});
        RankStrip* strip = m_window->rankStrip();
        QTest::mouseDClick(strip, Qt::LeftButton, {}, strip->tileRect(2).center());
        QCOMPARE(*m_session->focus().rank, RankId{2});
        QVERIFY(m_window->actions()->runOrContinue->text().contains(QStringLiteral("rank 2")));
        QVERIFY(m_window->actions()->scopeRank->isChecked());
    }

    void tilesFitForAnyCount_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("width");
        for (const int count : {1, 4, 16, 17, 32, 33, 64, 256, 1024}) {
            for (const int width : {800, 1366, 2560}) {
                QTest::addRow("%d in %d", count, width) << count << width;
            }
        }
    }

    void tilesFitForAnyCount() {
        QFETCH(int, count);
        QFETCH(int, width);
        RankStrip strip;
        strip.resize(width, strip.sizeHint().height());
        RankStrip::Content content;
        content.ranks.resize(count);
        strip.setContent(content);
        strip.grab();
        QVERIFY(strip.rect().contains(strip.tileRect(0)));
        QVERIFY(strip.rect().contains(strip.tileRect(count - 1)));
        QVERIFY(strip.tileRect(count).isNull());
        if (count > 1) {
            QVERIFY(!strip.tileRect(0).intersects(strip.tileRect(1)));
        }
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

    void rankKeys() {
        open();
        stop({1, 2, 3});
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier);
        QCOMPARE(m_session->shownRank(), RankId{1});
        QTest::keyClick(m_window.get(), Qt::Key_PageUp, Qt::ControlModifier);
        QTest::keyClick(m_window.get(), Qt::Key_PageUp, Qt::ControlModifier);
        QCOMPARE(m_session->shownRank(), RankId{2});
        QTest::keyClick(m_window.get(), Qt::Key_3, Qt::ControlModifier);
        QCOMPARE(*m_session->focus().rank, RankId{2});
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier); // the focus follows
        QCOMPARE(*m_session->focus().rank, RankId{0});
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
        QVERIFY(!m_session->focus().rank);
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

    void windowFollowsTheRankThatWentWrong() {
        open();
        stop({10, 20, 30, 40});
        QCOMPARE(m_session->shownRank(), RankId{0});
        RankView& bad = scriptOf(*m_session).ranks[2];
        bad.why = StopWhy::Signal;
        bad.detail = QStringLiteral("SIGSEGV");
        emit m_session->rankChanged(RankId{2});
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{2});
        // The user looks elsewhere: news of the same stop do not take the view back.
        m_window->look()->showRank(RankId{1});
        emit m_session->rankChanged(RankId{2});
        emit m_session->rankChanged(RankId{3});
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{1});
    }

    void shownRankStaysWhenItStopsTheSameWay() {
        open();
        stop({10, 20});
        for (const int rank : {1, 0}) { // the other one is a little faster
            RankView& view = scriptOf(*m_session).ranks[static_cast<std::size_t>(rank)];
            view.why = StopWhy::Breakpoint;
            emit m_session->rankChanged(RankId{rank});
        }
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{0});
    }

    void withOneRankInFocusTheOtherIsOffered() {
        open();
        stop({10, 20});
        m_session->setFocus({RankId{0}});
        scriptOf(*m_session).ranks[1].why = StopWhy::Breakpoint;
        emit m_session->rankChanged(RankId{1});
        QTRY_VERIFY(m_window->messageBar()->isVisible());
        QCOMPARE(m_session->shownRank(), RankId{0});
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("Rank 1")));
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

    void launchDialogRemembers() {
        const QString program = m_directory.filePath(QStringLiteral("app"));
        QFile file(program);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        {
            LaunchDialog dialog;
            LaunchSpec spec;
            spec.program = program;
            dialog.setSpec(spec);
            QVERIFY(dialog.problem().contains(QStringLiteral("not executable")));
            QVERIFY(!dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled());
            QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
            spec.ranks = 7;
            spec.arguments = {QStringLiteral("a b"), QStringLiteral("c")};
            spec.environment = {{QStringLiteral("X"), QStringLiteral("1")}};
            dialog.setSpec(spec);
            QCOMPARE(dialog.problem(), QString());
            dialog.accept();
            QCOMPARE(dialog.result(), int(QDialog::Accepted));
        }
        LaunchDialog again;
        QCOMPARE(again.spec().program, program);
        QCOMPARE(again.spec().ranks, 7);
        QCOMPARE(again.spec().arguments, QStringList({QStringLiteral("a b"), QStringLiteral("c")}));
        QCOMPARE(again.spec().environment.size(), 1);
    }

    void launchDialogTakesALaunchersCommand() {
        LaunchDialog dialog;
        LaunchSpec spec;
        spec.command = {QStringLiteral("mpirun"), QStringLiteral("-n"), QStringLiteral("2"),
                        QStringLiteral("./a"),    QStringLiteral(":"),  QStringLiteral("-n"),
                        QStringLiteral("2"),      QStringLiteral("./b")};
        dialog.setSpec(spec);
        QCOMPARE(dialog.spec().command, spec.command);
        QVERIFY(!dialog.findChild<QSpinBox*>()->isEnabled());
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
        auto* splitter = m_window->findChild<QSplitter*>();
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

    void bothStylesDraw() {
        open();
        stop({118, 120, 130, 140});
        QTRY_VERIFY(m_window->sourceView()->currentEditor() != nullptr);
        const auto darkness = [this] {
            const QImage image = m_window->grab().toImage();
            qint64 sum = 0;
            for (int y = 0; y < image.height(); y += 7) {
                for (int x = 0; x < image.width(); x += 7) {
                    sum += qGray(image.pixel(x, y));
                }
            }
            return sum / ((image.height() / 7 + 1) * (image.width() / 7 + 1));
        };
        QVERIFY(darkness() > 180);
        m_window->setColourStyle(ColourStyle::Dark, false);
        QCoreApplication::processEvents();
        QVERIFY(darkness() < 90);
    }

    void pictures() {
        // STOPLINE_TEST_PICTURES=DIRECTORY leaves pictures for looking at.
        const QString directory = qEnvironmentVariable("STOPLINE_TEST_PICTURES");
        if (directory.isEmpty()) {
            QSKIP("STOPLINE_TEST_PICTURES names no directory");
        }
        for (const int ranks : {4, 64}) {
            for (const auto style : {ColourStyle::Light, ColourStyle::Dark}) {
                m_session = std::make_unique<Session>();
                applyStyle(style);
                open();
                std::vector<int> lines;
                for (int i = 0; i < ranks; ++i) {
                    lines.push_back(i % 3 == 0 ? 118 : 118 + i % 5);
                }
                stop(lines);
                recordMessages(*m_session, ranks);
                for (int i = 1; i < ranks; i += 7) {
                    scriptOf(*m_session).ranks[static_cast<std::size_t>(i)].phase = RankPhase::Running;
                    scriptOf(*m_session).ranks[static_cast<std::size_t>(i)].insideMpi = i % 2 == 0;
                }
                scriptOf(*m_session).ranks[2].why = StopWhy::Breakpoint;
                emit m_session->ranksChanged();
                m_window->look()->selectCall(CallRef{RankId{0}, CallIndex{1}}, false);
                QTest::qWait(500);
                const QString name =
                    QStringLiteral("%1-%2.png")
                        .arg(ranks)
                        .arg(style == ColourStyle::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
                QVERIFY(m_window->grab().save(QDir(directory).filePath(name)));
                m_window.reset();
            }
        }
    }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
