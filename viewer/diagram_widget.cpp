#include "diagram_widget.h"

#include "diagram_impl.h"

#include <QEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallRef;

DiagramWidget::DiagramWidget(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(*this)) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Space-time diagram"));
    m_impl->help = new HelpOverlay(this);
    m_impl->makeActions();
    m_impl->themeChanged();
    m_impl->selectionText();
}

DiagramWidget::~DiagramWidget() = default;

void DiagramWidget::setTimeline(const replay::Timeline* timeline) {
    Impl& d = *m_impl;
    d.model.setTimeline(timeline);
    d.selectedAlternatives.reset();
    d.hoveredCall.reset();
    d.range.reset();
    d.drag = DragMode::None;
    if (timeline != nullptr) {
        const auto drop = [&d](auto& what) {
            if (what && !d.known(*what)) {
                what.reset();
            }
        };
        const bool had = d.selected.has_value();
        drop(d.selected);
        if (d.point && !d.known(d.point->call)) {
            d.point.reset();
        }
        if (had && !d.selected) {
            emit selectionChanged(std::nullopt);
        }
    }
    d.overviewStale = true;
    d.relayout();
    // A part of the run before that the new one does not have is nothing to look at.
    d.fit = d.fit || d.view.begin >= d.model.extent(d.axis);
    if (d.fit) {
        d.applyFit();
    }
    d.selectionText();
    d.invalidate();
}

void DiagramWidget::timelineChanged() {
    Impl& d = *m_impl;
    const std::int64_t before = d.model.extent(d.axis);
    const bool following = d.view.end >= before;
    d.model.update();
    d.selectedAlternatives.reset();
    d.relayout();
    const std::int64_t after = d.model.extent(d.axis);
    if (d.fit) {
        d.applyFit();
    } else if (following && after > d.view.end) {
        // The right edge was in sight: it stays there, at the same scale.
        const std::int64_t by = after - d.view.end + d.view.span() / 25;
        d.view = {d.view.begin + by, d.view.end + by, d.view.width};
    }
    d.overviewStale = true;
    d.selectionText();
    d.invalidate();
}

void DiagramWidget::setRowStates(const std::vector<RowState>& rows) {
    m_impl->rows = rows;
    m_impl->invalidate();
}

void DiagramWidget::setStops(const std::vector<StopPost>& stops) {
    m_impl->stops = stops;
    m_impl->invalidate();
}

void DiagramWidget::setFocusRank(std::optional<RankId> rank) {
    Impl& d = *m_impl;
    const bool other = rank != d.focus;
    d.focus = rank;
    d.invalidate();
    if (!other || !rank) {
        return; // the user may have scrolled away from it
    }
    d.relayout();
    const int row = rank->value();
    if (row < d.layout.rows && (d.layout.top(row) < 0 || d.layout.bottom(row) > d.layout.viewportHeight)) {
        const int middle = (d.layout.viewportHeight - d.layout.rowHeight) / 2;
        d.setLayout(d.layout.scrolledTo(row * d.layout.rowHeight - middle), false);
    }
}

void DiagramWidget::setAxis(Axis axis) {
    m_impl->switchAxis(axis);
}
Axis DiagramWidget::axis() const {
    return m_impl->axis;
}

void DiagramWidget::setPoint(std::optional<replay::Point> point) {
    m_impl->point = point;
    m_impl->invalidate();
}

void DiagramWidget::setPastFrontier(std::optional<replay::Line> line) {
    m_impl->past = std::move(line);
    m_impl->invalidate();
}

void DiagramWidget::setFutureFrontier(std::optional<replay::Line> line) {
    m_impl->future = std::move(line);
    m_impl->invalidate();
}

void DiagramWidget::setChosenFrontier(bool future) {
    m_impl->futureChosen = future;
    m_impl->invalidate();
}

void DiagramWidget::setStopline(std::optional<replay::Line> line) {
    m_impl->stopline = std::move(line);
    m_impl->invalidate();
}

void DiagramWidget::setGhost(std::optional<replay::Cut> target) {
    m_impl->ghost = std::move(target);
    m_impl->invalidate();
}

void DiagramWidget::setRaces(std::vector<RaceMark> races) {
    Impl& d = *m_impl;
    d.model.setRaces(std::move(races));
    d.selectedAlternatives.reset();
    d.selectionText();
    d.invalidate();
}

void DiagramWidget::setAlternatives(std::function<std::vector<CallRef>(const CallRef&)> sends) {
    m_impl->alternatives = std::move(sends);
    m_impl->selectedAlternatives.reset();
    m_impl->invalidate();
}

void DiagramWidget::select(std::optional<CallRef> call) {
    if (call && !m_impl->known(*call)) {
        call.reset();
    }
    if (call == m_impl->selected) {
        return;
    }
    m_impl->selected = call;
    m_impl->selectedAlternatives.reset();
    m_impl->selectionText();
    m_impl->invalidate();
    emit selectionChanged(call);
}

std::optional<CallRef> DiagramWidget::selection() const {
    return m_impl->selected;
}

void DiagramWidget::reveal(CallRef ref) {
    Impl& d = *m_impl;
    d.relayout();
    if (!d.known(ref)) {
        return;
    }
    const int row = ref.rank.value();
    const TrackCall& call = d.model.calls(row)[ref.call.value()];
    const std::int64_t begin = DiagramModel::begin(call, d.axis);
    const std::int64_t margin = d.view.span() / 12;
    const std::int64_t end = std::min(d.model.end(row, call, d.axis), begin + d.view.span() - 2 * margin);
    AxisView view = d.view;
    std::int64_t by = 0;
    if (begin - margin < view.begin && begin < view.begin + margin / 2) {
        by = begin - margin - view.begin;
    } else if (end > view.end) {
        by = end + margin - view.end;
    }
    if (by != 0) {
        d.setView({view.begin + by, view.end + by, view.width}, true);
    }
    if (d.layout.top(row) < 0) {
        d.setLayout(d.layout.scrolledTo(row * d.layout.rowHeight), true);
    } else if (d.layout.bottom(row) > d.layout.viewportHeight) {
        d.setLayout(d.layout.scrolledTo((row + 1) * d.layout.rowHeight - d.layout.viewportHeight), true);
    }
}

void DiagramWidget::fitWork() {
    Impl& d = *m_impl;
    d.relayout();
    d.rememberView();
    d.fit = true;
    d.fitInit = false;
    d.applyFit();
    d.invalidate();
}

void DiagramWidget::fitAll() {
    Impl& d = *m_impl;
    d.relayout();
    d.rememberView();
    d.fit = true;
    d.fitInit = true;
    d.autoRows = true;
    d.layout.rowHeight = RowLayout::fittingRowHeight(d.layout.rows, d.layout.viewportHeight);
    d.layout = d.layout.scrolledTo(0);
    d.applyFit();
    d.invalidate();
}

void DiagramWidget::fitLastStop() {
    Impl& d = *m_impl;
    d.relayout();
    const std::int64_t end = d.model.extent(d.axis);
    std::int64_t begin = end;
    for (int row = 0; row < d.model.ranks() && std::size_t(row) < d.rows.size(); ++row) {
        const EventIndex from = d.rows[std::size_t(row)].freshFrom;
        if (from > EventIndex{0}) {
            begin = std::min(begin, d.model.position(row, from, d.axis));
        }
    }
    const std::int64_t span = begin < end ? std::max((end - begin) * 5 / 4, d.leastSpan()) : d.view.span();
    const std::int64_t right = end + span / 20;
    d.setView({right - span, right, d.view.width}, true);
}

void DiagramWidget::zoomBy(double factor) {
    Impl& d = *m_impl;
    d.relayout();
    const bool inside = d.pointerInside && d.frame.plot.contains(d.pointer.toPoint());
    d.zoomAt(factor, inside ? d.pointer : QPointF(d.frame.plot.center()));
}

void DiagramWidget::setSiteText(std::function<QString(const CallRef&)> text) {
    m_impl->siteText = std::move(text);
}

const Geometry& DiagramWidget::geometry() const {
    m_impl->ensureGeometry();
    return m_impl->geometry;
}

QRect DiagramWidget::plotRect() const {
    m_impl->relayout();
    return m_impl->frame.plot;
}

QSize DiagramWidget::minimumSizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.averageCharWidth() * 40, metrics.height() * 6};
}

QSize DiagramWidget::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.averageCharWidth() * 140, metrics.height() * 22};
}

void DiagramWidget::paintEvent(QPaintEvent*) {
    m_impl->ensureLayer();
    QPainter painter(this);
    painter.drawPixmap(0, 0, m_impl->layer);
    m_impl->paintOverlay(painter);
}

void DiagramWidget::resizeEvent(QResizeEvent*) {
    m_impl->relayout();
    if (m_impl->help->isVisible()) {
        m_impl->help->place();
        m_impl->help->show();
        m_impl->help->raise();
    }
}

void DiagramWidget::changeEvent(QEvent* event) {
    switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::FontChange:
    case QEvent::StyleChange:
        m_impl->themeChanged();
        m_impl->relayout();
        break;
    default:
        break;
    }
    QWidget::changeEvent(event);
}

} // namespace stopline::viewer
