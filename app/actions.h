// Every command of the window as a QAction: text, key, icon, tooltip, and why it cannot be used when it
// cannot.
#pragma once

#include "../replay/session.h"

#include <QAction>
#include <QObject>
#include <QVector>

class QWidget;

namespace stopline::app {

class KeyBindings;

/// Keys are those of the conventions (F5, F10, F11, …) or what the user has made of them. Each action has a
/// name. Actions that act on the session do so themselves; the others are connected by whoever owns the
/// widget concerned.
class Actions : public QObject {
    Q_OBJECT
  public:
    /// The actions become children of `window`, which shortcuts refer to.
    Actions(replay::Session* session, QWidget* window);

    // Session
    QAction* launch;
    QAction* openRecording; ///< owner: window (asks for a file)
    QAction* openSource;
    QAction* quit;
    // Run
    QAction* runOrContinue; ///< Run without a job, Continue with one
    QAction* pause;
    QAction* stepOver;
    QAction* stepInto;
    QAction* stepOut;
    QAction* runToCursor;      ///< owner: source view
    QAction* toggleBreakpoint; ///< owner: source view
    QAction* kill;
    QAction* restart;
    QAction* replay;
    QAction* stopAtStart;
    // Replay
    QAction* undo;
    QAction* redo;
    QAction* rollback;
    QAction* forward;
    QAction* pointBefore; ///< owner: diagram
    QAction* pointAfter;  ///< owner: diagram
    QAction* pastFrontier;
    QAction* futureFrontier;
    QAction* stoplineHere; ///< owner: diagram
    QAction* go;
    QAction* cancel;
    QAction* nextRace;
    QAction* takeInstead; ///< owner: the list of races
    // Ranks
    QAction* nextRank;
    QAction* previousRank;
    QAction* chooseRank; ///< owner: window (asks for a number)
    QAction* scopeAll;
    QAction* scopeGroup; ///< the ranks chosen last in the rank strip
    QAction* scopeRank;
    // View
    QAction* find;         ///< owner: window (in the diagram it is the diagram's search)
    QAction* findNext;     ///< owner: source view
    QAction* findPrevious; ///< owner: source view
    QAction* cycleSplitter;
    QAction* axisTime;
    QAction* axisEvents;
    QAction* fitAll;
    QAction* lastStop;
    QAction* zoomIn;
    QAction* zoomOut;
    QAction* refresh; ///< reads what ranks that run have done so far
    QAction* follow;  ///< does so again and again

    [[nodiscard]] const QVector<QAction*>& all() const { return m_all; }
    [[nodiscard]] KeyBindings* keys() const { return m_keys; }
    /// The few ranks chosen last, to which Ctrl+2 goes back; all() when there are none.
    [[nodiscard]] const replay::Focus& chosenGroup() const { return m_group; }
    /// Whether there is a call or a point that a stopline could be made of; told by the diagram's owner.
    void setSelectionAvailable(bool callSelected);
    /// Whether a message is chosen that a race could have had instead; told by the list of races.
    void setAlternativeAvailable(bool chosen);

  signals:
    void rankStepRequested(int by);
    void commandGiven(stopline::replay::Verb verb); ///< just before the session is told

  private:
    QAction* add(const QString& text, const QString& icon, const QKeySequence& key, const QString& help);
    void nameAll();
    void bind(QAction* action, replay::Verb verb, void (replay::Session::*method)());
    void update();
    void updateVerb(QAction* action, replay::Verb verb, const QString& text);
    void setWhyNot(QAction* action, const QString& why);

    replay::Session* m_session;
    QWidget* m_window;
    QVector<QAction*> m_all;
    KeyBindings* m_keys;
    QVector<QPair<QAction*, replay::Verb>> m_verbs;
    replay::Focus m_group; ///< chosen last; all(): none yet
    bool m_callSelected = false;
    bool m_alternativeChosen = false;
};

} // namespace stopline::app
