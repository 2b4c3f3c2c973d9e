#include "window_script.h"

#include "../viewer/diagram_widget.h"
#include "actions.h"
#include "diagram_pane.h"
#include "look.h"
#include "main_window.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QDockWidget>
#include <QEventLoop>
#include <QPixmap>
#include <QTimer>

namespace stopline::app {

void settleWindow(MainWindow* window) {
    const auto spin = [](int ms) {
        QEventLoop loop;
        QTimer::singleShot(ms, &loop, &QEventLoop::quit);
        loop.exec();
    };
    const QDeadlineTimer deadline(5000);
    do {
        spin(150);
    } while (window->look()->stale() && !deadline.hasExpired());
    spin(250); // variables come after the stack
}

WindowScript::WindowScript(MainWindow* window, const QString& directory, QObject* parent)
    : QObject(parent), m_window(window), m_directory(directory.isEmpty() ? QDir::currentPath() : directory) {}

QString WindowScript::screenshot(const QString& name) {
    if (!QDir().mkpath(m_directory)) {
        return tr("%1 cannot be made").arg(m_directory);
    }
    settleWindow(m_window);
    const QString path = QDir(m_directory).absoluteFilePath(name + QStringLiteral(".png"));
    if (!m_window->grab().save(path)) {
        return tr("%1 cannot be written").arg(path);
    }
    m_pictures << path;
    return {};
}

QString WindowScript::select(replay::CallRef call) {
    m_window->look()->selectCall(call, true);
    return {};
}

QString WindowScript::resize(int width, int height) {
    m_window->resize(width, height);
    return {};
}

QString WindowScript::axis(const QString& name) {
    Actions* actions = m_window->actions();
    if (name == QLatin1StringView("time")) {
        actions->axisTime->trigger();
    } else if (name == QLatin1StringView("events")) {
        actions->axisEvents->trigger();
    } else {
        return tr("time or events, not `%1`").arg(name);
    }
    return {};
}

QString WindowScript::style(const QString& name) {
    if (name != QLatin1StringView("light") && name != QLatin1StringView("dark")) {
        return tr("light or dark, not `%1`").arg(name);
    }
    m_window->setColourStyle(name == QLatin1StringView("dark") ? ColourStyle::Dark : ColourStyle::Light,
                             false);
    return {};
}

QString WindowScript::dock(const QString& name) {
    auto* dock = m_window->findChild<QDockWidget*>(name);
    if (dock == nullptr) {
        QStringList names;
        for (const auto* one : m_window->findChildren<QDockWidget*>()) {
            names << one->objectName();
        }
        return tr("there is no panel %1; there are %2").arg(name, names.join(QStringLiteral(", ")));
    }
    dock->show();
    dock->raise();
    return {};
}

} // namespace stopline::app
