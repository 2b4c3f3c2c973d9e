// What lies under the pointer: the call, its outline and tooltip, the text for the status bar.
#include "diagram_impl.h"

#include "call_text.h"
#include "ruler.h"
#include "../replay/words.h"

#include <QToolTip>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallRef;

namespace {
constexpr double kHitSlack = 3; ///< pixels
} // namespace

const RaceRing* DiagramWidget::Impl::raceAt(QPointF at) const {
    const QPointF p = inPlot(at);
    const RaceRing* nearest = nullptr;
    double distance = 0;
    for (const RaceRing& ring : geometry.races) {
        const double reach = std::max(ring.radius, 2.0) + 1; // a mark of three pixels is hard to hit
        if (std::abs(ring.at.y() - p.y()) > reach || std::abs(ring.at.x() - p.x()) > reach) {
            continue;
        }
        const double off = std::hypot(ring.at.x() - p.x(), ring.at.y() - p.y());
        if (off <= reach && (nearest == nullptr || off < distance)) {
            distance = off;
            nearest = &ring;
        }
    }
    return nearest;
}

std::optional<CallRef> DiagramWidget::Impl::callAt(QPointF at) {
    if (!frame.plot.contains(at.toPoint())) {
        return std::nullopt;
    }
    ensureGeometry();
    if (const RaceRing* ring = raceAt(at)) {
        return CallRef{RankId{ring->row}, replay::CallIndex{ring->call}};
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
            text = u"rank %1"_s.arg(rankText(RankId{row}));
        }
        if (axis == Axis::Time && unit >= 0) {
            text += u"  %1 (approx.)"_s.arg(
                timeLabel(unit, std::max<std::int64_t>(1, std::llround(view.unitsPerPixel())),
                          std::max(view.end, unit)));
        }
        if (now) {
            text += u"  event %1  %2"_s.arg(model.timeline()->call(*now).begin.value())
                        .arg(functionText(*model.timeline(), *now));
            if (const QString race = raceLine(*now); !race.isEmpty()) {
                text += u"  "_s + race;
            }
        }
    }
    emit q.hovered(text.trimmed());
    q.update();
}

std::uint32_t DiagramWidget::Impl::callsAtPixel(CallRef shown) const {
    const int x = int(std::floor(inPlot(pointer).x()));
    for (const Strip& strip : geometry.strips) {
        if (strip.row != shown.rank.value()) {
            continue;
        }
        const auto cell = std::lower_bound(strip.cells.begin(), strip.cells.end(), x,
                                           [](const Cell& c, int at) { return c.x < at; });
        return cell != strip.cells.end() && cell->x == x ? cell->count : 0;
    }
    return 0;
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
        if (const QString race = raceLine(*hoveredCall); !race.isEmpty()) {
            text += u'\n' + race;
        }
        const RaceRing* ring = raceAt(pointer);
        if (ring != nullptr && ring->merged) {
            text += u"\nthe mark stands for %1 races; this one has most alternatives"_s.arg(ring->races);
        }
        if (const std::uint32_t count = callsAtPixel(*hoveredCall); count > 1) {
            text += u"\nthe worst of %1 calls at this pixel"_s.arg(count);
        }
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

void DiagramWidget::leaveEvent(QEvent* event) {
    m_impl->pointerInside = false;
    m_impl->updateHover();
    QWidget::leaveEvent(event);
}

} // namespace stopline::viewer
