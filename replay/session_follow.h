// Reads the traces of ranks that run, without stopping them and without blocking the window.
#pragma once

#include "rank_process.h"
#include "session.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include <functional>
#include <map>
#include <vector>

namespace stopline::replay {

/// Fetches what is new of each rank and takes it into the timeline in pieces of some milliseconds, between which the
/// event loop goes on. A job that is quicker than its reader leaves the timeline behind, never the window waiting.
/// Journeys read by themselves: nothing is done while one is under way.
class TraceFollower : public QObject {
    Q_OBJECT
  public:
    explicit TraceFollower(Session::Impl& session);

    static constexpr int kPeriodMs = 500;          ///< between two fetches, when all has been taken in
    static constexpr int kComparingMs = 100;       ///< the same while the ranks are compared, or watched
    static constexpr std::size_t kPiece = 1 << 15; ///< events decoded at once

    void setOn(bool on);
    [[nodiscard]] bool on() const { return m_on; }
    /// While on, ranks that go over recorded ground are read several times a second: that the execution is another one is
    /// to be known soon.
    void setComparing(bool on);
    /// While on, all ranks that run are read as often: something is waited for in what they do.
    void setWatching(bool on);
    /// Once, now. `done` is called when all that the ranks had then is in the timeline, or they have gone.
    void refresh(std::function<void()> done);
    /// Takes in what the rank's image holds, whatever is on or under way. `done` is called when all of it is in, at once where
    /// that is soon; also when the rank belongs to the session no more.
    void takeIn(RankProcess* rank, std::function<void()> done);
    /// `done` is called when nothing is left to be taken in, at once if so.
    void whenTaken(std::function<void()> done);
    /// The recording is another one. What takeIn() has been asked for goes on, into that one.
    void forget();

  private:
    void setTimer();
    void tick();
    bool fetch(const std::function<bool(RankProcess*)>& which);
    void takeSoon();
    void takeSome();
    void finished();

    Session::Impl& m_session;
    bool m_on = false;
    bool m_comparing = false;
    bool m_watching = false;
    bool m_taking = false;
    int m_fetching = 0;
    std::uint64_t m_generation = 0;                  ///< what has been asked for an earlier recording does not count
    struct Pending {
        QPointer<RankProcess> rank;
        std::vector<std::function<void()>> done;
    };
    std::map<int, Pending> m_pending; ///< by rank: fetched and not all taken in
    std::vector<std::function<void()>> m_whenTaken;
    std::vector<std::function<void()>> m_waiting;
    QTimer m_timer;
    QElapsedTimer m_told;
    bool m_untold = false; ///< the timeline has grown and nobody has been told
};

} // namespace stopline::replay
