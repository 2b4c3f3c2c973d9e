// What is beside the lines of the open files: ranks, breakpoints, and whether the lines are still the
// program's.
#include "source_view.h"

#include "icons.h"
#include "key_bindings.h"
#include "look.h"
#include "source_watch.h"
#include "text.h"
#include "../replay/words.h"

#include <QFileInfo>
#include <QTabWidget>
#include <QTimer>

namespace stopline::app {

using namespace replay;

namespace {

/// A set that fits into the margin: scattered ranks are cut short and counted, the strip above has them all.
QString shortSet(const QVector<int>& ranks) {
    constexpr qsizetype kMost = 12;
    const QString text = rankSetText(ranks);
    if (text.size() <= kMost) {
        return text;
    }
    const qsizetype comma = text.lastIndexOf(u',', 6);
    return QStringLiteral("%1…(%2)").arg(text.left(comma < 0 ? 0 : comma + 1)).arg(ranks.size());
}

} // namespace

/// Many ranks change at once; one repaint serves them all.
void SourceView::scheduleMarks() {
    if (!m_marksDue) {
        m_marksDue = true;
        QTimer::singleShot(0, this, &SourceView::updateMarks);
    }
}

void SourceView::updateMarks() {
    m_marksDue = false;
    const int shown = m_session->shownRank().value();
    for (SourceEditor* editor : editors()) {
        QMap<int, QVector<int>> byLine;
        QSet<int> strong;
        for (int rank = 0; rank < m_session->rankCount(); ++rank) {
            const RankView view = m_session->rank(RankId{rank});
            const bool stands = view.phase == RankPhase::Stopped || view.phase == RankPhase::Holding;
            if (!stands || !view.location.known() ||
                !sameSourceFile(view.location.file, editor->debugPath())) {
                continue;
            }
            byLine[view.location.line] << rank;
            if (rank == shown) {
                strong.insert(view.location.line);
            }
        }
        QMap<int, QString> marks;
        for (auto it = byLine.cbegin(); it != byLine.cend(); ++it) {
            marks.insert(it.key(), shortSet(it.value()));
        }
        editor->setRankMarks(marks, strong);
    }
}

void SourceView::updateBreakpoints() {
    for (SourceEditor* editor : editors()) {
        QMap<int, SourceEditor::BreakpointKind> lines;
        for (const UserBreakpoint& b : m_session->breakpoints()) {
            QString file = b.file;
            int line = b.line;
            if (b.pending || line <= 0) {
                // Before the first run gdb has not said where it is: believe what the user wrote.
                const qsizetype colon = b.location.lastIndexOf(u':');
                file = b.location.left(colon);
                line = colon > 0 ? b.location.mid(colon + 1).toInt() : 0;
            }
            if (line > 0 && sameSourceFile(file, editor->debugPath())) {
                lines.insert(line, !b.enabled             ? SourceEditor::BreakpointKind::Disabled
                                   : !b.refused.isEmpty() ? SourceEditor::BreakpointKind::Refused
                                   : b.pending            ? SourceEditor::BreakpointKind::Pending
                                                          : SourceEditor::BreakpointKind::Enabled);
            }
        }
        editor->setBreakpoints(lines);
    }
}

void SourceView::reload(const QString& file) {
    for (SourceEditor* editor : editors()) {
        if (editor->file() == file) {
            editor->reload();
            m_outdatedSaid.remove(file);
            sayIfOutdated(editor);
        }
    }
    markOutdated();
    updateBreakpoints();
    updateMarks();
}

void SourceView::markOutdated() {
    const RankId shown = m_session->shownRank();
    for (SourceEditor* editor : editors()) {
        const QString file = editor->file();
        const bool outdated = m_watch->newerThanProgramOf(shown, file);
        const int index = m_tabs->indexOf(editor);
        m_tabs->setTabIcon(index, outdated ? icon(QStringLiteral("warning")) : QIcon());
        m_tabs->setTabToolTip(index,
                              outdated ? tr("%1\nhas changed since %2 of rank %3 was built: lines may be off")
                                             .arg(file, QFileInfo(m_watch->moduleOf(shown, file)).fileName())
                                             .arg(rankText(shown))
                                       : file);
    }
}

/// Once for each change of a file and each run: going back in a run brings nothing new.
void SourceView::sayIfOutdated(const SourceEditor* editor) {
    const QString file = editor->file();
    const RankId shown = m_session->shownRank();
    if (m_outdatedSaid.contains(file) || !m_watch->newerThanProgramOf(shown, file)) {
        return;
    }
    const QString text =
        tr("%1 has changed since %2 was built; lines may be off.")
            .arg(QFileInfo(file).fileName(), QFileInfo(m_watch->moduleOf(shown, file)).fileName());
    m_outdatedSaid.insert(file, text);
    emit problem(text, m_watch->builtAgain(shown, file)
                           ? tr("It has been built again: Restart%1 runs the new program.")
                                 .arg(keyNote(QStringLiteral("restart")))
                           : tr("Rebuild and Restart%1.").arg(keyNote(QStringLiteral("restart"))));
}

void SourceView::forgetOutdated() {
    for (const QString& text : std::as_const(m_outdatedSaid)) {
        emit problemGone(text);
    }
    m_outdatedSaid.clear();
}

void SourceView::toggleBreakpoint(SourceEditor* editor, int line) {
    for (const UserBreakpoint& b : m_session->breakpoints()) {
        const qsizetype colon = b.location.lastIndexOf(u':');
        const bool resolved = b.line == line && sameSourceFile(b.file, editor->debugPath());
        const bool written = colon > 0 && b.location.mid(colon + 1).toInt() == line &&
                             sameSourceFile(b.location.left(colon), editor->debugPath());
        if (resolved || written) {
            m_session->removeBreakpoint(b.id);
            return;
        }
    }
    m_session->addBreakpoint(QStringLiteral("%1:%2").arg(editor->debugPath()).arg(line));
}

} // namespace stopline::app
