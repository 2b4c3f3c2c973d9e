// Colours of the window: light and dark, and what the state of a rank looks like.
#pragma once

#include "../replay/session.h"
#include "command_line.h"

#include <QColor>
#include <QFont>
#include <QPalette>

namespace stopline::app {

/// Sets style and palette of the application. System keeps the platform's colours unless they cannot be told.
void applyStyle(ColourStyle style);
/// What applyStyle() was last called with; System before that.
[[nodiscard]] ColourStyle appliedStyle();
/// The frame of fields to type into: seen on the window's ground and on the field's.
[[nodiscard]] QColor fieldEdge(const QPalette& palette);
[[nodiscard]] QPalette lightPalette();
[[nodiscard]] QPalette darkPalette();
/// True when text is lighter than what it stands on.
[[nodiscard]] bool isDark(const QPalette& palette);

/// Running green, stopped blue, breakpoint orange, error red, ended and not begun grey; the letter of
/// stateLetter() always goes with it, colour alone says nothing.
[[nodiscard]] QColor stateColour(const replay::RankView& view, bool dark);
/// Black or white, whichever can be read on `background`.
[[nodiscard]] QColor textOn(const QColor& background);

enum class Accent { Green, Blue, Orange, Red, Muted };
[[nodiscard]] QColor accent(Accent which, bool dark);
[[nodiscard]] QFont fixedFont();

} // namespace stopline::app
