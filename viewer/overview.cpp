#include "overview.h"

#include <algorithm>

namespace stopline::viewer {

AxisView wholeView(const DiagramModel& model, Axis axis, int width) {
    const std::int64_t extent = std::max<std::int64_t>(model.extent(axis), 1);
    const std::int64_t margin =
        std::max<std::int64_t>(extent / 14, axis == Axis::Events ? 2 * kUnitsPerEvent : 8);
    return {-margin / 6, extent + margin, std::max(1, width)};
}

namespace {

bool isFinalize(const replay::Timeline& timeline, replay::CallRef ref) {
    const trace::EventDetails& begin = timeline.details(ref.rank, timeline.call(ref).beginDetails);
    return trace::functionClass(begin.function) == trace::CallClass::Finalize;
}

} // namespace

AxisView workView(const DiagramModel& model, Axis axis, int width) {
    const AxisView whole = wholeView(model, axis, width);
    if (axis != Axis::Time) {
        return whole;
    }
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (int rank = 0; rank < model.ranks(); ++rank) {
        const auto calls = model.calls(rank);
        if (calls.empty() || calls.front().open()) {
            return whole;
        }
        begin = std::max(begin, calls.front().timeEnd);
        const replay::CallRef last{RankId{rank}, replay::CallIndex{static_cast<std::uint32_t>(calls.size() - 1)}};
        end = std::max(end, isFinalize(*model.timeline(), last) ? calls.back().timeBegin : model.extent(axis));
    }
    const std::int64_t extent = model.extent(axis);
    if (begin >= end) {
        return whole;
    }
    // Only where they would take a good part of the view.
    begin = begin > extent / 10 ? begin : 0;
    end = extent - end > (extent - begin) / 5 ? end : extent;
    if (begin == 0 && end == extent) {
        return whole;
    }
    const std::int64_t margin = std::max<std::int64_t>((end - begin) / 14, 8);
    return {begin == 0 ? whole.begin : begin - margin / 2, end + margin, whole.width};
}

Lens lensOf(const AxisView& view, const AxisView& whole) {
    constexpr double kLeast = 6;
    Lens lens{std::clamp(whole.toPixel(view.begin), 0.0, double(whole.width)),
              std::clamp(whole.toPixel(view.end), 0.0, double(whole.width))};
    if (lens.right - lens.left < kLeast) {
        const double middle = std::clamp((lens.left + lens.right) / 2, kLeast / 2,
                                         std::max(kLeast / 2, whole.width - kLeast / 2));
        lens = {middle - kLeast / 2, middle + kLeast / 2};
    }
    return lens;
}

AxisView viewAtLens(const AxisView& view, const AxisView& whole, double pixel) {
    const std::int64_t middle = whole.unitAt(pixel);
    const std::int64_t begin = middle - view.span() / 2;
    return {begin, begin + view.span(), view.width};
}

namespace {

/// The worst call of each cell of `step` pixels: those that begin there, else the one that goes on through
/// it.
void addRank(const DiagramModel& model, Axis axis, const AxisView& whole, int rank, int step,
             std::vector<Aggregate>& row) {
    const auto all = model.calls(rank);
    const auto cellOf = [&](std::int64_t unit) {
        return std::clamp(int(whole.toPixel(unit)) / step, 0, int(row.size()) - 1);
    };
    const auto goOn = [&](const TrackCall& call, std::size_t index, int cell, int endCell) {
        const int last = std::min(endCell, cellOf(model.end(rank, call, axis)) + 1);
        for (int at = cell + 1; at < last; ++at) {
            row[std::size_t(at)] = combine(row[std::size_t(at)], summaryOf(call, std::uint32_t(index)));
        }
    };
    std::size_t from = 0;
    int cell = 0;
    // Calls [from, from + count) begin in `next`; the one before them may reach up to there.
    const auto add = [&](int next, const Aggregate& sum) {
        if (from > 0 && next > cell) {
            goOn(all[from - 1], from - 1, cell, next);
        }
        row[std::size_t(next)] = combine(row[std::size_t(next)], sum);
        from += sum.count;
        cell = next;
    };
    if (const auto level = model.bins(rank, axis, whole.unitsPerPixel() * step)) {
        for (std::size_t bin = 0; bin < level->bins.size(); ++bin) {
            if (level->bins[bin].count > 0) {
                add(cellOf(std::int64_t(bin) << level->shift), level->bins[bin]);
            }
        }
    } else {
        while (from < all.size()) {
            add(cellOf(DiagramModel::begin(all[from], axis)), summaryOf(all[from], std::uint32_t(from)));
        }
    }
    if (!all.empty()) {
        goOn(all.back(), all.size() - 1, cell, int(row.size()));
    }
}

} // namespace

QImage overviewImage(const DiagramModel& model, Axis axis, const Palette& palette, int width, int height) {
    QImage image(std::max(1, width), std::max(1, height), QImage::Format_ARGB32_Premultiplied);
    image.fill(palette.frame.rgb());
    const int ranks = model.ranks();
    if (ranks == 0 || height < 3) {
        return image;
    }
    const int lanes = std::clamp(height / 2, 1, ranks);
    // Cells are bounded: beyond some ranks the strip gets coarser, not slower.
    constexpr int kMostCells = 64 * 1600;
    const int step = std::max(1, int((std::int64_t(ranks) * width + kMostCells - 1) / kMostCells));
    const AxisView whole = wholeView(model, axis, width);
    std::vector<Aggregate> row(std::size_t((width + step - 1) / step));
    for (int lane = 0; lane < lanes; ++lane) {
        std::fill(row.begin(), row.end(), Aggregate{});
        for (int rank = lane * ranks / lanes; rank < (lane + 1) * ranks / lanes; ++rank) {
            addRank(model, axis, whole, rank, step, row);
        }
        const int top = 1 + lane * (height - 2) / lanes;
        const int bottom =
            std::max(top + 1, 1 + (lane + 1) * (height - 2) / lanes - (height / lanes >= 4 ? 1 : 0));
        for (int x = 0; x < width; ++x) {
            const Aggregate& a = row[std::size_t(x / step)];
            if (a.count == 0) {
                continue;
            }
            const QRgb colour = palette.faded(palette.style(a.style), 0.75).rgb();
            for (int y = top; y < bottom && y < height; ++y) {
                reinterpret_cast<QRgb*>(image.scanLine(y))[x] = colour;
            }
        }
    }
    return image;
}

} // namespace stopline::viewer
