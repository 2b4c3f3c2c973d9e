// Timelines that replace the one before: of another execution, or of ranks whose first events are missing, as they were
// overwritten before they were read or are more than are to be kept.
#include "history_share.h"
#include "recording_feed.h"
#include "request_posts.h"

#include "../tracelib/history_advance.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stopline::replay {

namespace {

/// The end of a call without what it told by chance of receives that were posted at `open` or later.
trace::EventDetails withoutOpen(trace::EventDetails end, const RequestPosts& posts, EventIndex open) {
    std::erase_if(end.completions, [&](const trace::Completion& completion) {
        const std::uint32_t serial = posts.serialOf(completion.request);
        return serial != RequestPosts::kNoSerial && posts[serial].place().first >= open.value();
    });
    return end;
}

} // namespace

std::uint64_t Recording::blocksRead(RankId rank) const {
    return m_feeds[std::size_t(rank.value())]->reader.blocksRead();
}

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

/// Of the events that are in the timeline.
std::uint64_t Recording::share() const {
    std::vector<std::uint64_t> kept;
    for (const auto& feed : m_feeds) {
        kept.push_back(m_timeline->lastEvent(feed->rank).value() + 1 - m_timeline->firstEvent(feed->rank).value());
    }
    return historyShare(std::move(kept), m_mostEvents);
}

bool Recording::startDue() const {
    const bool gaps = std::any_of(m_feeds.begin(), m_feeds.end(), [](const auto& feed) { return feed->gap; });
    return gaps || (m_mostEvents != 0 && share() != std::numeric_limits<std::uint64_t>::max());
}

void Recording::takeOverComms(RankFeed& feed, const Timeline& old) {
    for (std::uint32_t comm = 0; comm < feed.commsRecorded; ++comm) {
        m_timeline->addComm(feed.rank, old.comm(feed.rank, CommIndex{comm}));
    }
}

/// Takes over what has been compared equal: the first `made` events of a rank, with the stops up to there. From `open`
/// (0: never) see upTo().
void Recording::keep(RankFeed& feed, const Timeline& old, std::uint64_t made, EventIndex open) {
    if (feed.firstJunction && feed.firstJunction->value() >= made) {
        feed.firstJunction.reset(); // nothing of a later execution is taken over
    } else if (feed.firstJunction) {
        m_timeline->setJoined(feed.rank, *feed.firstJunction);
    }
    if (feed.recordedOrigin != 0) {
        m_timeline->setOrigin(feed.rank, feed.recordedOrigin);
    }
    std::vector<DetailsId> ids; // by id in the old timeline; kNoDetails: not taken over yet
    constexpr DetailsId kNoDetails{std::numeric_limits<std::uint32_t>::max()};
    feed.lastTime = 0;
    RequestPosts posts;
    const EventIndex from = std::max(old.firstEvent(feed.rank), m_timeline->firstEvent(feed.rank));
    for (EventIndex event = from; event.value() <= made; event = EventIndex(event.value() + 1)) {
        const DetailsId id = old.eventDetails(feed.rank, event);
        if (ids.size() <= id.value()) {
            ids.resize(id.value() + std::size_t{1}, kNoDetails);
        }
        DetailsId& kept = ids[id.value()];
        if (kept == kNoDetails) {
            const trace::EventDetails& details = old.details(feed.rank, id);
            kept = m_timeline->addDetails(feed.rank, details);
            feed.known.emplace(keyOf(details), kept);
        }
        DetailsId told = kept;
        if (open.value() != 0) {
            const trace::EventDetails& details = old.details(feed.rank, id);
            if (details.kind == trace::EventKind::Begin) {
                posts.begin(event.value(), details);
            } else if (tellsOfFreed(details) && !details.completions.empty()) {
                told = intern(feed, withoutOpen(details, posts, open));
            }
        }
        std::uint64_t failures = 0;
        if (const auto ref = old.callAt(feed.rank, event)) {
            const Call call = old.call(*ref);
            feed.lastTime = std::max(feed.lastTime, call.begin == event ? call.beginTime : call.endTime);
            failures = call.end == event ? call.pollFailures : 0;
        }
        m_timeline->addEvent(feed.rank, told, feed.lastTime, failures);
    }
    const std::vector<trace::StopRecord> stops = std::exchange(feed.recordedStops, {});
    feed.recordedHeld = 0;
    for (const trace::StopRecord& stop : stops) {
        if (stop.event.value() <= made) {
            keepStop(feed, stop);
        }
    }
}

/// What has been recorded goes to another recording; this one has none of it any more, and begins with an empty timeline.
std::unique_ptr<Recording> Recording::handOver() {
    auto taken = std::make_unique<Recording>(m_jobs.all().front().size);
    taken->addJobs(m_jobs);
    std::swap(taken->m_timeline, m_timeline);
    addJobs(JobTable(m_jobs));
    taken->m_races = std::exchange(m_races, RaceAnalysis());
    taken->m_planned = std::exchange(m_planned, {}); // by event numbers that need not be those of the same calls any more
    taken->m_foundRaces = std::exchange(m_foundRaces, {});
    m_logs.reset();
    taken->m_outside = m_outside;
    taken->m_sitesMoved = m_sitesMoved;
    taken->m_mostEvents = m_mostEvents;
    for (std::size_t i = 0; i < m_feeds.size(); ++i) {
        const RankFeed& from = *m_feeds[i];
        RankFeed& to = *taken->m_feeds[i];
        to.recordedBefore = taken->m_timeline->lastEvent(to.rank);
        to.commsRecorded = from.commsRecorded;
        to.brokenOff = taken->m_timeline->brokenOff(to.rank);
        to.start = from.start != nullptr ? std::make_unique<trace::HistoryStart>(*from.start) : nullptr;
        to.startTold = from.startTold;
        to.openPoll = from.openPoll;
        to.openFailures = from.openFailures;
        to.known = from.known;
        to.recordedOrigin = from.recordedOrigin;
        to.firstJunction = from.firstJunction;
        to.recordedStops = from.recordedStops;
        to.recordedHeld = from.recordedHeld;
        to.lastTime = from.lastTime;
    }
    return taken;
}

/// How many communicators a rank has had made by the end of this event.
std::uint32_t Recording::commsUpTo(const Timeline& timeline, RankId rank, EventIndex last, std::uint32_t all) {
    for (EventIndex event(last.value() + 1); event <= timeline.lastEvent(rank); event = EventIndex(event.value() + 1)) {
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, event));
        if (details.kind == trace::EventKind::End && details.newComm != kNoComm) {
            all = std::min(all, details.newComm.value());
        }
    }
    return all;
}

std::unique_ptr<Recording> Recording::upTo(const std::vector<EventIndex>& last, std::vector<OrderEntries> planned, MaybeCall open) const {
    auto made = std::make_unique<Recording>(m_jobs.all().front().size);
    made->addJobs(m_jobs);
    made->m_planned = std::move(planned);
    made->m_sitesMoved = m_sitesMoved;
    made->m_mostEvents = m_mostEvents;
    for (std::size_t i = 0; i < m_feeds.size(); ++i) {
        const RankFeed& from = *m_feeds[i];
        RankFeed& to = *made->m_feeds[i];
        to.commsRecorded = commsUpTo(*m_timeline, to.rank, last[i], from.commsRecorded);
        made->takeOverComms(to, *m_timeline);
        to.recordedOrigin = from.recordedOrigin;
        to.firstJunction = from.firstJunction;
        to.recordedStops = from.recordedStops;
        made->keep(to, *m_timeline, last[i].value(), open && open->rank == to.rank ? m_timeline->call(*open).begin : EventIndex{0});
    }
    return made;
}

std::unique_ptr<Recording> Recording::branch() {
    std::unique_ptr<Recording> taken = handOver();
    const Timeline* old = taken->m_timeline.get();
    for (auto& feed : m_feeds) {
        feed->known.clear();
        feed->toTimeline.clear();
        feed->different = false;
        feed->freed.clear();
        feed->openPoll = EventIndex(0);
        feed->commsSeen = 0;
        for (const trace::CommInfo& comm : feed->reader.comms()) {
            m_timeline->addComm(feed->rank, inRows(feed->rank, comm));
            ++feed->commsSeen;
        }
        feed->commsRecorded = feed->commsSeen;
        const std::uint64_t done = feed->reader.firstEvent().value() + feed->consumed;
        if (feed->start != nullptr && done < feed->start->firstEvent) {
            // This execution has not come to where the recorded history starts: what it has done is not known.
            *feed->start = trace::HistoryStart{};
            feed->start->firstEvent = done;
            feed->start->incomplete = 1;
        }
        feed->startTold = false;
        tellStart(*feed, 0);
        const std::uint64_t first = feed->reader.firstEvent().value();
        keep(*feed, *old, first == 0 ? 0 : first + feed->consumed - 1);
        // What this execution does from here on goes on behind it.
        feed->firstExecution = feed->recordedOrigin == 0;
        feed->shifted = false;
        append(*feed, feed->reader.events().size());
        m_timeline->setBrokenOff(feed->rank, feed->brokenOff);
        if (feed->firstExecution || feed->shifted) {
            takeStops(*feed);
        }
    }
    return taken;
}

std::unique_ptr<Recording> Recording::startAnew() {
    const std::uint64_t most = share();
    const std::vector<OrderEntries> planned = m_planned;
    std::unique_ptr<Recording> before = handOver();
    m_planned = planned; // it is the same execution
    const Timeline* old = before->m_timeline.get();
    bool anyGap = false;
    for (auto& feed : m_feeds) {
        feed->known.clear();
        feed->toTimeline.clear();
        takeOverComms(*feed, *old);
        const std::uint64_t last = old->lastEvent(feed->rank).value();
        std::uint64_t first = old->firstEvent(feed->rank).value();
        if (feed->gap) {
            feed->gap = false;
            feed->names.clear();
            feed->start = std::make_unique<trace::HistoryStart>(*feed->reader.start());
            if (feed->recordedOrigin != 0) {
                m_timeline->setOrigin(feed->rank, feed->recordedOrigin);
            }
            if (feed->firstJunction) {
                m_timeline->setJoined(feed->rank, *feed->firstJunction);
            }
            feed->startTold = false;
            for (const trace::StopRecord& stop : std::exchange(feed->recordedStops, {})) {
                feed->recordedHeld -= stop.end - stop.begin;
                keepStop(*feed, stop);
            }
            m_timeline->setUnread(feed->rank, EventIndex{last + 1});
            const bool broken = old->brokenOff(feed->rank);
            before->m_timeline->setBrokenOff(feed->rank, true);
            before->m_feeds[std::size_t(feed->rank.value())]->brokenOff = true;
            anyGap = true;
            append(*feed, feed->reader.events().size());
            m_timeline->setBrokenOff(feed->rank, broken);
            continue;
        }
        const EventIndex unread = last + 1 - first > most ? EventIndex{0} : old->unreadFrom(feed->rank);
        if (last + 1 - first > most) {
            trace::HistoryAdvance advance(feed->start.get());
            const std::uint64_t goal = last - most / 4 * 3;
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
        m_timeline->setUnread(feed->rank, unread);
    }
    return anyGap ? std::move(before) : nullptr;
}

} // namespace stopline::replay
