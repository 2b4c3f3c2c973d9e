// Vocabulary types shared by every module. No Qt, no allocation, usable from the preloaded library.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace stopline {

/// An integer that cannot be mixed up with another kind of integer.
template <typename Tag, typename Rep>
class Strong {
  public:
    using rep = Rep;
    constexpr Strong() = default;
    constexpr explicit Strong(Rep value) : m_value(value) {}
    [[nodiscard]] constexpr Rep value() const { return m_value; }
    friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

  private:
    Rep m_value{};
};

/// Row of a rank: those of the first job in the order of its MPI_COMM_WORLD, then those of the jobs that it has spawned, in
/// the order in which they came. 0-based, dense. Which rank of which job that is, the table of jobs says (replay/jobs.h).
using RankId = Strong<struct RankIdTag, std::int32_t>;
/// Names a job wherever it is spoken of: 0 the one that the launcher has started, else the id of the intercommunicator that
/// the spawn has made, which is the same whenever the program runs again.
using JobKey = std::uint64_t;
inline constexpr JobKey kFirstJob = 0;
/// Which operating-system process plays a rank: 1 is the first start, each re-execution adds one.
using Incarnation = Strong<struct IncarnationTag, std::uint32_t>;
/// Number of an event of one rank. MPI_Init's begin is 1; 0 is "before the first event". Absolute for ever.
using EventIndex = Strong<struct EventIndexTag, std::uint64_t>;
/// Index of a communicator in the table of one rank. 0 is MPI_COMM_WORLD, 1 is MPI_COMM_SELF.
using CommIndex = Strong<struct CommIndexTag, std::uint32_t>;
/// Index of an interned set of event details of one rank.
using DetailsId = Strong<struct DetailsIdTag, std::uint32_t>;
/// Return address of an MPI call in the user's code. 0 when unknown.
using CodeAddress = Strong<struct CodeAddressTag, std::uint64_t>;
/// Nanoseconds. Absolute times are CLOCK_MONOTONIC of the rank's host unless a name says otherwise.
using TimeNs = std::int64_t;

inline constexpr CommIndex kCommWorld{0};
inline constexpr CommIndex kCommSelf{1};
inline constexpr CommIndex kNoComm{std::numeric_limits<std::uint32_t>::max()};
inline constexpr EventIndex kNoThreshold{std::numeric_limits<std::uint64_t>::max()};

/// Peers and tags as the trace stores them; the same for every MPI implementation.
inline constexpr std::int32_t kAnySource = -101;
inline constexpr std::int32_t kProcNull = -102;
inline constexpr std::int32_t kRootInter = -103; ///< MPI_ROOT of an intercommunicator collective
inline constexpr std::int32_t kNoPeer = -104;
inline constexpr std::int32_t kAnyTag = -101;
inline constexpr std::int32_t kNoTag = -104;

} // namespace stopline
