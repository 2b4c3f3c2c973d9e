// Verbs that look at ranks: where, print, locals, stack, output.
#include "batch.h"

#include "text.h"
#include "variable_node.h"
#include "../replay/words.h"

#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <memory>

namespace stopline::app {

using namespace replay;
using namespace std::chrono_literals;

namespace {

/// An answer that comes later; shared with the handler, which may outlive the wait.
template <typename T>
using Pending = std::shared_ptr<std::optional<Result<T>>>;

template <typename T>
Pending<T> pending() {
    return std::make_shared<std::optional<Result<T>>>();
}

template <typename T>
Session::Handler<T> into(const Pending<T>& slot) {
    return [slot](Result<T> answer) { slot->emplace(std::move(answer)); };
}

int frameOf(const RankView& view) {
    return view.userFrame; // negative: the session finds it
}

constexpr auto kAnswer = 2s; ///< for an agent to tell where its rank is

/// "rows.c:36 deal_rows"
QString lineAndFunction(const RankView& view, bool fullPath) {
    const QString text = locationText(view.location, fullPath);
    return view.location.function.isEmpty() ? text : text + QStringLiteral(" ") + view.location.function;
}

/// "running  after 12 MPI_Send", "waiting in MPI  inside 17 MPI_Allreduce  rows.c:36 deal_rows"
QString runningText(const Timeline& timeline, const RankView& view, bool fullPath) {
    if (view.place.event.value() == 0) {
        return liveStateText(view);
    }
    QString text = fullStateText(view) + QStringLiteral("  ") + placeText(timeline, view);
    if (view.insideMpi && view.location.known()) {
        text += QStringLiteral("  ") + lineAndFunction(view, fullPath);
    }
    return text;
}

} // namespace

QString BatchRunner::tidy(QString value) const {
    if (!m_options.verbose) {
        static const QRegularExpression address(QStringLiteral("0x[0-9a-f]{6,}"));
        value.replace(address, QStringLiteral("0x…"));
    }
    return value;
}

/// Nobody tells of the progress of a rank that runs: its agent is asked, and given a moment to answer. What is
/// shown of it afterwards is of then, and not of its last stop.
void BatchRunner::askRunning(const QVector<RankId>& ranks) {
    if (!m_session->operation().isEmpty()) {
        return; // the ranks are watched on their way, and nobody else may read their traces
    }
    QSet<int> asked;
    const auto answered = connect(m_session, &Session::rankChanged, this,
                                  [&asked](RankId rank) { asked.remove(rank.value()); });
    for (const RankId rank : ranks) {
        if (m_session->rank(rank).phase == RankPhase::Running) {
            asked.insert(rank.value());
            m_session->lookAt(rank);
        }
    }
    waitFor(
        [&] {
            return std::none_of(asked.begin(), asked.end(), [this](int rank) {
                return m_session->rank(RankId{rank}).phase == RankPhase::Running;
            });
        },
        kAnswer);
    disconnect(answered);
}

RankView BatchRunner::shownView(RankId rank) const {
    return m_session->operation().isEmpty() ? m_session->rank(rank) : m_session->live(rank);
}

QString BatchRunner::whereText(RankId rank) const {
    const RankView view = shownView(rank);
    if (view.phase == RankPhase::Running) { // what it is doing says more than a line that it is not at
        return runningText(m_session->timeline(), view, m_options.verbose);
    }
    if (!view.location.known()) {
        return view.phase == RankPhase::Stopped ? QStringLiteral("unknown line") : stateText(view);
    }
    return lineAndFunction(view, m_options.verbose);
}

QString BatchRunner::rankLine(RankId rank) const {
    const RankView view = shownView(rank);
    QString text = QStringLiteral("[%1] ").arg(rankText(rank));
    if (view.phase == RankPhase::Running) {
        text += runningText(m_session->timeline(), view, m_options.verbose);
    } else {
        text += fullStateText(view);
        if (view.phase != RankPhase::NotStarted) {
            text += QStringLiteral("  ") + placeText(m_session->timeline(), view);
        }
    }
    if (view.location.known() && view.phase == RankPhase::Stopped) {
        text += QStringLiteral("  ") + whereText(rank);
    } else if (!m_session->openedRecording().isEmpty() && view.phase == RankPhase::Exited) {
        text += lastLineText(view);
    }
    if (m_options.verbose && view.pid > 0) {
        text += QStringLiteral("  pid %1 gdb %2").arg(view.pid).arg(view.gdbPid);
    }
    return text;
}

void BatchRunner::outputLines(const QVector<RankId>& ranks, Lines& out) const {
    for (const RankId rank : ranks) {
        const QString tag =
            rank.value() < 0 ? QStringLiteral("[launcher] ") : QStringLiteral("[%1] ").arg(rankText(rank));
        QString text = QString::fromUtf8(m_session->output(rank));
        if (text.endsWith(u'\n')) {
            text.chop(1);
        }
        if (text.isEmpty()) {
            continue;
        }
        for (const QString& one : text.split(u'\n')) {
            out << tag + one;
        }
    }
}

BatchRunner::Outcome BatchRunner::look(const ScriptLine& line, Lines& out) {
    switch (line.verb) {
    case ScriptVerb::Print:
        return print(line, out);
    case ScriptVerb::Parts:
        return parts(line, out);
    case ScriptVerb::Locals:
        return locals(line, out);
    case ScriptVerb::Stack:
        return stack(line, out);
    case ScriptVerb::Gdb:
        return gdb(line, out);
    case ScriptVerb::Input:
        m_session->writeInput(line.rest.toUtf8() + '\n');
        return {};
    case ScriptVerb::Compared: {
        const Session::Comparison now = m_session->comparison();
        if (!now.again) {
            out << QStringLiteral("the first execution: there is nothing to compare it with");
        }
        for (int rank = 0; rank < now.compared.size(); ++rank) {
            out << QStringLiteral("[%1] %2 through event %3%4")
                       .arg(rankText(RankId{rank}))
                       .arg(now.equal ? QStringLiteral("identical") : QStringLiteral("equal"))
                       .arg(now.compared[rank].value())
                       .arg(!now.equal                            ? QStringLiteral(", as far as compared before the departure")
                            : now.live.contains(RankId{rank}) ? QStringLiteral(", live behind it")
                                                              : QString());
        }
        return {};
    }
    case ScriptVerb::Ranks:
        askRunning(allRanks());
        for (const RankId rank : allRanks()) {
            out << rankLine(rank);
        }
        if (m_session->rankCount() == 0) {
            out << QStringLiteral("no job");
        }
        return {};
    default:
        break;
    }
    if (line.verb == ScriptVerb::Output && line.rest == QLatin1StringView("launcher")) {
        outputLines({RankId{-1}}, out);
        return {};
    }
    QString error;
    const auto wanted = ranks(line.rest, error);
    if (!wanted) {
        return {Verdict::Failed, error};
    }
    if (line.verb == ScriptVerb::Output) {
        outputLines(*wanted, out);
        return {};
    }
    askRunning(*wanted);
    for (const RankId rank : *wanted) {
        out << QStringLiteral("[%1] %2").arg(rankText(rank)).arg(whereText(rank));
    }
    return {};
}

/// "EXPRESSION [rank RANKS]".
std::optional<QVector<RankId>> BatchRunner::rankSuffix(const QString& text, QString& expression, QString& error) const {
    static const QRegularExpression suffix(QStringLiteral("\\srank\\s+(all|[0-9][0-9:,.\\-]*)$"));
    const QRegularExpressionMatch match = suffix.match(text);
    expression = match.hasMatch() ? text.left(match.capturedStart()).trimmed() : text.trimmed();
    return ranks(match.captured(1), error);
}

BatchRunner::Values BatchRunner::evaluate(const QString& text, std::chrono::milliseconds limit,
                                          QString* expression) {
    Values result;
    QString what;
    QString error;
    const auto wanted = rankSuffix(text, what, error);
    if (expression != nullptr) {
        *expression = what;
    }
    if (!wanted) {
        result.outcome = {Verdict::Failed, error};
        return result;
    }
    QVector<Pending<QString>> answers;
    for (const RankId rank : *wanted) {
        answers << pending<QString>();
        m_session->evaluate(rank, frameOf(m_session->rank(rank)), what, into(answers.last()));
    }
    const auto all = [&answers] {
        return std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a->has_value(); });
    };
    if (!waitFor(all, limit)) {
        result.outcome = {Verdict::TimedOut, QStringLiteral("no answer from gdb")};
        return result;
    }
    for (qsizetype i = 0; i < answers.size(); ++i) {
        const Result<QString>& answer = **answers[i];
        if (!answer) {
            result.outcome = {
                Verdict::Failed,
                QStringLiteral("rank %1: %2").arg((*wanted)[i].value()).arg(answer.error().text)};
            continue;
        }
        result.values.append({(*wanted)[i], tidy(answer.value())});
    }
    return result;
}

BatchRunner::Outcome BatchRunner::print(const ScriptLine& line, Lines& out) {
    QString expression;
    const Values values = evaluate(line.rest, limit(line), &expression);
    for (const auto& [rank, value] : values.values) {
        out << QStringLiteral("[%1] %2 = %3").arg(rankText(rank)).arg(expression, value);
    }
    return values.outcome;
}

BatchRunner::Outcome BatchRunner::parts(const ScriptLine& line, Lines& out) {
    constexpr int kMost = 200;
    QString expression;
    QString error;
    const auto wanted = rankSuffix(line.rest, expression, error);
    if (!wanted) {
        return {Verdict::Failed, error};
    }
    for (const RankId rank : *wanted) {
        const auto whole = pending<mi::ValueTree>();
        m_session->openValue(rank, frameOf(m_session->rank(rank)), expression, into(whole));
        if (!waitFor([&whole] { return whole->has_value(); }, limit(line))) {
            return {Verdict::TimedOut, QStringLiteral("no answer from the gdb of rank %1").arg(rankText(rank))};
        }
        if (!**whole) {
            return {Verdict::Failed,
                    QStringLiteral("rank %1: %2").arg(rankText(rank)).arg((**whole).error().text)};
        }
        const mi::ValueTree& value = (**whole).value();
        const auto inside = pending<QVector<mi::ValueTree>>();
        m_session->valueParts(rank, value.handle, 0, kMost, into(inside));
        const bool answered = waitFor([&inside] { return inside->has_value(); }, limit(line));
        m_session->closeValue(rank, value.handle);
        if (!answered || !**inside) {
            return {answered ? Verdict::Failed : Verdict::TimedOut,
                    answered ? (**inside).error().text : QStringLiteral("no answer from gdb")};
        }
        VariableNode node;
        node.kind = VariableNode::Kind::Variable;
        node.type = value.type;
        for (const mi::ValueTree& part : (**inside).value()) {
            out << QStringLiteral("[%1] %2 = %3  %4")
                       .arg(rankText(rank))
                       .arg(partName(node, part.name), tidy(part.value), shortType(part.type));
        }
        if ((**inside).value().isEmpty()) {
            out << QStringLiteral("[%1] %2 has no parts").arg(rankText(rank)).arg(expression);
        }
    }
    return {};
}

BatchRunner::Outcome BatchRunner::locals(const ScriptLine& line, Lines& out) {
    QString error;
    const auto wanted = ranks(line.rest, error);
    if (!wanted) {
        return {Verdict::Failed, error};
    }
    Outcome outcome;
    for (const RankId rank : *wanted) {
        const auto answer = pending<QVector<mi::Variable>>();
        m_session->variables(rank, frameOf(m_session->rank(rank)), into(answer));
        if (!waitFor([&answer] { return answer->has_value(); }, limit(line))) {
            return {Verdict::TimedOut, QStringLiteral("no answer from the gdb of rank %1").arg(rankText(rank))};
        }
        if (!**answer) {
            outcome = {Verdict::Failed,
                       QStringLiteral("rank %1: %2").arg(rankText(rank)).arg((**answer).error().text)};
            continue;
        }
        for (const mi::Variable& v : (**answer).value()) {
            out << QStringLiteral("[%1] %2%3 = %4")
                       .arg(rankText(rank))
                       .arg(v.argument ? QStringLiteral("argument ") : QString(), v.name, tidy(v.value));
        }
    }
    return outcome;
}

BatchRunner::Outcome BatchRunner::stack(const ScriptLine& line, Lines& out) {
    QString error;
    const auto wanted = ranks(line.rest, error);
    if (!wanted) {
        return {Verdict::Failed, error};
    }
    Outcome outcome;
    for (const RankId rank : *wanted) {
        const auto answer = pending<QVector<mi::Frame>>();
        m_session->stack(rank, into(answer));
        if (!waitFor([&answer] { return answer->has_value(); }, limit(line))) {
            return {Verdict::TimedOut, QStringLiteral("no answer from the gdb of rank %1").arg(rankText(rank))};
        }
        if (!**answer) {
            outcome = {Verdict::Failed,
                       QStringLiteral("rank %1: %2").arg(rankText(rank)).arg((**answer).error().text)};
            continue;
        }
        for (const mi::Frame& frame : (**answer).value()) {
            if (!m_options.verbose && Session::isInternalFrame(frame)) {
                continue;
            }
            QString text = QStringLiteral("[%1] ").arg(rankText(rank));
            if (m_options.verbose) {
                text += QStringLiteral("#%1 0x%2 ").arg(frame.level).arg(frame.address, 0, 16);
            }
            text += frame.function;
            if (frame.line > 0) {
                const QString file = m_options.verbose && !frame.fullName.isEmpty()
                                         ? frame.fullName
                                         : QFileInfo(frame.file).fileName();
                text += QStringLiteral(" %1:%2").arg(file).arg(frame.line);
            }
            out << text;
        }
    }
    return outcome;
}

BatchRunner::Outcome BatchRunner::gdb(const ScriptLine& line, Lines& out) {
    QString error;
    const auto rank = oneRank(line.words.first(), error);
    if (!rank) {
        return {Verdict::Failed, error};
    }
    const auto answer = pending<QString>();
    m_session->gdbCommand(*rank, line.rest.section(u' ', 1).trimmed(), into(answer));
    if (!waitFor([&answer] { return answer->has_value(); }, limit(line))) {
        return timedOut(line);
    }
    if (!**answer) {
        return {Verdict::Failed, (**answer).error().text};
    }
    for (const QString& one : (**answer).value().split(u'\n', Qt::SkipEmptyParts)) {
        out << QStringLiteral("[%1] %2").arg(rankText(*rank)).arg(tidy(one));
    }
    return {};
}

} // namespace stopline::app
