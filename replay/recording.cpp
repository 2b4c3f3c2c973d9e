#include "recording.h"

#include "recording_feed.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace stopline::replay {

Recording::Recording(std::int32_t ranks) : m_jobs(ranks), m_timeline(std::make_unique<Timeline>(ranks)) {
    addJobs(m_jobs);
}

void Recording::addJobs(const JobTable& jobs) {
    m_jobs = jobs;
    for (const JobRanks& job : jobs.all()) {
        if (job.first + job.size > m_timeline->rankCount()) {
            m_timeline->addJob(job);
        }
    }
    while (m_feeds.size() < std::size_t(jobs.rankCount())) {
        m_feeds.push_back(std::make_unique<RankFeed>());
        m_feeds.back()->rank = RankId(std::int32_t(m_feeds.size()) - 1);
    }
}

Recording::~Recording() = default;

void Recording::beginExecution() {
    // One before which nothing has been recorded is the first, whose clocks all others follow.
    const bool first = std::all_of(m_feeds.begin(), m_feeds.end(), [this](const auto& feed) {
        return m_timeline->lastEvent(feed->rank).value() == 0 && feed->recordedHeld == 0;
    });
    for (auto& feed : m_feeds) {
        feed->reader = trace::RankReader();
        feed->recordedBefore = m_timeline->lastEvent(feed->rank);
        feed->consumed = 0;
        feed->starts = 0;
        feed->gap = false;
        feed->lastExecuted = 0;
        feed->commsSeen = 0;
        feed->stopsSeen = 0;
        feed->different = false;
        feed->brokenOff = false;
        feed->freed.clear();
        feed->names.clear();
        feed->recordedSite.clear();
        feed->executedSite.clear();
        feed->toTimeline.clear();
        feed->firstExecution = first;
        feed->shifted = false;
    }
}

void Recording::noteOutside(const RankFeed& feed, const trace::EventDetails& details) {
    const trace::CallClass callClass = trace::functionClass(details.function);
    const bool joins = callClass == trace::CallClass::CommSpawn || callClass == trace::CallClass::CommJoin;
    if (m_outside || !joins || details.newComm.value() >= feed.commsRecorded) {
        return;
    }
    const std::vector<std::int32_t>& others = m_timeline->comm(feed.rank, details.newComm).remote;
    if (std::find(others.begin(), others.end(), -1) != others.end()) {
        m_outside = Outside{feed.rank, details.function, details.site};
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
        noteOutside(feed, details);
        trace::EventDetails moved;
        if (const auto site = feed.recordedSite.find(details.site.value()); m_sitesMoved && site != feed.recordedSite.end()) {
            moved = details;
            moved.site = site->second;
        }
        translated = intern(feed, moved.site.value() != 0 ? moved : details);
    }
    return translated;
}

/// The timeline's number for details.
DetailsId Recording::intern(RankFeed& feed, const trace::EventDetails& details) {
    std::string key = keyOf(details);
    if (const auto it = feed.known.find(key); it != feed.known.end()) {
        return it->second;
    }
    const DetailsId added = m_timeline->addDetails(feed.rank, details);
    feed.known.emplace(std::move(key), added);
    return added;
}

/// What is held of a rank in this execution before an event.
TimeNs Recording::heldBefore(const RankFeed& feed, EventIndex event) {
    TimeNs held = 0;
    for (const trace::StopRecord& stop : feed.reader.stops()) {
        held += stop.event < event ? stop.end - stop.begin : 0;
    }
    return held;
}

/// By how much the recording is ahead of this execution where the rank was read last; nothing: it has not begun.
std::optional<TimeNs> Recording::aheadOf(const RankFeed& feed) const {
    if (feed.shifted) {
        return feed.wallShift;
    }
    const EventIndex last = comparedEqual(feed.rank);
    const auto ref = m_timeline->callAt(feed.rank, last);
    if (feed.firstExecution || feed.consumed == 0 || !ref || feed.recordedOrigin == 0) {
        return std::nullopt;
    }
    const Call call = m_timeline->call(*ref);
    TimeNs held = 0;
    for (const trace::StopRecord& stop : feed.recordedStops) {
        held += stop.event < last ? stop.end - stop.begin : 0;
    }
    const TimeNs recorded = feed.recordedOrigin + (call.begin == last ? call.beginTime : call.endTime) + held;
    return recorded - (feed.reader.originNs() + feed.lastExecuted + heldBefore(feed, last));
}

/// The recording goes on behind recorded ground: lets the first new event follow the last recorded one as it
/// followed its twin; later where another rank has fallen behind the recording by less, so that what that one sends now
/// is not received before.
void Recording::join(RankFeed& feed) {
    feed.junction = m_timeline->lastEvent(feed.rank);
    if (!feed.firstJunction) {
        feed.firstJunction = feed.junction;
        m_timeline->setJoined(feed.rank, feed.junction);
    }
    const TimeNs twin = feed.lastExecuted;
    const TimeNs wallNow = feed.reader.originNs() + twin + heldBefore(feed, feed.junction);
    const TimeNs own = feed.recordedOrigin + feed.lastTime + feed.recordedHeld - wallNow;
    TimeNs most = own;
    for (const auto& other : m_feeds) {
        most = std::max(most, other.get() == &feed ? own : aheadOf(*other).value_or(own));
    }
    feed.shifted = true;
    feed.shift = feed.lastTime - twin + (most - own);
    feed.wallShift = most;
}

/// The same for an event behind the recording's end.
DetailsId Recording::toAppend(RankFeed& feed, DetailsId id) {
    const DetailsId translated = translate(feed, id);
    if (feed.freed.empty() && feed.names.empty()) {
        return translated;
    }
    const trace::EventDetails& event = m_timeline->details(feed.rank, translated);
    feed.freed.pass(event);
    feed.names.pass(event);
    const bool ofFreed = !feed.freed.empty() && tellsOfFreed(event);
    if (!ofFreed && event.requests.empty() && event.completions.empty()) {
        return translated;
    }
    const trace::EventDetails told = ofFreed ? feed.freed.told(event) : feed.names.told(event);
    return told == event ? translated : intern(feed, told);
}

/// Appends the events from feed.consumed to `to`.
void Recording::append(RankFeed& feed, std::size_t to) {
    tellStart(feed, to);
    if (!feed.firstExecution && !feed.shifted) {
        join(feed);
    }
    if (feed.firstExecution && feed.recordedOrigin == 0) {
        const RankId spawner = m_jobs.all()[m_jobs.jobOf(feed.rank)].spawner;
        feed.wallShift = spawner.value() < 0 ? 0 : m_feeds[std::size_t(spawner.value())]->wallShift;
        feed.recordedOrigin = feed.reader.originNs() + feed.wallShift;
        m_timeline->setOrigin(feed.rank, feed.recordedOrigin);
    }
    constexpr std::size_t kBatch = 256;
    std::array<NewEvent, kBatch> batch;
    const auto& events = feed.reader.events();
    while (feed.consumed < to) {
        const std::size_t count = std::min(kBatch, to - feed.consumed);
        for (std::size_t i = 0; i < count; ++i) {
            const trace::DecodedEvent& event = events[feed.consumed + i];
            feed.lastTime = std::max(feed.lastTime, event.execution + feed.shift);
            batch[i] = {toAppend(feed, event.details), feed.lastTime, event.pollFailures};
        }
        m_timeline->addEvents(feed.rank, std::span(batch).first(count));
        feed.consumed += count;
        feed.lastExecuted = events[feed.consumed - 1].execution;
    }
}

/// Compares the events from feed.consumed to `to` with those recorded.
std::optional<Difference> Recording::compare(RankFeed& feed, std::size_t to) {
    const std::uint64_t first = feed.reader.firstEvent().value();
    for (; feed.consumed < to; ++feed.consumed) {
        const EventIndex number(first + feed.consumed);
        if (number < m_timeline->firstEvent(feed.rank)) {
            feed.lastExecuted = feed.reader.events()[feed.consumed].execution;
            continue; // before the start of the recorded history: there is nothing to compare it with
        }
        const DetailsId executed = translate(feed, feed.reader.events()[feed.consumed].details);
        const DetailsId recorded = m_timeline->eventDetails(feed.rank, number);
        if (!feed.freed.empty()) {
            feed.freed.pass(m_timeline->details(feed.rank, recorded));
        }
        if (!feed.names.empty()) {
            feed.names.pass(m_timeline->details(feed.rank, recorded));
        }
        if (executed != recorded || !feed.names.empty()) {
            const trace::EventDetails& now = m_timeline->details(feed.rank, executed);
            const trace::EventDetails& then = m_timeline->details(feed.rank, recorded);
            const DetailsId raw = feed.reader.events()[feed.consumed].details;
            if (m_sitesMoved && sameAtMovedSite(feed, raw, number, now)) {
                // That the site has moved is known from here on.
            } else if (!same(feed, number, now)) {
                feed.different = true;
                return Difference{feed.rank, number, then, feed.names.named(now), false, m_sitesMoved && siteMayBe(feed, raw, then.site)};
            }
            feed.freed.compare(now, then);
        }
        feed.lastExecuted = feed.reader.events()[feed.consumed].execution;
    }
    return std::nullopt;
}

/// Whether what is executed now is the recorded event of this number.
bool Recording::same(RankFeed& feed, EventIndex event, const trace::EventDetails& executed) {
    const auto shares = [&](trace::RequestRef ref) {
        const auto by = madeBy(*m_timeline, feed.rank, event, ref);
        return !by || mayShareHandle(m_timeline->details(feed.rank, m_timeline->eventDetails(feed.rank, *by)));
    };
    return feed.names.same(executed, m_timeline->details(feed.rank, m_timeline->eventDetails(feed.rank, event)), shares);
}

/// Whether the call site of a details of the reader may be the recorded one, moved: neither is known to be another one's.
bool Recording::siteMayBe(const RankFeed& feed, DetailsId executedRaw, CodeAddress recorded) {
    const CodeAddress raw = feed.reader.details(executedRaw).site;
    return raw.value() != 0 && recorded.value() != 0 && !feed.recordedSite.contains(raw.value()) &&
           !feed.executedSite.contains(recorded.value());
}

/// The events are the same but for their call sites, and these may be one: then they are from here on.
bool Recording::sameAtMovedSite(RankFeed& feed, DetailsId executedRaw, EventIndex event, const trace::EventDetails& executed) {
    const CodeAddress recorded = m_timeline->details(feed.rank, m_timeline->eventDetails(feed.rank, event)).site;
    if (executed.site == recorded || !siteMayBe(feed, executedRaw, recorded)) {
        return false; // no matter of sites, or one of them is another one's
    }
    trace::EventDetails now = executed;
    now.site = recorded;
    if (!same(feed, event, now)) {
        return false;
    }
    const CodeAddress raw = feed.reader.details(executedRaw).site;
    feed.recordedSite.emplace(raw.value(), recorded);
    feed.executedSite.emplace(recorded.value(), raw);
    feed.toTimeline.clear(); // what has been translated before with this site is to be again
    return true;
}

std::optional<Difference> Recording::takeComms(RankFeed& feed) {
    const auto& comms = feed.reader.comms();
    for (; feed.commsSeen < comms.size(); ++feed.commsSeen) {
        // A communicator known from the recording comes again under its own number.
        if (feed.commsSeen >= feed.commsRecorded) {
            m_timeline->addComm(feed.rank, inRows(feed.rank, comms[feed.commsSeen]));
            ++feed.commsRecorded;
        } else if (m_timeline->comm(feed.rank, CommIndex(feed.commsSeen)).id != comms[feed.commsSeen].id) {
            feed.different = true;
            return Difference{feed.rank, EventIndex(feed.consumed + 1), {}, {}, true};
        }
    }
    return std::nullopt;
}

void Recording::takeStops(RankFeed& feed) {
    const auto& stops = feed.reader.stops();
    for (; feed.stopsSeen < stops.size(); ++feed.stopsSeen) {
        trace::StopRecord stop = stops[feed.stopsSeen];
        if (!feed.firstExecution && (!feed.shifted || stop.event < feed.junction)) {
            continue; // held while going over recorded ground: not part of the history
        }
        stop.begin += feed.wallShift;
        stop.end += feed.wallShift;
        keepStop(feed, stop);
    }
}

void Recording::keepStop(RankFeed& feed, const trace::StopRecord& stop) {
    feed.recordedStops.push_back(stop);
    feed.recordedHeld += stop.end - stop.begin;
    m_timeline->addStop(feed.rank, stop);
}

QString Recording::read(RankId rank, const trace::RankImage& image, std::size_t most) {
    noteOpenPoll(*m_feeds[std::size_t(rank.value())], image);
    return QString::fromStdString(m_feeds[std::size_t(rank.value())]->reader.update(image, most));
}

bool Recording::behind(RankId rank) const {
    return m_feeds[std::size_t(rank.value())]->reader.behind();
}

Recording::Taken Recording::take(RankId rank, std::chrono::microseconds budget) {
    constexpr std::size_t kPiece = 4096; // events between two looks at the clock
    RankFeed& feed = *m_feeds[std::size_t(rank.value())];
    if (feed.different) {
        return {};
    }
    if (auto difference = takeComms(feed)) {
        return {true, std::move(difference)};
    }
    if (feed.starts != feed.reader.starts()) {
        feed.starts = feed.reader.starts();
        feed.consumed = 0;
        beginBehind(feed);
    }
    if (feed.gap) {
        return {};
    }
    const auto started = std::chrono::steady_clock::now();
    const std::size_t all = feed.reader.events().size();
    const std::uint64_t first = feed.reader.firstEvent().value();
    Taken taken;
    while (feed.consumed < all && taken.all) {
        std::size_t to = std::min(all, feed.consumed + kPiece);
        const std::uint64_t recorded = m_timeline->lastEvent(rank).value();
        if (first + feed.consumed > recorded) {
            append(feed, to);
        } else {
            to = std::min<std::size_t>(to, recorded + 1 - first);
            if (auto difference = compare(feed, to)) {
                return {true, std::move(difference)};
            }
        }
        taken.all = feed.consumed == all || std::chrono::steady_clock::now() - started < budget;
    }
    if (feed.consumed * 2 >= all) { // what is left is moved to the front: not for a few
        feed.reader.discard(feed.consumed);
        feed.consumed = 0;
    }
    if (taken.all) {
        takeStops(feed);
    }
    return taken;
}

std::optional<Difference> Recording::feed(RankId rank, const trace::RankImage& image, QString& error) {
    // In pieces that stay in the processor's cache.
    constexpr std::size_t kPiece = 1 << 14;
    std::optional<Difference> difference;
    do {
        error = read(rank, image, kPiece);
        if (Taken taken = take(rank, std::chrono::hours(24)); taken.difference) {
            difference = std::move(taken.difference);
        }
    } while (error.isEmpty() && behind(rank));
    return difference;
}

void Recording::noteEnd(RankId rank, bool brokenOff) {
    m_feeds[std::size_t(rank.value())]->brokenOff = brokenOff;
    // What a former execution has recorded beyond this one's end stays known, and so does where that broke off.
    if (!replaying(rank)) {
        m_timeline->setBrokenOff(rank, brokenOff);
    }
}

EventIndex Recording::executed(RankId rank) const {
    return m_feeds[std::size_t(rank.value())]->reader.lastEvent();
}

EventIndex Recording::recordedBefore(RankId rank) const {
    return m_feeds[std::size_t(rank.value())]->recordedBefore;
}

EventIndex Recording::comparedEqual(RankId rank) const {
    const RankFeed& feed = *m_feeds[std::size_t(rank.value())];
    const std::uint64_t first = feed.reader.firstEvent().value();
    const EventIndex taken(first == 0 ? 0 : first + feed.consumed - 1);
    return std::min(taken, feed.recordedBefore);
}

bool Recording::replaying(RankId rank) const {
    return executed(rank) < m_timeline->lastEvent(rank);
}

} // namespace stopline::replay
