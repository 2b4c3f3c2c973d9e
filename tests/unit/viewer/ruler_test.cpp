#include "../../../viewer/ruler.h"

#include <gtest/gtest.h>

using namespace stopline::viewer;
using namespace Qt::StringLiterals;

TEST(Ruler, NiceSteps) {
    EXPECT_EQ(niceStep(0.1), 1);
    EXPECT_EQ(niceStep(1), 1);
    EXPECT_EQ(niceStep(1.1), 2);
    EXPECT_EQ(niceStep(3), 5);
    EXPECT_EQ(niceStep(5.5), 10);
    EXPECT_EQ(niceStep(120), 200);
    EXPECT_EQ(niceStep(999'999), 1'000'000);
    EXPECT_GT(niceStep(1e30), 0);
}

TEST(Ruler, TimeTicks) {
    const auto ticks = timeTicks({0, 1'000'000'000, 1000}, 100);
    ASSERT_EQ(ticks.size(), 10U);
    EXPECT_EQ(ticks[0], (RulerTick{0, 0.0, u"0.0 s"_s}));
    EXPECT_EQ(ticks[3].unit, 300'000'000);
    EXPECT_DOUBLE_EQ(ticks[3].pixel, 300.0);
    EXPECT_EQ(ticks[3].label, u"0.3 s"_s);
}

TEST(Ruler, TimeTicksFarFromTheStartKeepTheirPrecision) {
    const auto ticks = timeTicks({5'200'000'000, 5'200'010'000, 1000}, 100);
    ASSERT_FALSE(ticks.empty());
    EXPECT_EQ(ticks[0].label, u"5.200000 s"_s);
    EXPECT_EQ(ticks[1].label, u"5.200001 s"_s);
}

TEST(Ruler, NoTicksBeforeTheStart) {
    for (const RulerTick& tick : timeTicks({-1'000'000, 1'000'000, 500}, 80)) {
        EXPECT_GE(tick.unit, 0);
    }
    for (const RulerTick& tick : eventTicks({-10 * kUnitsPerEvent, 10 * kUnitsPerEvent, 500}, 40)) {
        EXPECT_GE(tick.unit, kUnitsPerEvent);
    }
}

TEST(Ruler, EventTicksAreWholeEvents) {
    const auto ticks = eventTicks({0, 8 * kUnitsPerEvent, 800}, 40);
    ASSERT_EQ(ticks.size(), 7U);
    EXPECT_EQ(ticks[0], (RulerTick{kUnitsPerEvent, 100.0, u"1"_s}));
    EXPECT_EQ(ticks[6].label, u"7"_s);
    const auto sparse = eventTicks({0, 1000 * kUnitsPerEvent, 1000}, 40);
    EXPECT_EQ(sparse[0].label, u"50"_s);
    EXPECT_EQ(sparse.size(), 19U);
}

TEST(Ruler, TicksAreNeverCloserThanAsked) {
    for (int zoom = 0; zoom < 50; ++zoom) {
        const AxisView view{12345, 12345 + (std::int64_t(1) << zoom), 997};
        const auto ticks = timeTicks(view, 90);
        for (std::size_t i = 1; i < ticks.size(); ++i) {
            EXPECT_GE(ticks[i].pixel - ticks[i - 1].pixel, 89.999);
        }
    }
}

TEST(Ruler, Words) {
    EXPECT_EQ(durationText(0), u"0 ns"_s);
    EXPECT_EQ(durationText(999), u"999 ns"_s);
    EXPECT_EQ(durationText(3'200'000), u"3.20 ms"_s);
    EXPECT_EQ(durationText(45'600), u"45.6 µs"_s);
    EXPECT_EQ(durationText(123'000'000'000), u"123 s"_s);
    EXPECT_EQ(countText(41000), u"41\u2009000"_s);
    EXPECT_EQ(countText(999), u"999"_s);
    EXPECT_EQ(countText(1'234'567), u"1\u2009234\u2009567"_s);
}
