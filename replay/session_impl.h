// Inside of Session: its parts, and the functions that session*.cpp share. Not for others to include.
#pragma once

#include "approach.h"
#include "call_words.h"
#include "first_ranks.h"
#include "job.h"
#include "loaded_recording.h"
#include "order_marks.h"
#include "race_choice.h"
#include "recording.h"
#include "replay_logs.h"
#include "session.h"
#include "session_follow.h"
#include "session_parts.h"
#include "source_lines.h"
#include "standstill.h"

#include <QPointer>
#include <QTimer>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace stopline::replay {

struct Session::Impl {
    explicit Impl(Session* session);
    ~Impl();

    Session* q;
    Installation installation;
    LaunchSpec spec;
    LaunchSpec recordedSpec; ///< of the job that the recording is of
    QPointer<Job> job;
    std::unique_ptr<Recording> recording = std::make_unique<Recording>(0);
    std::uint32_t incarnations = 0;
    JobTable jobs;
    int ranks = 0; ///< of all jobs
    std::vector<RankView> lastViews; ///< of ranks without a process
    Focus focus;
    RankId shown{0};
    bool stopAtStart = false;
    bool pauseComing = false; ///< Pause was given while the job started: also for ranks that have not come yet
    std::map<QString, std::shared_ptr<SourceLines>> symbols; ///< by program
    std::map<int, QString> programOf;                        ///< by rank
    mutable std::map<std::pair<int, std::uint64_t>, SourceLocation> sites;

    // A recording from a file instead of a job (session_recording.cpp).
    std::unique_ptr<LoadedRecording> opened;
    std::unique_ptr<LoadedRecording> origin; ///< of which the job is another execution; without its recording
    quint64 historyEvents = kDefaultHistoryEvents;
    ReplayBy replayBy = replayByOf(qEnvironmentVariable("STOPLINE_REPLAY_BY")).value_or(ReplayBy::Source);
    class LogMaking; ///< what the job that is about to start follows is being made (session_logs.cpp)
    std::shared_ptr<LogMaking> logMaking; ///< shared only so that few need to know what it is
    void makeLogs(const Approach* with, std::function<void()> then);
    void cancelLogs();
    void endLogs();
    [[nodiscard]] Job::Configure configureRanks(Approach* with);
    [[nodiscard]] QString logsText() const; ///< what operation() says meanwhile; empty: none are made, or have only begun to be
    void sayMarks();
    bool startingAnew = false; ///< is going to be done
    void startHistoryAnew();
    void finishStartingAnew();
    void sayStart(RankId rank);
    [[nodiscard]] QString whyNoEarlierCall() const;
    [[nodiscard]] QString whyBeforeStart(const Cut& cut) const;
    class Opening; ///< the thread that reads one
    std::unique_ptr<Opening> opening;

    // Races (session_races.cpp).
    bool racesDue = false; ///< events have not been looked at yet
    bool racesWait = false; ///< likewise, until logMaking is over
    std::vector<Race> foundRaces;
    struct RaceWalk {
        bool on = false;         ///< the job runs to the next race
        bool over = false;       ///< it has stopped for another reason, or ended: what was recorded by then still counts
        std::set<CallRef> known; ///< that had been found before
        std::vector<EventIndex> where; ///< of the ranks, when one last moved
        QElapsedTimer since;           ///< then
    };
    RaceWalk raceWalk;
    [[nodiscard]] bool anyoneLives() const;
    [[nodiscard]] QString goneText(RankId rank) const;
    void findRacesSoon();
    void findRaces();
    void walkOn();
    void walkOver();
    void watchWalk();
    void endRaceWalk();
    [[nodiscard]] std::optional<Race> nextRecordedRace() const;
    void startChosen(const Choice& choice);

    // Other executions (session_executions.cpp).
    struct Chosen { ///< by which an execution was made of another
        RankId receiver{-1};
        EventIndex event{0}; ///< begin of the receive or probe
        RankId sender{-1};
        EventIndex send{0};
        MaybeCall insteadOf{}; ///< the send of what the race had got
        friend bool operator==(const Chosen&, const Chosen&) = default;
    };
    struct ExecutionHead {
        int number = 1;
        int from = 0;
        QString text;
        std::optional<Chosen> chosen;
        QString end;     ///< how its ranks had ended by themselves; it may be executed again since; empty: they had not
        QString outcome; ///< of one that is shown without its processes, or was ended by the user; else it is seen
    };
    struct KeptExecution {
        ExecutionHead head;
        std::vector<Command> commands; ///< that could be undone
        std::map<int, QByteArray> outputs; ///< by rank, both streams
        std::unique_ptr<Recording> recording;
        LaunchSpec spec;
        Besides besides;
        QByteArray input;
        bool inputEnded = false;
        std::map<int, QString> programs;
        std::vector<RankView> views; ///< empty: it is not known any more how its ranks stood
        bool part = false; ///< the beginning of another one, see keepEarlier()
    };
    std::deque<KeptExecution> keptExecutions; ///< the oldest first
    ExecutionHead execution; ///< the one on show
    int executionsSoFar = 1;
    void keepExecution(std::unique_ptr<Recording> before);
    void keepEarlier(std::unique_ptr<Recording> before);
    void keepWhatIsKnown(KeptExecution& kept) const;
    void dropTooMany();
    void forgetExecutions();
    void recordingReplaced();
    [[nodiscard]] std::deque<KeptExecution>::iterator kept(int number);
    void switchTo(std::deque<KeptExecution>::iterator to);
    void undoChoice();
    void redoChoice();
    void sayOfExecution(Severity severity, const QString& text, const QString& remedy = {});
    QStringList saidOfExecution; ///< of the one on show, which is not so of another

    // Ends of ranks, and of executions (session_ends.cpp).
    std::set<int> leaving;  ///< ranks that have stopped before they end without MPI_Finalize, in this execution
    std::set<int> leftNow;  ///< of these, which have ended and have not been told of
    [[nodiscard]] bool bringsDown(const RankProcess* rank) const;
    void onLeaving(const RankProcess* rank);
    void onLeft(const RankProcess* rank);
    void sayLeft();
    [[nodiscard]] QString outcomeNow() const;
    [[nodiscard]] QString outcomeOfRanks() const;
    void noteOutcome();
    void noteEnd();
    [[nodiscard]] QString heldText(RankId rank, EventIndex event) const;

    // Breakpoints.
    std::vector<BreakpointState> breakpoints;
    int nextBreakpoint = 1;
    bool heldAtStart = false; ///< a breakpoint could not be set: this execution goes on only when the user says so

    // Going somewhere.
    Approach* approach = nullptr;
    Verb approachVerb = Verb::Go;
    bool approachFresh = false; ///< with a new job
    std::weak_ptr<bool> settingOut; ///< a journey has been asked for, and it is being found out where the ranks are
    bool forJourney = false;    ///< the job was started for one
    bool again = false;         ///< the job is another execution of the recording
    std::set<QString> unforcedSaid; ///< of this recording
    QString approachNote;
    bool arriving = false; ///< the journey is over but not yet told of: breakpoints are set, lines are looked up
    std::function<void(bool)> approachDone; ///< history bookkeeping
    Besides besides; ///< of the recording
    Rerun rerun;

    // Control history.
    std::vector<Command> commands;
    std::vector<Command> redoList;
    using Visit = std::tuple<int, std::uint64_t, quint64, QString>; ///< rank, event, address, condition
    std::map<Visit, int> visits; ///< how often a rank has stopped there since that event, in this execution
    struct Remembering {
        QPointer<RankProcess> rank;
        int serial; ///< of the stop; what is heard of an earlier one does not count
        bool asked;
    };
    std::map<int, Remembering> remembering; ///< by rank, where not all is known yet of where it stands
    int rememberSerial = 0;
    std::vector<std::function<void()>> whenRemembered;
    std::vector<Target> targets; ///< of each rank at its last stop: how to come back here
    std::set<int> locating; ///< stopped, but their line is not known yet: still shown as running
    std::function<void()> whenLocated; ///< to be done when there is none of these
    bool lookPending = false;
    TraceFollower* follower; ///< child of the session
    FirstRanks firstToGo{[this] { return firstRanks(); }, [this](RankId rank) { return process(rank); }};
    std::set<QString> faultsSaid; ///< in this execution
    static inline const QString kOutside = QStringLiteral("outside"); ///< one of these, see sayOutside()
    bool commandOpen = false;    ///< ranks of the last command have not all stopped yet
    std::weak_ptr<bool> preparing; ///< true while a command has been given and its ranks have not been let go yet
    RunToOrder runTo;
    QVector<StopSummary> stopList;

    // Stopline.
    std::optional<Point> point;
    std::optional<Line> past, future, line;
    std::optional<RankId> lineRank; ///< of the point that the stopline was made of: it is what the user wants to look at

    // What the program wrote and was given.
    std::map<int, QByteArray> outputs;
    std::map<std::pair<int, int>, QByteArray> streams;  ///< by rank and stream, this execution
    QByteArray input;                                   ///< typed for the job so far, or given to the recorded one
    bool inputEnded = false;                            ///< the recorded one has seen its end
    std::map<QString, std::pair<qint64, qint64>> files; ///< size and time of files among the arguments, at Run
    std::map<QString, std::string> builds;              ///< build ids of those that are programs, as recorded or accepted
    std::set<QString> rebuilt;                          ///< of these, which are not those of the recording

    // session.cpp, _job, _stops, _look, _files
    RankProcess* process(RankId rank) const;
    [[nodiscard]] StopWhy shownWhy(const RankView& view) const;
    std::vector<RankProcess*> focusRanks() const;
    bool alive() const { return job && !job->over(); }
    /// `with`: on its way to places; `throughRecording`: it is to be the recorded execution, whether on a journey or not.
    /// `ready`: is told when it is known what the execution follows, just before the launcher starts.
    void startJob(Approach* with, bool throughRecording, std::function<void()> ready = nullptr);
    void endJob();
    void onRankAdded(RankProcess* rank);
    void onJoined(RankProcess* rank);
    void onProgramReplaced(RankId rank, const QString& path, bool recorded);
    void loadLines(RankProcess* rank);
    void onStopped(RankProcess* rank);
    void onEnded(RankProcess* rank);
    void lookSoon();
    bool takeTrace(RankProcess* rank, std::size_t most, std::chrono::microseconds budget, bool& grown);
    void traceFault(RankProcess* rank, const QString& error);
    /// Says once that there are processes which nothing is known of.
    void sayOutside(const Recording::Outside& call);
    /// Why ranks cannot come to these places: one has there what another had sent when it was not recorded any more.
    [[nodiscard]] QString whyUnreachable(const Cut& cut) const;
    void onJobOver(const QString& summary);
    void onOutput(RankId rank, int stream, const QByteArray& bytes);
    void noteFiles();
    void checkFiles();
    /// Says so, once, if the program is another one than was recorded: true then.
    bool refusesProgram();
    void resize(int count);
    void onSpawned(JobKey key, int count, const Spawner& spawner);
    [[nodiscard]] int firstRanks() const { return jobs.all().empty() ? 0 : jobs.all().front().size; }
    void locate(RankProcess* rank, std::function<void()> done);
    void onLocated(RankProcess* rank);
    void onceLocated(std::function<void()> then);
    void checkLocated();
    void findUserFrame(RankProcess* rank, std::function<void(int)> handler);
    void say(Severity severity, const QString& text, const QString& remedy = {}) { emit q->message(severity, text, remedy); }
    [[nodiscard]] SourceLocation siteOf(RankId rank, CodeAddress address) const;

    // session_recording.cpp
    void onOpened(std::unique_ptr<LoadedRecording> loaded, const QString& wrong);
    void leaveRecording();
    void cancelOpening();
    [[nodiscard]] QString openingText() const; ///< what operation() says while a file is read; empty: none is
    [[nodiscard]] QString whyNotOpened(Verb verb) const;
    void executeOpened();

    // session_control.cpp
    [[nodiscard]] bool onTheWay() const;
    [[nodiscard]] QString whyNot(Verb verb) const;
    void freshPlaces(std::function<void()> then);
    /// Why ranks cannot go on, for one and for several of them; %1 is which. Empty: they can.
    using Refusal = std::pair<QString, QString>;
    /// Asks the gdb of a rank something before it goes on.
    using Prepare = std::function<void(RankProcess*, std::function<void(const Refusal&)>)>;
    void resumeCommand(Verb verb, std::function<void(RankProcess*)> resume, const Prepare& prepare = {});
    void startFresh();
    void beginCommand(Verb verb);
    void noteStop();
    void listStop();
    void applyBreakpoints(RankProcess* rank, std::function<void()> done);
    void insert(BreakpointState& state, RankProcess* rank, std::function<void()> done);
    void clearBreakpoints(RankProcess* rank, std::function<void()> done);
    BreakpointState* findBreakpoint(int id);
    bool holdsAtStart(RankProcess* rank);
    void checkBreakpointRanks();
    void countHit(RankProcess* rank);
    void onConditionFailed(RankProcess* rank, int number, const QString& why);
    [[nodiscard]] std::map<int, int> hitCounts() const;
    void setHitCounts(const std::map<int, int>& hits);

    // session_prepare.cpp
    void prepareRunTo(RankProcess* rank, const QString& location, int wanted, std::function<void(const Refusal&)> answer);
    void prepareStepOut(RankProcess* rank, std::function<void(const Refusal&)> answer);
    [[nodiscard]] static Refusal outermost(const QString& function);
    void leaveRunTo(RankProcess* rank);
    void tellRunTo();

    // session_targets.cpp
    [[nodiscard]] std::vector<Target> presentTargets() const;
    [[nodiscard]] bool killedFromOutside() const;
    void rememberTarget(RankProcess* rank);
    void askRemembered();
    void askPlaceOf(RankProcess* rank, std::size_t index, int serial);
    void rememberArrival(RankProcess* rank, const Approach& journey);
    [[nodiscard]] QString conditionHit(RankProcess* rank) const;
    [[nodiscard]] bool allVisitsWereStops(RankProcess* rank) const;
    [[nodiscard]] static Visit visitOf(int rank, const Target& target);
    void onceRemembered(std::function<void()> then);
    void checkRemembered();
    [[nodiscard]] std::vector<Target> closed(std::vector<Target> to) const;
    [[nodiscard]] std::vector<Target> targetsOf(const Cut& cut) const;

    // session_replay.cpp
    [[nodiscard]] bool recordedEvents() const; ///< there are any
    [[nodiscard]] bool replaying() const;      ///< some rank is still on recorded ground
    void sayLive();
    void keepValues(const RankProcess* rank);
    void compareSent(const RankProcess* rank, const trace::MappingHeader& header);
    void sayCompared();
    void sayUnforced();
    /// "MPI_Recv of rank 0 (event 7) on: several threads …": from where on a rank's calls are not forced, and why; empty: all are.
    [[nodiscard]] QString unforcedFrom(RankId rank) const;
    /// The same of what may have come to a departure.
    [[nodiscard]] QString unforcedBefore(const Departure& found) const;

    // session_departure.cpp
    void onDifference(const Difference& difference);
    void departFrom(const Departure& found, const QString& text, const QString& remedy);
    [[nodiscard]] std::vector<Doing> whatRanksDo() const;
    void watchStandstill();
    void sayWaitingFor(const Departure& found);
    void sayBound();

    // session_travel.cpp
    void setOut(std::function<void()> then);
    void stayHere(const QString& why);
    void refuse(const QString& why, const QString& remedy = {});
    bool refusesPlaces(const std::vector<Target>& to);
    void travel(Verb verb, std::vector<Target> to, std::function<void(bool)> done);
    void startApproach(std::vector<Target> to);
    void onApproachFinished(const Approach::Outcome& outcome);
    void arrived(bool ok, const QString& text, Verb verb);
    void travelCommand(Verb verb, std::vector<Target> to);
    void oneCall(Verb verb);
    void notStarted();
    [[nodiscard]] std::vector<RankProcess*> processes() const;
};

/// "rows.c:12"; empty where the line is not known.
[[nodiscard]] inline QString lineText(const SourceLocation& location) {
    return location.known() ? QStringLiteral("%1:%2").arg(location.file.section(u'/', -1)).arg(location.line) : QString();
}

} // namespace stopline::replay
