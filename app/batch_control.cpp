// Verbs that move ranks, and waiting for them.
#include "batch.h"

#include "text.h"

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

bool hasEnded(RankPhase phase) {
    return phase == RankPhase::Exited || phase == RankPhase::Failed || phase == RankPhase::Lost;
}

} // namespace

/// Marks the ranks that the verb is about to move, so that a wait does not take their present stop for the
/// next one.
void BatchRunner::expectResume(Verb verb) {
    m_resuming.clear();
    if (verb == Verb::Run || verb == Verb::Restart) {
        m_launching = true;
        return;
    }
    for (const RankId rank : focusRanks()) {
        if (m_session->rank(rank).phase == RankPhase::Stopped) {
            m_resuming.insert(rank.value());
        }
    }
}

BatchRunner::Outcome BatchRunner::control(const ScriptLine& line, Lines& out) {
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
        return line.verb == ScriptVerb::Start ? waitStopped(line, {}, false) : Outcome{};
    }
    case ScriptVerb::Restart:
        if (const Outcome o = usable(Verb::Restart); o.result != Verdict::Done) {
            return o;
        }
        expectResume(Verb::Restart);
        m_session->restart();
        return {};
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
        const QVector<RankId> moved = focusRanks();
        expectResume(verb);
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
        return waitStopped(line, moved, true);
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
        const QVector<RankId> moved = focusRanks();
        expectResume(Verb::RunTo);
        m_session->runTo(line.rest.left(colon), number);
        return waitStopped(line, moved, true);
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
        if (m_session->operation().isEmpty()) {
            return {Verdict::Failed, QStringLiteral("nothing is under way")};
        }
        m_session->cancel();
        return {};
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
    if (!m_operationOk) {
        return {Verdict::Failed, m_operationText};
    }
    if (!m_operationText.isEmpty()) {
        out << m_operationText;
    }
    return {};
}

BatchRunner::Outcome BatchRunner::waitStopped(const ScriptLine& line, const QVector<RankId>& ranks,
                                              bool orEnded) {
    QString failure;
    const auto done = [&] {
        if (m_launching) {
            return false;
        }
        if (!m_session->jobExists() && m_session->operation().isEmpty()) {
            if (!orEnded) {
                failure = QStringLiteral("the job has ended");
            }
            return true;
        }
        const QVector<RankId> wanted = ranks.isEmpty() ? focusRanks() : ranks;
        int stopped = 0;
        int ended = 0;
        for (const RankId rank : wanted) {
            const RankPhase phase = m_session->rank(rank).phase;
            if (phase == RankPhase::Stopped && !m_resuming.contains(rank.value())) {
                ++stopped;
            } else if (hasEnded(phase)) {
                ++ended;
            }
        }
        if (wanted.isEmpty() || stopped + ended < wanted.size()) {
            return false;
        }
        if (stopped == 0 && !orEnded) {
            failure = QStringLiteral("%1 ended instead of stopping")
                          .arg(wanted.size() == 1 ? QStringLiteral("rank %1").arg(wanted.first().value())
                                                  : QStringLiteral("all ranks have"));
        }
        return true;
    };
    if (!waitFor(done, limit(line))) {
        return timedOut(line);
    }
    return failure.isEmpty() ? Outcome{} : Outcome{Verdict::Failed, failure};
}

BatchRunner::Outcome BatchRunner::wait(const ScriptLine& line) {
    const QString what = line.words.value(0);
    // How many ranks there are is known only when the launch has got that far.
    if (m_launching && !waitFor([this] { return !m_launching; }, limit(line))) {
        return timedOut(line);
    }
    if (what == QLatin1StringView("events")) {
        QString error;
        const auto rank = oneRank(line.words.value(1), error);
        bool ok = false;
        const quint64 number = line.words.value(2).toULongLong(&ok);
        if (!rank || !ok) {
            return {Verdict::Failed, rank ? QStringLiteral("needs a number of events") : error};
        }
        int turn = 0;
        const auto done = [&] {
            // Running ranks tell of new events only when asked; five times a second is enough for a script.
            if (turn++ % 10 == 0) {
                m_session->refreshTimeline();
            }
            // In this execution: the recording may already reach further.
            return rank->value() < m_session->rankCount() &&
                   m_session->rank(*rank).place.event.value() >= number;
        };
        return waitFor(done, limit(line)) ? Outcome{} : timedOut(line);
    }
    QVector<RankId> wanted;
    if (line.words.size() > 1) {
        QString error;
        const auto given = ranks(line.words.at(1), error);
        if (!given) {
            return {Verdict::Failed, error};
        }
        wanted = *given;
    }
    if (what.isEmpty() || what == QLatin1StringView("stopped")) {
        return waitStopped(line, wanted, what.isEmpty());
    }
    const bool running = what == QLatin1StringView("running");
    if (!running && what != QLatin1StringView("exited")) {
        return {Verdict::Failed,
                QStringLiteral("wait for stopped, running, exited or events, not `%1`").arg(what)};
    }
    const auto done = [&] {
        if (!m_session->jobExists() && m_session->operation().isEmpty()) {
            return true;
        }
        const QVector<RankId> all = wanted.isEmpty() ? focusRanks() : wanted;
        return !all.isEmpty() && std::all_of(all.begin(), all.end(), [&](RankId rank) {
            const RankPhase phase = m_session->rank(rank).phase;
            return running ? phase == RankPhase::Running : hasEnded(phase);
        });
    };
    if (!waitFor(done, limit(line))) {
        return timedOut(line);
    }
    if (running && !m_session->jobExists()) {
        return {Verdict::Failed, QStringLiteral("the job has ended")};
    }
    bool anyEnded = false;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        anyEnded = anyEnded || hasEnded(m_session->rank(RankId{rank}).phase);
    }
    if (!running && !anyEnded) {
        return {Verdict::Failed, QStringLiteral("no rank has been started")};
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
