// What the pointer brings up: tooltips, the context menu, the overview.
#include "widget_fixture.h"

#include "../../../viewer/overview.h"

#include <QMenu>
#include <QPointer>
#include <QSignalSpy>
#include <QToolTip>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

class DiagramPointerTest : public QObject {
    Q_OBJECT
  private slots:
    void init() {
        m_fixture = std::make_unique<WidgetFixture>(hangStory(4, 6, 3));
        QVERIFY(m_fixture->ready());
    }
    void cleanup() {
        QToolTip::hideText();
        m_fixture.reset();
    }

    void tooltipSaysWhatIsKnownOfACall() {
        m_fixture->widget.setSiteText([](const replay::CallRef&) { return u"solver.c:12"_s; });
        hover(m_fixture->centreOf(
            Story::ref(0, 2))); // the send to rank 2: 298 to 338 us, 5 us before the first call
        QTRY_COMPARE(QToolTip::text(), u"MPI_Send\n"
                                       u"rank 0, events 5 to 6\n"
                                       u"at 293.000 µs, takes 40.0 µs (approx.)\n"
                                       u"to rank 2, tag 0, 4 KiB\n"
                                       u"MPI_COMM_WORLD, 4 members\n"
                                       u"matched with rank 2 event 4 (MPI_Recv)\n"
                                       u"solver.c:12"_s);
    }

    void tooltipOfAnUnfinishedCall() {
        const replay::CallRef waiting = Story::ref(1, 4);
        const Box* box = m_fixture->boxOf(waiting);
        QVERIFY(box != nullptr && box->unfinished);
        hover(m_fixture->widget.plotRect().topLeft() + QPoint(box->x0 + 4, box->y1 - 4));
        QTRY_VERIFY(QToolTip::isVisible());
        const QStringList lines = QToolTip::text().split(u'\n');
        QCOMPARE(lines.value(0), u"MPI_Recv"_s);
        QCOMPARE(lines.value(1), u"rank 1, event 9, not finished"_s);
        QCOMPARE(lines.value(3), u"from rank 0, tag 3, room for 8 KiB"_s);
        QCOMPARE(lines.value(5), u"pending: posted, nothing sent yet"_s);
    }

    void tooltipSaysHowManyCallsAPixelHas() {
        Story story = haloStory(2, 4000);
        m_fixture->widget.setTimeline(&story.timeline());
        const Geometry& g = m_fixture->widget.geometry();
        QCOMPARE(g.strips.size(), std::size_t(2));
        const Cell* cell = nullptr;
        for (const Cell& one : g.strips[0].cells) {
            cell = one.count > 1 && one.x > 300 ? &one : cell;
        }
        QVERIFY(cell != nullptr);
        const QString expected = u"the worst of %1 calls at this pixel"_s.arg(cell->count);
        hover(m_fixture->widget.plotRect().topLeft() + QPoint(cell->x, g.strips[0].y0 + 6));
        QTRY_VERIFY(QToolTip::isVisible());
        QCOMPARE(QToolTip::text().split(u'\n').last(), expected);
        m_fixture->widget.setTimeline(nullptr);
    }

    void tooltipOfAHandleThatCannotBeReached() {
        replay::Line line;
        line.cut.assign(4, replay::Place{EventIndex{2}, false});
        line.cut[1] = {EventIndex{3}, true};
        line.obstacles.push_back({RankId{1}, Story::ref(1, 1), Story::ref(0, 1), "waits for rank 0"});
        m_fixture->widget.setStopline(line);
        const LineStep& step = m_fixture->widget.geometry().lines.at(0).steps.at(1);
        QVERIFY(step.hollow);
        hover(m_fixture->widget.plotRect().topLeft() + QPoint(int(step.x), step.y0 + 3));
        QTRY_COMPARE(QToolTip::text(), u"Cannot stop in user code here: waits for rank 0"_s);
    }

    void statusTextFollowsThePointer() {
        QSignalSpy hovered(&m_fixture->widget, &DiagramWidget::hovered);
        hover(m_fixture->centreOf(Story::ref(0, 2)));
        QVERIFY(hovered.count() > 0);
        const QString text = hovered.last().at(0).toString();
        QVERIFY2(text.startsWith(u"rank 0  "_s) && text.endsWith(u"(approx.)  event 5  MPI_Send"_s),
                 qPrintable(text));
    }

    void menuOfACall() {
        const replay::CallRef call = Story::ref(0, 2);
        QCOMPARE(menuAt(m_fixture->centreOf(call)),
                 (QStringList{u"Set point before MPI_Send"_s, u"Set point after MPI_Send"_s, u"-"_s,
                              u"Past frontier"_s, u"Future frontier"_s, u"Go here…"_s, u"-"_s,
                              u"Show source"_s, u"Focus rank 0"_s}));
        QVERIFY(m_fixture->widget.selection() == call);
        for (const QAction* action : m_menu->actions()) {
            QVERIFY(action->isEnabled());
        }
    }

    void menuEntriesDoWhatTheySay() {
        const replay::CallRef call = Story::ref(0, 2);
        DiagramWidget* widget = &m_fixture->widget;
        QSignalSpy point(widget, &DiagramWidget::pointPicked);
        QSignalSpy frontier(widget, &DiagramWidget::frontierRequested);
        QSignalSpy stopline(widget, &DiagramWidget::stoplineRequested);
        QSignalSpy go(widget, &DiagramWidget::goRequested);
        QSignalSpy source(widget, &DiagramWidget::sourceRequested);
        QSignalSpy focus(widget, &DiagramWidget::focusRequested);
        const auto picked = [&] { return point.takeLast().at(0).value<replay::Point>(); };

        trigger(call, u"Set point before MPI_Send"_s);
        QVERIFY(picked() == (replay::Point{call, false}));
        trigger(call, u"Set point after MPI_Send"_s);
        QVERIFY(picked() == (replay::Point{call, true}));

        // A frontier belongs to a point: there is none yet, so the call becomes it.
        trigger(call, u"Past frontier"_s);
        QVERIFY(picked() == (replay::Point{call, false}));
        QCOMPARE(frontier.takeLast().at(0).toBool(), false);
        // The point is this call already, after it: it stays as it is.
        widget->setPoint(replay::Point{call, true});
        trigger(call, u"Future frontier"_s);
        QCOMPARE(point.count(), 0);
        QCOMPARE(frontier.takeLast().at(0).toBool(), true);
        trigger(call, u"Go here…"_s);
        QCOMPARE(point.count(), 0);
        QCOMPARE(stopline.count(), 1);
        QCOMPARE(go.count(), 1);
        // The point is another call.
        widget->setPoint(replay::Point{Story::ref(1, 1), false});
        trigger(call, u"Go here…"_s);
        QVERIFY(picked() == (replay::Point{call, false}));
        QCOMPARE(stopline.count(), 2);
        QCOMPARE(go.count(), 2);

        trigger(call, u"Show source"_s);
        QVERIFY(source.takeLast().at(0).value<replay::CallRef>() == call);
        trigger(call, u"Focus rank 0"_s);
        QCOMPARE(focus.takeLast().at(0).value<RankId>().value(), 0);
        QCOMPARE(point.count() + frontier.count() + source.count() + focus.count(), 0);
    }

    void menuOfARaceOffersWhatCouldHaveCome() {
        const replay::CallRef call = Story::ref(1, 1);
        const replay::CallRef send = Story::ref(0, 2);
        m_fixture->widget.setAlternatives([call, send](const replay::CallRef& of) {
            return of == call ? std::vector<replay::CallRef>(22, send) : std::vector<replay::CallRef>();
        });
        QSignalSpy wanted(&m_fixture->widget, &DiagramWidget::otherMessageRequested);
        QVERIFY(menuAt(m_fixture->centreOf(call)).contains(u"Run again with"_s));
        QMenu* others = nullptr;
        for (const QAction* action : m_menu->actions()) {
            others = action->menu() != nullptr ? action->menu() : others;
        }
        QVERIFY(others != nullptr);
        QCOMPARE(others->actions().size(), 21);
        QCOMPARE(others->actions().first()->text(), u"rank 0's MPI_Send of event 5"_s);
        QCOMPARE(others->actions().last()->text(), u"2 more are in the list of races"_s);
        QVERIFY(!others->actions().last()->isEnabled());
        others->actions().first()->trigger();
        QVERIFY(wanted.at(0).at(0).value<replay::CallRef>() == call);
        QVERIFY(wanted.at(0).at(1).value<replay::CallRef>() == send);
    }

    void menuOfAnUnfinishedCall() {
        const Box* box = m_fixture->boxOf(Story::ref(1, 4));
        QVERIFY(box != nullptr);
        const QStringList entries =
            menuAt(m_fixture->widget.plotRect().topLeft() + QPoint(box->x0 + 4, box->y1 - 4));
        QCOMPARE(entries.value(0), u"Set point before MPI_Recv"_s);
        QCOMPARE(entries.value(1), u"Set point after MPI_Recv (not finished)"_s);
        QVERIFY(m_menu->actions().at(0)->isEnabled());
        QVERIFY(!m_menu->actions().at(1)->isEnabled()); // there is no after
    }

    void menuBesideCallsAndOnLabels() {
        const QRect plot = m_fixture->widget.plotRect();
        QCOMPARE(menuAt(plot.bottomRight() - QPoint(2, 2)),
                 (QStringList{u"Fit all"_s, u"Show event numbers"_s}));
        m_menu->actions().at(1)->trigger();
        QCOMPARE(m_fixture->widget.axis(), Axis::Events);
        QCOMPARE(menuAt(plot.bottomRight() - QPoint(2, 2)), (QStringList{u"Fit all"_s, u"Show time"_s}));
        m_menu->actions().at(1)->trigger();
        QCOMPARE(m_fixture->widget.axis(), Axis::Time);
        menuAt(plot.bottomRight() - QPoint(2, 2));
        m_fixture->widget.zoomBy(8);
        m_menu->actions().at(0)->trigger();
        DiagramModel model;
        model.setTimeline(&m_fixture->timeline());
        QVERIFY(m_fixture->widget.geometry().view == wholeView(model, Axis::Time, plot.width()));

        const int row2 = m_fixture->widget.geometry().layout.centre(2);
        QCOMPARE(menuAt(QPoint(plot.left() / 2, plot.top() + row2)), (QStringList{u"Focus rank 2"_s}));
        QSignalSpy focus(&m_fixture->widget, &DiagramWidget::focusRequested);
        m_menu->actions().at(0)->trigger();
        QCOMPARE(focus.takeLast().at(0).value<RankId>().value(), 2);
    }

    void overviewMovesTheView() {
        const QRect plot = m_fixture->widget.plotRect();
        DiagramModel model;
        model.setTimeline(&m_fixture->timeline());
        const AxisView whole = wholeView(model, Axis::Time, plot.width());
        m_fixture->widget.zoomBy(8);
        const std::int64_t span = m_fixture->widget.geometry().view.span();
        const int y = 8; // the overview is the topmost strip
        const auto middle = [&] {
            const AxisView& view = m_fixture->widget.geometry().view;
            return view.begin + view.span() / 2;
        };
        const int from = plot.width() / 2;
        const int to = plot.width() / 4;
        QTest::mousePress(&m_fixture->widget, Qt::LeftButton, {}, QPoint(plot.left() + from, y));
        QCOMPARE(m_fixture->widget.geometry().view.span(), span);
        QVERIFY(std::abs(middle() - whole.unitAt(from)) <= 1);
        QTest::mouseMove(&m_fixture->widget, QPoint(plot.left() + to, y));
        QVERIFY(std::abs(middle() - whole.unitAt(to)) <= 1);
        QTest::mouseRelease(&m_fixture->widget, Qt::LeftButton, {}, QPoint(plot.left() + to, y));
        QVERIFY(std::abs(middle() - whole.unitAt(to)) <= 1);
        QVERIFY(!m_fixture->widget.selection());
        // The wheel over it zooms, without a key.
        m_fixture->wheel(QPoint(plot.left() + to, y), 120, {});
        QVERIFY(m_fixture->widget.geometry().view.span() < span);
    }

    void overviewShowsTheLens() {
        const QRect plot = m_fixture->widget.plotRect();
        DiagramModel model;
        model.setTimeline(&m_fixture->timeline());
        const AxisView whole = wholeView(model, Axis::Time, plot.width());
        m_fixture->widget.zoomBy(8);
        const Lens lens = lensOf(m_fixture->widget.geometry().view, whole);
        QVERIFY(lens.left > 20 && lens.right < plot.width() - 20 && lens.right - lens.left > 20);
        QImage image(m_fixture->widget.size(), QImage::Format_ARGB32_Premultiplied);
        m_fixture->widget.render(&image);
        const Palette colours = m_fixture->colours();
        // Outside it is shaded towards the background; a border in the selection's colour is around what is
        // in view.
        const int y = 8;
        const auto at = [&](double x) { return image.pixelColor(plot.left() + int(x), y); };
        const auto distance = [](const QColor& a, const QColor& b) {
            return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) +
                   std::abs(a.blue() - b.blue());
        };
        QVERIFY(distance(at(lens.left + 1), colours.selection) < 90);
        QVERIFY(distance(at(lens.right - 1), colours.selection) < 90);
        // Left of the lens lies MPI_Init of rank 0 (5 to 180 us), right of it its unfinished receive.
        const QColor init = colours.faded(colours.style(CallStyle::Other), 0.75);
        const double middleOfInit = whole.toPixel(80'000);
        QVERIFY(middleOfInit < lens.left - 5);
        const QColor shaded = Palette::mixed(colours.background, init, 0.62);
        QVERIFY2(distance(at(middleOfInit), shaded) < 12, qPrintable(at(middleOfInit).name()));
    }

  private:
    void hover(QPoint at) {
        QTest::mouseMove(&m_fixture->widget,
                         at - QPoint(40, 0)); // a move to where the pointer is would be none
        QTest::mouseMove(&m_fixture->widget, at);
    }
    /// The entries of the context menu at a place, "-" for separators; the menu stays in m_menu.
    QStringList menuAt(QPoint at) {
        delete m_menu;
        m_fixture->contextMenu(at);
        m_menu = m_fixture->widget.findChild<QMenu*>();
        QStringList entries;
        for (const QAction* action : m_menu != nullptr ? m_menu->actions() : QList<QAction*>()) {
            entries << (action->isSeparator() ? u"-"_s : action->text());
        }
        return entries;
    }
    void trigger(replay::CallRef call, const QString& entry) {
        const QStringList entries = menuAt(m_fixture->centreOf(call));
        const qsizetype at = entries.indexOf(entry);
        QVERIFY2(at >= 0, qPrintable(entries.join(u" | "_s)));
        m_menu->actions().at(at)->trigger();
    }

    std::unique_ptr<WidgetFixture> m_fixture;
    QPointer<QMenu> m_menu;
};

QTEST_MAIN(DiagramPointerTest)
#include "diagram_pointer_test.moc"
