// A session that does what a test says: the same class, another implementation. Window tests link it instead
// of the real one, so that 64 ranks cost nothing and every state can be had at once.
#pragma once

#include "../../../replay/session.h"

#include <QMap>
#include <QStringList>

#include <map>
#include <vector>

namespace stopline::replay {

/// All that such a session answers, and what it was asked.
struct Scripted {
    LaunchSpec launch;
    std::vector<RankView> ranks;
    bool job = false;
    std::uint32_t launches = 0;
    bool launchesLater = false; ///< a launch that is asked for begins when the test says so
    void countLaunch() { launches += launchesLater ? 0 : 1; }
    QString opened; ///< openedRecording()
    Focus focus;
    RankId shown{0};
    QString operation;
    std::map<Verb, QString> whyNot;
    QVector<UserBreakpoint> breakpoints;
    QVector<mi::Frame> frames;
    QVector<mi::Variable> variables;
    std::map<QString, QString> values; ///< of evaluate(), by expression; others are an error
    std::map<QString, mi::ValueTree> trees;            ///< of openValue(), by expression; others are an error
    std::map<QString, QVector<mi::ValueTree>> parts;   ///< by handle
    QVector<mi::ValueChange> changes;                  ///< of the next updateValues()
    std::map<int, RankView> live;                      ///< by rank; as rank() where there is none
    std::map<int, RankView> seen;                      ///< by rank: what it is once it has been looked at
    QString refuses;                                   ///< what becomes of a new breakpoint's `refused`
    bool settled = true;                               ///< breakpointSettled()
    std::unique_ptr<Timeline> timeline = std::make_unique<Timeline>(0);
    std::optional<Point> point;
    std::optional<Line> past, future, stopline;
    QVector<HistoryEntry> history;
    std::optional<HistoryEntry> undo, redo;
    QVector<Session::StopSummary> stops;
    std::map<int, QByteArray> output;
    QByteArray input;
    RaceAnalysis analysis;
    std::vector<Race> found; ///< foundRaces()
    QStringList deadlocks;
    std::map<int, QString> gone; ///< OpenMessage::gone, by rank
    QString noNextRace;                             ///< whyNotNextRace()
    std::map<CallRef, QString> held; ///< heldFor(); nothing for other calls
    QVector<Session::Execution> executions{{1, 0, {}, 0, true}};
    QMap<int, QVector<Session::ExecutionDifference>> differences; ///< by number of the kept one
    QStringList calls;              ///< "continue all", "runTo a.c 12", … in order
    bool following = false;
    bool answers = true;            ///< false: handlers are never called
    bool finishesOperations = true; ///< go, undo, …: operationFinished(operationOk, operationText) at once
    bool operationOk = true;
    QString operationText;
};

[[nodiscard]] Scripted& scriptOf(Session& session);

/// Ranks standing at lines of one file, all stopped by Pause.
void standAt(Session& session, const QString& file, const std::vector<int>& lines);
/// A small recording: on `ranks` ranks Init, then rank 0 sends one message to each other rank; the last one
/// is not received. Rank r > 0 is inside its receive when nothing came.
void recordMessages(Session& session, int ranks);

/// Three ranks: 1 and then 2 send to rank 0, which receives twice from any source; the first receive raced.
void recordRace(Session& session);

} // namespace stopline::replay
