// Ranks that wait, and what is said of them.
#pragma once

#include "window_job.h"

#include "../../../replay/wait_circles.h"

#include <string>
#include <vector>

namespace stopline::replay::test {

constexpr std::uint64_t kLarge = 1 << 20; ///< waits for its receive whatever carries it

using Texts = std::vector<std::string>;

/// With "x.c:10" for calls of rank 0, "x.c:20" for those of rank 1.
inline Texts circles(const Job& job) {
    const Timeline timeline = job.timeline();
    Texts texts;
    for (const WaitCircle& circle : timeline.waitCircles()) {
        texts.push_back(circleText(timeline, circle, [](CallRef call) {
            return "x.c:" + std::to_string(10 * (call.rank.value() + 1));
        }));
    }
    return texts;
}

inline void blockedSend(Job& job, std::size_t rank, std::int32_t to, std::uint64_t bytes = kLarge) {
    job[rank].send(to, 0, bytes);
    job[rank].unfinished();
}

inline void blockedRecv(Job& job, std::size_t rank, std::int32_t from) {
    job[rank].recv(from);
    job[rank].unfinished();
}

inline void blockedBarrier(Job& job, std::size_t rank) {
    job[rank].collective(FunctionId::Barrier);
    job[rank].unfinished();
}

} // namespace stopline::replay::test
