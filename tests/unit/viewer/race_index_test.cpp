// The races of the ranks: what is known of them, how they are found.
#include "../../../viewer/call_text.h"
#include "../../../viewer/search.h"
#include "raced.h"

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

TEST(RaceIndex, LeavesOutWhatIsNotKnownUntilItIs) {
    Raced r;
    r.model.setRaces({mark(0, r.first, 2),
                      mark(0, 3, 1),
                      mark(7, 0, 1),
                      mark(-1, 0, 1),
                      mark(0, r.second, 0),
                      {Story::ref(0, r.second), Story::ref(0, 3), 1},
                      {Story::ref(0, r.second), Story::ref(1, 1), 1}});
    EXPECT_EQ(r.model.races().size(), 1U);
    const std::uint32_t later = r.story.recvAny(0, 1, 6, 8, 500, 600);
    ASSERT_EQ(later, 3U);
    r.model.update();
    EXPECT_EQ(r.model.races().size(), 3U);
    const auto arrivals = r.model.races().arrivals(0);
    ASSERT_EQ(arrivals.size(), 3U);
    EXPECT_EQ(arrivals[0], (RaceIndex::Entry{r.first, r.first, 2}));
    EXPECT_EQ(arrivals[1], (RaceIndex::Entry{r.second, later, 1}));
    EXPECT_EQ(arrivals[2], (RaceIndex::Entry{later, later, 1}));
    EXPECT_TRUE(r.model.races().arrivals(8).empty());
    r.model.setTimeline(&r.story.timeline());
    EXPECT_TRUE(r.model.races().empty());
    EXPECT_TRUE(r.model.races().arrivals(0).empty());
}

TEST(RaceIndex, TheWorstIsThatOfAScan) {
    const Many many(1, 777, 10);
    const RaceIndex& races = many.model.races();
    const auto arrivals = races.arrivals(0);
    ASSERT_EQ(arrivals.size(), 777U);
    for (std::size_t from = 0; from < arrivals.size(); from += 13) {
        for (std::size_t to = from + 1; to <= arrivals.size(); to += 7) {
            const auto worst = std::max_element(
                arrivals.begin() + std::ptrdiff_t(from), arrivals.begin() + std::ptrdiff_t(to),
                [](const auto& a, const auto& b) { return a.alternatives < b.alternatives; });
            ASSERT_EQ(races.worst(0, from, to), std::size_t(worst - arrivals.begin())) << from << ' ' << to;
        }
    }
}

TEST(RaceIndex, FromRaceToRaceOfARank) {
    Raced r;
    r.model.setRaces({mark(0, r.second, 1), mark(0, r.first, 1), mark(0, r.first, 3)});
    const RaceIndex& races = r.model.races();
    const RankId rank{0};
    const auto at = [](std::uint32_t call) { return std::optional(replay::CallIndex{call}); };
    EXPECT_EQ(races.next(rank, std::nullopt, true), Story::ref(0, r.first));
    EXPECT_EQ(races.next(rank, std::nullopt, false), Story::ref(0, r.second));
    EXPECT_EQ(races.next(rank, at(0), true), Story::ref(0, r.first));
    EXPECT_EQ(races.next(rank, at(r.first), true), Story::ref(0, r.second));
    EXPECT_EQ(races.next(rank, at(r.second), true), std::nullopt);
    EXPECT_EQ(races.next(rank, at(r.second), false), Story::ref(0, r.first));
    EXPECT_EQ(races.next(rank, at(r.first), false), std::nullopt);
    EXPECT_EQ(races.next(RankId{1}, std::nullopt, true), std::nullopt);
    EXPECT_EQ(races.next(RankId{-1}, std::nullopt, true), std::nullopt);
    ASSERT_TRUE(races.of(Story::ref(0, r.first)));
    EXPECT_EQ(races.of(Story::ref(0, r.first))->races, 2U);
    EXPECT_EQ(races.of(Story::ref(0, r.first))->alternatives, 3U);
    EXPECT_FALSE(races.of(Story::ref(0, 0)));
    EXPECT_FALSE(races.of(Story::ref(2, 1)));
}

TEST(RaceIndex, SearchFindsWhatRaced) {
    Raced r;
    const SearchQuery query(u"Race"_s);
    EXPECT_EQ(query.next(r.model, std::nullopt, true), std::nullopt);
    r.model.setRaces({mark(0, r.second, 1), mark(0, r.first, 1)});
    EXPECT_EQ(query.next(r.model, std::nullopt, true), Story::ref(0, r.first));
    EXPECT_EQ(query.next(r.model, Story::ref(0, r.first), true), Story::ref(0, r.second));
    EXPECT_EQ(query.next(r.model, Story::ref(0, r.second), true), Story::ref(0, r.first));
    EXPECT_EQ(SearchQuery(u"races from=2"_s).next(r.model, std::nullopt, true), Story::ref(0, r.second));
    EXPECT_EQ(SearchQuery(u"race send"_s).next(r.model, std::nullopt, true), std::nullopt);
    EXPECT_FALSE(query.matches(r.story.timeline(), Story::ref(0, r.first)));
    EXPECT_TRUE(query.matches(r.story.timeline(), Story::ref(0, r.first), &r.model.races()));
}

TEST(RaceText, SaysHowManyOthers) {
    EXPECT_EQ(raceText(1, 3), u"raced: 3 other messages could have come"_s);
    EXPECT_EQ(raceText(1, 1), u"raced: 1 other message could have come"_s);
    EXPECT_EQ(raceText(4, 2), u"raced 4 times: up to 2 other messages could have come"_s);
}
