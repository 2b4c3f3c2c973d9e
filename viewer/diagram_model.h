// What the diagram keeps of a timeline so that building a view costs little: coordinates of calls and
// messages on both axes, summaries, the side lists of what is always drawn. Grows incrementally.
#pragma once

#include "../replay/timeline.h"
#include "../tracelib/mapping.h"
#include "aggregate.h"
#include "axis_view.h"
#include "call_bins.h"
#include "diagram_widget.h"
#include "race_index.h"

#include <optional>
#include <span>
#include <vector>

namespace stopline::viewer {

/// How much later than its receive a send may seem to be because of recorded times alone: each of the two is
/// off by up to the recorder's tolerance.
inline constexpr std::int64_t kBackwardsSlack = 2 * trace::kDefaultToleranceNs;

/// A message with its ends on both axes. A side that is not known has row -1.
struct TrackMessage {
    std::int64_t timeFrom = 0; ///< send's begin
    std::int64_t timeTo = 0;   ///< end of the call that completed it
    std::int64_t eventFrom = 0;
    std::int64_t eventTo = 0;
    std::int32_t sender = -1;
    std::int32_t receiver = -1;
    std::uint32_t sendCall = 0;
    std::uint32_t postCall = 0;
    std::uint32_t doneCall = 0;
    replay::MessageState state = replay::MessageState::Unreceived;
    bool hasSend = false;
    bool hasPost = false;
    bool hasDone = false;
    bool wildcard = false;

    [[nodiscard]] bool matched() const {
        return state == replay::MessageState::Matched && hasSend && hasDone;
    }
    /// Received before sent, by more than the recorder's rounding explains: the clocks differ.
    [[nodiscard]] bool backwards() const { return matched() && timeFrom - timeTo > kBackwardsSlack; }
    [[nodiscard]] std::int64_t from(Axis axis) const { return axis == Axis::Time ? timeFrom : eventFrom; }
    [[nodiscard]] std::int64_t to(Axis axis) const { return axis == Axis::Time ? timeTo : eventTo; }
};

/// A collective reduced to where its members entered.
struct TrackCollective {
    std::int64_t timeFirst = 0;
    std::int64_t timeLast = 0; ///< the last enter
    std::int64_t eventFirst = 0;
    std::int64_t eventLast = 0;
    bool complete = false; ///< all members arrived
    bool mismatch = false;
    std::int32_t firstRow = 0; ///< of its members
    std::int32_t lastRow = -1;
};

class DiagramModel {
  public:
    void setTimeline(const replay::Timeline* timeline);
    /// Takes in what the timeline has more than before.
    void update();
    /// Replaces them; setTimeline() drops them.
    void setRaces(std::vector<RaceMark> races);

    [[nodiscard]] const replay::Timeline* timeline() const { return m_timeline; }
    [[nodiscard]] int ranks() const { return int(m_tracks.size()); }
    [[nodiscard]] std::span<const TrackCall> calls(int rank) const {
        return m_tracks[std::size_t(rank)].calls;
    }
    [[nodiscard]] Aggregate summary(int rank, std::size_t from, std::size_t to) const;
    /// The widest bins of a rank that are not wider than `units`; nothing if calls are too few for bins as
    /// narrow as that. Bins of an axis are made when they are first asked for.
    [[nodiscard]] std::optional<CallBins::Level> bins(int rank, Axis axis, double units) const;
    [[nodiscard]] std::span<const TrackMessage> messages() const { return m_messages; }
    /// Messages that are not matched: always drawn.
    [[nodiscard]] std::span<const std::uint32_t> openMessages() const { return m_open; }
    [[nodiscard]] std::span<const TrackCollective> collectives() const { return m_collectives; }
    [[nodiscard]] const RaceIndex& races() const { return m_races; }
    [[nodiscard]] bool empty() const { return m_callCount == 0; }
    [[nodiscard]] std::size_t callCount() const { return m_callCount; }
    /// Matched messages whose receive ends before their send begins, on the time axis, by more than
    /// kBackwardsSlack.
    [[nodiscard]] std::size_t backwards() const { return m_backwards; }

    /// Coordinates of a call's ends; the end of an unfinished call is `nowEdge`.
    [[nodiscard]] static std::int64_t begin(const TrackCall& call, Axis axis) {
        return axis == Axis::Time ? call.timeBegin : call.eventBegin;
    }
    [[nodiscard]] std::int64_t end(int rank, const TrackCall& call, Axis axis) const {
        return call.open() ? nowEdge(rank, axis) : axis == Axis::Time ? call.timeEnd : call.eventEnd;
    }
    /// Up to where the recording of a rank is known: the end of its last call; if that is unfinished, the
    /// job's present on the time axis (a little beyond the last event), one event further on the event axis.
    [[nodiscard]] std::int64_t nowEdge(int rank, Axis axis) const;
    /// The greatest coordinate of anything recorded.
    [[nodiscard]] std::int64_t extent(Axis axis) const {
        return axis == Axis::Time ? m_timeExtent : m_eventExtent;
    }
    /// Where a place lies. Event 0 is at the left end.
    [[nodiscard]] std::int64_t position(int rank, const replay::Place& place, Axis axis) const;
    /// The coordinate of an event.
    [[nodiscard]] std::int64_t position(int rank, EventIndex event, Axis axis) const;

    /// The call under a unit: the one that covers it, else the nearest begin or end within `slack` units;
    /// where several calls lie within the slack, the worst of them.
    [[nodiscard]] std::optional<replay::CallRef> callNear(int rank, std::int64_t unit, std::int64_t slack,
                                                          Axis axis) const;
    /// First call that begins at or after a unit.
    [[nodiscard]] std::size_t lowerCall(int rank, std::int64_t unit, Axis axis) const;

    /// Messages [first, last) of block b, and whether any of them can lie in a span: to skip what is out of
    /// view.
    static constexpr std::size_t kMessageBlock = 256;
    struct MessageBlock {
        std::int64_t timeLow = INT64_MAX;
        std::int64_t timeHigh = INT64_MIN;
        std::int64_t eventLow = INT64_MAX;
        std::int64_t eventHigh = INT64_MIN;
    };
    [[nodiscard]] std::span<const MessageBlock> messageBlocks() const { return m_blocks; }

  private:
    struct Track {
        std::vector<TrackCall> calls;
        CallForest forest;
        mutable CallBins timeBins{&TrackCall::timeBegin};   // grow when asked for
        mutable CallBins eventBins{&TrackCall::eventBegin}; // likewise
        std::vector<std::uint32_t> open;
    };
    void clear();
    void updateTrack(int rank);
    void updateMessages(bool all);
    void updateCollectives(bool all);
    void updateRaces();
    void fill(int rank, std::uint32_t index, TrackCall& call) const;
    void fillMessage(std::size_t index);
    [[nodiscard]] bool moved(int rank) const;

    const replay::Timeline* m_timeline = nullptr;
    std::vector<Track> m_tracks;
    std::vector<TrackMessage> m_messages;
    std::vector<MessageBlock> m_blocks;
    std::vector<std::uint32_t> m_open;
    std::vector<TrackCollective> m_collectives;
    std::vector<std::uint32_t> m_openCollectives;
    RaceIndex m_races;
    std::size_t m_callCount = 0;
    std::size_t m_backwards = 0;
    std::int64_t m_timeExtent = 1;
    std::int64_t m_eventExtent = kUnitsPerEvent;
};

} // namespace stopline::viewer
