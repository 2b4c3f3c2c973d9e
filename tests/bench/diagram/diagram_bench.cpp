// From new events to pixels: how long a million events take to be taken in, built and painted.
// Usage: bench_diagram [events] [ranks]
#include "../../../viewer/diagram_model.h"
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "../../../viewer/palette.h"
#include "../../unit/viewer/synthetic.h"

#include <QApplication>
#include <QImage>
#include <QPainter>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace stopline;
using namespace stopline::viewer;

namespace {

/// Processor time: what the clock on the wall would say on an idle machine.
class Stopwatch {
  public:
    void start() { m_from = now(); }
    [[nodiscard]] double milliseconds() const { return now() - m_from; }

  private:
    static double now() {
        timespec t{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
    }
    double m_from = 0;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The plain way to the same cells: each column's calls searched for and summed up by the forest.
std::size_t columnByColumn(const DiagramModel& model, const Geometry& geometry) {
    std::size_t cells = 0;
    const AxisView& view = geometry.view;
    for (const RowMarks& row : geometry.rows) {
        const auto all = model.calls(row.row);
        std::size_t from = model.lowerCall(row.row, view.begin, Axis::Time);
        const std::size_t stop = model.lowerCall(row.row, view.end, Axis::Time);
        while (from < stop) {
            const int x = int(view.toPixel(all[from].timeBegin));
            const std::int64_t boundary = view.columnBegin(x + 1);
            const auto end =
                std::partition_point(all.begin() + std::ptrdiff_t(from), all.begin() + std::ptrdiff_t(stop),
                                     [&](const TrackCall& c) { return c.timeBegin < boundary; });
            const auto to = std::size_t(end - all.begin());
            cells += model.summary(row.row, from, to).count > 0 ? 1 : 0;
            from = to;
        }
    }
    return cells;
}

/// The plain way to the same picture: a primitive of QPainter for each mark.
void markByMark(QImage& image, const Geometry& geometry, const Palette& palette) {
    QPainter painter(&image);
    for (const Strip& strip : geometry.strips) {
        for (const Cell& cell : strip.cells) {
            painter.fillRect(cell.x, strip.y0, 1, strip.y1 - strip.y0, palette.style(cell.style));
        }
    }
    for (const Box& box : geometry.boxes) {
        const QRect area(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
        painter.fillRect(area, palette.style(box.style));
        if (box.style == CallStyle::Wait) {
            painter.fillRect(area,
                             QBrush(palette.hatchOn(palette.style(box.style), false), Qt::BDiagPattern));
        }
        painter.fillRect(box.x0, box.y0, 1, area.height(), palette.edgeOf(palette.style(box.style)));
        painter.fillRect(box.x1 - 1, box.y0, 1, area.height(), palette.edgeOf(palette.style(box.style)));
    }
    for (const PostTick& tick : geometry.ticks) {
        painter.fillRect(tick.x, tick.y, 2, 2, palette.style(tick.style));
    }
    painter.setPen(Qt::NoPen);
    QColor colour = palette.message;
    colour.setAlphaF(0.22F);
    painter.setBrush(colour);
    for (const Ribbon& ribbon : geometry.ribbons) {
        const QPointF half(ribbon.width / 2, 0);
        painter.drawConvexPolygon(
            QPolygonF({ribbon.from - half, ribbon.from + half, ribbon.to + half, ribbon.to - half}));
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(palette.style(CallStyle::Collective));
    for (const Spine& spine : geometry.spines) {
        for (const SpineDot& dot : spine.dots) {
            painter.drawEllipse(dot.at, 2.5, 2.5);
        }
    }
}

void paint(DiagramWidget& widget, QImage& image) {
    widget.render(&image);
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    const long events = argc > 1 ? std::atol(argv[1]) : 1'000'000;
    const int ranks = argc > 2 ? std::atoi(argv[2]) : 64;
    const int steps = std::max(1, int(events / (ranks * 8L)));

    // A short history is on screen; then the events arrive at once, as at a stop after a long run.
    Stopwatch timer;
    timer.start();
    test::Story story = test::haloStory(ranks, steps);
    const double append = timer.milliseconds();
    std::uint64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
        total += story.timeline().lastEvent(RankId{r}).value();
    }
    replay::Timeline empty(ranks);
    DiagramWidget widget;
    widget.resize(1920, 1080);
    QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
    widget.setTimeline(&empty);
    paint(widget, image);

    timer.start();
    widget.setTimeline(&story.timeline());
    const double model = timer.milliseconds();
    timer.start();
    const Geometry& geometry = widget.geometry();
    const double build = timer.milliseconds();
    const std::size_t boxes = geometry.boxes.size();
    const std::size_t ribbons = geometry.ribbons.size();
    timer.start();
    paint(widget, image);
    const double first = timer.milliseconds();
    std::printf("%llu events, %d ranks, 1920x1080, milliseconds of processor time\n",
                static_cast<unsigned long long>(total), ranks);
    std::printf("timeline (story written and matched)  %8.1f ms\n", append);
    std::printf("view model, all of it new             %8.1f ms\n", model);
    std::printf("geometry                              %8.1f ms  (%zu boxes, %zu ribbons)\n", build, boxes,
                ribbons);
    std::printf("first paint                           %8.1f ms\n", first);
    std::printf("from new events to painted            %8.1f ms  (without the timeline)\n",
                model + build + first);

    std::vector<double> repaints;
    for (int i = 0; i < 21; ++i) {
        timer.start();
        paint(widget, image);
        repaints.push_back(timer.milliseconds());
    }
    std::printf("repaint, nothing changed              %8.2f ms\n", median(repaints));
    // A new view the way it is done, and the same marks the plain way in the same run: the ratio does not
    // depend on the machine. The plain way leaves out rows, lines, text and frame.
    DiagramModel plainModel;
    plainModel.setTimeline(&story.timeline());
    const Palette palette(Palette::Theme::Light);
    for (const double zoom : {1.0, 2.0, 5.0, 10.0, 10.0}) {
        std::vector<double> builds;
        std::vector<double> paints;
        std::vector<double> plainBuilds;
        std::vector<double> plainPaints;
        widget.zoomBy(zoom);
        std::size_t cells = 0;
        for (int i = 0; i < 7; ++i) {
            widget.setFocusRank(RankId{i % ranks}); // everything is stale again
            timer.start();
            static_cast<void>(widget.geometry());
            builds.push_back(timer.milliseconds());
            timer.start();
            paint(widget, image);
            paints.push_back(timer.milliseconds());
            timer.start();
            cells = columnByColumn(plainModel, widget.geometry());
            plainBuilds.push_back(timer.milliseconds());
            timer.start();
            markByMark(image, widget.geometry(), palette);
            plainPaints.push_back(timer.milliseconds());
        }
        const double now = median(builds) + median(paints);
        const double plain = median(plainBuilds) + median(plainPaints);
        std::printf("new view, zoom x%-3.0f geometry %6.2f ms, paint %6.2f ms, together %6.2f ms; plain "
                    "%6.2f + %6.2f ms "
                    "for %zu columns: x%.1f\n",
                    zoom, median(builds), median(paints), now, median(plainBuilds), median(plainPaints),
                    cells, plain / now);
    }
    // Nothing new: what a stop costs when little happened.
    std::vector<double> updates;
    for (int i = 0; i < 11; ++i) {
        timer.start();
        widget.timelineChanged();
        updates.push_back(timer.milliseconds());
    }
    std::printf("update with nothing new               %8.2f ms\n", median(updates));
    return 0;
}
