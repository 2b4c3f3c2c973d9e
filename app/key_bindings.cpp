#include "key_bindings.h"

#include <QAction>
#include <QCoreApplication>
#include <QSettings>

#include <algorithm>

namespace stopline::app {

namespace {

constexpr const char* kNameProperty = "stoplineCommand";
const QString kSchemeKey = QStringLiteral("keys/scheme");
const QString kChangedGroup = QStringLiteral("keys/changed");

/// What the window's commands have now; the one window of the program keeps it.
QHash<QString, Keys>& current() {
    static QHash<QString, Keys> keys;
    return keys;
}

Keys keys(std::initializer_list<const char*> texts) {
    Keys all;
    for (const char* text : texts) {
        all << QKeySequence(QString::fromLatin1(text), QKeySequence::PortableText);
    }
    return all;
}

QString title(const char* text) {
    return QCoreApplication::translate("KeyBindings", text);
}

} // namespace

QVector<KeyScheme> keySchemes() {
    // Where a tool has no key for something, or the key has another meaning here, a free one near it.
    return {
        {QStringLiteral("stopline"), title("Stopline (as Visual Studio and Qt Creator)"), {}},
        {QStringLiteral("eclipse"),
         title("Eclipse"),
         {{QStringLiteral("runOrContinue"), keys({"F8"})},
          {QStringLiteral("pause"), keys({"Shift+F8"})},
          {QStringLiteral("stepOver"), keys({"F6"})},
          {QStringLiteral("stepInto"), keys({"F5"})},
          {QStringLiteral("stepOut"), keys({"F7"})},
          {QStringLiteral("runToCursor"), keys({"Ctrl+R"})},
          {QStringLiteral("replay"), keys({"Ctrl+Alt+R"})},
          {QStringLiteral("toggleBreakpoint"), keys({"Ctrl+Shift+B"})},
          {QStringLiteral("kill"), keys({"Ctrl+F2"})},
          {QStringLiteral("cycleSplitter"), keys({"Ctrl+F8"})}}},
        {QStringLiteral("clion"),
         title("CLion"),
         {{QStringLiteral("runOrContinue"), keys({"F9"})},
          {QStringLiteral("pause"), keys({"Ctrl+Pause", "F6"})},
          {QStringLiteral("stepOver"), keys({"F8"})},
          {QStringLiteral("stepInto"), keys({"F7"})},
          {QStringLiteral("stepOut"), keys({"Shift+F8"})},
          {QStringLiteral("runToCursor"), keys({"Alt+F9"})},
          {QStringLiteral("toggleBreakpoint"), keys({"Ctrl+F8"})},
          {QStringLiteral("kill"), keys({"Ctrl+F2"})},
          {QStringLiteral("restart"), keys({"Ctrl+F5"})},
          {QStringLiteral("go"), keys({"Ctrl+F9"})},
          {QStringLiteral("cycleSplitter"), keys({"Alt+F8"})}}},
        {QStringLiteral("gdb"),
         title("gdb: single letters, and the keys of Stopline"),
         {{QStringLiteral("runOrContinue"), keys({"C", "F5"})},
          {QStringLiteral("stepOver"), keys({"N", "F10"})},
          {QStringLiteral("stepInto"), keys({"S", "F11"})},
          {QStringLiteral("stepOut"), keys({"U", "Shift+F11"})},
          {QStringLiteral("restart"), keys({"R", "Ctrl+Shift+F5"})}}},
    };
}

KeyBindings::KeyBindings(const QVector<QAction*>& actions, QObject* parent)
    : QObject(parent), m_actions(actions) {
    const QSettings settings;
    m_scheme = settings.value(kSchemeKey, keySchemes().first().name).toString();
    for (const QAction* action : m_actions) {
        m_own.insert(action->objectName(), action->shortcuts());
        const QString key = kChangedGroup + u'/' + action->objectName();
        if (settings.contains(key)) {
            Keys stored =
                QKeySequence::listFromString(settings.value(key).toString(), QKeySequence::PortableText);
            stored.removeAll(QKeySequence()); // "" is a list of one
            m_changed.insert(action->objectName(), stored);
        }
    }
    apply();
}

Keys KeyBindings::ofScheme(const QAction* action) const {
    for (const KeyScheme& scheme : keySchemes()) {
        if (scheme.name == m_scheme && scheme.keys.contains(action->objectName())) {
            return scheme.keys.value(action->objectName());
        }
    }
    return m_own.value(action->objectName());
}

void KeyBindings::apply() {
    current().clear();
    for (QAction* action : std::as_const(m_actions)) {
        const Keys all = m_changed.value(action->objectName(), ofScheme(action));
        action->setShortcuts(all);
        current().insert(action->objectName(), all);
    }
    emit keysChanged();
}

void KeyBindings::store() const {
    QSettings settings;
    settings.setValue(kSchemeKey, m_scheme);
    settings.remove(kChangedGroup);
    for (auto it = m_changed.begin(); it != m_changed.end(); ++it) {
        settings.setValue(kChangedGroup + u'/' + it.key(),
                          QKeySequence::listToString(it.value(), QKeySequence::PortableText));
    }
}

void KeyBindings::setScheme(const QString& name) {
    const QVector<KeyScheme> all = keySchemes();
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const KeyScheme& one) { return one.name == name; });
    m_scheme = known ? name : all.first().name;
    m_changed.clear();
    store();
    apply();
}

QAction* KeyBindings::owner(const QKeySequence& key) const {
    const auto it = std::find_if(m_actions.begin(), m_actions.end(), [&](const QAction* action) {
        return !key.isEmpty() && action->shortcuts().contains(key);
    });
    return it == m_actions.end() ? nullptr : *it;
}

QAction* KeyBindings::setKey(QAction* action, const QKeySequence& key) {
    QAction* before = owner(key);
    if (before == action) {
        before = nullptr;
    }
    if (before != nullptr) {
        Keys rest = before->shortcuts();
        rest.removeAll(key);
        m_changed.insert(before->objectName(), rest);
    }
    m_changed.insert(action->objectName(), key.isEmpty() ? Keys() : Keys{key});
    store();
    apply();
    return before;
}

void KeyBindings::reset(QAction* action) {
    m_changed.remove(action->objectName());
    const Keys again = ofScheme(action);
    for (const QKeySequence& key : again) {
        if (QAction* other = owner(key); other != nullptr && other != action) {
            Keys rest = other->shortcuts();
            rest.removeAll(key);
            m_changed.insert(other->objectName(), rest);
        }
    }
    store();
    apply();
}

bool KeyBindings::changed(const QAction* action) const {
    const auto it = m_changed.constFind(action->objectName());
    return it != m_changed.cend() && it.value() != ofScheme(action);
}

QString commandName(const QAction* action) {
    const QString name = action->property(kNameProperty).toString();
    return name.isEmpty() ? action->text().remove(u'&') : name;
}

void setCommandName(QAction* action, const QString& name) {
    action->setProperty(kNameProperty, name);
}

QString keyText(const QString& action) {
    const Keys all = current().value(action);
    return all.isEmpty() ? QString() : all.first().toString(QKeySequence::NativeText);
}

QString keyNote(const QString& action) {
    const QString key = keyText(action);
    return key.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(key);
}

} // namespace stopline::app
