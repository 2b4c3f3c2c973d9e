// Verbs about breakpoints.
#include "batch.h"
#include "../replay/words.h"

#include <algorithm>

namespace stopline::app {

using namespace replay;

BatchRunner::Outcome BatchRunner::breakpointVerb(const ScriptLine& line, Lines& out) {
    const QVector<UserBreakpoint> all = m_session->breakpoints();
    if (line.verb == ScriptVerb::Breakpoints) {
        for (const UserBreakpoint& b : all) {
            QString text = QStringLiteral("%1 %2").arg(b.id).arg(b.location);
            if (!b.condition.isEmpty()) {
                text += QStringLiteral(" if ") + b.condition;
            }
            if (b.onlyRank) {
                text += QStringLiteral(" rank %1").arg(rankText(*b.onlyRank));
            }
            text += b.enabled ? QString() : QStringLiteral(" disabled");
            if (!b.refused.isEmpty()) {
                text += QStringLiteral(" refused: ") + b.refused;
            } else {
                text += b.pending ? QStringLiteral(" pending") : QStringLiteral(" hits %1").arg(b.hits);
            }
            out << text;
        }
        return {};
    }
    if (line.verb == ScriptVerb::Break) {
        QString location = line.rest;
        QString condition;
        if (const qsizetype at = location.indexOf(QLatin1StringView(" if ")); at > 0) {
            condition = location.mid(at + 4).trimmed();
            location = location.left(at).trimmed();
        }
        std::optional<RankId> only;
        if (const qsizetype at = location.indexOf(QLatin1StringView(" rank ")); at > 0) {
            only = replay::rankOfName(location.mid(at + 6).trimmed().toStdString());
            if (!only) {
                return {Verdict::Failed, QStringLiteral("`rank` needs one rank")};
            }
            location = location.left(at).trimmed();
        }
        m_warning.clear();
        const int id = m_session->addBreakpoint(location, condition, only);
        if (id == 0) {
            return {Verdict::Failed, m_warning};
        }
        // What comes next in the script may depend on it.
        if (!waitFor([this, id] { return m_session->breakpointSettled(id); }, limit(line))) {
            return timedOut(line);
        }
        for (const UserBreakpoint& b : m_session->breakpoints()) {
            if (b.id == id && !b.refused.isEmpty()) {
                m_session->removeBreakpoint(id); // it would hold the next run
                return {Verdict::Failed, b.refused};
            }
        }
        out << QStringLiteral("breakpoint %1").arg(id);
        return {};
    }
    if (line.verb == ScriptVerb::Delete && line.rest == QLatin1StringView("all")) {
        for (const UserBreakpoint& b : all) {
            m_session->removeBreakpoint(b.id);
        }
        return {};
    }
    const int id = line.rest.toInt();
    if (std::none_of(all.begin(), all.end(), [id](const UserBreakpoint& b) { return b.id == id; })) {
        return {Verdict::Failed, QStringLiteral("there is no breakpoint %1").arg(line.rest)};
    }
    if (line.verb == ScriptVerb::Delete) {
        m_session->removeBreakpoint(id);
    } else {
        m_session->setBreakpointEnabled(id, line.verb == ScriptVerb::Enable);
        if (line.verb == ScriptVerb::Enable &&
            !waitFor([this, id] { return m_session->breakpointSettled(id); }, limit(line))) {
            return timedOut(line);
        }
    }
    return {};
}

} // namespace stopline::app
