// Stories of receives that race, for the tests of their marks.
#pragma once

#include "../../../viewer/geometry_builder.h"
#include "synthetic.h"

#include <algorithm>
#include <random>

namespace stopline::viewer::test {

inline RaceMark mark(int rank, std::uint32_t call, std::uint32_t alternatives) {
    return {Story::ref(rank, call), std::nullopt, alternatives};
}

/// Rank 0 receives from 1 and from 2; each of the two could have come first.
struct Raced {
    Raced() : story(3) {
        for (int r = 0; r < 3; ++r) {
            story.init(r, 0, 50);
        }
        first = story.recvAny(0, 1, 5, 8, 120, 200);
        second = story.recvAny(0, 2, 5, 8, 300, 400);
        sendOf1 = story.send(1, 0, 5, 8, 100, 160);
        sendOf2 = story.send(2, 0, 5, 8, 110, 180);
        model.setTimeline(&story.timeline());
    }
    [[nodiscard]] Geometry build(const Scene& scene) const { return GeometryBuilder(model, scene).build(); }
    Story story;
    DiagramModel model;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t sendOf1 = 0;
    std::uint32_t sendOf2 = 0;
};

/// Ranks that receive at random times, every receive a race: `each` on each rank, `apart` nanoseconds in the
/// middle.
struct Many {
    Many(int ranks, std::uint32_t each, int apart) : story(ranks) {
        std::mt19937 random(7);
        std::vector<RaceMark> marks;
        for (int rank = 0; rank < ranks; ++rank) {
            TimeNs at = 100;
            for (std::uint32_t i = 0; i < each; ++i) {
                const TimeNs next = at + 2 + TimeNs(random() % std::uint32_t(2 * apart));
                marks.push_back(mark(rank, story.recvAny(rank, (rank + 1) % ranks, 5, 8, at, next - 1),
                                     1 + std::uint32_t(random() % 50)));
                at = next;
            }
            end = std::max(end, at);
        }
        std::shuffle(marks.begin(), marks.end(), random);
        model.setTimeline(&story.timeline());
        model.setRaces(std::move(marks));
    }
    [[nodiscard]] Geometry build(const Scene& scene) const { return GeometryBuilder(model, scene).build(); }
    Story story;
    DiagramModel model;
    TimeNs end = 0;
};

} // namespace stopline::viewer::test
