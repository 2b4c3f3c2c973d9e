#include "output_dock.h"

#include "text.h"
#include "theme.h"
#include "../replay/words.h"

#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextCursor>
#include <QVBoxLayout>

namespace stopline::app {

OutputDock::OutputDock(replay::Session* session, QWidget* parent)
    : QDockWidget(tr("Output"), parent), m_session(session), m_log(new OutputLog(this)),
      m_view(new QPlainTextEdit(this)), m_ranks(new QLineEdit(this)), m_text(new QLineEdit(this)),
      m_stdout(new QCheckBox(tr("stdout"), this)), m_stderr(new QCheckBox(tr("stderr"), this)),
      m_input(new QLineEdit(this)) {
    setObjectName(QStringLiteral("output"));
    m_view->setReadOnly(true);
    m_view->setFont(fixedFont());
    m_view->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_view->setMaximumBlockCount(OutputLog::kMostLines);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setPlaceholderText(tr("What the ranks write appears here, tagged with the rank: [2] hello"));
    m_ranks->setPlaceholderText(tr("all ranks, or 0-3,7"));
    m_ranks->setClearButtonEnabled(true);
    m_ranks->setMaximumWidth(150);
    m_text->setPlaceholderText(tr("only lines with…"));
    m_text->setClearButtonEnabled(true);
    m_text->setObjectName(QStringLiteral("outputText"));
    m_stdout->setChecked(true);
    m_stderr->setChecked(true);
    m_input->setPlaceholderText(tr("input for the job (rank 0 reads it) — Enter sends the line"));

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(6, 2, 6, 2);
    bar->setSpacing(6);
    bar->addWidget(new QLabel(tr("Ranks"), this));
    bar->addWidget(m_ranks);
    bar->addWidget(m_text, 1);
    bar->addWidget(m_stdout);
    bar->addWidget(m_stderr);
    auto* body = new QWidget(this);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_view, 1);
    layout->addWidget(m_input);
    setWidget(body);

    connect(m_ranks, &QLineEdit::textChanged, this, &OutputDock::readFilter);
    connect(m_text, &QLineEdit::textChanged, this, &OutputDock::rebuild);
    connect(m_stdout, &QCheckBox::toggled, this, &OutputDock::rebuild);
    connect(m_stderr, &QCheckBox::toggled, this, &OutputDock::rebuild);
    connect(m_input, &QLineEdit::returnPressed, this, [this] {
        m_session->writeInput(m_input->text().toUtf8() + '\n');
        m_input->clear();
    });
    connect(m_log, &OutputLog::linesAdded, this, &OutputDock::append);
    connect(m_log, &OutputLog::cleared, m_view, &QPlainTextEdit::clear);
    connect(session, &replay::Session::outputAdded, m_log, &OutputLog::add);
    connect(session, &replay::Session::outputCleared, m_log, &OutputLog::clear);
    connect(session, &replay::Session::jobEnded, this, [this] {
        for (const OutputLine& line : m_log->unfinished()) {
            if (matches(line)) {
                appendLine(line);
            }
        }
    });
}

QString OutputDock::shownText() const {
    return m_view->toPlainText();
}

void OutputDock::setFilter(const QString& ranks, const QString& text) {
    m_ranks->setText(ranks);
    m_text->setText(text);
}

void OutputDock::readFilter() {
    const QString text = m_ranks->text().trimmed();
    m_wanted.reset();
    QPalette colours; // only what differs, so that the rest follows the window's colours
    if (!text.isEmpty() && text != QLatin1StringView("all")) {
        if (const auto ranks = parseRankSet(text)) {
            m_wanted = QSet<int>(ranks->begin(), ranks->end());
        } else {
            colours.setColor(QPalette::Text, accent(Accent::Red, isDark(palette())));
        }
    }
    m_ranks->setPalette(colours);
    rebuild();
}

bool OutputDock::matches(const OutputLine& line) const {
    return (!m_wanted || m_wanted->contains(line.rank.value())) &&
           (line.stream == 2 ? m_stderr->isChecked() : m_stdout->isChecked()) &&
           (m_text->text().isEmpty() || line.text.contains(m_text->text(), Qt::CaseInsensitive));
}

void OutputDock::appendLine(const OutputLine& line) {
    const bool dark = isDark(palette());
    QTextCursor cursor(m_view->document());
    cursor.movePosition(QTextCursor::End);
    if (!m_view->document()->isEmpty()) {
        cursor.insertBlock();
    }
    QTextCharFormat tag;
    tag.setForeground(line.rank.value() < 0 ? accent(Accent::Muted, dark) : accent(Accent::Blue, dark));
    QTextCharFormat body;
    body.setForeground(line.stream == 2 ? accent(Accent::Red, dark) : palette().color(QPalette::Text));
    const QString who =
        line.rank.value() < 0 ? tr("[launcher] ") : QStringLiteral("[%1] ").arg(rankText(line.rank));
    cursor.insertText(who, tag);
    cursor.insertText(line.text, body);
}

void OutputDock::append(int from) {
    QScrollBar* bar = m_view->verticalScrollBar();
    const bool follow = bar->value() == bar->maximum();
    m_view->setUpdatesEnabled(false);
    const auto& lines = m_log->lines();
    for (qsizetype i = from; i < lines.size(); ++i) {
        if (matches(lines.at(i))) {
            appendLine(lines.at(i));
        }
    }
    m_view->setUpdatesEnabled(true);
    if (follow) {
        bar->setValue(bar->maximum());
    }
}

void OutputDock::rebuild() {
    m_view->clear();
    append(0);
    m_view->verticalScrollBar()->setValue(m_view->verticalScrollBar()->maximum());
}

void OutputDock::changeEvent(QEvent* event) {
    QDockWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        readFilter(); // its colours, and those of the lines
    }
}

} // namespace stopline::app
