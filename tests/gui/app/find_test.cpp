// Searching the source: the bar, its keys, and what the same key does in the diagram.
#include "../../../app/diagram_pane.h"
#include "../../../app/source_view.h"
#include "../../../viewer/diagram_widget.h"
#include "window_fixture.h"

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>

class FindTest : public WindowFixture {
    Q_OBJECT

    [[nodiscard]] SourceEditor* editor() const { return m_window->sourceView()->currentEditor(); }
    template <typename T>
    [[nodiscard]] T* part(const char* name) const {
        return m_window->findChild<T*>(QString::fromLatin1(name));
    }
    [[nodiscard]] QFrame* bar() const { return part<QFrame>("findBar"); }
    [[nodiscard]] QLineEdit* field() const { return part<QLineEdit>("findText"); }
    [[nodiscard]] QString note() const { return part<QLabel>("findNote")->text(); }

    /// How many places in the text are marked as hits.
    [[nodiscard]] int marked() const {
        int count = 0;
        const long end = editor()->SendScintilla(QsciScintilla::SCI_GETLENGTH);
        for (long at = 0; at < end;) {
            const long value = editor()->SendScintilla(QsciScintilla::SCI_INDICATORVALUEAT, 8UL, at);
            count += value != 0 ? 1 : 0;
            const long next = editor()->SendScintilla(QsciScintilla::SCI_INDICATOREND, 8UL, at);
            at = next > at ? next : end;
        }
        return count;
    }

    /// With the source open at a line and the keyboard in it.
    void openSource(int line = 1) {
        open();
        QVERIFY(m_window->sourceView()->openFile(m_source, line).isEmpty());
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        editor()->setFocus();
    }

    void press(QWidget* where, Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(where, key, modifiers);
    }

  private slots:
    void hitsAreCountedMarkedAndVisited() {
        openSource();
        QVERIFY(!bar()->isVisible());
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QVERIFY(bar()->isVisible());
        QVERIFY(field()->hasFocus());
        QTest::keyClicks(field(), QStringLiteral("line_1"));
        QCOMPARE(note(), QStringLiteral("1 of 111")); // 1, 10 to 19, 100 to 199
        QCOMPARE(editor()->selectedText(), QStringLiteral("line_1"));
        QCOMPARE(editor()->cursorLine(), 1);
        QCOMPARE(marked(), 111);
        press(field(), Qt::Key_Return);
        QCOMPARE(note(), QStringLiteral("2 of 111"));
        QCOMPARE(editor()->cursorLine(), 10);
        press(field(), Qt::Key_F3);
        QCOMPARE(editor()->cursorLine(), 11);
        press(field(), Qt::Key_F3, Qt::ShiftModifier);
        press(field(), Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(editor()->cursorLine(), 1);
        press(field(), Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(note(), QStringLiteral("111 of 111, from the end again"));
        QCOMPARE(editor()->cursorLine(), 199);
        // In view, with some lines around it.
        const long first = editor()->SendScintilla(QsciScintilla::SCI_GETFIRSTVISIBLELINE);
        QVERIFY(first <= 194 && first + editor()->SendScintilla(QsciScintilla::SCI_LINESONSCREEN) > 198);
        press(field(), Qt::Key_Return);
        QCOMPARE(note(), QStringLiteral("1 of 111, from the top again"));
        QCOMPARE(editor()->cursorLine(), 1);
        if (const QString directory = qEnvironmentVariable("STOPLINE_TEST_PICTURES"); !directory.isEmpty()) {
            QVERIFY(m_window->grab().save(directory + QStringLiteral("/find.png")));
        }
    }

    void typingNarrowsFromWhereTheCursorWas() {
        openSource(120);
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(field(), QStringLiteral("line_1"));
        QCOMPARE(editor()->cursorLine(), 120);
        QTest::keyClicks(field(), QStringLiteral("4"));
        QCOMPARE(editor()->cursorLine(), 140);
        press(field(), Qt::Key_Backspace);
        QCOMPARE(editor()->cursorLine(), 120);
        field()->selectAll();
        QTest::keyClicks(field(), QStringLiteral("line_7;"));
        QCOMPARE(note(), QStringLiteral("1 of 1, from the top again"));
        QCOMPARE(editor()->cursorLine(), 7);
        field()->selectAll();
        QTest::keyClicks(field(), QStringLiteral("no such thing"));
        QCOMPARE(note(), QStringLiteral("not in this file"));
        QCOMPARE(marked(), 0);
        QCOMPARE(editor()->cursorLine(), 120); // as far as there was something
        press(field(), Qt::Key_Return);
        QCOMPARE(editor()->cursorLine(), 120);
    }

    void capitalsDifferWhenAskedTo() {
        openSource();
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(field(), QStringLiteral("LINE_20"));
        QCOMPARE(note(), QStringLiteral("1 of 2")); // 20 and 200
        auto* button = part<QToolButton>("findCase");
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(note(), QStringLiteral("not in this file"));
        QVERIFY(field()->hasFocus());
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(note(), QStringLiteral("1 of 2"));
    }

    void escClosesFromBothPlaces() {
        openSource();
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(field(), QStringLiteral("line_5"));
        press(field(), Qt::Key_Escape);
        QVERIFY(!bar()->isVisible());
        QVERIFY(editor()->hasFocus());
        QCOMPARE(marked(), 0);
        press(editor(), Qt::Key_F3); // what was searched for last
        QVERIFY(bar()->isVisible());
        QVERIFY(editor()->hasFocus());
        QCOMPARE(editor()->cursorLine(), 50);
        press(editor(), Qt::Key_Escape);
        QVERIFY(!bar()->isVisible());
    }

    void selectedTextIsSearchedFor() {
        openSource();
        editor()->setSelection(32, 4, 32, 11); // line_33
        QCOMPARE(editor()->selectedText(), QStringLiteral("line_33"));
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QCOMPARE(field()->text(), QStringLiteral("line_33"));
        QCOMPARE(note(), QStringLiteral("1 hit"));
    }

    void eachFileIsSearchedByItself() {
        openSource();
        const QString other = m_directory.filePath(QStringLiteral("other.c"));
        QFile file(other);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("int line_3;\nint line_3;\n");
        file.close();
        press(editor(), Qt::Key_F, Qt::ControlModifier);
        QTest::keyClicks(field(), QStringLiteral("line_3;"));
        QCOMPARE(note(), QStringLiteral("1 of 1"));
        QVERIFY(m_window->sourceView()->openFile(other).isEmpty());
        QCOMPARE(note(), QStringLiteral("2 hits"));
        QCOMPARE(marked(), 2);
        auto* tabs = m_window->sourceView()->findChild<QTabWidget*>();
        emit tabs->tabCloseRequested(tabs->currentIndex());
        QCOMPARE(m_window->sourceView()->openCount(), 1);
        press(editor(), Qt::Key_F3);
        QCOMPARE(note(), QStringLiteral("1 of 1, from the top again"));
    }

    void theDiagramHasItsOwnSearch() {
        openSource();
        recordMessages(*m_session, 4);
        emit m_session->ranksChanged();
        auto* diagram = m_window->diagramPane()->diagram();
        diagram->setFocus();
        press(diagram, Qt::Key_F, Qt::ControlModifier);
        QVERIFY(!bar()->isVisible());
        auto* search = diagram->findChild<QFrame*>(QStringLiteral("diagramSearch"));
        QVERIFY(search != nullptr && search->isVisible());
    }

    void whereThereIsNothingToSearchThatIsSaid() {
        open();
        m_window->findChild<QLineEdit*>(QStringLiteral("outputText"))->setFocus();
        m_window->actions()->find->trigger();
        QVERIFY(!bar()->isVisible());
        QCOMPARE(m_window->statusBar()->currentMessage(), QStringLiteral("No source file is open."));
        QVERIFY(m_window->sourceView()->openFile(m_source, 1).isEmpty());
        m_window->findChild<QSplitter*>(QStringLiteral("centre"))->setSizes({0, 1000}); // the diagram alone
        QCOMPARE(m_window->findChild<QSplitter*>(QStringLiteral("centre"))->sizes().first(), 0);
        m_window->actions()->find->trigger();
        QVERIFY(m_window->findChild<QSplitter*>(QStringLiteral("centre"))->sizes().first() > 0);
        QVERIFY(bar()->isVisible());
    }
};

QTEST_MAIN(FindTest)
#include "find_test.moc"
