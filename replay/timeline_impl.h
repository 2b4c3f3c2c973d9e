// Inside of the timeline.
#pragma once

#include "timeline.h"

#include "closure.h"
#include "one_sided.h"
#include "timeline_axis.h"
#include "timeline_reason.h"
#include "timeline_recorder.h"

#include <algorithm>

namespace stopline::replay {

struct Timeline::Impl {
    Impl(std::int32_t ranks, TransportRules rules) : data(make(ranks, rules)), recorder(data), axis(data) {}

    static TimelineData make(std::int32_t ranks, TransportRules rules) {
        TimelineData data;
        data.rules = rules;
        data.ranks.resize(static_cast<std::size_t>(std::max(ranks, 0)));
        for (int i = 0; i < 2; ++i) { // MPI_Init and MPI_Finalize
            CommEntry& world = data.commEntries.emplace_back();
            for (std::int32_t rank = 0; rank < ranks; ++rank) {
                world.members.emplace_back(rank);
            }
            world.localCount = ranks;
        }
        return data;
    }
    [[nodiscard]] bool has(RankId rank) const { return rank.value() >= 0 && rank.value() < data.rankCount(); }
    [[nodiscard]] bool has(CallRef ref) const {
        return has(ref.rank) && ref.call.value() < data.rank(ref.rank.value()).events.callCount();
    }
    [[nodiscard]] Line line(const Positions& positions) const {
        return {cutOf(positions), obstaclesOf(data, positions)};
    }

    TimelineData data;
    Recorder recorder;
    TimeAxis axis;
};

} // namespace stopline::replay
