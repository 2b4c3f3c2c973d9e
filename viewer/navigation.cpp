#include "navigation.h"

namespace stopline::viewer {

using replay::CallIndex;
using replay::CallRef;

namespace {

std::size_t countOf(const DiagramModel& model, CallRef ref) {
    const int rank = ref.rank.value();
    return rank >= 0 && rank < model.ranks() ? model.calls(rank).size() : 0;
}

} // namespace

std::optional<CallRef> neighbour(const DiagramModel& model, CallRef from, bool forward) {
    const std::size_t at = from.call.value();
    if (forward ? at + 1 >= countOf(model, from) : at == 0 || at > countOf(model, from)) {
        return std::nullopt;
    }
    return CallRef{from.rank, CallIndex{std::uint32_t(forward ? at + 1 : at - 1)}};
}

std::optional<CallRef> sameSite(const DiagramModel& model, CallRef from, bool forward) {
    if (from.call.value() >= countOf(model, from)) {
        return std::nullopt;
    }
    const replay::Timeline& timeline = *model.timeline();
    const CodeAddress site = timeline.details(from.rank, timeline.call(from).beginDetails).site;
    for (auto at = neighbour(model, from, forward); at; at = neighbour(model, *at, forward)) {
        if (timeline.details(at->rank, timeline.call(*at).beginDetails).site == site) {
            return at;
        }
    }
    return std::nullopt;
}

std::optional<CallRef> onRank(const DiagramModel& model, CallRef from, int rank, Axis axis) {
    if (rank < 0 || rank >= model.ranks() || model.calls(rank).empty() ||
        from.call.value() >= countOf(model, from)) {
        return std::nullopt;
    }
    const TrackCall& call = model.calls(from.rank.value())[from.call.value()];
    const std::int64_t begin = DiagramModel::begin(call, axis);
    const std::int64_t middle = begin + (model.end(from.rank.value(), call, axis) - begin) / 2;
    const auto all = model.calls(rank);
    std::size_t at = model.lowerCall(rank, middle, axis);
    if (at == all.size()) {
        --at;
    } else if (at > 0 && middle - DiagramModel::begin(all[at - 1], axis) <=
                             DiagramModel::begin(all[at], axis) - middle) {
        --at;
    }
    return CallRef{RankId{rank}, CallIndex{std::uint32_t(at)}};
}

std::optional<CallRef> receiveEnd(const DiagramModel& model, CallRef from) {
    if (from.call.value() >= countOf(model, from)) {
        return std::nullopt;
    }
    for (const replay::MessageIndex index : model.timeline()->messagesOf(from)) {
        const replay::Message& message = model.timeline()->messages()[index.value()];
        for (const auto& end : {message.done, message.post}) {
            if (end && *end != from) {
                return end;
            }
        }
    }
    return std::nullopt;
}

std::optional<CallRef> sendEnd(const DiagramModel& model, CallRef from) {
    if (from.call.value() >= countOf(model, from)) {
        return std::nullopt;
    }
    for (const replay::MessageIndex index : model.timeline()->messagesOf(from)) {
        const replay::Message& message = model.timeline()->messages()[index.value()];
        if (message.send && *message.send != from) {
            return message.send;
        }
    }
    return std::nullopt;
}

std::optional<CallRef> nextMember(const DiagramModel& model, CallRef from) {
    if (from.call.value() >= countOf(model, from)) {
        return std::nullopt;
    }
    const auto index = model.timeline()->collectiveOf(from);
    if (!index || index->value() >= model.timeline()->collectives().size()) {
        return std::nullopt;
    }
    const replay::Collective& collective = model.timeline()->collectives()[index->value()];
    const std::size_t count = collective.arrived.size();
    std::size_t own = count;
    for (std::size_t i = 0; i < count && i < collective.members.size(); ++i) {
        if (collective.members[i] == from.rank) {
            own = i;
        }
    }
    for (std::size_t step = 1; own < count && step < count; ++step) {
        const auto& ref = collective.arrived[(own + step) % count];
        if (ref) {
            return ref;
        }
    }
    return std::nullopt;
}

} // namespace stopline::viewer
