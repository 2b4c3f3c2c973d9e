#include "data_order.h"
#include "timeline_impl.h"

#include <algorithm>

namespace stopline::replay {

Timeline::Timeline(std::int32_t ranks, TransportRules rules) : m_impl(std::make_unique<Impl>(ranks, rules)) {}
Timeline::~Timeline() = default;
Timeline::Timeline(Timeline&&) noexcept = default;
Timeline& Timeline::operator=(Timeline&&) noexcept = default;

DetailsId Timeline::addDetails(RankId rank, trace::EventDetails details) {
    return m_impl->has(rank) ? m_impl->recorder.addDetails(rank.value(), std::move(details))
                             : DetailsId{kNone};
}

CommIndex Timeline::addComm(RankId rank, trace::CommInfo info) {
    return m_impl->has(rank) ? m_impl->recorder.addComm(rank.value(), std::move(info)) : kNoComm;
}

void Timeline::setStart(RankId rank, const trace::HistoryStart& start) {
    if (m_impl->has(rank) && start.firstEvent > 1 && m_impl->data.rank(rank.value()).events.empty()) {
        m_impl->recorder.setStart(rank.value(), start);
    }
}

void Timeline::addEvent(RankId rank, DetailsId details, TimeNs execution, std::uint64_t pollFailures) {
    if (m_impl->has(rank)) {
        m_impl->recorder.addEvent(rank.value(), details, execution, pollFailures);
        m_impl->axis.eventsChanged();
    }
}

void Timeline::addEvents(RankId rank, std::span<const NewEvent> events) {
    if (m_impl->has(rank) && !events.empty()) {
        m_impl->recorder.addEvents(rank.value(), events);
        m_impl->axis.eventsChanged();
    }
}

void Timeline::addStop(RankId rank, trace::StopRecord stop) {
    if (m_impl->has(rank)) {
        m_impl->axis.addStop(rank.value(), stop);
    }
}

void Timeline::setJoined(RankId rank, EventIndex event) {
    if (m_impl->has(rank)) {
        m_impl->axis.setJoined(rank.value(), event);
    }
}

void Timeline::setOrigin(RankId rank, TimeNs origin) {
    if (m_impl->has(rank)) {
        m_impl->axis.setOrigin(rank.value(), origin);
    }
}

void Timeline::setBrokenOff(RankId rank, bool brokenOff) {
    if (m_impl->has(rank)) {
        m_impl->data.rank(rank.value()).brokenOff = brokenOff;
    }
}

void Timeline::setUnread(RankId rank, EventIndex from) {
    if (m_impl->has(rank)) {
        m_impl->data.rank(rank.value()).unreadFrom = from.value();
    }
}

EventIndex Timeline::unreadFrom(RankId rank) const {
    return EventIndex{m_impl->has(rank) ? m_impl->data.rank(rank.value()).unreadFrom : 0};
}

void Timeline::addJob(const JobRanks& job) {
    if (job.first == rankCount()) {
        m_impl->data.addJob(job);
    }
    m_impl->axis.ranksChanged();
}

bool Timeline::brokenOff(RankId rank) const {
    return m_impl->has(rank) && m_impl->data.rank(rank.value()).brokenOff;
}

std::optional<RankId> Timeline::halfLostBy(const Message& message) const {
    if (message.state == MessageState::Unreceived && brokenOff(message.receiver)) {
        return message.receiver;
    }
    if (message.state != MessageState::Unsent) {
        return std::nullopt;
    }
    if (message.sender.value() >= 0) {
        return brokenOff(message.sender) ? std::optional(message.sender) : std::nullopt;
    }
    const auto& ranks = m_impl->data.ranks;
    const bool any = std::any_of(ranks.begin(), ranks.end(), [](const RankData& rank) { return rank.brokenOff; });
    return any ? std::optional(RankId{-1}) : std::nullopt;
}

std::int32_t Timeline::rankCount() const {
    return m_impl->data.rankCount();
}

std::size_t Timeline::memoryBytes() const {
    return m_impl->data.bytes() + m_impl->axis.bytes();
}

EventIndex Timeline::lastEvent(RankId rank) const {
    return EventIndex{m_impl->has(rank) ? m_impl->data.rank(rank.value()).events.lastEvent() : 0};
}

EventIndex Timeline::firstEvent(RankId rank) const {
    return EventIndex{m_impl->has(rank) ? m_impl->data.rank(rank.value()).events.firstEvent() : 1};
}

Place Timeline::reachableFrom(RankId rank) const {
    return m_impl->has(rank) ? placeAt(m_impl->data.rank(rank.value()).floor) : Place{};
}

std::optional<RankId> Timeline::startsLate() const {
    for (std::int32_t rank = 0; rank < m_impl->data.rankCount(); ++rank) {
        if (m_impl->data.rank(rank).events.missing() != 0) {
            return RankId{rank};
        }
    }
    return std::nullopt;
}

std::uint32_t Timeline::callCount(RankId rank) const {
    return m_impl->has(rank) ? m_impl->data.rank(rank.value()).events.callCount() : 0;
}

Call Timeline::call(CallRef ref) const {
    Call call;
    if (!m_impl->has(ref)) {
        return call;
    }
    const RankEvents& events = m_impl->data.rank(ref.rank.value()).events;
    const std::uint64_t begin = events.beginOf(ref.call.value());
    const std::uint64_t end = events.endOf(ref.call.value());
    call.begin = EventIndex{begin};
    call.end = EventIndex{end};
    call.beginDetails = DetailsId{events.detailsOf(begin)};
    call.beginTime = events.timeOf(begin);
    if (end != 0) {
        call.endDetails = DetailsId{events.detailsOf(end)};
        call.endTime = events.timeOf(end);
        call.pollFailures = events.pollFailuresOf(ref.call.value());
    }
    return call;
}

std::optional<CallRef> Timeline::callAt(RankId rank, EventIndex event) const {
    if (event < firstEvent(rank) || event > lastEvent(rank)) {
        return std::nullopt;
    }
    const std::uint32_t call = m_impl->data.rank(rank.value()).events.callOf(event.value());
    return call == kNone ? std::nullopt : std::optional(CallRef{rank, CallIndex{call}});
}

bool Timeline::isBegin(RankId rank, EventIndex event) const {
    return event >= firstEvent(rank) && event <= lastEvent(rank) &&
           m_impl->data.rank(rank.value()).events.isBegin(event.value());
}

const trace::EventDetails& Timeline::details(RankId rank, DetailsId id) const {
    static const trace::EventDetails none;
    return m_impl->has(rank) && id.value() < m_impl->data.rank(rank.value()).details.size()
               ? m_impl->data.rank(rank.value()).details[id.value()]
               : none;
}

DetailsId Timeline::eventDetails(RankId rank, EventIndex event) const {
    if (event < firstEvent(rank) || event > lastEvent(rank)) {
        return DetailsId{kNone};
    }
    return DetailsId{m_impl->data.rank(rank.value()).events.detailsOf(event.value())};
}

const trace::CommInfo& Timeline::comm(RankId rank, CommIndex index) const {
    static const trace::CommInfo none;
    return m_impl->has(rank) && index.value() < m_impl->data.rank(rank.value()).comms.size()
               ? m_impl->data.rank(rank.value()).comms[index.value()]
               : none;
}

std::span<const Message> Timeline::messages() const {
    return m_impl->data.messages.all();
}

std::span<const Collective> Timeline::collectives() const {
    return m_impl->data.collectives.all();
}

std::vector<MessageIndex> Timeline::openMessages() const {
    std::vector<MessageIndex> result;
    result.reserve(m_impl->data.openMessages.size());
    for (const std::uint32_t message : m_impl->data.openMessages) {
        result.emplace_back(message);
    }
    std::sort(result.begin(), result.end());
    return result;
}

TimeNs Timeline::axisTime(RankId rank, EventIndex event) const {
    return m_impl->has(rank) ? m_impl->axis.at(rank.value(), event.value()) : 0;
}

TimeNs Timeline::cutOut() const {
    return m_impl->axis.cutOut();
}

std::vector<Timeline::HeldSpan> Timeline::heldSpans(RankId rank) const {
    return m_impl->has(rank) ? m_impl->axis.held(rank.value()) : std::vector<HeldSpan>{};
}

Place Timeline::placeOf(const Point& point) const {
    const Call c = call(point.call);
    // After is not offered for an unfinished call: such a point is taken as before.
    return {point.after && c.end.value() != 0 ? c.end : c.begin, false};
}

Line Timeline::pastFrontier(const Point& point) const {
    const std::int32_t rank = point.call.rank.value();
    return m_impl->has(point.call)
               ? m_impl->line(replay::pastFrontier(m_impl->data, rank, positionOf(placeOf(point))))
               : m_impl->line(Positions(m_impl->data.ranks.size(), 0));
}

Line Timeline::futureFrontier(const Point& point) const {
    const std::int32_t rank = point.call.rank.value();
    return m_impl->has(point.call)
               ? m_impl->line(replay::futureFrontier(m_impl->data, rank, positionOf(placeOf(point))))
               : m_impl->line(recordedEnd(m_impl->data));
}

bool Timeline::isClosed(const Cut& cut) const {
    return replay::isClosed(m_impl->data, positionsOf(m_impl->data, cut));
}

Line Timeline::closeDown(const Cut& cut) const {
    return m_impl->line(replay::closeDown(m_impl->data, positionsOf(m_impl->data, cut)));
}

Line Timeline::closeUp(const Cut& cut, std::optional<RankId> fixed) const {
    const std::int32_t rank = fixed.has_value() && m_impl->has(*fixed) ? fixed->value() : -1;
    return m_impl->line(replay::closeUp(m_impl->data, positionsOf(m_impl->data, cut), rank));
}

std::optional<Line> Timeline::rollback(const Cut& now, RankId rank) const {
    if (!m_impl->has(rank)) {
        return std::nullopt;
    }
    Positions positions = positionsOf(m_impl->data, now);
    Position& own = positions[static_cast<std::size_t>(rank.value())];
    const RankEvents& events = m_impl->data.rank(rank.value()).events;
    // The last call whose begin lies before where the rank stands; "before k" itself has not begun k.
    const std::uint64_t event = own / 2;
    const bool before = own % 2 == 0 && event != 0 && events.isBegin(event);
    std::uint64_t target = event;
    if (before) {
        --target;
    }
    while (target > events.missing() && !events.isBegin(target)) {
        --target;
    }
    if (target <= events.missing()) {
        return std::nullopt;
    }
    own = target * 2;
    return m_impl->line(replay::closeDown(m_impl->data, std::move(positions)));
}

std::optional<Line> Timeline::forward(const Cut& now, RankId rank) const {
    if (!m_impl->has(rank)) {
        return std::nullopt;
    }
    const TimelineData& data = m_impl->data;
    Positions positions = positionsOf(data, now);
    Position& own = positions[static_cast<std::size_t>(rank.value())];
    const RankEvents& events = data.rank(rank.value()).events;
    std::uint64_t end = std::max(own / 2 + 1, events.firstEvent());
    while (end <= events.lastEvent() && (events.isBegin(end) || events.callOf(end) == kNone)) {
        ++end;
    }
    if (end > events.lastEvent()) {
        return std::nullopt;
    }
    own = end * 2;
    const Positions past = replay::pastFrontier(data, rank.value(), own);
    for (std::size_t other = 0; other < positions.size(); ++other) {
        positions[other] = std::max(positions[other], past[other]);
    }
    return m_impl->line(replay::closeUp(data, positions, rank.value()));
}

std::optional<Obstacle> Timeline::blockedBy(const Cut& cut, RankId rank) const {
    if (!m_impl->has(rank)) {
        return std::nullopt;
    }
    const Positions positions = positionsOf(m_impl->data, cut);
    const Position own = positions[static_cast<std::size_t>(rank.value())];
    const std::uint32_t call = own % 2 == 1 ? m_impl->data.rank(rank.value()).events.callOf(own / 2) : kNone;
    return call == kNone ? std::nullopt
                         : whyBlocked(m_impl->data, m_impl->data.ref(rank.value(), call), positions);
}

std::string Timeline::describe(RankId rank, const Place& place) const {
    if (place.event.value() == 0) {
        return "before MPI_Init";
    }
    if (!m_impl->has(rank) || place.event > lastEvent(rank) || place.event < firstEvent(rank)) {
        return "at event " + std::to_string(place.event.value());
    }
    const char* where = !isBegin(rank, place.event) ? "after " : place.inside ? "inside " : "before ";
    return where + describeEvent(m_impl->data, rank.value(), place.event.value());
}

} // namespace stopline::replay
