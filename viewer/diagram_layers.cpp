// Painting: what is kept as a picture, and what lies over it from moment to moment.
#include "diagram_impl.h"

#include "ruler.h"

#include <QLoggingCategory>
#include <QPainter>

#include <algorithm>

using namespace Qt::StringLiterals;

Q_DECLARE_LOGGING_CATEGORY(logFrame)

namespace stopline::viewer {

void DiagramWidget::Impl::ensureOverview() {
    if (overviewStale) {
        overview = frame.overview.isEmpty() ? QImage()
                                            : overviewImage(model, axis, colours, frame.overview.width(),
                                                            frame.overview.height() - 1);
        overviewStale = false;
        layerStale = true;
    }
}

void DiagramWidget::Impl::ensureLayer() {
    ensureGeometry();
    ensureOverview();
    const qreal ratio = q.devicePixelRatioF();
    const QSize pixels = (QSizeF(q.size()) * ratio).toSize().expandedTo(QSize(1, 1));
    if (!layerStale && layer.size() == pixels && layer.devicePixelRatio() == ratio) {
        return;
    }
    QElapsedTimer timer;
    timer.start();
    if (layer.size() != pixels) {
        layer = QPixmap(pixels);
        layer.fill(colours.background); // later on, plot and frame cover all of it
    }
    layer.setDevicePixelRatio(ratio);
    QPainter p(&layer);
    paintLayer(p);
    layerStale = false;
    qCDebug(logFrame) << "paint" << timer.nsecsElapsed() / 1000 << "us";
}

void DiagramWidget::Impl::paintLayer(QPainter& p) {
    p.save();
    p.setClipRect(frame.plot);
    p.translate(frame.plot.topLeft());
    painter.paint(p, geometry);
    p.restore();
    FramePainter(colours, q.font()).paint(p, frame, content, geometry, overview);
    if (model.empty()) {
        paintEmpty(p);
    }
}

void DiagramWidget::Impl::paintEmpty(QPainter& p) const {
    p.setPen(colours.weakText);
    p.setFont(q.font());
    const QString text =
        model.timeline() == nullptr
            ? u"No job yet. Run one: its MPI calls appear here at every stop."_s
            : u"No MPI call recorded yet.\nThe history grows at every stop; a program that is not linked "
              u"with MPI records nothing."_s;
    p.drawText(frame.plot.adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, text);
}

void DiagramWidget::Impl::paintRange(QPainter& p) const {
    if (range) {
        const double x0 = view.toPixel(range->begin);
        const double x1 = view.toPixel(range->end);
        const QRectF area(x0, layout.top(range->firstRow), x1 - x0,
                          layout.bottom(range->lastRow) - layout.top(range->firstRow));
        QColor wash = colours.selection;
        wash.setAlphaF(0.14F);
        p.fillRect(area, wash);
        p.setPen(QPen(colours.selection, 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(area);
        const QString span = axis == Axis::Time
                                 ? durationText(range->end - range->begin)
                                 : u"%1 events"_s.arg((range->end - range->begin) / kUnitsPerEvent);
        p.setPen(colours.text);
        p.drawText(QPointF(std::max(4.0, x0 + 4), std::max(14.0, area.top() + 14)),
                   span + u"  (Enter zooms)"_s);
    }
    if (drag == DragMode::Measure) {
        const double x0 = view.toPixel(measureFrom);
        const double x1 = view.toPixel(measureTo);
        p.setPen(QPen(colours.selection, 1));
        p.drawLine(QPointF(x0, 0), QPointF(x0, layout.viewportHeight));
        p.drawLine(QPointF(x1, 0), QPointF(x1, layout.viewportHeight));
        const double y = std::clamp(inPlot(pointer).y(), 14.0, double(layout.viewportHeight) - 4);
        p.drawLine(QPointF(x0, y), QPointF(x1, y));
        p.setPen(colours.text);
        const std::int64_t length = std::abs(measureTo - measureFrom);
        p.drawText(QPointF(std::min(x0, x1) + 6, y - 4),
                   axis == Axis::Time ? durationText(length) : u"%1 events"_s.arg(length / kUnitsPerEvent));
    }
}

void DiagramWidget::Impl::paintOverlay(QPainter& p) {
    if (!frame.overview.isEmpty() && !model.empty()) {
        const AxisView whole = wholeView(model, axis, frame.overview.width());
        const FramePainter framePainter(colours, q.font());
        for (const StopPost& stop : stops) {
            std::int64_t at = -1;
            for (std::size_t r = 0; r < std::min(stop.places.size(), std::size_t(model.ranks())); ++r) {
                at = std::max(at, model.position(int(r), stop.places[r], axis));
            }
            if (at >= 0) {
                p.fillRect(QRectF(frame.overview.left() + whole.toPixel(at), frame.overview.top(), 1,
                                  frame.overview.height() - 1),
                           colours.stop);
            }
        }
        framePainter.paintLens(p, frame.overview, lensOf(view, whole));
    }
    p.save();
    p.setClipRect(frame.plot);
    p.translate(frame.plot.topLeft());
    p.setFont(q.font());
    paintRange(p);
    if (hoveredCall && drag == DragMode::None && known(*hoveredCall)) {
        const TrackCall& call = model.calls(hoveredCall->rank.value())[hoveredCall->call.value()];
        const double x0 = std::max(-4.0, view.toPixel(DiagramModel::begin(call, axis)));
        const double x1 =
            std::min(view.width + 4.0, view.toPixel(model.end(hoveredCall->rank.value(), call, axis)));
        const int top = layout.top(hoveredCall->rank.value());
        p.setPen(QPen(colours.text, 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(QRectF(int(x0), top + layout.lane().top, std::max(3, int(x1 - x0)) - 1,
                          layout.lane().bottom - layout.lane().top - 1));
    }
    if (pointerInside && frame.plot.contains(pointer.toPoint())) {
        QColor hair = colours.weakText;
        hair.setAlphaF(0.45F);
        p.fillRect(QRectF(int(inPlot(pointer).x()), 0, 1, layout.viewportHeight), hair);
    }
    p.restore();
    if (pointerInside && frame.plot.contains(pointer.toPoint()) && !frame.overview.isEmpty() &&
        !model.empty()) {
        const AxisView whole = wholeView(model, axis, frame.overview.width());
        const double x = frame.overview.left() + whole.toPixel(view.unitAt(inPlot(pointer).x()));
        p.fillRect(QRectF(x, frame.overview.top(), 1, frame.overview.height() - 1), colours.weakText);
    }
}

} // namespace stopline::viewer
