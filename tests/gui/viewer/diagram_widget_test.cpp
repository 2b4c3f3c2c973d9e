// The widget as a user meets it: mouse, keys, signals, and that nothing makes it fall over.
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "../../unit/viewer/synthetic.h"

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <memory>
#include <random>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

class DiagramWidgetTest : public QObject {
    Q_OBJECT
  private slots:
    void init() {
        m_story = std::make_unique<Story>(hangStory(4, 6, 3));
        m_widget = std::make_unique<DiagramWidget>();
        m_widget->resize(1000, 400);
        m_widget->setTimeline(&m_story->timeline());
        m_widget->show();
        m_widget->activateWindow();
        m_widget->setFocus();
        QVERIFY(QTest::qWaitForWindowActive(m_widget.get()));
    }
    void cleanup() {
        m_widget.reset();
        m_story.reset();
    }

    void clickSelects() {
        QSignalSpy spy(m_widget.get(), &DiagramWidget::selectionChanged);
        QTest::mouseClick(m_widget.get(), Qt::LeftButton, {}, centreOf(Story::ref(0, 2)));
        QCOMPARE(spy.count(), 1);
        QVERIFY(m_widget->selection() == Story::ref(0, 2));
        QVERIFY(m_widget->geometry().selection.has_value());
        QVERIFY(m_widget->accessibleDescription().contains(u"MPI_Send"_s));
        // Beside everything: nothing.
        QTest::mouseClick(m_widget.get(), Qt::LeftButton, {},
                          m_widget->plotRect().bottomRight() - QPoint(2, 2));
        QVERIFY(!m_widget->selection());
    }

    void pointKeys() {
        QSignalSpy spy(m_widget.get(), &DiagramWidget::pointPicked);
        QTest::keyClick(m_widget.get(), Qt::Key_B);
        QCOMPARE(spy.count(), 0); // nothing selected
        m_widget->select(Story::ref(1, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_B);
        QCOMPARE(spy.count(), 1);
        auto point = spy.at(0).at(0).value<replay::Point>();
        QVERIFY(point == (replay::Point{Story::ref(1, 1), false}));
        QTest::keyClick(m_widget.get(), Qt::Key_B, Qt::ShiftModifier);
        point = spy.at(1).at(0).value<replay::Point>();
        QVERIFY(point == (replay::Point{Story::ref(1, 1), true}));
        // No "after" of a call that has not returned.
        m_widget->select(Story::ref(1, 4));
        QTest::keyClick(m_widget.get(), Qt::Key_B, Qt::ShiftModifier);
        QCOMPARE(spy.count(), 2);
    }

    void controlKeys() {
        QSignalSpy frontier(m_widget.get(), &DiagramWidget::frontierRequested);
        QSignalSpy stopline(m_widget.get(), &DiagramWidget::stoplineRequested);
        QSignalSpy go(m_widget.get(), &DiagramWidget::goRequested);
        QSignalSpy undo(m_widget.get(), &DiagramWidget::undoRequested);
        QSignalSpy rollback(m_widget.get(), &DiagramWidget::rollbackRequested);
        QSignalSpy source(m_widget.get(), &DiagramWidget::sourceRequested);
        QSignalSpy focus(m_widget.get(), &DiagramWidget::focusRequested);
        for (const Qt::Key key : {Qt::Key_P, Qt::Key_N, Qt::Key_L, Qt::Key_G, Qt::Key_U, Qt::Key_Backspace}) {
            QTest::keyClick(m_widget.get(), key);
        }
        QCOMPARE(frontier.count(), 2);
        QCOMPARE(frontier.at(0).at(0).toBool(), false);
        QCOMPARE(frontier.at(1).at(0).toBool(), true);
        QCOMPARE(stopline.count(), 1);
        QCOMPARE(go.count(), 1);
        QCOMPARE(undo.count(), 1);
        QCOMPARE(rollback.count(), 1);
        m_widget->select(Story::ref(2, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_Return);
        QCOMPARE(source.count(), 1);
        QTest::keyClick(m_widget.get(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(focus.count(), 1);
        QCOMPARE(focus.at(0).at(0).value<RankId>().value(), 2);
    }

    void keyboardNavigation() {
        m_widget->select(Story::ref(0, 1)); // send to 1, first row
        QTest::keyClick(m_widget.get(), Qt::Key_Period);
        QVERIFY(m_widget->selection() == Story::ref(0, 2));
        QTest::keyClick(m_widget.get(), Qt::Key_Comma);
        QVERIFY(m_widget->selection() == Story::ref(0, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_BracketRight);
        QVERIFY(m_widget->selection() == Story::ref(1, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_BracketLeft);
        QVERIFY(m_widget->selection() == Story::ref(0, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_Down);
        QCOMPARE(m_widget->selection()->rank.value(), 1);
        QTest::keyClick(m_widget.get(), Qt::Key_Up);
        QCOMPARE(m_widget->selection()->rank.value(), 0);
        m_widget->select(Story::ref(0, 0));
        QTest::keyClick(m_widget.get(), Qt::Key_Backslash);
        QVERIFY(m_widget->selection() == Story::ref(1, 0));
        m_widget->select(Story::ref(0, 1));
        QTest::keyClick(m_widget.get(), Qt::Key_Period, Qt::AltModifier);
        QVERIFY(m_widget->selection() == Story::ref(0, 2));
    }

    void zoomKeepsWhatIsUnderThePointer() {
        const QPoint at = m_widget->plotRect().topLeft() + QPoint(333, 40);
        const double x = 333;
        const std::int64_t before = m_widget->geometry().view.unitAt(x);
        for (int i = 0; i < 12; ++i) {
            wheel(at, 120, Qt::ControlModifier);
        }
        const AxisView in = m_widget->geometry().view;
        QVERIFY(std::abs(in.unitAt(x) - before) <= 1);
        QVERIFY(in.span() > 0);
        for (int i = 0; i < 6; ++i) {
            wheel(at, -120, Qt::ControlModifier);
        }
        QVERIFY(m_widget->geometry().view.span() > in.span());
        QVERIFY(std::abs(m_widget->geometry().view.unitAt(x) - before) <= 1);
        QTest::mouseMove(m_widget.get(), at);
        QTest::keyClick(m_widget.get(), Qt::Key_W);
        QVERIFY(std::abs(m_widget->geometry().view.unitAt(x) - before) <= 1);
    }

    void panAndViewStack() {
        const AxisView whole = m_widget->geometry().view;
        m_widget->zoomBy(4);
        const AxisView near = m_widget->geometry().view;
        QVERIFY(near.span() < whole.span());
        QTest::keyClick(m_widget.get(), Qt::Key_D);
        QVERIFY(m_widget->geometry().view.begin > near.begin);
        QTest::keyClick(m_widget.get(), Qt::Key_A);
        QCOMPARE(m_widget->geometry().view.begin, near.begin);
        QTest::keyClick(m_widget.get(), Qt::Key_Z, Qt::AltModifier);
        QVERIFY(m_widget->geometry().view == whole);
        QTest::keyClick(m_widget.get(), Qt::Key_Z, Qt::AltModifier | Qt::ShiftModifier);
        QVERIFY(m_widget->geometry().view == near);
        // At first the view begins where all ranks have left MPI_Init; Home shows that too.
        QVERIFY(whole.begin > 0);
        QTest::keyClick(m_widget.get(), Qt::Key_Home);
        QVERIFY(m_widget->geometry().view.begin <= 0);
        QVERIFY(m_widget->geometry().view.end >= whole.end);
    }

    void rangeThenEnterZooms() {
        const QRect plot = m_widget->plotRect();
        const AxisView before = m_widget->geometry().view;
        const QPoint from = plot.topLeft() + QPoint(200, 10);
        const QPoint to = plot.topLeft() + QPoint(400, 60);
        QTest::mousePress(m_widget.get(), Qt::LeftButton, {}, from);
        QTest::mouseMove(m_widget.get(), from + QPoint(30, 5));
        QTest::mouseMove(m_widget.get(), to);
        QTest::mouseRelease(m_widget.get(), Qt::LeftButton, {}, to);
        QTest::keyClick(m_widget.get(), Qt::Key_Return);
        const AxisView after = m_widget->geometry().view;
        QVERIFY(std::abs(after.begin - before.unitAt(200)) <= 1);
        QVERIFY(std::abs(after.end - before.unitAt(400)) <= 1);
    }

    void axisSwitchKeepsTheSelectionInPlace() {
        m_widget->select(Story::ref(0, 5));
        m_widget->zoomBy(3);
        m_widget->reveal(Story::ref(0, 5));
        const int before = m_widget->geometry().selection->box->x0;
        m_widget->setAxis(Axis::Events);
        QCOMPARE(m_widget->axis(), Axis::Events);
        QVERIFY(std::abs(m_widget->geometry().selection->box->x0 - before) <= 1);
        QTest::keyClick(m_widget.get(), Qt::Key_T);
        QCOMPARE(m_widget->axis(), Axis::Time);
        QVERIFY(std::abs(m_widget->geometry().selection->box->x0 - before) <= 1);
    }

    void linesAndDimmingAreDrawn() {
        const replay::Point point{Story::ref(0, 4), true};
        m_widget->setPoint(point);
        m_widget->setPastFrontier(m_story->timeline().pastFrontier(point));
        m_widget->setFutureFrontier(m_story->timeline().futureFrontier(point));
        m_widget->setStopline(m_story->timeline().futureFrontier(point));
        m_widget->setGhost(m_story->timeline().pastFrontier(point).cut);
        QVERIFY(m_widget->geometry().point.has_value());
        QCOMPARE(m_widget->geometry().lines.size(), std::size_t(4));
        const replay::Cut cut = m_story->timeline().futureFrontier(point).cut;
        std::vector<RowState> rows(4);
        for (std::size_t r = 0; r < 4; ++r) {
            rows[r].place = cut[r];
        }
        m_widget->setRowStates(rows);
        int dimmed = 0;
        for (const Box& box : m_widget->geometry().boxes) {
            const replay::Call call = m_story->timeline().call(Story::ref(box.row, box.call));
            QCOMPARE(box.dimmed, call.begin > cut[std::size_t(box.row)].event);
            dimmed += box.dimmed ? 1 : 0;
        }
        QVERIFY(dimmed > 0);
        m_widget->setPastFrontier(std::nullopt);
        QCOMPARE(m_widget->geometry().lines.size(), std::size_t(3));
    }

    void search() {
        QTest::keyClick(m_widget.get(), Qt::Key_Slash);
        auto* edit = m_widget->findChild<QLineEdit*>();
        QVERIFY(edit != nullptr && edit->isVisible());
        edit->setFocus();
        // Letters that are shortcuts of the diagram are text here.
        QSignalSpy go(m_widget.get(), &DiagramWidget::goRequested);
        QTest::keyClicks(edit, u"send tag=1 g"_s);
        QCOMPARE(edit->text(), u"send tag=1 g"_s);
        QCOMPARE(go.count(), 0);
        edit->setText(u"send tag=1"_s);
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(m_widget->selection() == Story::ref(0, 4)); // the first of the second round
        QTest::keyClick(edit, Qt::Key_Return);
        QVERIFY(m_widget->selection() == Story::ref(0, 5));
        QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
        QVERIFY(m_widget->selection() == Story::ref(0, 4));
        QTest::keyClick(edit, Qt::Key_Escape);
        QVERIFY(!edit->isVisible());
    }

    void followsTheRightEdge() {
        Story story = haloStory(2, 20);
        m_widget->setTimeline(&story.timeline());
        m_widget->zoomBy(8);
        QTest::keyClick(m_widget.get(), Qt::Key_End);
        const AxisView before = m_widget->geometry().view;
        const TimeNs last = story.timeline().axisTime(RankId{0}, story.timeline().lastEvent(RankId{0}));
        QVERIFY(before.end >= last);
        story.collective(0, trace::FunctionId::Barrier, kNoPeer, last + before.span(),
                         last + before.span() + 10);
        m_widget->timelineChanged();
        const AxisView after = m_widget->geometry().view;
        QCOMPARE(after.span(), before.span());
        QVERIFY(after.end >= last + before.span());
        // Looking elsewhere: the view stays.
        for (int i = 0; i < 5; ++i) {
            wheel(m_widget->plotRect().center(), 240, Qt::ShiftModifier);
        }
        const AxisView away = m_widget->geometry().view;
        story.collective(0, trace::FunctionId::Barrier, kNoPeer, last + 9 * before.span(),
                         last + 9 * before.span() + 10);
        m_widget->timelineChanged();
        QVERIFY(m_widget->geometry().view == away);
    }

    void labelAndWheel() {
        QSignalSpy focus(m_widget.get(), &DiagramWidget::focusRequested);
        const QRect plot = m_widget->plotRect();
        const int row2 = m_widget->geometry().layout.centre(2);
        QTest::mouseClick(m_widget.get(), Qt::LeftButton, {}, QPoint(plot.left() / 2, plot.top() + row2));
        QCOMPARE(focus.count(), 1);
        QCOMPARE(focus.at(0).at(0).value<RankId>().value(), 2);
        const int height = m_widget->geometry().layout.rowHeight;
        wheel(plot.center(), 120, Qt::AltModifier);
        QVERIFY(m_widget->geometry().layout.rowHeight > height);
        for (int i = 0; i < 20; ++i) {
            wheel(plot.center(), 120, Qt::AltModifier);
        }
        QCOMPARE(m_widget->geometry().layout.scroll >= 0, true);
        wheel(plot.center(), -1200, {});
        QVERIFY(m_widget->geometry().layout.scroll > 0);
    }

    void everyVerbIsAnAction() {
        QStringList names;
        for (const QAction* action : m_widget->actions()) {
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
        QTest::keyClick(m_widget.get(), Qt::Key_Question);
        QVERIFY(m_widget->findChild<QWidget*>(u"diagramHelp"_s)->isVisible());
    }

    void exportsImages() {
        QTemporaryDir folder;
        QVERIFY(m_widget->exportImage(folder.filePath(u"a.png"_s)));
        QCOMPARE(QImage(folder.filePath(u"a.png"_s)).size(), m_widget->size());
        QVERIFY(m_widget->exportImage(folder.filePath(u"a.pdf"_s)));
        QVERIFY(!m_widget->exportImage(u"/nonexistent/a.png"_s));
    }

    void neverFallsOver_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("calls");
        for (const int ranks : {1, 2, 4, 64, 1024}) {
            for (const int calls : {0, 1, 40}) {
                QTest::addRow("%d ranks %d calls", ranks, calls) << ranks << calls;
            }
        }
    }
    void neverFallsOver() {
        QFETCH(int, ranks);
        QFETCH(int, calls);
        Story story = randomStory(ranks, calls, unsigned(ranks * 100 + calls));
        DiagramWidget widget;
        widget.setTimeline(&story.timeline());
        std::vector<RowState> rows(std::size_t(ranks) / 2 + 1); // fewer than ranks on purpose
        for (std::size_t r = 0; r < rows.size(); ++r) {
            rows[r].place = {EventIndex{r % 7}, r % 2 == 0};
            rows[r].mark = StopMark(r % 7);
            rows[r].freshFrom = EventIndex{r % 3};
            rows[r].ended = r % 5 == 0;
        }
        widget.setRowStates(rows);
        StopPost stop{3, replay::Cut(std::size_t(ranks), replay::Place{EventIndex{2}, false}),
                      std::vector<StopMark>(3, StopMark::Step)};
        widget.setStops({stop});
        replay::Line line;
        line.cut.assign(std::size_t(ranks) + 3,
                        replay::Place{EventIndex{5}, true}); // more than ranks, and beyond the end
        widget.setPastFrontier(line);
        widget.setFutureFrontier(line);
        widget.setStopline(line);
        widget.setGhost(line.cut);
        widget.setPoint(replay::Point{Story::ref(0, 3), true});
        widget.select(Story::ref(0, 0));
        for (const Axis axis : {Axis::Time, Axis::Events}) {
            widget.setAxis(axis);
            for (const QSize size :
                 {QSize(1, 1), QSize(3, 200), QSize(200, 3), QSize(90, 60), QSize(1280, 400)}) {
                widget.resize(size);
                for (const double zoom : {0.1, 1.0, 50.0, 1e6}) {
                    widget.zoomBy(zoom);
                    QImage image(size, QImage::Format_ARGB32_Premultiplied);
                    widget.render(&image);
                    QTest::mouseMove(&widget, QPoint(size.width() / 2, size.height() / 2));
                }
                widget.fitLastStop();
                widget.fitAll();
            }
        }
        widget.setTimeline(nullptr);
        QImage image(300, 200, QImage::Format_ARGB32_Premultiplied);
        widget.render(&image);
    }

    void surplusInputIsHarmless() {
        DiagramWidget widget;
        widget.resize(400, 200);
        widget.show();
        widget.select(Story::ref(3, 9));
        QVERIFY(!widget.selection());
        widget.reveal(Story::ref(-1, 9));
        widget.timelineChanged();
        for (const QAction* action : widget.actions()) {
            const_cast<QAction*>(action)->trigger();
        }
        QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
        widget.render(&image);
        QVERIFY(widget.geometry().boxes.empty());
    }

  private:
    /// Middle of a call's box, in widget coordinates.
    QPoint centreOf(replay::CallRef ref) const {
        for (const Box& box : m_widget->geometry().boxes) {
            if (box.row == ref.rank.value() && box.call == ref.call.value()) {
                return m_widget->plotRect().topLeft() + QPoint((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2);
            }
        }
        return {};
    }
    void wheel(QPoint at, int delta, Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(QPointF(at), QPointF(m_widget->mapToGlobal(at)), QPoint(), QPoint(0, delta),
                          Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(m_widget.get(), &event);
    }
    /// Calls of all kinds in random order, incomplete ends, peers and tags that fit or do not.
    static Story randomStory(int ranks, int calls, unsigned seed) {
        std::mt19937 random(seed);
        Story story(ranks);
        for (int r = 0; r < ranks; ++r) {
            TimeNs at = TimeNs(random() % 1000);
            bool open = false;
            for (int c = 0; c < calls && !open; ++c) {
                const int peer = int(random() % unsigned(ranks));
                const int tag = int(random() % 3);
                const TimeNs end = at + TimeNs(random() % 5000);
                switch (random() % 8) {
                case 0:
                    story.send(r, peer, tag, random() % 100000, at, end);
                    break;
                case 1:
                    story.recv(r, peer, tag, random() % 100000, at, end);
                    break;
                case 2:
                    story.isend(r, peer, tag, 8, at, end);
                    break;
                case 3:
                    story.irecv(r, peer, tag, 8, at, end);
                    break;
                case 4:
                    story.wait(r, {{unsigned(random() % 3), peer, tag, 8}}, at, end);
                    break;
                case 5:
                    story.collective(r, trace::FunctionId(random() % unsigned(trace::FunctionId::Count)),
                                     peer, at, end);
                    break;
                case 6:
                    story.recvAny(r, peer, tag, 8, at, end);
                    break;
                default:
                    open = random() % 4 == 0;
                    if (open) {
                        story.recvOpen(r, random() % 2 == 0 ? kAnySource : peer, tag, at);
                    }
                    break;
                }
                at = end + TimeNs(random() % 3000);
            }
        }
        return story;
    }

    std::unique_ptr<Story> m_story;
    std::unique_ptr<DiagramWidget> m_widget;
};

QTEST_MAIN(DiagramWidgetTest)
#include "diagram_widget_test.moc"
