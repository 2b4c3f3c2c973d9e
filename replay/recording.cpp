#include "recording.h"

#include <algorithm>
#include <limits>
#include <string>

namespace stopline::replay {

namespace {

/// What must be equal when an event is executed again. Poll failures and times may differ, and so may call sites' line
/// tables, but not the addresses: the address layout is fixed.
bool sameEvent(const trace::EventDetails& a, const trace::EventDetails& b) {
    return a == b;
}

std::string keyOf(const trace::EventDetails& details) {
    const std::vector<std::byte> bytes = trace::encodeDetails(details);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

struct Recording::RankFeed {
    RankId rank{0};
    trace::RankReader reader;
    std::size_t consumed = 0;      ///< events of the reader already compared or appended
    std::uint32_t commsSeen = 0;
    std::uint32_t commsRecorded = 0; ///< communicators of this rank in the timeline
    std::size_t stopsSeen = 0;
    bool different = false;
    std::vector<DetailsId> toTimeline;   ///< by DetailsId of the reader; value()==UINT32_MAX: not translated yet
    std::unordered_map<std::string, DetailsId> known; ///< timeline's ids by encoded details
    // Times of a later execution are moved so that they go on where the recording ended (see append()).
    bool firstExecution = true;
    bool shifted = false;
    TimeNs shift = 0;     ///< added to execution times
    TimeNs wallShift = 0; ///< added to CLOCK_MONOTONIC of stops
    EventIndex junction{0};
    TimeNs lastTime = 0;
    TimeNs recordedOrigin = 0;
    TimeNs recordedHeld = 0; ///< sum of the recorded stops
};

Recording::Recording(std::int32_t ranks) : m_timeline(std::make_unique<Timeline>(ranks)) {
    for (std::int32_t i = 0; i < ranks; ++i) {
        m_feeds.push_back(std::make_unique<RankFeed>());
        m_feeds.back()->rank = RankId(i);
    }
}

Recording::~Recording() = default;

void Recording::beginExecution() {
    for (auto& feed : m_feeds) {
        feed->reader = trace::RankReader();
        feed->consumed = 0;
        feed->commsSeen = 0;
        feed->stopsSeen = 0;
        feed->different = false;
        feed->toTimeline.clear();
        feed->firstExecution = false;
        feed->shifted = false;
    }
}

DetailsId Recording::translate(RankFeed& feed, DetailsId id) {
    constexpr DetailsId kUnknown{std::numeric_limits<std::uint32_t>::max()};
    if (feed.toTimeline.size() <= id.value()) {
        feed.toTimeline.resize(std::max<std::size_t>(feed.reader.detailsCount(), id.value() + std::size_t{1}), kUnknown);
    }
    DetailsId& translated = feed.toTimeline[id.value()];
    if (translated == kUnknown) {
        const trace::EventDetails& details = feed.reader.details(id);
        std::string key = keyOf(details);
        if (const auto it = feed.known.find(key); it != feed.known.end()) {
            translated = it->second;
        } else {
            translated = m_timeline->addDetails(feed.rank, details);
            feed.known.emplace(std::move(key), translated);
        }
    }
    return translated;
}

void Recording::append(RankFeed& feed, std::size_t index) {
    const trace::DecodedEvent& event = feed.reader.events()[index];
    if (!feed.firstExecution && !feed.shifted) {
        // The recording goes on: let the first new event follow the last recorded one as it followed its twin.
        feed.shifted = true;
        feed.junction = m_timeline->lastEvent(feed.rank);
        const TimeNs twin = index > 0 ? feed.reader.events()[index - 1].execution : 0;
        feed.shift = feed.lastTime - twin;
        TimeNs heldNow = 0;
        for (const trace::StopRecord& stop : feed.reader.stops()) {
            if (stop.event < feed.junction) {
                heldNow += stop.end - stop.begin;
            }
        }
        const TimeNs wallNow = feed.reader.originNs() + twin + heldNow;
        const TimeNs wallRecorded = feed.recordedOrigin + feed.lastTime + feed.recordedHeld;
        feed.wallShift = wallRecorded - wallNow;
    }
    if (feed.firstExecution && feed.recordedOrigin == 0) {
        feed.recordedOrigin = feed.reader.originNs();
        m_timeline->setOrigin(feed.rank, feed.recordedOrigin);
    }
    feed.lastTime = std::max(feed.lastTime, event.execution + feed.shift);
    m_timeline->addEvent(feed.rank, translate(feed, event.details), feed.lastTime, event.pollFailures);
}

std::optional<Difference> Recording::feed(RankId rank, const trace::RankImage& image, QString& error) {
    RankFeed& feed = *m_feeds[std::size_t(rank.value())];
    error = QString::fromStdString(feed.reader.update(image));
    if (feed.different) {
        return std::nullopt;
    }
    const auto& comms = feed.reader.comms();
    for (; feed.commsSeen < comms.size(); ++feed.commsSeen) {
        // A communicator known from the recording comes again under its own number.
        if (feed.commsSeen >= feed.commsRecorded) {
            m_timeline->addComm(rank, comms[feed.commsSeen]);
            ++feed.commsRecorded;
        } else if (m_timeline->comm(rank, CommIndex(feed.commsSeen)).id != comms[feed.commsSeen].id) {
            feed.different = true;
            Difference difference{rank, EventIndex(feed.consumed + 1), {}, {}, true};
            return difference;
        }
    }
    const auto& events = feed.reader.events();
    const std::uint64_t first = feed.reader.firstEvent().value();
    for (; feed.consumed < events.size(); ++feed.consumed) {
        const std::uint64_t number = first + feed.consumed;
        if (number > m_timeline->lastEvent(rank).value()) {
            append(feed, feed.consumed);
            continue;
        }
        const DetailsId executed = translate(feed, events[feed.consumed].details);
        const DetailsId recorded = m_timeline->eventDetails(rank, EventIndex(number));
        if (executed != recorded) {
            const trace::EventDetails& now = m_timeline->details(rank, executed);
            const trace::EventDetails& then = m_timeline->details(rank, recorded);
            if (!sameEvent(now, then)) {
                feed.different = true;
                return Difference{rank, EventIndex(number), then, now, false};
            }
        }
    }
    const auto& stops = feed.reader.stops();
    for (; feed.stopsSeen < stops.size(); ++feed.stopsSeen) {
        trace::StopRecord stop = stops[feed.stopsSeen];
        if (!feed.firstExecution && (!feed.shifted || stop.event < feed.junction)) {
            continue; // held while going over recorded ground: not part of the history
        }
        feed.recordedHeld += stop.end - stop.begin;
        stop.begin += feed.wallShift;
        stop.end += feed.wallShift;
        m_timeline->addStop(rank, stop);
    }
    return std::nullopt;
}

void Recording::branch() {
    m_timeline = std::make_unique<Timeline>(std::int32_t(m_feeds.size()));
    for (auto& feed : m_feeds) {
        feed->known.clear();
        feed->toTimeline.clear();
        feed->firstExecution = true;
        feed->shifted = false;
        feed->shift = 0;
        feed->wallShift = 0;
        feed->lastTime = 0;
        feed->recordedOrigin = 0;
        feed->recordedHeld = 0;
        feed->different = false;
        feed->commsSeen = 0;
        for (const trace::CommInfo& comm : feed->reader.comms()) {
            m_timeline->addComm(feed->rank, comm);
            ++feed->commsSeen;
        }
        feed->commsRecorded = feed->commsSeen;
        for (feed->consumed = 0; feed->consumed < feed->reader.events().size(); ++feed->consumed) {
            append(*feed, feed->consumed);
        }
        for (feed->stopsSeen = 0; feed->stopsSeen < feed->reader.stops().size(); ++feed->stopsSeen) {
            const trace::StopRecord& stop = feed->reader.stops()[feed->stopsSeen];
            feed->recordedHeld += stop.end - stop.begin;
            m_timeline->addStop(feed->rank, stop);
        }
    }
}

EventIndex Recording::executed(RankId rank) const {
    return m_feeds[std::size_t(rank.value())]->reader.lastEvent();
}

bool Recording::replaying(RankId rank) const {
    return executed(rank) < m_timeline->lastEvent(rank);
}

} // namespace stopline::replay
