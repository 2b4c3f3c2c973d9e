// The order logs of a recording's ranks: what the next execution has to follow to be the recorded one.

#include "recording.h"

#include "recording_feed.h"
#include "replay_logs.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

void Recording::setFoundRaces(std::vector<FoundRaces> found) {
    m_foundRaces = std::move(found);
    m_logs.reset();
}

std::uint64_t Recording::openFailures(RankId rank) const {
    const RankFeed& feed = *m_feeds[std::size_t(rank.value())];
    return feed.openPoll == m_timeline->lastEvent(rank) ? feed.openFailures : 0;
}

LogsOf Recording::logsNow(ReplayBy how) const {
    LogsOf now;
    now.how = how;
    for (std::int32_t rank = 0; rank < m_timeline->rankCount(); ++rank) {
        now.last.push_back(m_timeline->lastEvent(RankId(rank)));
        now.openFailures.push_back(openFailures(RankId(rank)));
    }
    return now;
}

std::shared_ptr<const ReplayLogs> Recording::makeReplayLogs(ReplayBy how, LogsProgress& progress) const {
    auto made = std::make_shared<ReplayLogs>();
    made->of = logsNow(how);
    if (how != ReplayBy::Source) {
        made->marks = std::make_shared<const OrderMarks>(
            m_races.orderMarks(how == ReplayBy::TagBounded ? m_timeline.get() : nullptr, &progress.cancelled));
    }
    for (std::size_t i = 0; i < made->of.last.size() && !progress.cancelled; ++i) {
        progress.rank = int(i);
        // Marks are found in the whole recording, whatever else is known of its races.
        const bool racing = made->marks == nullptr && i < m_foundRaces.size();
        made->ranks.push_back(orderLogOf(*m_timeline, RankId(std::int32_t(i)), made->of.openFailures[i],
                                         i < m_planned.size() ? m_planned[i] : OrderEntries(), made->marks.get(),
                                         racing ? &m_foundRaces[i] : nullptr, &progress.cancelled));
    }
    return progress.cancelled ? nullptr : made;
}

std::shared_ptr<const ReplayLogs> Recording::replayLogs(ReplayBy how) const {
    return m_logs != nullptr && m_logs->of == logsNow(how) ? m_logs : nullptr;
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
