// The source files in tabs, following the shown rank.
#pragma once

#include "../replay/session.h"
#include "source_editor.h"
#include "source_finder.h"

#include <QHash>
#include <QPointer>
#include <QWidget>

class QLabel;
class QStackedWidget;
class QTabWidget;

namespace stopline::app {

class FindBar;
class Look;
class SourceWatch;

/// Keeps breakpoints, rank marks and the execution line of all open files up to date. A file that cannot be
/// found gets a page that says which path was looked for and lets the user point at it. A file that changes
/// on disk is read again; while ranks still execute a program built before that, its tab and a message say
/// so.
class SourceView : public QWidget {
    Q_OBJECT
  public:
    SourceView(Look* look, QWidget* parent = nullptr);

    /// `moduleKnown`: whether the file may be said to be newer than what is executed; else that is said
    /// later.
    void showLocation(const replay::SourceLocation& location, SourceEditor::LineKind kind,
                      bool moduleKnown = true);
    /// Opens a file of this machine; empty, or why not.
    QString openFile(const QString& path, int line = 0);
    void setSearchDirectories(const QStringList& directories);
    /// The file that is run, whose age tells whether the lines of a source are still the program's.
    void setProgram(const QString& path);
    void setNotice(const QString& html); ///< shown while no file is open
    [[nodiscard]] SourceEditor* currentEditor() const;
    [[nodiscard]] int openCount() const;
    bool find(); ///< opens the bar that searches the file on show; false: there is none
    void findAgain(bool forward);
    void showCursorLine(); ///< brings the cursor's line, with some around it, into view
    void toggleBreakpoint(SourceEditor* editor, int line);
    void toggleBreakpointAtCursor();
    void runToCursor();

  signals:
    void problem(const QString& text, const QString& remedy);
    void problemGone(const QString& text);

  private:
    SourceEditor* editorFor(const QString& debugPath, bool open);
    void showMissing(const replay::SourceLocation& location);
    void locate(const replay::SourceLocation& location);
    void connectEditor(SourceEditor* editor);
    [[nodiscard]] QVector<SourceEditor*> editors() const;

    // source_view_marks.cpp
    void scheduleMarks();
    void updateMarks();
    void updateBreakpoints();
    void reload(const QString& file);
    void markOutdated();
    void sayIfOutdated(const SourceEditor* editor);
    void forgetOutdated();

    Look* m_look;
    replay::Session* m_session;
    SourceFinder m_finder;
    QStackedWidget* m_stack;
    QTabWidget* m_tabs;
    QLabel* m_notice;
    FindBar* m_find;
    QLabel* m_missing;
    replay::SourceLocation m_missingLocation;
    SourceWatch* m_watch;
    QHash<QString, QString> m_outdatedSaid; ///< what the user has been told in this run, by file
    bool m_marksDue = false;
};

} // namespace stopline::app
