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
        JobRanks first;
        first.size = std::max(ranks, 0);
        data.addJob(first);
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
