// From new events to pixels: how long a million events take to be taken in, built and painted.
// Usage: bench_diagram [events] [ranks]
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "../../unit/viewer/synthetic.h"

#include <QApplication>
#include <QImage>

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
    for (const double zoom : {1.0, 10.0, 10.0, 10.0}) {
        std::vector<double> builds;
        std::vector<double> paints;
        widget.zoomBy(zoom);
        for (int i = 0; i < 11; ++i) {
            widget.setFocusRank(RankId{i % ranks}); // everything is stale again
            timer.start();
            static_cast<void>(widget.geometry());
            builds.push_back(timer.milliseconds());
            timer.start();
            paint(widget, image);
            paints.push_back(timer.milliseconds());
        }
        std::printf("new view, zoom x%-5.0f geometry %7.2f ms, paint %7.2f ms\n", zoom, median(builds),
                    median(paints));
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
