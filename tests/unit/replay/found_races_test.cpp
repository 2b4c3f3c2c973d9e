// What ranks note of the races that they find, read again.
#include "../../../replay/found_races.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using trace::RaceLimit;
using trace::ValueKind;
using Place = FoundRaces::Place;

class Log {
  public:
    Log& put(ValueKind kind, std::int64_t value) {
        const std::size_t used = m_bytes.size();
        m_bytes.resize(used + trace::ValueWriter::kItemBytes);
        m_bytes.resize(used + m_writer.put(m_bytes.data() + used, kind, ++m_event, value, m_random.data()));
        return *this;
    }
    Log& raced(std::uint64_t event, std::uint32_t position) {
        return put(ValueKind::Raced, trace::racedValue(event, position));
    }
    Log& guarded(std::uint64_t event, std::uint32_t position) {
        return put(ValueKind::Guarded, trace::racedValue(event, position));
    }
    Log& end(RaceLimit limit, std::uint64_t traced) {
        return put(ValueKind::RacesEnd, trace::racesEndValue(limit, traced));
    }
    [[nodiscard]] FoundRaces found() const { return foundRacesOf(m_bytes); }

  private:
    trace::ValueWriter m_writer;
    std::vector<std::byte> m_bytes;
    std::vector<std::byte> m_random; ///< none is put
    std::uint64_t m_event = 0;
};

TEST(FoundRacesTest, AreReadAmongOtherValues) {
    // In the order in which they were found; a place may stand for the last of all positions.
    const FoundRaces found = Log()
                                 .raced(900, 0)
                                 .put(ValueKind::Wtime, 77)
                                 .raced(20, 4095)
                                 .put(ValueKind::Sent, 5)
                                 .raced(20, 3)
                                 .guarded(30, 1)
                                 .guarded(20, 2)
                                 .end(RaceLimit::None, 12)
                                 .found();
    EXPECT_TRUE(found.looked);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.limit, RaceLimit::None);
    EXPECT_EQ(found.traced, 12U);
    EXPECT_EQ(found.raced,
              (std::vector<Place>{{EventIndex(20), 3}, {EventIndex(20), 4095}, {EventIndex(900), 0}}));
    EXPECT_EQ(found.guarded, (std::vector<Place>{{EventIndex(20), 2}, {EventIndex(30), 1}}));
    EXPECT_TRUE(found.has(EventIndex(20), 3));
    EXPECT_TRUE(found.has(EventIndex(30), 1));
    EXPECT_FALSE(found.has(EventIndex(20), 4));
    EXPECT_FALSE(found.has(EventIndex(21), 3));
}

TEST(FoundRacesTest, AreAllOnlyWhereEveryRankCameToTheEnd) {
    const FoundRaces all = Log().end(RaceLimit::Unfinished, 0).raced(3, 0).end(RaceLimit::None, 1).found();
    const FoundRaces killed = Log().end(RaceLimit::Unfinished, 0).raced(3, 0).found();
    const FoundRaces limited = Log().raced(3, 0).end(RaceLimit::OneSided, 1).found();
    const FoundRaces notAsked = Log().put(ValueKind::Time, 3).found();
    EXPECT_TRUE(areComplete(std::vector{all, all}));
    EXPECT_FALSE(areComplete(std::vector{all, killed}));
    EXPECT_FALSE(areComplete(std::vector{limited, all}));
    EXPECT_FALSE(areComplete(std::vector{notAsked}));
    EXPECT_FALSE(areComplete({}));
    EXPECT_EQ(limitText(killed.limit), "a rank did not come to its end");
    EXPECT_FALSE(notAsked.looked);
    EXPECT_TRUE(killed.looked);
    EXPECT_TRUE(limited.looked);
    EXPECT_EQ(limitText(limited.limit), "it uses one-sided communication");
}

TEST(FoundRacesTest, EachLimitHasItsReason) {
    std::vector<std::string_view> texts;
    for (auto limit = std::uint8_t(RaceLimit::Hosts); limit <= std::uint8_t(RaceLimit::Unfinished); ++limit) {
        // It is read as it was noted, with the number of messages traced beside it.
        const FoundRaces found = Log().end(RaceLimit(limit), 1'000'000).found();
        EXPECT_EQ(found.limit, RaceLimit(limit));
        EXPECT_EQ(found.traced, 1'000'000U);
        texts.push_back(limitText(found.limit));
        EXPECT_FALSE(texts.back().empty());
        for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
            EXPECT_NE(texts[i], texts.back());
        }
    }
    EXPECT_EQ(texts.size(), 13U);
}

} // namespace
} // namespace stopline::replay
