// What the user looks at: the shown rank's stack, the selected frame, the selected call. Docks share one of
// these.
#pragma once

#include "../replay/session.h"

#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <QVector>

#include <optional>

namespace stopline::app {

/// Loads the stack of the shown rank whenever that rank stands somewhere new, and tells the docks. Answers
/// that come after the user has moved on are dropped.
class Look : public QObject {
    Q_OBJECT
  public:
    /// Does not own the session, which must outlive it.
    explicit Look(replay::Session* session, QObject* parent = nullptr);

    [[nodiscard]] replay::Session* session() const { return m_session; }
    [[nodiscard]] RankId rank() const { return m_session->shownRank(); }
    /// Innermost first; of the last stop while the rank runs (then stale() is true).
    [[nodiscard]] const QVector<mi::Frame>& frames() const { return m_frames; }
    [[nodiscard]] bool stale() const { return m_stale; }
    [[nodiscard]] QString problem() const {
        return m_problem;
    } ///< why there is no stack; empty: none is expected
    /// The shown rank stands, and its stack has been asked for and has not come yet.
    [[nodiscard]] bool reading() const { return m_reading; }
    /// Level of the selected frame, or -1.
    [[nodiscard]] int frame() const { return m_frame; }
    void selectFrame(int level);
    [[nodiscard]] std::optional<replay::CallRef> call() const { return m_call; }
    /// `showSource`: also bring its line into view.
    void selectCall(std::optional<replay::CallRef> call, bool showSource = false);
    /// Rank becomes the shown one; the focus follows only when it is on one rank already.
    void showRank(RankId rank);

  signals:
    void stackChanged();
    void readingStarted(); ///< reading() from now on, until the next frameChanged()
    void frameChanged();
    void callChanged();
    /// Execution stands here (`frame` 0 of the user's frames: innermost).
    void executionAt(const stopline::replay::SourceLocation& location, bool innermost);
    void executionGone(); ///< the shown rank runs or has ended
    void callSourceWanted(const stopline::replay::SourceLocation& location);
    /// A rank that is not shown has stopped for a reason of its own and the focus forbids switching to it.
    void otherRankStopped(stopline::RankId rank);

  private:
    void refresh();
    void loadStack();
    void noteStop(RankId rank);
    void follow();
    void announceFrame();

    replay::Session* m_session;
    QVector<mi::Frame> m_frames;
    QString m_problem;
    int m_frame = -1;
    bool m_stale = false;
    bool m_reading = false;
    std::optional<replay::CallRef> m_call;
    /// Identifies a standing: a new stack is loaded when it differs.
    struct Standing {
        RankId rank{-1};
        bool stopped = false;
        qint64 pid = 0;
        replay::Place place;
        replay::StopWhy why = replay::StopWhy::None;
        QString file;
        int line = 0;
        int stop = 0;
        friend bool operator==(const Standing&, const Standing&) = default;
    };
    Standing m_standing;
    QHash<int, replay::StopWhy> m_stopped; ///< ranks seen stopped, and why
    QSet<int> m_candidates;                ///< stopped anew for a reason of their own, not yet decided upon
    QTimer m_decision;
    bool m_travels = false; ///< going somewhere: stops on arrival are no news
    bool m_asked = false;   ///< the user has chosen a rank to look at since then
    int m_stop = 0;         ///< counts stops, so that two stops on one line are two standings
    quint64 m_request = 0;  ///< of the stack asked for last
};

/// True when this stop is the rank's own (breakpoint, step, signal, …) and not a mere consequence of
/// another's.
[[nodiscard]] bool isOwnStop(replay::StopWhy why);
/// True for stops that mean something went wrong.
[[nodiscard]] bool isErrorStop(replay::StopWhy why);

} // namespace stopline::app
