// Gathers the calls of all members into collectives.
//
// The k-th collective that a rank starts on a communicator (blocking, non-blocking, constructors and
// Comm_free in one sequence, as MPI orders them) is its part of the k-th collective of that communicator.
// MPI_Init and MPI_Finalize are collectives of the world with sequences of their own. Comm_create_group and
// Intercomm_create do not involve all of a communicator: their members are those of the communicator they
// make, so that they become a collective when the first member ends. All others must be inside it by then: a
// rank's unfinished constructor of that kind is taken to be it until its own end says otherwise.
#pragma once

#include "timeline_data.h"

namespace stopline::replay {

class CollectiveTable {
  public:
    explicit CollectiveTable(TimelineData& data) : m_data(data) {}

    /// Registers a rank's view of a communicator; returns the view.
    CommView view(std::int32_t rank, const trace::CommInfo& info);
    /// A call starts the next collective on `comm`. Returns the part, or kNone.
    std::uint32_t start(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin);
    std::uint32_t startWorld(std::int32_t rank, std::uint32_t call, trace::FunctionId function);
    /// The end of `call` shows the part complete. Does nothing when that was seen before.
    void finish(std::int32_t rank, std::uint32_t part, std::uint32_t call);
    /// MPI has refused the call that started the part: it never was.
    void withdraw(std::int32_t rank, std::uint32_t part, std::uint32_t call);
    /// So many collectives that a rank started on a communicator lie before the start of its history.
    void addMissing(std::int32_t rank, CommIndex comm, std::int64_t count);
    /// The group constructors of the first so many communicators of a rank lie there as well.
    void addMissingCreated(std::int32_t rank, std::uint32_t comms);
    /// How many lie there is not known: nothing of the rank belongs to a collective.
    void missUnknown(std::int32_t rank);
    void addMissingWorld(std::int32_t rank, bool finalize, std::uint32_t count);
    /// A group constructor has begun.
    void startGroup(std::int32_t rank, std::uint32_t call);
    /// It has ended; `newComm` is kNoComm when it made no communicator for this rank.
    void created(std::int32_t rank, std::uint32_t call, trace::FunctionId function, CommIndex newComm);

  private:
    std::uint32_t instance(std::uint32_t commEntry, std::uint32_t ordinal);
    /// Marks those that lack a part of a member.
    void missMembers(std::uint32_t commEntry);
    void setEarly(std::uint32_t collective);
    void missAll(const CommView& view);
    std::uint32_t newCollective(const CommEntry& entry);
    std::uint32_t arrive(std::int32_t rank, std::uint32_t call, std::uint32_t collective,
                         std::int32_t position, trace::FunctionId function);
    /// The calls of its members have got or lost edges, as the one at `position` has come or gone.
    void touch(std::uint32_t collective, std::uint32_t position);
    /// Takes back an arrival.
    void depart(std::uint32_t collective, std::uint32_t position);
    /// What it is called after, and whether its members agree, must not depend on the order in which their events come.
    void nameAnew(std::uint32_t collective);
    /// Room for the calls of so many members, all unknown; stays where it is.
    std::uint32_t* newCalls(std::size_t members);
    void joinAwaited(std::int32_t rank);
    void noteRoot(std::int32_t rank, std::uint32_t collective, const trace::EventDetails& begin);

    TimelineData& m_data;
};

/// Comm_create_group and Intercomm_create.
[[nodiscard]] bool isGroupConstructor(trace::FunctionId function);

} // namespace stopline::replay
