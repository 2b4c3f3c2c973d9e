// Paints the geometry of the plot. Holds caches only; the same geometry painted twice gives the same picture.
#pragma once

#include "geometry.h"
#include "palette.h"
#include "row_raster.h"
#include "stamps.h"

#include <QFont>
#include <QHash>
#include <QImage>
#include <QStaticText>

#include <functional>

class QPainter;

namespace stopline::viewer {

/// Text of a box: the longest of its forms that fits into `width` pixels, or nothing.
using BoxLabel = std::function<QString(replay::CallRef call, int width)>;
/// Text at the end of a selected message ("3->7 tag 5 4 KB").
using MessageLabel = std::function<QString(std::uint32_t message)>;

/// Laid-out texts, kept from paint to paint.
class TextCache {
  public:
    void draw(QPainter& painter, double x, double y, const QString& text);
    void clear() { m_texts.clear(); }

  private:
    QHash<QString, QStaticText> m_texts;
};

class DiagramPainter {
  public:
    explicit DiagramPainter(const Palette& palette) : m_palette(palette) {}
    void setPalette(const Palette& palette) {
        m_palette = palette;
        m_stamps.clear();
    }
    void setFont(const QFont& font);
    void setBoxLabel(BoxLabel label) { m_boxLabel = std::move(label); }
    void setMessageLabel(MessageLabel label) { m_messageLabel = std::move(label); }

    /// The plot area: the painter's origin is its top left, its clip the plot.
    void paint(QPainter& painter, const Geometry& geometry);

    /// Glyphs shared with the legend.
    static void drawStopCap(QPainter& painter, const Palette& palette, StopMark mark, QPointF at,
                            double size);
    static void drawPoint(QPainter& painter, const Palette& palette, const PointGeometry& point);
    void drawBox(QPainter& painter, const Box& box);
    void drawMessage(QPainter& painter, const MessageLine& line);
    void drawLine(QPainter& painter, const LineGeometry& line);
    void drawSpine(QPainter& painter, const Spine& spine, int barHeight, bool dots);
    void drawRace(QPainter& painter, const RaceRing& ring);
    void drawGhostLine(QPainter& painter, const GhostLine& line) const;

  private:
    // diagram_painter.cpp: rows and calls
    void paintRows(QPainter& painter, const Geometry& geometry);
    void paintHatches(QPainter& painter, const Geometry& geometry);
    void paintStarts(QPainter& painter, const Geometry& geometry);
    void paintBoxes(QPainter& painter, const Geometry& geometry);
    void paintBoxLabels(QPainter& painter, const Geometry& geometry);
    void drawBoxBody(QPainter& painter, const Box& box) const;
    void drawGlyphs(QPainter& painter, const Box& box);
    [[nodiscard]] QColor colourOf(const Box& box) const;
    // diagram_paint_spines.cpp
    void paintSpines(QPainter& painter, const Geometry& geometry);
    static void drawSpineLine(QPainter& painter, const Spine& spine, const QColor& colour, double width);
    void drawSpineDot(QPainter& painter, const SpineDot& dot, const QColor& colour, int barHeight);
    // diagram_paint_messages.cpp
    void paintRibbons(QPainter& painter, const Geometry& geometry);
    void paintMessages(QPainter& painter, const Geometry& geometry);
    // diagram_paint_races.cpp
    void paintRaces(QPainter& painter, const Geometry& geometry);
    void paintAlternatives(QPainter& painter, const SelectionGeometry& selection);
    // diagram_paint_lines.cpp
    void paintLines(QPainter& painter, const Geometry& geometry);
    void paintHandles(QPainter& painter, const Geometry& geometry);
    // diagram_paint_stops.cpp
    void paintStops(QPainter& painter, const Geometry& geometry);
    // diagram_paint_selection.cpp
    void paintSelection(QPainter& painter, const Geometry& geometry);
    void drawPill(QPainter& painter, QPointF leftMiddle, const QString& text, const QColor& colour,
                  bool filled);

    Palette m_palette;
    QFont m_font;
    BoxLabel m_boxLabel;
    MessageLabel m_messageLabel;
    TextCache m_texts;
    RowRaster m_bars;
    Stamps m_stamps;
    QImage m_ribbons;            ///< a band of lines, kept from paint to paint
    std::vector<QRectF> m_taken; ///< where the handles of the stopline are
};

} // namespace stopline::viewer
