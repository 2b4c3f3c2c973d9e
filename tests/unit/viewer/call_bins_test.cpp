// Bins of doubling width: no call is lost or counted twice, however they came in.
#include "../../../viewer/call_bins.h"
#include "../../../viewer/geometry_builder.h"
#include "synthetic.h"

#include <gtest/gtest.h>

#include <random>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;

namespace {

std::vector<TrackCall> randomCalls(std::size_t count, unsigned seed, std::int64_t mostGap) {
    std::mt19937 random(seed);
    std::vector<TrackCall> calls;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        TrackCall call;
        at += std::int64_t(random() % std::uint64_t(mostGap));
        call.timeBegin = at;
        at += std::int64_t(random() % std::uint64_t(mostGap));
        call.timeEnd = at;
        call.eventBegin = std::int64_t(2 * i + 1) * 1024;
        call.eventEnd = call.eventBegin + 1024;
        call.style = CallStyle(1 + random() % 5);
        call.severity = random() % 500 == 0 ? Severity::Error : Severity(1 + random() % 4);
        calls.push_back(call);
    }
    return calls;
}

/// Every bin of every level against the calls that begin in it.
void expectExact(const CallBins& bins, const std::vector<TrackCall>& calls) {
    int levels = 0;
    for (double units = 1; units < 1e18; units *= 2) {
        const auto level = bins.level(units);
        if (!level) {
            continue;
        }
        ++levels;
        std::size_t from = 0;
        for (std::size_t b = 0; b < level->bins.size(); ++b) {
            std::size_t to = from;
            while (to < calls.size() && calls[to].timeBegin >> level->shift == std::int64_t(b)) {
                ++to;
            }
            Aggregate expected;
            for (std::size_t i = from; i < to; ++i) {
                expected = combine(expected, summaryOf(calls[i], std::uint32_t(i)));
            }
            ASSERT_EQ(level->bins[b], expected) << "shift " << level->shift << " bin " << b;
            from = to;
        }
        ASSERT_EQ(from, calls.size());
    }
    EXPECT_GT(levels, 1);
}

} // namespace

TEST(CallBins, EveryLevelIsExact) {
    const std::vector<TrackCall> calls = randomCalls(5000, 1, 3000);
    CallBins bins(&TrackCall::timeBegin);
    bins.extend(calls);
    EXPECT_EQ(bins.callCount(), calls.size());
    expectExact(bins, calls);
}

TEST(CallBins, GrowingEqualsBuildingAtOnce) {
    // Sparse at first, then dense: the bins have to become wider, then narrower again.
    std::vector<TrackCall> calls = randomCalls(50, 2, 40'000'000);
    const std::int64_t from = calls.back().timeEnd;
    for (TrackCall call : randomCalls(20'000, 3, 2000)) {
        call.timeBegin += from;
        call.timeEnd += from;
        calls.push_back(call);
    }
    CallBins bins(&TrackCall::timeBegin);
    std::mt19937 random(4);
    std::vector<TrackCall> known;
    while (known.size() < calls.size()) {
        const std::size_t more = std::min<std::size_t>(calls.size() - known.size(), 1 + random() % 700);
        known.insert(known.end(), calls.begin() + std::ptrdiff_t(known.size()),
                     calls.begin() + std::ptrdiff_t(known.size() + more));
        bins.extend(known);
    }
    expectExact(bins, calls);
}

TEST(CallBins, RefreshTakesInAChangedCall) {
    std::vector<TrackCall> calls = randomCalls(3000, 5, 500);
    calls[1234].timeEnd = calls[1234].eventEnd = TrackCall::kOpen;
    CallBins bins(&TrackCall::timeBegin);
    bins.extend(calls);
    calls[1234].timeEnd = calls[1234].timeBegin + 7;
    calls[1234].eventEnd = calls[1234].eventBegin + 1024;
    calls[1234].severity = Severity::Error;
    bins.refresh(calls, 1234);
    expectExact(bins, calls);
}

TEST(CallBins, LevelsAreNotWiderThanAsked) {
    const std::vector<TrackCall> calls = randomCalls(4000, 6, 1000);
    CallBins bins(&TrackCall::timeBegin);
    EXPECT_FALSE(bins.level(1e9));
    bins.extend(calls);
    EXPECT_FALSE(bins.level(0.5));
    const auto level = bins.level(10'000);
    ASSERT_TRUE(level);
    EXPECT_EQ(level->shift, 13); // 8192
}

/// What is built from bins shows the same calls as what is built from the calls: the worst of a pixel within
/// a pixel.
TEST(CallBins, ManyCallsAPixelLoseNothing) {
    Story story(1);
    story.init(0, 0, 10);
    for (int i = 0; i < 20'000; ++i) {
        story.send(0, 0, 1, 8, 20 + 10 * i, 25 + 10 * i);
    }
    trace::EventDetails bad;
    bad.function = trace::FunctionId::Abort;
    story.timeline().addEvent(RankId{0}, story.timeline().addDetails(RankId{0}, bad), 100'025 + 100'000);
    DiagramModel model;
    model.setTimeline(&story.timeline());
    for (const Axis axis : {Axis::Time, Axis::Events}) {
        for (const std::int64_t shift : {0, 7, 1000, 33'333}) { // bins lie anywhere against the pixels
            Scene scene;
            scene.axis = axis;
            const std::int64_t extent = model.extent(axis);
            scene.view = {-shift, extent + extent / 10, 700};
            scene.layout = {1, 50, 0, 50};
            ASSERT_TRUE(model.bins(0, axis, scene.view.unitsPerPixel()));
            const Geometry g = GeometryBuilder(model, scene).build();
            std::uint64_t shown = 0;
            bool error = false;
            int last = -1;
            ASSERT_EQ(g.strips.size(), 1U);
            for (const Cell& cell : g.strips[0].cells) {
                shown += cell.count;
                error = error || cell.severity == Severity::Error;
                EXPECT_GT(cell.x, last); // one cell a pixel, in order
                last = cell.x;
                const TrackCall& worst = model.calls(0)[cell.call];
                EXPECT_NEAR(scene.view.toPixel(DiagramModel::begin(worst, axis)), cell.x + 0.5, 1.51);
            }
            for (const Box& box : g.boxes) {
                error = error || box.severity == Severity::Error;
                shown += box.openLeft ? 0 : 1;
            }
            EXPECT_TRUE(error);
            EXPECT_GE(shown, model.calls(0).size());
        }
    }
}
