// Verbs that move ranks.
#include "batch.h"

#include "text.h"

#include <algorithm>

namespace stopline::app {

using namespace replay;
using namespace std::chrono_literals;

/// Marks the ranks that the verb is about to move, so that a wait does not take their present stop for the
/// next one.
void BatchRunner::expectResume(Verb verb) {
    m_resuming.clear();
    m_moved.clear();
    m_stayed.clear();
    m_warning.clear();
    if (verb == Verb::Run || verb == Verb::Restart || verb == Verb::Replay) {
        m_launching = true;
        m_launchesBefore = m_session->launches();
        m_begun = false;
        return;
    }
    for (const RankId rank : focusRanks()) {
        if (m_session->rank(rank).phase == RankPhase::Stopped) {
            m_resuming.insert(rank.value());
            m_moved << rank;
        }
    }
}

BatchRunner::Outcome BatchRunner::open(const ScriptLine& line, const QString& file) {
    m_operationDone = false;
    m_session->openRecording(file);
    if (!waitFor([this] { return m_operationDone; }, limit(line))) {
        return timedOut(line);
    }
    return m_operationOk ? Outcome{} : Outcome{Verdict::Failed, m_operationText};
}

BatchRunner::Outcome BatchRunner::control(const ScriptLine& line, Lines& out) {
    if (line.verb == ScriptVerb::Run || line.verb == ScriptVerb::Start || line.verb == ScriptVerb::Restart ||
        line.verb == ScriptVerb::Replay) {
        m_mustBegin = !line.mayFail;
    }
    const auto usable = [this](Verb verb) -> Outcome {
        const QString why = m_session->whyNot(verb);
        return why.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, why};
    };
    switch (line.verb) {
    case ScriptVerb::Run:
    case ScriptVerb::Start: {
        if (const Outcome o = usable(Verb::Run); o.result != Verdict::Done) {
            return o;
        }
        m_session->setStopAtStart(line.verb == ScriptVerb::Start);
        expectResume(Verb::Run);
        m_session->run();
        if (const Outcome o = waitLaunched(line); o.result != Verdict::Done) {
            return o;
        }
        return line.verb == ScriptVerb::Start ? waitStopped(line, {}, false) : Outcome{};
    }
    case ScriptVerb::Restart:
        if (const Outcome o = usable(Verb::Restart); o.result != Verdict::Done) {
            return o;
        }
        expectResume(Verb::Restart);
        m_session->restart();
        return waitLaunched(line);
    case ScriptVerb::Replay:
        if (const Outcome o = usable(Verb::Replay); o.result != Verdict::Done) {
            return o;
        }
        m_session->setStopAtStart(false);
        expectResume(Verb::Replay);
        m_session->replay();
        return waitLaunched(line);
    case ScriptVerb::Open: {
        const Outcome outcome = open(line, line.words.first());
        if (outcome.result == Verdict::Done) {
            out << m_operationText;
        }
        return outcome;
    }
    case ScriptVerb::Continue:
        if (const Outcome o = usable(Verb::Continue); o.result != Verdict::Done) {
            return o;
        }
        expectResume(Verb::Continue);
        m_session->continueRun();
        return {};
    case ScriptVerb::Pause:
        if (const Outcome o = usable(Verb::Pause); o.result != Verdict::Done) {
            return o;
        }
        m_session->pause();
        return waitStopped(line, focusRanks(), true);
    case ScriptVerb::Step: {
        const QString how = line.words.isEmpty() ? QStringLiteral("over") : line.words.first();
        Verb verb = Verb::StepOver;
        if (how == QLatin1StringView("into")) {
            verb = Verb::StepInto;
        } else if (how == QLatin1StringView("out")) {
            verb = Verb::StepOut;
        } else if (how != QLatin1StringView("over")) {
            return {Verdict::Failed, QStringLiteral("step over, into or out, not `%1`").arg(how)};
        }
        if (const Outcome o = usable(verb); o.result != Verdict::Done) {
            return o;
        }
        expectResume(verb);
        const QVector<RankId> moved = m_moved;
        switch (verb) {
        case Verb::StepInto:
            m_session->stepInto();
            break;
        case Verb::StepOut:
            m_session->stepOut();
            break;
        default:
            m_session->stepOver();
            break;
        }
        return waitThere(line, moved, QStringLiteral("the step was over"));
    }
    case ScriptVerb::RunTo: {
        const qsizetype colon = line.rest.lastIndexOf(u':');
        bool ok = false;
        const int number = line.rest.mid(colon + 1).toInt(&ok);
        if (colon <= 0 || !ok) {
            return {Verdict::Failed, QStringLiteral("needs FILE:LINE")};
        }
        if (const Outcome o = usable(Verb::RunTo); o.result != Verdict::Done) {
            return o;
        }
        expectResume(Verb::RunTo);
        const QVector<RankId> moved = m_moved;
        m_session->runTo(line.rest.left(colon), number);
        return waitThere(line, moved, QStringLiteral("coming to %1").arg(line.rest));
    }
    case ScriptVerb::Kill:
        if (!m_session->jobExists()) {
            return {Verdict::Failed, QStringLiteral("there is no job")};
        }
        m_session->kill();
        return waitFor([this] { return !m_session->jobExists(); }, limit(line)) ? Outcome{} : timedOut(line);
    case ScriptVerb::Focus:
    case ScriptVerb::Show: {
        if (line.verb == ScriptVerb::Focus && line.rest == QLatin1StringView("all")) {
            m_session->setFocus({});
            return {};
        }
        QString error;
        if (line.verb == ScriptVerb::Focus) {
            const auto chosen = ranks(line.rest, error);
            if (!chosen) {
                return {Verdict::Failed, error};
            }
            const Focus focus = chosen->size() == m_session->rankCount() ? Focus{} : Focus::of(*chosen);
            m_session->setFocus(focus);
            if (!focus.contains(m_session->shownRank())) {
                m_session->setShownRank(chosen->first());
            }
            return {};
        }
        const auto rank = oneRank(line.rest, error);
        if (!rank) {
            return {Verdict::Failed, error};
        }
        m_session->setShownRank(*rank);
        return {};
    }
    default:
        break;
    }
    Q_UNUSED(out);
    return {Verdict::Failed, QStringLiteral("unknown verb")};
}

BatchRunner::Outcome BatchRunner::timeTravel(const ScriptLine& line, Lines& out) {
    if (line.verb == ScriptVerb::Cancel) {
        return cancel(line, out);
    }
    Verb verb = Verb::Go;
    switch (line.verb) {
    case ScriptVerb::Undo:
        verb = Verb::Undo;
        break;
    case ScriptVerb::Redo:
        verb = Verb::Redo;
        break;
    case ScriptVerb::Rollback:
        verb = Verb::Rollback;
        break;
    case ScriptVerb::Forward:
        verb = Verb::Forward;
        break;
    default:
        break;
    }
    if (const QString why = m_session->whyNot(verb); !why.isEmpty()) {
        return {Verdict::Failed, why};
    }
    m_operationDone = false;
    m_operationAsked = true;
    m_resuming.clear();
    switch (verb) {
    case Verb::Undo:
        m_session->undo();
        break;
    case Verb::Redo:
        m_session->redo();
        break;
    case Verb::Rollback:
        m_session->rollback();
        break;
    case Verb::Forward:
        m_session->forward();
        break;
    default:
        m_session->go();
        break;
    }
    if (!waitFor([this] { return m_operationDone; }, limit(line))) {
        return timedOut(line);
    }
    m_operationAsked = false;
    if (!m_operationOk) {
        return {Verdict::Failed, m_operationText};
    }
    if (!m_operationText.isEmpty()) {
        out << m_operationText;
    }
    return {};
}

/// Returns when the operation has ended and everybody stands, so that what comes next can be used.
BatchRunner::Outcome BatchRunner::cancel(const ScriptLine& line, Lines& out) {
    // One that has just been asked for first asks where ranks are, and can be ended only when that is known.
    const auto under = [this] { return !m_session->operation().isEmpty() || m_operationDone; };
    if (!waitFor(under, m_operationAsked ? limit(line) : 0ms)) {
        return {Verdict::Failed, QStringLiteral("nothing is under way")};
    }
    const bool ends = !m_session->operation().isEmpty();
    if (ends) {
        m_operationDone = false;
        m_session->cancel();
    }
    const auto over = [this] { return m_session->operation().isEmpty() && m_operationDone; };
    if (ends && !waitFor(over, limit(line))) {
        return timedOut(line);
    }
    m_operationAsked = false;
    if (!ends) {
        return {Verdict::Failed, QStringLiteral("nothing is under way")};
    }
    // Ranks that had not come yet when it ended are stopped as they come.
    const auto stands = [this](RankId rank) {
        const RankPhase phase = m_session->rank(rank).phase;
        return phase != RankPhase::NotStarted && phase != RankPhase::Starting && phase != RankPhase::Running;
    };
    const auto all = allRanks();
    const auto settled = [&] {
        return !m_session->jobExists() || std::all_of(all.begin(), all.end(), stands);
    };
    if (!waitFor(settled, limit(line))) {
        return timedOut(line);
    }
    askRunning(allRanks());
    for (const RankId rank : allRanks()) {
        out << rankLine(rank);
    }
    return {};
}

BatchRunner::Outcome BatchRunner::window(const ScriptLine& line) {
    if (m_window == nullptr) {
        return {Verdict::Failed, QStringLiteral("needs the window")};
    }
    QString wrong;
    switch (line.verb) {
    case ScriptVerb::Screenshot:
        wrong = m_window->screenshot(line.rest);
        break;
    case ScriptVerb::Axis:
        wrong = m_window->axis(line.rest);
        break;
    case ScriptVerb::Style:
        wrong = m_window->style(line.rest);
        break;
    case ScriptVerb::Dock:
        wrong = m_window->dock(line.rest);
        break;
    case ScriptVerb::Resize: {
        const int width = line.words.at(0).toInt();
        const int height = line.words.at(1).toInt();
        wrong = width < 1 || height < 1 ? QStringLiteral("needs a width and a height")
                                        : m_window->resize(width, height);
        break;
    }
    case ScriptVerb::Select: {
        const auto rank = oneRank(line.words.at(0), wrong);
        if (!rank) {
            break;
        }
        const auto call = m_session->timeline().callAt(*rank, EventIndex{line.words.at(1).toULongLong()});
        wrong = call ? m_window->select(*call)
                     : QStringLiteral("rank %1 has no event %2").arg(line.words.at(0), line.words.at(1));
        break;
    }
    default:
        wrong = QStringLiteral("unknown verb");
        break;
    }
    return wrong.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, wrong};
}

} // namespace stopline::app
