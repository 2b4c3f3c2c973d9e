// Bringing every rank to its place: the one mechanism behind go, undo, redo, rollback and forward.
#pragma once

#include "frame_values.h"
#include "rank_process.h"
#include "recording.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include <functional>
#include <optional>
#include <vector>

namespace stopline::replay {

/// Thresholds do the work: ranks run at full speed, hold (with MPI progressing) at their event and are let into the stop
/// function together, when all have arrived or when each that has not is inside a call whose partner stands at its place.
/// No user breakpoint may be inserted while this lasts.
class Approach : public QObject {
    Q_OBJECT
  public:
    struct Outcome {
        bool ok = false;
        bool again = false; ///< a guard fired: go again with `retry`
        std::vector<Target> retry;
        QString text; ///< for the user: where the ranks are, and why not where they should be
    };

    Approach(const Recording& recording, std::vector<Target> targets, QObject* parent);

    /// Gate and threshold of a rank of a new job.
    void configure(RankId rank, agent::RankConfig& config) const;
    /// A rank of a new job has been made; it will join.
    void add(RankProcess* rank);
    /// Goes on from where the ranks of a live job stand, all stopped, none past its target.
    /// `stays`: those, by rank, that stand between two events just where they are to be.
    void continueFrom(const std::vector<RankProcess*>& ranks, const std::vector<bool>& stays);

    /// There are more ranks than the recording knows: so many.
    void addRanks(int count);

    void joined(RankProcess* rank);
    void arrived(RankProcess* rank);
    void stopped(RankProcess* rank);
    void ended(RankProcess* rank);
    /// Stops the ranks where they are; finished() follows when all have stopped.
    void cancel(const QString& why);

    [[nodiscard]] QString progress() const; ///< "2 of 4 ranks there"
    [[nodiscard]] const std::vector<Target>& targets() const { return m_targets; }
    /// At its target, with all that is known of it.
    [[nodiscard]] bool exactlyThere(RankId rank) const {
        const Traveller& traveller = m_travellers[std::size_t(rank.value())];
        return traveller.leg == Leg::There && !traveller.approximate;
    }
    /// How often it has passed the address of its target since its event; 0: it has not been on that leg.
    [[nodiscard]] int passes(RankId rank) const { return m_travellers[std::size_t(rank.value())].passes; }

  signals:
    void progressed();
    void silent(stopline::RankId rank); ///< has not joined, or not stopped, for long: its agent or gdb does not answer
    void finished(const stopline::replay::Approach::Outcome& outcome);

  private:
    enum class Leg {
        Absent,     ///< its process has not joined, or has not been spawned
        Gated,      ///< has joined, waits for the others to: ranks that run take the processors from gdbs that attach
        Travelling, ///< runs at full speed
        Arrived,    ///< holds at its threshold
        Inside,     ///< in the call it is to be inside of
        Stuck,      ///< in a call that cannot end while the others stand; `reason` says why
        Releasing,  ///< let into the stop function
        Pausing,    ///< asked to stop inside its call
        RunningOn,  ///< from its event to a place between events
        There,
        Elsewhere, ///< stopped or ended somewhere it should not be; `reason`
    };
    struct Traveller {
        QPointer<RankProcess> process; ///< goes with its job
        Leg leg = Leg::Absent;
        QString reason;
        int runOnBreakpoint = 0;
        int passes = 0;          ///< of the address of its target, since its event
        bool approximate = false; ///< there, but perhaps in another round of a loop, or only near
        QElapsedTimer searching; ///< for the round of the loop
        VisitSearch visits;
        EventIndex seen{0};
        bool looking = false; ///< its trace is being read
        bool warned = false;
        QElapsedTimer still; ///< since its event number last changed
    };

    Traveller& of(RankProcess* rank) { return m_travellers[std::size_t(rank->rank().value())]; }
    const Target& targetOf(RankId rank) const { return m_targets[std::size_t(rank.value())]; }
    [[nodiscard]] EventIndex thresholdOf(RankId rank) const;
    /// Where a rank is spawned; null for those of the first job.
    [[nodiscard]] const JobRanks* spawnOf(std::size_t rank) const;
    [[nodiscard]] bool mayCome(std::size_t rank) const;
    [[nodiscard]] static Place placeOf(const RankProcess& process);
    void tick();
    void looked();
    void openGates();
    void check();
    void releaseAll();
    void runOn(RankProcess* rank);
    void runToMain(RankProcess* rank);
    void insertRunOn(RankProcess* rank, const QString& condition);
    void atRunOnStop(RankProcess* rank);
    void passed(RankProcess* rank);
    void passOn(RankProcess* rank);
    void doubt(RankProcess* rank);
    void arriveBetween(RankProcess* rank);
    void leaveRunOn(RankProcess* rank, std::function<void()> then);
    [[nodiscard]] QString note() const;
    void there(RankProcess* rank);
    void elsewhere(RankProcess* rank, const QString& reason);
    void finishIfDone();
    void finishCancel();
    void finish(const Outcome& outcome);

    const Recording& m_recording;
    std::vector<Target> m_targets;
    std::vector<Traveller> m_travellers;
    QTimer m_tick;
    QElapsedTimer m_settling; ///< since all are let into the stop function
    int m_ticks = 0;
    bool m_released = false;
    bool m_finished = false;
    bool m_guardFired = false;
    bool m_broken = false; ///< a rank has ended on its way: the others may wait for it for ever
    QVector<RankId> m_early;  ///< stay at their event, as they did not pass their place again
    QVector<RankId> m_rounds; ///< perhaps in another round of a loop
    QVector<RankId> m_starts; ///< at the start of main, or before it, in place of somewhere before MPI_Init
    bool m_cancelling = false;
    bool m_cancelLate = false;
    QString m_cancelText;
};

} // namespace stopline::replay
