// Collectives, lines, the point, stops, selection, picking.
#include "../../../viewer/geometry_builder.h"
#include "../../../viewer/overview.h"
#include "synthetic.h"

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;

namespace {

Scene plainScene(int rows) {
    Scene scene;
    scene.view = {0, 1000, 1000};
    scene.layout = {rows, 50, 0, 50 * rows};
    return scene;
}

/// Three ranks: a message 0 -> 1, then a Bcast from 2 that rank 1 never enters.
struct Marks {
    Marks() : story(3) {
        for (int r = 0; r < 3; ++r) {
            story.init(r, 0, 50);
        }
        send = story.send(0, 1, 5, 8, 100, 160);
        recv = story.recv(1, 0, 5, 8, 120, 200);
        story.collectiveOpen(0, trace::FunctionId::Bcast, 2, 300);
        story.collectiveOpen(2, trace::FunctionId::Bcast, 2, 340);
        model.setTimeline(&story.timeline());
    }
    [[nodiscard]] Geometry build(const Scene& scene) const { return GeometryBuilder(model, scene).build(); }
    Story story;
    DiagramModel model;
    std::uint32_t send = 0;
    std::uint32_t recv = 0;
};

/// Two ranks that start in `init`, send once, and end from `finalize` to `end`.
AxisView workOf(TimeNs init, TimeNs finalize, TimeNs end) {
    Story story(2);
    for (int rank = 0; rank < 2; ++rank) {
        story.init(rank, 0, init);
        if (rank == 0) {
            story.send(0, 1, 1, 8, init + 10, init + 20);
        } else {
            story.recv(1, 0, 1, 8, init + 10, init + 30);
        }
        story.finalize(rank, finalize - rank, end);
    }
    DiagramModel model;
    model.setTimeline(&story.timeline());
    return workView(model, Axis::Time, 1000);
}

TEST(WorkView, LeavesOutStartAndEndWhereTheyTakeMuch) {
    const AxisView both = workOf(10'000, 11'000, 30'000);
    EXPECT_GT(both.begin, 9'000);
    EXPECT_LE(both.begin, 10'000);
    EXPECT_GE(both.end, 11'000);
    EXPECT_LT(both.end, 11'500);
    const AxisView start = workOf(10'000, 20'000, 20'010);
    EXPECT_GT(start.begin, 9'000);
    EXPECT_GT(start.end, 20'000);
    const AxisView end = workOf(10, 2'000, 30'000);
    EXPECT_LE(end.begin, 0);
    EXPECT_LT(end.end, 3'000);
    const AxisView none = workOf(10, 20'000, 20'010);
    EXPECT_LE(none.begin, 0);
    EXPECT_GT(none.end, 20'010);
}

} // namespace

TEST(GeometryMarks, SpineShowsWhoIsMissing) {
    Marks m;
    const Geometry g = m.build(plainScene(3));
    ASSERT_EQ(g.spines.size(), 1U); // the complete MPI_Init is not worth a line
    const Spine& spine = g.spines[0];
    EXPECT_FALSE(spine.complete);
    ASSERT_EQ(spine.dots.size(), 3U);
    EXPECT_EQ(spine.dots[0].kind, DotKind::Member);
    EXPECT_EQ(spine.dots[0].at, QPointF(340, 25)); // at the last enter
    EXPECT_EQ(spine.dots[0].enterX, 300);          // the wedge begins where it entered
    EXPECT_EQ(spine.dots[1].kind, DotKind::Missing);
    EXPECT_EQ(spine.dots[2].kind, DotKind::Root);
    EXPECT_EQ(spine.dots[2].at, QPointF(340, 125));
}

TEST(GeometryMarks, CrowdedSpinesGiveWayExceptWhereAMemberIsMissing) {
    Story story(2);
    story.init(0, 0, 10);
    story.init(1, 0, 10);
    for (int i = 0; i < 600; ++i) {
        for (int r = 0; r < 2; ++r) {
            story.collective(r, trace::FunctionId::Barrier, kNoPeer, 20 + 10 * i, 25 + 10 * i);
        }
    }
    story.collectiveOpen(0, trace::FunctionId::Barrier, kNoPeer, 6100);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(2);
    scene.view = {0, 10'000, 1000};
    Geometry g = GeometryBuilder(model, scene).build();
    ASSERT_EQ(g.spines.size(), 1U); // 600 on 600 pixels
    EXPECT_FALSE(g.spines[0].complete);
    EXPECT_EQ(g.spines[0].dots[1].kind, DotKind::Missing);
    scene.view = {1006, 2006, 1000};
    g = GeometryBuilder(model, scene).build(std::move(g)); // the memory of the one before holds nothing of it
    EXPECT_EQ(g.spines.size(), 100U);
    EXPECT_EQ(g.boxes.size(), 200U);
    EXPECT_TRUE(g.strips.empty());
}

TEST(GeometryMarks, LinesStandBesideTheirEvents) {
    Marks m;
    Scene scene = plainScene(3);
    replay::Line past;
    past.cut = {{EventIndex{3}, false}, {EventIndex{4}, false}, {EventIndex{0}, false}};
    replay::Line stop;
    stop.cut = {{EventIndex{4}, false}, {EventIndex{3}, true}, {EventIndex{2}, false}};
    stop.obstacles.push_back({RankId{1}, Story::ref(1, m.recv), Story::ref(0, m.send), "waits"});
    scene.past = &past;
    scene.stopline = &stop;
    const Geometry g = m.build(scene);
    ASSERT_EQ(g.lines.size(), 2U);
    EXPECT_EQ(g.lines[0].kind, LineKind::Past);
    ASSERT_EQ(g.lines[0].steps.size(), 3U);
    EXPECT_DOUBLE_EQ(g.lines[0].steps[0].x, 98);  // before the send that begins at 100
    EXPECT_DOUBLE_EQ(g.lines[0].steps[1].x, 202); // after the receive that ends at 200
    EXPECT_DOUBLE_EQ(g.lines[0].steps[2].x, 0);   // not started
    EXPECT_EQ(g.lines[0].steps[1].y0, 50);
    EXPECT_EQ(g.lines[0].steps[1].y1, 100);
    const LineGeometry& stopline = g.lines[1];
    EXPECT_EQ(stopline.kind, LineKind::Stopline);
    EXPECT_FALSE(stopline.steps[0].hollow);
    EXPECT_TRUE(stopline.steps[1].hollow);
    EXPECT_EQ(stopline.steps[1].obstacle, 0);
    EXPECT_DOUBLE_EQ(stopline.steps[1].x, 160); // in the middle of the call it is inside
    EXPECT_EQ(stopline.steps[0].place.event, EventIndex{4});
}

TEST(GeometryMarks, PointBeforeAndAfter) {
    Marks m;
    Scene scene = plainScene(3);
    scene.point = replay::Point{Story::ref(0, m.send), false};
    Geometry g = m.build(scene);
    ASSERT_TRUE(g.point);
    EXPECT_EQ(g.point->at, QPointF(100, 25));
    EXPECT_FALSE(g.point->after);
    scene.point->after = true;
    g = m.build(scene);
    EXPECT_EQ(g.point->at, QPointF(160, 25));
    EXPECT_TRUE(g.point->after);
    scene.view = {500, 1500, 1000};
    EXPECT_FALSE(m.build(scene).point);
}

TEST(GeometryMarks, StopsAndFreshBand) {
    Marks m;
    Scene scene = plainScene(3);
    StopPost stop;
    stop.number = 4;
    stop.places = {{EventIndex{3}, false}, {EventIndex{2}, false}, {EventIndex{2}, false}};
    stop.marks = {StopMark::Breakpoint, StopMark::None, StopMark::Pause};
    const std::vector<StopPost> stops{stop};
    scene.stops = stops;
    std::vector<RowState> rows(3);
    rows[0].place = {EventIndex{5}, true};
    rows[0].mark = StopMark::Signal;
    rows[0].freshFrom = EventIndex{3};
    rows[1].running = true;
    rows[1].mark = StopMark::Pause;
    scene.rows = rows;
    const Geometry g = m.build(scene);
    ASSERT_EQ(g.stops.size(), 2U);
    EXPECT_EQ(g.stops[0].number, 4);
    ASSERT_EQ(g.stops[0].posts.size(), 2U); // rank 1 was not stopped by it
    EXPECT_EQ(g.stops[0].posts[0].x, 100);
    EXPECT_EQ(g.stops[0].posts[0].mark, StopMark::Breakpoint);
    EXPECT_EQ(g.stops[0].posts[1].x, 50);
    EXPECT_EQ(g.stops[0].rulerX, 100);
    ASSERT_EQ(g.stops[1].posts.size(), 1U); // running ranks stand nowhere
    EXPECT_TRUE(g.stops[1].posts[0].current);
    EXPECT_EQ(g.rows[0].freshX0, 100);
    EXPECT_EQ(g.rows[0].freshX1, 300);
    EXPECT_FALSE(g.rows[1].freshX0);
    EXPECT_TRUE(g.rows[1].open);
}

TEST(GeometryMarks, SelectionShowsBothEnds) {
    Marks m;
    Scene scene = plainScene(3);
    scene.selection = Story::ref(1, m.recv);
    const Geometry g = m.build(scene);
    ASSERT_TRUE(g.selection);
    ASSERT_TRUE(g.selection->box);
    EXPECT_EQ(g.selection->box->x0, 120);
    ASSERT_EQ(g.selection->messages.size(), 1U);
    EXPECT_EQ(g.selection->messages[0].from, QPointF(100, 40));
    EXPECT_EQ(g.selection->messages[0].to, QPointF(200, 60));
    ASSERT_EQ(g.selection->partners.size(), 1U);
    EXPECT_EQ(g.selection->partners[0].row, 0);
    // Both ends out of view, the line crosses it: still drawn.
    scene.view = {170, 180, 1000};
    const Geometry between = m.build(scene);
    ASSERT_EQ(between.selection->messages.size(), 1U);
}

TEST(GeometryMarks, RequestsAreJoinedOnSelection) {
    Story story(2);
    story.init(0, 0, 10);
    story.init(1, 0, 10);
    const std::uint32_t post = story.irecv(1, 0, 1, 8, 50, 60);
    story.send(0, 1, 1, 8, 100, 120);
    const std::uint32_t wait = story.wait(1, {{0, 0, 1, 8}}, 150, 200);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(2);
    scene.selection = Story::ref(1, wait);
    const Geometry g = GeometryBuilder(model, scene).build();
    ASSERT_TRUE(g.selection && g.selection->requestFrom);
    EXPECT_EQ(g.selection->requestFrom->call, post);
    // The post has its tick above the bar, the message ends where the wait ends.
    ASSERT_EQ(g.ticks.size(), 1U);
    EXPECT_EQ(g.ticks[0].x, 50);
    EXPECT_FALSE(g.ticks[0].down);
    ASSERT_EQ(g.messages.size(), 1U);
    EXPECT_EQ(g.messages[0].to.x(), 200);
}

TEST(GeometryMarks, PickingFindsTheCall) {
    Marks m;
    EXPECT_EQ(m.model.callNear(0, 130, 2, Axis::Time), Story::ref(0, m.send));
    EXPECT_EQ(m.model.callNear(0, 99, 2, Axis::Time), Story::ref(0, m.send));
    EXPECT_EQ(m.model.callNear(0, 80, 2, Axis::Time), std::nullopt);
    EXPECT_EQ(m.model.callNear(7, 80, 2, Axis::Time), std::nullopt);
    // Where all lie within the reach, the worst: an unfinished collective before a send.
    EXPECT_EQ(m.model.callNear(0, 100, 1'000'000, Axis::Time)->rank, RankId{0});
}

TEST(Overview, LanesShowTheWorstOfAPixel) {
    Story story(2);
    story.init(0, 0, 100);
    story.init(1, 0, 100);
    story.send(0, 0, 1, 8, 300, 500);
    for (int i = 0; i < 100; ++i) {
        story.collective(1, trace::FunctionId::Barrier, kNoPeer, 300 + i, 300 + i);
    }
    story.send(1, 1, 1, 8, 600, 1000);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    const Palette palette(Palette::Theme::Light);
    const AxisView whole = wholeView(model, Axis::Time, 200);
    const QImage image = overviewImage(model, Axis::Time, palette, 200, 22);
    ASSERT_EQ(image.size(), QSize(200, 22));
    const auto at = [&](TimeNs time, int y) { return image.pixelColor(int(whole.toPixel(time)), y); };
    const auto faded = [&](CallStyle style) { return palette.faded(palette.style(style), 0.75); };
    EXPECT_EQ(at(50, 5).rgb(), faded(CallStyle::Other).rgb()); // MPI_Init
    EXPECT_EQ(at(400, 5).rgb(), faded(CallStyle::Send).rgb());
    EXPECT_EQ(at(700, 5).rgb(), palette.frame.rgb()); // nothing there
    EXPECT_EQ(at(350, 15).rgb(), faded(CallStyle::Collective).rgb());
    EXPECT_EQ(at(800, 15).rgb(), faded(CallStyle::Send).rgb());
}

TEST(Overview, LensFollowsTheView) {
    Marks m;
    const AxisView whole = wholeView(m.model, Axis::Time, 500);
    EXPECT_LT(whole.begin, 1);
    EXPECT_GT(whole.end, m.model.extent(Axis::Time));
    const Lens all = lensOf(whole, whole);
    EXPECT_DOUBLE_EQ(all.left, 0);
    EXPECT_DOUBLE_EQ(all.right, 500);
    const Lens tiny = lensOf({100, 101, 500}, whole);
    EXPECT_NEAR(tiny.right - tiny.left, 6, 1e-9);
    const AxisView moved = viewAtLens({0, 50, 500}, whole, 250);
    EXPECT_EQ(moved.span(), 50);
    EXPECT_NEAR(whole.toPixel(moved.begin + 25), 250, 1.5);
}
