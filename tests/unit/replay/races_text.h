// Races as text, and a short way to write programs that have some.
#pragma once

#include "../../../replay/races.h"
#include "script.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stopline::replay::test {

inline constexpr std::int32_t kAny = kAnySource;

inline RaceAnalysis analyse(const Timeline& timeline) {
    RaceAnalysis races;
    races.update(timeline);
    return races;
}

/// "1:2 got 0, also 2:1 3:1" for each race: call, sender of what it got, sends that it could have got as
/// rank:call.
inline std::vector<std::string> found(const RaceAnalysis& analysis) {
    static const char* const kKinds[] = {" got ", " saw ", " saw nothing", " was cancelled"};
    std::vector<std::string> all;
    for (const Race& race : analysis.races()) {
        std::string text = std::to_string(race.call.rank.value()) + ":" +
                           std::to_string(race.call.call.value()) + kKinds[static_cast<int>(race.kind)];
        if (race.sender.value() >= 0) {
            text += std::to_string(race.sender.value());
        }
        text += ", also";
        const auto alternatives = analysis.alternatives(race);
        EXPECT_EQ(alternatives.size(), race.alternatives) << text;
        for (const Alternative& one : alternatives) {
            text += " " + std::to_string(one.send.rank.value()) + ":" + std::to_string(one.send.call.value());
        }
        all.push_back(text);
    }
    EXPECT_EQ(analysis.count(), all.size());
    return all;
}

inline std::vector<std::string> racesOf(const Job& job) {
    const Timeline timeline = job.timeline();
    return found(analyse(timeline));
}

inline std::vector<std::string> named(const std::vector<CallRef>& calls) {
    std::vector<std::string> all;
    for (const CallRef& call : calls) {
        all.push_back(std::to_string(call.rank.value()) + ":" + std::to_string(call.call.value()));
    }
    return all;
}

using Texts = std::vector<std::string>;

/// Each rank but `to` sends what stands in `order`, which is the order of the receives of any source at `to`.
inline void receiveInOrder(Job& job, std::int32_t to, std::initializer_list<std::int32_t> order) {
    for (const std::int32_t from : order) {
        job[static_cast<std::size_t>(from)].send(to);
        job[static_cast<std::size_t>(to)].recv(kAny, 0, {from});
    }
}

} // namespace stopline::replay::test
