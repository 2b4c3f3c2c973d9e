// Source files that change while they are on show, and where they come from.
#include "../../../app/log_dock.h"
#include "../../../app/log_model.h"
#include "../../../app/source_view.h"
#include "window_fixture.h"

#include <QDateTime>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>

class SourceTest : public WindowFixture {
    Q_OBJECT

    QString m_program;

    static void write(const QString& path, const QByteArray& text, const QDateTime& when) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
        file.flush();
        QVERIFY(file.setFileTime(when, QFileDevice::FileModificationTime));
    }

    static QByteArray numbered(const char* name, int lines) {
        QByteArray text;
        for (int line = 1; line <= lines; ++line) {
            text += "int " + QByteArray(name) + "_" + QByteArray::number(line) + ";\n";
        }
        return text;
    }

    /// As a process that gdb has joined.
    void setPid(qint64 pid) {
        for (RankView& view : scriptOf(*m_session).ranks) {
            view.pid = pid;
        }
        emit m_session->ranksChanged();
    }

    [[nodiscard]] SourceEditor* editor() const { return m_window->sourceView()->currentEditor(); }
    [[nodiscard]] int problems() const { return m_window->findChild<LogDock*>()->model()->problems(); }
    [[nodiscard]] QTabWidget* tabs() const { return m_window->sourceView()->findChild<QTabWidget*>(); }

    static bool marked(SourceEditor* editor, int line) { return editor->markersAtLine(line - 1) != 0; }

    /// The mark in the margin of the breakpoint at this line.
    static unsigned markOf(SourceEditor* editor, int line) { return editor->markersAtLine(line - 1); }

  private slots:
    void aRefusedBreakpointIsMarkedAsSuch() {
        open();
        stop({118, 120});
        QTRY_VERIFY(editor() != nullptr && editor()->cursorLine() == 118);
        m_session->addBreakpoint(m_source + QStringLiteral(":130"));
        scriptOf(*m_session).refuses = QStringLiteral("No symbol \"nosuch\" in current context.");
        const int refused =
            m_session->addBreakpoint(m_source + QStringLiteral(":131"), QStringLiteral("nosuch"));
        QVERIFY(marked(editor(), 130) && marked(editor(), 131));
        const unsigned mark = markOf(editor(), 131);
        QVERIFY(mark != markOf(editor(), 130));
        m_session->setBreakpointEnabled(refused, false);
        QVERIFY(marked(editor(), 131) && markOf(editor(), 131) != mark); // nobody is asked to set it any more
        m_session->removeBreakpoint(refused);
        QVERIFY(!marked(editor(), 131));
    }

    /// The text does not jump sideways when ranks come and go.
    void theMarginOfRanksNeverShrinks() {
        open();
        stop({118});
        QTRY_VERIFY(editor() != nullptr);
        QCoreApplication::processEvents();
        const int usual = editor()->marginWidth(SourceEditor::kRankMargin);
        QVERIFY(usual > 0);
        stop({118, 118, 118, 118, 120, 118});
        QCoreApplication::processEvents(); // "0-3,5": as much as there is room for from the beginning
        QCOMPARE(editor()->marginWidth(SourceEditor::kRankMargin), usual);
        stop({118, 120, 118, 120, 118, 120, 118, 120});
        QCoreApplication::processEvents(); // "0,2,4,6"
        const int wider = editor()->marginWidth(SourceEditor::kRankMargin);
        QVERIFY(wider > usual);
        stop({118});
        QCoreApplication::processEvents();
        QCOMPARE(editor()->marginWidth(SourceEditor::kRankMargin), wider);
        scriptOf(*m_session).ranks.clear();
        emit m_session->ranksChanged();
        QCoreApplication::processEvents();
        QCOMPARE(editor()->marginWidth(SourceEditor::kRankMargin), wider);
    }

    void theMarkOfACallGoesWithIt() {
        open();
        QVERIFY(m_window->sourceView()->openFile(m_source, 1).isEmpty());
        SourceEditor* source = editor(); // that of other calls is not to be found here
        recordMessages(*m_session, 4);
        emit m_session->ranksChanged();
        const auto select = [this](unsigned call, int line) {
            m_window->look()->selectCall(CallRef{RankId{0}, CallIndex{call}}, false);
            m_window->sourceView()->showLocation({m_source, line, QStringLiteral("main"), {}}, SourceEditor::LineKind::Call);
        };
        select(1, 40);
        QVERIFY(marked(source, 40));
        m_window->look()->selectCall(CallRef{RankId{0}, CallIndex{2}}, false); // one whose line nobody asks for
        QVERIFY(!marked(source, 40));
        select(1, 40);
        QVERIFY(marked(source, 40));
        emit m_session->timelineReplaced(); // Restart
        QVERIFY(!marked(source, 40));
    }

    void theCurrentLineStaysInViewWhenSizesChange() {
        open();
        stop({180});
        QTRY_VERIFY(editor() != nullptr && editor()->cursorLine() == 180);
        for (int i = 0; i < 8; ++i) {
            m_window->cycleSplitter();
            QTest::qWait(20);
            if (m_window->findChild<QSplitter*>(QStringLiteral("centre"))->sizes().first() == 0) {
                continue;
            }
            const long first = editor()->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
            const long count = editor()->SendScintilla(QsciScintilla::SCI_LINESONSCREEN);
            QVERIFY2(first <= 179 && 179 < first + count, qPrintable(QString::number(first)));
        }
    }

    void aChangedFileIsReadAgainAndSaidToBe() {
        const QDateTime built = QDateTime::currentDateTime().addSecs(-100);
        m_program = m_directory.filePath(QStringLiteral("solver"));
        write(m_program, "program", built);
        write(m_source, numbered("line", 200), built.addSecs(-1));
        open();
        LaunchSpec spec;
        spec.program = m_program;
        m_window->setLaunch(spec);
        m_session->addBreakpoint(m_source + QStringLiteral(":115"));
        stop({118, 120});
        setPid(100);
        QTRY_VERIFY(editor() != nullptr && editor()->cursorLine() == 118);
        QTRY_VERIFY(!m_window->look()->stale());
        QVERIFY(tabs()->tabIcon(0).isNull());
        const auto top = editor()->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
        QVERIFY(top > 0);

        write(m_source, numbered("fresh", 210), built.addSecs(50));
        QTRY_COMPARE(editor()->text(117).trimmed(), QStringLiteral("int fresh_118;"));
        QCOMPARE(editor()->cursorLine(), 118);
        QCOMPARE(editor()->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE), top);
        QVERIFY(marked(editor(), 118)); // by the arrow
        QVERIFY(marked(editor(), 115)); // by the breakpoint
        QVERIFY(!marked(editor(), 1));
        const QString said = m_window->messageBar()->text();
        QVERIFY2(
            said.contains(QStringLiteral("solver.c has changed since solver was built; lines may be off.")),
            qPrintable(said));
        QVERIFY(said.contains(QStringLiteral("Rebuild and Restart")));
        QCOMPARE(problems(), 1);
        QVERIFY(!tabs()->tabIcon(0).isNull());

        m_window->actions()->stepOver->trigger(); // the bar goes; the next stop says nothing again
        stop({119, 121});
        QTRY_COMPARE(editor()->cursorLine(), 119);
        QVERIFY(!m_window->messageBar()->isVisible());
        QCOMPARE(problems(), 1);

        // Built again, started again.
        write(m_program, "program 2", built.addSecs(60));
        emit m_session->timelineReplaced();
        setPid(200);
        stop({119, 121});
        QVERIFY(tabs()->tabIcon(0).isNull());
        QCOMPARE(problems(), 1);
    }

    /// A library that was built alone knows its own sources, whatever the program's age.
    void aSourceIsComparedWithTheLibraryItsFrameIsIn() {
        const QDateTime built = QDateTime::currentDateTime().addSecs(-100);
        m_program = m_directory.filePath(QStringLiteral("solver"));
        const QString library = m_directory.filePath(QStringLiteral("libuser.so"));
        write(m_program, "program", built);
        write(m_source, numbered("line", 200), built.addSecs(10));
        write(library, QByteArray(4096, 'x'), built.addSecs(20));
        QFile mapped(library); // the process that has it loaded is this one
        QVERIFY(mapped.open(QIODevice::ReadOnly));
        const uchar* loaded = mapped.map(0, 4096);
        QVERIFY(loaded != nullptr);
        mi::Frame frame;
        frame.function = QStringLiteral("solve");
        frame.fullName = m_source;
        frame.line = 118;
        frame.address = quint64(reinterpret_cast<quintptr>(loaded)) + 16;
        open();
        LaunchSpec spec;
        spec.program = m_program;
        m_window->setLaunch(spec);
        standAt(*m_session, m_source, {118, 120});
        scriptOf(*m_session).frames = {frame};
        setPid(QCoreApplication::applicationPid());
        emit m_session->stopped();
        QTRY_VERIFY(editor() != nullptr && m_window->look()->frame() == 0 && !m_window->look()->stale());
        QVERIFY(tabs()->tabIcon(0).isNull());
        QCOMPARE(problems(), 0);

        write(m_source, numbered("fresh", 200), built.addSecs(50));
        QTRY_COMPARE(problems(), 1);
        QVERIFY2(m_window->messageBar()->text().contains(
                     QStringLiteral("solver.c has changed since libuser.so was built; lines may be off.")),
                 qPrintable(m_window->messageBar()->text()));
        QVERIFY(!tabs()->tabIcon(0).isNull());
    }

    void aFileSavedUnderAnotherNameAndRenamedIsStillWatched() {
        const QDateTime when = QDateTime::currentDateTime().addSecs(-100);
        write(m_source, numbered("line", 200), when);
        open();
        stop({118});
        QTRY_VERIFY(editor() != nullptr);
        for (int time = 1; time <= 2; ++time) {
            const QString other = m_source + QStringLiteral(".new");
            const QByteArray name = "save" + QByteArray::number(time);
            write(other, numbered(name.constData(), 200), when.addSecs(time));
            QVERIFY(QFile::remove(m_source) && QFile::rename(other, m_source));
            QTRY_COMPARE(editor()->text(0).trimmed(),
                         QStringLiteral("int %1_1;").arg(QString::fromUtf8(name)));
        }
    }

    void aProgramThatWasBuiltWhileItRanIsNotTheOneThatRuns() {
        const QDateTime built = QDateTime::currentDateTime().addSecs(-100);
        m_program = m_directory.filePath(QStringLiteral("solver"));
        write(m_program, "program", built);
        write(m_source, numbered("line", 200), built.addSecs(-1));
        open();
        LaunchSpec spec;
        spec.program = m_program;
        m_window->setLaunch(spec);
        stop({118});
        setPid(100);
        write(m_program, "program 2", built.addSecs(60)); // the order in which make is quicker than the watch
        write(m_source, numbered("fresh", 200), built.addSecs(50));
        QTRY_VERIFY(m_window->messageBar()->text().contains(QStringLiteral("lines may be off")));
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("It has been built again: Restart")));
        emit m_session->timelineReplaced(); // a new run, however it was started
        QVERIFY(!m_window->messageBar()->isVisible());
    }

    void aStopOnTheWayBackOpensNothing() {
        const QString other = m_directory.filePath(QStringLiteral("exchange.c"));
        write(other, numbered("other", 50), QDateTime::currentDateTime());
        open();
        stop({118, 118});
        QTRY_VERIFY(editor() != nullptr);
        Scripted& s = scriptOf(*m_session);
        const auto rankAt = [this, &s](RankPhase phase, const QString& file, int line) {
            for (RankView& view : s.ranks) {
                view.phase = phase;
                view.why = phase == RankPhase::Stopped ? StopWhy::Stopline : StopWhy::None;
                view.location = {file, line, QStringLiteral("exchange"), {}};
                emit m_session->rankChanged(view.rank);
            }
        };
        // Undo leads through a call in the other file and from there, line by line, back to this one.
        s.operation = QStringLiteral("Undo: 0 of 2 ranks there");
        emit m_session->operationChanged();
        rankAt(RankPhase::Running, {}, 0);
        rankAt(RankPhase::Stopped, other, 20);
        QTest::qWait(50);
        QCOMPARE(m_window->sourceView()->openCount(), 1);
        m_window->look()->showRank(RankId{1}); // unless it is asked for
        QCOMPARE(m_window->sourceView()->openCount(), 2);
        delete tabs()->widget(1);
        m_window->look()->showRank(RankId{0});
        delete tabs()->widget(1);

        s.operation.clear();
        emit m_session->operationChanged();
        s.operation = QStringLiteral("Undo: 0 of 2 ranks there");
        emit m_session->operationChanged();
        rankAt(RankPhase::Running, {}, 0);
        rankAt(RankPhase::Stopped, other, 20);
        rankAt(RankPhase::Running, {}, 0);
        rankAt(RankPhase::Stopped, m_source, 30);
        s.operation.clear();
        emit m_session->operationChanged();
        emit m_session->operationFinished(true, QStringLiteral("there"));
        emit m_session->stopped();
        QTRY_COMPARE(editor()->cursorLine(), 30);
        QVERIFY(marked(editor(), 30));
        QCOMPARE(m_window->sourceView()->openCount(), 1);
    }
};

QTEST_MAIN(SourceTest)
#include "source_test.moc"
