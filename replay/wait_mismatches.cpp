#include "wait_mismatches.h"

#include "call_place.h"
#include "jobs.h"

#include <algorithm>

namespace stopline::replay {

std::vector<WaitMismatch> waitMismatches(const Timeline& timeline) {
    std::vector<WaitMismatch> found;
    std::vector<const Collective*> seen;
    for (std::int32_t i = 0; i < timeline.rankCount(); ++i) {
        const RankId rank{i};
        if (timeline.callCount(rank) == 0) {
            continue;
        }
        const CallRef inside{rank, CallIndex(timeline.callCount(rank) - 1)};
        const auto at = timeline.call(inside).end.value() == 0 ? timeline.collectiveOf(inside) : std::nullopt;
        if (!at) {
            continue;
        }
        const Collective& c = timeline.collectives()[at->value()];
        if (!c.mismatch || std::find(seen.begin(), seen.end(), &c) != seen.end()) {
            continue;
        }
        seen.push_back(&c);
        WaitMismatch mismatch;
        for (std::size_t member = 0; member < c.members.size(); ++member) {
            const MaybeCall call = c.arrived[member];
            if (!call) {
                continue;
            }
            const trace::EventDetails& begin = timeline.details(call->rank, timeline.call(*call).beginDetails);
            std::optional<RankId> root;
            if (timeline.comm(call->rank, begin.comm).remote.empty() && begin.root >= 0 && static_cast<std::size_t>(begin.root) < c.members.size()) {
                root = c.members[static_cast<std::size_t>(begin.root)];
            }
            const auto part = std::find_if(mismatch.parts.begin(), mismatch.parts.end(), [&](const WaitMismatch::Part& one) {
                return one.root == root &&
                       timeline.details(one.call.rank, timeline.call(one.call).beginDetails).function == begin.function;
            });
            if (part == mismatch.parts.end()) {
                mismatch.parts.push_back({*call, root, {call->rank}});
            } else {
                part->ranks.push_back(call->rank);
            }
        }
        if (mismatch.parts.size() > 1) {
            found.push_back(std::move(mismatch));
        }
    }
    return found;
}

std::string mismatchText(const Timeline& timeline, const WaitMismatch& mismatch,
                         const std::function<std::string(CallRef)>& where) {
    std::string text;
    for (const WaitMismatch::Part& part : mismatch.parts) {
        const trace::EventDetails& begin = timeline.details(part.call.rank, timeline.call(part.call).beginDetails);
        std::vector<RankId> ranks = part.ranks;
        std::sort(ranks.begin(), ranks.end());
        text += text.empty() ? "" : " where ";
        text += rankNames(ranks) + (ranks.size() == 1 ? " calls " : " call ") + std::string(trace::functionName(begin.function));
        text += part.root ? " of root " + rankName(*part.root) : "";
        text += callPlace(timeline, part.call, where);
    }
    return text + ", on the same communicator: these do not fit together";
}

} // namespace stopline::replay
