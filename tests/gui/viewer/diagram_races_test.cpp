// Races in the diagram: their rings as they are painted, and how they are reached.
#include "../../../viewer/help_overlay.h"
#include "widget_fixture.h"

#include <QAction>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolTip>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

namespace {

constexpr TimeNs kUs = 1000;

/// Rank 0 takes a result of each of the others, from whom it comes first; then one by a request.
struct Calls {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t post = 0;
    std::uint32_t wait = 0;
    std::uint32_t sendOf2 = 0;
    std::uint32_t sendOf3 = 0;
};

Story raced(Calls& calls, int ranks = 4) {
    Story story(ranks);
    for (int r = 0; r < ranks; ++r) {
        story.init(r, 0, 10 * kUs);
    }
    calls.first = story.recvAny(0, 1, 5, 64, 30 * kUs, 100 * kUs);
    calls.second = story.recvAny(0, 2, 5, 64, 200 * kUs, 280 * kUs);
    calls.post = story.irecv(0, kAnySource, 5, 64, 300 * kUs, 310 * kUs);
    calls.wait = story.wait(0, {{0, 3, 5, 64}}, 340 * kUs, 400 * kUs);
    story.send(1, 0, 5, 64, 40 * kUs, 90 * kUs);
    calls.sendOf2 = story.send(2, 0, 5, 64, 50 * kUs, 120 * kUs);
    calls.sendOf3 = story.send(3, 0, 5, 64, 60 * kUs, 160 * kUs);
    return story;
}

std::vector<RaceMark> marksOf(const Calls& calls) {
    return {{Story::ref(0, calls.post), Story::ref(0, calls.wait), 1},
            {Story::ref(0, calls.first), std::nullopt, 2},
            {Story::ref(0, calls.second), std::nullopt, 1}};
}

QPalette darkPalette() {
    QPalette p;
    p.setColor(QPalette::Window, QColor(0x22262b));
    p.setColor(QPalette::WindowText, Qt::white);
    return p;
}

int distance(const QColor& a, const QColor& b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
}

int count(const QImage& image, const QColor& colour, const QRect& area) {
    int found = 0;
    const QRect all = area.intersected(image.rect());
    for (int y = all.top(); y <= all.bottom(); ++y) {
        for (int x = all.left(); x <= all.right(); ++x) {
            found += distance(image.pixelColor(x, y), colour) <= 6 ? 1 : 0;
        }
    }
    return found;
}

QPoint inWidget(const DiagramWidget& widget, const RaceRing& ring) {
    return widget.plotRect().topLeft() + QPoint(int(ring.at.x()), int(ring.at.y()));
}

} // namespace

#define COMPARE_COLOUR(actual, expected)                                                                     \
    QVERIFY2(distance((actual), (expected)) <= 9,                                                            \
             qPrintable((actual).name() + u" is not "_s + (expected).name()))

class DiagramRacesTest : public QObject {
    Q_OBJECT
  private slots:
    void ringsArePainted_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void ringsArePainted() {
        QFETCH(bool, dark);
        Calls calls;
        WidgetFixture f(raced(calls));
        if (dark) {
            f.widget.setPalette(darkPalette());
        }
        const Palette c = f.colours();
        QCOMPARE(count(f.plot(), c.race, f.plot().rect()), 0);
        f.widget.setRaces(marksOf(calls));
        const std::vector<RaceRing> rings = f.widget.geometry().races;
        QCOMPARE(rings.size(), std::size_t(3));
        QCOMPARE(int(rings[0].at.x()), f.column(100 * kUs));
        QCOMPARE(int(rings[1].at.x()), f.column(280 * kUs));
        QCOMPARE(int(rings[2].at.x()), f.column(400 * kUs));
        QCOMPARE(rings[0].radius, 7.0);
        const QImage plot = f.plot();
        for (const RaceRing& ring : rings) {
            const int x = int(ring.at.x());
            const int y = int(ring.at.y());
            for (const QPoint& off : {QPoint(6, 0), QPoint(-6, 0), QPoint(0, 6), QPoint(0, -6)}) {
                COMPARE_COLOUR(plot.pixelColor(QPoint(x, y) + off), c.race); // the outer ring
            }
            COMPARE_COLOUR(plot.pixelColor(x + 4, y), c.background); // between the two
            COMPARE_COLOUR(plot.pixelColor(x, y), c.background);     // within the inner one
            QVERIFY(distance(plot.pixelColor(x + 2, y), c.race) <
                    distance(plot.pixelColor(x + 2, y), c.background));
        }
        // Beside the first there is room for its number, and it is there.
        QVERIFY(rings[0].room > 30);
        const QRect beside(int(rings[0].at.x()) + 9, int(rings[0].at.y()) - 8, 22, 16);
        const QColor ground = c.background;
        int text = 0;
        for (int y = beside.top(); y <= beside.bottom(); ++y) {
            for (int x = beside.left(); x <= beside.right(); ++x) {
                const QColor at = plot.pixelColor(x, y);
                text += distance(at, c.race) < distance(at, ground) / 2 ? 1 : 0;
            }
        }
        QVERIFY2(text > 10, qPrintable(QString::number(text)));
        f.widget.setTimeline(&f.timeline()); // drops them
        QVERIFY(f.widget.geometry().races.empty());
        QCOMPARE(count(f.plot(), c.race, f.plot().rect()), 0);
    }

    void lowRowsHaveMarks() {
        Calls calls;
        WidgetFixture f(raced(calls, 200)); // three pixels a row
        f.widget.setRaces(marksOf(calls));
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.layout.rowHeight, 3);
        QCOMPARE(g.races.size(), std::size_t(3));
        const RaceRing ring = g.races[0];
        QCOMPARE(ring.radius, kRaceMark);
        const QImage plot = f.plot();
        const QPoint at(int(ring.at.x()), int(ring.at.y()));
        QCOMPARE(count(plot, f.colours().race, QRect(at - QPoint(1, 1), QSize(3, 3))), 9);
        QCOMPARE(count(plot, f.colours().race, QRect(at - QPoint(4, 4), QSize(9, 9))), 9);
    }

    void manyRowsStayReadable() {
        Calls calls;
        WidgetFixture f(raced(calls, 64));
        f.widget.resize(1600, 1000);
        f.widget.setRaces(marksOf(calls));
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.layout.level(), RowLevel::Compact);
        QCOMPARE(g.races.size(), std::size_t(3));
        QCOMPARE(g.races[0].radius, 4.0);
        const QPoint at(int(g.races[0].at.x()), int(g.races[0].at.y()));
        const QImage plot = f.plot();
        COMPARE_COLOUR(plot.pixelColor(at + QPoint(3, 0)), f.colours().race);
        COMPARE_COLOUR(plot.pixelColor(at + QPoint(0, -3)), f.colours().race);
    }

    void aClickSelectsTheReceive() {
        Calls calls;
        WidgetFixture f(raced(calls));
        QVERIFY(f.ready());
        f.widget.setRaces(marksOf(calls));
        const std::vector<RaceRing> rings = f.widget.geometry().races;
        // Right of the end of the call there is nothing but the ring.
        QTest::mouseClick(&f.widget, Qt::LeftButton, {}, inWidget(f.widget, rings[0]) + QPoint(5, 0));
        QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, calls.first)));
        // The ring of a request lies on the call that completes it, and stands for the one that posts it.
        QTest::mouseClick(&f.widget, Qt::LeftButton, {}, inWidget(f.widget, rings[2]));
        QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, calls.post)));
        QTest::mouseClick(&f.widget, Qt::LeftButton, {}, inWidget(f.widget, rings[2]) - QPoint(15, 0));
        QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, calls.wait)));
    }

    void tooltipAndTexts() {
        Calls calls;
        WidgetFixture f(raced(calls));
        QVERIFY(f.ready());
        f.widget.setRaces(marksOf(calls));
        QSignalSpy hovered(&f.widget, &DiagramWidget::hovered);
        QTest::mouseMove(&f.widget, inWidget(f.widget, f.widget.geometry().races[0]));
        QTRY_VERIFY(QToolTip::isVisible());
        QVERIFY(QToolTip::text().endsWith(u"\nraced: 2 other messages could have come"_s));
        QVERIFY(
            hovered.last()[0].toString().endsWith(u"MPI_Recv  raced: 2 other messages could have come"_s));
        QToolTip::hideText();
        f.widget.select(Story::ref(0, calls.wait));
        QVERIFY(f.widget.accessibleDescription().endsWith(u"; raced: 1 other message could have come"_s));
        f.widget.setRaces({});
        QVERIFY(!f.widget.accessibleDescription().contains(u"raced"_s));
        f.widget.setRaces(marksOf(calls));
        QVERIFY(f.widget.accessibleDescription().contains(u"raced"_s));
    }

    void keysGoFromRaceToRace() {
        Calls calls;
        WidgetFixture f(raced(calls));
        QVERIFY(f.ready());
        QSignalSpy hovered(&f.widget, &DiagramWidget::hovered);
        QTest::keyClick(&f.widget, Qt::Key_R);
        QCOMPARE(hovered.last()[0].toString(), u"No race of rank 0 is known"_s);
        QCOMPARE(f.widget.selection(), std::nullopt);
        f.widget.setRaces(marksOf(calls));
        for (const std::uint32_t call : {calls.first, calls.second, calls.post}) {
            QTest::keyClick(&f.widget, Qt::Key_R);
            QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, call)));
        }
        QTest::keyClick(&f.widget, Qt::Key_R);
        QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, calls.post)));
        QCOMPARE(hovered.last()[0].toString(), u"No further race of rank 0"_s);
        QTest::keyClick(&f.widget, Qt::Key_R, Qt::ShiftModifier);
        QCOMPARE(f.widget.selection(), std::optional(Story::ref(0, calls.second)));
        f.widget.setFocusRank(RankId{2});
        f.widget.select(std::nullopt);
        QTest::keyClick(&f.widget, Qt::Key_R, Qt::ShiftModifier);
        QCOMPARE(hovered.last()[0].toString(), u"No race of rank 2 is known"_s);
        QVERIFY(f.widget.findChild<QAction*>(u"diagram.nextRace"_s) != nullptr);
    }

    void ghostLinesOfTheSelection() {
        Calls calls;
        WidgetFixture f(raced(calls));
        std::vector<replay::CallRef> asked;
        f.widget.setRaces(marksOf(calls));
        f.widget.setAlternatives([&](const replay::CallRef& call) {
            asked.push_back(call);
            return std::vector{Story::ref(2, calls.sendOf2), Story::ref(3, calls.sendOf3)};
        });
        QVERIFY(!f.widget.geometry().selection);
        f.widget.select(Story::ref(2, calls.sendOf2)); // no race
        QVERIFY(f.widget.geometry().selection->alternatives.empty());
        QVERIFY(asked.empty());
        const QImage before = f.plot();
        f.widget.select(Story::ref(0, calls.first));
        const Geometry& g = f.widget.geometry();
        QVERIFY(g.selection && g.selection->race);
        QCOMPARE(g.selection->alternatives.size(), std::size_t(2));
        const GhostLine line = g.selection->alternatives[1];
        QCOMPARE(int(std::floor(line.from.x())), f.column(60 * kUs));
        QCOMPARE(line.from.y(), double(g.layout.top(3) + g.layout.lane().top));
        QVERIFY(line.begins);
        const QImage after = f.plot();
        // Along it the picture has turned towards the colour of races, in dashes: not everywhere.
        int marked = 0;
        int steps = 0;
        for (double share = 0.05; share < 0.95; share += 0.01, ++steps) {
            const QPoint at = (line.from + share * (line.to - line.from)).toPoint();
            const QColor race = f.colours().race;
            marked +=
                distance(after.pixelColor(at), race) + 60 < distance(before.pixelColor(at), race) ? 1 : 0;
        }
        QVERIFY2(marked > steps / 4 && marked < steps, qPrintable(QString::number(marked)));
        f.widget.zoomBy(2); // the same selection: not asked again
        QVERIFY(!f.widget.geometry().selection->alternatives.empty());
        QCOMPARE(asked, std::vector{Story::ref(0, calls.first)});
        f.widget.setRaces(marksOf(calls));
        QVERIFY(!f.widget.geometry().selection->alternatives.empty());
        QCOMPARE(asked.size(), std::size_t(2));
        f.widget.timelineChanged();
        QVERIFY(!f.widget.geometry().selection->alternatives.empty());
        QCOMPARE(asked.size(), std::size_t(3));
    }

    void aDrawingHasThemToo() {
        Calls calls;
        WidgetFixture f(raced(calls));
        const QTemporaryDir folder;
        const auto sizeOf = [&](const QString& name) {
            const QString path = folder.filePath(name);
            return f.widget.exportImage(path) ? QFileInfo(path).size() : qint64(0);
        };
        const qint64 without = sizeOf(u"without.pdf"_s);
        QVERIFY(without > 0);
        f.widget.setRaces(marksOf(calls));
        // Shapes, not pictures: those would take many kilobytes.
        const qint64 more = sizeOf(u"with.pdf"_s) - without;
        QVERIFY2(more > 100 && more < 6000, qPrintable(QString::number(more)));
    }

    void legendHasTheSameGlyph() {
        Calls calls;
        WidgetFixture f(raced(calls));
        QVERIFY(f.ready());
        auto* help = f.widget.findChild<HelpOverlay*>(u"diagramHelp"_s);
        QVERIFY(help != nullptr);
        help->toggle(HelpOverlay::Content::Legend);
        const QImage legend = help->grab().toImage();
        QVERIFY(count(legend, f.colours().race, legend.rect()) > 30);
        QVERIFY(help->isWhole());
    }
};

QTEST_MAIN(DiagramRacesTest)
#include "diagram_races_test.moc"
