// The first ranks of a job set out together: in MPI_Init each turns until the last one is there, and what it turns away is the
// time in which the gdbs of the others could join them.
#pragma once

#include "../tracelib/types.h"

#include <QPointer>
#include <QTimer>

#include <functional>
#include <vector>

namespace stopline::replay {

class RankProcess;

/// Holds ranks that could go until none of the first ones is missing, or until nobody has come for a while.
class FirstRanks {
  public:
    /// `count`: how many first ranks the job has; `process`: one of them, null while it has not come.
    FirstRanks(std::function<int()> count, std::function<RankProcess*(RankId)> process);

    /// This one is joined and could go: it goes now or with the others.
    void add(RankProcess* rank);
    /// Another one has come, which may not be joined yet: patience begins anew.
    void onCome();
    /// Something is known of a rank that was not: lets those go that wait, if none is missing any more.
    void check();
    /// For another job, or none.
    void reset();

  private:
    enum class State {
        Empty,     ///< none has been joined yet, or all have gone
        Gathering, ///< some wait, with patience
        Alone,     ///< patience is over: each goes as it comes
    };
    [[nodiscard]] bool isHere(const RankProcess* rank) const;
    /// One of the first ranks is missing; `atGate`: one which is about to be joined.
    [[nodiscard]] bool misses(bool atGate) const;
    void onPatience();
    void letGo();

    std::function<int()> m_count;
    std::function<RankProcess*(RankId)> m_process;
    State m_state = State::Empty;
    std::vector<QPointer<RankProcess>> m_here;
    QTimer m_patience; ///< runs while Gathering
    int m_again = 0;   ///< how often patience has begun anew for one at its gate
};

} // namespace stopline::replay
