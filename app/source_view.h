// The source files in tabs, following the shown rank.
#pragma once

#include "../replay/session.h"
#include "source_editor.h"
#include "source_finder.h"

#include <QPointer>
#include <QWidget>

class QLabel;
class QStackedWidget;
class QTabWidget;

namespace stopline::app {

class Look;

/// Keeps breakpoints, rank marks and the execution line of all open files up to date. A file that cannot be
/// found gets a page that says which path was looked for and lets the user point at it.
class SourceView : public QWidget {
    Q_OBJECT
  public:
    SourceView(Look* look, QWidget* parent = nullptr);

    void showLocation(const replay::SourceLocation& location, SourceEditor::LineKind kind);
    /// Opens a file of this machine; empty, or why not.
    QString openFile(const QString& path, int line = 0);
    void setSearchDirectories(const QStringList& directories);
    void setNotice(const QString& html); ///< shown while no file is open
    [[nodiscard]] SourceEditor* currentEditor() const;
    [[nodiscard]] int openCount() const;
    void toggleBreakpoint(SourceEditor* editor, int line);
    void toggleBreakpointAtCursor();
    void runToCursor();

  signals:
    void problem(const QString& text, const QString& remedy);

  private:
    SourceEditor* editorFor(const QString& debugPath, bool open);
    void showMissing(const replay::SourceLocation& location);
    void locate(const replay::SourceLocation& location);
    void scheduleMarks();
    void updateMarks();
    void updateBreakpoints();
    void connectEditor(SourceEditor* editor);
    [[nodiscard]] QVector<SourceEditor*> editors() const;

    Look* m_look;
    replay::Session* m_session;
    SourceFinder m_finder;
    QStackedWidget* m_stack;
    QTabWidget* m_tabs;
    QLabel* m_notice;
    QLabel* m_missing;
    replay::SourceLocation m_missingLocation;
    bool m_marksDue = false;
};

} // namespace stopline::app
