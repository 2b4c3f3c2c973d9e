// Renders sample scenes of the diagram into a folder, to be looked at.
#include "../../../viewer/diagram_widget.h"
#include "../../unit/viewer/synthetic.h"

#include <QApplication>
#include <QDir>
#include <QStyle>
#include <QTest>

#include <cstdio>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

namespace {

QPalette themed(bool dark) {
    if (!dark) {
        return QApplication::style()->standardPalette();
    }
    QPalette p;
    p.setColor(QPalette::Window, QColor(0x22262b));
    p.setColor(QPalette::WindowText, Qt::white);
    p.setColor(QPalette::Base, QColor(0x15181c));
    p.setColor(QPalette::Text, Qt::white);
    p.setColor(QPalette::Button, QColor(0x2c3138));
    p.setColor(QPalette::ButtonText, Qt::white);
    p.setColor(QPalette::Highlight, QColor(0x5b9dff));
    return p;
}

std::vector<RowState> states(const replay::Timeline& timeline, StopMark mark) {
    std::vector<RowState> rows;
    for (int r = 0; r < timeline.rankCount(); ++r) {
        RowState row;
        const EventIndex last = timeline.lastEvent(RankId{r});
        row.place = {last, timeline.isBegin(RankId{r}, last)};
        row.mark = mark;
        row.stateLetter = row.place.inside ? u"B"_s : u"S"_s;
        row.label = row.place.inside ? u"MPI_Recv"_s : u"main"_s;
        rows.push_back(row);
    }
    return rows;
}

void save(DiagramWidget& widget, const QString& folder, const QString& name) {
    const QString path = QDir(folder).filePath(name);
    std::printf("%s %s\n", widget.exportImage(path) ? "wrote" : "failed", qPrintable(path));
}

void hang(const QString& folder, bool dark, Axis axis, QSize size) {
    Story story = hangStory(4, 12, 6);
    DiagramWidget widget;
    widget.setPalette(themed(dark));
    widget.resize(size);
    widget.setAxis(axis);
    widget.setTimeline(&story.timeline());
    widget.setRowStates(states(story.timeline(), StopMark::Pause));
    widget.setFocusRank(RankId{0});
    StopPost stop;
    stop.number = 1;
    for (const RowState& row : states(story.timeline(), StopMark::Pause)) {
        stop.places.push_back(row.place);
        stop.marks.push_back(StopMark::Pause);
    }
    StopPost earlier = stop;
    earlier.number = 0;
    widget.setStops({stop});
    const QString suffix =
        u"%1_%2_%3x%4.png"_s.arg(dark ? u"dark"_s : u"light"_s, axis == Axis::Time ? u"time"_s : u"events"_s)
            .arg(size.width())
            .arg(size.height());
    save(widget, folder, u"hang_plain_"_s + suffix);
    const replay::Point point{Story::ref(0, 13), true}; // the second-to-last send to rank 1
    widget.setPoint(point);
    widget.select(point.call);
    widget.setPastFrontier(story.timeline().pastFrontier(point));
    widget.setFutureFrontier(story.timeline().futureFrontier(point));
    save(widget, folder, u"hang_frontiers_"_s + suffix);
    const replay::Line line = story.timeline().futureFrontier(point);
    widget.setPastFrontier(std::nullopt);
    widget.setFutureFrontier(std::nullopt);
    widget.setStopline(line);
    std::vector<RowState> back = states(story.timeline(), StopMark::Stopline);
    for (std::size_t r = 0; r < back.size(); ++r) {
        back[r].place = line.cut[r];
        back[r].freshFrom = EventIndex{4};
        back[r].label = u"main"_s;
        back[r].stateLetter = u"S"_s;
    }
    widget.setRowStates(back);
    save(widget, folder, u"hang_stopline_"_s + suffix);
    widget.setStopline(std::nullopt);
    widget.setGhost(line.cut);
    widget.setRowStates(states(story.timeline(), StopMark::Pause));
    save(widget, folder, u"hang_ghost_"_s + suffix);
}

void halo(const QString& folder, bool dark, Axis axis, QSize size, int ranks, int steps, double zoom) {
    Story story = haloStory(ranks, steps);
    DiagramWidget widget;
    widget.setPalette(themed(dark));
    widget.resize(size);
    widget.setAxis(axis);
    widget.setTimeline(&story.timeline());
    widget.setRowStates(states(story.timeline(), StopMark::Breakpoint));
    widget.setFocusRank(RankId{1});
    widget.zoomBy(zoom);
    save(widget, folder,
         u"halo%1_%2_%3_%4x%5_z%6.png"_s.arg(ranks)
             .arg(dark ? u"dark"_s : u"light"_s, axis == Axis::Time ? u"time"_s : u"events"_s)
             .arg(size.width())
             .arg(size.height())
             .arg(int(zoom)));
}

void odd(const QString& folder, bool dark) {
    using trace::FunctionId;
    constexpr TimeNs kUs = 1000;
    Story story(4);
    for (int r = 0; r < 4; ++r) {
        story.init(r, 5 * kUs, 60 * kUs);
    }
    story.isend(0, 1, 3, 1 << 20, 80 * kUs, 84 * kUs);
    story.irecv(1, 0, 3, 1 << 20, 70 * kUs, 73 * kUs);
    story.wait(1, {{0, 0, 3, 1 << 20}}, 90 * kUs, 190 * kUs);
    story.wait(0, {{0}}, 100 * kUs, 170 * kUs);
    story.send(2, 3, 8, 16, 90 * kUs, 130 * kUs);  // never received
    story.send(2, 2, 1, 16, 140 * kUs, 150 * kUs); // to itself
    story.recv(2, 2, 1, 16, 160 * kUs, 200 * kUs);
    story.recvAny(3, 0, 5, 64, 80 * kUs, 240 * kUs);
    story.send(0, 3, 5, 64, 200 * kUs, 230 * kUs);
    story.send(0, 1, 6, 64, 300 * kUs, 320 * kUs);
    story.recv(1, 0, 6, 64, 230 * kUs, 270 * kUs); // backwards by the clocks
    for (int r = 0; r < 4; ++r) {
        story.collective(r, FunctionId::Bcast, 2, (340 + 15 * r) * kUs, (410 + 5 * r) * kUs);
    }
    for (int r = 0; r < 3; ++r) {
        story.collectiveOpen(r, FunctionId::Barrier, kNoPeer, (440 + 10 * r) * kUs);
    }
    story.recvOpen(3, kAnySource, 77, 460 * kUs);
    DiagramWidget widget;
    widget.setPalette(themed(dark));
    widget.resize(1280, 460);
    widget.setTimeline(&story.timeline());
    std::vector<RowState> rows = states(story.timeline(), StopMark::Pause);
    rows[3].stateLetter = u"!"_s;
    rows[3].mark = StopMark::Signal;
    widget.setRowStates(rows);
    widget.select(Story::ref(1, 2));
    save(widget, folder, dark ? u"odd_dark.png"_s : u"odd_light.png"_s);
    for (RowState& row : rows) {
        row.ended = true;
    }
    widget.setRowStates(rows);
    widget.select(Story::ref(2, 1));
    save(widget, folder, dark ? u"lost_dark.png"_s : u"lost_light.png"_s);
    QTest::keyClick(&widget, Qt::Key_Question);
    widget.show();
    QApplication::processEvents();
    QTest::mouseClick(&widget, Qt::LeftButton, {}, QPoint(widget.width() - 20, widget.height() - 8));
    QApplication::processEvents();
    save(widget, folder, dark ? u"legend_dark.png"_s : u"legend_light.png"_s);
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    QApplication::setStyle(u"Fusion"_s);
    const QString folder = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QDir::currentPath();
    for (const bool dark : {false, true}) {
        for (const Axis axis : {Axis::Time, Axis::Events}) {
            hang(folder, dark, axis, {1280, 400});
        }
        halo(folder, dark, Axis::Time, {1600, 900}, 64, 60, 1);
        halo(folder, dark, Axis::Time, {1600, 900}, 64, 60, 16);
        halo(folder, dark, Axis::Time, {1600, 700}, 16, 800, 1); // 100 000 events
        halo(folder, dark, Axis::Time, {1600, 700}, 16, 800, 200);
        odd(folder, dark);
    }
    hang(folder, false, Axis::Time, {800, 200});
    halo(folder, false, Axis::Time, {1600, 700}, 4, 30, 8);
    halo(folder, false, Axis::Events, {1600, 700}, 4, 30, 8);
    return 0;
}
