// Watches ranks that run: their event numbers, and the calls they sit in.
#pragma once

#include "../replay/session.h"

#include <QObject>
#include <QTimer>

#include <vector>

namespace stopline::app {

/// Nobody tells of a running rank's progress; this asks a few times a second, as long as anything runs. A rank
/// that sits in a call has its trace read once, so that the call has a name, unless that would be long work.
class LiveRanks : public QObject {
    Q_OBJECT
  public:
    explicit LiveRanks(replay::Session* session, QObject* parent = nullptr);

    static constexpr int kPeriodMs = 200;
    /// More events than this are not read for the sake of a name: it would take the window longer than a tenth of a
    /// second.
    static constexpr quint64 kMostToRead = 500'000;

    void tick(); ///< what the timer does; for tests

  signals:
    void changed(); ///< Session::live() of some rank may differ

  private:
    void schedule();

    struct Seen {
        replay::Place place;
        replay::RankPhase phase = replay::RankPhase::NotStarted;
        bool insideMpi = false;
        bool named = false;
        bool asked = false; ///< its trace has been asked for at this place
    };
    replay::Session* m_session;
    std::vector<Seen> m_seen;
    QTimer m_timer;
};

} // namespace stopline::app
