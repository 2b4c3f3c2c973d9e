// The order logs of an execution that is about to start, while they are made. Inside of Session.
#pragma once

#include "session_impl.h"

#include <QElapsedTimer>

#include <atomic>
#include <thread>

namespace stopline::replay {

/// Looks for what is not known yet of the races, piece by piece, and makes the logs on a thread of its own,
/// which reads the recording: while it does, nobody may change that one. Its end cancels and waits.
class Session::Impl::LogMaking {
  public:
    /// With what has been made.
    using Done = std::function<void(const std::shared_ptr<const ReplayLogs>&)>;
    /// `done`: is called once, from the event loop.
    LogMaking(Session::Impl* of, Done done);
    ~LogMaking();
    LogMaking(const LogMaking&) = delete;
    LogMaking& operator=(const LogMaking&) = delete;
    /// How far it is; empty: it has only begun.
    [[nodiscard]] QString text() const;

  private:
    void lookForRaces();
    void make();
    void tell();

    Session::Impl* m_of;
    Done m_done;
    LogsProgress m_progress;
    bool m_racesKnown = false;
    QElapsedTimer m_since;
    QTimer m_tick;
    QObject m_here; ///< what is posted to it goes with it
    std::thread m_thread;
};

} // namespace stopline::replay
