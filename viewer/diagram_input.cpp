// Mouse, wheel and plain keys.
#include "diagram_impl.h"

#include "call_text.h"
#include "ruler.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallRef;

namespace {
constexpr double kZoomStep = 1.25;
constexpr double kPanShare = 0.12; ///< of the width, for one key press
constexpr double kHitSlack = 3;    ///< pixels
} // namespace

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

std::optional<CallRef> DiagramWidget::Impl::callAt(QPointF at) const {
    if (!frame.plot.contains(at.toPoint())) {
        return std::nullopt;
    }
    const QPointF p = inPlot(at);
    const int row = layout.at(int(p.y()));
    if (row < 0) {
        return std::nullopt;
    }
    const auto slack = std::max<std::int64_t>(1, std::llround(kHitSlack * view.unitsPerPixel()));
    return model.callNear(row, view.unitAt(p.x()), slack, axis);
}

void DiagramWidget::Impl::updateHover() {
    const bool inside = pointerInside && frame.plot.contains(pointer.toPoint());
    const auto now = inside ? callAt(pointer) : std::nullopt;
    int stepRow = -1;
    if (inside && stopline) {
        for (const LineGeometry& line : geometry.lines) {
            for (const LineStep& step : line.steps) {
                const QPointF p = inPlot(pointer);
                if (line.kind == LineKind::Stopline && step.hollow && p.y() >= step.y0 && p.y() < step.y1 &&
                    std::abs(p.x() - step.x) <= 16) {
                    stepRow = step.row;
                }
            }
        }
    }
    if (now != hoveredCall || stepRow != hoveredStep) {
        hoveredCall = now;
        hoveredStep = stepRow;
        QToolTip::hideText();
        if (now || stepRow >= 0) {
            tooltipTimer.start();
        } else {
            tooltipTimer.stop();
        }
    }
    QString text;
    if (inside && model.timeline() != nullptr) {
        const QPointF p = inPlot(pointer);
        const int row = layout.at(int(p.y()));
        const std::int64_t unit = view.unitAt(p.x());
        if (row >= 0 && row < model.ranks()) {
            text = u"rank %1"_s.arg(row);
        }
        if (axis == Axis::Time && unit >= 0) {
            text += u"  %1 (approx.)"_s.arg(
                timeLabel(unit, std::max<std::int64_t>(1, std::llround(view.unitsPerPixel())),
                          std::max(view.end, unit)));
        }
        if (now) {
            text += u"  event %1  %2"_s.arg(model.timeline()->call(*now).begin.value())
                        .arg(functionText(*model.timeline(), *now));
        }
    }
    emit q.hovered(text.trimmed());
    q.update();
}

void DiagramWidget::Impl::showTooltip() {
    QString text;
    if (hoveredStep >= 0 && stopline) {
        for (const replay::Obstacle& obstacle : stopline->obstacles) {
            if (obstacle.rank == RankId{hoveredStep}) {
                text = u"Cannot stop in user code here: %1"_s.arg(QString::fromStdString(obstacle.reason));
            }
        }
    }
    if (text.isEmpty() && hoveredCall && known(*hoveredCall)) {
        text = callLines(*model.timeline(), *hoveredCall, siteText ? siteText(*hoveredCall) : QString())
                   .join(u'\n');
    }
    if (!text.isEmpty() && pointerInside) {
        QToolTip::showText(q.mapToGlobal(pointer.toPoint()) + QPoint(12, 12), text, &q);
    }
}

std::int64_t DiagramWidget::Impl::snapped(QPointF plotAt) const {
    const std::int64_t unit = view.unitAt(plotAt.x());
    const int row = layout.at(int(plotAt.y()));
    if (row < 0 || row >= model.ranks()) {
        return unit;
    }
    constexpr double kSnap = 8; // pixels
    const auto slack = std::max<std::int64_t>(1, std::llround(kSnap * view.unitsPerPixel()));
    std::int64_t best = unit;
    std::int64_t distance = slack + 1;
    const std::size_t to = model.lowerCall(row, unit + slack, axis);
    for (std::size_t i = to, back = 0; i > 0 && back < 32; --i, ++back) {
        const TrackCall& call = model.calls(row)[i - 1];
        for (const std::int64_t at : {DiagramModel::begin(call, axis), model.end(row, call, axis)}) {
            if (std::abs(at - unit) < distance) {
                distance = std::abs(at - unit);
                best = at;
            }
        }
    }
    return best;
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

void DiagramWidget::leaveEvent(QEvent* event) {
    m_impl->pointerInside = false;
    m_impl->updateHover();
    QWidget::leaveEvent(event);
}

void DiagramWidget::Impl::fillMenu(QMenu& menu, QPointF at) {
    if (frame.labels.contains(at.toPoint())) {
        const int row = layout.at(int(inPlot(at).y()));
        if (row >= 0) {
            menu.addAction(u"Focus rank %1"_s.arg(row), &q,
                           [this, row] { emit q.focusRequested(RankId{row}); });
        }
        return;
    }
    const auto call = callAt(at);
    if (!call) {
        menu.addAction(u"Fit all"_s, &q, [this] { q.fitAll(); });
        menu.addAction(axis == Axis::Time ? u"Show event numbers"_s : u"Show time"_s, &q,
                       [this] { switchAxis(axis == Axis::Time ? Axis::Events : Axis::Time); });
        return;
    }
    q.select(call);
    const bool finished = model.timeline()->call(*call).end != EventIndex{0};
    const QString name = functionText(*model.timeline(), *call);
    menu.addAction(u"Set point before %1"_s.arg(name), &q, [this, call] {
        emit q.pointPicked({*call, false});
    });
    QAction* after = menu.addAction(u"Set point after %1"_s.arg(name), &q, [this, call] {
        emit q.pointPicked({*call, true});
    });
    after->setEnabled(finished);
    if (!finished) {
        after->setText(after->text() + u" (not finished)"_s);
    }
    menu.addSeparator();
    // A frontier belongs to a point: the call under the menu becomes it unless it already is.
    const auto frontier = [this, call](bool future_) {
        if (!point || point->call != *call) {
            emit q.pointPicked({*call, false});
        }
        emit q.frontierRequested(future_);
    };
    menu.addAction(u"Past frontier"_s, &q, [frontier] { frontier(false); });
    menu.addAction(u"Future frontier"_s, &q, [frontier] { frontier(true); });
    menu.addAction(u"Go here…"_s, &q, [this, call] {
        if (!point || point->call != *call) {
            emit q.pointPicked({*call, false});
        }
        emit q.stoplineRequested();
        emit q.goRequested();
    });
    menu.addSeparator();
    menu.addAction(u"Show source"_s, &q, [this, call] { emit q.sourceRequested(*call); });
    menu.addAction(u"Focus rank %1"_s.arg(call->rank.value()), &q,
                   [this, call] { emit q.focusRequested(call->rank); });
}

void DiagramWidget::contextMenuEvent(QContextMenuEvent* event) {
    m_impl->relayout();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    m_impl->fillMenu(*menu, event->pos());
    if (menu->isEmpty()) {
        delete menu;
        return;
    }
    menu->popup(event->globalPos());
}

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

bool DiagramWidget::event(QEvent* event) {
    if (event->type() == QEvent::NativeGesture) {
        auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            m_impl->zoomAt(1.0 + gesture->value(), gesture->position());
            return true;
        }
    }
    return QWidget::event(event);
}

} // namespace stopline::viewer
