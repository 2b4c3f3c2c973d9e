// View state and what is stale.
#include "diagram_impl.h"

#include "call_text.h"
#include "geometry_builder.h"

#include <QLoggingCategory>

#include <algorithm>

using namespace Qt::StringLiterals;

Q_LOGGING_CATEGORY(logFrame, "stopline.viewer.frame", QtWarningMsg)

namespace stopline::viewer {

using replay::CallRef;

DiagramWidget::Impl::Impl(DiagramWidget& widget) : q(widget) {
    painter.setBoxLabel([this](CallRef ref, int width) {
        return known(ref) ? boxLabelText(*model.timeline(), ref, QFontMetrics(q.font()), width) : QString();
    });
    painter.setMessageLabel([this](std::uint32_t message) {
        const replay::Timeline* timeline = model.timeline();
        return timeline != nullptr && message < timeline->messages().size()
                   ? messageLabelText(timeline->messages()[message])
                   : QString();
    });
    constexpr int kTooltipDelay = 300; // milliseconds
    tooltipTimer.setSingleShot(true);
    tooltipTimer.setInterval(kTooltipDelay);
    QObject::connect(&tooltipTimer, &QTimer::timeout, &q, [this] { showTooltip(); });
}

bool DiagramWidget::Impl::known(CallRef ref) const {
    return ref.rank.value() >= 0 && ref.rank.value() < model.ranks() &&
           ref.call.value() < model.calls(ref.rank.value()).size();
}

void DiagramWidget::Impl::invalidate() {
    geometryStale = true;
    layerStale = true;
    q.update();
}

void DiagramWidget::Impl::themeChanged() {
    colours = Palette::of(q.palette());
    painter.setPalette(colours);
    painter.setFont(q.font());
    if (help != nullptr) {
        help->setPalette(colours);
    }
    overviewStale = true;
    invalidate();
}

void DiagramWidget::Impl::relayout() {
    const FrameLayout before = frame;
    frame = FrameLayout::of(q.size(), q.font(), !stops.empty());
    if (frame == before && layout.rows == model.ranks()) {
        return;
    }
    layout.rows = model.ranks();
    layout.viewportHeight = frame.plot.height();
    if (autoRows) {
        layout.rowHeight = RowLayout::fittingRowHeight(layout.rows, layout.viewportHeight);
    }
    layout = layout.scrolledTo(layout.scroll);
    view = view.resized(frame.plot.width());
    if (fit) {
        applyFit();
    }
    overviewStale = true;
    invalidate();
}

void DiagramWidget::Impl::applyFit() {
    view = fitInit ? wholeView(model, axis, frame.plot.width()) : workView(model, axis, frame.plot.width());
}

void DiagramWidget::Impl::rememberView() {
    constexpr qint64 kOneGesture = 700; // milliseconds: steps of one gesture are one entry
    const bool sameGesture =
        lastViewChange.isValid() && lastViewChange.elapsed() < kOneGesture && !undoViews.empty();
    lastViewChange.start();
    if (sameGesture) {
        return;
    }
    constexpr std::size_t kMost = 100;
    undoViews.push_back({axis, view, layout, fit, autoRows});
    if (undoViews.size() > kMost) {
        undoViews.erase(undoViews.begin());
    }
    redoViews.clear();
}

void DiagramWidget::Impl::setView(const AxisView& wanted, bool remember) {
    const AxisView whole = wholeView(model, axis, frame.plot.width());
    const AxisView kept = wanted.keptNear(whole.begin, whole.end);
    if (kept == view) {
        return;
    }
    if (remember) {
        rememberView();
    }
    view = kept;
    fit = false;
    invalidate();
}

void DiagramWidget::Impl::setLayout(const RowLayout& wanted, bool remember) {
    if (wanted == layout) {
        return;
    }
    if (remember) {
        rememberView();
    }
    layout = wanted;
    invalidate();
}

void DiagramWidget::Impl::restoreView(std::vector<ViewState>& from, std::vector<ViewState>& to) {
    if (from.empty()) {
        return;
    }
    to.push_back({axis, view, layout, fit, autoRows});
    const ViewState state = from.back();
    from.pop_back();
    axis = state.axis;
    fit = state.fit;
    autoRows = state.autoRows;
    view = state.view.resized(frame.plot.width());
    layout.rowHeight =
        autoRows ? RowLayout::fittingRowHeight(layout.rows, layout.viewportHeight) : state.layout.rowHeight;
    layout = layout.scrolledTo(state.layout.scroll);
    if (fit) {
        applyFit();
    }
    lastViewChange.invalidate();
    overviewStale = true;
    invalidate();
}

void DiagramWidget::Impl::switchAxis(Axis wanted) {
    if (wanted == axis) {
        return;
    }
    rememberView();
    const Axis old = axis;
    axis = wanted;
    overviewStale = true;
    if (fit || model.empty()) {
        applyFit();
        invalidate();
        return;
    }
    // A rank that has something in view says how much of the other axis that is; the selection keeps its
    // pixel, as far as the run's ends allow: most of a view beyond them would be empty.
    int rank = selected ? selected->rank.value() : 0;
    for (int r = 0; !selected && r < model.ranks(); ++r) {
        if (model.calls(r).size() > model.calls(rank).size()) {
            rank = r;
        }
    }
    const auto all = model.calls(rank);
    if (all.empty()) {
        applyFit();
        invalidate();
        return;
    }
    const std::size_t low = std::min(model.lowerCall(rank, view.begin, old), all.size() - 1);
    const std::size_t high = std::clamp(model.lowerCall(rank, view.end, old), low, all.size() - 1);
    const std::int64_t from = DiagramModel::begin(all[low], axis);
    const std::int64_t to = std::max(model.end(rank, all[high], axis), from + leastSpan());
    AxisView next{from, to, view.width};
    if (selected && known(*selected)) {
        const TrackCall& call = all[selected->call.value()];
        const double pixel = view.toPixel(DiagramModel::begin(call, old));
        const std::int64_t unit = DiagramModel::begin(call, axis);
        const std::int64_t wish = unit - std::llround(pixel * next.unitsPerPixel());
        const AxisView whole = wholeView(model, axis, frame.plot.width());
        const std::int64_t last = std::max(whole.begin, whole.end - next.span());
        const std::int64_t begin = std::clamp(wish, std::min(whole.begin, last), last);
        next = {begin, begin + next.span(), next.width};
    }
    view = next;
    invalidate();
}

void DiagramWidget::Impl::ensureGeometry() {
    relayout();
    if (!geometryStale) {
        return;
    }
    QElapsedTimer timer;
    timer.start();
    Scene scene;
    scene.axis = axis;
    scene.view = view;
    scene.layout = layout;
    scene.rows = rows;
    scene.stops = stops;
    scene.focus = focus;
    scene.point = point;
    scene.past = past ? &*past : nullptr;
    scene.future = future ? &*future : nullptr;
    scene.futureChosen = futureChosen;
    scene.stopline = stopline ? &*stopline : nullptr;
    scene.ghost = ghost ? &*ghost : nullptr;
    scene.selection = selected;
    if (selected && alternatives && !selectedAlternatives && model.races().of(*selected)) {
        selectedAlternatives = alternatives(*selected);
    }
    if (selectedAlternatives) {
        scene.alternatives = *selectedAlternatives;
    }
    geometry = GeometryBuilder(model, scene).build(std::move(geometry));
    const double widest = QFontMetrics(q.font()).horizontalAdvance(u"000.000 ms"_s) + 24;
    content.axis = axis;
    content.ticks = axis == Axis::Time ? timeTicks(view, widest) : eventTicks(view, widest * 0.6);
    for (const RulerTick& tick : content.ticks) {
        geometry.grid.push_back(tick.pixel);
    }
    content.rows = rows;
    content.overflow = layout.maxScroll() > 0;
    content.cornerText = cornerText();
    geometryStale = false;
    layerStale = true;
    qCDebug(logFrame) << "geometry" << timer.nsecsElapsed() / 1000 << "us";
}

QString DiagramWidget::Impl::cornerText() const {
    if (model.empty()) {
        return {};
    }
    QStringList parts{u"pixel = worst"_s};
    if (axis == Axis::Time) {
        parts << u"1 px = "_s + durationText(std::max<std::int64_t>(1, std::llround(view.unitsPerPixel())));
    } else {
        const double events = view.unitsPerPixel() / double(kUnitsPerEvent);
        parts << (events >= 1 ? u"1 px = %1 events"_s.arg(events, 0, 'f', events < 10 ? 1 : 0)
                              : u"1 event = %1 px"_s.arg(1 / events, 0, 'f', 0));
    }
    if (geometry.messagesShown < geometry.messagesInView) {
        parts << u"showing %1 of %2 messages singly"_s.arg(countText(geometry.messagesShown),
                                                           countText(geometry.messagesInView));
    } else {
        parts << u"showing all %1 messages in view"_s.arg(countText(geometry.messagesInView));
    }
    if (axis == Axis::Time && model.backwards() > 0) {
        parts << u"%1 skewed (time approx.)"_s.arg(countText(model.backwards()));
    }
    if (geometry.selection && geometry.selection->moreAlternatives > 0) {
        const std::size_t shown = geometry.selection->alternatives.size();
        parts << u"%1 of %2 messages that could have come instead"_s.arg(
            countText(shown), countText(shown + geometry.selection->moreAlternatives));
    }
    return parts.join(u"  |  "_s);
}

void DiagramWidget::Impl::selectionText() {
    // Assistive technology reads the description; setting it announces the change.
    if (!selected || !known(*selected)) {
        q.setAccessibleDescription(u"Nothing selected"_s);
        return;
    }
    QString text = accessibleCallText(*model.timeline(), *selected);
    if (const QString race = raceLine(*selected); !race.isEmpty()) {
        text += u"; "_s + race;
    }
    q.setAccessibleDescription(text);
}

QString DiagramWidget::Impl::raceLine(CallRef call) const {
    const auto sum = model.races().of(call);
    return sum ? raceText(sum->races, sum->alternatives) : QString();
}

} // namespace stopline::viewer
