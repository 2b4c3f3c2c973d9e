// The order logs of a recording's ranks: what the next execution has to follow to be the recorded one.

#include "recording.h"

#include "recording_feed.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

void Recording::setFoundRaces(std::vector<FoundRaces> found) {
    m_foundRaces = std::move(found);
    for (auto& feed : m_feeds) {
        feed->order.known = false;
    }
}

OrderLog Recording::orderLog(RankId rank, const OrderMarks& marks) const {
    return makeOrderLog(rank, &marks);
}

std::uint64_t Recording::openFailures(RankId rank) const {
    const RankFeed& feed = *m_feeds[std::size_t(rank.value())];
    return feed.openPoll == m_timeline->lastEvent(rank) ? feed.openFailures : 0;
}

OrderLog Recording::makeOrderLog(RankId rank, const OrderMarks* marks) const {
    const auto index = std::size_t(rank.value());
    // Marks are found in the whole recording, whatever else is known of its races.
    const bool racing = marks == nullptr && index < m_foundRaces.size();
    return orderLogOf(*m_timeline, rank, openFailures(rank), index < m_planned.size() ? m_planned[index] : OrderEntries(), marks,
                      racing ? &m_foundRaces[index] : nullptr);
}

const OrderLog& Recording::orderLog(RankId rank) const {
    const EventIndex last = m_timeline->lastEvent(rank);
    const std::uint64_t failures = openFailures(rank);
    OrderCache& cache = m_feeds[std::size_t(rank.value())]->order;
    // All events of the rank are gone through: once for as many of them, as each journey asks.
    if (!cache.known || cache.last != last || cache.openFailures != failures || cache.jobs != m_jobs.all().size()) {
        cache.log = makeOrderLog(rank, nullptr);
        cache.last = last;
        cache.openFailures = failures;
        cache.jobs = m_jobs.all().size();
        cache.known = true;
    }
    return cache.log;
}

/// How often the poll has failed that the rank is in, if it is in one.
void Recording::noteOpenPoll(RankFeed& feed, const trace::RankImage& image) {
    if (image.header.size() < sizeof(trace::MappingHeader)) {
        return;
    }
    const auto* header = reinterpret_cast<const trace::MappingHeader*>(image.header.data());
    const EventIndex event(header->eventCount.load(std::memory_order_relaxed));
    const std::uint64_t failures = header->pollFailures.load(std::memory_order_relaxed);
    if (header->pollOpen.load(std::memory_order_relaxed) == 0 || event < feed.openPoll) {
        return;
    }
    feed.openFailures = event == feed.openPoll ? std::max(feed.openFailures, failures) : failures;
    feed.openPoll = event;
}

} // namespace stopline::replay
