// The marks of the diagram where they belong, in the colours they should have: what is built and what is
// painted.
#include "widget_fixture.h"

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

namespace {

constexpr TimeNs kUs = 1000;

int distance(const QColor& a, const QColor& b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
}

/// Every rank stands at its last event.
std::vector<RowState> statesOf(const replay::Timeline& timeline) {
    std::vector<RowState> rows;
    for (int r = 0; r < timeline.rankCount(); ++r) {
        RowState row;
        const EventIndex last = timeline.lastEvent(RankId{r});
        row.place = {last, timeline.isBegin(RankId{r}, last)};
        rows.push_back(row);
    }
    return rows;
}

/// Four ranks after MPI_Init (0 to 10 us).
Story started() {
    Story story(4);
    for (int r = 0; r < 4; ++r) {
        story.init(r, 0, 10 * kUs);
    }
    return story;
}

} // namespace

#define COMPARE_COLOUR(actual, expected)                                                                     \
    QVERIFY2(distance((actual), (expected)) <= 9,                                                            \
             qPrintable((actual).name() + u" is not "_s + (expected).name()))

class DiagramMarksTest : public QObject {
    Q_OBJECT
  private slots:
    void heldSpans() {
        Story story(2);
        for (int r = 0; r < 2; ++r) {
            story.init(r, 0, 10 * kUs);
        }
        story.send(0, 1, 1, 8, 20 * kUs, 24 * kUs); // rank 0 is held from 25 to 125 us, rank 1 goes on
        story.send(0, 1, 1, 8, 30 * kUs, 40 * kUs);
        story.recv(1, 0, 1, 8, 20 * kUs, 150 * kUs);
        story.timeline().addStop(RankId{0}, {EventIndex{4}, 25 * kUs, 125 * kUs});
        WidgetFixture f(std::move(story));
        f.widget.fitAll();
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.held.size(), std::size_t(1));
        const HeldBand band = g.held[0];
        QCOMPARE(band.x0, f.column(25 * kUs));
        QCOMPARE(band.x1, f.column(125 * kUs));
        QCOMPARE(band.y0, g.rows[0].barTop);
        QCOMPARE(band.y1, g.rows[0].barBottom);
        QCOMPARE(f.boxOf(Story::ref(0, 2))->x0,
                 f.column(130 * kUs)); // what comes after it is later by its length
        const Palette c = f.colours();
        const QImage plot = f.plot();
        const QColor edge = Palette::mixed(c.hatch, c.frame, 0.55);
        COMPARE_COLOUR(plot.pixelColor(band.x0, band.y0 + 1), edge);
        COMPARE_COLOUR(plot.pixelColor(band.x1 - 1, band.y0 + 1), edge);
        QVERIFY(distance(plot.pixelColor(band.x0 - 2, band.y0 + 1), c.background) <= 9);

        // Once the other is held as well in that time, there is nothing to show: the axis leaves it out.
        f.timeline().addStop(RankId{1}, {EventIndex{3}, 25 * kUs, 125 * kUs});
        f.widget.timelineChanged();
        QVERIFY(f.widget.geometry().held.empty());
        QCOMPARE(f.boxOf(Story::ref(0, 2))->x0, f.column(30 * kUs));
    }

    void pendingAndUnmatchedMessages() {
        Story story = started();
        story.send(0, 1, 1, 8, 100 * kUs, 150 * kUs); // never received
        story.recvOpen(2, 3, 2, 120 * kUs);           // never sent
        story.recvOpen(1, kAnySource, 77, 130 * kUs); // from anybody
        story.recv(0, 3, 9, 8, 160 * kUs, 400 * kUs);
        story.send(3, 0, 9, 8, 300 * kUs, 380 * kUs);
        WidgetFixture f(std::move(story));
        const auto lineOf = [&f](MessageShape shape) {
            const Geometry& g = f.widget.geometry();
            const auto at = std::find_if(g.pending.begin(), g.pending.end(),
                                         [shape](const MessageLine& line) { return line.shape == shape; });
            return at == g.pending.end() ? MessageLine() : *at;
        };
        QCOMPARE(f.widget.geometry().pending.size(), std::size_t(3));
        const RowLayout layout = f.widget.geometry().layout;
        const BarLane lane = layout.lane();
        const double now1 = f.widget.geometry().rows[1].lastX;
        const MessageLine sent = lineOf(MessageShape::Sent);
        QCOMPARE(int(std::floor(sent.from.x())), f.column(100 * kUs));
        QCOMPARE(sent.from.y(), double(layout.top(0) + lane.bottom));
        QVERIFY(std::abs(sent.to.x() - (now1 - 4)) <= 1); // at the present of the receiver
        QCOMPARE(sent.to.y(), double(layout.top(1) + lane.top));
        const MessageLine awaited = lineOf(MessageShape::Awaited);
        QCOMPARE(int(std::floor(awaited.to.x())), f.column(120 * kUs) + 3);
        QCOMPARE(awaited.to.y(), double(layout.top(2) + lane.bottom));
        QCOMPARE(awaited.from.y(), double(layout.top(3) + lane.top));
        const MessageLine any = lineOf(MessageShape::WildcardStub);
        QCOMPARE(int(std::floor(any.to.x())), f.column(130 * kUs) + 3);
        QCOMPARE(any.to.y(), double(layout.top(1) + lane.top));

        const Palette c = f.colours();
        COMPARE_COLOUR(f.plot().pixelColor(sent.to.toPoint()), c.background);      // a hollow circle
        COMPARE_COLOUR(f.plot().pixelColor(awaited.from.toPoint()), c.background); // a hollow square

        // Once their peers have ended they are errors, with a cross.
        std::vector<RowState> rows = statesOf(f.timeline());
        rows[1].ended = rows[3].ended = true;
        f.widget.setRowStates(rows);
        const MessageLine lost = lineOf(MessageShape::UnmatchedSend);
        QCOMPARE(lost.from, sent.from);
        QCOMPARE(lineOf(MessageShape::UnmatchedReceive).to, awaited.to);
        COMPARE_COLOUR(f.plot().pixelColor(lost.to.toPoint()), c.style(CallStyle::Error));
    }

    void whatIsNotExecutedAgainIsDimmed() {
        WidgetFixture f(hangStory(4, 6, 3));
        std::vector<RowState> rows = statesOf(f.timeline());
        rows[0].place = {EventIndex{6}, false}; // after its second send
        rows[1].place = {EventIndex{4}, false}; // after its first receive
        f.widget.setRowStates(rows);
        const Palette c = f.colours();
        const QImage plot = f.plot();
        const auto bodyOf = [&](replay::CallRef ref) {
            const Box* box = f.boxOf(ref);
            return plot.pixelColor(box->x0 + 3, box->y0 + 2);
        };
        const QColor send = c.style(CallStyle::Send);
        const QColor receive = c.style(CallStyle::Receive);
        COMPARE_COLOUR(bodyOf(Story::ref(0, 2)), send);
        COMPARE_COLOUR(bodyOf(Story::ref(0, 3)), c.faded(send, kDimStrength));
        COMPARE_COLOUR(bodyOf(Story::ref(1, 1)), receive);
        COMPARE_COLOUR(bodyOf(Story::ref(1, 2)), c.faded(receive, kDimStrength));
        COMPARE_COLOUR(bodyOf(Story::ref(2, 2)), receive);
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.rows[0].dimX, std::optional<int>(f.boxOf(Story::ref(0, 2))->x1));
        QVERIFY(!g.rows[2].dimX);
        // The waits under the receives are dimmed with them.
        QVERIFY(!g.waits.empty());
        for (const WaitMark& wait : g.waits) {
            const int row = g.layout.at(wait.y0);
            const bool beyond = row == 1 && wait.x0 > f.boxOf(Story::ref(1, 1))->x1;
            QCOMPARE(wait.dimmed, beyond);
        }
        // Messages: sent again and not received, or neither.
        int half = 0;
        for (const MessageLine& line : g.messages) {
            half += line.dim == Dim::SecondHalf ? 1 : 0;
        }
        QCOMPARE(half, 0); // rank 2 is not held back: what rank 0 has sent has arrived
        rows[2].place = {EventIndex{2}, false};
        f.widget.setRowStates(rows);
        int sentOnly = 0;
        for (const MessageLine& line : f.widget.geometry().messages) {
            sentOnly += line.dim == Dim::SecondHalf ? 1 : 0;
        }
        QCOMPARE(sentOnly, 1);
    }

    void frontiersAndStopline() {
        WidgetFixture f(hangStory(4, 6, 3));
        replay::Line past;
        replay::Line future;
        replay::Line stopline;
        for (int r = 0; r < 4; ++r) {
            past.cut.push_back({EventIndex{4}, false});   // after the first call that follows on MPI_Init
            future.cut.push_back({EventIndex{5}, false}); // before the next
            stopline.cut.push_back({EventIndex{4}, false});
        }
        stopline.cut[3] = {EventIndex{5}, true};
        stopline.obstacles.push_back({RankId{3}, Story::ref(3, 2), Story::ref(0, 3), "waits"});
        f.widget.setPastFrontier(past);
        f.widget.setFutureFrontier(future);
        const Palette c = f.colours();
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.lines.size(), std::size_t(2));
        QCOMPARE(g.lines[0].kind, LineKind::Past);
        QCOMPARE(g.lines[1].kind, LineKind::Future);
        QImage plot = f.plot();
        for (int r = 0; r < 4; ++r) {
            const LineStep& left = g.lines[0].steps.at(std::size_t(r));
            const LineStep& right = g.lines[1].steps.at(std::size_t(r));
            QCOMPARE(left.x, g.view.toPixel(f.timeline().axisTime(RankId{r}, EventIndex{4})) + 2);
            QCOMPARE(right.x, g.view.toPixel(f.timeline().axisTime(RankId{r}, EventIndex{5})) - 2);
            QCOMPARE(left.y0, g.layout.top(r));
            QCOMPARE(left.y1, g.layout.bottom(r));
            // Triangles point away from what lies between the lines.
            const int middle = (left.y0 + left.y1) / 2;
            COMPARE_COLOUR(plot.pixelColor(int(left.x) - 3, middle), c.past);
            COMPARE_COLOUR(plot.pixelColor(int(right.x) + 3, middle), c.future);
        }
        // Tints: left of the past line, right of the future one.
        const auto ground = [&](int x, int row) { return plot.pixelColor(x, g.layout.bottom(row) - 2); };
        COMPARE_COLOUR(ground(1, 0), Palette::mixed(c.past, c.background, 0.06));
        // There nothing is executed yet: between the lines of that hatch the tint can be seen.
        int tinted = 0;
        for (int x = g.view.width - 16; x < g.view.width; ++x) {
            tinted += distance(ground(x, 1), Palette::mixed(c.future, c.zebra, 0.06)) <= 9 ? 1 : 0;
        }
        QVERIFY(tinted >= 8);

        f.widget.setPastFrontier(std::nullopt);
        f.widget.setFutureFrontier(std::nullopt);
        f.widget.setStopline(stopline);
        const LineGeometry line = f.widget.geometry().lines.at(0);
        QCOMPARE(line.kind, LineKind::Stopline);
        QVERIFY(!line.steps.at(0).hollow);
        QVERIFY(line.steps.at(3).hollow); // it would still be inside a call
        QCOMPARE(line.steps.at(3).obstacle, 0);
        plot = f.plot();
        // The line, and handles that hang from the tops of their rows: filled, or hollow with a border.
        for (std::size_t r = 0; r < 4; ++r) {
            const LineStep& step = line.steps[r];
            COMPARE_COLOUR(plot.pixelColor(int(std::floor(step.x)), step.y1 - 4), c.stopline);
            const QFontMetrics metrics(f.widget.font());
            const int wide =
                metrics.horizontalAdvance(u"@"_s + QString::number(step.place.event.value())) + 8;
            const QPoint inside(int(step.x) - wide / 2 + 3, step.y0 + 1 + metrics.height() / 2);
            COMPARE_COLOUR(plot.pixelColor(inside), step.hollow ? c.background : c.stopline);
        }
    }

    void ghostOfAnUndo() {
        WidgetFixture f(hangStory(4, 6, 3));
        f.widget.setGhost(replay::Cut(4, replay::Place{EventIndex{4}, false}));
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.lines.size(), std::size_t(1));
        QCOMPARE(g.lines[0].kind, LineKind::Ghost);
        QCOMPARE(g.lines[0].steps[0].x, g.view.toPixel(f.timeline().axisTime(RankId{0}, EventIndex{4})) + 2);
    }

    void collectivesHaveASpine() {
        Story story = started();
        for (int r = 0; r < 4; ++r) {
            story.collective(r, trace::FunctionId::Bcast, 2, (100 + 20 * r) * kUs, 200 * kUs);
        }
        for (int r = 0; r < 3; ++r) {
            story.collectiveOpen(r, trace::FunctionId::Barrier, kNoPeer, (300 + 10 * r) * kUs);
        }
        WidgetFixture f(std::move(story));
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.spines.size(), std::size_t(2));
        const Spine& whole = g.spines[0];
        QVERIFY(whole.complete);
        QCOMPARE(whole.dots.size(), std::size_t(4));
        for (int r = 0; r < 4; ++r) {
            const SpineDot& dot = whole.dots[std::size_t(r)];
            QCOMPARE(dot.at.x(), g.view.toPixel(160 * kUs)); // all of them at the last enter
            QCOMPARE(dot.at.y(), double(g.layout.centre(r)));
            QCOMPARE(dot.enterX, g.view.toPixel((100 + 20 * r) * kUs));
            QCOMPARE(dot.kind, r == 2 ? DotKind::Root : DotKind::Member);
        }
        const Spine& open = g.spines[1];
        QVERIFY(!open.complete);
        QCOMPARE(open.dots[3].kind, DotKind::Missing);
        QCOMPARE(open.dots[3].at.x(), g.view.toPixel(320 * kUs));
        // Between two rows only the spine itself is there; a member is a filled dot, who is missing a hollow
        // one.
        const Palette c = f.colours();
        const QImage plot = f.plot();
        const QColor colour = c.style(CallStyle::Collective).darker(125);
        QCOMPARE(c.theme(), Palette::Theme::Light);
        COMPARE_COLOUR(plot.pixelColor(int(std::floor(whole.dots[0].at.x())), g.layout.bottom(0)), colour);
        COMPARE_COLOUR(plot.pixelColor(whole.dots[1].at.toPoint()), colour);
        COMPARE_COLOUR(plot.pixelColor(open.dots[3].at.toPoint()), c.background);
    }

    void newSinceTheLastStop() {
        WidgetFixture f(hangStory(4, 6, 3));
        std::vector<RowState> rows = statesOf(f.timeline());
        rows[0].freshFrom = EventIndex{8};
        rows[2].freshFrom = f.timeline().lastEvent(RankId{2}); // nothing new
        f.widget.setRowStates(rows);
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.rows[0].freshX0,
                 std::optional<int>(f.column(f.timeline().axisTime(RankId{0}, EventIndex{8}))));
        QCOMPARE(g.rows[0].freshX1,
                 f.column(f.timeline().axisTime(RankId{0}, f.timeline().lastEvent(RankId{0}))));
        QVERIFY(!g.rows[1].freshX0);
        QVERIFY(!g.rows[2].freshX0);
        const Palette c = f.colours();
        const QImage plot = f.plot();
        const int y = g.rows[0].top + 1;
        COMPARE_COLOUR(plot.pixelColor(*g.rows[0].freshX0, y),
                       Palette::mixed(c.fresh, Palette::mixed(c.fresh, c.background, 0.10), 0.65));
        COMPARE_COLOUR(plot.pixelColor(*g.rows[0].freshX0 + 5, y),
                       Palette::mixed(c.fresh, c.background, 0.10));
        COMPARE_COLOUR(plot.pixelColor(*g.rows[0].freshX0 - 5, y), c.background);
    }

    void messagesWithinTheToleranceGoNowhereBack() {
        Story story = started();
        story.recv(1, 0, 1, 8, 100 * kUs, 200 * kUs);
        story.send(0, 1, 1, 8, 215 * kUs,
                   230 * kUs); // 15 us after it was received: either time is off by up to 10 us
        story.recv(3, 2, 1, 8, 100 * kUs, 200 * kUs);
        story.send(2, 3, 1, 8, 240 * kUs, 260 * kUs); // 40 us: that no rounding explains
        WidgetFixture f(std::move(story));
        const Geometry& g = f.widget.geometry();
        QCOMPARE(g.messages.size(), std::size_t(2));
        for (const MessageLine& line : g.messages) {
            const bool rounding = line.from.y() < g.layout.top(2);
            QCOMPARE(line.shape, rounding ? MessageShape::Matched : MessageShape::Backwards);
            if (rounding) {
                QCOMPARE(line.to.x(), line.from.x());
                QVERIFY(std::abs(line.from.x() - g.view.toPixel(215'000)) < 0.01);
            } else {
                QVERIFY(line.to.x() < line.from.x());
            }
        }
    }
};

QTEST_MAIN(DiagramMarksTest)
#include "diagram_marks_test.moc"
