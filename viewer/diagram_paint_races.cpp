// Races: their rings, how many messages could have come instead, and from where.
#include "diagram_painter.h"

#include <QFontMetrics>
#include <QPaintEngine>
#include <QPainter>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

void DiagramPainter::drawRace(QPainter& painter, const RaceRing& ring) {
    const QColor colour = ring.dimmed ? m_palette.faded(m_palette.race, kDimStrength) : m_palette.race;
    if (ring.radius <= kRaceMark) {
        // Too small for a ring: a mark, broader where it stands for several.
        const int side = ring.merged ? 2 : 1;
        const QRect area(int(std::floor(ring.at.x())) - side, int(std::floor(ring.at.y())) - 1, 2 * side + 1,
                         3);
        painter.fillRect(area, colour);
        return;
    }
    const auto draw = [&](QPainter& brush) {
        constexpr double kTwoRings = 4; // of the radius; with less the space between them would not show
        const double pen = ring.radius < kTwoRings ? 1.3 : 1.5;
        // The ground around it keeps it readable on any box.
        brush.setPen(Qt::NoPen);
        brush.setBrush(m_palette.background);
        brush.drawEllipse(QPointF(0, 0), ring.radius + 1, ring.radius + 1);
        brush.setBrush(Qt::NoBrush);
        brush.setPen(QPen(colour, pen));
        brush.drawEllipse(QPointF(0, 0), ring.radius - pen / 2, ring.radius - pen / 2);
        if (ring.merged) {
            brush.setPen(Qt::NoPen);
            brush.setBrush(colour);
            brush.drawEllipse(QPointF(0, 0), ring.radius * 0.5, ring.radius * 0.5);
        } else if (ring.radius >= kTwoRings) {
            brush.drawEllipse(QPointF(0, 0), ring.radius * 0.38, ring.radius * 0.38);
        }
    };
    const QPaintEngine* engine = painter.paintEngine();
    if (engine == nullptr || engine->type() == QPaintEngine::Raster) {
        m_stamps.put(painter, ring.merged ? Stamps::Kind::Races : Stamps::Kind::Race, colour, ring.radius,
                     int(std::ceil(ring.radius)) + 2, ring.at, draw);
        return;
    }
    painter.save(); // a drawing stays sharp
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.translate(ring.at);
    draw(painter);
    painter.restore();
}

void DiagramPainter::paintRaces(QPainter& painter, const Geometry& geometry) {
    for (const RaceRing& ring : geometry.races) {
        drawRace(painter, ring);
    }
    if (geometry.layout.level() != RowLevel::Full) {
        return;
    }
    const QFontMetrics metrics(painter.font());
    const int above = geometry.layout.lane().top; // free over the bar
    const std::vector<RaceRing>& rings = geometry.races;
    double taken = 0; // up to here, over the bar
    for (std::size_t i = 0; i < rings.size(); ++i) {
        const RaceRing& ring = rings[i];
        taken = i > 0 && rings[i - 1].row == ring.row ? taken : 0;
        const QString text = ring.merged ? u"%1 races"_s.arg(ring.races) : u"×%1"_s.arg(ring.alternatives);
        const double wide = metrics.horizontalAdvance(text);
        QPointF at(std::ceil(ring.at.x() + ring.radius) + 3, ring.at.y() - metrics.height() / 2.0);
        if (wide + 5 > ring.room) {
            // Over the bar, but never over another ring too: whose number it is could not be told.
            const bool last = i + 1 == rings.size() || rings[i + 1].row != ring.row;
            const double end = last ? geometry.view.width : rings[i + 1].at.x() + ring.radius;
            at = {std::ceil(ring.at.x()) + 3,
                  double(geometry.layout.top(ring.row) + above - metrics.height())};
            if (metrics.height() > above + 1 || at.x() + wide > end || at.x() < taken) {
                continue; // hovering tells
            }
            taken = at.x() + wide + 6;
        }
        QColor ground = m_palette.background;
        ground.setAlphaF(0.75F);
        painter.fillRect(QRectF(at.x() - 1, at.y() + 1, wide + 2, metrics.height() - 2), ground);
        painter.setPen(ring.dimmed ? m_palette.weakText : m_palette.race);
        m_texts.draw(painter, at.x(), std::floor(at.y()), text);
    }
}

void DiagramPainter::drawGhostLine(QPainter& painter, const GhostLine& line) const {
    const QColor colour = line.dimmed ? m_palette.faded(m_palette.race, kDimStrength) : m_palette.race;
    painter.setRenderHint(QPainter::Antialiasing, true);
    QColor seam = m_palette.background; // tells it from the boxes under it
    seam.setAlphaF(0.6F);
    painter.setPen(QPen(seam, 3));
    painter.drawLine(line.from, line.to);
    QPen pen(colour, 1.1);
    pen.setDashPattern({7, 3, 1.5, 3});
    pen.setCapStyle(Qt::FlatCap);
    painter.setPen(pen);
    painter.drawLine(line.from, line.to);
    if (line.begins) {
        painter.setPen(QPen(colour, 1.1));
        painter.setBrush(m_palette.background);
        painter.drawEllipse(line.from, 2.5, 2.5);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void DiagramPainter::paintAlternatives(QPainter& painter, const SelectionGeometry& selection) {
    for (const GhostLine& line : selection.alternatives) {
        drawGhostLine(painter, line);
    }
    if (selection.race) {
        drawRace(painter, *selection.race);
    }
}

} // namespace stopline::viewer
