#include "batch.h"

#include "text.h"
#include "../replay/words.h"

#include <QDeadlineTimer>
#include <QEventLoop>
#include <QTimer>

#include <algorithm>

namespace stopline::app {

using namespace replay;
using namespace std::chrono_literals;

BatchRunner::BatchRunner(Session* session, BatchOptions options, WindowVerbs* window, QObject* parent)
    : QObject(parent), m_session(session), m_options(std::move(options)), m_window(window) {
    connect(session, &Session::rankChanged, this, &BatchRunner::noteRank);
    const auto noteAll = [this] {
        for (int rank = 0; rank < m_session->rankCount(); ++rank) {
            noteRank(RankId{rank});
        }
    };
    connect(session, &Session::ranksChanged, this, noteAll);
    noteAll();
    connect(session, &Session::stopped, this, [this] {
        m_stayed.unite(m_resuming);
        m_resuming.clear();
        m_launching = launchToCome();
    });
    connect(session, &Session::jobEnded, this, [this](const QString& summary) {
        m_resuming.clear();
        m_launching = launchToCome();
        m_options.err(QStringLiteral("job ended: %1").arg(summary));
    });
    connect(session, &Session::operationFinished, this, [this](bool ok, const QString& text) {
        m_operationDone = true;
        m_operationOk = ok;
        m_operationText = text;
        if (!ok && launchToCome()) { // it has been given up
            m_launching = false;
        }
    });
    connect(session, &Session::message, this,
            [this](Severity severity, const QString& text, const QString& remedy) {
                if (severity == Severity::Info && !m_options.verbose) {
                    return;
                }
                m_warning = text;
                m_options.err(QStringLiteral("%1: %2%3")
                                  .arg(severityText(severity), text,
                                       remedy.isEmpty() ? QString() : QStringLiteral(" — ") + remedy));
            });
    connect(session, &Session::departed, this, [this](const Departure& departure) {
        const QString where = locationText(departure.where);
        m_options.err(QStringLiteral("departure: rank %1 event %2: recorded %3, executed %4%5%6")
                          .arg(rankText(departure.rank))
                          .arg(departure.event.value())
                          .arg(departure.recorded, departure.executed,
                               where.isEmpty() ? QString() : QStringLiteral(" at ") + where,
                               departure.memoryPart()));
    });
}

int BatchRunner::run(const Script& script) {
    if (!script.errors.isEmpty()) {
        for (const ScriptError& error : script.errors) {
            m_options.err(QStringLiteral("line %1: %2").arg(error.line).arg(error.text));
        }
        return kScriptWrong;
    }
    int code = kScriptOk;
    for (const ScriptLine& line : script.lines) {
        if (m_options.echoLines) {
            m_options.out(QStringLiteral("> ") + line.text);
        }
        Lines out;
        const Outcome outcome = perform(line, out);
        for (const QString& text : out) {
            m_options.out(text);
        }
        if (outcome.result == Verdict::Quit) {
            code = m_quitCode;
            m_mustBegin = m_mustBegin && line.words.isEmpty(); // else the script says what to answer
            break;
        }
        if (outcome.result != Verdict::Done) {
            m_options.err(QStringLiteral("line %1: %2: %3").arg(line.number).arg(line.text, outcome.text));
            if (outcome.result == Verdict::TimedOut) {
                askRunning(allRanks());
                for (const RankId rank : allRanks()) {
                    m_options.err(rankLine(rank));
                }
            }
            if (!line.mayFail) {
                code = outcome.result == Verdict::TimedOut ? kScriptTimedOut : kScriptFailed;
                break;
            }
        }
        if (m_aborted) {
            code = kScriptFailed;
            break;
        }
    }
    if (code == kScriptOk && m_mustBegin && neverBegan()) {
        m_options.err(QStringLiteral("error: no rank has been started"));
        code = kScriptFailed;
    }
    endJob();
    return code;
}

/// The last launch has come to nothing: no rank has run, and none will.
bool BatchRunner::neverBegan() const {
    if (m_begun || m_launching) {
        return false;
    }
    const QVector<RankId> all = allRanks();
    return !m_session->jobExists() || (!all.isEmpty() && std::all_of(all.begin(), all.end(), [this](RankId rank) {
        const RankPhase phase = m_session->rank(rank).phase;
        return phase == RankPhase::Exited || phase == RankPhase::Failed || phase == RankPhase::Lost;
    }));
}

bool BatchRunner::openRecording(const QString& file) {
    ScriptLine line;
    line.text = QStringLiteral("open");
    const Outcome outcome = open(line, file);
    if (outcome.result == Verdict::TimedOut) {
        m_options.err(outcome.text);
    }
    return outcome.result == Verdict::Done;
}

void BatchRunner::abort() {
    m_aborted = true;
}

BatchRunner::Outcome BatchRunner::perform(const ScriptLine& line, Lines& out) {
    switch (line.verb) {
    case ScriptVerb::Run:
    case ScriptVerb::Start:
    case ScriptVerb::Continue:
    case ScriptVerb::Pause:
    case ScriptVerb::Step:
    case ScriptVerb::RunTo:
    case ScriptVerb::Kill:
    case ScriptVerb::Restart:
    case ScriptVerb::Replay:
    case ScriptVerb::Open:
    case ScriptVerb::Focus:
    case ScriptVerb::Show:
        return control(line, out);
    case ScriptVerb::Break:
    case ScriptVerb::Delete:
    case ScriptVerb::Enable:
    case ScriptVerb::Disable:
    case ScriptVerb::Breakpoints:
        return breakpointVerb(line, out);
    case ScriptVerb::Ranks:
    case ScriptVerb::Compared:
    case ScriptVerb::Where:
    case ScriptVerb::Print:
    case ScriptVerb::Parts:
    case ScriptVerb::Locals:
    case ScriptVerb::Stack:
    case ScriptVerb::Gdb:
    case ScriptVerb::Output:
    case ScriptVerb::Input:
        return look(line, out);
    case ScriptVerb::Events:
    case ScriptVerb::Messages:
    case ScriptVerb::Transfers:
    case ScriptVerb::Times:
    case ScriptVerb::Point:
    case ScriptVerb::Frontier:
    case ScriptVerb::Stopline:
    case ScriptVerb::Clear:
    case ScriptVerb::Refresh:
    case ScriptVerb::Follow:
    case ScriptVerb::History:
    case ScriptVerb::Stops:
        return history(line, out);
    case ScriptVerb::Races:
        return races(line, out);
    case ScriptVerb::NextRace:
        return nextRace(line, out);
    case ScriptVerb::Take:
        return take(line);
    case ScriptVerb::Executions:
    case ScriptVerb::Execution:
    case ScriptVerb::Differ:
        return executions(line, out);
    case ScriptVerb::Go:
    case ScriptVerb::Undo:
    case ScriptVerb::Redo:
    case ScriptVerb::Rollback:
    case ScriptVerb::Forward:
    case ScriptVerb::Cancel:
        return timeTravel(line, out);
    case ScriptVerb::Wait:
        return wait(line);
    case ScriptVerb::Expect:
        return expect(line);
    case ScriptVerb::Sleep: {
        bool ok = false;
        const double seconds = line.words.first().toDouble(&ok);
        if (!ok || seconds < 0 || seconds > 3600) {
            return {Verdict::Failed, QStringLiteral("needs a number of seconds from 0 to 3600")};
        }
        const QDeadlineTimer deadline(static_cast<qint64>(seconds * 1000));
        waitFor([&deadline] { return deadline.hasExpired(); }, 3700s);
        return {};
    }
    case ScriptVerb::Echo:
        out << line.rest;
        return {};
    case ScriptVerb::Quit: {
        bool ok = true;
        m_quitCode = line.words.isEmpty() ? 0 : line.words.first().toInt(&ok);
        return ok ? Outcome{Verdict::Quit, {}} : Outcome{Verdict::Failed, QStringLiteral("needs a number")};
    }
    case ScriptVerb::Screenshot:
    case ScriptVerb::Select:
    case ScriptVerb::Resize:
    case ScriptVerb::Axis:
    case ScriptVerb::Style:
    case ScriptVerb::Dock:
        return window(line);
    }
    return {Verdict::Failed, QStringLiteral("unknown verb")};
}

bool BatchRunner::waitFor(const std::function<bool()>& done, std::chrono::milliseconds limit) {
    const QDeadlineTimer deadline(limit);
    QEventLoop loop;
    QTimer tick; // wakes the loop, so that the deadline and conditions without a signal are looked at
    tick.start(20ms);
    while (!done()) {
        if (m_aborted || deadline.hasExpired()) {
            return false;
        }
        loop.processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    }
    return true;
}

std::chrono::milliseconds BatchRunner::limit(const ScriptLine& line) const {
    return line.within.value_or(m_options.wait);
}

BatchRunner::Outcome BatchRunner::timedOut(const ScriptLine& line) const {
    if (m_aborted) {
        return {Verdict::Failed, QStringLiteral("the script was ended")};
    }
    QString text = QStringLiteral("not so after %1 s").arg(static_cast<double>(limit(line).count()) / 1000.0);
    if (const QString operation = m_session->operation(); !operation.isEmpty()) {
        text += QStringLiteral("; under way: ") + operation;
    }
    return {Verdict::TimedOut, text};
}

void BatchRunner::endJob() {
    if (!m_session->jobExists()) {
        return;
    }
    m_session->kill();
    m_aborted = false;
    if (!waitFor([this] { return !m_session->jobExists(); }, 20s)) {
        m_options.err(QStringLiteral("warning: the job did not end within 20 s"));
    }
}

QVector<RankId> BatchRunner::allRanks() const {
    QVector<RankId> all;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        all << RankId{rank};
    }
    return all;
}

QVector<RankId> BatchRunner::focusRanks() const {
    const Focus focus = m_session->focus();
    QVector<RankId> chosen;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        if (focus.contains(RankId{rank})) {
            chosen << RankId{rank};
        }
    }
    return chosen;
}

std::optional<QVector<RankId>> BatchRunner::ranks(const QString& text, QString& error) const {
    if (text.isEmpty()) {
        return focusRanks();
    }
    if (text == QLatin1StringView("all")) {
        return allRanks();
    }
    QVector<RankId> result;
    const auto numbers = parseRankSet(text);
    if (!numbers) {
        error = QStringLiteral("`%1` is not a set of ranks like 3 or 0-3,7").arg(text);
        return std::nullopt;
    }
    for (const int rank : *numbers) {
        if (rank >= m_session->rankCount()) {
            error = QStringLiteral("there is no rank %1: the job has %2 ranks")
                        .arg(rankText(RankId{rank}))
                        .arg(m_session->rankCount());
            return std::nullopt;
        }
        result << RankId{rank};
    }
    return result;
}

std::optional<RankId> BatchRunner::oneRank(const QString& text, QString& error) const {
    const auto all = ranks(text, error);
    if (!all) {
        return std::nullopt;
    }
    if (all->size() != 1) {
        error = QStringLiteral("needs one rank, not `%1`").arg(text);
        return std::nullopt;
    }
    return all->first();
}

/// What is seen of ranks is still the job's before.
bool BatchRunner::launchToCome() const {
    return m_launching && m_session->launches() == m_launchesBefore;
}

void BatchRunner::noteRank(RankId rank) {
    if (launchToCome()) {
        return;
    }
    const RankView view = m_session->rank(rank);
    const RankPhase phase = view.phase;
    // One that was ended by a signal before it was seen running has been taken down with a launch that failed.
    m_begun = m_begun || phase == RankPhase::Running || phase == RankPhase::Holding || phase == RankPhase::Stopped ||
              (phase == RankPhase::Exited && view.exitSignal == 0);
    if (phase != RankPhase::Stopped) {
        m_resuming.remove(rank.value());
    }
    if (phase != RankPhase::NotStarted) {
        m_launching = false;
    }
}

} // namespace stopline::app
