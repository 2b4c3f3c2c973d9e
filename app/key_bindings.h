// Which keys the commands of the window have: those of a scheme that people know from another tool, changed
// as the user likes.
#pragma once

#include <QHash>
#include <QKeySequence>
#include <QObject>
#include <QVector>

class QAction;

namespace stopline::app {

using Keys = QList<QKeySequence>;

struct KeyScheme {
    QString name;              ///< as stored
    QString title;             ///< as shown
    QHash<QString, Keys> keys; ///< by object name of the action, where they are not Stopline's own
};

/// Stopline's own first, which has none.
[[nodiscard]] QVector<KeyScheme> keySchemes();

/// Keeps the keys of actions in the settings. A key belongs to one action only: whoever gets it takes it from
/// the one that had it.
class KeyBindings : public QObject {
    Q_OBJECT
  public:
    /// The actions, which must outlive this, have names and Stopline's own keys; they get those of the
    /// settings.
    explicit KeyBindings(const QVector<QAction*>& actions, QObject* parent = nullptr);

    [[nodiscard]] const QVector<QAction*>& actions() const { return m_actions; }
    [[nodiscard]] QString scheme() const { return m_scheme; }
    /// Takes over another scheme; what the user has changed is forgotten. Of a name that is not known:
    /// Stopline's own.
    void setScheme(const QString& name);
    /// Gives an action a key instead of those it has, or none. Returns the action that has lost it, if any.
    QAction* setKey(QAction* action, const QKeySequence& key);
    /// Those of the scheme again.
    void reset(QAction* action);
    [[nodiscard]] bool changed(const QAction* action) const; ///< by the user
    [[nodiscard]] QAction* owner(const QKeySequence& key) const;

  signals:
    void keysChanged();

  private:
    [[nodiscard]] Keys ofScheme(const QAction* action) const;
    void apply();
    void store() const;

    QVector<QAction*> m_actions;
    QHash<QString, Keys> m_own; ///< Stopline's, by name of the action
    QString m_scheme;
    QHash<QString, Keys> m_changed; ///< the user's, by name of the action
};

/// The lasting name of a command, without mnemonics, whatever its text says at the moment ("Undo", not "Undo Continue").
[[nodiscard]] QString commandName(const QAction* action);
void setCommandName(QAction* action, const QString& name);
/// The first key of the window's command of that name: "F5"; empty when it has none.
[[nodiscard]] QString keyText(const QString& action);
/// The same behind the command's name in a sentence: " (F5)".
[[nodiscard]] QString keyNote(const QString& action);

} // namespace stopline::app
