// Sizes, places and colours of the window, and what is remembered of them.
#include "main_window.h"

#include "output_dock.h"
#include "source_view.h"
#include "theme.h"

#include <QActionGroup>
#include <QSettings>
#include <QSplitter>
#include <QTimer>

namespace stopline::app {

void MainWindow::cycleSplitter() {
    const QList<int> sizes = m_splitter->sizes();
    const int total = qMax(1, sizes.value(0) + sizes.value(1));
    const int source = sizes.value(0) * 100 / total;
    const int next = source >= 99 ? 0 : source >= 50 ? 35 : source >= 20 ? 100 : 65;
    m_splitter->setSizes({total * next / 100, total - total * next / 100});
    QTimer::singleShot(0, m_source, &SourceView::showCursorLine); // when it has its new size
}

void MainWindow::setColourStyle(ColourStyle style, bool remember) {
    applyStyle(style);
    tickStyle();
    if (remember) {
        QSettings().setValue(QString::fromLatin1(kStyleKey),
                             style == ColourStyle::Dark    ? QStringLiteral("dark")
                             : style == ColourStyle::Light ? QStringLiteral("light")
                                                           : QStringLiteral("system"));
    }
}

/// The mark in the menu is at what is in effect, however it was chosen.
void MainWindow::tickStyle() {
    for (QAction* action : m_styles->actions()) {
        action->setChecked(action->data().toInt() == static_cast<int>(appliedStyle()));
    }
}

void MainWindow::resetLayout() {
    restoreState(m_pristineState, kLayoutVersion);
    m_splitter->setSizes({460, 540});
    m_outputDock->raise();
}

void MainWindow::restoreLayout() {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray(), kLayoutVersion);
    m_splitter->restoreState(settings.value(QStringLiteral("window/splitter")).toByteArray());
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState(kLayoutVersion));
    settings.setValue(QStringLiteral("window/splitter"), m_splitter->saveState());
}

} // namespace stopline::app
