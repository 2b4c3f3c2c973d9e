// Plain keys; those with a name of their own are actions (diagram_actions.cpp).
#include "diagram_impl.h"

#include <QGuiApplication>
#include <QKeyEvent>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {
constexpr double kPanShare = 0.12; ///< of the width, for one key press
} // namespace

void DiagramWidget::keyPressEvent(QKeyEvent* event) {
    Impl& d = *m_impl;
    if (event->key() == Qt::Key_Space) {
        d.spaceHeld = true;
        setCursor(Qt::OpenHandCursor);
        return;
    }
    if (event->key() == Qt::Key_Escape) {
        d.clearTransient();
        return;
    }
    if ((event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    // The physical keys, as other layouts have other letters there; X11 and Wayland number them alike (evdev
    // + 8).
    constexpr quint32 kW = 25;
    constexpr quint32 kA = 38;
    constexpr quint32 kS = 39;
    constexpr quint32 kD = 40;
    const QString platform = QGuiApplication::platformName();
    const bool physical =
        (platform == "xcb"_L1 || platform.startsWith("wayland"_L1)) && event->nativeScanCode() != 0;
    const auto is = [&](quint32 scan, Qt::Key key) {
        return physical ? event->nativeScanCode() == scan : event->key() == key;
    };
    if (is(kW, Qt::Key_W)) {
        zoomBy(kZoomStep);
    } else if (is(kS, Qt::Key_S)) {
        zoomBy(1 / kZoomStep);
    } else if (is(kA, Qt::Key_A)) {
        d.pan(-kPanShare * d.view.width);
    } else if (is(kD, Qt::Key_D)) {
        d.pan(kPanShare * d.view.width);
    } else if (event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown) {
        const int by = (event->key() == Qt::Key_PageUp ? -1 : 1) * d.layout.viewportHeight * 9 / 10;
        d.setLayout(d.layout.scrolledTo(d.layout.scroll + by), true);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void DiagramWidget::keyReleaseEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
        m_impl->spaceHeld = false;
        if (m_impl->drag == DragMode::None) {
            unsetCursor();
        }
        return;
    }
    QWidget::keyReleaseEvent(event);
}

} // namespace stopline::viewer
