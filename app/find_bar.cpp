#include "find_bar.h"

#include "source_editor.h"
#include "theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QToolButton>

#include <algorithm>

namespace stopline::app {

namespace {

constexpr int kHitIndicator = QsciScintilla::INDIC_CONTAINER; ///< the first that is not the lexers'

QToolButton* button(QWidget* parent, const QString& text, const QString& help) {
    auto* made = new QToolButton(parent);
    made->setText(text);
    made->setToolTip(help);
    made->setAccessibleName(help);
    made->setAutoRaise(true);
    made->setFocusPolicy(Qt::NoFocus); // the hands stay in the field
    return made;
}

} // namespace

FindBar::FindBar(QWidget* parent)
    : QFrame(parent), m_text(new QLineEdit(this)),
      m_case(button(this, QStringLiteral("Aa"), tr("Capital and small letters differ"))),
      m_note(new QLabel(this)) {
    setObjectName(QStringLiteral("findBar"));
    m_text->setObjectName(QStringLiteral("findText"));
    m_note->setObjectName(QStringLiteral("findNote"));
    m_case->setObjectName(QStringLiteral("findCase"));
    m_text->setPlaceholderText(tr("find in this file"));
    m_text->setClearButtonEnabled(true);
    m_text->installEventFilter(this);
    m_case->setCheckable(true);
    auto* before = button(this, QStringLiteral("↑"), tr("The hit before (Shift+Enter)"));
    auto* after = button(this, QStringLiteral("↓"), tr("The next hit (Enter)"));
    auto* shut = button(this, QStringLiteral("✕"), tr("Close (Esc)"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(4);
    row->addWidget(m_text, 2);
    for (QWidget* widget :
         {static_cast<QWidget*>(before), static_cast<QWidget*>(after), static_cast<QWidget*>(m_case)}) {
        row->addWidget(widget);
    }
    row->addWidget(m_note, 3);
    row->addWidget(shut);
    connect(m_text, &QLineEdit::textEdited, this, &FindBar::typed);
    connect(m_text, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (text.isEmpty()) { // also by the button in the field
            collect();
        }
    });
    connect(m_case, &QToolButton::toggled, this, &FindBar::typed);
    connect(before, &QToolButton::clicked, this, [this] { again(false); });
    connect(after, &QToolButton::clicked, this, [this] { again(true); });
    connect(shut, &QToolButton::clicked, this, &FindBar::close);
    hide();
}

void FindBar::setEditor(SourceEditor* editor) {
    if (m_editor == editor) {
        return;
    }
    if (m_editor) {
        m_editor->disconnect(this);
        m_hits.clear();
        look();
    }
    m_editor = editor;
    if (editor == nullptr) {
        hide();
        return;
    }
    m_origin = editor->SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART);
    connect(editor, &QsciScintilla::textChanged, this, [this] { // it has been read again
        if (isVisible()) {
            collect();
        }
    });
    if (isVisible()) {
        collect();
    }
}

void FindBar::open() {
    if (!m_editor) {
        return;
    }
    const QString chosen = m_editor->selectedText();
    if (!chosen.isEmpty() && !chosen.contains(u'\n')) {
        m_text->setText(chosen);
    }
    m_origin = m_editor->SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART);
    show();
    collect();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

void FindBar::close() {
    if (!isVisible()) {
        return;
    }
    hide();
    m_hits.clear();
    look();
    if (m_editor) {
        m_editor->setFocus(Qt::OtherFocusReason);
    }
}

/// Shows which places in the text are hits.
void FindBar::look() {
    if (!m_editor) {
        return;
    }
    m_editor->indicatorDefine(QsciScintilla::StraightBoxIndicator, kHitIndicator);
    QColor colour = accent(Accent::Orange, isDark(palette()));
    colour.setAlpha(80); // the text is to be read through it
    m_editor->setIndicatorForegroundColor(colour, kHitIndicator);
    m_editor->setIndicatorDrawUnder(true, kHitIndicator);
    m_editor->SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT,
                            static_cast<unsigned long>(kHitIndicator));
    m_editor->SendScintilla(QsciScintilla::SCI_INDICATORCLEARRANGE, 0UL,
                            m_editor->SendScintilla(QsciScintilla::SCI_GETLENGTH));
    for (const long hit : std::as_const(m_hits)) {
        m_editor->SendScintilla(QsciScintilla::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(hit),
                                m_length);
    }
}

void FindBar::collect() {
    m_hits.clear();
    const QByteArray wanted = m_text->text().toUtf8();
    m_length = static_cast<long>(wanted.size());
    if (m_editor && m_length > 0) {
        const long end = m_editor->SendScintilla(QsciScintilla::SCI_GETLENGTH);
        m_editor->SendScintilla(
            QsciScintilla::SCI_SETSEARCHFLAGS,
            static_cast<unsigned long>(m_case->isChecked() ? QsciScintilla::SCFIND_MATCHCASE : 0));
        for (long from = 0; from < end;) {
            m_editor->SendScintilla(QsciScintilla::SCI_SETTARGETRANGE, static_cast<unsigned long>(from), end);
            const long hit = m_editor->SendScintilla(
                QsciScintilla::SCI_SEARCHINTARGET, static_cast<unsigned long>(m_length), wanted.constData());
            if (hit < 0) {
                break;
            }
            m_hits << hit;
            from = hit + m_length;
        }
    }
    m_note->setText(m_length == 0       ? QString()
                    : m_hits.isEmpty()  ? tr("not in this file")
                    : m_hits.size() > 1 ? tr("%1 hits").arg(QLocale().toString(m_hits.size()))
                                        : tr("1 hit"));
    look();
}

/// The first hit from where the cursor was: a letter more narrows the search, a letter less widens it again.
void FindBar::typed() {
    collect();
    if (m_hits.isEmpty()) {
        return;
    }
    const auto hit = std::lower_bound(m_hits.cbegin(), m_hits.cend(), m_origin);
    const bool wraps = hit == m_hits.cend();
    goTo(wraps ? 0 : hit - m_hits.cbegin(), wraps ? tr("from the top again") : QString());
}

void FindBar::again(bool forward) {
    if (!m_editor) {
        return;
    }
    if (!isVisible()) {
        if (m_text->text().isEmpty()) {
            open();
            return;
        }
        show();
        collect();
    }
    if (m_hits.isEmpty()) {
        return;
    }
    const long begin = m_editor->SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART);
    const long end = m_editor->SendScintilla(QsciScintilla::SCI_GETSELECTIONEND);
    const auto after = std::lower_bound(m_hits.cbegin(), m_hits.cend(), end) - m_hits.cbegin();
    const auto before =
        std::upper_bound(m_hits.cbegin(), m_hits.cend(), begin - m_length) - m_hits.cbegin() - 1;
    if (forward) {
        const bool wraps = after == m_hits.size();
        goTo(wraps ? 0 : after, wraps ? tr("from the top again") : QString());
    } else {
        const bool wraps = before < 0;
        goTo(wraps ? m_hits.size() - 1 : before, wraps ? tr("from the end again") : QString());
    }
    m_origin = m_editor->SendScintilla(QsciScintilla::SCI_GETSELECTIONSTART); // typing goes on from here
}

void FindBar::goTo(qsizetype hit, const QString& note) {
    const long begin = m_hits.at(hit);
    m_editor->SendScintilla(QsciScintilla::SCI_SETSEL, static_cast<unsigned long>(begin), begin + m_length);
    m_editor->revealLine(m_editor->cursorLine());
    m_editor->SendScintilla(QsciScintilla::SCI_SCROLLCARET); // sideways
    QString text = tr("%1 of %2").arg(QLocale().toString(hit + 1), QLocale().toString(m_hits.size()));
    m_note->setText(note.isEmpty() ? text : text + QStringLiteral(", ") + note);
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_text && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            again(!key->modifiers().testFlag(Qt::ShiftModifier));
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void FindBar::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && isVisible()) {
        look();
    }
}

} // namespace stopline::app
