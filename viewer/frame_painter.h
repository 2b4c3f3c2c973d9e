// What surrounds the plot: row labels, ruler, stop numbers, overview, corner text.
#pragma once

#include "geometry.h"
#include "overview.h"
#include "palette.h"
#include "ruler.h"

#include <QFont>
#include <QRect>
#include <QString>

#include <span>
#include <vector>

class QPainter;

namespace stopline::viewer {

/// The areas of the widget; empty rectangles where there is no room.
struct FrameLayout {
    QRect overview;
    QRect ruler;
    QRect stopNumbers;
    QRect labels;
    QRect plot;
    QRect corner;
    QRect legendButton;
    friend bool operator==(const FrameLayout&, const FrameLayout&) = default;

    /// `stops`: whether the ruler has a line of stop numbers.
    [[nodiscard]] static FrameLayout of(const QSize& size, const QFont& font, bool stops);
};

struct FrameContent {
    Axis axis = Axis::Time;
    std::span<const RowState> rows;
    std::vector<RulerTick> ticks;
    QString cornerText;
    bool overflow = false; ///< rows do not fit: a position bar is drawn
};

class FramePainter {
  public:
    FramePainter(const Palette& palette, const QFont& font) : m_palette(palette), m_font(font) {}
    void paint(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
               const Geometry& geometry, const QImage& overview) const;
    /// The part of the overview that is in view, over its image.
    void paintLens(QPainter& painter, const QRect& area, const Lens& lens) const;

  private:
    void paintLabels(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
                     const Geometry& geometry) const;
    void paintRuler(QPainter& painter, const FrameLayout& frame, const FrameContent& content,
                    const Geometry& geometry) const;
    void paintOverview(QPainter& painter, const FrameLayout& frame, const Geometry& geometry,
                       const QImage& overview) const;

    const Palette& m_palette;
    QFont m_font;
};

} // namespace stopline::viewer
