#include "../../../viewer/row_layout.h"

#include <gtest/gtest.h>

using namespace stopline::viewer;

TEST(RowLayout, LevelsByHeight) {
    EXPECT_EQ(rowLevel(1), RowLevel::Heat);
    EXPECT_EQ(rowLevel(2), RowLevel::Heat);
    EXPECT_EQ(rowLevel(3), RowLevel::Strip);
    EXPECT_EQ(rowLevel(7), RowLevel::Strip);
    EXPECT_EQ(rowLevel(8), RowLevel::Compact);
    EXPECT_EQ(rowLevel(17), RowLevel::Compact);
    EXPECT_EQ(rowLevel(18), RowLevel::Full);
}

TEST(RowLayout, RowsAndHeightsAgree) {
    for (int height = kMinRowHeight; height <= 60; ++height) {
        RowLayout layout{100, height, 0, 250};
        for (int scroll = 0; scroll <= layout.maxScroll(); scroll += 7) {
            layout.scroll = scroll;
            for (int y = 0; y < layout.viewportHeight; ++y) {
                const int row = layout.at(y);
                if (row < 0) {
                    EXPECT_GE(y + scroll, layout.contentHeight());
                    continue;
                }
                EXPECT_LE(layout.top(row), y);
                EXPECT_GT(layout.bottom(row), y);
                EXPECT_GE(row, layout.firstVisible());
                EXPECT_LT(row, layout.endVisible());
            }
        }
    }
}

TEST(RowLayout, LaneLiesInsideTheRow) {
    for (int height = kMinRowHeight; height <= kMaxRowHeight; ++height) {
        const BarLane lane = RowLayout{4, height, 0, 100}.lane();
        EXPECT_GE(lane.top, 0) << height;
        EXPECT_LT(lane.top, lane.bottom) << height;
        EXPECT_LE(lane.bottom, height) << height;
        if (rowLevel(height) == RowLevel::Full) {
            EXPECT_GE(height - lane.bottom, 4) << height; // the marker lane
        }
    }
}

TEST(RowLayout, ScrollIsBounded) {
    const RowLayout layout{10, 20, 0, 100};
    EXPECT_EQ(layout.maxScroll(), 100);
    EXPECT_EQ(layout.scrolledTo(-5).scroll, 0);
    EXPECT_EQ(layout.scrolledTo(1000).scroll, 100);
    EXPECT_EQ((RowLayout{2, 20, 0, 100}).maxScroll(), 0);
    EXPECT_EQ((RowLayout{0, 20, 0, 100}).at(5), -1);
}

TEST(RowLayout, HeightChangesAroundThePointer) {
    const RowLayout layout = RowLayout{100, 10, 0, 200}.scrolledTo(300);
    const RowLayout taller = layout.withRowHeight(20, 50);
    EXPECT_EQ(taller.rowHeight, 20);
    EXPECT_EQ(taller.at(50), layout.at(50));
    EXPECT_EQ(layout.withRowHeight(0, 0).rowHeight, kMinRowHeight);
    EXPECT_EQ(layout.withRowHeight(100000, 0).rowHeight, kMaxRowHeight);
}

TEST(RowLayout, FittingHeightsStayReadable) {
    EXPECT_EQ(RowLayout::fittingRowHeight(4, 200), 50);
    EXPECT_EQ(RowLayout::fittingRowHeight(1, 1000), 96);
    EXPECT_EQ(RowLayout::fittingRowHeight(64, 100), 8);
    EXPECT_EQ(RowLayout::fittingRowHeight(1024, 900), 3);
    EXPECT_EQ(RowLayout::fittingRowHeight(0, 900), 24);
}
