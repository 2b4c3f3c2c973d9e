// The widget as a user meets it: selection, keys, signals, search, actions, export.
#include "widget_fixture.h"

#include <QAction>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

class DiagramWidgetTest : public QObject {
    Q_OBJECT
  private slots:
    void init() {
        m_fixture = std::make_unique<WidgetFixture>(hangStory(4, 6, 3));
        QVERIFY(m_fixture->ready());
    }
    void cleanup() { m_fixture.reset(); }

    void clickSelects() {
        QSignalSpy spy(&m_fixture->widget, &DiagramWidget::selectionChanged);
        QTest::mouseClick(&m_fixture->widget, Qt::LeftButton, {}, m_fixture->centreOf(Story::ref(0, 2)));
        QCOMPARE(spy.count(), 1);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 2));
        QVERIFY(m_fixture->widget.geometry().selection.has_value());
        QVERIFY(m_fixture->widget.accessibleDescription().contains(u"MPI_Send"_s));
        // Beside everything: nothing.
        QTest::mouseClick(&m_fixture->widget, Qt::LeftButton, {},
                          m_fixture->widget.plotRect().bottomRight() - QPoint(2, 2));
        QVERIFY(!m_fixture->widget.selection());
    }

    void pointKeys() {
        QSignalSpy spy(&m_fixture->widget, &DiagramWidget::pointPicked);
        QTest::keyClick(&m_fixture->widget, Qt::Key_B);
        QCOMPARE(spy.count(), 0); // nothing selected
        m_fixture->widget.select(Story::ref(1, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_B);
        QCOMPARE(spy.count(), 1);
        auto point = spy.at(0).at(0).value<replay::Point>();
        QVERIFY(point == (replay::Point{Story::ref(1, 1), false}));
        QTest::keyClick(&m_fixture->widget, Qt::Key_B, Qt::ShiftModifier);
        point = spy.at(1).at(0).value<replay::Point>();
        QVERIFY(point == (replay::Point{Story::ref(1, 1), true}));
        // No "after" of a call that has not returned.
        m_fixture->widget.select(Story::ref(1, 4));
        QTest::keyClick(&m_fixture->widget, Qt::Key_B, Qt::ShiftModifier);
        QCOMPARE(spy.count(), 2);
    }

    void controlKeys() {
        QSignalSpy frontier(&m_fixture->widget, &DiagramWidget::frontierRequested);
        QSignalSpy stopline(&m_fixture->widget, &DiagramWidget::stoplineRequested);
        QSignalSpy go(&m_fixture->widget, &DiagramWidget::goRequested);
        QSignalSpy undo(&m_fixture->widget, &DiagramWidget::undoRequested);
        QSignalSpy rollback(&m_fixture->widget, &DiagramWidget::rollbackRequested);
        QSignalSpy source(&m_fixture->widget, &DiagramWidget::sourceRequested);
        QSignalSpy focus(&m_fixture->widget, &DiagramWidget::focusRequested);
        for (const Qt::Key key : {Qt::Key_P, Qt::Key_N, Qt::Key_L, Qt::Key_G, Qt::Key_U, Qt::Key_Backspace}) {
            QTest::keyClick(&m_fixture->widget, key);
        }
        QCOMPARE(frontier.count(), 2);
        QCOMPARE(frontier.at(0).at(0).toBool(), false);
        QCOMPARE(frontier.at(1).at(0).toBool(), true);
        QCOMPARE(stopline.count(), 1);
        QCOMPARE(go.count(), 1);
        QCOMPARE(undo.count(), 1);
        QCOMPARE(rollback.count(), 1);
        m_fixture->widget.select(Story::ref(2, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_Return);
        QCOMPARE(source.count(), 1);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(focus.count(), 1);
        QCOMPARE(focus.at(0).at(0).value<RankId>().value(), 2);
    }

    void keyboardNavigation() {
        m_fixture->widget.select(Story::ref(0, 1)); // send to 1, first row
        QTest::keyClick(&m_fixture->widget, Qt::Key_Period);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 2));
        QTest::keyClick(&m_fixture->widget, Qt::Key_Comma);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_BracketRight);
        QVERIFY(m_fixture->widget.selection() == Story::ref(1, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_BracketLeft);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_Down);
        QCOMPARE(m_fixture->widget.selection()->rank.value(), 1);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Up);
        QCOMPARE(m_fixture->widget.selection()->rank.value(), 0);
        m_fixture->widget.select(Story::ref(0, 0));
        QTest::keyClick(&m_fixture->widget, Qt::Key_Backslash);
        QVERIFY(m_fixture->widget.selection() == Story::ref(1, 0));
        m_fixture->widget.select(Story::ref(0, 1));
        QTest::keyClick(&m_fixture->widget, Qt::Key_Period, Qt::AltModifier);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 2));
    }

    void linesAndDimmingAreDrawn() {
        const replay::Point point{Story::ref(0, 4), true};
        m_fixture->widget.setPoint(point);
        m_fixture->widget.setPastFrontier(m_fixture->timeline().pastFrontier(point));
        m_fixture->widget.setFutureFrontier(m_fixture->timeline().futureFrontier(point));
        m_fixture->widget.setStopline(m_fixture->timeline().futureFrontier(point));
        m_fixture->widget.setGhost(m_fixture->timeline().pastFrontier(point).cut);
        QVERIFY(m_fixture->widget.geometry().point.has_value());
        QCOMPARE(m_fixture->widget.geometry().lines.size(), std::size_t(4));
        const replay::Cut cut = m_fixture->timeline().futureFrontier(point).cut;
        std::vector<RowState> rows(4);
        for (std::size_t r = 0; r < 4; ++r) {
            rows[r].place = cut[r];
        }
        m_fixture->widget.setRowStates(rows);
        int dimmed = 0;
        for (const Box& box : m_fixture->widget.geometry().boxes) {
            const replay::Call call = m_fixture->timeline().call(Story::ref(box.row, box.call));
            const replay::Place place = cut[std::size_t(box.row)];
            QCOMPARE(box.dimmed, call.begin > place.event || (call.begin == place.event && !place.inside));
            dimmed += box.dimmed ? 1 : 0;
        }
        QVERIFY(dimmed > 0);
        m_fixture->widget.setPastFrontier(std::nullopt);
        QCOMPARE(m_fixture->widget.geometry().lines.size(), std::size_t(3));
    }

    void search() {
        QTest::keyClick(&m_fixture->widget, Qt::Key_Slash);
        auto* edit = m_fixture->widget.findChild<QLineEdit*>();
        QVERIFY(edit != nullptr && edit->isVisible());
        edit->setFocus();
        // Letters that are shortcuts of the diagram are text here.
        QSignalSpy go(&m_fixture->widget, &DiagramWidget::goRequested);
        QTest::keyClicks(edit, u"send tag=1 g"_s);
        QCOMPARE(edit->text(), u"send tag=1 g"_s);
        QCOMPARE(go.count(), 0);
        edit->setText(u"send tag=1"_s);
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 4)); // the first of the second round
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 5));
        QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
        QVERIFY(m_fixture->widget.selection() == Story::ref(0, 4));
        QTest::keyClick(edit, Qt::Key_Escape);
        QVERIFY(!edit->isVisible());
    }

    void everyVerbIsAnAction() {
        QStringList names;
        for (const QAction* action : m_fixture->widget.actions()) {
            names << action->objectName();
            QCOMPARE(action->shortcutContext(), Qt::WidgetWithChildrenShortcut);
            QVERIFY(!action->shortcuts().isEmpty());
            QVERIFY(!action->text().isEmpty());
        }
        for (const QString& name :
             {u"diagram.next"_s, u"diagram.pointAfter"_s, u"diagram.go"_s, u"diagram.help"_s}) {
            QVERIFY(names.contains(name));
        }
        QCOMPARE(QSet<QString>(names.begin(), names.end()).size(), names.size());
        QTest::keyClick(&m_fixture->widget, Qt::Key_Question);
        QVERIFY(m_fixture->widget.findChild<QWidget*>(u"diagramHelp"_s)->isVisible());
    }

    void exportsImages() {
        QTemporaryDir folder;
        QVERIFY(m_fixture->widget.exportImage(folder.filePath(u"a.png"_s)));
        QCOMPARE(QImage(folder.filePath(u"a.png"_s)).size(), m_fixture->widget.size());
        QVERIFY(m_fixture->widget.exportImage(folder.filePath(u"a.pdf"_s)));
        QVERIFY(!m_fixture->widget.exportImage(u"/dev/null/a.png"_s));
    }

  private:
    std::unique_ptr<WidgetFixture> m_fixture;
};

QTEST_MAIN(DiagramWidgetTest)
#include "diagram_widget_test.moc"
