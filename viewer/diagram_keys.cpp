// Plain keys; those with a name of their own are actions (diagram_actions.cpp).
#include "diagram_impl.h"

#include <QAction>
#include <QGuiApplication>
#include <QKeyEvent>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {
constexpr double kPanShare = 0.12; ///< of the width, for one key press

enum class Move { None, ZoomIn, ZoomOut, Left, Right };

/// W, A, S, D: the physical keys, as other layouts have other letters there.
Move moveOf(const QKeyEvent& event) {
    // X11 and Wayland number them alike (evdev + 8).
    constexpr quint32 kW = 25;
    constexpr quint32 kA = 38;
    constexpr quint32 kS = 39;
    constexpr quint32 kD = 40;
    const QString platform = QGuiApplication::platformName();
    const bool physical =
        (platform == "xcb"_L1 || platform.startsWith("wayland"_L1)) && event.nativeScanCode() != 0;
    const auto is = [&](quint32 scan, Qt::Key key) {
        return physical ? event.nativeScanCode() == scan : event.key() == key;
    };
    return is(kW, Qt::Key_W)   ? Move::ZoomIn
           : is(kS, Qt::Key_S) ? Move::ZoomOut
           : is(kA, Qt::Key_A) ? Move::Left
           : is(kD, Qt::Key_D) ? Move::Right
                               : Move::None;
}

} // namespace

QAction* DiagramWidget::Impl::plainAction(const QKeyEvent& event) const {
    const auto plain = event.modifiers() & ~Qt::KeypadModifier;
    if ((plain & ~Qt::ShiftModifier) != 0) {
        return nullptr;
    }
    const QKeySequence key(QKeyCombination(plain, Qt::Key(event.key())));
    const auto it = std::find_if(actions.begin(), actions.end(),
                                 [&](const QAction* action) { return action->shortcuts().contains(key); });
    return it == actions.end() ? nullptr : *it;
}

bool DiagramWidget::Impl::hasPlainKey(const QKeyEvent& event) const {
    const bool moves =
        event.modifiers() == Qt::NoModifier && (moveOf(event) != Move::None || event.key() == Qt::Key_Space);
    return moves || plainAction(event) != nullptr;
}

void DiagramWidget::keyPressEvent(QKeyEvent* event) {
    Impl& d = *m_impl;
    if (QAction* action = d.plainAction(*event)) {
        action->trigger();
        return;
    }
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
    switch (moveOf(*event)) {
    case Move::ZoomIn:
        zoomBy(kZoomStep);
        return;
    case Move::ZoomOut:
        zoomBy(1 / kZoomStep);
        return;
    case Move::Left:
        d.pan(-kPanShare * d.view.width);
        return;
    case Move::Right:
        d.pan(kPanShare * d.view.width);
        return;
    case Move::None:
        break;
    }
    if (event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown) {
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
