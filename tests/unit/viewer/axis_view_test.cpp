#include "../../../viewer/axis_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using stopline::viewer::AxisView;

TEST(AxisView, MapsUnitsToPixelsAndBack) {
    const AxisView view{1000, 2000, 500};
    EXPECT_EQ(view.span(), 1000);
    EXPECT_DOUBLE_EQ(view.unitsPerPixel(), 2.0);
    EXPECT_DOUBLE_EQ(view.toPixel(1000), 0.0);
    EXPECT_DOUBLE_EQ(view.toPixel(1500), 250.0);
    EXPECT_DOUBLE_EQ(view.toPixel(2000), 500.0);
    EXPECT_DOUBLE_EQ(view.toPixel(0), -500.0);
    EXPECT_EQ(view.unitAt(0), 1000);
    EXPECT_EQ(view.unitAt(250), 1500);
    EXPECT_EQ(view.unitAt(-500), 0);
}

TEST(AxisView, LargeTimesLoseNothing) {
    // Ten years of nanoseconds: a double of the absolute time would be off by tens of nanoseconds.
    const std::int64_t base = 315'360'000'000'000'000;
    const AxisView view{base, base + 1000, 1000};
    for (int i = 0; i <= 1000; ++i) {
        EXPECT_DOUBLE_EQ(view.toPixel(base + i), double(i));
        EXPECT_EQ(view.unitAt(i), base + i);
    }
}

TEST(AxisView, ZoomKeepsTheUnitUnderThePixel) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 2000; ++round) {
        const auto begin = std::int64_t(random() % 1'000'000'000'000);
        const auto span = std::int64_t(1000 + random() % 1'000'000'000);
        const int width = 1 + int(random() % 3000);
        const AxisView view{begin, begin + span, width};
        const double pixel = double(random() % std::uint64_t(width));
        const double factor = 0.5 + double(random() % 1000) / 400.0;
        const std::int64_t anchor = view.unitAt(pixel);
        const AxisView zoomed = view.zoomed(factor, pixel, anchor, 100, std::int64_t(1) << 50);
        // To the nearest unit, or the nearest pixel where units are finer.
        EXPECT_LE(std::abs(zoomed.unitAt(pixel) - anchor), 1) << round;
        EXPECT_EQ(zoomed.width, width);
    }
}

TEST(AxisView, ManyZoomStepsDoNotCreep) {
    AxisView view{0, 1'000'000'000, 1313};
    const std::int64_t anchor = view.unitAt(417);
    for (int i = 0; i < 80; ++i) {
        view = view.zoomed(1.25, 417, anchor, 100, 2'000'000'000);
    }
    EXPECT_EQ(view.span(), 100); // the least
    EXPECT_LE(std::abs(view.unitAt(417) - anchor), 1);
    for (int i = 0; i < 120; ++i) {
        view = view.zoomed(0.8, 417, anchor, 100, 2'000'000'000);
    }
    EXPECT_EQ(view.span(), 2'000'000'000); // the most
    EXPECT_LE(std::abs(view.unitAt(417) - anchor), 1);
}

TEST(AxisView, ColumnsPartitionTheUnits) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 500; ++round) {
        const auto begin = std::int64_t(random() % 1'000'000);
        const auto span = std::int64_t(1 + random() % 5000);
        const int width = 1 + int(random() % 2000);
        const AxisView view{begin, begin + span, width};
        for (int column = 0; column < width; column += 1 + width / 50) {
            const std::int64_t first = view.columnBegin(column);
            EXPECT_GE(view.toPixel(first), double(column));
            EXPECT_LT(std::floor(view.toPixel(first - 1)), double(column));
        }
    }
}

TEST(AxisView, PanMovesBothEnds) {
    const AxisView view{1000, 3000, 200};
    EXPECT_EQ(view.panned(10), (AxisView{1100, 3100, 200}));
    EXPECT_EQ(view.panned(-10), (AxisView{900, 2900, 200}));
    EXPECT_EQ(view.panned(7.5).panned(-7.5), view);
}

TEST(AxisView, StaysNearTheContent) {
    const AxisView view{5000, 6000, 100};
    const AxisView back = view.keptNear(0, 1000);
    EXPECT_EQ(back.span(), 1000);
    EXPECT_EQ(back.begin, 500);
    EXPECT_EQ((AxisView{-5000, -4000, 100}).keptNear(0, 1000).begin, -500);
    EXPECT_EQ((AxisView{200, 300, 100}).keptNear(0, 1000), (AxisView{200, 300, 100}));
}

TEST(AxisView, ResizeKeepsScaleAndLeftEdge) {
    const AxisView view{1000, 3000, 200};
    EXPECT_EQ(view.resized(400), (AxisView{1000, 5000, 400}));
    EXPECT_EQ(view.resized(0).width, 1);
    EXPECT_GT(view.resized(0).span(), 0);
}
