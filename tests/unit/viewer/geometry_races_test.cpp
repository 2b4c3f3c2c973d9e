// Rings of races: where they lie, how they give way to each other, what could have come instead.
#include "raced.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;

namespace {

Scene plainScene(int rows, int rowHeight = 50) {
    Scene scene;
    scene.view = {0, 1000, 1000};
    scene.layout = {rows, rowHeight, 0, rowHeight * rows};
    return scene;
}

std::uint64_t racesIn(const Geometry& g) {
    std::uint64_t sum = 0;
    for (const RaceRing& ring : g.races) {
        sum += ring.races;
    }
    return sum;
}

bool apart(const RaceRing& a, const RaceRing& b) {
    const double gap = a.radius + b.radius;
    return std::abs(a.at.x() - b.at.x()) >= gap || std::abs(a.at.y() - b.at.y()) >= gap;
}

} // namespace

TEST(RaceRings, LieWhereTheMessageArrives) {
    Raced r;
    EXPECT_TRUE(r.build(plainScene(3)).races.empty());
    r.model.setRaces({mark(0, r.second, 3), mark(0, r.first, 1)});
    const Geometry g = r.build(plainScene(3));
    ASSERT_EQ(g.races.size(), 2U);
    RaceRing ring;
    ring.at = {200, 25}; // the middle of the bar, which goes from 10 to 40
    ring.radius = 7;
    ring.row = 0;
    ring.call = r.first;
    ring.alternatives = 1;
    ring.races = 1;
    ring.room = 300 - 207; // up to the next call
    EXPECT_EQ(g.races[0], ring);
    ring.at = {400, 25};
    ring.call = r.second;
    ring.alternatives = 3;
    ring.room = 1000 - 407;
    EXPECT_EQ(g.races[1], ring);
    Scene scene = plainScene(3);
    scene.axis = Axis::Events;
    scene.view = {0, 10 * kUnitsPerEvent, 1000};
    const Geometry events = r.build(scene);
    ASSERT_EQ(events.races.size(), 2U);
    EXPECT_EQ(events.races[0].at, QPointF(400, 25)); // event 4
    EXPECT_EQ(events.races[1].at, QPointF(600, 25));
}

TEST(RaceRings, AReceiveThatIsCompletedLaterHasItThere) {
    Story story(2);
    story.init(0, 0, 50);
    const std::uint32_t post = story.irecv(0, kAnySource, 5, 8, 100, 110);
    const std::uint32_t other = story.irecv(0, kAnySource, 6, 8, 120, 130);
    const std::uint32_t wait = story.wait(0, {{1, 1, 5, 8}, {0, 1, 6, 8}}, 200, 300);
    const std::uint32_t open = story.recvOpen(0, kAnySource, 9, 350);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    model.setRaces({{Story::ref(0, other), Story::ref(0, wait), 2},
                    {Story::ref(0, post), Story::ref(0, wait), 4},
                    mark(0, open, 1)});
    Geometry g = GeometryBuilder(model, plainScene(2)).build();
    ASSERT_EQ(g.races.size(), 2U);
    EXPECT_EQ(g.races[0].at, QPointF(300, 25));
    EXPECT_EQ(g.races[0].races, 2U);
    EXPECT_FALSE(g.races[0].merged); // nearer they would still be one
    EXPECT_EQ(g.races[0].call, post);
    EXPECT_EQ(g.races[0].alternatives, 4U); // the most, not the sum: both may be the same messages
    const double now = double(model.nowEdge(0, Axis::Time));
    EXPECT_EQ(g.races[1].at, QPointF(now, 25));
    EXPECT_GT(now, 350);
    // Chosen at either end; the other receive of the wait keeps its own number.
    Scene scene = plainScene(2);
    scene.selection = Story::ref(0, other);
    g = GeometryBuilder(model, scene).build();
    ASSERT_TRUE(g.selection && g.selection->race);
    EXPECT_EQ(g.selection->race->at, QPointF(300, 25));
    EXPECT_EQ(g.selection->race->alternatives, 2U);
    scene.selection = Story::ref(0, wait);
    g = GeometryBuilder(model, scene).build();
    ASSERT_TRUE(g.selection && g.selection->race);
    EXPECT_EQ(g.selection->race->alternatives, 4U);
    EXPECT_EQ(g.selection->race->races, 2U);
}

TEST(RaceRings, ThoseThatWouldTouchGiveWay) {
    // At this height a cell is 17 pixels wide: 187 to 204, 204 to 221.
    const auto ringsOf = [](TimeNs a, TimeNs b, std::int64_t viewBegin) {
        Story story(1);
        story.init(0, 0, 50);
        const std::uint32_t first = story.recvAny(0, 0, 5, 8, 100, a);
        const std::uint32_t second = story.recvAny(0, 0, 5, 8, a + 1, b);
        DiagramModel model;
        model.setTimeline(&story.timeline());
        model.setRaces({mark(0, first, 2), mark(0, second, 5)});
        Scene scene = plainScene(1);
        scene.view = {viewBegin, viewBegin + 1000, 1000};
        return GeometryBuilder(model, scene).build().races;
    };
    std::vector<RaceRing> rings = ringsOf(200, 208, 0);
    ASSERT_EQ(rings.size(), 2U);
    EXPECT_EQ(rings[0].at, QPointF(196.5, 25)); // 7.5 pixels from the border of the cells
    EXPECT_EQ(rings[1].at, QPointF(211.5, 25));
    EXPECT_FALSE(rings[0].merged || rings[1].merged);
    EXPECT_EQ(rings[0].room, 0);
    rings = ringsOf(200, 208, 50); // moving the view moves them, nothing else
    ASSERT_EQ(rings.size(), 2U);
    EXPECT_EQ(rings[0].at, QPointF(146.5, 25));
    EXPECT_EQ(rings[1].at, QPointF(161.5, 25));
    rings = ringsOf(190, 202, 0); // in one cell: one ring in their middle, of the worse one
    ASSERT_EQ(rings.size(), 1U);
    EXPECT_EQ(rings[0].at, QPointF(196, 25));
    EXPECT_TRUE(rings[0].merged);
    EXPECT_EQ(rings[0].races, 2U);
    EXPECT_EQ(rings[0].alternatives, 5U);
    EXPECT_EQ(rings[0].call, 2U);
    rings = ringsOf(200, 215, 0); // beside each other without touching: both where they are
    ASSERT_EQ(rings.size(), 2U);
    EXPECT_EQ(rings[0].at.x(), 200);
    EXPECT_EQ(rings[1].at.x(), 215);
}

TEST(RaceRings, SmallerInLowerRows) {
    Many many(64, 4, 200);
    const auto first = [&many](int rowHeight, int row) {
        const Geometry g = many.build(plainScene(64, rowHeight));
        const auto at = std::find_if(g.races.begin(), g.races.end(),
                                     [row](const RaceRing& ring) { return ring.row == row; });
        return at == g.races.end() ? RaceRing() : *at;
    };
    EXPECT_EQ(first(60, 1).radius, 7);
    EXPECT_EQ(first(60, 1).at.y(), 60 + 30);
    EXPECT_EQ(first(18, 1).radius, 4);
    EXPECT_EQ(first(14, 1).radius, 4); // 64 ranks on 900 pixels
    EXPECT_EQ(first(14, 1).at.y(), 14 + 7);
    EXPECT_EQ(first(14, 1).room, 0); // no text there
    EXPECT_EQ(first(8, 1).radius, 2.5);
    EXPECT_EQ(first(5, 1).radius, kRaceMark);
    EXPECT_EQ(first(5, 1).at.y(), 5 + 2);
    const Geometry heat = many.build(plainScene(64, 1));
    for (const RaceRing& ring : heat.races) { // in bands of seven rows, two pixels from their edges
        EXPECT_EQ(ring.at.y(), std::clamp(double(ring.row), ring.row / 7 * 7 + 2.0, ring.row / 7 * 7 + 4.0));
    }
    EXPECT_GT(heat.races.size(), 20U);
}

TEST(RaceRings, NeverLieOnEachOtherAndLoseNone) {
    for (const int apartBy : {3, 40, 300}) {
        Many many(12, 3000, apartBy);
        for (const int rowHeight : {60, 14, 8, 5, 3, 2, 1}) {
            for (const std::int64_t span : {many.end + 10, many.end / 3, std::int64_t(900)}) {
                Scene scene = plainScene(12, rowHeight);
                scene.view = {0, span, 1000};
                const Geometry g = many.build(scene);
                const std::size_t together = (7 + rowHeight - 1) / std::size_t(rowHeight);
                const std::size_t bands = (12 + together - 1) / together;
                ASSERT_LE(g.races.size(), bands * (1000 / 8 + 3)) << apartBy << ' ' << rowHeight;
                for (std::size_t i = 0; i < g.races.size(); ++i) {
                    for (std::size_t j = 0; j < i; ++j) {
                        ASSERT_TRUE(apart(g.races[j], g.races[i])) << apartBy << ' ' << rowHeight << ' ' << i;
                    }
                }
                if (span > many.end) {
                    EXPECT_EQ(racesIn(g), 12U * 3000U);
                    std::uint32_t most = 0;
                    for (const RaceRing& ring : g.races) {
                        most = std::max(most, ring.alternatives);
                    }
                    EXPECT_EQ(most, 50U);
                }
            }
        }
    }
}

TEST(RaceRings, AHundredThousandAreAHundredRings) {
    Many many(1, 100'000, 20);
    ASSERT_EQ(many.model.races().size(), 100'000U);
    Scene scene = plainScene(1);
    scene.view = {0, many.end + 10, 1600};
    Geometry g = many.build(scene);
    EXPECT_LE(g.races.size(), 1600U / 17 + 2);
    EXPECT_GE(g.races.size(), 1600U / 17 - 1);
    EXPECT_EQ(racesIn(g), 100'000U);
    for (const RaceRing& ring : g.races) {
        ASSERT_TRUE(ring.merged);
        ASSERT_EQ(ring.alternatives, 50U); // of a thousand each
    }
    scene.view = {many.end / 2, many.end / 2 + 200, 1600}; // 8 pixels to a nanosecond: each where it is
    g = many.build(scene);
    EXPECT_FALSE(g.races.empty());
    for (const RaceRing& ring : g.races) {
        const TrackCall& call = many.model.calls(0)[ring.call];
        EXPECT_LE(std::abs(ring.at.x() - scene.view.toPixel(call.timeEnd)), 8.5);
    }
}

TEST(RaceRings, FadeBeyondTheExecutedPlace) {
    Raced r;
    r.model.setRaces({mark(0, r.first, 1), mark(0, r.second, 1)});
    Scene scene = plainScene(3);
    std::vector<RowState> rows(3);
    rows[0].place = {EventIndex{4}, false}; // after the first receive
    rows[1].place = rows[2].place = {EventIndex{4}, false};
    scene.rows = rows;
    Geometry g = r.build(scene);
    ASSERT_EQ(g.races.size(), 2U);
    EXPECT_FALSE(g.races[0].dimmed);
    EXPECT_TRUE(g.races[1].dimmed);
    rows[0].place = {EventIndex{3}, true}; // in it: its message has not come again
    g = r.build(scene);
    EXPECT_TRUE(g.races[0].dimmed);
}

TEST(RaceRings, GhostLinesFromTheOtherSends) {
    Raced r;
    r.model.setRaces({mark(0, r.first, 1)});
    Scene scene = plainScene(3);
    const std::vector<replay::CallRef> sends{Story::ref(2, r.sendOf2), Story::ref(9, 0), Story::ref(2, 77)};
    scene.alternatives = sends;
    scene.selection = Story::ref(1, r.sendOf1);
    EXPECT_TRUE(r.build(scene).selection->alternatives.empty()); // not of a call that did not race
    scene.selection = Story::ref(0, r.first);
    Geometry g = r.build(scene);
    ASSERT_TRUE(g.selection && g.selection->race);
    EXPECT_EQ(g.selection->race->at, QPointF(200, 25));
    ASSERT_EQ(g.selection->alternatives.size(), 1U); // calls that are not known have none
    const GhostLine line = g.selection->alternatives[0];
    EXPECT_EQ(line.from, QPointF(110, 110)); // the begin of the send, the upper edge of its bar
    EXPECT_TRUE(line.begins);
    EXPECT_FALSE(line.dimmed);
    // It ends at the ring: 7 pixels from (200, 25) on the way to its start.
    const double length = std::hypot(90.0, 85.0);
    EXPECT_NEAR(line.to.x(), 200 - 7 * 90 / length, 1e-9);
    EXPECT_NEAR(line.to.y(), 25 + 7 * 85 / length, 1e-9);
    EXPECT_EQ(g.selection->moreAlternatives, 0U);
    // Out of view the ring is not there, but the line that crosses the view is.
    scene.view = {120, 190, 1000};
    g = r.build(scene);
    ASSERT_TRUE(g.selection);
    EXPECT_FALSE(g.selection->race);
    ASSERT_EQ(g.selection->alternatives.size(), 1U);
    EXPECT_FALSE(g.selection->alternatives[0].begins);
    EXPECT_NEAR(g.selection->alternatives[0].from.x(), -40, 1e-9);
    EXPECT_NEAR(g.selection->alternatives[0].to.x(), 1040, 1e-9);
    // A send that has not been executed again.
    scene.view = {0, 1000, 1000};
    std::vector<RowState> rows(3);
    rows[0].place = rows[1].place = {EventIndex{9}, false};
    rows[2].place = {EventIndex{2}, false};
    scene.rows = rows;
    g = r.build(scene);
    EXPECT_TRUE(g.selection->alternatives[0].dimmed);
    EXPECT_FALSE(g.selection->race->dimmed);
}

TEST(RaceRings, GhostLinesAreBounded) {
    Raced r;
    r.model.setRaces({mark(0, r.first, 450)});
    Scene scene = plainScene(3);
    scene.selection = Story::ref(0, r.first);
    const std::vector<replay::CallRef> sends(450, Story::ref(2, r.sendOf2));
    scene.alternatives = sends;
    const Geometry g = r.build(scene);
    EXPECT_EQ(g.selection->alternatives.size(), kGhostCap);
    EXPECT_EQ(g.selection->moreAlternatives, 250U);
}
