// The strip that shows the whole run in little, with its stops and a lens on the part in view.
#pragma once

#include "diagram_model.h"
#include "palette.h"

#include <QImage>
#include <QRect>

namespace stopline::viewer {

/// The axis range of the whole strip: everything recorded, with the margin that fitting leaves too.
[[nodiscard]] AxisView wholeView(const DiagramModel& model, Axis axis, int width);
/// The same from where all ranks have left MPI_Init, when that takes more than a tenth of the time axis, to where the
/// last of them enters MPI_Finalize, when what follows takes as much: starting and ending a job is the least of what one
/// looks for.
[[nodiscard]] AxisView workView(const DiagramModel& model, Axis axis, int width);
/// Pixels of the lens for a view on a strip of `width` pixels; at least 6 wide so that it can be grabbed.
struct Lens {
    double left = 0;
    double right = 0;
};
[[nodiscard]] Lens lensOf(const AxisView& view, const AxisView& whole);
/// The view that puts the lens' centre under a pixel of the strip.
[[nodiscard]] AxisView viewAtLens(const AxisView& view, const AxisView& whole, double pixel);
/// One lane for each rank or group of ranks, the worst call a pixel.
[[nodiscard]] QImage overviewImage(const DiagramModel& model, Axis axis, const Palette& palette, int width,
                                   int height);

} // namespace stopline::viewer
