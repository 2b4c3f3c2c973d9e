// Turns events into messages and collectives: decides by the class of a call what its begin and its end mean.
#pragma once

#include "matcher.h"
#include "matcher_collectives.h"
#include "one_sided.h"

namespace stopline::replay {

class Recorder {
  public:
    explicit Recorder(TimelineData& data) : m_data(data), m_matcher(data), m_collectives(data), m_oneSided(data) {}

    DetailsId addDetails(std::int32_t rank, trace::EventDetails details);
    CommIndex addComm(std::int32_t rank, trace::CommInfo info);
    void setStart(std::int32_t rank, const trace::HistoryStart& start);
    void addEvent(std::int32_t rank, DetailsId details, TimeNs time, std::uint64_t pollFailures);
    void addEvents(std::int32_t rank, std::span<const NewEvent> events);

  private:
    void begin(std::int32_t rank, std::uint32_t call, std::uint32_t details);
    void end(std::int32_t rank, std::uint32_t call, trace::CallClass callClass, std::uint32_t details);
    void start(std::int32_t rank, std::uint32_t call, const trace::EventDetails& details);
    void complete(std::int32_t rank, std::uint32_t call, const trace::EventDetails& details);
    /// `call` has completed the halves that the call `made` made, one or both.
    void finishBoth(std::int32_t rank, std::uint32_t made, std::uint32_t call, const trace::Status& status);
    /// MPI has refused the call: what its begin made is taken back.
    void refuse(std::int32_t rank, std::uint32_t call);
    /// The end of a call that takes part in a collective from its begin to its end.
    void finishCollective(std::int32_t rank, std::uint32_t call, trace::CallClass callClass,
                          const trace::EventDetails& details);
    Request* request(std::int32_t rank, trace::RequestRef ref);
    // What began before the start of the history (timeline_early.cpp).
    [[nodiscard]] EarlyRequest* earlyRequest(std::int32_t rank, trace::RequestRef ref);
    void completeEarly(std::int32_t rank, trace::RequestRef ref, const trace::Status& status);
    void startEarly(std::int32_t rank, std::uint32_t call, trace::RequestRef ref);
    /// The end of a call that began there; false when `details` is none.
    bool endEarly(std::int32_t rank, std::uint32_t details);
    void noteSeen(std::int32_t rank, std::uint32_t comm, std::int32_t peer, std::int32_t tag);
    void missMessages(std::int32_t rank, std::uint32_t comm, std::int32_t peer, std::int32_t tag, bool sends,
                      std::int64_t count);

    TimelineData& m_data;
    Matcher m_matcher;
    CollectiveTable m_collectives;
    OneSided m_oneSided;
};

} // namespace stopline::replay
