// Finding a place between two events again.
#include "../../../replay/frame_values.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using Verdict = VisitSearch::Verdict;

FrameValues frame(int i, double sum, int garbage) {
    return {{{0, QStringLiteral("i")}, QString::number(i)},
            {{0, QStringLiteral("sum")}, QString::number(sum)},
            {{0, QStringLiteral("unset")}, QString::number(garbage)},
            {{1, QStringLiteral("argc")}, QStringLiteral("1")}};
}

TEST(Visits, AllValuesAreTheSame) {
    VisitSearch search;
    const FrameValues wanted = frame(1, 0.5, 7);
    EXPECT_EQ(search.look(1, wanted, frame(0, 0, 7)), Verdict::Unclear);
    EXPECT_EQ(search.look(2, wanted, frame(1, 0.5, 7)), Verdict::This);
}

TEST(Visits, WhatIsDifferentAtEveryVisitDoesNotCount) {
    VisitSearch search;
    const FrameValues wanted = frame(2, 1.5, 7);
    EXPECT_EQ(search.look(1, wanted, frame(0, 0, 99)), Verdict::Unclear);
    EXPECT_EQ(search.look(2, wanted, frame(1, 0.5, 99)), Verdict::NotThis);
    EXPECT_EQ(search.look(3, wanted, frame(2, 1.5, 99)), Verdict::This);
}

TEST(Visits, TheFirstIsKnownWhenTheOthersHaveBeenSeen) {
    VisitSearch search;
    const FrameValues wanted = frame(0, 0, 7);
    EXPECT_EQ(search.look(1, wanted, frame(0, 0, 99)), Verdict::Unclear);
    for (int visit = 2; visit <= 10; ++visit) {
        EXPECT_EQ(search.look(visit, wanted, frame(visit - 1, visit * 0.5, 99)), Verdict::NotThis) << visit;
    }
    EXPECT_EQ(search.best(), 1);
    EXPECT_TRUE(search.unique());
}

TEST(Visits, WhatChangesIsNoGarbage) {
    VisitSearch search;
    const FrameValues wanted = frame(5, 1.5, 7);
    EXPECT_EQ(search.look(1, wanted, frame(5, 0, 1)), Verdict::Unclear);
    EXPECT_EQ(search.look(2, wanted, frame(5, 0.5, 1)),
              Verdict::NotThis); // the sum changes and is not there yet
    EXPECT_EQ(search.look(3, wanted, frame(5, 1.5, 1)), Verdict::This);
}

TEST(Visits, SeveralThatAreAsLikeItAreNotOne) {
    VisitSearch search;
    EXPECT_FALSE(search.best().has_value());
    const FrameValues wanted = frame(5, 1, 7);
    EXPECT_EQ(search.look(1, wanted, frame(4, 1, 1)), Verdict::Unclear);
    EXPECT_EQ(search.look(2, wanted, frame(4, 1, 1)), Verdict::Unclear);
    EXPECT_EQ(search.best(), 1);
    EXPECT_FALSE(search.unique());
}

} // namespace
} // namespace stopline::replay
