#include "source_editor.h"

#include "icons.h"
#include "theme.h"

#include <Qsci/qscilexercpp.h>
#include <Qsci/qscilexerfortran.h>
#include <Qsci/qscilexerpython.h>
#include <Qsci/qscistyle.h>

#include <QContextMenuEvent>
#include <QEvent>
#include <QFile>
#include <QFileInfo>
#include <QMenu>

#include <functional>

namespace stopline::app {

namespace {

/// Higher numbers are drawn over lower ones: where execution stands is seen before anything else.
enum Marker {
    kBreakpointMarker,
    kDisabledMarker,
    kPendingMarker,
    kRefusedMarker,
    kCallDot,
    kCallerArrow,
    kArrow,
    kCallLine,
    kCallerLine,
    kExecutionLine
};

/// Fixed numbers beyond those of the lexers: QScintilla would use up a new one for every style made.
constexpr int kRankStyle = 240;
constexpr int kShownRankStyle = 241;
constexpr qsizetype kUsualMark = 5; ///< characters: "0-3,7"
constexpr qint64 kLargestSource = 64 << 20; ///< bytes; beyond that it is no source file

struct SyntaxColours {
    QColor keyword, comment, string, number, preprocessor, type;
};

SyntaxColours syntaxColours(bool dark) {
    const auto c = [](const char* name) { return QColor(QString::fromLatin1(name)); };
    if (dark) {
        return {c("#c792ea"), c("#7f8c98"), c("#a5d6a0"), c("#f2b879"), c("#8fb8de"), c("#6fc3df")};
    }
    return {c("#8a2a9b"), c("#6b7780"), c("#2a7a33"), c("#a85a00"), c("#2c5f92"), c("#0b6e84")};
}

/// Applies one colour to many styles of a lexer.
void paint(QsciLexer* lexer, const QColor& colour, std::initializer_list<int> styles) {
    for (const int style : styles) {
        lexer->setColor(colour, style);
    }
}

QsciLexer* makeLexerFor(const QString& file, bool dark, QObject* parent) {
    const QString suffix = QFileInfo(file).suffix().toLower();
    const SyntaxColours c = syntaxColours(dark);
    if (QStringList{QStringLiteral("f"), QStringLiteral("for"), QStringLiteral("f77"), QStringLiteral("f90"),
                    QStringLiteral("f95"), QStringLiteral("f03"), QStringLiteral("f08"),
                    QStringLiteral("ftn")}
            .contains(suffix)) {
        using L = QsciLexerFortran77;
        const bool fixedForm = suffix == QLatin1StringView("f") || suffix == QLatin1StringView("for") ||
                               suffix == QLatin1StringView("f77") || suffix == QLatin1StringView("ftn");
        QsciLexer* lexer = fixedForm ? new QsciLexerFortran77(parent) : new QsciLexerFortran(parent);
        paint(lexer, c.keyword, {L::Keyword, L::DottedOperator});
        paint(lexer, c.comment, {L::Comment});
        paint(lexer, c.string, {L::SingleQuotedString, L::DoubleQuotedString, L::UnclosedString});
        paint(lexer, c.number, {L::Number, L::Label});
        paint(lexer, c.preprocessor, {L::PreProcessor, L::Continuation});
        paint(lexer, c.type, {L::IntrinsicFunction, L::ExtendedFunction});
        return lexer;
    }
    if (suffix == QLatin1StringView("py")) {
        using L = QsciLexerPython;
        auto* lexer = new QsciLexerPython(parent);
        paint(lexer, c.keyword, {L::Keyword, L::Decorator});
        paint(lexer, c.comment, {L::Comment, L::CommentBlock});
        paint(lexer, c.string,
              {L::DoubleQuotedString, L::SingleQuotedString, L::TripleSingleQuotedString,
               L::TripleDoubleQuotedString, L::UnclosedString, L::DoubleQuotedFString,
               L::SingleQuotedFString});
        paint(lexer, c.number, {L::Number});
        paint(lexer, c.type, {L::ClassName, L::FunctionMethodName});
        return lexer;
    }
    using L = QsciLexerCPP;
    auto* lexer = new QsciLexerCPP(parent);
    paint(lexer, c.keyword, {L::Keyword});
    paint(lexer, c.type, {L::KeywordSet2, L::GlobalClass});
    paint(lexer, c.comment,
          {L::Comment, L::CommentLine, L::CommentDoc, L::CommentLineDoc, L::CommentDocKeyword});
    paint(lexer, c.string, {L::DoubleQuotedString, L::SingleQuotedString, L::UnclosedString, L::RawString});
    paint(lexer, c.number, {L::Number});
    paint(lexer, c.preprocessor, {L::PreProcessor});
    return lexer;
}

int markerOfLine(SourceEditor::LineKind kind) {
    switch (kind) {
    case SourceEditor::LineKind::Execution:
        return kExecutionLine;
    case SourceEditor::LineKind::Caller:
        return kCallerLine;
    case SourceEditor::LineKind::Call:
        return kCallLine;
    }
    return kExecutionLine;
}

int arrowOfLine(SourceEditor::LineKind kind) {
    switch (kind) {
    case SourceEditor::LineKind::Execution:
        return kArrow;
    case SourceEditor::LineKind::Caller:
        return kCallerArrow;
    case SourceEditor::LineKind::Call:
        return kCallDot;
    }
    return kArrow;
}

} // namespace

SourceEditor::SourceEditor(const QString& debugPath, QWidget* parent)
    : QsciScintilla(parent), m_debugPath(debugPath), m_rankMarginRoom(kUsualMark) {
    setReadOnly(true);
    setUtf8(true);
    setTabWidth(8);
    setFolding(NoFoldStyle);
    setCaretLineVisible(false);
    setScrollWidth(1);
    setScrollWidthTracking(true);
    setMarginType(kNumberMargin, NumberMargin);
    setMarginType(kSymbolMargin, SymbolMargin);
    setMarginType(kRankMargin, TextMarginRightJustified);
    setMarginSensitivity(kNumberMargin, true);
    setMarginSensitivity(kSymbolMargin, true);
    markerDefine(Circle, kBreakpointMarker);
    markerDefine(Circle, kDisabledMarker);
    markerDefine(Circle, kPendingMarker);
    markerDefine(RightArrow, kArrow);
    markerDefine(RightTriangle, kCallerArrow);
    markerDefine(SmallRectangle, kCallDot);
    markerDefine(Background, kExecutionLine);
    markerDefine(Background, kCallerLine);
    markerDefine(Background, kCallLine);
    setMarginMarkerMask(kNumberMargin, 0);
    setMarginMarkerMask(kRankMargin, 0);
    setMarginMarkerMask(kSymbolMargin, (1 << kBreakpointMarker) | (1 << kDisabledMarker) |
                                           (1 << kPendingMarker) | (1 << kRefusedMarker) | (1 << kArrow) |
                                           (1 << kCallerArrow) | (1 << kCallDot));
    connect(this, &QsciScintilla::marginClicked, this,
            [this](int, int line, Qt::KeyboardModifiers) { emit breakpointToggled(line + 1); });
    restyle();
}

QString SourceEditor::load(const QString& path) {
    QFile source(path);
    if (source.size() > kLargestSource) {
        return tr("it has %1 MiB").arg(source.size() >> 20);
    }
    if (!source.open(QIODevice::ReadOnly)) {
        return source.errorString();
    }
    m_file = path;
    setReadOnly(false);
    setText(QString::fromUtf8(source.readAll()));
    setReadOnly(true);
    setModified(false);
    restyle();
    return {};
}

void SourceEditor::reload() {
    int line = 0;
    int index = 0;
    getCursorPosition(&line, &index);
    const auto top = SendScintilla(SCI_GETFIRSTVISIBLELINE);
    const auto left = SendScintilla(SCI_GETXOFFSET);
    if (!load(m_file).isEmpty()) {
        return; // what has been read stays on show
    }
    setCursorPosition(qMin(line, lines() - 1), index);
    SendScintilla(SCI_SETFIRSTVISIBLELINE, static_cast<unsigned long>(top));
    SendScintilla(SCI_SETXOFFSET, static_cast<unsigned long>(left));
    markerDeleteAll(); // they have all come together on the first line
    setBreakpoints(QMap<int, BreakpointKind>(m_breakpoints));
    for (const LineKind kind : {LineKind::Execution, LineKind::Caller, LineKind::Call}) {
        mark(kind);
    }
}

void SourceEditor::makeLexer() {
    QsciLexer* old = lexer();
    QsciLexer* fresh = makeLexerFor(m_file.isEmpty() ? m_debugPath : m_file, isDark(palette()), this);
    const QPalette& p = palette();
    fresh->setDefaultPaper(p.color(QPalette::Base));
    fresh->setPaper(p.color(QPalette::Base));
    fresh->setDefaultColor(p.color(QPalette::Text));
    QFont font = fixedFont();
    fresh->setDefaultFont(font);
    fresh->setFont(font);
    // Styles that got no colour of their own keep the lexer's, made for white paper: take the text's colour.
    const SyntaxColours c = syntaxColours(isDark(p));
    const QVector<QColor> ours{c.keyword, c.comment, c.string, c.number, c.preprocessor, c.type};
    for (int style = 0; style < 128; ++style) {
        if (!fresh->description(style).isEmpty() && !ours.contains(fresh->color(style))) {
            fresh->setColor(p.color(QPalette::Text), style);
        }
    }
    setLexer(fresh);
    delete old;
}

void SourceEditor::restyle() {
    if (m_styling) {
        return; // setting a lexer changes the palette, which would bring us here again
    }
    m_styling = true;
    const QPalette& p = palette();
    const bool dark = isDark(p);
    makeLexer();
    setFont(fixedFont());
    setPaper(p.color(QPalette::Base));
    setColor(p.color(QPalette::Text));
    setCaretForegroundColor(p.color(QPalette::Text));
    setSelectionBackgroundColor(p.color(QPalette::Highlight));
    setSelectionForegroundColor(p.color(QPalette::HighlightedText));
    setMarginsBackgroundColor(p.color(QPalette::AlternateBase));
    setMarginsForegroundColor(p.color(QPalette::PlaceholderText));
    setMarginsFont(fixedFont());
    setFoldMarginColors(p.color(QPalette::Base), p.color(QPalette::Base));
    const QColor red = accent(Accent::Red, dark);
    const QColor muted = accent(Accent::Muted, dark);
    const auto marker = [this](int which, const QColor& fore, const QColor& back) {
        setMarkerForegroundColor(fore, which);
        setMarkerBackgroundColor(back, which);
    };
    marker(kBreakpointMarker, red, red);
    marker(kDisabledMarker, red, p.color(QPalette::AlternateBase));
    marker(kPendingMarker, muted, red.lighter(dark ? 60 : 160));
    const int side = fontMetrics().height() - 2;
    markerDefine(icon(QStringLiteral("warning")).pixmap(QSize(side, side), 1.0).toImage(), kRefusedMarker);
    marker(kArrow, QColor(0x40, 0x30, 0x00), QColor(0xff, 0xc1, 0x2e));
    marker(kCallerArrow, accent(Accent::Green, dark), accent(Accent::Green, dark).lighter(140));
    marker(kCallDot, accent(Accent::Blue, dark), accent(Accent::Blue, dark));
    setMarkerBackgroundColor(dark ? QColor(0x4a, 0x41, 0x1e) : QColor(0xff, 0xf0, 0xbd), kExecutionLine);
    setMarkerBackgroundColor(dark ? QColor(0x24, 0x42, 0x2d) : QColor(0xdf, 0xf3, 0xe2), kCallerLine);
    setMarkerBackgroundColor(dark ? QColor(0x1f, 0x3a, 0x54) : QColor(0xdc, 0xec, 0xfa), kCallLine);
    setMarginWidth(kNumberMargin, QStringLiteral(" %1").arg(qMax(100, lines())));
    setMarginWidth(kSymbolMargin, fontMetrics().height() + 2);
    const auto marks = m_marks;
    setRankMarks(marks, m_strong);
    m_styling = false;
}

void SourceEditor::changeEvent(QEvent* event) {
    QsciScintilla::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        restyle();
    }
}

void SourceEditor::showLine(int line, LineKind kind) {
    clearLines(kind);
    if (line < 1) {
        return;
    }
    m_lines.insert(kind, line);
    mark(kind);
    setCursorPosition(line - 1, 0);
    revealLine(line);
}

void SourceEditor::revealLine(int line) {
    // A few lines of surroundings: the line alone at the edge says little.
    const int visible = static_cast<int>(SendScintilla(SCI_LINESONSCREEN));
    const int first = static_cast<int>(SendScintilla(SCI_GETFIRSTVISIBLELINE));
    const int margin = qMin(4, visible / 4);
    if (line - 1 < first + margin || line - 1 > first + visible - 1 - margin) {
        SendScintilla(SCI_SETFIRSTVISIBLELINE, static_cast<unsigned long>(qMax(0, line - 1 - visible / 2)));
    }
}

void SourceEditor::mark(LineKind kind) {
    if (const int line = m_lines.value(kind); line > 0) {
        markerAdd(line - 1, markerOfLine(kind));
        markerAdd(line - 1, arrowOfLine(kind));
    }
}

void SourceEditor::clearLines(LineKind kind) {
    m_lines.remove(kind);
    markerDeleteAll(markerOfLine(kind));
    markerDeleteAll(arrowOfLine(kind));
}

void SourceEditor::setBreakpoints(const QMap<int, BreakpointKind>& lines) {
    m_breakpoints = lines;
    for (const int which : {kBreakpointMarker, kDisabledMarker, kPendingMarker, kRefusedMarker}) {
        markerDeleteAll(which);
    }
    for (auto it = lines.cbegin(); it != lines.cend(); ++it) {
        const int which = it.value() == BreakpointKind::Enabled    ? kBreakpointMarker
                          : it.value() == BreakpointKind::Disabled ? kDisabledMarker
                          : it.value() == BreakpointKind::Refused  ? kRefusedMarker
                                                                   : kPendingMarker;
        markerAdd(it.key() - 1, which);
    }
}

void SourceEditor::setRankMarks(const QMap<int, QString>& marks, const QSet<int>& strong) {
    m_marks = marks;
    m_strong = strong;
    clearMarginText();
    const QPalette& p = palette();
    QFont bold = fixedFont();
    bold.setBold(true);
    const QsciStyle usual(kRankStyle, QStringLiteral("ranks"), p.color(QPalette::Text),
                          p.color(QPalette::AlternateBase), fixedFont());
    const QsciStyle shown(kShownRankStyle, QStringLiteral("shown rank"), QColor(0x30, 0x24, 0x00),
                          QColor(0xff, 0xc1, 0x2e), bold);
    for (auto it = marks.cbegin(); it != marks.cend(); ++it) {
        setMarginText(it.key() - 1, QStringLiteral(" %1 ").arg(it.value()),
                      strong.contains(it.key()) ? shown : usual);
    }
    updateRankMarginWidth();
}

void SourceEditor::updateRankMarginWidth() {
    for (const QString& text : std::as_const(m_marks)) {
        m_rankMarginRoom = qMax(m_rankMarginRoom, text.size());
    }
    setMarginWidth(kRankMargin, QString(m_rankMarginRoom + 3, u'0'));
}

int SourceEditor::cursorLine() const {
    int line = 0;
    int index = 0;
    getCursorPosition(&line, &index);
    return line + 1;
}

void SourceEditor::contextMenuEvent(QContextMenuEvent* event) {
    const int line = lineAt(event->pos()) + 1;
    QMenu menu(this);
    if (line >= 1) {
        menu.addAction(tr("Toggle breakpoint at line %1").arg(line), this,
                       [this, line] { emit breakpointToggled(line); });
        menu.addAction(tr("Run to line %1").arg(line), this, [this, line] { emit runToRequested(line); });
        menu.addSeparator();
    }
    menu.addAction(tr("Copy"), this, [this] { copy(); })->setEnabled(hasSelectedText());
    menu.exec(event->globalPos());
}

} // namespace stopline::app
