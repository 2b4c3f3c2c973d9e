#include "source_view.h"

#include "find_bar.h"
#include "look.h"
#include "source_watch.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

namespace stopline::app {

using namespace replay;

namespace {

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
      m_find(new FindBar(this)), m_watch(new SourceWatch(look->session(), this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_find);
    auto* closeFind = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(closeFind, &QShortcut::activated, m_find, &FindBar::close);
    m_tabs->setTabsClosable(true);
    m_tabs->setMovable(true);
    m_tabs->setDocumentMode(true);
    connect(m_tabs, &QTabWidget::tabCloseRequested, this, [this](int index) {
        m_watch->unwatch(qobject_cast<SourceEditor*>(m_tabs->widget(index))->file());
        if (m_tabs->widget(index) == currentEditor()) {
            m_find->setEditor(nullptr);
        }
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
    const auto searchShown = [this] { m_find->setEditor(currentEditor()); };
    connect(m_tabs, &QTabWidget::currentChanged, this, searchShown);
    connect(m_stack, &QStackedWidget::currentChanged, this, searchShown);

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
        showLocation(location, SourceEditor::LineKind::Call);
    });
    // The mark goes with its call: when another is selected, or the recording is replaced. What is wanted comes after.
    connect(look, &Look::callChanged, this, [this] {
        for (SourceEditor* editor : editors()) {
            editor->clearLines(SourceEditor::LineKind::Call);
        }
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

bool SourceView::find() {
    if (currentEditor() == nullptr) {
        return false;
    }
    m_find->open();
    return true;
}

void SourceView::findAgain(bool forward) {
    m_find->again(forward);
}

void SourceView::showCursorLine() {
    if (SourceEditor* editor = currentEditor()) {
        editor->revealLine(editor->cursorLine());
    }
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
        if (sameSourceFile(editor->debugPath(), debugPath) || editor->file() == debugPath) {
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
