// Zoom, pan, the view stack, axes, rows, following the end.
#include "widget_fixture.h"

#include <QSignalSpy>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

class DiagramViewTest : public QObject {
    Q_OBJECT
  private slots:
    void init() {
        m_fixture = std::make_unique<WidgetFixture>(hangStory(4, 6, 3));
        QVERIFY(m_fixture->ready());
    }
    void cleanup() { m_fixture.reset(); }

    void zoomKeepsWhatIsUnderThePointer() {
        const QPoint at = m_fixture->widget.plotRect().topLeft() + QPoint(333, 40);
        const double x = 333;
        const std::int64_t before = m_fixture->widget.geometry().view.unitAt(x);
        for (int i = 0; i < 12; ++i) {
            m_fixture->wheel(at, 120, Qt::ControlModifier);
        }
        const AxisView in = m_fixture->widget.geometry().view;
        QVERIFY(std::abs(in.unitAt(x) - before) <= 1);
        QVERIFY(in.span() > 0);
        for (int i = 0; i < 6; ++i) {
            m_fixture->wheel(at, -120, Qt::ControlModifier);
        }
        QVERIFY(m_fixture->widget.geometry().view.span() > in.span());
        QVERIFY(std::abs(m_fixture->widget.geometry().view.unitAt(x) - before) <= 1);
        QTest::mouseMove(&m_fixture->widget, at);
        QTest::keyClick(&m_fixture->widget, Qt::Key_W);
        QVERIFY(std::abs(m_fixture->widget.geometry().view.unitAt(x) - before) <= 1);
    }

    void panAndViewStack() {
        const AxisView whole = m_fixture->widget.geometry().view;
        m_fixture->widget.zoomBy(4);
        const AxisView near = m_fixture->widget.geometry().view;
        QVERIFY(near.span() < whole.span());
        QTest::keyClick(&m_fixture->widget, Qt::Key_D);
        QVERIFY(m_fixture->widget.geometry().view.begin > near.begin);
        QTest::keyClick(&m_fixture->widget, Qt::Key_A);
        QCOMPARE(m_fixture->widget.geometry().view.begin, near.begin);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Z, Qt::AltModifier);
        QVERIFY(m_fixture->widget.geometry().view == whole);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Z, Qt::AltModifier | Qt::ShiftModifier);
        QVERIFY(m_fixture->widget.geometry().view == near);
        // At first the view begins where all ranks have left MPI_Init; Home shows that too.
        QVERIFY(whole.begin > 0);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Home);
        QVERIFY(m_fixture->widget.geometry().view.begin <= 0);
        QVERIFY(m_fixture->widget.geometry().view.end >= whole.end);
    }

    void rangeThenEnterZooms() {
        const QRect plot = m_fixture->widget.plotRect();
        const AxisView before = m_fixture->widget.geometry().view;
        const QPoint from = plot.topLeft() + QPoint(200, 10);
        const QPoint to = plot.topLeft() + QPoint(400, 60);
        QTest::mousePress(&m_fixture->widget, Qt::LeftButton, {}, from);
        QTest::mouseMove(&m_fixture->widget, from + QPoint(30, 5));
        QTest::mouseMove(&m_fixture->widget, to);
        QTest::mouseRelease(&m_fixture->widget, Qt::LeftButton, {}, to);
        QTest::keyClick(&m_fixture->widget, Qt::Key_Return);
        const AxisView after = m_fixture->widget.geometry().view;
        QVERIFY(std::abs(after.begin - before.unitAt(200)) <= 1);
        QVERIFY(std::abs(after.end - before.unitAt(400)) <= 1);
    }

    void axisSwitchKeepsTheSelectionInPlace() {
        m_fixture->widget.select(Story::ref(0, 5));
        m_fixture->widget.zoomBy(3);
        m_fixture->widget.reveal(Story::ref(0, 5));
        const int before = m_fixture->widget.geometry().selection->box->x0;
        m_fixture->widget.setAxis(Axis::Events);
        QCOMPARE(m_fixture->widget.axis(), Axis::Events);
        QVERIFY(std::abs(m_fixture->widget.geometry().selection->box->x0 - before) <= 1);
        QTest::keyClick(&m_fixture->widget, Qt::Key_T);
        QCOMPARE(m_fixture->widget.axis(), Axis::Time);
        QVERIFY(std::abs(m_fixture->widget.geometry().selection->box->x0 - before) <= 1);
    }

    void theRowOfTheFocusComesIntoView() {
        Story story = haloStory(64, 2);
        DiagramWidget& widget = m_fixture->widget;
        widget.setTimeline(&story.timeline());
        const auto inView = [&widget](int row) {
            const RowLayout& layout = widget.geometry().layout;
            return layout.top(row) >= 0 && layout.bottom(row) <= layout.viewportHeight;
        };
        widget.resize(600, 260);
        QVERIFY(!inView(40));
        widget.setFocusRank(RankId{40});
        QVERIFY(inView(40));
        // What the user has scrolled to stays as long as the rank does.
        const QPoint middle = widget.plotRect().center();
        while (inView(40)) {
            m_fixture->wheel(middle, 480, {});
        }
        widget.setFocusRank(RankId{40});
        QVERIFY(!inView(40));
        widget.setFocusRank(RankId{63});
        QVERIFY(inView(63));
        widget.setFocusRank(RankId{0});
        QVERIFY(inView(0));
    }

    void axisSwitchStaysInTheRun() {
        // Many events late in the run, of which the first is selected: there is nothing to see after the
        // last.
        constexpr TimeNs kLate = 1'000'000'000;
        Story story(2);
        for (int r = 0; r < 2; ++r) {
            story.init(r, 0, 10);
        }
        for (int i = 0; i < 50; ++i) {
            story.send(0, 1, 1, 8, kLate + i * 100, kLate + i * 100 + 50);
            story.recv(1, 0, 1, 8, kLate + i * 100, kLate + i * 100 + 80);
        }
        DiagramWidget& widget = m_fixture->widget;
        widget.setTimeline(&story.timeline());
        widget.fitAll();
        const std::int64_t end = widget.geometry().view.end;
        widget.setAxis(Axis::Events);
        widget.fitAll();
        widget.zoomBy(1.05);
        widget.select(Story::ref(0, 1));
        widget.setAxis(Axis::Time);
        QVERIFY(widget.geometry().view.end <= end);
        QVERIFY(widget.geometry().selection->box.has_value()); // and it is in view
    }

    void followsTheRightEdge() {
        Story story = haloStory(2, 20);
        m_fixture->widget.setTimeline(&story.timeline());
        m_fixture->widget.zoomBy(8);
        QTest::keyClick(&m_fixture->widget, Qt::Key_End);
        const AxisView before = m_fixture->widget.geometry().view;
        const TimeNs last = story.timeline().axisTime(RankId{0}, story.timeline().lastEvent(RankId{0}));
        QVERIFY(before.end >= last);
        story.collective(0, trace::FunctionId::Barrier, kNoPeer, last + before.span(),
                         last + before.span() + 10);
        m_fixture->widget.timelineChanged();
        const AxisView after = m_fixture->widget.geometry().view;
        QCOMPARE(after.span(), before.span());
        QVERIFY(after.end >= last + before.span());
        // Looking elsewhere: the view stays.
        for (int i = 0; i < 5; ++i) {
            m_fixture->wheel(m_fixture->widget.plotRect().center(), 240, Qt::ShiftModifier);
        }
        const AxisView away = m_fixture->widget.geometry().view;
        story.collective(0, trace::FunctionId::Barrier, kNoPeer, last + 9 * before.span(),
                         last + 9 * before.span() + 10);
        m_fixture->widget.timelineChanged();
        QVERIFY(m_fixture->widget.geometry().view == away);
    }

    void labelAndWheel() {
        QSignalSpy focus(&m_fixture->widget, &DiagramWidget::focusRequested);
        const QRect plot = m_fixture->widget.plotRect();
        const int row2 = m_fixture->widget.geometry().layout.centre(2);
        QTest::mouseClick(&m_fixture->widget, Qt::LeftButton, {}, QPoint(plot.left() / 2, plot.top() + row2));
        QCOMPARE(focus.count(), 1);
        QCOMPARE(focus.at(0).at(0).value<RankId>().value(), 2);
        const int height = m_fixture->widget.geometry().layout.rowHeight;
        m_fixture->wheel(plot.center(), 120, Qt::AltModifier);
        QVERIFY(m_fixture->widget.geometry().layout.rowHeight > height);
        for (int i = 0; i < 20; ++i) {
            m_fixture->wheel(plot.center(), 120, Qt::AltModifier);
        }
        QCOMPARE(m_fixture->widget.geometry().layout.scroll >= 0, true);
        m_fixture->wheel(plot.center(), -1200, {});
        QVERIFY(m_fixture->widget.geometry().layout.scroll > 0);
    }

  private:
    std::unique_ptr<WidgetFixture> m_fixture;
};

QTEST_MAIN(DiagramViewTest)
#include "diagram_view_test.moc"
