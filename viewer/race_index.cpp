#include "race_index.h"

#include <algorithm>
#include <tuple>

namespace stopline::viewer {

using replay::CallIndex;
using replay::CallRef;

namespace {

std::size_t worseOf(std::span<const RaceIndex::Entry> all, std::size_t a, std::size_t b) {
    const std::size_t first = std::min(a, b);
    const std::size_t second = std::max(a, b);
    return all[second].alternatives > all[first].alternatives ? second : first;
}

} // namespace

void RaceIndex::clear() {
    m_marks.clear();
    m_tracks.clear();
    m_count = 0;
}

void RaceIndex::update(std::span<const std::span<const TrackCall>> calls) {
    m_tracks.assign(calls.size(), Track{});
    m_count = 0;
    for (const RaceMark& mark : m_marks) {
        const int rank = mark.call.rank.value();
        if (rank < 0 || std::size_t(rank) >= calls.size() || mark.alternatives == 0) {
            continue;
        }
        const CallRef done = mark.done ? *mark.done : mark.call;
        const std::size_t known = calls[std::size_t(rank)].size();
        if (done.rank != mark.call.rank || mark.call.call.value() >= known || done.call.value() >= known) {
            continue;
        }
        m_tracks[std::size_t(rank)].arrivals.push_back(
            {mark.call.call.value(), done.call.value(), mark.alternatives});
        ++m_count;
    }
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
        index(m_tracks[rank], calls[rank]);
    }
}

void RaceIndex::index(Track& track, std::span<const TrackCall> calls) {
    const auto before = [calls](const Entry& a, const Entry& b) {
        return std::tuple(calls[a.done].eventEnd, a.done, a.call, b.alternatives) <
               std::tuple(calls[b.done].eventEnd, b.done, b.call, a.alternatives);
    };
    // Mostly they come in order.
    if (!std::is_sorted(track.arrivals.begin(), track.arrivals.end(), before)) {
        std::sort(track.arrivals.begin(), track.arrivals.end(), before);
    }
    const std::size_t count = track.arrivals.size();
    track.worst.resize(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto place = std::uint32_t(i);
        const Entry& entry = track.arrivals[i];
        track.worst[count + i] = place;
        track.posts.push_back(entry.call);
        track.byCall.emplace_back(entry.call, place);
        if (entry.done != entry.call) {
            track.byCall.emplace_back(entry.done, place);
        }
    }
    for (std::size_t i = count; i-- > 1;) {
        track.worst[i] = std::uint32_t(worseOf(track.arrivals, track.worst[2 * i], track.worst[2 * i + 1]));
    }
    std::sort(track.posts.begin(), track.posts.end());
    track.posts.erase(std::unique(track.posts.begin(), track.posts.end()), track.posts.end());
    std::sort(track.byCall.begin(), track.byCall.end());
}

const RaceIndex::Track* RaceIndex::track(RankId rank) const {
    return rank.value() >= 0 && std::size_t(rank.value()) < m_tracks.size()
               ? &m_tracks[std::size_t(rank.value())]
               : nullptr;
}

std::span<const RaceIndex::Entry> RaceIndex::arrivals(int rank) const {
    const Track* of = track(RankId{rank});
    return of == nullptr ? std::span<const Entry>() : std::span<const Entry>(of->arrivals);
}

std::size_t RaceIndex::worst(int rank, std::size_t from, std::size_t to) const {
    const Track& of = m_tracks[std::size_t(rank)];
    const std::size_t count = of.arrivals.size();
    std::size_t best = from;
    for (std::size_t low = from + count, high = to + count; low < high; low /= 2, high /= 2) {
        if (low % 2 != 0) {
            best = worseOf(of.arrivals, best, of.worst[low++]);
        }
        if (high % 2 != 0) {
            best = worseOf(of.arrivals, best, of.worst[--high]);
        }
    }
    return best;
}

template <class Visit>
void RaceIndex::visit(CallRef call, const Visit& visit) const {
    const Track* of = track(call.rank);
    if (of == nullptr) {
        return;
    }
    const std::uint32_t wanted = call.call.value();
    for (auto at = std::lower_bound(of->byCall.begin(), of->byCall.end(), std::pair(wanted, 0U));
         at != of->byCall.end() && at->first == wanted; ++at) {
        visit(of->arrivals[at->second]);
    }
}

std::optional<RaceIndex::Sum> RaceIndex::of(CallRef call) const {
    Sum sum;
    visit(call, [&sum](const Entry& entry) {
        ++sum.races;
        sum.alternatives = std::max(sum.alternatives, entry.alternatives);
    });
    return sum.races == 0 ? std::nullopt : std::optional(sum);
}

std::optional<RaceIndex::Entry> RaceIndex::worstOf(CallRef call) const {
    std::optional<Entry> worst;
    visit(call, [&worst](const Entry& entry) {
        if (!worst || entry.alternatives > worst->alternatives) {
            worst = entry;
        }
    });
    return worst;
}

bool RaceIndex::races(CallRef call) const {
    const Track* of = track(call.rank);
    return of != nullptr && std::binary_search(of->posts.begin(), of->posts.end(), call.call.value());
}

std::optional<CallRef> RaceIndex::next(RankId rank, std::optional<CallIndex> from, bool forward) const {
    const Track* of = track(rank);
    if (of == nullptr || of->posts.empty()) {
        return std::nullopt;
    }
    const auto begin = of->posts.begin();
    const auto end = of->posts.end();
    auto at = forward ? begin : end;
    if (from) {
        at = forward ? std::upper_bound(begin, end, from->value())
                     : std::lower_bound(begin, end, from->value());
    }
    if (at == (forward ? end : begin)) {
        return std::nullopt;
    }
    return CallRef{rank, CallIndex{forward ? *at : *(at - 1)}};
}

} // namespace stopline::viewer
