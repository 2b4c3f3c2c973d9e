// One source file, read only, with the margins of a debugger.
#pragma once

#include <Qsci/qsciscintilla.h>

#include <QHash>
#include <QMap>
#include <QSet>
#include <QString>

namespace stopline::app {

/// Lines are 1-based in this interface (Scintilla's own are 0-based).
class SourceEditor : public QsciScintilla {
    Q_OBJECT
  public:
    enum class LineKind {
        Execution, ///< the shown rank stands here
        Caller,    ///< the selected frame is not the innermost
        Call,      ///< line of the call selected in the diagram
    };
    enum class BreakpointKind {
        Enabled,
        Disabled,
        Pending,
        Refused, ///< the gdb of a rank will not have it
    };

    /// `debugPath` is the path as debug information names it, for breakpoints; may equal the file's path.
    SourceEditor(const QString& debugPath, QWidget* parent);

    /// Empty when loaded, else why not.
    QString load(const QString& file);
    /// Reads the file again; cursor, place in the window and all marks stay at their lines.
    void reload();
    [[nodiscard]] QString debugPath() const { return m_debugPath; }
    [[nodiscard]] QString file() const { return m_file; }

    void showLine(int line, LineKind kind);
    /// Scrolls so that the line is seen with some around it, if it is not.
    void revealLine(int line);
    void clearLines(LineKind kind);
    void setBreakpoints(const QMap<int, BreakpointKind>& lines);
    /// By line: "0-3,7". `strong` lines hold the shown rank.
    void setRankMarks(const QMap<int, QString>& marks, const QSet<int>& strong);
    [[nodiscard]] int cursorLine() const;
    /// Takes colours and fonts from the palette again.
    void restyle();

    static constexpr int kNumberMargin = 0;
    static constexpr int kSymbolMargin = 1;
    static constexpr int kRankMargin = 2;

  signals:
    void breakpointToggled(int line);
    void runToRequested(int line);

  protected:
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    void makeLexer();
    void updateRankMarginWidth();
    void mark(LineKind kind);

    QString m_debugPath;
    QString m_file;
    QHash<LineKind, int> m_lines;
    QMap<int, BreakpointKind> m_breakpoints;
    QMap<int, QString> m_marks;
    QSet<int> m_strong;
    qsizetype m_rankMarginRoom; ///< characters; never less than what has been needed once: the text would jump
    bool m_styling = false;
};

} // namespace stopline::app
