// Wheel, mouse buttons, drags and gestures.
#include "diagram_impl.h"

#include <QApplication>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace stopline::viewer {

void DiagramWidget::Impl::zoomAt(double factor, QPointF at) {
    const double x = inPlot(at).x();
    // A series of steps at one place keeps the first unit, so that roundings do not make it creep.
    if (at != zoomAnchorAt || std::abs(view.toPixel(zoomAnchor) - x) > 1) {
        zoomAnchor = view.unitAt(x);
        zoomAnchorAt = at;
    }
    const AxisView whole = wholeView(model, axis, frame.plot.width());
    const AxisView next =
        view.zoomed(factor, x, zoomAnchor, leastSpan(), std::max(whole.span() * 3 / 2, leastSpan()));
    if (next == view) {
        return;
    }
    rememberView();
    view = next;
    fit = false;
    invalidate();
}

void DiagramWidget::Impl::pan(double pixels) {
    setView(view.panned(pixels), true);
}

void DiagramWidget::Impl::finishDrag(QPointF at) {
    const DragMode mode = drag;
    drag = DragMode::None;
    q.unsetCursor();
    if (mode == DragMode::Pending) {
        range.reset();
        q.select(callAt(at));
        if (!selected) {
            invalidate();
        }
    }
    updateHover();
}

void DiagramWidget::wheelEvent(QWheelEvent* event) {
    Impl& d = *m_impl;
    d.relayout();
    const bool alt = (event->modifiers() & Qt::AltModifier) != 0;
    // Alt turns the wheel sideways on some platforms.
    const int delta = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    const bool sideways = event->angleDelta().y() == 0 && event->angleDelta().x() != 0 && !alt;
    if (d.frame.overview.contains(event->position().toPoint()) ||
        (event->modifiers() & Qt::ControlModifier) != 0) {
        d.zoomAt(std::pow(kZoomStep, delta / 120.0), event->position());
    } else if (alt) {
        d.autoRows = false;
        d.wheelRest += delta;
        const int steps = d.wheelRest / 120;
        d.wheelRest -= steps * 120;
        const int change = steps * std::max(1, d.layout.rowHeight / 8);
        d.setLayout(d.layout.withRowHeight(d.layout.rowHeight + change, int(d.inPlot(event->position()).y())),
                    true);
    } else if ((event->modifiers() & Qt::ShiftModifier) != 0 || sideways) {
        d.pan(-delta / 120.0 * 0.1 * d.view.width);
    } else {
        const int by = !event->pixelDelta().isNull() ? event->pixelDelta().y()
                                                     : delta * std::max(24, 2 * d.layout.rowHeight) / 120;
        d.setLayout(d.layout.scrolledTo(d.layout.scroll - by), false);
    }
    event->accept();
    d.updateHover();
}

void DiagramWidget::mousePressEvent(QMouseEvent* event) {
    Impl& d = *m_impl;
    d.relayout();
    const QPointF at = event->position();
    const QPoint pixel = at.toPoint();
    QToolTip::hideText();
    d.tooltipTimer.stop();
    d.dragFrom = at;
    d.dragView = d.view;
    d.dragLayout = d.layout;
    if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && d.spaceHeld)) {
        d.drag = DragMode::Pan;
        d.rememberView();
        setCursor(Qt::ClosedHandCursor);
        return;
    }
    if (event->button() != Qt::LeftButton) {
        return;
    }
    if (d.frame.legendButton.contains(pixel)) {
        d.help->toggle(HelpOverlay::Content::Legend);
        return;
    }
    d.help->hide();
    if (d.frame.overview.contains(pixel)) {
        d.drag = DragMode::Lens;
        const AxisView whole = wholeView(d.model, d.axis, d.frame.overview.width());
        d.setView(viewAtLens(d.view, whole, at.x() - d.frame.overview.left()), true);
        return;
    }
    if (d.frame.labels.contains(pixel)) {
        const int row = d.layout.at(int(d.inPlot(at).y()));
        if (row >= 0) {
            emit focusRequested(RankId{row});
        }
        return;
    }
    if (d.frame.plot.contains(pixel)) {
        if ((event->modifiers() & Qt::ShiftModifier) != 0) {
            d.drag = DragMode::Measure;
            d.measureFrom = d.measureTo = d.snapped(d.inPlot(at));
        } else {
            d.drag = DragMode::Pending;
        }
    }
}

void DiagramWidget::mouseMoveEvent(QMouseEvent* event) {
    Impl& d = *m_impl;
    const QPointF at = event->position();
    d.pointer = at;
    d.pointerInside = rect().contains(at.toPoint());
    const QPointF moved = at - d.dragFrom;
    switch (d.drag) {
    case DragMode::Pending:
        if (moved.manhattanLength() < QApplication::startDragDistance()) {
            break;
        }
        d.drag = DragMode::Range;
        [[fallthrough]];
    case DragMode::Range: {
        const QPointF from = d.inPlot(d.dragFrom);
        const QPointF to = d.inPlot(at);
        const std::int64_t a = d.view.unitAt(std::clamp(from.x(), 0.0, double(d.view.width)));
        const std::int64_t b = d.view.unitAt(std::clamp(to.x(), 0.0, double(d.view.width)));
        const int last = std::max(0, d.layout.rows - 1);
        const auto rowAt = [&](double y) {
            return std::clamp((int(y) + d.layout.scroll) / std::max(1, d.layout.rowHeight), 0, last);
        };
        d.range =
            Impl::Range{std::min(a, b), std::max({a, b, std::min(a, b) + 1}),
                        std::min(rowAt(from.y()), rowAt(to.y())), std::max(rowAt(from.y()), rowAt(to.y()))};
        break;
    }
    case DragMode::Pan: {
        const AxisView whole = wholeView(d.model, d.axis, d.frame.plot.width());
        const AxisView next = d.dragView.panned(-moved.x()).keptNear(whole.begin, whole.end);
        const RowLayout rows = d.dragLayout.scrolledTo(d.dragLayout.scroll - int(moved.y()));
        if (next != d.view || rows != d.layout) {
            d.view = next;
            d.layout = rows;
            d.fit = false;
            d.invalidate();
        }
        break;
    }
    case DragMode::Measure:
        d.measureTo = d.snapped(d.inPlot(at));
        break;
    case DragMode::Lens: {
        const AxisView whole = wholeView(d.model, d.axis, d.frame.overview.width());
        d.setView(viewAtLens(d.view, whole, at.x() - d.frame.overview.left()), false);
        break;
    }
    case DragMode::None:
        d.updateHover();
        return;
    }
    update();
}

void DiagramWidget::mouseReleaseEvent(QMouseEvent* event) {
    if (m_impl->drag != DragMode::None) {
        m_impl->finishDrag(event->position());
    }
}

void DiagramWidget::mouseDoubleClickEvent(QMouseEvent* event) {
    Impl& d = *m_impl;
    if (event->button() != Qt::LeftButton || !d.frame.plot.contains(event->position().toPoint())) {
        return;
    }
    d.drag = DragMode::None;
    d.ensureGeometry();
    // On the arc of the point: the other side of the same call, if that is to be had.
    if (d.geometry.point && d.point) {
        const QPointF off = d.inPlot(event->position()) - d.geometry.point->at;
        if (std::hypot(off.x(), off.y()) <= d.geometry.point->radius + 7) {
            const bool finished = d.model.timeline()->call(d.point->call).end != EventIndex{0};
            if (d.point->after || finished) {
                const replay::Point other{d.point->call, !d.point->after};
                emit pointPicked(other);
            }
            return;
        }
    }
    if (const auto call = d.callAt(event->position())) {
        select(call);
        emit sourceRequested(*call);
    }
}

bool DiagramWidget::event(QEvent* event) {
    if (event->type() == QEvent::NativeGesture) {
        auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            m_impl->zoomAt(1.0 + gesture->value(), gesture->position());
            return true;
        }
    }
    if (event->type() == QEvent::ShortcutOverride && m_impl->hasPlainKey(*static_cast<QKeyEvent*>(event))) {
        event->accept(); // comes as a key press then, whatever else in the window has the same key
        return true;
    }
    return QWidget::event(event);
}

} // namespace stopline::viewer
