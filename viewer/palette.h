// The colours of the diagram in one place (visual language A7: Okabe-Ito based, distances asserted by a
// test).
#pragma once

#include "call_style.h"

#include <QColor>
#include <QPalette>

#include <array>

namespace stopline::viewer {

class Palette {
  public:
    enum class Theme { Light, Dark };

    explicit Palette(Theme theme);
    /// Light or dark by the lightness of the window colour of a widget palette.
    static Palette of(const QPalette& system);
    static Theme themeOf(const QPalette& system);

    [[nodiscard]] Theme theme() const { return m_theme; }
    [[nodiscard]] QColor style(CallStyle s) const { return m_styles[std::size_t(s)]; }
    /// Black or white, whichever reads better on a colour.
    [[nodiscard]] static QColor textOn(const QColor& background);
    /// A share of `over` on `under`: 0 is under, 1 over.
    [[nodiscard]] static QColor mixed(const QColor& over, const QColor& under, double share);
    /// A colour mixed into the background: 0 is the background, 1 the colour.
    [[nodiscard]] QColor faded(const QColor& colour, double strength) const;

    /// The border of a box of a colour.
    [[nodiscard]] QColor edgeOf(const QColor& colour) const;
    /// The lines of the hatch that says a call waits.
    [[nodiscard]] QColor hatchOn(const QColor& colour, bool dimmed) const;

    QColor background;
    QColor zebra;     ///< every other row
    QColor frame;     ///< ruler and label column
    QColor separator; ///< hair lines between areas
    QColor grid;
    QColor text;
    QColor weakText;
    QColor message;
    QColor weakMessage; ///< backwards, dimmed
    QColor stop;
    QColor past;
    QColor future;
    QColor stopline;
    QColor point;
    QColor race;
    QColor selection;
    QColor fresh;
    QColor hatch;

  private:
    Theme m_theme;
    std::array<QColor, std::size_t(CallStyle::Count)> m_styles;
};

/// How far towards the background what is recorded but not executed again is drawn.
inline constexpr double kDimStrength = 0.28;

} // namespace stopline::viewer
