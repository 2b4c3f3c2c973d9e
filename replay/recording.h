// The recording of a job: feeds what the ranks' mappings hold into the timeline, and compares what is executed again.
#pragma once

#include "../tracelib/reader.h"
#include "order_log.h"
#include "replay_by.h"
#include "timeline.h"

#include <QString>

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace stopline::replay {

struct LogsOf;
struct LogsProgress;
struct ReplayLogs;

/// The first event at which an execution differs from the recording.
struct Difference {
    RankId rank{0};
    EventIndex event{0};
    trace::EventDetails recorded;
    trace::EventDetails executed; ///< its requests by the names that they have in the recording
    bool communicator = false; ///< the communicators differ, not the events
    bool sitesMayBeOne = false; ///< the call sites differ as code is elsewhere now, and may be one
};

class Recording {
  public:
    /// Starts over with an empty timeline.
    explicit Recording(std::int32_t ranks);
    ~Recording();

    [[nodiscard]] const Timeline& timeline() const { return *m_timeline; }
    [[nodiscard]] const JobTable& jobs() const { return m_jobs; }
    /// Rows for those jobs of the table that are not known yet; it begins with the ones that are.
    void addJobs(const JobTable& jobs);

    /// The code is to be elsewhere in the executions that follow, as the recorded one left its addresses to the system:
    /// call sites need only correspond one to one. Those of the recording are kept.
    void setSitesMoved() { m_sitesMoved = true; }

    /// A new execution follows: its events are compared with the recording as far as that reaches, then appended.
    void beginExecution();
    /// Takes in what is new in a rank's image. Returns the first difference, once; after that the rank's events are kept
    /// aside until branch() or beginExecution(). `error` gets what is wrong with the trace, if anything.
    std::optional<Difference> feed(RankId rank, const trace::RankImage& image, QString& error);
    /// The same in pieces: read() decodes what is new in the image, about `most` events of it (see behind()), take()
    /// then takes in some more of them, for about `budget`, and says whether that was all. Between two of them the
    /// timeline is whole as far as it reaches.
    [[nodiscard]] QString read(RankId rank, const trace::RankImage& image, std::size_t most = std::size_t(-1));
    [[nodiscard]] bool behind(RankId rank) const; ///< the last read() has left something for the next
    /// Where the blocks end that have been decoded of a rank's image in this execution: it may let go of them.
    [[nodiscard]] std::uint64_t blocksRead(RankId rank) const;
    struct Taken {
        bool all = true;
        std::optional<Difference> difference;
    };
    [[nodiscard]] Taken take(RankId rank, std::chrono::microseconds budget);
    /// Whether the rank, as far as this execution has been read, has done more than it could record.
    void noteEnd(RankId rank, bool brokenOff);
    /// Events of a rank have been overwritten before they could be read, or there are more of them than are to be kept:
    /// startAnew() is due. Until then what is new of that rank is kept aside.
    [[nodiscard]] bool startDue() const;
    /// Replaces the timeline by one in which these ranks start later. Where events could not be read, what had been read
    /// before them is returned as a recording of its own, in which these ranks are broken off; else nothing.
    std::unique_ptr<Recording> startAnew();
    /// Most events of all ranks together that are kept; 0: all. When there are more, the ranks with the most keep three
    /// quarters of what each may have.
    void setMostEvents(std::uint64_t most) { m_mostEvents = most; }

    /// Replaces the recording by what the present execution has done so far. What has been compared equal keeps its
    /// recorded times; the rest follows it. Returns what was recorded before.
    std::unique_ptr<Recording> branch();
    /// A recording of the events up to these, by rank, as a beginning that other executions share with this one. They do
    /// besides what is planned, by rank, for calls of which nothing is recorded yet. Receives that the call `open` and later
    /// ones of its rank have posted may get something else there: what was told by chance of those whose requests were freed
    /// is left out.
    [[nodiscard]] std::unique_ptr<Recording> upTo(const std::vector<EventIndex>& last, std::vector<OrderEntries> planned,
                                                  MaybeCall open = {}) const;

    /// The races of the timeline, as far as it has been looked at.
    [[nodiscard]] const RaceAnalysis& races() const { return m_races; }
    /// Looks at about so many events more of it. Returns whether that was all.
    bool findRaces(std::uint64_t mostEvents) { return m_races.update(*m_timeline, mostEvents); }

    /// The first call that has been read which has started processes that have no rows, or joined them.
    struct Outside {
        RankId rank{0};
        trace::FunctionId function{};
        CodeAddress site{0};
    };
    [[nodiscard]] const std::optional<Outside>& outside() const { return m_outside; }

    /// What the next execution has to follow to be the recorded one. By tag, all races must have been found. Any thread may
    /// do it while nobody changes this recording, not even by looking for races; times of the axis must have been asked for
    /// before. Null once it is cancelled.
    [[nodiscard]] std::shared_ptr<const ReplayLogs> makeReplayLogs(ReplayBy how, LogsProgress& progress) const;
    /// What was made last, if it is made so and still holds; else null.
    [[nodiscard]] std::shared_ptr<const ReplayLogs> replayLogs(ReplayBy how) const;
    void keepReplayLogs(std::shared_ptr<const ReplayLogs> logs) { m_logs = std::move(logs); }
    /// The ranks of the recorded execution have found all its races themselves, by rank: the next one is forced in those
    /// alone. Branches, and what is planned, are followed in everything.
    void setFoundRaces(std::vector<FoundRaces> found);
    /// Something has been planned for calls of which nothing is recorded yet.
    [[nodiscard]] bool hasPlans() const { return !m_planned.empty(); }

    /// Number of the last event of this execution that has been read, by rank.
    [[nodiscard]] EventIndex executed(RankId rank) const;
    /// Number of events compared equal in this execution, smallest over the ranks that have run again.
    [[nodiscard]] bool replaying(RankId rank) const; ///< executed() is before the end of the recording
    /// Last event of this execution that was recorded by an earlier one and is the same now; 0 in a first execution.
    [[nodiscard]] EventIndex comparedEqual(RankId rank) const;
    /// Last event that earlier executions have recorded.
    [[nodiscard]] EventIndex recordedBefore(RankId rank) const;

  private:
    struct RankFeed;
    [[nodiscard]] std::uint64_t openFailures(RankId rank) const;
    [[nodiscard]] LogsOf logsNow(ReplayBy how) const;
    static void noteOpenPoll(RankFeed& feed, const trace::RankImage& image);
    void join(RankFeed& feed);
    [[nodiscard]] static TimeNs heldBefore(const RankFeed& feed, EventIndex event);
    [[nodiscard]] std::optional<TimeNs> aheadOf(const RankFeed& feed) const;
    void append(RankFeed& feed, std::size_t to);
    std::optional<Difference> compare(RankFeed& feed, std::size_t to);
    [[nodiscard]] bool same(RankFeed& feed, EventIndex event, const trace::EventDetails& executed);
    [[nodiscard]] static bool siteMayBe(const RankFeed& feed, DetailsId executedRaw, CodeAddress recorded);
    bool sameAtMovedSite(RankFeed& feed, DetailsId executedRaw, EventIndex event, const trace::EventDetails& executed);
    std::optional<Difference> takeComms(RankFeed& feed);
    void takeStops(RankFeed& feed);
    void keepStop(RankFeed& feed, const trace::StopRecord& stop);
    void keep(RankFeed& feed, const Timeline& old, std::uint64_t made, EventIndex open = EventIndex{0});
    std::unique_ptr<Recording> handOver();
    [[nodiscard]] static std::uint32_t commsUpTo(const Timeline& timeline, RankId rank, EventIndex last, std::uint32_t all);
    void beginBehind(RankFeed& feed);
    void tellStart(RankFeed& feed, std::size_t to);
    void takeOverComms(RankFeed& feed, const Timeline& old);
    [[nodiscard]] std::uint64_t share() const;
    DetailsId translate(RankFeed& feed, DetailsId id);
    DetailsId intern(RankFeed& feed, const trace::EventDetails& details);
    void noteOutside(const RankFeed& feed, const trace::EventDetails& details);
    [[nodiscard]] trace::CommInfo inRows(RankId rank, trace::CommInfo info) const;
    DetailsId toAppend(RankFeed& feed, DetailsId id);

    JobTable m_jobs;
    std::unique_ptr<Timeline> m_timeline;
    RaceAnalysis m_races; ///< of the timeline; anew where that is replaced
    std::vector<OrderEntries> m_planned; ///< by rank; empty: nothing is
    std::vector<FoundRaces> m_foundRaces; ///< by rank; empty: they are not known
    std::shared_ptr<const ReplayLogs> m_logs;
    std::vector<std::unique_ptr<RankFeed>> m_feeds;
    std::optional<Outside> m_outside;
    bool m_sitesMoved = false;
    std::uint64_t m_mostEvents = 0;
};

} // namespace stopline::replay
