// Rows, calls and messages with exact pixels.
#include "../../../viewer/geometry_builder.h"
#include "synthetic.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;

namespace {

/// 1000 units on 1000 pixels, rows of 50: bars from 10 to 40.
Scene plainScene(int rows) {
    Scene scene;
    scene.view = {0, 1000, 1000};
    scene.layout = {rows, 50, 0, 50 * rows};
    return scene;
}

Geometry build(const DiagramModel& model, const Scene& scene) {
    return GeometryBuilder(model, scene).build();
}

const Box* boxOf(const Geometry& geometry, int row, std::uint32_t call) {
    for (const Box& box : geometry.boxes) {
        if (box.row == row && box.call == call) {
            return &box;
        }
    }
    return nullptr;
}

} // namespace

TEST(Geometry, BoxesLieWhereTheCallsAre) {
    Story story(2);
    story.init(0, 100, 200);
    story.send(0, 1, 5, 8, 300, 340);
    story.init(1, 0, 50);
    story.recv(1, 0, 5, 8, 310, 400);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    const TimeNs origin = model.calls(1)[0].timeBegin; // the earliest begin is 0 on the axis
    EXPECT_EQ(origin, 0);
    const Geometry g = build(model, plainScene(2));
    ASSERT_EQ(g.boxes.size(), 4U);
    const Box* send = boxOf(g, 0, 1);
    ASSERT_NE(send, nullptr);
    EXPECT_EQ(send->x0, 300);
    EXPECT_EQ(send->x1, 340);
    EXPECT_EQ(send->y0, 10);
    EXPECT_EQ(send->y1, 40);
    EXPECT_EQ(send->style, CallStyle::Send);
    EXPECT_FALSE(send->unfinished);
    EXPECT_FALSE(send->dimmed);
    const Box* recv = boxOf(g, 1, 1);
    ASSERT_NE(recv, nullptr);
    EXPECT_EQ(recv->x0, 310);
    EXPECT_EQ(recv->x1, 400);
    EXPECT_EQ(recv->y0, 60);
    EXPECT_EQ(recv->style, CallStyle::Receive);
    // One message, from the send's begin at the lower edge of its bar to the receive's end at the upper edge.
    ASSERT_EQ(g.messages.size(), 1U);
    EXPECT_EQ(g.messages[0].from, QPointF(300, 40));
    EXPECT_EQ(g.messages[0].to, QPointF(400, 60));
    EXPECT_EQ(g.messages[0].shape, MessageShape::Matched);
    EXPECT_TRUE(g.messages[0].head);
    EXPECT_TRUE(g.pending.empty());
    EXPECT_EQ(g.messagesInView, 1U);
}

TEST(Geometry, EventAxisUsesEventNumbers) {
    Story story(1);
    story.init(0, 100, 200);
    story.collective(0, trace::FunctionId::Barrier, kNoPeer, 300, 900);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(1);
    scene.axis = Axis::Events;
    scene.view = {0, 10 * kUnitsPerEvent, 1000};
    const Geometry g = build(model, scene);
    ASSERT_EQ(g.boxes.size(), 2U);
    EXPECT_EQ(g.boxes[0].x0, 100);
    EXPECT_EQ(g.boxes[0].x1, 200);
    EXPECT_EQ(g.boxes[1].x0, 300);
    EXPECT_EQ(g.boxes[1].x1, 400);
    EXPECT_EQ(model.extent(Axis::Events), 4 * kUnitsPerEvent);
}

TEST(Geometry, UnfinishedCallsReachBeyondTheLastEvent) {
    Story story(2);
    story.init(0, 0, 100);
    story.init(1, 0, 500);
    story.recvOpen(0, 1, 3, 200);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    const Geometry g = build(model, plainScene(2));
    const Box* open = boxOf(g, 0, 1);
    ASSERT_NE(open, nullptr);
    EXPECT_TRUE(open->unfinished);
    EXPECT_EQ(open->x0, 200);
    EXPECT_GT(open->x1, 500);
    EXPECT_EQ(g.rows[0].lastX, open->x1);
    EXPECT_EQ(g.rows[1].lastX, 500);
}

TEST(Geometry, WhatIsNotExecutedAgainIsDimmed) {
    Story story = hangStory(3, 4, 3);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(3);
    scene.view = {0, model.extent(Axis::Time) + 1, 1000};
    std::vector<RowState> rows(3);
    rows[0].place = {EventIndex{4}, false}; // after the first send
    rows[1].place = {EventIndex{3}, true};  // inside its first receive
    rows[2].place = {story.timeline().lastEvent(RankId{2}), true};
    scene.rows = rows;
    const Geometry g = build(model, scene);
    for (const Box& box : g.boxes) {
        const bool beyond = box.row == 0 ? box.call > 1 : box.row == 1 && box.call > 1;
        EXPECT_EQ(box.dimmed, beyond) << box.row << ' ' << box.call;
    }
    EXPECT_TRUE(g.rows[0].dimX.has_value());
    EXPECT_FALSE(g.rows[2].dimX.has_value());
    // A rank that stands before a call has not made it, though its begin is recorded.
    rows[0].place = {EventIndex{5}, false};
    const Geometry before = build(model, scene);
    for (const Box& box : before.boxes) {
        EXPECT_EQ(box.row == 0 && box.dimmed, box.row == 0 && box.call > 1) << box.call;
    }
    // One that runs is in it.
    rows[0].running = true;
    const Geometry running = build(model, scene);
    for (const Box& box : running.boxes) {
        EXPECT_EQ(box.row == 0 && box.dimmed, box.row == 0 && box.call > 2) << box.call;
    }
    // The first message: sent, not received again yet.
    std::set<Dim> dims;
    for (const MessageLine& line : g.messages) {
        dims.insert(line.dim);
        const TrackMessage& m = model.messages()[line.message];
        if (m.sender == 0 && m.sendCall == 1) {
            EXPECT_EQ(line.dim, Dim::SecondHalf);
        } else {
            EXPECT_EQ(line.dim, Dim::All);
        }
    }
    EXPECT_EQ(dims.size(), 2U);
}

TEST(Geometry, PendingMessagesKeepTheirShapes) {
    Story story(4);
    for (int r = 0; r < 4; ++r) {
        story.init(r, 0, 50);
    }
    story.send(0, 1, 1, 8, 100, 150);       // never received
    story.recvOpen(2, 3, 2, 120);           // never sent
    story.recvOpen(1, kAnySource, 77, 130); // from anybody
    DiagramModel model;
    model.setTimeline(&story.timeline());
    EXPECT_EQ(model.openMessages().size(), 3U);
    Scene scene = plainScene(4);
    Geometry g = build(model, scene);
    ASSERT_EQ(g.pending.size(), 3U);
    std::set<MessageShape> shapes;
    for (const MessageLine& line : g.pending) {
        shapes.insert(line.shape);
    }
    EXPECT_EQ(shapes, (std::set<MessageShape>{MessageShape::Sent, MessageShape::Awaited,
                                              MessageShape::WildcardStub}));
    // They stay when the view is a thousand times as wide.
    scene.view = {-500'000, 500'000, 1000};
    EXPECT_EQ(build(model, scene).pending.size(), 3U);
    // Once the peers have ended they are errors.
    scene = plainScene(4);
    std::vector<RowState> rows(4);
    for (RowState& row : rows) {
        row.ended = true;
        row.place.event = EventIndex{10};
    }
    scene.rows = rows;
    g = build(model, scene);
    shapes.clear();
    for (const MessageLine& line : g.pending) {
        shapes.insert(line.shape);
    }
    EXPECT_TRUE(shapes.contains(MessageShape::UnmatchedSend));
    EXPECT_TRUE(shapes.contains(MessageShape::UnmatchedReceive));
}

TEST(Geometry, BackwardsMessagesAreToldApart) {
    constexpr TimeNs kUs = 1000;
    // Received at 200 us, sent `late` after that. Each of the two times may be off by the recorder's 10 us.
    for (const TimeNs late : {TimeNs(-1), TimeNs(0), 1 * kUs, 20 * kUs, 20 * kUs + 1, 200 * kUs}) {
        Story story(2);
        story.init(0, 0, 10 * kUs);
        story.init(1, 0, 10 * kUs);
        story.recv(1, 0, 1, 8, 100 * kUs, 200 * kUs);
        story.send(0, 1, 1, 8, 200 * kUs + late, 450 * kUs);
        DiagramModel model;
        model.setTimeline(&story.timeline());
        Scene scene = plainScene(2);
        scene.view = {0, 1000 * kUs, 1000};
        const Geometry g = build(model, scene);
        ASSERT_EQ(g.messages.size(), 1U);
        const MessageLine& line = g.messages[0];
        const bool backwards = late > 20 * kUs;
        EXPECT_EQ(line.shape, backwards ? MessageShape::Backwards : MessageShape::Matched) << late;
        EXPECT_EQ(model.backwards(), backwards ? 1U : 0U) << late;
        EXPECT_EQ(line.to.x() < line.from.x(), backwards) << late; // only the clocks make a message go back
        if (late > 0 && !backwards) {
            // The axis has moved the end of the receive to the begin of the send.
            EXPECT_DOUBLE_EQ(line.from.x(), 200 + double(late) / kUs);
            EXPECT_DOUBLE_EQ(line.to.x(), line.from.x());
        }
        // Event numbers know nothing of clocks.
        scene.axis = Axis::Events;
        scene.view = {0, 100 * kUnitsPerEvent, 1000};
        EXPECT_EQ(build(model, scene).messages.at(0).shape, MessageShape::Matched);
    }
}

TEST(Geometry, LateSendersAreMarked) {
    Story story(2);
    story.init(0, 0, 10);
    story.init(1, 0, 10);
    story.recv(1, 0, 1, 8, 100, 500);
    story.send(0, 1, 1, 8, 400, 450);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    const Geometry g = build(model, plainScene(2));
    ASSERT_EQ(g.waits.size(), 1U);
    EXPECT_EQ(g.waits[0].x0, 100);
    EXPECT_EQ(g.waits[0].x1, 400);
}

TEST(Geometry, EveryCallIsShownAtEveryZoom) {
    Story story = haloStory(3, 60);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    for (const Axis axis : {Axis::Time, Axis::Events}) {
        for (const int width : {1, 3, 17, 100, 640, 5000}) {
            Scene scene = plainScene(3);
            scene.axis = axis;
            scene.view = {-10, model.extent(axis) + 10, width};
            const Geometry g = build(model, scene);
            for (int row = 0; row < 3; ++row) {
                std::size_t shown = 0;
                for (const Box& box : g.boxes) {
                    shown += box.row == row && !box.openLeft ? 1 : 0;
                }
                std::set<std::uint32_t> single;
                for (const Strip& strip : g.strips) {
                    for (const Cell& cell : strip.cells) {
                        EXPECT_GE(cell.x, 0);
                        EXPECT_LE(cell.x, width);
                        if (strip.row == row) {
                            if (cell.count > 1) {
                                shown += cell.count;
                            } else {
                                single.insert(cell.call);
                            }
                        }
                    }
                }
                EXPECT_GE(shown + single.size(), model.calls(row).size()) << width << ' ' << row;
            }
        }
    }
}

TEST(Geometry, AnErrorIsSeenAmongThousands) {
    Story story(1);
    story.init(0, 0, 10);
    for (int i = 0; i < 5000; ++i) {
        story.send(0, 0, 1, 8, 20 + 10 * i, 25 + 10 * i);
    }
    trace::EventDetails bad;
    bad.function = trace::FunctionId::Abort;
    story.timeline().addEvent(RankId{0}, story.timeline().addDetails(RankId{0}, bad), 60'000);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(1);
    scene.view = {0, 100'000'000, 1000}; // all of it in one pixel
    const Geometry g = build(model, scene);
    bool seen = false;
    for (const Strip& strip : g.strips) {
        for (const Cell& cell : strip.cells) {
            seen = seen ||
                   (cell.severity == Severity::Error && cell.style == CallStyle::Error && cell.call == 5001);
        }
    }
    for (const Box& box : g.boxes) {
        seen = seen || box.severity == Severity::Error;
    }
    EXPECT_TRUE(seen);
}

TEST(Geometry, MessagesAboveTheCapBecomeRibbons) {
    Story story = haloStory(8, 400);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    Scene scene = plainScene(8);
    scene.view = {0, model.extent(Axis::Time), 1000};
    const Geometry g = build(model, scene);
    EXPECT_EQ(g.messagesInView, 3200U);
    EXPECT_TRUE(g.messages.empty());
    std::uint32_t bundled = 0;
    for (const Ribbon& ribbon : g.ribbons) {
        bundled += ribbon.count;
        EXPECT_GE(ribbon.width, 1.0);
    }
    EXPECT_EQ(bundled, 3200U);
    // The selection draws its own all the same.
    scene.selection = Story::ref(0, 2); // Isend of the first step
    EXPECT_EQ(build(model, scene).selection->messages.size(), 1U);
}

TEST(Geometry, ClippedLinesKeepTheirSlope) {
    QPointF a(-1e9, -1e9);
    QPointF b(1e9, 1e9);
    ASSERT_TRUE(clipLine(a, b, 0, 0, 100, 50));
    EXPECT_NEAR(a.x(), 0, 1e-3);
    EXPECT_NEAR(b.x(), 50, 1e-3);
    EXPECT_NEAR(b.y(), 50, 1e-3);
    QPointF c(-5, 0);
    QPointF d(-5, 100);
    EXPECT_FALSE(clipLine(c, d, 0, 0, 100, 50));
    QPointF e(10, 20);
    QPointF f(30, 40);
    ASSERT_TRUE(clipLine(e, f, 0, 0, 100, 50));
    EXPECT_EQ(e, QPointF(10, 20));
    EXPECT_EQ(f, QPointF(30, 40));
}

TEST(Geometry, GrowingEqualsBuildingAnew) {
    std::mt19937 random(21);
    // The same story taken in at once and in pieces gives the same picture.
    Story whole = haloStory(4, 30);
    DiagramModel atOnce;
    atOnce.setTimeline(&whole.timeline());
    Story grown(4);
    DiagramModel inPieces;
    inPieces.setTimeline(&grown.timeline());
    std::vector<std::uint64_t> next(4, 1);
    std::vector<std::map<std::uint32_t, DetailsId>> ids(4);
    bool more = true;
    while (more) {
        more = false;
        for (int r = 0; r < 4; ++r) {
            const RankId rank{r};
            for (auto count = random() % 9;
                 count > 0 && next[std::size_t(r)] <= whole.timeline().lastEvent(rank).value(); --count) {
                const EventIndex event{next[std::size_t(r)]++};
                const DetailsId old = whole.timeline().eventDetails(rank, event);
                auto [at, fresh] = ids[std::size_t(r)].try_emplace(old.value());
                if (fresh) {
                    at->second = grown.timeline().addDetails(rank, whole.timeline().details(rank, old));
                }
                const replay::Call call = whole.timeline().call(*whole.timeline().callAt(rank, event));
                grown.timeline().addEvent(rank, at->second,
                                          call.begin == event ? call.beginTime : call.endTime);
            }
            more = more || next[std::size_t(r)] <= whole.timeline().lastEvent(rank).value();
        }
        inPieces.update();
    }
    for (int r = 0; r < 4; ++r) {
        ASSERT_EQ(inPieces.calls(r).size(), atOnce.calls(r).size());
        for (std::size_t i = 0; i < atOnce.calls(r).size(); ++i) {
            EXPECT_EQ(inPieces.calls(r)[i].timeBegin, atOnce.calls(r)[i].timeBegin);
            EXPECT_EQ(inPieces.calls(r)[i].timeEnd, atOnce.calls(r)[i].timeEnd);
            EXPECT_EQ(inPieces.calls(r)[i].eventEnd, atOnce.calls(r)[i].eventEnd);
        }
        EXPECT_EQ(inPieces.summary(r, 0, atOnce.calls(r).size()),
                  atOnce.summary(r, 0, atOnce.calls(r).size()));
    }
    EXPECT_EQ(inPieces.openMessages().size(), atOnce.openMessages().size());
    Scene scene = plainScene(4);
    scene.view = {0, atOnce.extent(Axis::Time), 1000};
    const Geometry a = build(atOnce, scene);
    const Geometry b = build(inPieces, scene);
    EXPECT_EQ(a.boxes, b.boxes);
    EXPECT_EQ(a.messages.size(), b.messages.size());
    EXPECT_EQ(a.spines.size(), b.spines.size());
}
