// Performs scripts (see batch_language.h for the language) on a session, without widgets or inside the
// window.
#pragma once

#include "../replay/completion_words.h"
#include "../replay/session.h"
#include "batch_language.h"

#include <QObject>
#include <QSet>

#include <functional>

namespace stopline::app {

/// What only the window can do for a script. The texts returned say what went wrong; empty: done.
class WindowVerbs {
  public:
    virtual ~WindowVerbs() = default;
    virtual QString screenshot(const QString& name) = 0;
    virtual QString select(replay::CallRef call) = 0;
    virtual QString resize(int width, int height) = 0;
    virtual QString axis(const QString& name) = 0;
    virtual QString style(const QString& name) = 0;
    virtual QString dock(const QString& name) = 0;
};

struct BatchOptions {
    bool verbose = false;
    bool echoLines = true; ///< print "> verb …" before each verb
    std::chrono::milliseconds wait{60000};
    std::function<void(const QString& line)> out; ///< results
    std::function<void(const QString& line)> err; ///< warnings, errors, failures
};

/// Exit codes of run().
inline constexpr int kScriptOk = 0;
inline constexpr int kScriptFailed = 1;
inline constexpr int kScriptWrong = 2;
inline constexpr int kScriptTimedOut = 3;

/// Runs a script line by line. Waits spin the event loop and are bounded; none of the session's calls block.
class BatchRunner : public QObject {
    Q_OBJECT
  public:
    /// Owns neither; the session must outlive the runner. `window` may be null.
    BatchRunner(replay::Session* session, BatchOptions options, WindowVerbs* window = nullptr,
                QObject* parent = nullptr);

    /// Performs the script and then kills the job. Answers the exit code; see batch_language.h.
    int run(const Script& script);
    /// Shows a recording before the script begins, and waits until it has been read. False when it could not be, which
    /// has been said.
    bool openRecording(const QString& file);
    /// Makes run() return soon: the current wait ends as a failure. For a window that is closed.
    void abort();

  private:
    enum class Verdict { Done, Failed, TimedOut, Quit };
    struct Outcome {
        Verdict result = Verdict::Done;
        QString text;
    };
    using Lines = QStringList;

    // batch.cpp
    Outcome perform(const ScriptLine& line, Lines& out);
    bool waitFor(const std::function<bool()>& done, std::chrono::milliseconds limit);
    Outcome timedOut(const ScriptLine& line) const;
    [[nodiscard]] bool neverBegan() const;
    [[nodiscard]] std::chrono::milliseconds limit(const ScriptLine& line) const;
    void endJob();
    [[nodiscard]] std::optional<QVector<RankId>> ranks(const QString& text, QString& error) const;
    [[nodiscard]] std::optional<RankId> oneRank(const QString& text, QString& error) const;
    [[nodiscard]] QVector<RankId> focusRanks() const;
    [[nodiscard]] QVector<RankId> allRanks() const;
    void noteRank(RankId rank);
    [[nodiscard]] bool launchToCome() const;

    // batch_breakpoints.cpp
    Outcome breakpointVerb(const ScriptLine& line, Lines& out);

    // batch_control.cpp
    Outcome control(const ScriptLine& line, Lines& out);
    Outcome timeTravel(const ScriptLine& line, Lines& out);
    Outcome cancel(const ScriptLine& line, Lines& out);
    Outcome open(const ScriptLine& line, const QString& file);
    void expectResume(replay::Verb verb);
    Outcome window(const ScriptLine& line);

    // batch_wait.cpp
    Outcome wait(const ScriptLine& line);
    Outcome waitStopped(const ScriptLine& line, const QVector<RankId>& ranks, bool orEnded);
    Outcome waitLaunched(const ScriptLine& line);
    Outcome waitThere(const ScriptLine& line, const QVector<RankId>& moved, const QString& where);

    // batch_races.cpp
    Outcome races(const ScriptLine& line, Lines& out);
    Outcome nextRace(const ScriptLine& line, Lines& out);
    Outcome take(const ScriptLine& line);
    bool knowRaces(const ScriptLine& line);
    [[nodiscard]] std::optional<replay::CallRef> callOf(const QString& rank, const QString& event, QString& error) const;

    // batch_executions.cpp
    Outcome executions(const ScriptLine& line, Lines& out);

    // batch_look.cpp
    Outcome look(const ScriptLine& line, Lines& out);
    Outcome print(const ScriptLine& line, Lines& out);
    Outcome parts(const ScriptLine& line, Lines& out);
    Outcome locals(const ScriptLine& line, Lines& out);
    Outcome stack(const ScriptLine& line, Lines& out);
    Outcome gdb(const ScriptLine& line, Lines& out);
    void askRunning(const QVector<RankId>& ranks);
    [[nodiscard]] replay::RankView shownView(RankId rank) const;
    [[nodiscard]] QString lastLineText(const replay::RankView& view) const;
    [[nodiscard]] QString rankLine(RankId rank) const;
    [[nodiscard]] QString whereText(RankId rank) const;
    [[nodiscard]] QString tidy(QString value) const;
    void outputLines(const QVector<RankId>& ranks, Lines& out) const;
    [[nodiscard]] std::optional<QVector<RankId>> rankSuffix(const QString& text, QString& expression,
                                                            QString& error) const;
    struct Values {
        QVector<QPair<RankId, QString>> values;
        Outcome outcome;
    };
    Values evaluate(const QString& expressionAndRanks, std::chrono::milliseconds limit,
                    QString* expression = nullptr);

    // batch_history.cpp
    Outcome history(const ScriptLine& line, Lines& out);
    Outcome events(const ScriptLine& line, Lines& out);
    Outcome point(const ScriptLine& line, Lines& out);
    Outcome refresh(const ScriptLine& line);
    void lineText(const QString& title, const replay::Line& line, Lines& out) const;
    [[nodiscard]] QString eventText(RankId rank, EventIndex event, const replay::CompletionNames& names) const;

    // batch_expect.cpp
    Outcome expect(const ScriptLine& line);
    Outcome expectOnce(const QString& text, const ScriptLine& line);
    Outcome compareWhere(const QStringList& words) const;
    Outcome comparePlace(const QStringList& words) const;
    Outcome compareState(const QStringList& words) const;

    replay::Session* m_session;
    BatchOptions m_options;
    WindowVerbs* m_window;
    QSet<int> m_resuming;     ///< ranks told to run, not yet seen running
    QVector<RankId> m_moved;  ///< ranks that the last verb was to move
    QSet<int> m_stayed;       ///< of these, those that have not gone on
    QString m_warning;        ///< the session's last one since then
    bool m_launching = false; ///< Run or Restart given, no rank of it seen yet
    std::uint32_t m_launchesBefore = 0; ///< Session::launches() when it was given
    bool m_begun = false;     ///< a rank of the last launch has run, or had already when the script began
    bool m_mustBegin = false; ///< a launch has been asked for by a line that may not fail
    bool m_operationAsked = false; ///< by a verb that has not seen its end
    bool m_operationDone = false;
    bool m_operationOk = false;
    QString m_operationText;
    bool m_aborted = false;
    int m_quitCode = 0;
};

} // namespace stopline::app
