#include "../../../viewer/aggregate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace stopline::viewer;

namespace {

std::vector<TrackCall> randomCalls(std::mt19937& random, std::size_t count) {
    std::vector<TrackCall> calls;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        TrackCall call;
        call.timeBegin = at += std::int64_t(random() % 50);
        call.timeEnd = at += std::int64_t(random() % 5000);
        call.eventBegin = std::int64_t(2 * i + 1) * 1024;
        call.eventEnd = std::int64_t(2 * i + 2) * 1024;
        call.style = CallStyle(random() % std::size_t(CallStyle::Count));
        call.severity = Severity(random() % 8);
        calls.push_back(call);
    }
    return calls;
}

Aggregate plainScan(const std::vector<TrackCall>& calls, std::size_t from, std::size_t to) {
    Aggregate sum;
    for (std::size_t i = from; i < to; ++i) {
        sum = combine(sum, summaryOf(calls[i], std::uint32_t(i)));
    }
    return sum;
}

} // namespace

TEST(Aggregate, AnyBracketingGivesTheSame) {
    std::mt19937 random(3);
    const auto calls = randomCalls(random, 40);
    for (int round = 0; round < 500; ++round) {
        std::vector<Aggregate> parts;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            parts.push_back(summaryOf(calls[i], std::uint32_t(i)));
        }
        while (parts.size() > 1) {
            const std::size_t at = random() % (parts.size() - 1);
            parts[at] = combine(parts[at], parts[at + 1]);
            parts.erase(parts.begin() + std::ptrdiff_t(at) + 1);
        }
        EXPECT_EQ(parts[0], plainScan(calls, 0, calls.size()));
    }
}

TEST(Aggregate, WorstWinsThenLongest) {
    TrackCall shortError{0, 10, 0, 1, CallStyle::Send, Severity::Error, false};
    TrackCall longSend{10, 100000, 2, 3, CallStyle::Send, Severity::PointToPoint, false};
    TrackCall longWait{10, 100000, 2, 3, CallStyle::Wait, Severity::Wait, false};
    TrackCall shortWait{10, 20, 2, 3, CallStyle::Wait, Severity::Wait, false};
    const Aggregate a = combine(summaryOf(longSend, 0), summaryOf(shortError, 1));
    EXPECT_EQ(a.severity, Severity::Error);
    EXPECT_EQ(a.style, CallStyle::Error);
    EXPECT_EQ(a.worst, 1U);
    EXPECT_EQ(a.count, 2U);
    EXPECT_EQ(combine(summaryOf(shortWait, 4), summaryOf(longWait, 5)).worst, 5U);
    EXPECT_EQ(combine(summaryOf(longWait, 4), summaryOf(shortWait, 5)).worst, 4U);
    EXPECT_EQ(combine(Aggregate{}, summaryOf(longWait, 4)), summaryOf(longWait, 4));
}

TEST(Aggregate, ForestEqualsScan) {
    std::mt19937 random(5);
    for (const std::size_t count : {0, 1, 63, 64, 65, 128, 1000, 5000}) {
        const auto calls = randomCalls(random, count);
        CallForest forest;
        std::size_t taken = 0;
        while (taken < count) { // grows in uneven steps
            taken = std::min(count, taken + 1 + random() % 300);
            forest.extend(std::span(calls).first(taken));
        }
        for (int round = 0; round < 400; ++round) {
            std::size_t a = count == 0 ? 0 : random() % (count + 1);
            std::size_t b = count == 0 ? 0 : random() % (count + 1);
            if (a > b) {
                std::swap(a, b);
            }
            EXPECT_EQ(forest.query(calls, a, b), plainScan(calls, a, b)) << count << ' ' << a << ' ' << b;
        }
    }
}

TEST(Aggregate, RefreshTakesInAChangedCall) {
    std::mt19937 random(9);
    auto calls = randomCalls(random, 2000);
    for (TrackCall& call : calls) {
        call.severity = Severity::PointToPoint;
    }
    CallForest forest;
    forest.extend(calls);
    calls[777].severity = Severity::Error;
    forest.refresh(calls, 777);
    EXPECT_EQ(forest.query(calls, 0, 2000).worst, 777U);
    EXPECT_EQ(forest.query(calls, 0, 2000), plainScan(calls, 0, 2000));
    EXPECT_EQ(forest.query(calls, 0, 700).severity, Severity::PointToPoint);
}
