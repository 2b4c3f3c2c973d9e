// Ranks whose first events are missing: overwritten before they were read, or more than are to be kept.
#include "recording_feed.h"

#include "../tracelib/history_advance.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

/// The reader has begun anew behind missing events.
void Recording::beginBehind(RankFeed& feed) {
    const trace::HistoryStart* start = feed.reader.start();
    if (start == nullptr) {
        return;
    }
    const std::uint64_t last = m_timeline->lastEvent(feed.rank).value();
    if (last >= m_timeline->firstEvent(feed.rank).value()) {
        // An execution that is compared goes on wherever it can be compared.
        feed.gap = start->firstEvent > last + 1;
        return;
    }
    feed.start = std::make_unique<trace::HistoryStart>(*start);
    feed.startTold = false;
}

/// Before the first of the events up to `to` goes into the timeline. Ends of calls whose begins are missing are left out
/// as well, so that the history starts with a begin.
void Recording::tellStart(RankFeed& feed, std::size_t to) {
    if (feed.start == nullptr || std::exchange(feed.startTold, true)) {
        return;
    }
    const auto& events = feed.reader.events();
    const auto isEnd = [&] {
        return feed.consumed < to && feed.start->callCount != 0 &&
               feed.reader.details(events[feed.consumed].details).kind == trace::EventKind::End;
    };
    if (isEnd()) {
        trace::HistoryAdvance advance(feed.start.get());
        do {
            advance.add(feed.reader.details(events[feed.consumed++].details));
            *feed.start = advance.start();
        } while (isEnd());
    }
    m_timeline->setStart(feed.rank, *feed.start);
}

bool Recording::tooMany(const RankFeed& feed) const {
    const std::uint64_t first = m_timeline->firstEvent(feed.rank).value();
    return m_mostEvents != 0 && m_timeline->lastEvent(feed.rank).value() >= first + m_mostEvents;
}

bool Recording::startDue() const {
    return std::any_of(m_feeds.begin(), m_feeds.end(), [this](const auto& feed) { return feed->gap || tooMany(*feed); });
}

void Recording::takeOverComms(RankFeed& feed, const Timeline& old) {
    for (std::uint32_t comm = 0; comm < feed.commsRecorded; ++comm) {
        m_timeline->addComm(feed.rank, old.comm(feed.rank, CommIndex{comm}));
    }
}

void Recording::startAnew() {
    const auto count = std::int32_t(m_feeds.size());
    const std::unique_ptr<Timeline> old = std::exchange(m_timeline, std::make_unique<Timeline>(count));
    for (auto& feed : m_feeds) {
        feed->known.clear();
        feed->toTimeline.clear();
        takeOverComms(*feed, *old);
        const std::uint64_t last = old->lastEvent(feed->rank).value();
        std::uint64_t first = old->firstEvent(feed->rank).value();
        if (feed->gap) {
            feed->gap = false;
            feed->start = std::make_unique<trace::HistoryStart>(*feed->reader.start());
            if (feed->recordedOrigin != 0) {
                m_timeline->setOrigin(feed->rank, feed->recordedOrigin);
            }
            feed->startTold = false;
            for (const trace::StopRecord& stop : std::exchange(feed->recordedStops, {})) {
                feed->recordedHeld -= stop.end - stop.begin;
                keepStop(*feed, stop);
            }
            const bool broken = old->brokenOff(feed->rank);
            append(*feed, feed->reader.events().size());
            m_timeline->setBrokenOff(feed->rank, broken);
            continue;
        }
        if (m_mostEvents != 0 && last >= first + m_mostEvents) {
            trace::HistoryAdvance advance(feed->start.get());
            const std::uint64_t goal = last - m_mostEvents / 4 * 3;
            while (first < last && (first < goal || !old->isBegin(feed->rank, EventIndex{first}))) {
                advance.add(old->details(feed->rank, old->eventDetails(feed->rank, EventIndex{first})));
                ++first;
            }
            feed->start = std::make_unique<trace::HistoryStart>(advance.start());
        }
        feed->startTold = false;
        tellStart(*feed, 0);
        keep(*feed, *old, last);
        m_timeline->setBrokenOff(feed->rank, old->brokenOff(feed->rank));
    }
}

} // namespace stopline::replay
