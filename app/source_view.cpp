#include "source_view.h"

#include "icons.h"
#include "key_bindings.h"
#include "look.h"
#include "source_watch.h"
#include "text.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

bool sameFile(const QString& a, const QString& b) {
    if (a == b) {
        return true;
    }
    // gdb and the debug information may disagree in how much of the path they give.
    const bool partial = !a.startsWith(u'/') || !b.startsWith(u'/');
    return partial && QFileInfo(a).fileName() == QFileInfo(b).fileName();
}

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

QLabel* notePage(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setTextFormat(Qt::RichText);
    label->setMargin(24);
    label->setAutoFillBackground(true);
    label->setBackgroundRole(QPalette::Base);
    return label;
}

} // namespace

SourceView::SourceView(Look* look, QWidget* parent)
    : QWidget(parent), m_look(look), m_session(look->session()), m_stack(new QStackedWidget(this)),
      m_tabs(new QTabWidget(this)), m_notice(notePage(this)),
      m_watch(new SourceWatch(look->session(), this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    m_tabs->setTabsClosable(true);
    m_tabs->setMovable(true);
    m_tabs->setDocumentMode(true);
    connect(m_tabs, &QTabWidget::tabCloseRequested, this, [this](int index) {
        m_watch->unwatch(qobject_cast<SourceEditor*>(m_tabs->widget(index))->file());
        delete m_tabs->widget(index);
        m_stack->setCurrentWidget(m_tabs->count() > 0 ? static_cast<QWidget*>(m_tabs) : m_notice);
    });

    auto* missingPage = new QWidget(this);
    missingPage->setAutoFillBackground(true);
    missingPage->setBackgroundRole(QPalette::Base);
    m_missing = notePage(missingPage);
    auto* button = new QPushButton(tr("Locate the file…"), missingPage);
    connect(button, &QPushButton::clicked, this, [this] { locate(m_missingLocation); });
    auto* back = new QPushButton(tr("Back to the open files"), missingPage);
    connect(back, &QPushButton::clicked, this, [this] {
        m_stack->setCurrentWidget(m_tabs->count() > 0 ? static_cast<QWidget*>(m_tabs) : m_notice);
    });
    auto* missingLayout = new QVBoxLayout(missingPage);
    missingLayout->addStretch();
    missingLayout->addWidget(m_missing);
    missingLayout->addWidget(button, 0, Qt::AlignCenter);
    missingLayout->addWidget(back, 0, Qt::AlignCenter);
    missingLayout->addStretch();

    m_stack->addWidget(m_notice);
    m_stack->addWidget(m_tabs);
    m_stack->addWidget(missingPage);

    connect(look, &Look::executionAt, this, [this](const SourceLocation& location, bool innermost) {
        for (SourceEditor* editor : editors()) {
            editor->clearLines(SourceEditor::LineKind::Execution);
            editor->clearLines(SourceEditor::LineKind::Caller);
        }
        const bool framed = m_look->frame() >= 0 && !m_look->stale();
        if (SourceEditor* editor = framed ? editorFor(location.file, true) : nullptr) {
            m_watch->learn(m_look->rank(), editor->file(), m_look->frames().at(m_look->frame()).address);
            markOutdated();
        }
        const auto kind = innermost ? SourceEditor::LineKind::Execution : SourceEditor::LineKind::Caller;
        showLocation(location, kind, framed); // else what its module is will be known when the stack is there
    });
    connect(look, &Look::executionGone, this, [this] {
        for (SourceEditor* editor : editors()) {
            editor->clearLines(SourceEditor::LineKind::Execution);
            editor->clearLines(SourceEditor::LineKind::Caller);
        }
    });
    connect(look, &Look::callSourceWanted, this, [this](const SourceLocation& location) {
        for (SourceEditor* editor : editors()) {
            editor->clearLines(SourceEditor::LineKind::Call);
        }
        showLocation(location, SourceEditor::LineKind::Call);
    });
    connect(m_session, &Session::rankChanged, this, &SourceView::scheduleMarks);
    connect(m_session, &Session::ranksChanged, this, &SourceView::scheduleMarks);
    connect(m_session, &Session::focusChanged, this, &SourceView::scheduleMarks);
    connect(m_session, &Session::breakpointsChanged, this, &SourceView::updateBreakpoints);
    connect(m_watch, &SourceWatch::changed, this, &SourceView::reload);
    connect(m_watch, &SourceWatch::programsChanged, this, &SourceView::markOutdated);
    connect(m_session, &Session::timelineReplaced, this, &SourceView::forgetOutdated);
    connect(m_session, &Session::focusChanged, this, &SourceView::markOutdated);
}

QVector<SourceEditor*> SourceView::editors() const {
    QVector<SourceEditor*> result;
    for (int i = 0; i < m_tabs->count(); ++i) {
        if (auto* editor = qobject_cast<SourceEditor*>(m_tabs->widget(i))) {
            result << editor;
        }
    }
    return result;
}

int SourceView::openCount() const {
    return m_tabs->count();
}

SourceEditor* SourceView::currentEditor() const {
    return m_stack->currentWidget() == m_tabs ? qobject_cast<SourceEditor*>(m_tabs->currentWidget())
                                              : nullptr;
}

void SourceView::setSearchDirectories(const QStringList& directories) {
    m_finder.setSearchDirectories(directories);
}

void SourceView::setProgram(const QString& path) {
    m_watch->setProgram(path);
}

void SourceView::setNotice(const QString& html) {
    m_notice->setText(html);
}

SourceEditor* SourceView::editorFor(const QString& debugPath, bool open) {
    for (SourceEditor* editor : editors()) {
        if (sameFile(editor->debugPath(), debugPath) || editor->file() == debugPath) {
            return editor;
        }
    }
    const QString file = m_finder.find(debugPath);
    if (!open || file.isEmpty()) {
        return nullptr;
    }
    auto* editor = new SourceEditor(debugPath, m_tabs);
    if (const QString wrong = editor->load(file); !wrong.isEmpty()) {
        emit problem(tr("%1 cannot be shown: %2.").arg(file, wrong), {});
        delete editor;
        return nullptr;
    }
    connectEditor(editor);
    const int index = m_tabs->addTab(editor, QFileInfo(file).fileName());
    m_tabs->setTabToolTip(index, file);
    m_watch->watch(file);
    markOutdated();
    updateBreakpoints();
    updateMarks();
    return editor;
}

void SourceView::connectEditor(SourceEditor* editor) {
    connect(editor, &SourceEditor::breakpointToggled, this,
            [this, editor](int line) { toggleBreakpoint(editor, line); });
    connect(editor, &SourceEditor::runToRequested, this, [this, editor](int line) {
        if (const QString why = m_session->whyNot(Verb::RunTo); !why.isEmpty()) {
            emit problem(tr("Cannot run to line %1.").arg(line), why);
            return;
        }
        m_session->runTo(editor->debugPath(), line);
    });
}

void SourceView::showLocation(const SourceLocation& location, SourceEditor::LineKind kind, bool moduleKnown) {
    SourceEditor* editor = editorFor(location.file, true);
    if (editor == nullptr) {
        showMissing(location);
        return;
    }
    m_stack->setCurrentWidget(m_tabs);
    m_tabs->setCurrentWidget(editor);
    editor->showLine(location.line, kind);
    if (moduleKnown) {
        sayIfOutdated(editor);
    }
}

QString SourceView::openFile(const QString& path, int line) {
    const QFileInfo info(path);
    if (!info.isFile() || !info.isReadable()) {
        return tr("%1 cannot be read.").arg(path);
    }
    SourceEditor* editor = editorFor(info.absoluteFilePath(), true);
    if (editor == nullptr) {
        return tr("%1 cannot be shown.").arg(path);
    }
    m_stack->setCurrentWidget(m_tabs);
    m_tabs->setCurrentWidget(editor);
    if (line > 0) {
        editor->setCursorPosition(line - 1, 0);
        editor->ensureLineVisible(qMin(line + 12, editor->lines() - 1));
        editor->ensureLineVisible(line - 1);
    }
    return {};
}

void SourceView::showMissing(const SourceLocation& location) {
    m_missingLocation = location;
    m_missing->setText(
        tr("<p><b>The source file is not where the debug information says.</b></p><p><code>%1</code>, line "
           "%2%3</p>"
           "<p>If you have it elsewhere, point at it once: files beside it are then found as well.</p>")
            .arg(location.file.toHtmlEscaped())
            .arg(location.line)
            .arg(location.function.isEmpty() ? QString()
                                             : tr(", in %1").arg(location.function.toHtmlEscaped())));
    m_stack->setCurrentIndex(2);
}

void SourceView::locate(const SourceLocation& location) {
    auto* dialog = new QFileDialog(this, tr("Locate %1").arg(QFileInfo(location.file).fileName()));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({QFileInfo(location.file).fileName(), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this, location](const QString& file) {
        m_finder.learn(location.file, file);
        showLocation(location, SourceEditor::LineKind::Execution);
    });
    dialog->open();
}

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
            if (!stands || !view.location.known() || !sameFile(view.location.file, editor->debugPath())) {
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
            if (line > 0 && sameFile(file, editor->debugPath())) {
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
                                             .arg(shown.value())
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
        const bool resolved = b.line == line && sameFile(b.file, editor->debugPath());
        const bool written = colon > 0 && b.location.mid(colon + 1).toInt() == line &&
                             sameFile(b.location.left(colon), editor->debugPath());
        if (resolved || written) {
            m_session->removeBreakpoint(b.id);
            return;
        }
    }
    m_session->addBreakpoint(QStringLiteral("%1:%2").arg(editor->debugPath()).arg(line));
}

void SourceView::toggleBreakpointAtCursor() {
    if (SourceEditor* editor = currentEditor()) {
        toggleBreakpoint(editor, editor->cursorLine());
    }
}

void SourceView::runToCursor() {
    if (SourceEditor* editor = currentEditor()) {
        emit editor->runToRequested(editor->cursorLine());
    }
}

} // namespace stopline::app
