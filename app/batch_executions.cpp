// Executions beside the one on show.
#include "batch.h"

#include "race_text.h"
#include "../replay/words.h"

#include <algorithm>

namespace stopline::app {

using namespace replay;

BatchRunner::Outcome BatchRunner::executions(const ScriptLine& line, Lines& out) {
    const QVector<Session::Execution> all = m_session->executions();
    if (line.verb == ScriptVerb::Executions) {
        for (const Session::Execution& one : all) {
            out << QStringLiteral("%1%2 %3").arg(one.shown ? QStringLiteral("*") : QStringLiteral(" ")).arg(one.number).arg(executionText(one));
        }
        return {};
    }
    bool ok = false;
    const int number = line.words.first().toInt(&ok);
    const bool there = std::any_of(all.begin(), all.end(), [number](const Session::Execution& one) { return one.number == number; });
    if (!ok || !there) {
        return {Verdict::Failed, QStringLiteral("there is no execution %1").arg(line.words.first())};
    }
    if (line.verb == ScriptVerb::Execution) {
        m_operationDone = false;
        m_session->showExecution(number);
        if (!waitFor([this] { return m_operationDone; }, limit(line))) {
            return timedOut(line);
        }
        return m_operationOk ? Outcome{} : Outcome{Verdict::Failed, m_operationText};
    }
    const auto shown = std::find_if(all.begin(), all.end(), [](const Session::Execution& one) { return one.shown; });
    if (shown != all.end() && shown->number == number) {
        return {Verdict::Failed, QStringLiteral("execution %1 is on show: name another one, to be compared with it").arg(number)};
    }
    for (const Session::ExecutionDifference& one : m_session->differences(number)) {
        out << QStringLiteral("[%1] %2").arg(rankText(one.rank), differenceText(one));
    }
    return {};
}

} // namespace stopline::app
