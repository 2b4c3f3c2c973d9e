// The window: builds docks and actions and connects them. What they do is in their own files.
#pragma once

#include "../replay/session.h"
#include "command_line.h"

#include <QHash>
#include <QMainWindow>

class QActionGroup;
class QSplitter;

namespace stopline::app {

class Actions;
class BreakpointsDock;
class CallDock;
class DiagramPane;
class ExecutionsDock;
class HistoryDock;
class JourneyWords;
class LogDock;
class Look;
class MessageBar;
class OpenMessagesDock;
class OutputDock;
class ProgramSource;
class RacesDock;
class RankStrip;
class SourceView;
class StackDock;
class StatusLine;
class VariablesDock;

/// Does not own the session, which must outlive it. Layout and style are remembered in the settings.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// Whether layout and launches are taken from and put into the settings. Scripts do neither: they look
    /// the same on every machine and leave nothing behind.
    enum class Memory { Keep, None };
    explicit MainWindow(replay::Session* session, Memory memory = Memory::Keep, QWidget* parent = nullptr);
    ~MainWindow() override;

    void setLaunch(const replay::LaunchSpec& spec);
    /// False: closing the window ends the job without asking. For scripts and tests.
    void setAskBeforeClose(bool ask) { m_askBeforeClose = ask; }
    void setColourStyle(ColourStyle style, bool remember);
    void resetLayout();
    /// Next of: more source, more diagram, diagram alone, source alone.
    void cycleSplitter();

    [[nodiscard]] Actions* actions() const { return m_actions; }
    [[nodiscard]] Look* look() const { return m_look; }
    [[nodiscard]] RankStrip* rankStrip() const { return m_strip; }
    [[nodiscard]] SourceView* sourceView() const { return m_source; }
    [[nodiscard]] DiagramPane* diagramPane() const { return m_diagram; }
    [[nodiscard]] MessageBar* messageBar() const { return m_bar; }
    [[nodiscard]] StatusLine* statusLine() const { return m_status; }

    static constexpr const char* kStyleKey = "window/style"; ///< in the settings
    static constexpr int kLayoutVersion = 2; ///< of the saved state; other versions are not restored

    /// Asks for program, ranks and so on; what is accepted is for the next Run.
    void showLaunchDialog();
  signals:
    void closing(); ///< the user has closed it for good

  protected:
    void closeEvent(QCloseEvent* event) override;

  private:
    void buildCentre();
    void buildDocks();
    void buildToolBars();
    void buildMenus();
    void buildHelpMenu();
    void showGuide();
    void findInView();
    void tickStyle();
    void connectSession();
    void restoreLayout();
    void saveLayout() const;
    void showMessage(replay::Severity severity, const QString& text, const QString& remedy);
    void withdrawSilence();
    void scheduleStrip();
    void updateStrip();
    void updateTitle();
    void chooseRank();
    void chooseRecording();
    void onRecordingOpened();
    void endJobThenClose();
    [[nodiscard]] QString emptyNotice() const;

    replay::Session* m_session;
    Look* m_look;
    Actions* m_actions;
    RankStrip* m_strip;
    MessageBar* m_bar;
    SourceView* m_source;
    DiagramPane* m_diagram;
    QSplitter* m_splitter;
    StatusLine* m_status;
    JourneyWords* m_journey;
    QActionGroup* m_styles = nullptr; ///< of the Colours menu; an action's data is its ColourStyle
    ProgramSource* m_programSource;
    StackDock* m_stackDock;
    VariablesDock* m_variablesDock;
    CallDock* m_callDock;
    OutputDock* m_outputDock;
    OpenMessagesDock* m_openMessagesDock;
    BreakpointsDock* m_breakpointsDock;
    LogDock* m_logDock;
    HistoryDock* m_historyDock;
    RacesDock* m_racesDock;
    ExecutionsDock* m_executionsDock;
    QByteArray m_pristineState; ///< of the docks as built
    Memory m_memory;
    bool m_askBeforeClose = true;
    bool m_closing = false;
    bool m_stripDue = false;
    QHash<int, QString> m_silenceSaid; ///< by rank: the message of its debugger that does not answer
};

} // namespace stopline::app
