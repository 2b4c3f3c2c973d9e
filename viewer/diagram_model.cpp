#include "diagram_model.h"

#include <algorithm>
#include <cstdlib>

namespace stopline::viewer {

using replay::CallIndex;
using replay::CallRef;
using replay::MessageState;
using replay::Place;

namespace {

/// An unfinished call reaches this part of the run beyond the last event, so that it can be seen and picked.
constexpr std::int64_t kNowShare = 25;

std::int64_t eventUnit(EventIndex event) {
    return std::int64_t(event.value()) * kUnitsPerEvent;
}

bool sameMessage(const TrackMessage& known, const replay::Message& now) {
    const auto same = [](bool has, std::int32_t rank, std::uint32_t call, const std::optional<CallRef>& ref) {
        return has == ref.has_value() && (!has || (ref->rank.value() == rank && ref->call.value() == call));
    };
    return known.state == now.state && known.wildcard == now.wildcardSource &&
           same(known.hasSend, known.sender, known.sendCall, now.send) &&
           same(known.hasPost, known.receiver, known.postCall, now.post) &&
           same(known.hasDone, known.receiver, known.doneCall, now.done) &&
           (known.hasSend || known.sender == now.sender.value()) &&
           (known.hasPost || known.receiver == now.receiver.value());
}

} // namespace

void DiagramModel::setTimeline(const replay::Timeline* timeline) {
    clear();
    m_timeline = timeline;
    update();
}

void DiagramModel::clear() {
    m_tracks.clear();
    m_messages.clear();
    m_blocks.clear();
    m_open.clear();
    m_collectives.clear();
    m_openCollectives.clear();
    m_races.clear();
    m_callCount = 0;
    m_backwards = 0;
    m_timeExtent = 1;
    m_eventExtent = kUnitsPerEvent;
}

void DiagramModel::fill(int rank, std::uint32_t index, TrackCall& call) const {
    const RankId id{rank};
    const replay::Call& c = m_timeline->call({id, CallIndex{index}});
    const trace::EventDetails& begin = m_timeline->details(id, c.beginDetails);
    const trace::CallClass kind = trace::functionClass(begin.function);
    call.style = styleOf(kind);
    call.post = isPost(kind);
    call.severity = severityOf(begin);
    call.timeBegin = m_timeline->axisTime(id, c.begin);
    call.eventBegin = eventUnit(c.begin);
    if (c.end != EventIndex{0}) {
        call.timeEnd = m_timeline->axisTime(id, c.end);
        call.eventEnd = eventUnit(c.end);
        if (m_timeline->details(id, c.endDetails).error != trace::ErrorClass::Success) {
            call.severity = Severity::Error;
        }
    }
}

bool DiagramModel::moved(int rank) const {
    // Origins and stops that become known later shift times; they only ever add up from the left, so the
    // first and the last call tell whether any between has moved.
    const Track& track = m_tracks[std::size_t(rank)];
    for (const std::size_t i : {std::size_t(0), track.calls.size() - 1}) {
        const replay::Call& c = m_timeline->call({RankId{rank}, CallIndex{std::uint32_t(i)}});
        if (m_timeline->axisTime(RankId{rank}, c.begin) != track.calls[i].timeBegin) {
            return true;
        }
    }
    return false;
}

void DiagramModel::updateTrack(int rank) {
    Track& track = m_tracks[std::size_t(rank)];
    const std::uint32_t count = m_timeline->callCount(RankId{rank});
    std::vector<std::uint32_t> stillOpen;
    for (const std::uint32_t index : track.open) {
        fill(rank, index, track.calls[index]);
        track.forest.refresh(track.calls, index);
        track.timeBins.refresh(track.calls, index);
        track.eventBins.refresh(track.calls, index);
        if (track.calls[index].open()) {
            stillOpen.push_back(index);
        }
    }
    track.calls.reserve(count);
    for (std::uint32_t index = std::uint32_t(track.calls.size()); index < count; ++index) {
        TrackCall call;
        fill(rank, index, call);
        if (call.open()) {
            stillOpen.push_back(index);
        }
        track.calls.push_back(call);
    }
    track.open = std::move(stillOpen);
    track.forest.extend(track.calls);
}

void DiagramModel::update() {
    if (m_timeline == nullptr) {
        return;
    }
    m_tracks.resize(std::size_t(std::max(0, m_timeline->rankCount())));
    bool all = false;
    for (int rank = 0; rank < ranks(); ++rank) {
        Track& track = m_tracks[std::size_t(rank)];
        if (!track.calls.empty() &&
            (m_timeline->callCount(RankId{rank}) < track.calls.size() || moved(rank))) {
            track = Track{};
            all = true;
        }
    }
    m_callCount = 0;
    m_timeExtent = 1;
    m_eventExtent = kUnitsPerEvent;
    for (int rank = 0; rank < ranks(); ++rank) {
        updateTrack(rank);
        const Track& track = m_tracks[std::size_t(rank)];
        m_callCount += track.calls.size();
        const EventIndex last = m_timeline->lastEvent(RankId{rank});
        if (last != EventIndex{0}) {
            m_timeExtent = std::max(m_timeExtent, m_timeline->axisTime(RankId{rank}, last));
            m_eventExtent = std::max(m_eventExtent, eventUnit(last));
        }
    }
    updateMessages(all);
    updateCollectives(all);
    updateRaces();
}

void DiagramModel::setRaces(std::vector<RaceMark> races) {
    m_races.set(std::move(races));
    updateRaces();
}

void DiagramModel::updateRaces() {
    std::vector<std::span<const TrackCall>> all;
    all.reserve(m_tracks.size());
    for (const Track& track : m_tracks) {
        all.emplace_back(track.calls);
    }
    m_races.update(all);
}

Aggregate DiagramModel::summary(int rank, std::size_t from, std::size_t to) const {
    const Track& track = m_tracks[std::size_t(rank)];
    return track.forest.query(track.calls, from, std::min(to, track.calls.size()));
}

std::optional<CallBins::Level> DiagramModel::bins(int rank, Axis axis, double units) const {
    const Track& track = m_tracks[std::size_t(rank)];
    CallBins& bins = axis == Axis::Time ? track.timeBins : track.eventBins;
    bins.extend(track.calls);
    return bins.level(units);
}

void DiagramModel::fillMessage(std::size_t index) {
    const replay::Message& from = m_timeline->messages()[index];
    TrackMessage m;
    m.state = from.state;
    m.wildcard = from.wildcardSource;
    m.sender = from.sender.value();
    m.receiver = from.receiver.value();
    const auto known = [this](const std::optional<CallRef>& ref) {
        return ref && ref->rank.value() >= 0 && ref->rank.value() < ranks() &&
               ref->call.value() < calls(ref->rank.value()).size();
    };
    if (known(from.send)) {
        m.hasSend = true;
        m.sender = from.send->rank.value();
        m.sendCall = from.send->call.value();
        const TrackCall& call = calls(m.sender)[m.sendCall];
        m.timeFrom = call.timeBegin;
        m.eventFrom = call.eventBegin;
    }
    if (known(from.post)) {
        m.hasPost = true;
        m.receiver = from.post->rank.value();
        m.postCall = from.post->call.value();
        const TrackCall& call = calls(m.receiver)[m.postCall];
        m.timeTo = call.timeBegin;
        m.eventTo = call.eventBegin;
    }
    if (known(from.done)) {
        const TrackCall& call = calls(from.done->rank.value())[from.done->call.value()];
        if (!call.open()) {
            m.hasDone = true;
            m.receiver = from.done->rank.value();
            m.doneCall = from.done->call.value();
            m.timeTo = call.timeEnd;
            m.eventTo = call.eventEnd;
        }
    }
    if (m.sender >= ranks()) {
        m.sender = -1;
    }
    if (m.receiver >= ranks()) {
        m.receiver = -1;
    }
    m_messages[index] = m;
    MessageBlock& block = m_blocks[index / kMessageBlock];
    block.timeLow = std::min({block.timeLow, m.timeFrom, m.timeTo});
    block.timeHigh = std::max({block.timeHigh, m.timeFrom, m.timeTo});
    block.eventLow = std::min({block.eventLow, m.eventFrom, m.eventTo});
    block.eventHigh = std::max({block.eventHigh, m.eventFrom, m.eventTo});
}

void DiagramModel::updateMessages(bool all) {
    const std::span<const replay::Message> source = m_timeline->messages();
    if (all) {
        m_messages.clear();
        m_blocks.clear();
    }
    const std::size_t before = std::min(m_messages.size(), source.size());
    m_messages.resize(source.size());
    m_blocks.resize((source.size() + kMessageBlock - 1) / kMessageBlock);
    m_open.clear();
    m_backwards = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
        // Indices of messages are not stable while wildcards find their sends: compare, and read anew what
        // differs.
        if (i >= before || !sameMessage(m_messages[i], source[i])) {
            fillMessage(i);
        }
        const TrackMessage& m = m_messages[i];
        if (m.matched()) {
            m_backwards += m.backwards() ? 1 : 0;
        } else if (m.state != MessageState::Cancelled && m.state != MessageState::Early) {
            m_open.push_back(std::uint32_t(i));
        }
    }
}

void DiagramModel::updateCollectives(bool all) {
    const std::span<const replay::Collective> source = m_timeline->collectives();
    if (all || source.size() < m_collectives.size()) {
        m_collectives.clear();
        m_openCollectives.clear();
    }
    std::vector<std::uint32_t> touched = std::move(m_openCollectives);
    for (std::size_t i = m_collectives.size(); i < source.size(); ++i) {
        touched.push_back(std::uint32_t(i));
    }
    m_collectives.resize(source.size());
    m_openCollectives.clear();
    for (const std::uint32_t index : touched) {
        const replay::Collective& from = source[index];
        TrackCollective c{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, true, from.mismatch, INT32_MAX, -1};
        for (std::size_t i = 0; i < from.members.size(); ++i) {
            c.firstRow = std::min(c.firstRow, from.members[i].value());
            c.lastRow = std::max(c.lastRow, from.members[i].value());
            const auto ref = i < from.arrived.size() ? from.arrived[i] : std::nullopt;
            if (!ref || ref->rank.value() < 0 || ref->rank.value() >= ranks() ||
                ref->call.value() >= calls(ref->rank.value()).size()) {
                c.complete = c.complete && from.early; // then others were there before the start of their histories
                continue;
            }
            const TrackCall& call = calls(ref->rank.value())[ref->call.value()];
            c.timeFirst = std::min(c.timeFirst, call.timeBegin);
            c.timeLast = std::max(c.timeLast, call.timeBegin);
            c.eventFirst = std::min(c.eventFirst, call.eventBegin);
            c.eventLast = std::max(c.eventLast, call.eventBegin);
        }
        m_collectives[index] = c;
        if (!c.complete) {
            m_openCollectives.push_back(index);
        }
    }
}

std::int64_t DiagramModel::nowEdge(int rank, Axis axis) const {
    const EventIndex last = m_timeline->lastEvent(RankId{rank});
    const Track& track = m_tracks[std::size_t(rank)];
    if (axis == Axis::Events) {
        return eventUnit(last) + (track.open.empty() ? 0 : kUnitsPerEvent);
    }
    if (!track.open.empty()) {
        return m_timeExtent + m_timeExtent / kNowShare + 1;
    }
    return last == EventIndex{0} ? 0 : m_timeline->axisTime(RankId{rank}, last);
}

std::int64_t DiagramModel::position(int rank, EventIndex event, Axis axis) const {
    if (event == EventIndex{0} || m_timeline == nullptr) {
        return 0;
    }
    if (axis == Axis::Events) {
        return eventUnit(event);
    }
    const EventIndex last = m_timeline->lastEvent(RankId{rank});
    if (last == EventIndex{0}) {
        return 0;
    }
    return m_timeline->axisTime(RankId{rank}, std::min(event, last));
}

std::int64_t DiagramModel::position(int rank, const Place& place, Axis axis) const {
    const std::int64_t at = position(rank, place.event, axis);
    if (!place.inside || m_timeline == nullptr) {
        return at;
    }
    const auto ref = m_timeline->callAt(RankId{rank}, place.event);
    if (!ref || ref->call.value() >= calls(rank).size()) {
        return at;
    }
    const TrackCall& call = calls(rank)[ref->call.value()];
    const std::int64_t to = end(rank, call, axis);
    // Inside an unfinished call is where the recording stands now; inside one that has finished, somewhere in
    // it.
    return call.open() ? to : at + (to - at) / 2;
}

std::size_t DiagramModel::lowerCall(int rank, std::int64_t unit, Axis axis) const {
    const auto all = calls(rank);
    const auto at = std::partition_point(all.begin(), all.end(),
                                         [&](const TrackCall& c) { return begin(c, axis) < unit; });
    return std::size_t(at - all.begin());
}

std::optional<CallRef> DiagramModel::callNear(int rank, std::int64_t unit, std::int64_t slack,
                                              Axis axis) const {
    if (rank < 0 || rank >= ranks() || calls(rank).empty()) {
        return std::nullopt;
    }
    const auto all = calls(rank);
    const auto ref = [rank](std::size_t i) { return CallRef{RankId{rank}, CallIndex{std::uint32_t(i)}}; };
    const std::size_t from = lowerCall(rank, unit - slack, axis);
    const std::size_t to = lowerCall(rank, unit + slack + 1, axis);
    // A call that covers the unit and is wider than the slack is what the pointer is on.
    for (std::size_t i = to, back = 0; i > 0 && back < CallForest::kBlock; --i, ++back) {
        const TrackCall& call = all[i - 1];
        const std::int64_t b = begin(call, axis);
        const std::int64_t e = end(rank, call, axis);
        if (b <= unit && unit <= e && e - b > slack) {
            return ref(i - 1);
        }
    }
    if (from < to) {
        return ref(summary(rank, from, to).worst);
    }
    if (from > 0 && end(rank, all[from - 1], axis) >= unit - slack) {
        return ref(from - 1);
    }
    return std::nullopt;
}

} // namespace stopline::viewer
