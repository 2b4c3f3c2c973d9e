// Parts of Session::Impl that know nothing of it.
#pragma once

#include "order_controls.h"
#include "rank_process.h"
#include "replay_logs.h"
#include "session.h"

#include <QByteArray>
#include <QElapsedTimer>
#include <QString>
#include <QVector>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace stopline::replay {

/// A command with what undo needs of it.
struct Command {
    HistoryEntry shown;
    std::vector<Target> before;
    std::map<int, int> hits; ///< of the breakpoints, by id, before the command
    int execution = 0;       ///< where `before` is of another execution than the one on show, its number
    bool stood = true;       ///< there was a job there to be brought back
};

/// A user breakpoint and its number in each rank's gdb.
struct BreakpointState {
    UserBreakpoint shown;
    std::map<int, int> numbers;     ///< by rank
    std::map<int, QString> refused; ///< ranks whose gdb will not have it, and why
    std::map<int, int> hits;        ///< by rank, this execution
    std::map<int, EventIndex> since; ///< by rank: behind which event it was set; nothing for one that was set at the start
};

/// Where ranks have been sent by Run to, until each of them has stopped or ended.
struct RunToOrder {
    QString location;
    std::map<int, int> numbers; ///< of the temporary breakpoint, by rank
    QVector<RankId> ended;      ///< these never came there
    bool moved = false;         ///< gdb has taken another line, which has been said
};

/// Calls `done` when it has been called as often as begin() was, and once more for the caller that hands out the work.
class Countdown {
  public:
    explicit Countdown(std::function<void()> done) : m_shared(std::make_shared<Shared>(1, std::move(done))) {}
    /// One more piece of work; its end is a call of a copy of this.
    void begin() const { ++m_shared->first; }
    void operator()() const {
        if (--m_shared->first == 0) {
            m_shared->second();
        }
    }

  private:
    using Shared = std::pair<int, std::function<void()>>;
    std::shared_ptr<Shared> m_shared;
};

/// What a recorded execution was given and what it wrote and sent, besides its messages.
struct Besides {
    std::map<int, QByteArray> values;                                    ///< by rank: times and random bytes (tracelib/values.h)
    std::map<std::pair<int, int>, QByteArray> streams;                   ///< by rank and stream
    std::map<std::pair<int, std::uint64_t>, std::uint64_t> sent;         ///< by rank and count of what it had sent: hash
};

/// What the execution that was started last follows, and how far it has done so. A new one begins with a new one of these.
struct Rerun {
    std::shared_ptr<const ReplayLogs> logs; ///< null: it follows none, or they are not made yet
    std::vector<ControlMessage> controls;   ///< likewise, without those that would keep ranks from their places
    std::map<int, QByteArray> givenValues;  ///< by rank: as Besides::values were given to it
    std::optional<Departure> departure;
    QVector<EventIndex> comparedAtDeparture; ///< by rank: what had been found equal by then
    struct Still { ///< since when a rank has been where it is
        EventIndex event{0};
        bool inCall = false;
        QElapsedTimer since;
    };
    std::map<int, Still> still; ///< by rank, while it goes over recorded ground
    // What has been said of it.
    std::set<std::pair<int, std::uint64_t>> standstillSaid; ///< rank and event
    std::set<std::pair<int, int>> streamsDiffer;            ///< rank and stream
    bool liveSaid = false; ///< that ranks have gone on behind the recording's end
};

} // namespace stopline::replay
